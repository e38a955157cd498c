//! A machine with store buffers, explored in full: every trace that it has, by brute force.
//!
//! x86-TSO (Sewell et al., CACM 2010) by its definition: each task has a first-in-first-out buffer of its stores. A
//! load takes the newest store to its variable from the task's own buffer, or else from memory. A read-modify-write, a
//! `SeqCst` store, and a `SeqCst` fence wait until the task's own buffer is empty. At any moment, a buffer's oldest
//! store may go to memory. Without buffers, the same is a sequentially consistent machine.
//!
//! A *trace* says from which store each load reads, and in which order stores to one variable reach memory. Two
//! machines are compared by their traces and not by values: a program has no other behaviour on which anything could
//! depend, and values can agree by accident.

use crate::program::{Op, Program, VARS};
use std::collections::HashSet;
use std::sync::atomic::Ordering::SeqCst;

/// The buffering of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffers {
    None,
    FirstInFirstOut,
}

/// The state of a machine and its history in one number: four bits for each operation, and four for the number of
/// operations that each task has done.
///
/// For a load: 0, or the source of its value, which is 1 for the initial value, or else 2 more than the number of the
/// operation that stored. For a store: 0, or its position in the order in which stores to its variable reached memory.
/// So a final state is a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State(u64);

/// The number of bits for a number in a state.
const BITS: usize = 4;
/// The maximum number of operations of a program, all tasks together.
const OPERATIONS_MAX: usize = 12;

impl State {
    fn get(self, at: usize) -> usize {
        (self.0 >> (BITS * at)) as usize % (1 << BITS)
    }

    fn add(self, at: usize, number: usize) -> State {
        State(self.0 + ((number as u64) << (BITS * at)))
    }

    fn done(self, task: usize) -> usize {
        self.get(OPERATIONS_MAX + task)
    }

    fn go_on(self, task: usize) -> State {
        self.add(OPERATIONS_MAX + task, 1)
    }
}

/// A machine that runs a program.
struct Machine<'a> {
    program: &'a Program,
    /// The number of each task's first operation.
    first: Vec<usize>,
    /// The numbers of the stores to each variable.
    stores: [Vec<usize>; VARS],
    buffers: Buffers,
}

impl Machine<'_> {
    fn new(program: &Program, buffers: Buffers) -> Machine<'_> {
        let mut machine = Machine {
            program,
            first: Vec::new(),
            stores: Default::default(),
            buffers,
        };
        let mut number = 0;
        for task in program {
            machine.first.push(number);
            for op in task {
                if let Op::Store(var, _) | Op::Swap(var) = op {
                    machine.stores[*var].push(number);
                }
                number += 1;
            }
        }
        assert!(number <= OPERATIONS_MAX, "a state has room for the program");
        machine
    }

    /// Returns the number of stores to the variable that are in memory.
    fn stored(&self, state: State, var: usize) -> usize {
        self.stores[var]
            .iter()
            .filter(|store| state.get(**store) > 0)
            .count()
    }

    /// Returns the source that a load from memory reads, as in a state.
    fn in_memory(&self, state: State, var: usize) -> usize {
        let last = self.stores[var].iter().max_by_key(|store| state.get(**store));
        last.filter(|store| state.get(**store) > 0)
            .map_or(1, |store| store + 2)
    }

    /// Returns the stores in the task's buffer, oldest first, with their variables.
    fn buffered(&self, state: State, task: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let done = self.program[task][..state.done(task)].iter().enumerate();
        let first = self.first[task];
        done.filter_map(move |(at, op)| match op {
            Op::Store(var, _) if state.get(first + at) == 0 => Some((first + at, *var)),
            _ => None,
        })
    }

    /// Moves the oldest store in the task's buffer to memory.
    fn flush(&self, state: State, task: usize) -> Option<State> {
        let (store, var) = self.buffered(state, task).next()?;
        Some(state.add(store, self.stored(state, var) + 1))
    }

    /// Performs the task's next operation, if it can continue.
    fn step(&self, state: State, task: usize) -> Option<State> {
        let op = *self.program[task].get(state.done(task))?;
        let number = self.first[task] + state.done(task);
        let next = state.go_on(task);
        let must_drain = match op {
            Op::Load(..) => false,
            Op::Store(_, order) | Op::Fence(order) => order == SeqCst,
            Op::Swap(_) | Op::Failed(_) => true,
        };
        if must_drain && self.buffered(state, task).next().is_some() {
            return None;
        }
        let in_order = must_drain || self.buffers == Buffers::None;
        Some(match op {
            Op::Load(var, _) | Op::Failed(var) => {
                let own = self.buffered(state, task).rev().find(|(_, other)| *other == var);
                let read = own.map_or_else(|| self.in_memory(state, var), |(store, _)| store + 2);
                next.add(number, read)
            }
            Op::Swap(var) => next.add(number, self.stored(state, var) + 1),
            Op::Store(var, _) if in_order => next.add(number, self.stored(state, var) + 1),
            Op::Store(..) | Op::Fence(_) => next,
        })
    }

    fn traces(&self) -> HashSet<State> {
        let mut known = HashSet::from([State(0)]);
        let mut left = vec![State(0)];
        let mut ends = HashSet::new();
        while let Some(state) = left.pop() {
            let tasks = 0..self.program.len();
            let steps = tasks.flat_map(|task| [self.step(state, task), self.flush(state, task)]);
            let mut ended = true;
            for next in steps.flatten() {
                ended = false;
                if known.insert(next) {
                    left.push(next);
                }
            }
            if ended {
                ends.insert(state);
            }
        }
        ends
    }
}

/// The behaviours of a machine with a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Behaviours {
    traces: HashSet<State>,
    /// The parts of traces that could be observed afterwards if each store had its own value: the values read, and the
    /// last stores.
    outcomes: HashSet<State>,
}

impl Behaviours {
    /// Returns all behaviours of the machine.
    pub(crate) fn of(program: &Program, buffers: Buffers) -> Behaviours {
        let machine = Machine::new(program, buffers);
        let traces = machine.traces();
        let outcomes = traces.iter().map(|trace| machine.outcome(*trace)).collect();
        Behaviours { traces, outcomes }
    }

    /// Returns the number of traces.
    pub(crate) fn traces(&self) -> usize {
        self.traces.len()
    }

    /// `true` if each trace is one of the other machine's.
    pub(crate) fn are_those_of(&self, other: &Behaviours) -> bool {
        self.traces.is_subset(&other.traces)
    }

    /// `true` if each outcome is one of the other machine's.
    pub(crate) fn look_like_those_of(&self, other: &Behaviours) -> bool {
        self.outcomes.is_subset(&other.outcomes)
    }
}

impl Machine<'_> {
    /// Returns the trace without the order of stores, except for the last. An exchange shows which store it follows.
    fn outcome(&self, trace: State) -> State {
        let mut outcome = State(0);
        for (number, op) in self.program.iter().flatten().enumerate() {
            let seen = match *op {
                Op::Load(..) | Op::Failed(_) | Op::Swap(_) => trace.get(number),
                Op::Store(var, _) => usize::from(trace.get(number) == self.stores[var].len()),
                Op::Fence(_) => 0,
            };
            outcome = outcome.add(number, seen);
        }
        outcome
    }
}
