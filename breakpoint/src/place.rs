//! A place in the code: its settings in the code, and its actions.

use crate::arming::Refinements;
use crate::control::{Passed, in_charge};
use crate::held::address;
use crate::table::Ticket;
use crate::visit::{Objects, Role, Visit};
use crate::{real, switch, variable};
use std::any::Any;
use std::marker::PhantomData;
use std::panic::Location;
use std::time::Duration;

/// One of the two places of a breakpoint, until one of its last methods is called: [`first`](Place::first),
/// [`first_here`](Place::first_here), [`second`](Place::second), [`meet`](Place::meet), or their equivalents for its kind
/// of breakpoint.
///
/// Places with the same name are one breakpoint. As long as nothing is armed, none of the closures is called, and a place
/// costs one relaxed load and a branch.
#[must_use = "a place does nothing until one of its last methods is called"]
pub struct Place<'a, Kind, When = fn() -> bool, J = Unjoined> {
    name: &'a str,
    objects: Objects,
    refined: Refinements,
    while_held: Option<usize>,
    when: Option<When>,
    joint: J,
    kind: PhantomData<Kind>,
}

/// Kind of a breakpoint of any two tasks: see [`at`].
#[derive(Debug)]
pub enum Anywhere {}
/// Kind of a breakpoint at two accesses to one object: see [`conflict`].
#[derive(Debug)]
pub enum Conflict {}
/// Kind of a breakpoint at locks taken crosswise: see [`deadlock`].
#[derive(Debug)]
pub enum Deadlock {}
/// Kind of a breakpoint in the middle of a block that is meant to be atomic: see [`atomicity`].
#[derive(Debug)]
pub enum Atomicity {}
/// Kind of a breakpoint between a check and the wait that follows it: see [`notification`].
#[derive(Debug)]
pub enum Notification {}

/// Returns a breakpoint where any two tasks meet that reach its two places.
#[inline(always)]
pub fn at(name: &str) -> Place<'_, Anywhere> {
    Place::new(name, Objects::None)
}

/// Returns a breakpoint right before two accesses to one object, at least one of which writes.
///
/// ```
/// # use intermezzo_breakpoint as breakpoint;
/// # let (queue, value) = (std::sync::Mutex::new(vec![1]), 2);
/// // Here, a task is about to read ..
/// breakpoint::conflict("stale-length", &queue).first_here();
/// let length = queue.lock().unwrap().len();
/// // .. and elsewhere, another task is about to write.
/// breakpoint::conflict("stale-length", &queue).second();
/// queue.lock().unwrap().push(value);
/// # assert_eq!(length, 1);
/// ```
#[inline(always)]
pub fn conflict<'a, T: ?Sized>(name: &'a str, object: &T) -> Place<'a, Conflict> {
    Place::new(name, Objects::Same(address(object)))
}

/// Returns a breakpoint where tasks, each of which holds a lock, are about to take one that another of them holds.
/// Two tasks, or more in a circle.
#[inline(always)]
pub fn deadlock<'a, A: ?Sized, B: ?Sized>(name: &'a str, holds: &A, wants: &B) -> Place<'a, Deadlock> {
    let objects = Objects::Crosswise {
        held: address(holds),
        wanted: address(wants),
    };
    Place::new(name, objects)
}

/// Returns a breakpoint in the middle of a task's block on an object that is meant to be atomic, into which another
/// task comes.
#[inline(always)]
pub fn atomicity<'a, T: ?Sized>(name: &'a str, object: &T) -> Place<'a, Atomicity> {
    Place::new(name, Objects::Same(address(object)))
}

/// Returns a breakpoint between a task's check that it must wait, and its wait. Another task notifies in between, and
/// the notification is lost.
#[inline(always)]
pub fn notification<'a, T: ?Sized>(name: &'a str, object: &T) -> Place<'a, Notification> {
    Place::new(name, Objects::Same(address(object)))
}

/// The joint predicate of a place.
pub trait Joint {
    /// Returns the task's own state, if it matters.
    fn state(&self) -> Option<Box<dyn Any + Send>>;
    /// `true` if the states of two tasks agree.
    fn agree(&self, first: &dyn Any, second: &dyn Any) -> bool;
}

/// No joint predicate: two tasks meet whatever their states.
#[derive(Debug)]
pub struct Unjoined;

impl Joint for Unjoined {
    fn state(&self) -> Option<Box<dyn Any + Send>> {
        None
    }

    fn agree(&self, _: &dyn Any, _: &dyn Any) -> bool {
        true
    }
}

/// A joint predicate of states of type `S`: see [`Place::joint`].
#[derive(Debug)]
pub struct With<S, State, Agree> {
    state: State,
    agree: Agree,
    of: PhantomData<fn(S)>,
}

impl<S, State, Agree> Joint for With<S, State, Agree>
where
    S: Any + Send,
    State: Fn() -> S,
    Agree: Fn(&S, &S) -> bool,
{
    fn state(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.state)()))
    }

    fn agree(&self, first: &dyn Any, second: &dyn Any) -> bool {
        // A partner must have a state of the same type.
        match (first.downcast_ref(), second.downcast_ref()) {
            (Some(first), Some(second)) => (self.agree)(first, second),
            _ => false,
        }
    }
}

impl<'a, Kind> Place<'a, Kind> {
    #[inline(always)]
    fn new(name: &'a str, objects: Objects) -> Self {
        Place {
            name,
            objects,
            refined: Refinements {
                skip: None,
                skip_second: None,
                hits: None,
                limit: None,
                lead: None,
            },
            while_held: None,
            when: None,
            joint: Unjoined,
            kind: PhantomData,
        }
    }
}

impl<'a, Kind, When: Fn() -> bool> Place<'a, Kind, When, Unjoined> {
    /// Meets only a partner whose state agrees. `agree` receives the state of the first and that of the second; at
    /// [`meet`](Place::meet), that of the task that came last and that of the task that waited. Partners must give
    /// states of one type. `agree` only compares the two: it must not reach a breakpoint itself.
    #[inline(always)]
    pub fn joint<S, State, Agree>(
        self,
        state: State,
        agree: Agree,
    ) -> Place<'a, Kind, When, With<S, State, Agree>>
    where
        S: Any + Send,
        State: Fn() -> S,
        Agree: Fn(&S, &S) -> bool,
    {
        let joint = With {
            state,
            agree,
            of: PhantomData,
        };
        Place {
            name: self.name,
            objects: self.objects,
            refined: self.refined,
            while_held: self.while_held,
            when: self.when,
            joint,
            kind: PhantomData,
        }
    }
}

impl<'a, Kind, When: Fn() -> bool, J: Joint> Place<'a, Kind, When, J> {
    /// Applies only if this holds: the local predicate. Other visits are not counted.
    #[inline(always)]
    pub fn when<W: Fn() -> bool>(self, local: W) -> Place<'a, Kind, W, J> {
        Place {
            name: self.name,
            objects: self.objects,
            refined: self.refined,
            while_held: self.while_held,
            when: Some(local),
            joint: self.joint,
            kind: PhantomData,
        }
    }

    /// Applies only while the calling task holds this lock, as [`held`](crate::held) marks.
    #[inline(always)]
    pub fn while_held<L: ?Sized>(mut self, lock: &L) -> Self {
        self.while_held = Some(address(lock));
        self
    }

    /// Lets the first `visits` of this side pass.
    #[inline(always)]
    pub fn skip(mut self, visits: u64) -> Self {
        self.refined.skip = Some(visits);
        self
    }

    /// Limits the number of hits.
    #[inline(always)]
    pub fn at_most(mut self, hits: u64) -> Self {
        self.refined.hits = Some(hits);
        self
    }

    /// Limits the time of a wait for a partner. Default: one second. In an exploration the limit has no effect: a task
    /// waits until no other task can continue.
    #[inline(always)]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.refined.limit = Some(limit);
        self
    }

    /// Visits the place.
    #[cold]
    #[track_caller]
    fn visit(self, role: Role, guarded: bool) -> (Passed, bool) {
        let site = Location::caller();
        if !variable::is_on_after_reading() {
            return Default::default();
        }
        let controller = in_charge();
        let armed = match controller {
            Some(controller) => controller.armed(self.name),
            None => real::is_armed(self.name),
        };
        if !armed || !self.when.as_ref().is_none_or(|when| when()) {
            return Default::default();
        }
        let joint = &self.joint;
        let visit = Visit {
            name: self.name,
            role,
            objects: self.objects,
            state: joint.state(),
            agree: &|first, second| joint.agree(first, second),
            while_held: self.while_held,
            refined: self.refined,
            guarded,
            site: Some(site),
        };
        match controller {
            Some(controller) => (controller.visit(visit), true),
            None => (real::visit(visit), false),
        }
    }

    #[inline(always)]
    #[track_caller]
    fn goes_first(self) -> Turn {
        if switch::is_off() {
            return Turn::MISSED;
        }
        let (Passed { hit, turn }, controlled) = self.visit(Role::First, true);
        Turn {
            hit,
            turn: turn.map(|ticket| (ticket, controlled)),
        }
    }

    #[inline(always)]
    #[track_caller]
    fn goes(self, role: Role) -> bool {
        !switch::is_off() && self.visit(role, false).0.hit
    }
}

/// Kinds of breakpoints with a first place and a second one.
pub trait Ordered {}
impl Ordered for Anywhere {}
impl Ordered for Conflict {}

/// Kinds of breakpoints at which tasks may meet without an order.
pub trait Unordered {}
impl Unordered for Anywhere {}
impl Unordered for Conflict {}
impl Unordered for Deadlock {}

impl<Kind: Ordered, When: Fn() -> bool, J: Joint> Place<'_, Kind, When, J> {
    /// Waits for a task at the second place, and continues first: the second task waits until the turn is dropped. So
    /// everything before the drop is certain to come first.
    #[inline(always)]
    #[track_caller]
    pub fn first(self) -> Turn {
        self.goes_first()
    }

    /// Like [`first`](Place::first), for code in which the end of the step cannot be marked. The second task waits for the
    /// next visible operation in an exploration, and otherwise for a short time. Returns `true` if a partner came.
    #[inline(always)]
    #[track_caller]
    pub fn first_here(self) -> bool {
        self.goes(Role::First)
    }

    /// Waits for a task at the first place, and then until it has completed its step. Returns `true` if one came.
    #[inline(always)]
    #[track_caller]
    pub fn second(self) -> bool {
        self.goes(Role::Second)
    }
}

impl<Kind: Unordered, When: Fn() -> bool, J: Joint> Place<'_, Kind, When, J> {
    /// Waits for another task that reaches such a place; then both continue. Returns `true` if one came.
    #[inline(always)]
    #[track_caller]
    pub fn meet(self) -> bool {
        self.goes(Role::Either)
    }
}

impl<When: Fn() -> bool, J: Joint> Place<'_, Atomicity, When, J> {
    /// Called right before the intrusion: waits for a task in the middle of its block, and continues first, until the
    /// turn is dropped.
    #[inline(always)]
    #[track_caller]
    pub fn intrude(self) -> Turn {
        self.goes_first()
    }

    /// Called in the middle of the block: waits for a task that intrudes, and then until it has finished. Returns `true`
    /// if one came.
    #[inline(always)]
    #[track_caller]
    pub fn within(self) -> bool {
        self.goes(Role::Second)
    }
}

impl<When: Fn() -> bool, J: Joint> Place<'_, Notification, When, J> {
    /// Called right before the notification: waits for a task that is about to wait, and continues first, until the
    /// turn is dropped.
    #[inline(always)]
    #[track_caller]
    pub fn before_notify(self) -> Turn {
        self.goes_first()
    }

    /// Called right before the wait, without a lock that the notifying task needs: waits until that task has notified.
    /// Returns `true` if one came.
    #[inline(always)]
    #[track_caller]
    pub fn before_wait(self) -> bool {
        self.goes(Role::Second)
    }
}

/// The turn of the task that goes first: the second waits until it is dropped, or its limit is over.
#[must_use = "the second continues as soon as this is dropped: keep it until the first step is done"]
#[derive(Debug)]
pub struct Turn {
    hit: bool,
    /// The turn, and `true` if it belongs to a runtime that controls the task.
    turn: Option<(Ticket, bool)>,
}

impl Turn {
    const MISSED: Turn = Turn {
        hit: false,
        turn: None,
    };

    /// `true` if a partner came.
    pub fn hit(&self) -> bool {
        self.hit
    }
}

impl Drop for Turn {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some((ticket, controlled)) = self.turn {
            end(ticket, controlled);
        }
    }
}

#[cold]
fn end(ticket: Ticket, controlled: bool) {
    match in_charge() {
        Some(controller) if controlled => controller.turn_over(ticket),
        // A turn of an execution that is over.
        None if controlled => {}
        _ => real::turn_over(ticket),
    }
}
