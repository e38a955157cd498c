//! What an execution was: in figures, and in words if there is something to report.

use super::crash::Crash;
use super::event::Event;
use super::listen::Reported;
use super::naming::{site_name, task_name, var_name};
use super::scope::Scoping;
use super::task::Status;
use super::var::{NOBODY, VarKind};
use super::{PanicNote, Runtime, Stop};
use crate::schedule::Choice;
use crate::trace::Suits;
use intermezzo_sdk::{EventId, MemoryOrder, SyncVarOp, TaskId};

/// What an execution was, in the engine's own terms.
pub(crate) struct Executed {
    pub(crate) steps: u64,
    pub(crate) switches: u64,
    pub(crate) tasks: u32,
    /// The strongest reduction that suits what was seen so far.
    pub(crate) suits: Suits,
    /// What tells its trace from others.
    pub(crate) fingerprint: u128,
    /// Whether fairness kept a schedule out.
    pub(crate) unfair_left_out: bool,
    /// Whether scoping did.
    pub(crate) scoping: Scoping,
    /// How often a task was parked because its loop waited in vain.
    pub(crate) parked: u32,
    /// How many rounds of loops came back to where they began, having only read, while a variable that they
    /// read was written: without them the execution would have shown the same.
    pub(crate) failed_iterations: u32,
    /// Whether parked tasks went on because of what is not compared.
    pub(crate) unseen_change: bool,
    /// Whether it did something else than was prescribed, or than the execution before under the same choices.
    pub(crate) departed: bool,
    /// Whether it showed that a loop only waits, and can be believed: the search has to start anew with that known.
    pub(crate) learned: bool,
    /// What there is to say if not every task just came to its end. Boxed, because it is rare, and large.
    pub(crate) trouble: Option<Box<Trouble>>,
}

/// An execution that did not just end well.
pub(crate) struct Trouble {
    pub(crate) stop: Stop,
    pub(crate) scene: Scene,
    /// Whether the process may be damaged, so that nothing should follow.
    pub(crate) damaged: bool,
    /// A crash while the execution was cleared away.
    pub(crate) crash_cleared: Option<Crash>,
}

/// What a report needs of an execution: all in words, so that it outlives it.
pub(crate) struct Scene {
    /// Panics that ended their tasks, with their tasks' names.
    pub(crate) panics: Vec<(String, PanicNote)>,
    /// Tasks that had not ended and what each was waiting for.
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) reported: Vec<Reported>,
    pub(crate) events: Vec<EventLine>,
    pub(crate) current: String,
    pub(crate) choices: Vec<Choice>,
    /// The loops that were assumed to only wait.
    pub(crate) known_loops: Vec<u64>,
}

/// A task that waits.
pub(crate) struct Waiting {
    pub(crate) task: String,
    pub(crate) op: SyncVarOp,
    pub(crate) var: String,
    pub(crate) site: String,
    /// Who holds the variable, and since where.
    pub(crate) owner: Option<(String, String)>,
    /// What it waits for in a loop, if that is what it does.
    pub(crate) awaited: Vec<AwaitedVar>,
}

/// A variable that a loop waits for, in words.
pub(crate) struct AwaitedVar {
    pub(crate) var: String,
    /// The value it has, if it is a number.
    pub(crate) value: Option<u64>,
    pub(crate) site: String,
}

/// An event in words.
pub(crate) struct EventLine {
    pub(crate) id: EventId,
    pub(crate) task: String,
    pub(crate) op: SyncVarOp,
    pub(crate) order: MemoryOrder,
    pub(crate) var: String,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) site: String,
    /// Whether it counts as not having happened.
    pub(crate) void: bool,
}

impl Runtime {
    fn is_pointer(&self, var: u32) -> bool {
        (var as usize) < self.vars.count() && self.vars[var].kind == VarKind::Pointer
    }

    /// What the execution was, in words.
    pub(super) fn scene(&mut self) -> Scene {
        let named = |task: u32| task_name(self, task);
        let panics = self
            .panics
            .iter()
            .filter(|note| note.escaped)
            .map(|note| (named(note.task), note.clone()))
            .collect();
        let waiting = (0..self.created)
            .filter(|&task| self.tasks[task as usize].status != Status::Ended)
            .map(|task| {
                let access = self.tasks[task as usize].pending.access;
                let var = (access.var as usize) < self.vars.count();
                let owner = var
                    .then(|| &self.vars[access.var])
                    .filter(|var| var.owner != NOBODY);
                Waiting {
                    task: named(task),
                    op: access.op,
                    var: var_name(self, access.var),
                    site: site_name(access.site),
                    owner: owner
                        .map(|var| (named(var.owner), var.owned_at.map(site_name).unwrap_or_default())),
                    awaited: self.awaited_in_words(task),
                }
            })
            .collect();
        // Addresses differ between processes: they are numbered in order of appearance.
        let mut addresses: Vec<u64> = vec![0];
        let mut plain = |event: &Event, value: u64| {
            if !self.is_pointer(event.var) {
                return value;
            }
            let known = addresses.iter().position(|&address| address == value);
            known.unwrap_or_else(|| {
                addresses.push(value);
                addresses.len() - 1
            }) as u64
        };
        let events = self
            .telling_events()
            .iter()
            .map(|event| EventLine {
                task: named(event.task),
                id: EventId {
                    task: TaskId(event.task),
                    index: event.index,
                },
                op: event.op,
                order: event.order,
                var: var_name(self, event.var),
                read: plain(event, event.read),
                written: plain(event, event.written),
                // The test's own body has no place where it was created.
                site: match event.op {
                    SyncVarOp::TaskBegin | SyncVarOp::TaskEnd if event.task == 0 => String::new(),
                    _ => site_name(event.site),
                },
                void: event.void,
            })
            .collect();
        let current = named(self.current);
        let choices = self.choices_with_closed();
        Scene {
            panics,
            waiting,
            reported: std::mem::take(&mut self.listeners.reported),
            events,
            current,
            choices,
            known_loops: self
                .spins
                .known()
                .map_or(Vec::new(), |known| known.known().to_vec()),
        }
    }
}
