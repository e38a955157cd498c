//! Semaphores, events, and waits for several of them.

use super::state::{OBJECTS_MAX, Object, Objects, gate};
use crate::primitive::Primitive;
use crate::time::Instant;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

/// An object: alone, or one of a set.
struct Member {
    home: Home,
    at: usize,
}

enum Home {
    Alone(Primitive<Objects>),
    Set(Arc<Primitive<Objects>>),
}

impl Member {
    const fn alone(object: Object) -> Member {
        Member {
            home: Home::Alone(Primitive::new(Objects::one(object))),
            at: 0,
        }
    }

    fn primitive(&self) -> &Primitive<Objects> {
        match &self.home {
            Home::Alone(primitive) => primitive,
            Home::Set(primitive) => primitive,
        }
    }

    #[track_caller]
    fn wait(&self) {
        self.primitive()
            .wait(gate(self.at), Acquire, |objects| objects.take(self.at));
    }

    #[track_caller]
    fn try_wait(&self) -> bool {
        self.primitive().change(Acquire, |objects| objects.take(self.at))
    }

    #[track_caller]
    fn wait_timeout(&self, limit: Duration) -> bool {
        let taken = self
            .primitive()
            .wait_timeout(gate(self.at), limit, Acquire, |objects| objects.take(self.at));
        taken.is_some()
    }

    #[track_caller]
    fn look(&self) -> Object {
        self.primitive().read(Acquire, |objects| objects.of(self.at))
    }

    /// Names the object. One of a set has no variable of its own.
    fn give_name(&self, name: &str) {
        if let Home::Alone(primitive) = &self.home {
            crate::name(primitive, name);
        }
    }

    fn shown(&self, f: &mut fmt::Formatter<'_>, kind: &str) -> fmt::Result {
        f.debug_struct(kind).finish_non_exhaustive()
    }
}

/// A counting semaphore: a number of permits, for which tasks wait.
///
/// A permit belongs to no task: any may release one that another has acquired, or one more than there were.
///
/// ```
/// use intermezzo::extras::Semaphore;
///
/// static SLOTS: Semaphore = Semaphore::new(2);
///
/// SLOTS.acquire();
/// SLOTS.acquire();
/// assert!(!SLOTS.try_acquire());
/// SLOTS.release();
/// assert_eq!(SLOTS.available(), 1);
/// ```
pub struct Semaphore(Member);

impl Semaphore {
    /// Returns a semaphore with this number of permits.
    pub const fn new(permits: usize) -> Semaphore {
        Semaphore(Member::alone(Object::Semaphore(permits)))
    }

    /// Takes a permit, and waits until there is one.
    #[track_caller]
    pub fn acquire(&self) {
        self.0.wait();
    }

    /// Takes a permit if there is one; `false` if there is none.
    #[must_use]
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        self.0.try_wait()
    }

    /// Takes a permit, and waits for at most this long; `false` if there was none in time.
    #[must_use]
    #[track_caller]
    pub fn acquire_timeout(&self, limit: Duration) -> bool {
        self.0.wait_timeout(limit)
    }

    /// Adds a permit.
    ///
    /// # Panics
    /// If there would be more than `usize::MAX`.
    #[track_caller]
    pub fn release(&self) {
        self.release_many(1);
    }

    /// Adds this number of permits, in one step.
    ///
    /// # Panics
    /// If there would be more than `usize::MAX`.
    #[track_caller]
    pub fn release_many(&self, more: usize) {
        let Semaphore(Member { at, .. }) = *self;
        let fits = self.0.primitive().change(Release, |objects| {
            let Object::Semaphore(permits) = objects.at(at) else {
                unreachable!("it is a semaphore")
            };
            let sum = permits.checked_add(more);
            *permits = sum.unwrap_or(*permits);
            sum.is_some()
        });
        assert!(fits, "a semaphore has at most usize::MAX permits");
    }

    /// Returns the number of permits that can be taken.
    #[track_caller]
    pub fn available(&self) -> usize {
        match self.0.look() {
            Object::Semaphore(permits) => permits,
            _ => unreachable!("it is a semaphore"),
        }
    }
}

/// An event, which tasks wait for: set, or not.
///
/// While one that resets automatically is set, one wait passes and resets it. One that is reset by hand lets every wait pass
/// until then. Setting an event that is set changes nothing.
///
/// ```
/// use intermezzo::extras::Event;
///
/// let (next, closed) = (Event::auto_reset(true), Event::manual_reset(true));
/// next.wait();
/// assert!(!next.try_wait());
/// closed.wait();
/// assert!(closed.try_wait());
/// ```
pub struct Event(Member);

impl Event {
    /// Returns an event that a wait resets. It begins set if `set` is `true`.
    pub const fn auto_reset(set: bool) -> Event {
        Event(Member::alone(Object::AutoEvent(set)))
    }

    /// Returns an event that stays set until [`reset`](Event::reset). It begins set if `set` is `true`.
    pub const fn manual_reset(set: bool) -> Event {
        Event(Member::alone(Object::ManualEvent(set)))
    }

    /// Sets it.
    #[track_caller]
    pub fn set(&self) {
        self.put(true);
    }

    /// Resets it.
    #[track_caller]
    pub fn reset(&self) {
        self.put(false);
    }

    #[track_caller]
    fn put(&self, value: bool) {
        let Event(Member { at, .. }) = *self;
        self.0
            .primitive()
            .change(Release, |objects| match objects.at(at) {
                Object::AutoEvent(set) | Object::ManualEvent(set) => *set = value,
                Object::Semaphore(_) => unreachable!("it is an event"),
            });
    }

    /// Waits until it is set.
    #[track_caller]
    pub fn wait(&self) {
        self.0.wait();
    }

    /// Passes if the event is set; `false` if it is not.
    #[must_use]
    #[track_caller]
    pub fn try_wait(&self) -> bool {
        self.0.try_wait()
    }

    /// Waits until it is set, for at most this long; `false` if it was not in time.
    #[must_use]
    #[track_caller]
    pub fn wait_timeout(&self, limit: Duration) -> bool {
        self.0.wait_timeout(limit)
    }

    /// Returns `true` if it is set.
    #[track_caller]
    pub fn is_set(&self) -> bool {
        self.0.look().is_available()
    }
}

mod sealed {
    /// Gives [`WaitSet`](super::WaitSet) the object.
    pub trait Sealed {
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "only this module implements and calls it")]
        fn member(&self) -> &super::Member;
    }
}

/// An object of a [`WaitSet`].
pub trait Waitable: sealed::Sealed {}

/// A set of objects, for any or all of which a task waits in one operation.
///
/// Its objects are used like others. For a search they are one variable: operations on two objects of a set do not commute,
/// and order memory as those on one do. So put together only what is waited for together, up to 8 objects.
///
/// ```
/// use intermezzo::extras::WaitSet;
///
/// let set = WaitSet::new();
/// let (quit, work) = (set.manual_event(false), set.semaphore(0));
/// work.release();
/// // The first that is available.
/// assert_eq!(set.wait_any(&[&quit, &work]), 1);
/// quit.set();
/// work.release();
/// set.wait_all(&[&quit, &work]);
/// assert_eq!(work.available(), 0);
/// ```
pub struct WaitSet(Arc<Primitive<Objects>>);

impl WaitSet {
    /// Returns a set without objects.
    pub fn new() -> WaitSet {
        WaitSet(Arc::new(Primitive::new(Objects::none())))
    }

    /// Adds a semaphore with this number of permits.
    ///
    /// # Panics
    /// If the set has 8 objects.
    #[track_caller]
    pub fn semaphore(&self, permits: usize) -> Semaphore {
        Semaphore(self.add(Object::Semaphore(permits)))
    }

    /// Adds an event that each wait resets.
    ///
    /// # Panics
    /// If the set has 8 objects.
    #[track_caller]
    pub fn auto_event(&self, set: bool) -> Event {
        Event(self.add(Object::AutoEvent(set)))
    }

    /// Adds an event that is reset by hand.
    ///
    /// # Panics
    /// If the set has 8 objects.
    #[track_caller]
    pub fn manual_event(&self, set: bool) -> Event {
        Event(self.add(Object::ManualEvent(set)))
    }

    #[track_caller]
    fn add(&self, object: Object) -> Member {
        let at = self.0.change(Relaxed, |objects| objects.add(object));
        let at = at.unwrap_or_else(|| panic!("a set has at most {OBJECTS_MAX} objects"));
        let home = Home::Set(self.0.clone());
        Member { home, at }
    }

    /// Waits until one of these objects is available, and takes it. Returns its position: the first, if there are several.
    ///
    /// # Panics
    /// If there is no object, or one of another set.
    #[track_caller]
    pub fn wait_any(&self, any: &[&dyn Waitable]) -> usize {
        let any = self.positions(any);
        self.0
            .wait(gates(&any), Acquire, |objects| take_any(objects, &any))
    }

    /// Like [`wait_any`](WaitSet::wait_any), for at most this long; `None` if no object was available in time.
    ///
    /// # Panics
    /// If there is no object, or one of another set.
    #[track_caller]
    pub fn wait_any_timeout(&self, any: &[&dyn Waitable], limit: Duration) -> Option<usize> {
        let any = self.positions(any);
        self.0
            .wait_timeout(gates(&any), limit, Acquire, |objects| take_any(objects, &any))
    }

    /// Waits until all of these objects are available, and takes them in one step. Until then it takes none.
    ///
    /// # Panics
    /// If there is no object, one of another set, or one twice.
    #[track_caller]
    pub fn wait_all(&self, all: &[&dyn Waitable]) {
        let all = self.different(all);
        let mut next = all[0];
        // While one object is missing the task waits for that one alone: a gate is one object's.
        while let Err(missing) = self.0.wait(gate(next), AcqRel, |objects| objects.take_all(&all)) {
            next = missing;
        }
    }

    /// Like [`wait_all`](WaitSet::wait_all), for at most this long; `false` if they were not available in time.
    ///
    /// # Panics
    /// If there is no object, one of another set, or one twice.
    #[must_use]
    #[track_caller]
    pub fn wait_all_timeout(&self, all: &[&dyn Waitable], limit: Duration) -> bool {
        let all = self.different(all);
        let (mut next, mut left) = (all[0], limit);
        let began = Instant::now();
        loop {
            let take = |objects: &mut Objects| objects.take_all(&all);
            match self.0.wait_timeout(gate(next), left, AcqRel, take) {
                None => return false,
                Some(Ok(())) => return true,
                Some(Err(missing)) => next = missing,
            }
            left = limit.saturating_sub(began.elapsed());
        }
    }

    #[track_caller]
    fn positions(&self, objects: &[&dyn Waitable]) -> Vec<usize> {
        assert!(!objects.is_empty(), "there is no object to wait for");
        let is_ours = |object: &&dyn Waitable| matches!(&object.member().home, Home::Set(set) if Arc::ptr_eq(set, &self.0));
        assert!(objects.iter().all(is_ours), "an object is not of this set");
        objects.iter().map(|object| object.member().at).collect()
    }

    #[track_caller]
    fn different(&self, objects: &[&dyn Waitable]) -> Vec<usize> {
        let all = self.positions(objects);
        let once = all.len() == gates(&all).count_ones() as usize;
        assert!(once, "an object is to be taken twice");
        all
    }
}

/// Returns the gates of the objects at these positions.
fn gates(all: &[usize]) -> u8 {
    all.iter().fold(0, |gates, &at| gates | gate(at))
}

/// Takes the first object that is available, and returns its place in the list. After an execution there may be none.
fn take_any(objects: &mut Objects, any: &[usize]) -> usize {
    any.iter().position(|&at| objects.take(at)).unwrap_or(0)
}

impl Default for WaitSet {
    fn default() -> WaitSet {
        WaitSet::new()
    }
}

impl sealed::Sealed for Semaphore {
    #[allow(private_interfaces, reason = "only this module implements and calls it")]
    fn member(&self) -> &Member {
        &self.0
    }
}

impl sealed::Sealed for Event {
    #[allow(private_interfaces, reason = "only this module implements and calls it")]
    fn member(&self) -> &Member {
        &self.0
    }
}

impl Waitable for Semaphore {}
impl Waitable for Event {}

impl crate::Nameable for Semaphore {
    fn give_name(&self, name: &str) {
        self.0.give_name(name);
    }
}

impl crate::Nameable for Event {
    fn give_name(&self, name: &str) {
        self.0.give_name(name);
    }
}

impl crate::Nameable for WaitSet {
    fn give_name(&self, name: &str) {
        crate::name(&*self.0, name);
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.shown(f, "Semaphore")
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.shown(f, "Event")
    }
}

impl fmt::Debug for WaitSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitSet").finish_non_exhaustive()
    }
}
