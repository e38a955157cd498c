//! Breakpoints in real time: a task that reaches one waits up to a limit.

use crate::arming::{Arming, Armings, Refinements};
use crate::control::Passed;
use crate::statistics::Statistics;
use crate::table::{Arrived, Meeting, Table, Ticket};
use crate::visit::Visit;
use crate::{held, log, switch};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time that a task waits for its partner, unless another is set: long enough for a busy machine.
const LIMIT: Duration = Duration::from_secs(1);

/// The time that the second task waits for the next step of a first task whose end is not reported.
const LEAD: Duration = Duration::from_millis(20);

/// The state shared by all threads.
struct Shared {
    table: Table,
    /// The decisions for the tasks that waited.
    fates: BTreeMap<Ticket, Fate>,
    /// The turns of the first tasks, as long as another task waits for their end.
    turns: BTreeMap<Ticket, Turn>,
}

/// The way in which a task that met a partner continues.
#[derive(Clone, Copy)]
enum Fate {
    First {
        guarded: bool,
    },
    /// After this turn.
    Second(Ticket),
    AtOnce,
}

/// The progress of the first task.
#[derive(Clone, Copy)]
enum Turn {
    /// It has not continued yet, or its end will be reported.
    Begun,
    /// It continued at this time, and has not completed its step.
    Left(Instant),
    Over,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared {
    table: Table::nothing(),
    fates: BTreeMap::new(),
    turns: BTreeMap::new(),
});
static CHANGED: Condvar = Condvar::new();

fn shared() -> MutexGuard<'static, Shared> {
    // A joint predicate that panics leaves no inconsistent state.
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Arms these breakpoints in addition to those that are armed.
pub(crate) fn add(armings: Armings) {
    if !armings.0.is_empty() {
        shared().table.arm(armings);
        switch::on();
    }
}

/// Disarms the breakpoints for which `which` holds, and forgets their figures.
pub(crate) fn disarm_where(which: impl Fn(&Arming) -> bool) {
    let mut shared = shared();
    shared.table.disarm(which);
    if shared.table.is_empty() {
        switch::off();
    }
}

/// Returns `true` if a breakpoint of this name is armed.
pub(crate) fn is_armed(name: &str) -> bool {
    shared().table.is_armed(name)
}

/// Returns the figures of the armed breakpoints, in the order in which they were armed.
pub(crate) fn statistics() -> Vec<Statistics> {
    shared().table.statistics().cloned().collect()
}

/// Handles a visit of the calling thread to a place.
pub(crate) fn visit(mut visit: Visit<'_>) -> Passed {
    let mut shared = shared();
    let holds = visit.while_held.is_none_or(held::holds);
    match shared.table.arrive(&mut visit, holds) {
        Arrived::Passes => Passed::default(),
        Arrived::Waits(ticket, refined) => wait(shared, ticket, refined, &visit),
        Arrived::Meets(meeting, refined) => {
            let last = meeting.last;
            shared.tell("hit", &visit);
            let fate = shared.meet(meeting);
            CHANGED.notify_all();
            go(shared, last, fate, refined, &visit)
        }
    }
}

/// Waits for a partner of the calling thread.
fn wait(
    mut shared: MutexGuard<'static, Shared>,
    ticket: Ticket,
    refined: Refinements,
    visit: &Visit<'_>,
) -> Passed {
    let until = deadline(refined.limit.unwrap_or(LIMIT));
    loop {
        if let Some(fate) = shared.fates.remove(&ticket) {
            return go(shared, ticket, fate, refined, visit);
        }
        if is_over(until) {
            shared.table.give_up(ticket);
            shared.tell("timeout", visit);
            return Passed::default();
        }
        shared = pause(shared, until);
    }
}

/// Continues the calling thread, which has met its partner, when it is its turn.
fn go(
    mut shared: MutexGuard<'static, Shared>,
    ticket: Ticket,
    fate: Fate,
    refined: Refinements,
    visit: &Visit<'_>,
) -> Passed {
    let mut turn = None;
    match fate {
        Fate::AtOnce => {}
        Fate::First { guarded: true } => turn = Some(ticket),
        Fate::First { guarded: false } => {
            // It runs: from now on the limit of its next step counts.
            shared.advance(ticket, Turn::Left(Instant::now()));
        }
        Fate::Second(first) => {
            let until = deadline(refined.limit.unwrap_or(LIMIT));
            let lead = refined.lead.unwrap_or(LEAD);
            loop {
                let end = match shared.turns.get(&first) {
                    None | Some(Turn::Over) => break,
                    Some(Turn::Begun) => until,
                    Some(Turn::Left(at)) => {
                        let end = at.checked_add(lead);
                        if is_over(end) {
                            break;
                        }
                        end
                    }
                };
                if is_over(until) {
                    shared.table.unordered(visit.name);
                    shared.tell("unordered", visit);
                    break;
                }
                shared = pause(shared, end);
            }
            shared.turns.remove(&first);
        }
    }
    Passed { hit: true, turn }
}

/// Ends the turn of the first thread, which has completed its step.
pub(crate) fn turn_over(turn: Ticket) {
    shared().advance(turn, Turn::Over);
}

impl Shared {
    /// Decides how the tasks that met continue. Returns the decision for the last one.
    fn meet(&mut self, meeting: Meeting) -> Fate {
        let Meeting {
            last,
            waited,
            first,
            guarded,
        } = meeting;
        if let Some(first) = first {
            self.turns.insert(first, Turn::Begun);
        }
        let fate = |ticket| match first {
            None => Fate::AtOnce,
            Some(first) if first == ticket => Fate::First { guarded },
            Some(first) => Fate::Second(first),
        };
        for ticket in waited {
            self.fates.insert(ticket, fate(ticket));
        }
        fate(last)
    }

    /// Advances a turn, if a task still waits for its end.
    fn advance(&mut self, turn: Ticket, to: Turn) {
        if let Some(known) = self.turns.get_mut(&turn) {
            *known = to;
            CHANGED.notify_all();
        }
    }

    /// Logs the outcome of the visit.
    fn tell(&self, what: &str, visit: &Visit<'_>) {
        let statistics = self.table.statistics().find(|known| known.name == visit.name);
        if let (Some(statistics), Some(site)) = (statistics, visit.site) {
            log::event(what, site, statistics);
        }
    }
}

/// Returns the time `limit` from now; `None` if that is beyond the clock's range.
fn deadline(limit: Duration) -> Option<Instant> {
    Instant::now().checked_add(limit)
}

fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

/// Waits until something changes, or until the time is reached.
fn pause(shared: MutexGuard<'static, Shared>, until: Option<Instant>) -> MutexGuard<'static, Shared> {
    match until {
        None => CHANGED.wait(shared).unwrap_or_else(PoisonError::into_inner),
        Some(until) => {
            let left = until.saturating_duration_since(Instant::now());
            let waited = CHANGED.wait_timeout(shared, left);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}
