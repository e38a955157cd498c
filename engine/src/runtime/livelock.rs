//! Analysis of an execution that reached its limit on steps: the loops of its tasks, and whether they yield (Musuvathi
//! & Qadeer, PLDI 2008).
//!
//! Only the middle half of the events counts. The beginning may be anything, and a depth-first search varies the end,
//! so the first execution that reaches the limit often leaves its loop at the end. A task *loops* if the later half of
//! its events in that middle half repeats one period. It also loops if it did everything in that later half at least
//! three times. The values read and written are compared, too. So a loop that counts does not qualify: it may end.
//!
//! Code that was not written for the engine may count its rounds in plain memory. Its loops qualify only if no
//! operation changes anything for a very long time.

use super::Runtime;
use super::naming::{site_name, task_name, var_name};
use crate::record::Event;
use intermezzo_sdk::SyncVarOp;
use std::collections::{HashMap, HashSet};

/// The number of times that a period must occur before it counts.
const REPEATED: usize = 3;

/// The maximum number of operations of a round that are described. More would not help the reader.
const ROUND_SHOWN: usize = 50;

/// The verdict on an execution that reached its limit on steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some task always does something new: the execution may only be long.
    Long,
    /// All active tasks loop, and yield in each round.
    Livelock,
    /// Some task loops and never yields, in a test that was written for intermezzo.
    UnfairSpin,
}

/// The state of an execution at its limit on steps.
#[derive(Clone, Debug)]
pub struct Endless {
    /// The reason why the execution did not end.
    pub verdict: Verdict,
    /// The tasks that loop.
    pub loops: Vec<EndlessLoop>,
}

/// A task that loops, as text.
#[derive(Clone, Debug)]
pub struct EndlessLoop {
    /// The name of the task.
    pub task: String,
    /// `true` if it yields in each round.
    pub yields: bool,
    /// The first operations of one round: operation, variable, place.
    pub steps: Vec<(SyncVarOp, String, String)>,
    /// The number of the other operations of the round.
    pub steps_left_out: usize,
}

/// The number of operations without any change after which unmodified code is assumed to wait for ever. A loop that
/// waits for a bounded number of rounds gives up long before.
const LOOKS_MIN: usize = 200_000;

/// The parts of a task's event that must be equal in each round of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LoopPart {
    op: SyncVarOp,
    var: u32,
    values: (u64, u64),
    site: usize,
}

impl LoopPart {
    fn of(event: &Event) -> LoopPart {
        LoopPart {
            op: event.op,
            var: event.var,
            values: match event.op {
                // The number of the message or of the barrier's round differs, although the loop does the same.
                SyncVarOp::ChannelSend
                | SyncVarOp::ChannelReceive
                | SyncVarOp::BarrierArrive
                | SyncVarOp::BarrierPass => (0, 0),
                _ => (event.read, event.written),
            },
            site: event.site.word(),
        }
    }
}

/// Returns `true` if two events of one task are the same step of a loop.
fn alike(a: &Event, b: &Event) -> bool {
    LoopPart::of(a) == LoopPart::of(b)
}

/// Returns one round of a task with these last events, if it loops.
fn round<'a>(events: &[&'a Event]) -> Option<Vec<&'a Event>> {
    if let Some(period) = period(events) {
        let mut round = events[events.len() - period..].to_vec();
        // A round ends where the task yields, if it does.
        let end = round.iter().rposition(|event| gives_way(event.op));
        round.rotate_left(end.map_or(0, |end| end + 1));
        return Some(round);
    }
    let mut counts: HashMap<LoopPart, usize> = HashMap::new();
    for event in events {
        *counts.entry(LoopPart::of(event)).or_default() += 1;
    }
    let mut found = HashSet::new();
    let mut kinds = events[events.len() / 2..].to_vec();
    kinds.retain(|event| found.insert(LoopPart::of(event)));
    let often = |kind: &&Event| counts[&LoopPart::of(kind)] >= REPEATED;
    kinds.iter().all(often).then_some(kinds)
}

/// Returns the shortest period of the last events, if it covers at least their last half, and repeats often enough.
fn period(events: &[&Event]) -> Option<usize> {
    // From the end: for each length, the longest proper border (Knuth, Morris, Pratt).
    let at = |index: usize| events[events.len() - 1 - index];
    let mut borders = vec![0; events.len()];
    let mut border = 0;
    let mut found = None;
    for index in 0..events.len() {
        if index > 0 {
            while border > 0 && !alike(at(index), at(border)) {
                border = borders[border - 1];
            }
            border += usize::from(alike(at(index), at(border)));
            borders[index] = border;
        }
        let length = index + 1;
        let period = length - border;
        if 2 * length >= events.len() && REPEATED * period <= length {
            found = Some(period);
        }
    }
    found
}

impl Runtime {
    /// Returns the state of the execution, which has reached its limit on steps.
    pub(super) fn endless(&self) -> Endless {
        let events = self.record.events.as_slice();
        let middle = &events[events.len() / 4..events.len() - events.len() / 4];
        let mut loops = Vec::new();
        let mut all_go_round = true;
        for task in self.tasks.numbers() {
            let own: Vec<&Event> = middle.iter().filter(|event| event.task == task).collect();
            if own.last().is_none_or(|last| last.op == SyncVarOp::TaskEnd) {
                continue;
            }
            let Some(round) = round(&own) else {
                all_go_round = false;
                continue;
            };
            loops.push(EndlessLoop {
                task: task_name(self, task),
                yields: round.iter().any(|event| gives_way(event.op)),
                steps_left_out: round.len().saturating_sub(ROUND_SHOWN),
                steps: round
                    .iter()
                    .take(ROUND_SHOWN)
                    .map(|event| (event.op, var_name(self, event.var), site_name(event.site)))
                    .collect(),
            });
        }
        let only_looks = || middle.len() >= LOOKS_MIN && !middle.iter().any(Event::may_change);
        let verdict = if self.limits.unmodified && all_go_round && !loops.is_empty() && only_looks() {
            Verdict::Livelock
        } else if self.limits.unmodified {
            // A real scheduler preempts a loop that does not yield. Also, the loop of a stress test may do the same in
            // each of its many rounds, which it counts in plain memory.
            Verdict::Long
        } else if loops.iter().any(|round| !round.yields) {
            Verdict::UnfairSpin
        } else if all_go_round && !loops.is_empty() {
            Verdict::Livelock
        } else {
            Verdict::Long
        };
        Endless { verdict, loops }
    }
}

/// Returns `true` if fairness counts this operation as a yield.
fn gives_way(op: SyncVarOp) -> bool {
    matches!(op, SyncVarOp::Yield | SyncVarOp::Sleep | SyncVarOp::TimeOut)
}
