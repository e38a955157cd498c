//! The general checker against brute force: every subset of the pending operations, every order.
//!
//! `CHECKED_HISTORIES` sets how many random histories of each object are checked at each level, `CHECKED_SEED` the
//! first seed.

use intermezzo_refinement::check::general::Checker;
use intermezzo_refinement::check::{Same, Verdict, check};
use intermezzo_refinement::history::{History, Operation};
use intermezzo_refinement::specification::{Next, Sequential, Specification};
use intermezzo_refinement::specs::{
    channel, counter, deque, map, priority_queue, queue, register, semaphore, set, stack,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Debug;

type Random = Xoshiro256PlusPlus;

/// The number of random histories of each object and level, by default.
const HISTORIES: u64 = 12_000;

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value
            .parse()
            .unwrap_or_else(|_| panic!("{name}={value}: a number is wanted")),
        Err(_) => default,
    }
}

/// `true` if `a` has to come before `b`.
fn comes_before<C, R>(history: &History<C, R>, same: Same, a: usize, b: usize) -> bool {
    let operations = history.operations();
    let (first, second) = (&operations[a], &operations[b]);
    match same {
        Same::Linearizable => first.precedes(second),
        Same::Sequential => first.process == second.process && a < b && !first.is_pending(),
        // A moment between the two at which nothing runs: just before some call.
        Same::Quiescent => operations.iter().any(|at| {
            let quiet =
                |other: &Operation<C, R>| other.called_at >= at.called_at || other.returned_at < at.called_at;
            first.returned_at < at.called_at
                && at.called_at <= second.called_at
                && operations.iter().all(quiet)
        }),
    }
}

/// `true` if these operations, `left`, can follow in some order in this state.
fn can_follow<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    comes_before: &dyn Fn(usize, usize) -> bool,
    state: &S::State,
    left: &mut Vec<usize>,
) -> bool {
    if left.iter().all(|&at| history.operations()[at].is_pending()) {
        return true;
    }
    for at in 0..left.len() {
        let next = left[at];
        if left
            .iter()
            .any(|&other| other != next && comes_before(other, next))
        {
            continue;
        }
        let operation = &history.operations()[next];
        let states = match specification.next(state, &operation.call, operation.returned.as_ref()) {
            Next::None => Vec::new(),
            Next::One(state) => vec![state],
            Next::Any(states) => states,
        };
        left.remove(at);
        let found = states
            .iter()
            .any(|state| can_follow(specification, history, comes_before, state, left));
        left.insert(at, next);
        if found {
            return true;
        }
    }
    false
}

/// Returns a random history: operations of up to three processes, with the results of some order of effect, and now
/// and then something else.
fn random_history<S: Sequential>(
    random: &mut Random,
    specification: &S,
    call: impl Fn(&mut Random) -> S::Call,
) -> History<S::Call, S::Return>
where
    S::Call: Clone,
    S::Return: Clone,
{
    let most = random.random_range(1..=6);
    let processes = random.random_range(1..=3);
    let mut recorder = History::recorder();
    let mut state = specification.initial();
    let mut others: Vec<S::Return> = Vec::new();
    let mut idle: Vec<u32> = (0..processes).collect();
    let mut called = Vec::new();
    let mut effected = Vec::new();
    let mut left = most;
    while left > 0 && !idle.is_empty() || !called.is_empty() || !effected.is_empty() {
        match random.random_range(0..10) {
            0..4 if left > 0 && !idle.is_empty() => {
                let process = idle.swap_remove(random.random_range(0..idle.len()));
                let call = call(random);
                called.push((process, recorder.call(process, call.clone()), call));
                left -= 1;
            }
            4..7 if !called.is_empty() => {
                let (process, id, call) = called.swap_remove(random.random_range(0..called.len()));
                // Never returns, with or without effect.
                let returns = random.random_range(0..12) > 0;
                if !returns && random.random_bool(0.5) {
                    continue;
                }
                let value = specification.apply(&mut state, &call).expect("nothing blocks");
                others.push(value.clone());
                if returns {
                    effected.push((process, id, value));
                }
            }
            7..10 if !effected.is_empty() => {
                let (process, id, value) = effected.swap_remove(random.random_range(0..effected.len()));
                let lies = random.random_range(0..6) == 0;
                let value = if lies {
                    others[random.random_range(0..others.len())].clone()
                } else {
                    value
                };
                recorder.returned(id, value);
                idle.push(process);
            }
            _ => {}
        }
    }
    recorder.history()
}

/// `true` if the order has every completed operation, is allowed, and the specification allows the results.
fn is_witness<S: Specification>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    same: Same,
    order: &[usize],
) -> bool {
    let operations = history.operations();
    let all = (0..history.len()).all(|at| operations[at].is_pending() || order.contains(&at));
    let ordered = order.iter().enumerate().all(|(at, &first)| {
        order[..at]
            .iter()
            .all(|&earlier| !comes_before(history, same, first, earlier))
    });
    let mut states = vec![specification.initial()];
    for &at in order {
        let Operation { call, returned, .. } = &operations[at];
        let next = |state| match specification.next(state, call, returned.as_ref()) {
            Next::None => Vec::new(),
            Next::One(state) => vec![state],
            Next::Any(states) => states,
        };
        states = states.iter().flat_map(next).collect();
    }
    all && ordered && !states.is_empty()
}

/// Compares on random histories. Returns how many were allowed, and how many not.
fn compare<S: Sequential>(name: &str, specification: &S, call: impl Fn(&mut Random) -> S::Call)
where
    S::Call: Clone + Debug,
    S::Return: Clone + Debug,
    S::State: Debug + PartialEq,
{
    let seed = number("CHECKED_SEED", 20_261_121);
    for same in [Same::Linearizable, Same::Sequential, Same::Quiescent] {
        let mut random = Random::seed_from_u64(seed);
        let mut counts = [0, 0];
        for case in 0..number("CHECKED_HISTORIES", HISTORIES) {
            let history = random_history(&mut random, specification, &call);
            let mut left: Vec<usize> = (0..history.len()).collect();
            let initial = Sequential::initial(specification);
            let before = |a, b| comes_before(&history, same, a, b);
            let expected = can_follow(specification, &history, &before, &initial, &mut left);
            let verdict = check(specification, &history, same);
            let context =
                || format!("{name}, {same:?}, seed {seed}, case {case}: {history:#?}, {verdict:#?}");
            match &verdict {
                Verdict::Allowed { order } => {
                    assert!(
                        expected && is_parts_witness(specification, &history, same, order),
                        "{}",
                        context()
                    );
                }
                Verdict::Violation(violation) => {
                    assert!(!expected, "{}", context());
                    assert!(violation.longest.len() < history.len(), "{}", context());
                }
                Verdict::Unknown { .. } => panic!("{}", context()),
            }
            counts[usize::from(expected)] += 1;
        }
        assert!(
            counts.iter().all(|&count| count >= 50),
            "{name}, {same:?}: {counts:?}"
        );
    }
}

/// Like `is_witness`, where the order is one of each part after the other.
fn is_parts_witness<S: Sequential>(
    specification: &S,
    history: &History<S::Call, S::Return>,
    same: Same,
    order: &[usize],
) -> bool
where
    S::Call: Clone,
    S::Return: Clone,
{
    let part = |at: usize| Sequential::part(specification, &history.operations()[at].call);
    if same != Same::Linearizable || (0..history.len()).any(|at| part(at).is_none()) {
        return is_witness(specification, history, same, order);
    }
    let parts: std::collections::BTreeSet<_> = (0..history.len()).map(part).collect();
    parts.into_iter().all(|one| {
        let places: Vec<usize> = (0..history.len()).filter(|&at| part(at) == one).collect();
        let own = history.filter(|operation| Sequential::part(specification, &operation.call) == one);
        let order: Vec<usize> = order
            .iter()
            .filter_map(|at| places.iter().position(|place| place == at))
            .collect();
        is_witness(specification, &own, same, &order)
    })
}

#[test]
fn queues() {
    compare("queue", &queue::Queue::unbounded(), |random| {
        match random.random_range(0..5) {
            0..2 => queue::Call::Enqueue(random.random_range(0..4)),
            2..4 => queue::Call::Dequeue,
            _ => queue::Call::Peek,
        }
    });
    compare(
        "bounded queue",
        &queue::Queue::bounded(1),
        |random| match random.random_range(0..2) {
            0 => queue::Call::Enqueue(random.random_range(0..4)),
            _ => queue::Call::Dequeue,
        },
    );
}

#[test]
fn stacks() {
    compare("stack", &stack::Stack::new(), |random| {
        match random.random_range(0..5) {
            0..2 => stack::Call::Push(random.random_range(0..4)),
            2..4 => stack::Call::Pop,
            _ => stack::Call::Top,
        }
    });
}

#[test]
fn priority_queues() {
    compare(
        "priority queue",
        &priority_queue::PriorityQueue::new(),
        |random| match random.random_range(0..2) {
            0 => priority_queue::Call::Insert(random.random_range(0..4)),
            _ => priority_queue::Call::Poll,
        },
    );
}

#[test]
fn registers() {
    compare("register", &register::Register(0), |random| {
        let value = random.random_range(0..3);
        match random.random_range(0..3) {
            0 => register::Call::Read,
            1 => register::Call::Write(value),
            _ => register::Call::CompareAndSet(random.random_range(0..3), value),
        }
    });
}

#[test]
fn sets() {
    compare("set", &set::Set::new(), |random| {
        let key = random.random_range(0..2);
        match random.random_range(0..3) {
            0 => set::Call::Insert(key),
            1 => set::Call::Remove(key),
            _ => set::Call::Contains(key),
        }
    });
}

#[test]
fn deques() {
    compare("deque", &deque::Deque::new(), |random| {
        match random.random_range(0..4) {
            0 => deque::Call::PushFront(random.random_range(0..4)),
            1 => deque::Call::PushBack(random.random_range(0..4)),
            2 => deque::Call::PopFront,
            _ => deque::Call::PopBack,
        }
    });
}

#[test]
fn maps() {
    compare("map", &map::Map::new(), |random| {
        let (key, value) = (random.random_range(0..2), random.random_range(0..3));
        match random.random_range(0..4) {
            0 => map::Call::Insert(key, value),
            1 => map::Call::InsertIfAbsent(key, value),
            2 => map::Call::Get(key),
            _ => map::Call::Remove(key),
        }
    });
}

#[test]
fn channels() {
    compare("channel", &channel::Channel::bounded(1), |random| {
        match random.random_range(0..7) {
            0..3 => channel::Call::TrySend(random.random_range(0..4)),
            3..6 => channel::Call::TryReceive,
            _ => channel::Call::Close,
        }
    });
}

#[test]
fn semaphores() {
    for (name, semaphore) in [
        ("mutex", semaphore::Semaphore::mutex()),
        ("semaphore", semaphore::Semaphore::new(0)),
    ] {
        compare(name, &semaphore, |random| match random.random_range(0..2) {
            0 => semaphore::Call::TryAcquire,
            _ => semaphore::Call::Release,
        });
    }
}

/// Waiting is a matter of the state, and not of a return.
#[test]
fn operations_that_wait_do_so_in_states() {
    let channel = channel::Channel::bounded(1);
    let mut state = Specification::initial(&channel);
    let waits = |state: &channel::State<u8>, call| Specification::blocks(&channel, state, &call);
    assert!(waits(&state, channel::Call::Receive) && !waits(&state, channel::Call::Send(1)));
    assert_eq!(
        channel.apply(&mut state, &channel::Call::Send(1)),
        Some(channel::Return::Done)
    );
    assert!(!waits(&state, channel::Call::Receive) && waits(&state, channel::Call::Send(2)));
    assert_eq!(
        channel.apply(&mut state, &channel::Call::Close),
        Some(channel::Return::Done)
    );
    assert_eq!(
        channel.apply(&mut state, &channel::Call::Receive),
        Some(channel::Return::Message(1))
    );
    assert_eq!(
        channel.apply(&mut state, &channel::Call::Receive),
        Some(channel::Return::Closed)
    );
    let mutex = semaphore::Semaphore::mutex();
    assert!(!Specification::blocks(&mutex, &1, &semaphore::Call::Acquire));
    assert!(Specification::blocks(&mutex, &0, &semaphore::Call::Acquire));
}

#[test]
fn counters() {
    compare("counter", &counter::Counter::default(), |random| {
        match random.random_range(0..3) {
            0 => counter::Call::Get,
            _ => counter::Call::FetchAdd(random.random_range(1..3)),
        }
    });
}

/// A set of values from which any may be taken.
struct Bag;

impl Specification for Bag {
    type Call = Option<u8>;
    type Return = Option<u8>;
    type State = std::collections::BTreeSet<u8>;

    fn initial(&self) -> Self::State {
        Self::State::new()
    }

    fn next(
        &self,
        state: &Self::State,
        call: &Option<u8>,
        returned: Option<&Option<u8>>,
    ) -> Next<Self::State> {
        let mut after = state.clone();
        match (call, returned) {
            (Some(value), _) => {
                after.insert(*value);
                Next::One(after)
            }
            (None, Some(None)) if state.is_empty() => Next::One(after),
            (None, Some(Some(value))) if after.remove(value) => Next::One(after),
            (None, Some(_)) => Next::None,
            (None, None) => Next::Any(
                state
                    .iter()
                    .map(|taken| state.iter().copied().filter(|value| value != taken).collect())
                    .collect(),
            ),
        }
    }
}

/// A taker that never returned took the missing value, whichever it was.
#[test]
fn a_pending_operation_may_have_any_of_its_outcomes() {
    for (missing, allowed) in [(vec![1], true), (vec![2], true), (vec![1, 2], false)] {
        let mut recorder = History::recorder();
        for value in [1, 2, 3] {
            let put = recorder.call(0, Some(value));
            recorder.returned(put, None);
        }
        recorder.call(1, None);
        for value in [1, 2, 3].into_iter().filter(|value| !missing.contains(value)) {
            let take = recorder.call(0, None);
            recorder.returned(take, Some(value));
        }
        let take = recorder.call(0, None);
        recorder.returned(take, None);
        let verdict = check(&Bag, &recorder.history(), Same::Linearizable);
        assert_eq!(verdict.is_allowed(), allowed, "{missing:?}: {verdict:?}");
    }
}

/// A write that may take effect late explains a read of the old value after it has returned. It has to take effect in
/// the end.
#[test]
fn late_operations_take_effect_after_they_return() {
    let history = |reads: &[u8]| {
        let mut recorder = History::recorder();
        let write = recorder.call(0, register::Call::Write(1));
        recorder.returned(write, register::Return::Done);
        for &value in reads {
            let read = recorder.call(1, register::Call::Read);
            recorder.returned(read, register::Return::Value(value));
        }
        recorder.history()
    };
    let register = register::Register(0);
    let late = |reads| {
        let checker = Checker::new(&register).late(|call| matches!(call, register::Call::Write(_)));
        checker.check(&history(reads)).is_allowed()
    };
    assert!(!check(&register, &history(&[0, 1]), Same::Linearizable).is_allowed());
    assert!(late(&[0, 1]) && late(&[0, 0]) && late(&[1]));
    assert!(!late(&[1, 0]));
}

/// A read of the same process need not see it either, if that is all that its own order asks for.
#[test]
fn late_operations_do_not_hold_up_their_process() {
    let mut recorder = History::recorder();
    let write = recorder.call(0, register::Call::Write(1));
    recorder.returned(write, register::Return::Done);
    let read = recorder.call(0, register::Call::Read);
    recorder.returned(read, register::Return::Value(0));
    let history = recorder.history();
    let register = register::Register(0);
    for same in [Same::Linearizable, Same::Sequential, Same::Quiescent] {
        assert!(!check(&register, &history, same).is_allowed(), "{same:?}");
        let late = Checker::new(&register)
            .same(same)
            .late(|call| matches!(call, register::Call::Write(_)));
        assert!(late.check(&history).is_allowed(), "{same:?}");
    }
}

/// Late writes, and a process that creates the others, against every order.
#[test]
fn late_operations_and_parents_agree() {
    let register = register::Register(0);
    let is_late = |call: &register::Call<u8>| matches!(call, register::Call::Write(_));
    for same in [Same::Linearizable, Same::Sequential, Same::Quiescent] {
        for (late, parent) in [(true, false), (false, true), (true, true)] {
            let mut random = Random::seed_from_u64(number("CHECKED_SEED", 20_261_128));
            let mut counts = [0, 0];
            for case in 0..number("CHECKED_HISTORIES", HISTORIES) / 5 {
                let history =
                    random_history(&mut random, &register, |random| match random.random_range(0..2) {
                        0 => register::Call::Read,
                        _ => register::Call::Write(random.random_range(0..3)),
                    });
                let operations = history.operations();
                let before = |a: usize, b: usize| {
                    let of_parent = operations[a].process == 0 || operations[b].process == 0;
                    let in_time = parent && same == Same::Sequential && of_parent;
                    !(late && is_late(&operations[a].call))
                        && (comes_before(&history, same, a, b)
                            || in_time && comes_before(&history, Same::Linearizable, a, b))
                };
                let mut left: Vec<usize> = (0..history.len()).collect();
                let expected = can_follow(&register, &history, &before, &0, &mut left);
                let mut checker = Checker::new(&register)
                    .same(same)
                    .late(|call| late && is_late(call));
                if parent {
                    checker = checker.parent(0);
                }
                let verdict = checker.check(&history);
                assert_eq!(
                    verdict.is_allowed(),
                    expected,
                    "{same:?}, late {late}, parent {parent}, case {case}: {history:#?}, {verdict:#?}"
                );
                counts[usize::from(expected)] += 1;
            }
            assert!(counts.iter().all(|&count| count >= 50), "{same:?}: {counts:?}");
        }
    }
}

#[test]
fn a_violation_says_how_far_an_order_gets() {
    let mut recorder = History::recorder();
    for value in [1, 2] {
        let put = recorder.call(0, queue::Call::Enqueue(value));
        recorder.returned(put, queue::Return::Done);
    }
    let take = recorder.call(1, queue::Call::Dequeue);
    recorder.returned(take, queue::Return::Front(Some(2)));
    let Verdict::Violation(violation) = check(
        &queue::Queue::unbounded(),
        &recorder.history(),
        Same::Linearizable,
    ) else {
        panic!("the queue gives 1 first")
    };
    assert_eq!((violation.longest, violation.stuck), (vec![0, 1], vec![2]));
    assert_eq!(violation.state, [1, 2]);
    assert_eq!(violation.part, [0, 1, 2]);
}

#[test]
fn a_limit_is_told_of() {
    let mut recorder = History::recorder();
    let calls: Vec<_> = (0..12)
        .map(|value| recorder.call(value, queue::Call::Enqueue(value)))
        .collect();
    for called in calls {
        recorder.returned(called, queue::Return::Done);
    }
    let take = recorder.call(0, queue::Call::Dequeue);
    recorder.returned(take, queue::Return::Front(None));
    let queue = queue::Queue::unbounded();
    let verdict = Checker::new(&queue).states_max(1000).check(&recorder.history());
    assert!(
        matches!(verdict, Verdict::Unknown { states } if states > 1000),
        "{verdict:?}"
    );
}
