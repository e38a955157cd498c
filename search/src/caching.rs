//! Happens-before caching (CHESS): a search that does not go on from where it has been.
//!
//! The fingerprint of a prefix says which state it leads to. Without a bound, a prefix whose state was reached before is
//! not gone on from. With a preemption bound that would lose schedules: what was reached with more preemptions can go
//! less far. Sound is: the earlier visit had fewer preemptions; or as many, and going on with the same task is what costs
//! nothing. (One fewer pays for the one preemption that the other's last task may save.)
//!
//! Misses: nothing, as far as fingerprints of 128 bits are different. While fair scheduling holds tasks back, a state is
//! more than its fingerprint, and nothing is left out.

use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::strategy::{
    ChoicePoint, Coverage, Idle, Needs, Parallel, Plan, Resumable, SearchPosition, SearchState, SoFar,
    Status, Strategy,
};
use intermezzo_engine::trace::{Fingerprints, Saved, Trace};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The fewest preemptions that a state was reached with: whoever's step was the last; and, at a number of its own, with this
/// task able to go on for free.
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

/// The states visited, for all workers of an exploration.
pub type Visits = Arc<Fingerprints<Visit>>;

/// A search that leaves out what the states it has visited lead to.
pub struct Caching {
    inner: Box<dyn Strategy>,
    visits: Visits,
    /// `true` if the inner search counts preemptions.
    bounded: bool,
    /// The number of preemptions the prescribed choices of the running execution cost, and all that it made so far.
    planned: u32,
    preemptions: u32,
    /// After how many choices the running execution came to a state that had been visited.
    known_after: Option<usize>,
    redundant: u64,
}

/// What hands share: the states visited, and what the inner search says.
#[derive(Serialize, Deserialize)]
struct Shared {
    visits: String,
    inner: String,
}

impl Caching {
    /// Leaves out of `inner` what states in `visits` lead to. `bounded`: states count per number of preemptions.
    pub fn new(inner: Box<dyn Strategy>, visits: Visits, bounded: bool) -> Caching {
        Caching {
            inner,
            visits,
            bounded,
            planned: 0,
            preemptions: 0,
            known_after: None,
            redundant: 0,
        }
    }

    fn inner_parallel(&mut self) -> &mut dyn Parallel {
        self.inner.parallel().expect("`parallel` has asked for it")
    }

    fn inner_resumable(&mut self) -> &mut dyn Resumable {
        self.inner.resumable().expect("`resumable` has asked for it")
    }

    /// Returns `true` if going on from here shows nothing that an earlier visit does not.
    fn is_known(&self, point: &ChoicePoint<'_>) -> bool {
        if point.fair {
            return false;
        }
        let mine = Visit {
            preemptions: self.preemptions,
        };
        let fewest_before = |state| {
            self.visits.visit(
                state,
                || mine,
                |visit| {
                    let before = *visit;
                    *visit = before.min(mine);
                    before
                },
            )
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
        if let Some(choices) = self.known_after.take() {
            // What the execution did beyond is of no account.
            plan.truncate(choices);
        }
        let more = self.inner.next(plan, trace);
        self.planned = plan
            .choices()
            .iter()
            .map(|choice| choice.cost(choice.taken))
            .sum();
        self.preemptions = self.planned;
        more
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.known_after.is_some() {
            return Some(0);
        }
        if point.kind == ChoiceKind::Task && self.is_known(point) {
            self.known_after = Some(point.choices);
            self.redundant += 1;
            return Some(0);
        }
        let taken = self.inner.choose(point)?;
        self.preemptions += u32::from(point.preempts && taken != 0);
        Some(taken)
    }

    fn retry(&mut self) {
        if self.known_after.take().is_some() {
            self.redundant -= 1;
        }
        self.preemptions = self.planned;
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

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        match self.inner.resumable() {
            Some(_) => Some(self),
            None => None,
        }
    }
}

impl Parallel for Caching {
    /// Returns a state that another hand has visited is gone on from by that one, or by who takes over what it gives
    /// away: within a round in whatever order, and a later round begins when this one is complete. No two hands leave
    /// what lies beyond to each other, for each state that a hand goes on to has more steps.
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
        serde_json::to_string(&shared).ok()
    }

    fn restore(&mut self, state: &SearchState) -> bool {
        let Ok(shared) = serde_json::from_str::<Shared>(&state.shared) else {
            return false;
        };
        let inner = SearchState {
            shared: shared.inner,
            hands: state.hands.clone(),
        };
        self.visits.restore(&shared.visits) && self.inner_resumable().restore(&inner)
    }
}
