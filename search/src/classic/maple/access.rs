//! The operations that count as accesses, and their static places.
//!
//! In Maple (Yu, Narayanasamy, Pereira, Pokam, OOPSLA 2012), accesses are accesses to memory, and the taking and
//! releasing of locks. Here an access is a visible operation on an atomic, a lock, a reference count, a channel, a
//! condition variable (waiting and notifying), plain memory where that is a schedule point, or a primitive defined by
//! the test. Differs: condition variables and channels are included, because many bugs of Rust programs depend on just
//! their order. Accesses to plain memory that are not schedule points do not count, because no task can be scheduled
//! before them. Threads, barriers, parking and one-time initialisations only order other events ([`super::order`]).

use hashbrown::HashMap;
use intermezzo_engine::trace::{Lock, lock};
use intermezzo_sdk::{Class, EventId, SyncVar, SyncVarAccess, SyncVarOp};
use std::ops::Deref;

/// Returns the word for an operation in the name of its place; `None` if it is not an access. The word is the same
/// whether the operation succeeds or fails, so it is known before the operation has happened.
pub(super) fn word(op: SyncVarOp) -> Option<&'static str> {
    use SyncVarOp::*;
    Some(match op {
        AtomicLoad => "load",
        AtomicStore => "store",
        AtomicRmw | AtomicRmwFailed => "update",
        LockAcquire | SharedAcquire => "lock",
        LockTryAcquire | SharedTryAcquire | LockTryFailed => "try",
        LockRelease | SharedRelease => "unlock",
        CondvarWait => "wait",
        NotifyOne | NotifyAll => "notify",
        ChannelSend | ChannelReceive | ChannelTryFailed | ChannelClose => "channel",
        CountUp | CountDown | CountRead => "count",
        DataRead => "read",
        DataWrite => "write",
        PrimitiveRead => "inspect",
        PrimitiveChange => "change",
        _ => return None,
    })
}

/// An access of an execution: the effect of an event on one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    pub task: u32,
    /// The index of its event among those of its task, counted from 1.
    pub index: u32,
    pub var: u32,
    /// The place, by its number in [`Places`].
    pub place: u32,
    pub class: Class,
    pub lock: Lock,
}

impl Access {
    /// Returns `true` if the two are dependent.
    pub(super) fn depends(&self, other: &Access) -> bool {
        self.var == other.var && !self.class.commutes(other.class)
    }

    /// Returns `true` if `next` is of another task and can directly depend on this access.
    ///
    /// Two operations on a lock have to be a release and a taking, because other operations of two tasks on a lock are
    /// never adjacent.
    pub(crate) fn leads_to(&self, next: &Access) -> bool {
        let locks = match (self.lock, next.lock) {
            (Lock::No, _) | (_, Lock::No) => true,
            (first, second) => (first, second) == (Lock::Releases, Lock::Takes),
        };
        self.task != next.task && locks && self.depends(next)
    }

    /// Returns the access of the same event to the mutex that it releases, if it does.
    #[inline(always)]
    pub(super) fn released(&self, mutex: SyncVar) -> Option<Access> {
        (mutex != SyncVar::NONE).then_some(Access {
            var: mutex.0,
            class: Class::Write,
            lock: Lock::Releases,
            ..*self
        })
    }

    /// Returns the access of an event to its own variable.
    #[inline(always)]
    pub(super) fn own(of: EventId, var: SyncVar, effect: Effect) -> Access {
        Access {
            task: of.task.0,
            index: of.index,
            var: var.0,
            place: effect.place,
            class: effect.class,
            lock: effect.lock,
        }
    }
}

/// The set of the classes of some accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Classes(pub(super) u8);

/// For each class, the classes that depend on it.
const DEPENDENT: [Classes; Class::ALL.len()] = {
    let mut all = [Classes(0); Class::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        let mut other = 0;
        while other < all.len() {
            if !Class::ALL[at].commutes(Class::ALL[other]) {
                all[at].0 |= 1 << other;
            }
            other += 1;
        }
        at += 1;
    }
    all
};

impl Classes {
    #[inline(always)]
    pub(super) fn add(&mut self, class: Class) {
        self.0 |= 1 << class as u8;
    }

    /// Returns `true` if one of them depends on this class.
    #[inline(always)]
    pub(super) fn depends(self, class: Class) -> bool {
        self.0 & DEPENDENT[class as usize].0 != 0
    }

    /// Returns `true` if two of them, or two accesses of one of them, depend on each other.
    #[inline(always)]
    pub(super) fn conflict(self) -> bool {
        self.0 & 1 << Class::Write as u8 != 0 || !self.0.is_power_of_two() && self.0 != 0
    }

    /// Returns `true` if one of them depends on both.
    #[inline(always)]
    pub(super) fn separate(self, first: Class, second: Class) -> bool {
        self.0 & DEPENDENT[first as usize].0 & DEPENDENT[second as usize].0 != 0
    }
}

/// The effect that an operation at a place has on its variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The place, by its number in [`Places`].
    pub place: u32,
    pub(super) class: Class,
    pub(super) lock: Lock,
}

impl Effect {
    /// Returns the effect of an operation at the place with this number; `None` if it is not an access.
    pub(super) fn of(op: SyncVarOp, place: u32) -> Option<Effect> {
        Some(Effect {
            place,
            class: Class::of(op, false)?,
            lock: lock(op),
        })
    }
}

/// The accesses of an event: one, or two if it accesses two variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accesses {
    list: [Access; 2],
    count: usize,
}

impl Accesses {
    /// Returns the accesses of an event that has this effect on its own variable.
    #[inline(always)]
    pub(super) fn of(event: &SyncVarAccess, effect: Effect) -> Accesses {
        let own = Access::own(event.event, event.var, effect);
        Accesses::with_released(own, event.other_var())
    }

    /// Returns the accesses of an event that also releases this mutex, if there is one, as a wait on a condition
    /// variable does.
    #[inline(always)]
    pub(super) fn with_released(own: Access, mutex: SyncVar) -> Accesses {
        let mut accesses = Accesses {
            list: [own; 2],
            count: 1,
        };
        if let Some(released) = own.released(mutex) {
            accesses.list[1] = released;
            accesses.count = 2;
        }
        accesses
    }
}

impl Deref for Accesses {
    type Target = [Access];

    #[inline(always)]
    fn deref(&self) -> &[Access] {
        &self.list[..self.count]
    }
}

/// The static places of an exploration. Their names consist of the source place and a word, as in `src/ring.rs:12:9
/// store`, and are the same in every execution, process and build of one source.
#[derive(Debug, Default)]
pub(crate) struct Places {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Places {
    /// Returns the number of the place with this name.
    pub(crate) fn number(&mut self, name: String) -> u32 {
        let Places { names, numbers } = self;
        *numbers.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            names.len() as u32 - 1
        })
    }

    /// Returns the name of a place.
    pub(crate) fn name(&self, place: u32) -> &str {
        self.names.get(place as usize).map_or("nowhere", |name| name)
    }
}

/// Returns the source file of a place: the part of its name before line, column and word.
pub(super) fn file(place: &str) -> &str {
    let site = place.rsplit_once(' ').map_or(place, |(site, _)| site);
    site.rsplitn(3, ':').nth(2).unwrap_or(site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_files() {
        for (place, of) in [
            ("src/ring.rs:12:9 store", "src/ring.rs"),
            ("C:\\a b\\ring.rs:1:2 lock", "C:\\a b\\ring.rs"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(file(place), of);
        }
        let mut places = Places::default();
        let numbers = ["a", "b", "a"].map(|name| places.number(name.into()));
        assert_eq!((numbers, places.name(1)), ([0, 1, 0], "b"));
    }
}
