//! The search of a test that says nothing of how to be searched: as it is bounded, and then by samples.
//!
//! Small tests are searched to their end, and nothing else happens. Of a large one, a bounded search would spend all the
//! executions it is given among schedules that differ in their last choices. So once it has had its part of them, and is not
//! about to end within what is left, the rest is drawn at random, by several policies in turns.
//!
//! What is claimed is what the bounded search completed; if that is nothing, that so many executions were drawn.

use super::sampling::{Sampling, portfolio_of};
use super::{ChoicePoint, Past, Plan, Rank, SearchState, Strategy};
use crate::report::Coverage;
use crate::schedule::Choice;
use crate::settings::StrategyKind;
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};

/// The part of the executions that the bounded search gets: one of so many, rounded up.
const BOUNDED_PART: u64 = 2;

/// How many it gets where they are not limited: a moment for a short test.
const BOUNDED_UNLIMITED: u64 = 20_000;

/// How many are drawn then, if time is not limited either.
const DRAWN_UNLIMITED: u64 = 5_000;

/// Who draws, each with how many executions of a round are its own. The last is uniform over all orders: of all these it
/// alone finds what no few constraints provoke.
const MEMBERS: [(u32, StrategyKind); 6] = [
    (1, StrategyKind::Surw(super::Interesting::OneVariable)),
    (1, StrategyKind::Pos),
    (1, StrategyKind::Places),
    (1, StrategyKind::Pct(3)),
    (1, StrategyKind::Random),
    (1, StrategyKind::Surw(super::Interesting::All)),
];

/// What so many drawn executions did not find is not a matter of few constraints: after them two of three executions are the
/// last member's.
const SHALLOW: u64 = DRAWN_UNLIMITED;

/// Its executions of a round then.
const UNIFORM_LATER: u64 = 10;

/// A bounded search, and then samples.
pub(crate) struct Auto {
    bounded: Box<dyn Strategy>,
    drawn: Sampling,
    /// Whether this hand draws.
    draws: bool,
    /// Whether an execution is prepared, and not begun.
    prepared: bool,
    limits: Limits,
    shared: Arc<Shared>,
    /// Whether other hands share the search, so that nobody can tell how far it is.
    alone: bool,
}

#[derive(Clone, Copy)]
struct Limits {
    /// How many executions the bounded search gets in any case, and how many there are for all.
    bounded: u64,
    all: Option<u64>,
}

/// What hands share.
#[derive(Default)]
struct Shared {
    /// Executions of the bounded search, and those of them that are prepared and not begun.
    begun: AtomicU64,
    prepared: AtomicU64,
    /// Whether it was left, for good.
    left: AtomicBool,
    /// The round, in the order of the search, of what is drawn.
    round: AtomicU32,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    bounded: String,
    drawn: String,
    begun: u64,
    left: bool,
    round: u32,
}

#[derive(Serialize, Deserialize)]
struct SavedHand {
    draws: bool,
    work: String,
}

impl Auto {
    /// This search, and then samples from this seed. `executions` are the limits of executions and of whether time is
    /// limited.
    pub(crate) fn new(bounded: Box<dyn Strategy>, seed: u64, executions: Option<u64>, timed: bool) -> Auto {
        let members = portfolio_of(&MEMBERS, None).later(SHALLOW, UNIFORM_LATER);
        let drawn = Sampling::new(seed, Box::new(members));
        let limits = match executions {
            Some(most) => Limits {
                bounded: most.div_ceil(BOUNDED_PART),
                all: Some(most),
            },
            None => Limits {
                bounded: BOUNDED_UNLIMITED,
                all: None,
            },
        };
        let drawn = match executions.is_none() && !timed {
            true => drawn.up_to(Some(DRAWN_UNLIMITED), None),
            false => drawn,
        };
        Auto {
            bounded,
            drawn,
            draws: false,
            prepared: false,
            limits,
            shared: Arc::default(),
            alone: true,
        }
    }

    fn active(&self) -> &dyn Strategy {
        if self.draws { &self.drawn } else { &*self.bounded }
    }

    fn active_mut(&mut self) -> &mut dyn Strategy {
        if self.draws {
            &mut self.drawn
        } else {
            &mut *self.bounded
        }
    }

    fn was_left(&self) -> bool {
        self.shared.left.load(SeqCst)
    }

    /// Whether the bounded search has had its part, and is not about to end within what is left.
    fn is_due(&self, plan: &Plan) -> bool {
        let begun = self.shared.begun.load(SeqCst);
        if begun < self.limits.bounded {
            return false;
        }
        let share = match (self.alone, self.limits.all) {
            (true, Some(_)) => self.bounded.share(plan.choices()),
            _ => None,
        };
        match (share, self.limits.all) {
            (Some(share), Some(all)) => begun as f64 > all as f64 * share,
            _ => true,
        }
    }

    /// Counts one more execution of the bounded search. Hands that come to the end of its part at once are told apart here.
    fn begins(&self) -> bool {
        let begin = |begun| (self.alone || begun < self.limits.bounded).then_some(begun + 1);
        self.shared.begun.fetch_update(SeqCst, SeqCst, begin).is_ok()
    }

    /// The execution that is prepared, if one is, begins, or is left out.
    fn prepared_begins(&mut self) {
        if std::mem::take(&mut self.prepared) && !self.draws {
            self.shared.prepared.fetch_sub(1, SeqCst);
        }
    }

    /// This hand draws from now on; so will the others.
    fn leave(&mut self, plan: &mut Plan) {
        if !self.was_left() {
            let round = self.bounded.rank(plan.choices()).round();
            self.shared.round.fetch_max(round.saturating_add(1), SeqCst);
            self.shared.left.store(true, SeqCst);
            self.bounded.stop();
        }
        self.draws = true;
        plan.truncate(0);
    }

    fn ranked(&self, rank: Rank) -> Rank {
        rank.in_round(self.shared.round.load(SeqCst))
    }
}

impl Strategy for Auto {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        self.prepared_begins();
        if !self.draws {
            if !self.was_left() && !self.is_due(plan) {
                let more = self.bounded.next(plan, trace);
                if more && self.begins() {
                    self.prepared = true;
                    self.shared.prepared.fetch_add(1, SeqCst);
                    return true;
                }
                if !more && !self.was_left() {
                    return false;
                }
            }
            self.leave(plan);
        }
        self.prepared = self.drawn.next(plan, trace);
        self.prepared
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        if self.prepared {
            self.prepared_begins();
        }
        self.active_mut().choose(point)
    }

    fn asks_always(&self) -> bool {
        self.bounded.asks_always()
    }

    fn again(&mut self) {
        self.active_mut().again();
    }

    fn goes_past_departures(&self) -> bool {
        self.active().goes_past_departures()
    }

    fn is_unsure(&self) -> bool {
        self.bounded.is_unsure()
    }

    fn over(&mut self, past: &Past<'_>) {
        if self.prepared {
            self.prepared_begins();
        }
        self.active_mut().over(past);
    }

    fn share(&self, choices: &[Choice]) -> Option<f64> {
        if self.draws {
            None
        } else {
            self.bounded.share(choices)
        }
    }

    fn is_in_order(&self) -> bool {
        self.bounded.is_in_order() && !self.was_left()
    }

    fn redundant(&self) -> u64 {
        self.bounded.redundant()
    }

    fn blocked(&self) -> u64 {
        self.bounded.blocked()
    }

    fn reduction(&self) -> &'static str {
        self.bounded.reduction()
    }

    fn heeds_scope(&self) -> bool {
        self.bounded.heeds_scope()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.bounded.notes();
        if self.was_left() {
            notes.push(format!(
                "auto: the search `{}` was left after {} executions, for it would not have ended within its part of them; the \
                 rest was drawn at random (`dfs` goes on to the end)",
                self.bounded.name(),
                self.shared.begun.load(SeqCst)
            ));
            notes.extend(self.drawn.notes());
        }
        notes
    }

    fn member(&self) -> Option<String> {
        match (self.draws, self.was_left()) {
            (true, _) => self.drawn.member(),
            (false, true) => Some(self.bounded.name()),
            (false, false) => None,
        }
    }

    fn shares(&self, executions: u64) -> Vec<(String, u64)> {
        if !self.was_left() {
            return Vec::new();
        }
        let bounded = self.shared.begun.load(SeqCst).min(executions);
        let mut shares = vec![(self.bounded.name(), bounded)];
        shares.extend(self.drawn.shares(executions - bounded));
        shares
    }

    fn coverage(&self, finished: bool) -> Coverage {
        if !self.was_left() {
            return self.bounded.coverage(finished);
        }
        match self.bounded.coverage(false) {
            bounded @ Coverage::Bounded {
                preemptions: Some(_), ..
            } => bounded,
            bounded @ Coverage::Bounded { delays: Some(_), .. } => bounded,
            bounded @ Coverage::Bounded { depth: Some(_), .. } => bounded,
            // Nothing was completed: all that can be said is how many there were.
            _ => self.drawn.coverage(finished),
        }
    }

    fn name(&self) -> String {
        match self.was_left() {
            false => self.bounded.name(),
            true => format!("auto({},{})", self.bounded.name(), self.drawn.name()),
        }
    }

    fn fork(&mut self) -> Option<Box<dyn Strategy>> {
        let bounded = self.bounded.fork()?;
        self.alone = false;
        Some(Box::new(Auto {
            bounded,
            drawn: self.drawn.another(),
            draws: false,
            prepared: false,
            limits: self.limits,
            shared: self.shared.clone(),
            alone: false,
        }))
    }

    fn wait(&mut self) -> bool {
        if self.draws {
            return self.drawn.wait();
        }
        self.bounded.wait() || self.was_left()
    }

    fn skip(&mut self) {
        self.prepared_begins();
        if !self.draws {
            self.bounded.skip();
        }
        // What is drawn comes after all the rest.
        self.drawn.skip();
    }

    fn stop(&mut self) {
        self.bounded.stop();
        self.drawn.stop();
    }

    fn span(&mut self) -> Option<Rank> {
        let span = self.active_mut().span()?;
        Some(if self.draws { self.ranked(span) } else { span })
    }

    fn rank(&self, choices: &[Choice]) -> Rank {
        match self.draws {
            true => self.ranked(self.drawn.rank(choices)),
            false => self.bounded.rank(choices),
        }
    }

    fn saves_ahead(&self) -> bool {
        !self.draws && self.bounded.saves_ahead()
    }

    fn save(&self, plan: &Plan) -> Option<String> {
        let saved = SavedHand {
            draws: self.draws,
            work: match self.draws && self.prepared {
                true => self.drawn.save_prepared(),
                false => self.active().save(plan),
            }?,
        };
        serde_json::to_string(&saved).ok()
    }

    fn save_shared(&self) -> Option<String> {
        let saved = Saved {
            bounded: self.bounded.save_shared()?,
            drawn: self.drawn.save_shared()?,
            // Those that are prepared are prepared again by who goes on.
            begun: (self.shared.begun.load(SeqCst)).saturating_sub(self.shared.prepared.load(SeqCst)),
            left: self.was_left(),
            round: self.shared.round.load(SeqCst),
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
        let (drawn, bounded): (Vec<SavedHand>, _) = hands.into_iter().partition(|hand| hand.draws);
        let of = |shared, hands: Vec<SavedHand>| SearchState {
            shared,
            hands: hands.into_iter().map(|hand| hand.work).collect(),
        };
        self.shared.begun.store(saved.begun, SeqCst);
        self.shared.left.store(saved.left, SeqCst);
        self.shared.round.store(saved.round, SeqCst);
        self.bounded.restore(&of(saved.bounded, bounded)) && self.drawn.restore(&of(saved.drawn, drawn))
    }
}
