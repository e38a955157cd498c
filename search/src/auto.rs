//! The search of a test that names no strategy: exhaustive search and samples, in turns.
//!
//! Three searches share the executions. The first runs every trace, with the strongest reduction that is sound for the
//! program. The second runs executions in the order of their numbers of preemptions, with a reduction if one is sound,
//! so it completes a bound long before the first could end. The third draws executions, by several policies in turns.
//! If the test is small, the first search exhausts it, which ends the whole search. The second search finds bugs of few
//! preemptions, and the samples find bugs of few constraints.
//!
//! The turns depend only on the number of the execution, so the executions of a single worker are the same each time.
//! Each of several workers has turns of its own: if they shared one sequence of turns, a worker that gets every second
//! execution might never run one of some part. Then the executions depend on how fast the workers are.
//!
//! At the limit that holds where none is set, the first search continues alone for three times as many executions if it
//! seems to end within them.
//!
//! Cost: two to four executions for each execution of the search that would have been the best of the three. Misses:
//! nothing that these searches find by themselves in as many executions.

mod exhaustive;
mod pace;

use crate::sampling::{Policy, Sampling};
use Part::{Bounds, Drawn, Whole};
use exhaustive::Exhaustive;
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{
    ChoicePoint, CompletedExecution, Coverage, Idle, Needs, Parallel, Partitioned, Plan, Resumable,
    SearchPosition, SearchState, SoFar, Status, Strategy, TimeIsOver,
};
use intermezzo_engine::trace::Trace;
use pace::Pace;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Half of this many first executions are drawn. Later, half belong to the search of every trace, because most bugs of
/// few constraints have been found by then.
const EARLY: u64 = 300;

/// The executions in which the search of every trace has to end, by its pace, to continue beyond the default limit.
const WITHIN_REACH: u64 = 150_000;

/// The searches that share the executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Every trace once.
    Whole,
    /// All executions in the order of their numbers of preemptions, or of another bound.
    Bounds,
    /// Samples.
    Drawn,
}

/// The number of parts.
const PARTS: usize = 3;

/// The turns of the first executions, and those of the later ones.
const TURNS_EARLY: [Part; 4] = [Drawn, Bounds, Drawn, Whole];
const TURNS_LATER: [Part; 4] = [Whole, Drawn, Whole, Bounds];

/// Exhaustive search and samples, in turns.
pub struct Auto {
    whole: Option<Exhaustive>,
    bounds: Exhaustive,
    drawn: Sampling,
    /// The part whose execution was prepared or run last; `None` before the first execution.
    running: Option<Part>,
    /// `true` if an execution is prepared but not begun.
    prepared: bool,
    /// The number of executions that this worker has prepared.
    turns: u64,
    shared: Arc<Shared>,
    /// `true` if other workers share the search.
    several: bool,
    /// `true` if only the search of every trace runs from now on.
    only_whole: bool,
    /// The pace of that search.
    pace: Pace,
}

/// The state that workers share.
#[derive(Default)]
struct Shared {
    /// The number of executions of each part, and of those among them that are prepared but not begun.
    begun: [AtomicU64; PARTS],
    prepared: [AtomicU64; PARTS],
    /// The part that is exhausted, from 1; 0 for none.
    exhausted: AtomicUsize,
    /// `true` once no more work is handed out: from then on, a part without work is not necessarily exhausted.
    stopped: AtomicBool,
    /// The number of executions drawn by the search that this one continues.
    before: u64,
}

impl Shared {
    fn all(&self) -> u64 {
        self.begun.iter().map(|begun| begun.load(SeqCst)).sum()
    }

    fn of(&self, part: Part) -> u64 {
        self.begun[part as usize].load(SeqCst)
    }

    /// Returns the number of executions of a part that were begun.
    fn ran(&self, part: Part) -> u64 {
        // An execution that is only prepared is prepared again when the search continues.
        let prepared = self.prepared[part as usize].load(SeqCst);
        self.of(part).saturating_sub(prepared)
    }

    fn exhausted(&self) -> Option<Part> {
        let part = self.exhausted.load(SeqCst).checked_sub(1)?;
        [Whole, Bounds, Drawn].get(part).copied()
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    whole: Option<String>,
    bounds: String,
    drawn: String,
    begun: [u64; PARTS],
    exhausted: usize,
    #[serde(default)]
    only_whole: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedHand {
    whole: Option<String>,
    bounds: Option<String>,
    drawn: Option<String>,
}

impl Auto {
    /// Returns a search with these exhaustive searches, and samples drawn by this policy from this seed, without the
    /// first `drawn` samples.
    pub fn new(
        whole: Option<Box<dyn Strategy>>,
        bounds: Box<dyn Strategy>,
        policy: Box<dyn Policy>,
        seed: u64,
        drawn: u64,
    ) -> Auto {
        let first = (drawn > 0).then_some(drawn);
        Auto {
            whole: whole.map(Exhaustive::new),
            bounds: Exhaustive::new(bounds),
            drawn: Sampling::new(seed, policy).up_to(None, first),
            running: None,
            prepared: false,
            turns: 0,
            shared: Arc::new(Shared {
                before: drawn,
                ..Shared::default()
            }),
            several: false,
            only_whole: false,
            pace: Pace::default(),
        }
    }

    fn exhaustive(&mut self, part: Part) -> Option<&mut Exhaustive> {
        match part {
            Whole => self.whole.as_mut(),
            Bounds => Some(&mut self.bounds),
            Drawn => None,
        }
    }

    fn active(&self) -> &dyn Strategy {
        match (self.running, &self.whole) {
            (Some(Whole), Some(whole)) => &*whole.search,
            (Some(Bounds), _) => &*self.bounds.search,
            _ => &self.drawn,
        }
    }

    fn active_mut(&mut self) -> &mut dyn Strategy {
        match (self.running, &mut self.whole) {
            (Some(Whole), Some(whole)) => &mut *whole.search,
            (Some(Bounds), _) => &mut *self.bounds.search,
            _ => &mut self.drawn,
        }
    }

    /// Returns the part whose turn it is.
    fn turn(&self) -> Part {
        let number = self.turns;
        let turns: &[Part] = match (number, &self.whole) {
            _ if self.only_whole => &[Whole],
            (0, Some(_)) => &[Whole],
            (0, None) => &[Bounds],
            (_, None) => &[Drawn, Bounds],
            _ if self.shared.all() < EARLY => &TURNS_EARLY,
            _ => &TURNS_LATER,
        };
        turns[((number + turns.len() as u64 - 1) % turns.len() as u64) as usize]
    }

    /// Notes that the prepared execution, if there is one, begins or is left out.
    fn prepared_begins(&mut self) {
        if let (true, Some(part)) = (std::mem::take(&mut self.prepared), self.running) {
            self.shared.prepared[part as usize].fetch_sub(1, SeqCst);
        }
    }

    /// Hands the result of the last execution to its part.
    fn settle(&mut self, plan: &mut Plan, trace: &Trace) {
        match (self.running.take(), &mut self.whole) {
            (Some(Whole), Some(whole)) => {
                let first = self.shared.all() == 1 && !self.bounds.begun && !self.several;
                if first && plan.choices().iter().all(|choice| choice.taken == 0) {
                    // This execution is also the first in the order of preemptions.
                    self.bounds.begun = self.bounds.search.next(&mut Plan::default(), trace);
                    self.bounds.keep(plan);
                }
                if whole.search.next(plan, trace) {
                    whole.keep(plan);
                    let executions = self.shared.ran(Whole);
                    self.pace.note(executions, || whole.progress(executions));
                } else if whole.search.gave_up() {
                    self.shared.stopped.store(true, SeqCst);
                } else {
                    whole.at = None;
                    self.look_for_work(Whole);
                }
            }
            (Some(Bounds), _) => self.bounds.keep(plan),
            _ => {}
        }
    }

    /// Asks a part whether it has work for this worker, which is idle, and notes if the part is exhausted.
    fn look_for_work(&mut self, part: Part) {
        if let Some(exhaustive) = self.exhaustive(part) {
            let idle = exhaustive
                .search
                .parallel()
                .map_or(Idle::Over, |search| search.idle());
            exhaustive.idle = idle == Idle::Nothing;
            if idle == Idle::Over && !self.shared.stopped.load(SeqCst) {
                self.shared.exhausted.store(part as usize + 1, SeqCst);
            }
        }
    }

    /// Prepares an execution of this part. Returns `false` if the part has no work for this worker at the moment.
    fn prepare(&mut self, part: Part, plan: &mut Plan, trace: &Trace) -> bool {
        let Some(exhaustive) = self.exhaustive(part) else {
            return part == Drawn && self.drawn.next(plan, trace);
        };
        if exhaustive.idle {
            self.look_for_work(part);
        }
        let Some(exhaustive) = self.exhaustive(part).filter(|exhaustive| !exhaustive.idle) else {
            return false;
        };
        // The last execution may belong to another part, so no choices of it may be kept.
        plan.forget();
        if let Some(at) = &exhaustive.at {
            plan.replace(at);
            if part == Whole {
                return true;
            }
        }
        exhaustive.begun = true;
        if exhaustive.search.next(plan, trace) {
            return true;
        }
        exhaustive.at = None;
        self.look_for_work(part);
        false
    }

    /// Returns the number of executions that each of the searches has run.
    fn draws(&self, whole: Option<&Status>, bounds: &Status, drawn: &Status) -> Vec<(String, u64)> {
        let mut draws = Vec::new();
        if let Some(whole) = whole {
            draws.push((whole.reduction.into(), self.shared.ran(Whole)));
        }
        draws.push((bounds.name.clone(), self.shared.ran(Bounds)));
        match &drawn.draws[..] {
            [] => draws.push((drawn.name.clone(), self.shared.ran(Drawn))),
            members => draws.extend_from_slice(members),
        }
        draws.retain(|(_, executions)| *executions > 0);
        draws
    }
}

impl Strategy for Auto {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.prepared_begins();
        self.settle(plan, trace);
        if self.gave_up() {
            return false;
        }
        let turn = self.turn();
        let others = [Whole, Bounds, Drawn].into_iter().filter(|&part| part != turn);
        for part in [turn].into_iter().chain(others) {
            if self.shared.exhausted().is_some() {
                return false;
            }
            if self.prepare(part, plan, trace) {
                self.running = Some(part);
                self.prepared = true;
                self.turns += 1;
                self.shared.begun[part as usize].fetch_add(1, SeqCst);
                self.shared.prepared[part as usize].fetch_add(1, SeqCst);
                return true;
            }
        }
        false
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.prepared {
            self.prepared_begins();
        }
        if point.alternatives == 1 && self.running != Some(Whole) {
            // If there is only one alternative, only a reduction has to be asked.
            return Some(0);
        }
        self.active_mut().choose(point)
    }

    fn retry(&mut self) {
        if let (Some(part), false) = (self.running, std::mem::replace(&mut self.prepared, true)) {
            self.shared.prepared[part as usize].fetch_add(1, SeqCst);
        }
        self.active_mut().retry();
    }

    fn heed_time(&mut self, is_over: &TimeIsOver) {
        if let Some(whole) = &mut self.whole {
            whole.search.heed_time(is_over);
        }
        self.bounds.search.heed_time(is_over);
    }

    fn gave_up(&self) -> bool {
        self.whole.as_ref().is_some_and(|whole| whole.search.gave_up()) || self.bounds.search.gave_up()
    }

    fn keep_to_whole(&mut self) -> bool {
        // Each of several workers knows only the progress of its own share.
        if let (Some(whole), false) = (&self.whole, self.only_whole || self.several) {
            let executions = self.shared.ran(Whole);
            let progress = whole.progress(executions);
            self.only_whole = self.pace.ends_within(WITHIN_REACH, executions, progress);
        }
        self.only_whole
    }

    fn finished(&mut self, past: &CompletedExecution<'_>) {
        if self.prepared {
            self.prepared_begins();
        }
        self.active_mut().finished(past);
    }

    fn coverage(&self, _: bool) -> Coverage {
        match (self.shared.exhausted(), &self.whole) {
            (Some(Whole), Some(whole)) => return whole.search.coverage(true),
            (Some(Bounds), _) => return self.bounds.search.coverage(true),
            _ => {}
        }
        match self.bounds.search.coverage(false) {
            bounded @ Coverage::Bounded {
                preemptions: Some(_), ..
            } => bounded,
            bounded @ Coverage::Bounded { delays: Some(_), .. } => bounded,
            bounded @ Coverage::Bounded { depth: Some(_), .. } => bounded,
            // No bound was completed: only the number of executions can be stated.
            _ => self.drawn.coverage(false),
        }
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        let whole = self.whole.as_ref().map(|whole| whole.search.status(so_far));
        let bounds = self.bounds.search.status(so_far);
        let drawn = self.shared.ran(Drawn);
        let drawn = self.drawn.status(&SoFar {
            executions: drawn,
            ..*so_far
        });
        let covered = self.shared.exhausted().is_some();
        Status {
            reduction: whole.as_ref().unwrap_or(&bounds).reduction,
            redundant: bounds.redundant + whole.as_ref().map_or(0, |whole| whole.redundant),
            blocked: whole.as_ref().map_or(0, |whole| whole.blocked),
            progress: match self.running {
                Some(Whole) => whole.as_ref().and_then(|whole| whole.progress),
                _ => None,
            },
            notes: match self.shared.of(Drawn) > 0 && !covered {
                true => drawn.notes.clone(),
                false => Vec::new(),
            },
            drawn_by: self.running.map(|part| match (part, &whole) {
                (Whole, Some(whole)) => whole.reduction.into(),
                (Bounds, _) => bounds.name.clone(),
                _ => drawn.drawn_by.clone().unwrap_or_else(|| drawn.name.clone()),
            }),
            // If the test is covered, it does not matter by which search.
            draws: match covered {
                true => Vec::new(),
                false => self.draws(whole.as_ref(), &bounds, &drawn),
            },
            drawn: self.shared.before + self.shared.ran(Drawn),
            ..Status::named("auto")
        }
    }

    fn needs(&self) -> Needs {
        let active = self.active().needs();
        match &self.whole {
            Some(whole) => Needs {
                draws: active.draws,
                all_listed: active.all_listed,
                in_order: false,
                replays_exactly: active.replays_exactly,
                ..whole.search.needs()
            },
            None => Needs {
                scope: self.bounds.search.needs().scope,
                draws: active.draws,
                all_listed: active.all_listed,
                replays_exactly: active.replays_exactly,
                ..Needs::default()
            },
        }
    }

    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        Err(
            "three searches take turns in it, and end together: give `strategy` `dfs` with `reduction` `dpor` for every \
             schedule, with a bound on `preemptions` if there are too many, or `random` for samples",
        )
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        let whole = match &mut self.whole {
            Some(whole) => whole.search.parallel().is_some(),
            None => true,
        };
        match whole && self.bounds.search.parallel().is_some() {
            true => Some(self),
            false => None,
        }
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        let whole = match &mut self.whole {
            Some(whole) => whole.search.resumable().is_some(),
            None => true,
        };
        match whole && self.bounds.search.resumable().is_some() {
            true => Some(self),
            false => None,
        }
    }
}

impl Parallel for Auto {
    fn split(&mut self) -> Box<dyn Strategy> {
        let whole = self
            .whole
            .as_mut()
            .map(|whole| Exhaustive::new(whole.parallel().split()));
        let bounds = Exhaustive::new(self.bounds.parallel().split());
        self.several = true;
        Box::new(Auto {
            whole,
            bounds,
            drawn: self.drawn.another(),
            running: None,
            prepared: false,
            // Its first turn is not the first turn of the whole search.
            turns: 1,
            shared: self.shared.clone(),
            several: true,
            only_whole: self.only_whole,
            pace: self.pace,
        })
    }

    fn wait(&mut self) -> bool {
        // There are always more samples, so a worker has nothing to do only while others run the executions from which
        // policies learn.
        if self.shared.exhausted().is_some() {
            return false;
        }
        self.drawn.wait()
    }

    fn discard(&mut self) {
        self.prepared_begins();
        self.shared.stopped.store(true, SeqCst);
        if let Some(whole) = &mut self.whole {
            whole.parallel().discard();
        }
        self.bounds.parallel().discard();
        self.drawn.discard();
    }

    fn stop(&mut self) {
        self.shared.stopped.store(true, SeqCst);
        if let Some(whole) = &mut self.whole {
            whole.parallel().stop();
        }
        self.bounds.parallel().stop();
        self.drawn.stop();
    }

    /// Positions have the order in which executions are begun.
    fn position(&mut self, _: &[Choice]) -> SearchPosition {
        SearchPosition::of_number(self.shared.all())
    }
}

impl Resumable for Auto {
    fn prepares_before_save(&self) -> bool {
        true
    }

    fn save(&mut self, plan: &Plan) -> Option<String> {
        let running = self.running.filter(|_| self.prepared);
        let whole = self.whole.as_mut().and_then(|whole| match running {
            Some(Whole) => whole.resumable().save(plan),
            _ => {
                let own = whole.plan();
                whole.resumable().save(&own)
            }
        });
        let bounds = match running {
            Some(Bounds) => self.bounds.resumable().save_prepared(plan),
            _ => {
                let own = self.bounds.plan();
                self.bounds.resumable().save(&own)
            }
        };
        let drawn = match running == Some(Drawn) {
            true => self.drawn.save_prepared(plan),
            false => self.drawn.save(plan),
        };
        intermezzo_engine::serial::to_string(&SavedHand { whole, bounds, drawn }).ok()
    }

    /// Does the same as `save`, which handles a prepared execution too.
    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        self.save(plan)
    }

    fn save_shared(&mut self) -> Option<String> {
        let whole = match &mut self.whole {
            Some(whole) => Some(whole.resumable().save_shared()?),
            None => None,
        };
        let shared = &self.shared;
        let saved = Saved {
            whole,
            bounds: self.bounds.resumable().save_shared()?,
            drawn: self.drawn.save_shared()?,
            begun: [Whole, Bounds, Drawn].map(|part| shared.ran(part)),
            exhausted: shared.exhausted.load(SeqCst),
            only_whole: self.only_whole,
        };
        intermezzo_engine::serial::to_string(&saved).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let hands = state
            .hands
            .iter()
            .map(|hand| intermezzo_engine::serial::from_str(hand));
        let (Ok(saved), Ok(hands)) = (
            intermezzo_engine::serial::from_str::<Saved>(&state.shared),
            hands.collect::<Result<Vec<SavedHand>, _>>(),
        ) else {
            return false;
        };
        let of = |shared: String, hand: fn(&SavedHand) -> &Option<String>| SearchState {
            shared,
            hands: hands.iter().filter_map(|own| hand(own).clone()).collect(),
        };
        for (begun, saved) in self.shared.begun.iter().zip(saved.begun) {
            begun.store(saved, SeqCst);
        }
        self.shared.exhausted.store(saved.exhausted, SeqCst);
        self.turns = self.shared.all();
        self.only_whole = saved.only_whole;
        let bounds = of(saved.bounds, |hand| &hand.bounds);
        let drawn = of(saved.drawn, |hand| &hand.drawn);
        let whole = match (&mut self.whole, saved.whole) {
            (Some(whole), Some(shared)) => whole.resumable().restore(&of(shared, |hand| &hand.whole)),
            (None, None) => true,
            _ => false,
        };
        // In the restored search, the next execution of `Whole` is not the first one of both parts.
        self.bounds.begun = true;
        whole && self.bounds.resumable().restore(&bounds) && self.drawn.restore(&drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dfs::DepthFirst;
    use crate::policies::policy;

    fn auto() -> Auto {
        let search = || Box::new(DepthFirst::new());
        let policy = policy(&crate::kinds::StrategyKind::Random, None);
        Auto::new(Some(search()), search(), policy, 0, 0)
    }

    #[test]
    fn a_checkpoint_says_that_only_every_trace_is_searched() {
        let mut saved = auto();
        saved.only_whole = true;
        let state = SearchState {
            shared: saved.save_shared().unwrap(),
            hands: vec![saved.save(&Plan::default()).unwrap()],
        };
        let mut restored = auto();
        assert!(!restored.keep_to_whole());
        assert!(restored.restore(&state));
        assert!(restored.keep_to_whole());
        assert_eq!(restored.turn(), Whole);
    }
}
