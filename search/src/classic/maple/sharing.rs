//! The variables of an execution that matter to iRoots.
//!
//! If only one task uses a variable, or tasks only read it, no access of another task depends on an access to it. Such
//! an access is not part of an iRoot, exposed or predicted, and does not affect which other accesses are. Locks are an
//! exception: at the end of the execution, a task may wait for one that only another task has taken.

use super::access::{Access, Accesses, Classes, Effect};
use crate::classic::slots::{of_var, slot};
use intermezzo_engine::trace::Lock;
use intermezzo_sdk::{EventId, SyncVar, TaskId};

/// The use of the variables of one execution.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    vars: Vec<Users>,
}

/// The tasks that access a variable, and how.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    /// The first task that accessed it; `None` if none has yet.
    first: Option<TaskId>,
    /// `true` if another task accessed it.
    are_several: bool,
    classes: Classes,
}

impl Sharing {
    /// Forgets the last execution.
    pub(super) fn clear(&mut self) {
        self.vars.clear();
    }

    /// Notes an event that has this effect on its own variable.
    #[inline(always)]
    pub(super) fn note(&mut self, event: EventId, var: SyncVar, effect: Effect) {
        let users = slot(&mut self.vars, of_var(var.0), Users::default);
        users.are_several |= *users.first.get_or_insert(event.task) != event.task;
        users.classes.add(effect.class);
    }

    /// Returns `true` if an event's access to its own variable matters. All events of the execution have to be noted
    /// before.
    #[inline(always)]
    pub(super) fn matters(&self, var: SyncVar, effect: Effect) -> bool {
        let users = self.vars.get(of_var(var.0) as usize).copied().unwrap_or_default();
        effect.lock != Lock::No || users.are_several && users.classes.conflict()
    }

    /// Returns the accesses of an event that matter. All events of the execution have to be noted before.
    #[inline(always)]
    pub(super) fn that_matter<'a>(&self, accesses: &'a Accesses) -> &'a [Access] {
        // The second access of an event, if there is one, is to a lock.
        let Access {
            var,
            place,
            class,
            lock,
            ..
        } = accesses[0];
        let matters = self.matters(SyncVar(var), Effect { place, class, lock });
        &accesses[usize::from(!matters)..]
    }
}
