//! What an execution that reached its limit of steps was doing at the end: the loops its tasks go round in, and
//! whether they give way (Musuvathi & Qadeer, PLDI 2008).
//!
//! What counts is the middle half of the events: the beginning may be anything, and what happens last is where a
//! depth first search tries its alternatives, so that the first execution that reaches the limit is often one
//! that leaves its loop at last. A task *goes round* if of what it did in that half, the later half is one period
//! over and over, or at least holds nothing that it did not do three times, the values read and written
//! included. A loop that counts does not go round: it may end.

use super::Runtime;
use super::naming::{site_name, task_name, var_name};
use crate::record::Event;
use intermezzo_sdk::SyncVarOp;

/// The number of times a period is seen before it counts.
const REPEATED: usize = 3;

/// What is to be said of an execution that reached its limit of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some task does something new all the time: it may just be long.
    Long,
    /// All tasks that do something go round, and give way in each round.
    Livelock,
    /// Some task goes round and never gives way.
    UnfairSpin,
}

/// How an execution went on at its limit of steps.
#[derive(Clone, Debug)]
pub struct Endless {
    /// Why the execution did not end.
    pub verdict: Verdict,
    /// The tasks that go round.
    pub loops: Vec<EndlessLoop>,
}

/// A task that goes round, in words.
#[derive(Clone, Debug)]
pub struct EndlessLoop {
    /// The name of the task.
    pub task: String,
    /// `true` if it gives way in each round.
    pub yields: bool,
    /// One round: operation, variable, place.
    pub steps: Vec<(SyncVarOp, String, String)>,
}

/// Returns `true` if two events of one task are the same step of a loop.
fn alike(a: &Event, b: &Event) -> bool {
    // Which message or which round it is says nothing about what the loop does.
    let values = |event: &Event| match event.op {
        SyncVarOp::ChannelSend
        | SyncVarOp::ChannelReceive
        | SyncVarOp::BarrierArrive
        | SyncVarOp::BarrierPass => (0, 0),
        _ => (event.read, event.written),
    };
    let what = |event: &Event| (event.op, event.var, values(event));
    what(a) == what(b) && std::ptr::eq(a.site, b.site)
}

/// Returns one round of a task that did this at last, if it goes round.
fn round<'a>(events: &[&'a Event]) -> Option<Vec<&'a Event>> {
    if let Some(period) = period(events) {
        let mut round = events[events.len() - period..].to_vec();
        // It ends where the task gives way, if it does.
        let end = round.iter().rposition(|event| gives_way(event.op));
        round.rotate_left(end.map_or(0, |end| end + 1));
        return Some(round);
    }
    let mut kinds: Vec<&Event> = Vec::new();
    for &event in &events[events.len() / 2..] {
        if !kinds.iter().any(|kind| alike(kind, event)) {
            kinds.push(event);
            if REPEATED * kinds.len() > events.len() {
                return None;
            }
        }
    }
    let often = |kind: &&Event| events.iter().filter(|event| alike(event, kind)).count() >= REPEATED;
    kinds.iter().all(often).then_some(kinds)
}

/// Returns the shortest period of the last events, if the last half of them at least is of that period, and it
/// comes often enough.
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
    /// What the execution that has reached its limit of steps was doing.
    pub(super) fn endless(&self) -> Endless {
        let events = self.events.as_slice();
        let middle = &events[events.len() / 4..events.len() - events.len() / 4];
        let mut loops = Vec::new();
        let mut all_go_round = true;
        for task in 0..self.created {
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
                steps: round
                    .iter()
                    .map(|event| (event.op, var_name(self, event.var), site_name(event.site)))
                    .collect(),
            });
        }
        let verdict = if loops.iter().any(|round| !round.yields) {
            Verdict::UnfairSpin
        } else if all_go_round && !loops.is_empty() {
            Verdict::Livelock
        } else {
            Verdict::Long
        };
        Endless { verdict, loops }
    }
}

/// Returns `true` if this is a yield, as fairness has it.
fn gives_way(op: SyncVarOp) -> bool {
    matches!(op, SyncVarOp::Yield | SyncVarOp::Sleep | SyncVarOp::TimeOut)
}
