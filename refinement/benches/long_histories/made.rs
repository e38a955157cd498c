//! Long linearizable histories with distinct values: a few processes use an object, each operation takes effect at
//! some time between its call and its return.

use intermezzo_refinement::history::{Called, History};
use intermezzo_refinement::specs::{counter, priority_queue, queue, register, set, stack};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

const PROCESSES: usize = 8;

type Random = Xoshiro256PlusPlus;

/// The state of a process.
enum Doing<C, R> {
    Nothing,
    Called(Called, C),
    Effected(Called, R),
}

/// Returns a history of `operations`. `call` chooses a call, given its number; `perform` performs it.
fn history<S, C: Clone, R>(
    operations: usize,
    mut state: S,
    mut call: impl FnMut(&mut Random, &S, u64) -> C,
    perform: impl Fn(&mut S, &C) -> R,
) -> History<C, R> {
    let mut random = Random::seed_from_u64(operations as u64);
    let mut recorder = History::recorder();
    let mut processes: Vec<Doing<C, R>> = (0..PROCESSES).map(|_| Doing::Nothing).collect();
    let mut called = 0;
    let mut returned = 0;
    while returned < operations {
        let process = random.random_range(0..PROCESSES);
        let doing = std::mem::replace(&mut processes[process], Doing::Nothing);
        processes[process] = match doing {
            Doing::Nothing if called < operations => {
                let call = call(&mut random, &state, called as u64);
                called += 1;
                Doing::Called(recorder.call(process as u32, call.clone()), call)
            }
            Doing::Nothing => Doing::Nothing,
            Doing::Called(id, call) => Doing::Effected(id, perform(&mut state, &call)),
            Doing::Effected(id, value) => {
                recorder.returned(id, value);
                returned += 1;
                Doing::Nothing
            }
        };
    }
    recorder.history()
}

/// `true` to take rather than to put, such that a container holds some hundreds of values.
fn takes(random: &mut Random, held: usize) -> bool {
    random.random_range(0..600) < held.min(500) + 50
}

pub(crate) fn queue(operations: usize) -> History<queue::Call<u64>, queue::Return<u64>> {
    use queue::{Call, Return};
    history(
        operations,
        VecDeque::new(),
        |random, state, at| {
            if random.random_range(0..8) == 0 {
                Call::Peek
            } else if takes(random, state.len()) {
                Call::Dequeue
            } else {
                Call::Enqueue(at)
            }
        },
        |state, call| match call {
            Call::Enqueue(value) => {
                state.push_back(*value);
                Return::Done
            }
            Call::Dequeue => Return::Front(state.pop_front()),
            Call::Peek => Return::Front(state.front().copied()),
        },
    )
}

pub(crate) fn stack(operations: usize) -> History<stack::Call<u64>, stack::Return<u64>> {
    use stack::{Call, Return};
    history(
        operations,
        Vec::new(),
        |random, state, at| {
            if random.random_range(0..8) == 0 {
                Call::Top
            } else if takes(random, state.len()) {
                Call::Pop
            } else {
                Call::Push(at)
            }
        },
        |state, call| match call {
            Call::Push(value) => {
                state.push(*value);
                Return::Done
            }
            Call::Pop => Return::Top(state.pop()),
            Call::Top => Return::Top(state.last().copied()),
        },
    )
}

pub(crate) fn priority_queue(
    operations: usize,
) -> History<priority_queue::Call<u64>, priority_queue::Return<u64>> {
    use priority_queue::{Call, Return};
    history(
        operations,
        BinaryHeap::new(),
        |random, state, at| {
            if takes(random, state.len()) {
                Call::Poll
            } else {
                // Distinct, and in no order: an odd factor permutes the 64 bits.
                Call::Insert(at.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            }
        },
        |state, call| match call {
            Call::Insert(value) => {
                state.push(*value);
                Return::Done
            }
            Call::Poll => Return::Greatest(state.pop()),
        },
    )
}

pub(crate) fn set(operations: usize) -> History<set::Call<u64>, bool> {
    use set::Call;
    let mut next = 0;
    history(
        operations,
        BTreeSet::new(),
        |random, state: &BTreeSet<u64>, _| {
            let some = state.first().copied().unwrap_or(next) + random.random_range(0..64);
            if random.random_range(0..3) == 0 {
                Call::Contains(some)
            } else if takes(random, state.len()) {
                Call::Remove(some)
            } else {
                next += 1;
                Call::Insert(next)
            }
        },
        |state, call| match call {
            Call::Insert(key) => state.insert(*key),
            Call::Remove(key) => state.remove(key),
            Call::Contains(key) => state.contains(key),
        },
    )
}

pub(crate) fn register(operations: usize) -> History<register::Call<u64>, register::Return<u64>> {
    use register::{Call, Return};
    history(
        operations,
        u64::MAX,
        |random, _, at| match random.random_range(0..3) {
            0 => Call::Write(at),
            _ => Call::Read,
        },
        |state, call| match call {
            Call::Write(value) => {
                *state = *value;
                Return::Done
            }
            _ => Return::Value(*state),
        },
    )
}

pub(crate) fn counter(operations: usize) -> History<counter::Call, u64> {
    use counter::Call;
    history(
        operations,
        0,
        |random, _, _| match random.random_range(0..4) {
            0 => Call::Get,
            _ => Call::FetchAdd(1),
        },
        |state, call| {
            let before = *state;
            if let Call::FetchAdd(amount) = call {
                *state += amount;
            }
            before
        },
    )
}
