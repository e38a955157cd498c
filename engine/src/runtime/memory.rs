//! The values that operations on atomics read, if a memory model says so.

use super::{Access, Engine};
use crate::memory_model::{MemoryAccess, MemoryModel, MemoryOp};
use crate::schedule::ChoiceKind;
use crate::trace::SoundReduction;
use intermezzo_sdk::{MemoryOrder, SyncVar, TaskId};

/// The memory model, and the stores of an execution.
#[derive(Default)]
pub(super) struct Memory {
    model: Option<Box<dyn MemoryModel>>,
    /// The stores to each variable; empty for one that was not used.
    vars: Vec<Stores>,
    /// The stores that an operation may read; kept for its memory.
    readable: Vec<u32>,
}

/// The stores to a variable.
#[derive(Default)]
struct Stores {
    /// The value of each, by number.
    values: Vec<u64>,
    /// The newest.
    newest: u32,
}

impl Memory {
    /// Lets this model say what is read.
    pub(super) fn read_by(&mut self, model: Box<dyn MemoryModel>) {
        self.model = Some(model);
    }

    /// Resets the state for a new execution.
    pub(super) fn begin(&mut self) {
        if let Some(model) = &mut self.model {
            model.begin();
            for var in &mut self.vars {
                var.values.clear();
                var.newest = 0;
            }
        }
    }

    /// Brings the stores to the variable of an operation up to date, before the operation takes effect; `value` is the
    /// variable's value. At the variable's first use that is its initial value. A write through a unique reference is
    /// no operation, so it is found here, as a relaxed store.
    fn catch_up(&mut self, access: &MemoryAccess, value: u64) {
        let at = access.var.0 as usize;
        if self.vars.len() <= at {
            self.vars.resize_with(at + 1, Stores::default);
        }
        let var = &self.vars[at];
        if var.values.is_empty() {
            self.vars[at].values.push(value);
        } else if var.values[var.newest as usize] != value {
            let write = MemoryAccess {
                order: MemoryOrder::Relaxed,
                kind: MemoryOp::Store,
                ..*access
            };
            self.add(&write, value);
        }
    }

    /// Adds a store, and returns `true` if no other store to its variable is newer.
    fn add(&mut self, write: &MemoryAccess, value: u64) -> bool {
        let var = &mut self.vars[write.var.0 as usize];
        let store = var.values.len() as u32;
        var.values.push(value);
        let is_newest = self.model.as_mut().is_none_or(|model| model.stores(write, store));
        if is_newest {
            var.newest = store;
        }
        is_newest
    }

    /// Lists the stores that an operation may read, and returns their number.
    fn list(&mut self, read: &MemoryAccess) -> u32 {
        let Memory {
            model,
            vars,
            readable,
        } = self;
        readable.clear();
        let var = &vars[read.var.0 as usize];
        match model {
            Some(model) => model.readable(read, &var.values, readable),
            None => readable.push(var.newest),
        }
        assert!(!readable.is_empty(), "a memory model offers a store to each read");
        readable.len() as u32
    }

    /// Reads one of the stores that were listed, and returns its value.
    fn read(&mut self, read: &MemoryAccess, listed: u32) -> u64 {
        let store = self.readable[listed as usize];
        if let Some(model) = &mut self.model {
            model.reads(read, store);
        }
        self.vars[read.var.0 as usize].values[store as usize]
    }
}

impl Engine {
    /// Returns `true` if a memory model says what operations on atomics read.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn has_memory_model(self) -> bool {
        self.with(|rt| rt.memory.model.is_some())
    }

    /// Returns the value that the current task's operation reads, as bits. The operation was announced, and `newest`
    /// is its variable's value.
    ///
    /// # Panics
    /// The memory model offers nothing.
    #[cold]
    #[inline(never)]
    pub fn reads(self, kind: MemoryOp, newest: u64) -> u64 {
        if self.in_teardown() {
            return newest;
        }
        let (access, read) = (self.announced(), self.memory_access(kind));
        let listed = self.with(|rt| {
            rt.memory.catch_up(&read, newest);
            let listed = rt.memory.list(&read);
            if listed > 1 {
                // The order of the steps does not tell which store is read.
                rt.record
                    .sound_only(SoundReduction::Nothing, access.op, access.site);
            }
            listed
        });
        let taken = self.choose(ChoiceKind::Value, listed);
        self.with(|rt| rt.memory.read(&read, taken))
    }

    /// Notes the store of the announced operation; `newest` is the value of its variable before. Returns `true` if no other store to
    /// the variable is newer, so that `value` is the variable's value from now on.
    #[cold]
    #[inline(never)]
    pub fn stores(self, kind: MemoryOp, newest: u64, value: u64) -> bool {
        if self.in_teardown() {
            return true;
        }
        let write = self.memory_access(kind);
        self.with(|rt| {
            rt.memory.catch_up(&write, newest);
            rt.memory.add(&write, value)
        })
    }

    /// Notes a fence of the current task.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn fences(self, access: Access) {
        self.with(|rt| {
            let task = TaskId(rt.tasks.current());
            if let Some(model) = &mut rt.memory.model
                && !rt.end.teardown
            {
                model.fences(task, access.order);
            }
        });
    }

    /// Records the announced operation, as [`Engine::commit`] does. It is not inlined, so that it changes nothing where
    /// operations are recorded without a model.
    #[cold]
    #[inline(never)]
    pub fn commit_announced(self, read: u64, written: u64) {
        self.commit(self.announced(), read, written);
    }

    /// Returns the operation that the current task announced last.
    fn announced(self) -> Access {
        self.with(|rt| rt.tasks.current_task().pending.access)
    }

    /// Returns that operation, for the model.
    fn memory_access(self, kind: MemoryOp) -> MemoryAccess {
        let access = self.announced();
        MemoryAccess {
            task: TaskId(self.task()),
            var: SyncVar(access.var),
            order: access.order,
            kind,
        }
    }
}
