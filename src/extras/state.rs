//! The state of semaphores and events, alone or several in one set.

use crate::primitive::State;

/// The largest number of objects in a set: each has a gate.
pub(super) const OBJECTS_MAX: usize = u8::BITS as usize;

/// One object.
#[derive(Clone, Copy)]
pub(super) enum Object {
    /// The number of permits.
    Semaphore(usize),
    /// `true` if it is set; a wait resets it.
    AutoEvent(bool),
    /// `true` if it is set.
    ManualEvent(bool),
}

impl Object {
    pub(super) fn is_available(self) -> bool {
        match self {
            Object::Semaphore(permits) => permits > 0,
            Object::AutoEvent(set) | Object::ManualEvent(set) => set,
        }
    }

    /// Takes what a wait takes. The object is available.
    fn take(&mut self) {
        match self {
            Object::Semaphore(permits) => *permits -= 1,
            Object::AutoEvent(set) => *set = false,
            Object::ManualEvent(_) => {}
        }
    }
}

/// Objects, each of which has the gate of its position: open while the object is available.
pub(super) struct Objects {
    list: [Object; OBJECTS_MAX],
    used: usize,
    kind: &'static str,
}

impl Objects {
    /// Returns a set of no objects.
    pub(super) const fn none() -> Objects {
        Objects {
            list: [Object::Semaphore(0); OBJECTS_MAX],
            used: 0,
            kind: "waitset",
        }
    }

    /// Returns the state of an object that is in no set.
    pub(super) const fn one(object: Object) -> Objects {
        Objects {
            list: [object; OBJECTS_MAX],
            used: 1,
            kind: match object {
                Object::Semaphore(_) => "semaphore",
                Object::AutoEvent(_) => "autoevent",
                Object::ManualEvent(_) => "manualevent",
            },
        }
    }

    /// Adds an object and returns its position; `None` if there is no gate left.
    pub(super) fn add(&mut self, object: Object) -> Option<usize> {
        *self.list.get_mut(self.used)? = object;
        self.used += 1;
        Some(self.used - 1)
    }

    pub(super) fn at(&mut self, at: usize) -> &mut Object {
        &mut self.list[at]
    }

    pub(super) fn of(&self, at: usize) -> Object {
        self.list[at]
    }

    /// Takes an object if it is available.
    pub(super) fn take(&mut self, at: usize) -> bool {
        let available = self.list[at].is_available();
        if available {
            self.list[at].take();
        }
        available
    }

    /// Takes all of these objects. If one of them is not available it takes none, and returns the position of the first.
    pub(super) fn take_all(&mut self, all: &[usize]) -> Result<(), usize> {
        match all.iter().find(|&&at| !self.list[at].is_available()) {
            Some(&missing) => Err(missing),
            None => {
                all.iter().for_each(|&at| self.list[at].take());
                Ok(())
            }
        }
    }
}

impl State for Objects {
    fn gates(&self) -> u8 {
        let available = |at: &usize| self.list[*at].is_available();
        (0..self.used).filter(available).map(gate).sum()
    }

    fn kind(&self) -> &'static str {
        self.kind
    }
}

/// Returns the gate of the object at this position.
pub(super) fn gate(at: usize) -> u8 {
    1 << at
}
