//! A machine with store buffers, tried out in full: every trace that it has, by brute force.
//!
//! x86-TSO (Sewell et al., CACM 2010) as it is defined: each task has a first-in-first-out buffer of its stores. A load
//! takes the newest store to its variable from the own buffer, or else from memory. A read-modify-write, a `SeqCst` store, and a `SeqCst`
//! fence wait until the own buffer is empty. At any moment, a buffer's oldest store may go to memory. Without buffers,
//! the same is a sequentially consistent machine.
//!
//! A *trace* says from which store each load reads, and in which order stores to one variable come to memory. Two
//! machines are compared by their traces and not by values: a program has no other behaviour that anything could
//! depend on, and values can agree by accident.

use crate::program::{Op, Program, VARS};
use std::collections::HashSet;
use std::sync::atomic::Ordering::SeqCst;

/// Whether stores are buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffers {
    None,
    FirstInFirstOut,
}

/// What is so at a moment, and what happened before, in one number: four bits for each operation, and four for how many
/// operations each task has done. Of a load: 0, or from what it has read, 1 for the initial value and 2 more than the number
/// of the operation that stored. Of a store: 0, or the how-manieth in memory it was, of its variable. So a state at the end is a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State(u64);

/// Bits for a number in a state.
const BITS: usize = 4;
/// Most operations of a program, all tasks together.
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

    /// How many stores to the variable are in memory.
    fn stored(&self, state: State, var: usize) -> usize {
        self.stores[var]
            .iter()
            .filter(|store| state.get(**store) > 0)
            .count()
    }

    /// What a load from memory reads, as in a state.
    fn in_memory(&self, state: State, var: usize) -> usize {
        let last = self.stores[var].iter().max_by_key(|store| state.get(**store));
        last.filter(|store| state.get(**store) > 0)
            .map_or(1, |store| store + 2)
    }

    /// The stores in the task's buffer, oldest first, with their variables.
    fn buffered(&self, state: State, task: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let done = self.program[task][..state.done(task)].iter().enumerate();
        let first = self.first[task];
        done.filter_map(move |(at, op)| match op {
            Op::Store(var, _) if state.get(first + at) == 0 => Some((first + at, *var)),
            _ => None,
        })
    }

    /// The oldest store in the task's buffer goes to memory.
    fn flush(&self, state: State, task: usize) -> Option<State> {
        let (store, var) = self.buffered(state, task).next()?;
        Some(state.add(store, self.stored(state, var) + 1))
    }

    /// The task's next operation, if it can go on.
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

/// What a machine can do with a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Behaviours {
    traces: HashSet<State>,
    /// What could be seen of them afterwards if each store had a value of its own: what was read, and which stores were
    /// the last.
    outcomes: HashSet<State>,
}

impl Behaviours {
    /// All that the machine can do.
    pub(crate) fn of(program: &Program, buffers: Buffers) -> Behaviours {
        let machine = Machine::new(program, buffers);
        let traces = machine.traces();
        let outcomes = traces.iter().map(|trace| machine.outcome(*trace)).collect();
        Behaviours { traces, outcomes }
    }

    /// How many traces there are.
    pub(crate) fn traces(&self) -> usize {
        self.traces.len()
    }

    /// Whether each trace is one of the other machine's.
    pub(crate) fn are_those_of(&self, other: &Behaviours) -> bool {
        self.traces.is_subset(&other.traces)
    }

    /// Whether each outcome is one of the other machine's.
    pub(crate) fn look_like_those_of(&self, other: &Behaviours) -> bool {
        self.outcomes.is_subset(&other.outcomes)
    }
}

impl Machine<'_> {
    /// The trace without the order of stores, but for the last. An exchange tells which store it follows.
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
