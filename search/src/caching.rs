//! Happens-before caching (CHESS): a search that does not continue from states that it has visited.
//!
//! The fingerprint of a prefix identifies the state that it leads to. Without a bound, the search does not continue
//! from a prefix whose state was reached before. With a preemption bound that would lose schedules, because a visit
//! with more preemptions leaves fewer for the rest. Here it is sound not to continue if the earlier visit had fewer
//! preemptions, or the same number and the same task could continue without a preemption. (One fewer is enough: to
//! continue like the later visit, the earlier one needs at most one more preemption, which switches to the last task of
//! the later one.)
//!
//! Misses: nothing, provided that different states have different fingerprints, of 128 bits. While fair scheduling
//! holds tasks back, the fingerprint does not determine the state, and nothing is left out.

use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{
    ChoicePoint, Coverage, Idle, Needs, Parallel, Partition, Partitioned, Plan, Resumable, SearchPosition,
    SearchState, SoFar, Status, Strategy,
};
use intermezzo_engine::trace::{Fingerprints, Saved, Trace};
use std::sync::Arc;

/// The minimum number of preemptions with which a state was reached. Each state has one entry over all visits, and one
/// for each task that could continue without a preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Visit {
    preemptions: u32,
}

impl Saved for Visit {
    const BYTES: usize = 4;

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.preemptions.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Visit> {
        let preemptions = u32::from_le_bytes(bytes.try_into().ok()?);
        Some(Visit { preemptions })
    }
}

/// The visited states, which all workers of an exploration share.
pub type Visits = Arc<Fingerprints<Visit>>;

/// A search that does not continue from states it has visited.
pub struct Caching {
    inner: Box<dyn Strategy>,
    visits: Visits,
    /// `true` if the inner search counts preemptions.
    bounded: bool,
    /// The number of prescribed choices of the current execution, and of the preemptions in them.
    prescribed: usize,
    planned: u32,
    /// The number of preemptions in all choices of the current execution so far.
    preemptions: u32,
    /// The number of choices after which the current execution reached a visited state.
    known_after: Option<usize>,
    redundant: u64,
    /// The states that the current execution is the first to reach, or reached with fewer preemptions than before. They
    /// are added to `visits` when it has ended: if it is run again, it may not reach them.
    reached: Vec<(u128, Visit)>,
    /// The position of the current execution, if the search keeps to a share; `None` for a whole search.
    in_share: Option<InShare>,
}

/// The position of an execution in a search that keeps to a share.
///
/// As long as the execution may still turn out to belong to another share, its states are neither noted nor looked up,
/// because not all executions that continue from them are explored here.
#[derive(Default)]
struct InShare {
    choices: Vec<Choice>,
    /// The number of prescribed choices.
    planned: usize,
    /// `true` if all executions that begin like this one belong to the share.
    is_here: bool,
}

/// The saved state that workers share: the visited states, and the state of the inner search.
#[derive(Serialize, Deserialize)]
struct Shared {
    visits: String,
    inner: String,
}

impl Caching {
    /// Returns the search `inner` without the executions that continue from states in `visits`. With `bounded`, states
    /// are compared together with their numbers of preemptions.
    pub fn new(inner: Box<dyn Strategy>, visits: Visits, bounded: bool) -> Caching {
        Caching {
            inner,
            visits,
            bounded,
            prescribed: 0,
            planned: 0,
            preemptions: 0,
            known_after: None,
            redundant: 0,
            reached: Vec::new(),
            in_share: None,
        }
    }

    fn inner_partitioned(&mut self) -> &mut dyn Partitioned {
        self.inner.partitioned().expect("`partitioned` has asked for it")
    }

    /// Notes whether all executions that begin like the current one belong to the share.
    fn settle_share(&mut self) {
        if let Some(mut within) = self.in_share.take() {
            within.is_here = within.is_here || self.inner_partitioned().is_here(&within.choices);
            self.in_share = Some(within);
        }
    }

    /// Sets the choices of an execution that begins to the prescribed ones.
    fn begin_in_share(&mut self, planned: &[Choice]) {
        if let Some(within) = &mut self.in_share {
            within.choices.clear();
            within.choices.extend_from_slice(planned);
            (within.planned, within.is_here) = (planned.len(), false);
            self.settle_share();
        }
    }

    fn inner_parallel(&mut self) -> &mut dyn Parallel {
        self.inner.parallel().expect("`parallel` has asked for it")
    }

    fn inner_resumable(&mut self) -> &mut dyn Resumable {
        self.inner.resumable().expect("`resumable` has asked for it")
    }

    /// Adds the states that the last execution reached to `visits`. If `plan` has only the prescribed choices, every
    /// attempt to run the execution departed from them. Then the executions that continue from these states are not
    /// explored, and no state is added.
    fn note_reached(&mut self, plan: &Plan) {
        if plan.choices().len() == self.prescribed {
            self.reached.clear();
            self.forget_known();
        }
        for (state, mine) in self.reached.drain(..) {
            self.visits
                .visit(state, || mine, |visit| *visit = mine.min(*visit));
        }
    }

    /// Forgets that the execution reached a known state, so that it does not count as redundant.
    fn forget_known(&mut self) {
        if self.known_after.take().is_some() {
            self.redundant -= 1;
        }
    }

    /// Returns `true` if states may be noted and looked up at this point of the execution.
    fn may_note(&self) -> bool {
        self.in_share.as_ref().is_none_or(|within| within.is_here)
    }

    /// Returns `true` if continuing from here would show nothing that an earlier visit does not.
    fn is_known(&mut self, point: &ChoicePoint<'_>) -> bool {
        if point.fair {
            return false;
        }
        let mine = Visit {
            preemptions: self.preemptions,
        };
        let Caching { visits, reached, .. } = self;
        let mut fewest_before = |state| {
            let before = visits.get(state);
            if before.is_none_or(|before| mine < before) {
                reached.push((state, mine));
            }
            before
        };
        let by_anyone = fewest_before(point.trace().fingerprint());
        if !self.bounded {
            return by_anyone.is_some();
        }
        let going_on = if point.preempts { point.task(0) } else { None };
        let by_this_one = fewest_before(point.trace().state_fingerprint(&[], going_on.map(|task| task.0)));
        by_anyone.is_some_and(|before| before < mine) || by_this_one.is_some_and(|before| before <= mine)
    }
}

impl Strategy for Caching {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.note_reached(plan);
        if let Some(choices) = self.known_after.take() {
            // The rest of the execution is not part of the search.
            plan.truncate(choices);
        }
        let more = self.inner.next(plan, trace);
        self.prescribed = plan.choices().len();
        self.planned = plan
            .choices()
            .iter()
            .map(|choice| choice.cost(choice.taken))
            .sum();
        self.preemptions = self.planned;
        self.begin_in_share(plan.choices());
        more
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.known_after.is_some() {
            return Some(0);
        }
        if point.kind == ChoiceKind::Task && self.may_note() && self.is_known(point) {
            self.known_after = Some(point.choices);
            self.redundant += 1;
            return Some(0);
        }
        let taken = self.inner.choose(point)?;
        self.preemptions += u32::from(point.preempts && taken != 0);
        if let Some(within) = self.in_share.as_mut().filter(|within| !within.is_here) {
            within.choices.push(Choice {
                kind: point.kind,
                preempts: point.preempts,
                alternatives: point.alternatives,
                taken,
            });
            self.settle_share();
        }
        Some(taken)
    }

    fn retry(&mut self) {
        self.forget_known();
        self.preemptions = self.planned;
        if let Some(mut within) = self.in_share.take() {
            within.choices.truncate(within.planned);
            self.in_share = Some(InShare {
                is_here: false,
                ..within
            });
            self.settle_share();
        }
        self.reached.clear();
        self.inner.retry();
    }

    fn coverage(&self, finished: bool) -> Coverage {
        self.inner.coverage(finished)
    }

    fn status(&self, so_far: &SoFar<'_>) -> Status {
        let choices = so_far.choices;
        let own = self
            .known_after
            .map_or(choices, |known| &choices[..known.min(choices.len())]);
        let inner = self.inner.status(&SoFar {
            choices: own,
            ..*so_far
        });
        Status {
            reduction: "caching",
            redundant: self.redundant,
            ..inner
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            scope: false,
            in_order: self.inner.needs().in_order,
            ..Needs::default()
        }
    }

    fn parallel(&mut self) -> Option<&mut dyn Parallel> {
        match self.inner.parallel() {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn partitioned(&mut self) -> Result<&mut dyn Partitioned, &'static str> {
        self.inner.partitioned()?;
        Ok(self)
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        match self.inner.resumable() {
            Some(_) => Some(self),
            None => None,
        }
    }
}

impl Partitioned for Caching {
    fn keep_to(&mut self, partition: Partition) {
        self.in_share = Some(InShare::default());
        self.inner_partitioned().keep_to(partition);
    }

    fn is_here(&mut self, choices: &[Choice]) -> bool {
        self.inner_partitioned().is_here(choices)
    }

    fn is_elsewhere(&mut self, choices: &[Choice]) -> bool {
        self.inner_partitioned().is_elsewhere(choices)
    }
}

impl Parallel for Caching {
    /// Creates another worker's strategy.
    ///
    /// If an execution of another worker has reached a state, that worker continues from it, or another one that takes
    /// over its work. Within a round the order does not matter, and the next round begins when this one is complete. It
    /// cannot happen that two workers leave the same part to each other, because each state from which a worker
    /// continues has more steps than the one before. Two workers may both continue from a state if each reaches it
    /// before the other's execution has ended.
    fn split(&mut self) -> Box<dyn Strategy> {
        let inner = self.inner_parallel().split();
        Box::new(Caching::new(inner, self.visits.clone(), self.bounded))
    }

    fn wait(&mut self) -> bool {
        self.inner_parallel().wait()
    }

    fn idle(&mut self) -> Idle {
        self.inner_parallel().idle()
    }

    fn discard(&mut self) {
        self.inner_parallel().discard();
    }

    fn stop(&mut self) {
        self.inner_parallel().stop();
    }

    fn segment(&mut self) -> Option<SearchPosition> {
        self.inner_parallel().segment()
    }

    fn position(&mut self, choices: &[Choice]) -> SearchPosition {
        self.inner_parallel().position(choices)
    }
}

impl Resumable for Caching {
    fn save(&mut self, plan: &Plan) -> Option<String> {
        self.note_reached(plan);
        match self.known_after {
            None => self.inner_resumable().save(plan),
            Some(choices) => {
                let mut own = plan.clone();
                own.truncate(choices);
                self.inner_resumable().save(&own)
            }
        }
    }

    fn save_prepared(&mut self, plan: &Plan) -> Option<String> {
        self.inner_resumable().save_prepared(plan)
    }

    fn save_shared(&mut self) -> Option<String> {
        let shared = Shared {
            visits: self.visits.saved(),
            inner: self.inner_resumable().save_shared()?,
        };
        intermezzo_engine::serial::to_string(&shared).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let Ok(shared) = intermezzo_engine::serial::from_str::<Shared>(&state.shared) else {
            return false;
        };
        let inner = SearchState {
            shared: shared.inner,
            hands: state.hands.clone(),
        };
        self.visits.restore(&shared.visits) && self.inner_resumable().restore(&inner)
    }
}
