//! The search of a test that names none: exhaustive search and samples, by turns.
//!
//! Three searches share the executions. One runs every trace, with the strongest reduction that the program suits. One
//! runs executions in order of their preemptions, with a reduction if there is any, and so covers something long before
//! the first could end. And some executions are drawn, by several policies in turns. A small test is exhausted, at which
//! all ends; a bug of few preemptions is found by the second search, one of a few constraints by the samples.
//!
//! The turns are by number of execution, so a single worker's executions are the same each time. Of several workers each has
//! turns of its own, or one that only ever gets every other execution would never come to some part; which of them runs what
//! depends on their pace.
//!
//! Differs: from running one search after the other, by two to four executions for each one of the best of the three.
//! Misses: nothing that these searches find on their own, in so many executions.

use crate::sampling::{Policy, Sampling};
use Part::{Bounds, Drawn, Whole};
use intermezzo_engine::schedule::Choice;
use intermezzo_engine::strategy::{ChoicePoint, Coverage, Idle, Past, Plan, Rank, SearchState, Strategy};
use intermezzo_engine::trace::Trace;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Of this many executions half are drawn, and later half are of the search of every trace: most bugs that few constraints
/// provoke have been found by then.
const EARLY: u64 = 300;

/// The searches that share the executions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Every trace once.
    Whole,
    /// All executions in order of their preemptions, or of what else is bounded.
    Bounds,
    /// Samples.
    Drawn,
}

/// How many parts there are.
const PARTS: usize = 3;

/// The turns of the first executions, and of the later ones.
const TURNS_EARLY: [Part; 4] = [Drawn, Bounds, Drawn, Whole];
const TURNS_LATER: [Part; 4] = [Whole, Drawn, Whole, Bounds];

/// An exhaustive part of the search.
struct Exhaustive {
    search: Box<dyn Strategy>,
    /// The choices with which it goes on: of `Whole` those that its next execution must make first, of `Bounds` those that
    /// its last one made. `None` before its first execution, and while there is no work for this hand.
    at: Option<Vec<Choice>>,
    begun: bool,
    /// `true` if this hand has no work of it, and counts as waiting.
    idle: bool,
}

impl Exhaustive {
    fn new(search: Box<dyn Strategy>) -> Exhaustive {
        Exhaustive {
            search,
            at: None,
            begun: false,
            idle: false,
        }
    }

    /// Keeps the choices to go on with.
    fn keep(&mut self, plan: &Plan) {
        let at = self.at.get_or_insert_default();
        at.clear();
        at.extend_from_slice(plan.choices());
    }

    /// The plan of these choices.
    fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        plan.replace(self.at.as_deref().unwrap_or_default());
        plan
    }
}

/// Exhaustive search and samples, by turns.
pub struct Auto {
    whole: Option<Exhaustive>,
    bounds: Exhaustive,
    drawn: Sampling,
    /// The part whose execution was prepared or run last; `None` before the first.
    running: Option<Part>,
    /// `true` if an execution is prepared, and not begun.
    prepared: bool,
    /// How many executions this hand has prepared.
    turns: u64,
    shared: Arc<Shared>,
    /// `true` if other hands share the search.
    several: bool,
}

/// What hands share.
#[derive(Default)]
struct Shared {
    /// Executions of each part, and those of them that are prepared and not begun.
    begun: [AtomicU64; PARTS],
    prepared: [AtomicU64; PARTS],
    /// The part that is exhausted, from 1; 0 for none.
    exhausted: AtomicUsize,
    /// `true` once nothing is handed out any more: a part without work need not be exhausted then.
    stopped: AtomicBool,
    /// How many executions were drawn by the search that this one took over from.
    before: u64,
}

impl Shared {
    fn all(&self) -> u64 {
        self.begun.iter().map(|begun| begun.load(SeqCst)).sum()
    }

    fn of(&self, part: Part) -> u64 {
        self.begun[part as usize].load(SeqCst)
    }

    /// Executions of a part that were begun.
    fn ran(&self, part: Part) -> u64 {
        // Those that are prepared are prepared again by the hand that continues.
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
}

#[derive(Serialize, Deserialize)]
struct SavedHand {
    whole: Option<String>,
    bounds: Option<String>,
    drawn: Option<String>,
}

impl Auto {
    /// These exhaustive searches, and samples by this policy from this seed but for the first `drawn` of them.
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

    /// The part whose turn it is.
    fn turn(&self) -> Part {
        let number = self.turns;
        let turns: &[Part] = match (number, &self.whole) {
            (0, Some(_)) => &[Whole],
            (0, None) => &[Bounds],
            (_, None) => &[Drawn, Bounds],
            _ if self.shared.all() < EARLY => &TURNS_EARLY,
            _ => &TURNS_LATER,
        };
        turns[((number + turns.len() as u64 - 1) % turns.len() as u64) as usize]
    }

    /// The execution that is prepared, if one is, begins, or is left out.
    fn prepared_begins(&mut self) {
        if let (true, Some(part)) = (std::mem::take(&mut self.prepared), self.running) {
            self.shared.prepared[part as usize].fetch_sub(1, SeqCst);
        }
    }

    /// Takes in what the last execution showed.
    fn settle(&mut self, plan: &mut Plan, trace: &Trace) {
        match (self.running.take(), &mut self.whole) {
            (Some(Whole), Some(whole)) => {
                let first = self.shared.all() == 1 && !self.bounds.begun && !self.several;
                if first && plan.choices().iter().all(|choice| choice.taken == 0) {
                    // It is also the first in the order of preemptions.
                    self.bounds.begun = self.bounds.search.next(&mut Plan::default(), trace);
                    self.bounds.keep(plan);
                }
                if whole.search.next(plan, trace) {
                    whole.keep(plan);
                } else {
                    whole.at = None;
                    self.look_for_work(Whole);
                }
            }
            (Some(Bounds), _) => self.bounds.keep(plan),
            _ => {}
        }
    }

    /// A hand without work of a part looks if there is some; notes if the part is exhausted.
    fn look_for_work(&mut self, part: Part) {
        if let Some(exhaustive) = self.exhaustive(part) {
            let idle = exhaustive.search.idle();
            exhaustive.idle = idle == Idle::Nothing;
            if idle == Idle::Over && !self.shared.stopped.load(SeqCst) {
                self.shared.exhausted.store(part as usize + 1, SeqCst);
            }
        }
    }

    /// Prepares an execution of this part; `false` if there is no work of it for this hand at the moment.
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
        // The last execution may be another part's, which this one knows nothing of: nothing of it is kept.
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
}

impl Strategy for Auto {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.prepared_begins();
        self.settle(plan, trace);
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
            // Only a reduction is asked where there is nothing to choose.
            return Some(0);
        }
        self.active_mut().choose(point)
    }

    fn asks_always(&self) -> bool {
        self.whole
            .as_ref()
            .is_some_and(|whole| whole.search.asks_always())
    }

    fn again(&mut self) {
        if let (Some(part), false) = (self.running, std::mem::replace(&mut self.prepared, true)) {
            self.shared.prepared[part as usize].fetch_add(1, SeqCst);
        }
        self.active_mut().again();
    }

    fn goes_past_departures(&self) -> bool {
        self.active().goes_past_departures()
    }

    fn is_unsure(&self) -> bool {
        self.whole.as_ref().is_some_and(|whole| whole.search.is_unsure())
    }

    fn over(&mut self, past: &Past<'_>) {
        if self.prepared {
            self.prepared_begins();
        }
        self.active_mut().over(past);
    }

    fn share(&self, choices: &[Choice]) -> Option<f64> {
        match (self.running, &self.whole) {
            (Some(Whole), Some(whole)) => whole.search.share(choices),
            _ => None,
        }
    }

    fn redundant(&self) -> u64 {
        let whole = self.whole.as_ref().map_or(0, |whole| whole.search.redundant());
        whole + self.bounds.search.redundant()
    }

    fn blocked(&self) -> u64 {
        self.whole.as_ref().map_or(0, |whole| whole.search.blocked())
    }

    fn reduction(&self) -> &'static str {
        match &self.whole {
            Some(whole) => whole.search.reduction(),
            None => self.bounds.search.reduction(),
        }
    }

    fn heeds_scope(&self) -> bool {
        self.whole.is_none() && self.bounds.search.heeds_scope()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.shared.of(Drawn) > 0 && self.shared.exhausted().is_none() {
            notes.extend(self.drawn.notes());
        }
        notes
    }

    fn member(&self) -> Option<String> {
        match (self.running?, &self.whole) {
            (Whole, Some(whole)) => Some(whole.search.reduction().into()),
            (Bounds, _) => Some(self.bounds.search.name()),
            _ => self.drawn.member().or_else(|| Some(self.drawn.name())),
        }
    }

    fn shares(&self, _: u64) -> Vec<(String, u64)> {
        if self.shared.exhausted().is_some() {
            // It is covered whatever ran what.
            return Vec::new();
        }
        let mut shares = Vec::new();
        if let Some(whole) = &self.whole {
            shares.push((whole.search.reduction().into(), self.shared.ran(Whole)));
        }
        shares.push((self.bounds.search.name(), self.shared.ran(Bounds)));
        let drawn = self.shared.ran(Drawn);
        match self.drawn.shares(drawn) {
            members if members.is_empty() => shares.push((self.drawn.name(), drawn)),
            members => shares.extend(members),
        }
        shares.retain(|(_, executions)| *executions > 0);
        shares
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
            // Nothing was completed: all that can be said is how many there were.
            _ => self.drawn.coverage(false),
        }
    }

    fn name(&self) -> String {
        "auto".into()
    }

    fn drawn(&self) -> u64 {
        self.shared.before + self.shared.ran(Drawn)
    }

    fn fork(&mut self) -> Option<Box<dyn Strategy>> {
        let whole = match &mut self.whole {
            Some(whole) => Some(Exhaustive::new(whole.search.fork()?)),
            None => None,
        };
        let bounds = Exhaustive::new(self.bounds.search.fork()?);
        self.several = true;
        Some(Box::new(Auto {
            whole,
            bounds,
            drawn: self.drawn.another(),
            running: None,
            prepared: false,
            // Its first turn is not that of the search's very first execution.
            turns: 1,
            shared: self.shared.clone(),
            several: true,
        }))
    }

    fn wait(&mut self) -> bool {
        // Samples never end: a hand has nothing to do only while others run those that are learned from.
        if self.shared.exhausted().is_some() {
            return false;
        }
        self.drawn.wait()
    }

    fn skip(&mut self) {
        self.prepared_begins();
        self.shared.stopped.store(true, SeqCst);
        if let Some(whole) = &mut self.whole {
            whole.search.skip();
        }
        self.bounds.search.skip();
        self.drawn.skip();
    }

    fn stop(&mut self) {
        self.shared.stopped.store(true, SeqCst);
        if let Some(whole) = &mut self.whole {
            whole.search.stop();
        }
        self.bounds.search.stop();
        self.drawn.stop();
    }

    /// Executions are ordered as they are begun.
    fn rank(&self, _: &[Choice]) -> Rank {
        Rank::of_number(self.shared.all())
    }

    fn saves_ahead(&self) -> bool {
        true
    }

    fn save(&self, plan: &Plan) -> Option<String> {
        let prepared = |part| self.prepared && self.running == Some(part);
        let whole = self.whole.as_ref().and_then(|whole| match prepared(Whole) {
            true => whole.search.save(plan),
            false => whole.search.save(&whole.plan()),
        });
        let bounds = match prepared(Bounds) {
            true => self.bounds.search.save_prepared(plan),
            false => self.bounds.search.save(&self.bounds.plan()),
        };
        let drawn = match prepared(Drawn) {
            true => self.drawn.save_prepared(plan),
            false => self.drawn.save(plan),
        };
        serde_json::to_string(&SavedHand { whole, bounds, drawn }).ok()
    }

    fn save_shared(&self) -> Option<String> {
        let shared = &self.shared;
        let saved = Saved {
            whole: match &self.whole {
                Some(whole) => Some(whole.search.save_shared()?),
                None => None,
            },
            bounds: self.bounds.search.save_shared()?,
            drawn: self.drawn.save_shared()?,
            begun: [Whole, Bounds, Drawn].map(|part| shared.ran(part)),
            exhausted: shared.exhausted.load(SeqCst),
        };
        serde_json::to_string(&saved).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let hands = state.hands.iter().map(|hand| serde_json::from_str(hand));
        let (Ok(saved), Ok(hands)) = (
            serde_json::from_str::<Saved>(&state.shared),
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
        let bounds = of(saved.bounds, |hand| &hand.bounds);
        let drawn = of(saved.drawn, |hand| &hand.drawn);
        let whole = match (&mut self.whole, saved.whole) {
            (Some(whole), Some(shared)) => whole.search.restore(&of(shared, |hand| &hand.whole)),
            (None, None) => true,
            _ => false,
        };
        // With it restored, `settle` is not to take the first execution for that of both.
        self.bounds.begun = true;
        whole && self.bounds.search.restore(&bounds) && self.drawn.restore(&drawn)
    }
}
