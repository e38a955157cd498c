//! The tasks at each breakpoint, and their meetings: the rules, without time and without waiting.

use crate::arming::{Arming, Armings, Refinements};
use crate::statistics::Statistics;
use crate::visit::{Objects, Role, Visit};
use std::any::Any;

/// A visit that counts, by its number in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// The outcome of an arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// It does not count: the task continues.
    Passes,
    /// There is no partner yet: the task waits, under this number, as long as the refinements allow.
    Waits(Ticket, Refinements),
    /// Its partners are there.
    Meets(Meeting, Refinements),
}

/// Tasks that met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The one that came last.
    pub last: Ticket,
    /// Those that waited.
    pub waited: Vec<Ticket>,
    /// The one that goes first; `None` if the order does not matter.
    pub first: Option<Ticket>,
    /// `true` if the end of the first's step will be reported.
    pub guarded: bool,
}

/// The armed breakpoints, and the tasks that wait at them.
#[derive(Debug, Default)]
pub struct Table {
    armed: Vec<Armed>,
    last_ticket: u64,
}

#[derive(Debug)]
struct Armed {
    arming: Arming,
    statistics: Statistics,
    /// Visits so far, of the first side and of the second; of either, where there is one side only.
    visits: [u64; 2],
    waiting: Vec<Waiting>,
}

/// A task that waits for a partner.
#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    role: Role,
    objects: Objects,
    state: Option<Box<dyn Any + Send>>,
    guarded: bool,
}

impl Table {
    /// Creates an empty table.
    pub const fn nothing() -> Table {
        Table {
            armed: Vec::new(),
            last_ticket: 0,
        }
    }

    /// Creates a table of these.
    pub fn new(armings: Armings) -> Table {
        let mut table = Table::default();
        table.arm(armings);
        table
    }

    /// Arms these as well. One that is armed already only gets the new refinements.
    pub fn arm(&mut self, armings: Armings) {
        for arming in armings.0 {
            match self
                .armed
                .iter_mut()
                .find(|armed| armed.arming.place == arming.place)
            {
                Some(armed) => armed.arming = arming,
                None => self.armed.push(Armed {
                    statistics: Statistics {
                        name: arming.place.to_string(),
                        ..Statistics::default()
                    },
                    arming,
                    visits: [0; 2],
                    waiting: Vec::new(),
                }),
            }
        }
    }

    /// Disarms these and forgets their figures. Tasks that wait there wait as long as they would have.
    pub fn disarm(&mut self, which: impl Fn(&Arming) -> bool) {
        self.armed.retain(|armed| !which(&armed.arming));
    }

    /// `true` if nothing is armed.
    pub fn is_empty(&self) -> bool {
        self.armed.is_empty()
    }

    /// `true` if a breakpoint of this name is armed.
    pub fn is_armed(&self, name: &str) -> bool {
        self.armed.iter().any(|armed| armed.is_called(name))
    }

    /// Handles the arrival of a task at a place. `holds` is `true` if it holds the required lock.
    pub fn arrive(&mut self, visit: &mut Visit<'_>, holds: bool) -> Arrived {
        match self.armed.iter().position(|armed| armed.is_called(visit.name)) {
            Some(at) if holds => self.arrive_at(at, visit, |armed, visit| armed.partners(visit)),
            _ => Arrived::Passes,
        }
    }

    /// Handles the arrival of a task at a place. The caller decides which of the waiting tasks are its partners.
    pub fn arrive_by(
        &mut self,
        visit: &mut Visit<'_>,
        partners: impl FnOnce(&[Ticket]) -> Vec<Ticket>,
    ) -> Arrived {
        match self.armed.iter().position(|armed| armed.is_called(visit.name)) {
            None => Arrived::Passes,
            Some(at) => self.arrive_at(at, visit, |armed, _| {
                let waiting: Vec<Ticket> = armed.waiting.iter().map(|waiting| waiting.ticket).collect();
                partners(&waiting)
            }),
        }
    }

    fn arrive_at(
        &mut self,
        at: usize,
        visit: &mut Visit<'_>,
        partners: impl FnOnce(&Armed, &Visit<'_>) -> Vec<Ticket>,
    ) -> Arrived {
        let armed = &mut self.armed[at];
        let refined = armed.arming.refined.or(visit.refined);
        if !armed.counts(visit.role, refined) {
            return Arrived::Passes;
        }
        self.last_ticket += 1;
        let last = Ticket(self.last_ticket);
        let partners = partners(armed, visit);
        if partners.is_empty() {
            armed.waiting.push(Waiting {
                ticket: last,
                role: visit.role,
                objects: visit.objects,
                state: visit.state.take(),
                guarded: visit.guarded,
            });
            return Arrived::Waits(last, refined);
        }
        armed.statistics.hits += 1;
        let (mut first, mut guarded) = match visit.role {
            Role::First => (Some(last), visit.guarded),
            Role::Second | Role::Either => (None, false),
        };
        let mut waited = Vec::new();
        armed.waiting.retain(|waiting| {
            let met = partners.contains(&waiting.ticket);
            if met {
                waited.push(waiting.ticket);
                if waiting.role == Role::First {
                    (first, guarded) = (Some(waiting.ticket), waiting.guarded);
                }
            }
            !met
        });
        let meeting = Meeting {
            last,
            waited,
            first,
            guarded,
        };
        Arrived::Meets(meeting, refined)
    }

    /// Ends the wait of a task whose time is over. `true` if it was still waiting.
    pub fn give_up(&mut self, ticket: Ticket) -> bool {
        for armed in &mut self.armed {
            if let Some(at) = armed.waiting.iter().position(|waiting| waiting.ticket == ticket) {
                armed.waiting.remove(at);
                armed.statistics.timeouts += 1;
                return true;
            }
        }
        false
    }

    /// Counts that the second at this breakpoint continued before the first was done.
    pub fn unordered(&mut self, name: &str) {
        let armed = self.armed.iter_mut().find(|armed| armed.is_called(name));
        if let Some(armed) = armed {
            armed.statistics.unordered += 1;
        }
    }

    /// Returns the figures of each, in the order in which they were armed.
    pub fn statistics(&self) -> impl Iterator<Item = &Statistics> {
        self.armed.iter().map(|armed| &armed.statistics)
    }

    /// Forgets all arrivals and counts: everything starts again.
    pub fn reset(&mut self) {
        self.last_ticket = 0;
        for armed in &mut self.armed {
            armed.visits = [0; 2];
            armed.waiting.clear();
            let name = std::mem::take(&mut armed.statistics.name);
            armed.statistics = Statistics {
                name,
                ..Statistics::default()
            };
        }
    }
}

impl Armed {
    fn is_called(&self, name: &str) -> bool {
        self.statistics.name == name
    }

    /// Counts a visit. `true` if it is one at which to wait.
    fn counts(&mut self, role: Role, refined: Refinements) -> bool {
        let side = usize::from(role == Role::Second);
        self.visits[side] += 1;
        self.statistics.visits += 1;
        let skip = match role {
            Role::Second => refined.skip_second.or(refined.skip),
            Role::First | Role::Either => refined.skip,
        };
        let counts = self.visits[side] > skip.unwrap_or(0)
            && refined.hits.is_none_or(|most| self.statistics.hits < most);
        self.statistics.skipped += u64::from(!counts);
        counts
    }

    /// Returns the waiting tasks that the visitor meets: the one that has waited longest, or all of a circle of
    /// locks.
    fn partners(&self, visit: &Visit<'_>) -> Vec<Ticket> {
        if let Objects::Crosswise { held, wanted } = visit.objects {
            return self.circle(held, wanted);
        }
        let meets = |waiting: &&Waiting| {
            let sides = matches!(
                (waiting.role, visit.role),
                (Role::First, Role::Second) | (Role::Second, Role::First) | (Role::Either, Role::Either)
            );
            sides && waiting.objects == visit.objects && agree(waiting, visit)
        };
        let first = self.waiting.iter().find(meets);
        first.map(|waiting| waiting.ticket).into_iter().collect()
    }

    /// Returns the tasks that wait for locks and hold others, from the one that holds `wanted` to the one that wants
    /// `held`; none if there is no such chain.
    fn circle(&self, held: usize, wanted: usize) -> Vec<Ticket> {
        let mut chain: Vec<Ticket> = Vec::new();
        let mut next = wanted;
        loop {
            let link = self.waiting.iter().find_map(|waiting| match waiting.objects {
                Objects::Crosswise { held, wanted } if held == next && !chain.contains(&waiting.ticket) => {
                    Some((waiting.ticket, wanted))
                }
                _ => None,
            });
            let Some((ticket, then)) = link else {
                return Vec::new();
            };
            chain.push(ticket);
            if then == held {
                return chain;
            }
            next = then;
        }
    }
}

/// `true` if the joint predicate holds.
fn agree(waiting: &Waiting, visit: &Visit<'_>) -> bool {
    match (&waiting.state, &visit.state) {
        (None, None) => true,
        (Some(theirs), Some(mine)) => match visit.role {
            Role::Second => (visit.agree)(&**theirs, &**mine),
            Role::First | Role::Either => (visit.agree)(&**mine, &**theirs),
        },
        _ => false,
    }
}

impl Refinements {
    /// Returns these refinements, completed by those of `other`.
    pub fn or(self, other: Refinements) -> Refinements {
        Refinements {
            skip: self.skip.or(other.skip),
            skip_second: self.skip_second.or(if self.skip.is_some() {
                None
            } else {
                other.skip_second
            }),
            hits: self.hits.or(other.hits),
            limit: self.limit.or(other.limit),
            lead: self.lead.or(other.lead),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(role: Role, objects: Objects) -> Visit<'static> {
        Visit {
            name: "x",
            role,
            objects,
            state: None,
            agree: &|_, _| true,
            while_held: None,
            refined: Refinements::default(),
            guarded: false,
            site: None,
        }
    }

    fn table(text: &str) -> Table {
        Table::new(text.parse().unwrap())
    }

    fn arrive(table: &mut Table, role: Role, objects: Objects) -> Arrived {
        table.arrive(&mut visit(role, objects), true)
    }

    fn waits(arrived: Arrived) -> Ticket {
        match arrived {
            Arrived::Waits(ticket, _) => ticket,
            other => panic!("{other:?}"),
        }
    }

    fn meets(arrived: Arrived) -> Meeting {
        match arrived {
            Arrived::Meets(meeting, _) => meeting,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_sides_meet_on_one_object() {
        let mut table = table("x");
        let second = waits(arrive(&mut table, Role::Second, Objects::Same(1)));
        waits(arrive(&mut table, Role::First, Objects::Same(2)));
        waits(arrive(&mut table, Role::Second, Objects::Same(1)));
        let meeting = meets(arrive(&mut table, Role::First, Objects::Same(1)));
        assert_eq!(meeting.waited, [second], "the one that has waited longest");
        assert_eq!(meeting.first, Some(meeting.last));
        assert!(!table.give_up(second));
        let figures = table.statistics().next().unwrap();
        assert_eq!((figures.visits, figures.hits, figures.timeouts), (4, 1, 0));
    }

    #[test]
    fn locks_in_a_circle_of_any_length() {
        for tasks in [2, 3, 5] {
            let mut table = table("x");
            let fork = |n: usize| Objects::Crosswise {
                held: n,
                wanted: (n + 1) % tasks,
            };
            let waited: Vec<Ticket> = (0..tasks - 1)
                .map(|n| waits(arrive(&mut table, Role::Either, fork(n))))
                .collect();
            let meeting = meets(arrive(&mut table, Role::Either, fork(tasks - 1)));
            assert_eq!((meeting.waited, meeting.first), (waited, None));
        }
        let mut table = table("x");
        let one_order = Objects::Crosswise { held: 1, wanted: 2 };
        waits(arrive(&mut table, Role::Either, one_order));
        waits(arrive(&mut table, Role::Either, one_order));
        waits(arrive(
            &mut table,
            Role::Either,
            Objects::Crosswise { held: 7, wanted: 7 },
        ));
    }

    #[test]
    fn visits_are_skipped_by_side_and_hits_bounded() {
        let mut table = table("x skip=1/0 hits=1");
        assert_eq!(arrive(&mut table, Role::First, Objects::None), Arrived::Passes);
        waits(arrive(&mut table, Role::Second, Objects::None));
        meets(arrive(&mut table, Role::First, Objects::None));
        assert_eq!(arrive(&mut table, Role::First, Objects::None), Arrived::Passes);
        let figures = table.statistics().next().unwrap();
        assert_eq!((figures.visits, figures.skipped, figures.hits), (4, 2, 1));
        table.reset();
        assert_eq!(arrive(&mut table, Role::First, Objects::None), Arrived::Passes);
        let waiting = waits(arrive(&mut table, Role::First, Objects::None));
        assert!(table.give_up(waiting));
        assert!(!table.give_up(waiting));
        assert_eq!(table.statistics().next().unwrap().timeouts, 1);
    }

    #[test]
    fn the_environment_wins_over_the_code() {
        let mut table = table("x skip=0");
        let mut refined = visit(Role::Either, Objects::None);
        refined.refined.skip = Some(9);
        refined.refined.hits = Some(1);
        assert!(matches!(
            table.arrive(&mut refined, true),
            Arrived::Waits(_, Refinements { hits: Some(1), .. })
        ));
        assert_eq!(
            table.arrive(&mut refined, false),
            Arrived::Passes,
            "without its lock"
        );
    }

    #[test]
    fn the_joint_predicate_is_of_first_and_second() {
        let mut table = table("x");
        let with = |role, state: u32| Visit {
            state: Some(Box::new(state)),
            agree: &|first, second| first.downcast_ref::<u32>() < second.downcast_ref::<u32>(),
            ..visit(role, Objects::None)
        };
        waits(table.arrive(&mut with(Role::First, 5), true));
        waits(table.arrive(&mut with(Role::Second, 4), true));
        meets(table.arrive(&mut with(Role::Second, 6), true));
        meets(table.arrive(&mut with(Role::First, 3), true));
    }
}
