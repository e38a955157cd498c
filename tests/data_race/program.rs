//! Random programs: a few tasks that access cells and synchronise. Some of the ways to synchronise order the accesses,
//! others do not.

use intermezzo::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use rand::{Rng, RngExt};

pub(crate) use crate::cells::SLOTS;

pub(crate) const CELLS: usize = 2;
pub(crate) const ATOMICS: usize = 2;

/// A plain access at a place of its own in the source, its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) slot: usize,
    /// The cell; the atomics are numbered after the cells.
    pub(crate) cell: usize,
    pub(crate) is_write: bool,
    /// `true` if it uses a pointer from `get`. Never for an atomic.
    pub(crate) by_pointer: bool,
}

impl Access {
    /// Returns the atomic that is accessed, if it is one.
    pub(crate) fn atomic(self) -> Option<usize> {
        self.cell.checked_sub(CELLS)
    }
}

/// The way in which a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Mutex,
    Shared,
    Exclusive,
}

/// A step of a task. Some steps end in success or failure, which `Unless` uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Plain(Access),
    /// Succeeds if the value is not 0.
    Load(usize, Ordering),
    Store(usize, Ordering, u8),
    /// Adds 1; succeeds if the value was not 0.
    Add(usize, Ordering),
    /// Replaces 1 by 2, with the orderings for success and failure.
    Exchange(usize, Ordering, Ordering),
    Fence(Ordering),
    Lock(Hold),
    TryLock(Hold),
    Unlock(Hold),
    /// Sends a message; succeeds if the receiver exists.
    Send,
    /// Succeeds if there is a message. Only for the first task.
    Receive,
    TryReceive,
    CloseSender,
    CloseReceiver,
    Park,
    /// Unparks a task that was created before this one.
    Unpark(usize),
    Barrier,
    /// The initialisation makes this access; later calls find it complete.
    Once(Access),
    /// Queries whether the initialisation is complete.
    IsComplete,
    /// Drops the task's handle; succeeds if it was the last.
    DropHandle,
    /// Skips this many steps unless the last step that could fail succeeded.
    Unless(usize),
}

/// A test. Its main task only creates and joins the others, and accesses a cell before and after.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) before: Vec<Access>,
    pub(crate) tasks: Vec<Vec<Step>>,
    pub(crate) after: Vec<Access>,
    /// The kind of channel: `true` for a rendezvous, otherwise with room for all messages.
    pub(crate) rendezvous: bool,
}

/// The means by which tasks of a program synchronise. A program uses one or two of these, so that its tasks interact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Theme {
    Atomics,
    Fences,
    Mutex,
    ReaderWriter,
    Channel,
    Park,
    Barrier,
    Once,
    Handles,
}

const THEMES: [Theme; 12] = [
    Theme::Atomics,
    Theme::Atomics,
    Theme::Atomics,
    Theme::Fences,
    Theme::Fences,
    Theme::Mutex,
    Theme::ReaderWriter,
    Theme::Channel,
    Theme::Park,
    Theme::Barrier,
    Theme::Once,
    Theme::Handles,
];

pub(crate) struct Draw<'a, R> {
    pub(crate) rng: &'a mut R,
    slots: usize,
}

impl<'a, R: Rng> Draw<'a, R> {
    pub(crate) fn new(rng: &'a mut R) -> Self {
        Draw { rng, slots: 0 }
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_range(0..n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.random_range(0..all.len())]
    }

    fn access(&mut self) -> Access {
        self.slots += 1;
        Access {
            slot: self.slots - 1,
            // Most accesses are to the first cell.
            cell: usize::from(self.one_in(4)),
            is_write: !self.one_in(3),
            by_pointer: self.one_in(2),
        }
    }

    /// Returns a plain access to an atomic. A write does not change the value, because otherwise the program would continue
    /// differently after each order of the two accesses. If they are not ordered, there is a race in any case.
    fn access_of_atomic(&mut self) -> Access {
        Access {
            cell: CELLS + usize::from(self.one_in(3)),
            by_pointer: false,
            ..self.access()
        }
    }

    /// Returns a program whose tasks take about `most` visible steps together; `None` if it has more accesses than
    /// there are places.
    pub(crate) fn program(mut self, most: usize) -> Option<Program> {
        let tasks = if self.one_in(2) { 2 } else { 3 };
        let theme = self.of(&THEMES);
        let other = if self.one_in(2) { theme } else { self.of(&THEMES) };
        let themes = [theme, other];
        let mut program = Program {
            rendezvous: self.one_in(2),
            ..Program::default()
        };
        if self.one_in(4) {
            program.before.push(self.access());
        }
        if self.one_in(8) {
            program.before.push(self.access_of_atomic());
        }
        program.tasks = (0..tasks)
            .map(|task| self.steps(task, &themes, most / tasks))
            .collect();
        if self.one_in(4) {
            program.after.push(self.access());
        }
        (self.slots <= SLOTS).then_some(program)
    }

    fn steps(&mut self, task: usize, themes: &[Theme], most: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut visible = 0;
        // The task releases its objects at its end at the latest.
        let mut has_end = themes.contains(&Theme::Channel);
        let mut has_handle = themes.contains(&Theme::Handles);
        while visible < most {
            if self.one_in(3) {
                steps.push(Step::Plain(self.access()));
            }
            let before = steps.len();
            let theme = self.of(themes);
            self.synchronise(theme, task, &mut steps, (&mut has_end, &mut has_handle));
            visible += steps[before..]
                .iter()
                .filter(|step| step.is_visible())
                .count()
                .max(1);
        }
        if self.one_in(3) {
            steps.push(Step::Plain(self.access()));
        }
        if has_end {
            steps.push(close_end(task));
        }
        if has_handle {
            steps.push(Step::DropHandle);
        }
        steps
    }

    fn synchronise(
        &mut self,
        theme: Theme,
        task: usize,
        steps: &mut Vec<Step>,
        (has_end, has_handle): (&mut bool, &mut bool),
    ) {
        match theme {
            Theme::Atomics => {
                if self.one_in(5) {
                    steps.push(Step::Plain(self.access_of_atomic()));
                }
                let step = self.atomic();
                self.perhaps_then(step, steps);
            }
            Theme::Fences => {
                let order = self.of(&[Acquire, Release, AcqRel, SeqCst]);
                let variable = usize::from(self.one_in(3));
                if self.one_in(2) {
                    steps.push(Step::Fence(order));
                    steps.push(match self.one_in(3) {
                        true => Step::Add(variable, Relaxed),
                        false => Step::Store(variable, Relaxed, 1),
                    });
                } else {
                    steps.push(Step::Load(variable, Relaxed));
                    let (fence, access) = (Step::Fence(order), Step::Plain(self.access()));
                    steps.extend([Step::Unless(2), fence, access]);
                }
            }
            Theme::Mutex => self.section(&[Hold::Mutex], steps),
            Theme::ReaderWriter => self.section(&[Hold::Shared, Hold::Exclusive], steps),
            Theme::Channel if *has_end => {
                let close = self.one_in(5);
                *has_end = !close;
                let step = match task {
                    _ if close => close_end(task),
                    0 if self.one_in(3) => Step::TryReceive,
                    0 => Step::Receive,
                    _ => Step::Send,
                };
                self.perhaps_then(step, steps);
            }
            Theme::Park if task > 0 && !self.one_in(3) => {
                // A task that was created before this one, because its handle is known.
                let other = self.rng.random_range(0..task);
                steps.push(Step::Unpark(other));
            }
            Theme::Park => steps.push(Step::Park),
            Theme::Barrier => steps.push(Step::Barrier),
            Theme::Once if self.one_in(3) => self.perhaps_then(Step::IsComplete, steps),
            Theme::Once => steps.push(Step::Once(self.access())),
            Theme::Handles if *has_handle => {
                *has_handle = false;
                self.perhaps_then(Step::DropHandle, steps);
            }
            Theme::Channel | Theme::Handles => {
                let step = self.atomic();
                self.perhaps_then(step, steps);
            }
        }
    }

    fn atomic(&mut self) -> Step {
        let variable = usize::from(self.one_in(3));
        match self.rng.random_range(0..8) {
            0..3 => Step::Load(variable, self.of(&[Acquire, Acquire, Relaxed, SeqCst])),
            3..6 => {
                let value = self.rng.random_range(0..3);
                Step::Store(variable, self.of(&[Release, Release, Relaxed, SeqCst]), value)
            }
            6 => Step::Add(variable, self.of(&[Relaxed, Acquire, Release, AcqRel, SeqCst])),
            _ => Step::Exchange(
                variable,
                self.of(&[Relaxed, Acquire, Release, AcqRel, SeqCst]),
                self.of(&[Relaxed, Acquire, SeqCst]),
            ),
        }
    }

    /// Adds the step, in most cases followed by an access that takes place only if the step succeeds.
    fn perhaps_then(&mut self, step: Step, steps: &mut Vec<Step>) {
        steps.push(step);
        if !self.one_in(3) {
            let access = Step::Plain(self.access());
            steps.extend([Step::Unless(1), access]);
        }
    }

    /// Adds an access under a lock, if the lock is taken.
    fn section(&mut self, holds: &[Hold], steps: &mut Vec<Step>) {
        let hold = self.of(holds);
        let access = Step::Plain(self.access());
        if self.one_in(3) {
            steps.extend([Step::TryLock(hold), Step::Unless(2)]);
        } else {
            steps.push(Step::Lock(hold));
        }
        steps.extend([access, Step::Unlock(hold)]);
    }
}

/// The first task receives, the others send.
fn close_end(task: usize) -> Step {
    match task {
        0 => Step::CloseReceiver,
        _ => Step::CloseSender,
    }
}

impl Step {
    /// Returns `true` if other tasks may observe when it happens.
    pub(crate) fn is_visible(self) -> bool {
        !matches!(self, Step::Plain(_) | Step::Fence(_) | Step::Unless(_))
    }
}
