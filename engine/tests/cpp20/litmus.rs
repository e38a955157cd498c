//! Litmus tests with known verdicts: of the oracle, and of an exploration.

use super::oracle::{Model, Op, Order, Outcome, Program, outcomes};
use super::{SEARCHES, explored};
use Op::{Add, Exchange, Fence, Load, Store};
use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::collections::BTreeSet;

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

/// Returns the outcomes under C++20, of which the oracle and an exploration agree.
#[track_caller]
fn weak_outcomes(program: &Program, variables: usize) -> BTreeSet<Outcome> {
    let expected = outcomes(program, variables, Model::Cpp20);
    let (found, _) = explored(program, variables, SEARCHES[3]).expect("wakeup trees are sound");
    assert_eq!(found, expected, "{program:?}");
    expected
}

/// Returns whether C++20 and SC have an outcome with these reads and, for variables with `Some`, these last values.
#[track_caller]
fn verdicts(program: &Program, reads: &[&[u32]], last: [Option<u32>; 3]) -> (bool, bool) {
    let has = |outcomes: BTreeSet<Outcome>| {
        outcomes.iter().any(|outcome| {
            let is_last = |var: usize| last[var].is_none_or(|value| value == outcome.last[var]);
            outcome.reads == reads && (0..3).all(is_last)
        })
    };
    (
        has(weak_outcomes(program, 3)),
        has(outcomes(program, 3, Model::Sc)),
    )
}

/// The outcome is one of a weak model only.
#[track_caller]
fn weak(program: Program, reads: &[&[u32]]) {
    assert_eq!(verdicts(&program, reads, [None; 3]), (true, false));
}

/// Neither model has the outcome.
#[track_caller]
fn forbidden(program: Program, reads: &[&[u32]]) {
    assert_eq!(verdicts(&program, reads, [None; 3]), (false, false));
}

fn sb(store: Order, load: Order, fences: [Option<Order>; 2]) -> Program {
    let thread = |mine, other, fence: Option<Order>| {
        let mut ops = vec![Store(mine, 1, store), Load(other, load)];
        fence.into_iter().for_each(|order| ops.insert(1, Fence(order)));
        ops
    };
    vec![thread(X, Y, fences[0]), thread(Y, X, fences[1])]
}

#[test]
fn store_buffering() {
    let zeros: &[&[u32]] = &[&[0], &[0]];
    weak(sb(Relaxed, Relaxed, [None; 2]), zeros);
    weak(sb(Release, Acquire, [None; 2]), zeros);
    weak(sb(SeqCst, Acquire, [None; 2]), zeros);
    weak(sb(Release, SeqCst, [None; 2]), zeros);
    forbidden(sb(SeqCst, SeqCst, [None; 2]), zeros);
    forbidden(sb(Relaxed, Relaxed, [Some(SeqCst); 2]), zeros);
    weak(sb(Relaxed, Relaxed, [Some(AcqRel); 2]), zeros);
    weak(sb(Relaxed, Relaxed, [Some(SeqCst), None]), zeros);
    // A fence against SC accesses.
    let mut mixed = sb(SeqCst, SeqCst, [None; 2]);
    mixed[0] = sb(Relaxed, Relaxed, [Some(SeqCst); 2])[0].clone();
    forbidden(mixed, zeros);
    for (order, last) in [(Relaxed, 4), (SeqCst, 3)] {
        assert_eq!(weak_outcomes(&sb(order, order, [None; 2]), 2).len(), last);
    }
}

#[test]
fn store_buffering_with_read_modify_writes() {
    let before = |order, load| {
        vec![
            vec![Add(X, 1, order), Load(Y, load)],
            vec![Add(Y, 1, order), Load(X, load)],
        ]
    };
    weak(before(Relaxed, Relaxed), &[&[0, 0], &[0, 0]]);
    weak(before(AcqRel, Acquire), &[&[0, 0], &[0, 0]]);
    forbidden(before(SeqCst, SeqCst), &[&[0, 0], &[0, 0]]);
    let after = |order| {
        vec![
            vec![Store(X, 1, Relaxed), Add(Y, 0, order)],
            vec![Store(Y, 1, Relaxed), Add(X, 0, order)],
        ]
    };
    weak(after(Relaxed), &[&[0], &[0]]);
    weak(after(AcqRel), &[&[0], &[0]]);
    // Read-modify-writes of one variable are a fence for each other.
    let through = |order| {
        vec![
            vec![Store(X, 1, Relaxed), Add(Z, 1, order), Load(Y, Relaxed)],
            vec![Store(Y, 1, Relaxed), Add(Z, 1, order), Load(X, Relaxed)],
        ]
    };
    forbidden(through(AcqRel), &[&[0, 0], &[1, 0]]);
    weak(through(Release), &[&[0, 0], &[1, 0]]);
    weak(through(Acquire), &[&[0, 0], &[1, 0]]);
}

fn mp(writer: Vec<Op>, reader: Vec<Op>) -> Program {
    vec![
        [vec![Store(X, 1, Relaxed)], writer].concat(),
        [reader, vec![Load(X, Relaxed)]].concat(),
    ]
}

#[test]
fn message_passing() {
    let stale: &[&[u32]] = &[&[], &[1, 0]];
    for (store, load, allowed) in [
        (Relaxed, Relaxed, true),
        (Release, Relaxed, true),
        (Relaxed, Acquire, true),
        (Release, Acquire, false),
        (SeqCst, SeqCst, false),
        (SeqCst, Acquire, false),
        (Release, SeqCst, false),
    ] {
        let program = mp(vec![Store(Y, 1, store)], vec![Load(Y, load)]);
        assert_eq!(
            verdicts(&program, stale, [None; 3]),
            (allowed, false),
            "{store:?} {load:?}"
        );
    }
    for (from, to, allowed) in [
        (Release, Acquire, false),
        (AcqRel, AcqRel, false),
        (SeqCst, SeqCst, false),
        (Acquire, Acquire, true),
        (Release, Release, true),
    ] {
        let program = mp(
            vec![Fence(from), Store(Y, 1, Relaxed)],
            vec![Load(Y, Relaxed), Fence(to)],
        );
        assert_eq!(
            verdicts(&program, stale, [None; 3]),
            (allowed, false),
            "{from:?} {to:?}"
        );
    }
    forbidden(
        mp(vec![Fence(Release), Store(Y, 1, Relaxed)], vec![Load(Y, Acquire)]),
        stale,
    );
    forbidden(
        mp(vec![Store(Y, 1, Release)], vec![Load(Y, Relaxed), Fence(Acquire)]),
        stale,
    );
    // Fences at the wrong places.
    weak(
        vec![
            vec![Fence(Release), Store(X, 1, Relaxed), Store(Y, 1, Relaxed)],
            vec![Load(Y, Acquire), Load(X, Relaxed)],
        ],
        stale,
    );
    weak(
        mp(vec![Store(Y, 1, Relaxed), Fence(Release)], vec![Load(Y, Acquire)]),
        stale,
    );
    weak(
        mp(vec![Store(Y, 1, Release)], vec![Fence(Acquire), Load(Y, Relaxed)]),
        stale,
    );
}

#[test]
fn release_sequences() {
    let writer = vec![Store(X, 1, Relaxed), Store(Y, 1, Release)];
    let reader = vec![Load(Y, Acquire), Load(X, Relaxed)];
    // A relaxed read-modify-write of any thread continues the sequence.
    let middle = |op| vec![writer.clone(), vec![op], reader.clone()];
    forbidden(middle(Add(Y, 1, Relaxed)), &[&[], &[1], &[2, 0]]);
    let exchange = |expected| Exchange {
        var: Y,
        expected,
        new: 2,
        success: Relaxed,
        failure: Relaxed,
    };
    forbidden(middle(exchange(1)), &[&[], &[1], &[2, 0]]);
    forbidden(
        vec![
            [writer.clone(), vec![Add(Y, 1, Relaxed)]].concat(),
            reader.clone(),
        ],
        &[&[1], &[2, 0]],
    );
    // A plain store ends it, also one of the same thread. The paper's definition forbids the second.
    let stores = vec![Load(Y, Relaxed), Store(Y, 2, Relaxed)];
    weak(
        vec![writer.clone(), stores, reader.clone()],
        &[&[], &[1], &[2, 0]],
    );
    weak(
        vec![
            [writer.clone(), vec![Store(Y, 2, Relaxed)]].concat(),
            reader.clone(),
        ],
        &[&[], &[2, 0]],
    );
    // After a release fence, each store is the head of a sequence.
    let fenced = vec![
        Store(X, 1, Relaxed),
        Fence(Release),
        Store(Y, 1, Relaxed),
        Store(Y, 2, Relaxed),
    ];
    forbidden(vec![fenced, reader.clone()], &[&[], &[2, 0]]);
    // Two read-modify-writes in a row.
    let twice = vec![writer, vec![Add(Y, 1, Relaxed)], vec![Add(Y, 1, Relaxed)], reader];
    forbidden(twice, &[&[], &[1], &[2], &[3, 0]]);
}

#[test]
fn read_modify_writes_release_and_acquire_by_their_ordering() {
    let stale: &[&[u32]] = &[&[0], &[1, 0]];
    for (order, allowed) in [
        (Relaxed, true),
        (Acquire, true),
        (Release, false),
        (AcqRel, false),
        (SeqCst, false),
    ] {
        let program = mp(vec![Add(Y, 1, order)], vec![Load(Y, Acquire)]);
        assert_eq!(
            verdicts(&program, stale, [None; 3]),
            (allowed, false),
            "{order:?}"
        );
    }
    let stale: &[&[u32]] = &[&[], &[1, 0]];
    for (order, allowed) in [
        (Relaxed, true),
        (Acquire, false),
        (Release, true),
        (AcqRel, false),
        (SeqCst, false),
    ] {
        let program = mp(vec![Store(Y, 1, Release)], vec![Add(Y, 1, order)]);
        assert_eq!(
            verdicts(&program, stale, [None; 3]),
            (allowed, false),
            "{order:?}"
        );
    }
    let exchange = |expected, success, failure| {
        mp(
            vec![Store(Y, 1, Release)],
            vec![Exchange {
                var: Y,
                expected,
                new: 7,
                success,
                failure,
            }],
        )
    };
    forbidden(exchange(1, Acquire, Relaxed), stale);
    weak(exchange(1, Release, Acquire), stale);
    forbidden(exchange(5, Relaxed, Acquire), stale);
    weak(exchange(5, AcqRel, Relaxed), stale);
    // A failed exchange writes nothing, so nothing reads from it and it releases nothing.
    let fails = Exchange {
        var: Y,
        expected: 5,
        new: 1,
        success: AcqRel,
        failure: SeqCst,
    };
    forbidden(mp(vec![fails], vec![Load(Y, Relaxed)]), &[&[0], &[1, 1]]);
}

#[test]
fn load_buffering_is_out_of_thin_air() {
    for (load, store) in [(Relaxed, Relaxed), (Acquire, Release)] {
        let thread = |from, to| vec![Load(from, load), Store(to, 1, store)];
        forbidden(vec![thread(X, Y), thread(Y, X)], &[&[1], &[1]]);
    }
    let update = |from, to| vec![Add(from, 1, Relaxed), Store(to, 1, Relaxed)];
    forbidden(vec![update(X, Y), update(Y, X)], &[&[1], &[1]]);
}

fn iriw(store: Order, load: Order, fence: Option<Order>) -> Program {
    let reader = |first, second| {
        let mut ops = vec![Load(first, load), Load(second, load)];
        fence.into_iter().for_each(|order| ops.insert(1, Fence(order)));
        ops
    };
    vec![
        vec![Store(X, 1, store)],
        vec![Store(Y, 1, store)],
        reader(X, Y),
        reader(Y, X),
    ]
}

#[test]
fn independent_reads_of_independent_writes() {
    let different: &[&[u32]] = &[&[], &[], &[1, 0], &[1, 0]];
    weak(iriw(Relaxed, Relaxed, None), different);
    weak(iriw(Release, Acquire, None), different);
    weak(iriw(SeqCst, Acquire, None), different);
    forbidden(iriw(SeqCst, SeqCst, None), different);
    forbidden(iriw(Relaxed, Relaxed, Some(SeqCst)), different);
    weak(iriw(Release, Relaxed, Some(AcqRel)), different);
    // RC11 allows this one: there, `rb; rf` between SC events does not order them.
    forbidden(iriw(Release, SeqCst, None), different);
}

#[test]
fn orders_of_stores() {
    let two_two_w = |order, fence: Option<Order>| {
        let thread = |first, second| {
            let mut ops = vec![Store(first, 1, order), Store(second, 2, order)];
            fence.into_iter().for_each(|order| ops.insert(1, Fence(order)));
            ops
        };
        verdicts(
            &vec![thread(X, Y), thread(Y, X)],
            &[&[], &[]],
            [Some(1), Some(1), None],
        )
    };
    assert_eq!(two_two_w(Relaxed, None), (true, false));
    assert_eq!(two_two_w(Release, None), (true, false));
    assert_eq!(two_two_w(SeqCst, None), (false, false));
    assert_eq!(two_two_w(Relaxed, Some(SeqCst)), (false, false));
    assert_eq!(two_two_w(Relaxed, Some(AcqRel)), (true, false));

    let s = |store, load| {
        let program = vec![
            vec![Store(X, 2, Relaxed), Store(Y, 1, store)],
            vec![Load(Y, load), Store(X, 1, Relaxed)],
        ];
        verdicts(&program, &[&[], &[1]], [Some(2), None, None])
    };
    assert_eq!(s(Relaxed, Relaxed), (true, false));
    assert_eq!(s(Release, Relaxed), (true, false));
    assert_eq!(s(Release, Acquire), (false, false));

    let r = |store, load, fence: Option<Order>| {
        let mut program = vec![
            vec![Store(X, 1, store), Store(Y, 1, store)],
            vec![Store(Y, 2, store), Load(X, load)],
        ];
        fence
            .into_iter()
            .for_each(|order| program.iter_mut().for_each(|ops| ops.insert(1, Fence(order))));
        verdicts(&program, &[&[], &[0]], [None, Some(2), None])
    };
    assert_eq!(r(Relaxed, Relaxed, None), (true, false));
    assert_eq!(r(Release, Acquire, None), (true, false));
    assert_eq!(r(SeqCst, SeqCst, None), (false, false));
    assert_eq!(r(Relaxed, Relaxed, Some(SeqCst)), (false, false));
    assert_eq!(r(Relaxed, Relaxed, Some(AcqRel)), (true, false));
}

#[test]
fn chains_of_threads() {
    let wrc = |store, load| {
        vec![
            vec![Store(X, 1, Relaxed)],
            vec![Load(X, Relaxed), Store(Y, 1, store)],
            vec![Load(Y, load), Load(X, Relaxed)],
        ]
    };
    weak(wrc(Relaxed, Relaxed), &[&[], &[1], &[1, 0]]);
    weak(wrc(Relaxed, Acquire), &[&[], &[1], &[1, 0]]);
    forbidden(wrc(Release, Acquire), &[&[], &[1], &[1, 0]]);
    let isa2 = |store, load| {
        vec![
            vec![Store(X, 1, Relaxed), Store(Y, 1, Release)],
            vec![Load(Y, load), Store(Z, 1, store)],
            vec![Load(Z, Acquire), Load(X, Relaxed)],
        ]
    };
    forbidden(isa2(Release, Acquire), &[&[], &[1], &[1, 0]]);
    weak(isa2(Relaxed, Acquire), &[&[], &[1], &[1, 0]]);
    weak(isa2(Release, Relaxed), &[&[], &[1], &[1, 0]]);
}

#[test]
fn read_to_write_causality() {
    let outcome: &[&[u32]] = &[&[], &[1, 0], &[0]];
    let rwc = |store, load, fence| {
        vec![
            vec![Store(X, 1, store)],
            vec![Load(X, load), Fence(fence), Load(Y, load)],
            vec![Store(Y, 1, store), Fence(fence), Load(X, load)],
        ]
    };
    // C11 allows this one: its fences are weaker.
    forbidden(rwc(Relaxed, Relaxed, SeqCst), outcome);
    weak(rwc(Release, Acquire, AcqRel), outcome);
    forbidden(rwc(SeqCst, SeqCst, AcqRel), outcome);
    // C11 forbids this one: there, SC events are ordered as they happen before each other. Compiled with
    // trailing fences, Power has it.
    let plain = |first_load| {
        vec![
            vec![Store(X, 1, SeqCst)],
            vec![Load(X, first_load), Load(Y, SeqCst)],
            vec![Store(Y, 1, SeqCst), Load(X, SeqCst)],
        ]
    };
    weak(plain(Acquire), outcome);
    forbidden(plain(SeqCst), outcome);

    let w_rwc = |ends, fence: Option<Order>| {
        let mut program = vec![
            vec![Store(X, 1, ends), Store(Y, 1, Release)],
            vec![Load(Y, Acquire), Load(Z, ends)],
            vec![Store(Z, 1, ends), Load(X, ends)],
        ];
        fence.into_iter().for_each(|order| {
            program[1..]
                .iter_mut()
                .for_each(|ops| ops.insert(1, Fence(order)))
        });
        program
    };
    weak(w_rwc(Relaxed, None), outcome);
    forbidden(w_rwc(SeqCst, None), outcome);
    forbidden(w_rwc(Relaxed, Some(SeqCst)), outcome);
    weak(w_rwc(Relaxed, Some(AcqRel)), outcome);
}

#[test]
fn z6_u_is_weaker_than_in_c11() {
    let outcome: &[&[u32]] = &[&[], &[1, 3], &[0]];
    let z6_u = |store, load| {
        vec![
            vec![Store(X, 1, SeqCst), Store(Y, 1, store)],
            vec![Add(Y, 1, SeqCst), Load(Y, load)],
            vec![Store(Y, 3, SeqCst), Load(X, SeqCst)],
        ]
    };
    weak(z6_u(Release, Relaxed), outcome);
    forbidden(z6_u(SeqCst, Relaxed), outcome);
}

#[test]
fn coherence() {
    let never = |program: Program, reads: &[&[u32]], last| {
        assert_eq!(verdicts(&program, reads, last), (false, false))
    };
    let any = [None; 3];
    let x = |value| [Some(value), None, None];
    let (load, store) = (Load(X, Relaxed), |value| Store(X, value, Relaxed));
    // CoRR, CoWW, CoRW, CoRW of two threads, CoWR.
    never(vec![vec![store(1)], vec![load, load]], &[&[], &[1, 0]], any);
    never(
        vec![vec![store(1)], vec![store(2)], vec![load, load], vec![load, load]],
        &[&[], &[], &[1, 2], &[2, 1]],
        any,
    );
    never(vec![vec![store(1), store(2)]], &[&[]], x(1));
    never(vec![vec![load, store(1)]], &[&[1]], any);
    never(vec![vec![store(1)], vec![load, store(2)]], &[&[], &[1]], x(1));
    never(vec![vec![store(1), load], vec![store(2)]], &[&[2], &[]], x(1));
    never(vec![vec![store(1), load]], &[&[0]], any);
}

#[test]
fn read_modify_writes_are_atomic() {
    for order in [Relaxed, AcqRel, SeqCst] {
        let outcome = |first, second| Outcome {
            reads: vec![vec![first], vec![second]],
            last: vec![2],
        };
        let both = weak_outcomes(&vec![vec![Add(X, 1, order)]; 2], 1);
        assert_eq!(
            both.into_iter().collect::<Vec<_>>(),
            [outcome(0, 1), outcome(1, 0)]
        );
        let three = weak_outcomes(&vec![vec![Add(X, 1, order)]; 3], 1);
        assert!(three.len() == 6 && three.iter().all(|outcome| outcome.last == [3]));
        let exchange = Exchange {
            var: X,
            expected: 0,
            new: 1,
            success: order,
            failure: Relaxed,
        };
        let both = weak_outcomes(&vec![vec![exchange]; 2], 1);
        let reads: Vec<Vec<Vec<u32>>> = both.into_iter().map(|outcome| outcome.reads).collect();
        assert_eq!(reads, [vec![vec![0], vec![1]], vec![vec![1], vec![0]]]);
    }
    // A store does not come between a read-modify-write and the store that it reads.
    let program = vec![vec![Add(X, 10, Relaxed)], vec![Store(X, 1, Relaxed)]];
    let found: Vec<(u32, u32)> = weak_outcomes(&program, 1)
        .iter()
        .map(|outcome| (outcome.reads[0][0], outcome.last[0]))
        .collect();
    assert_eq!(found, [(0, 1), (1, 11)]);
    let wraps = weak_outcomes(&vec![vec![Store(X, u32::MAX, Relaxed), Add(X, 2, Relaxed)]], 1);
    assert_eq!(
        wraps.into_iter().map(|outcome| outcome.last).collect::<Vec<_>>(),
        [[1]]
    );
}

#[test]
fn every_load_of_one_thread_sees_its_own_stores() {
    let program = vec![vec![
        Store(X, 1, Relaxed),
        Load(X, Relaxed),
        Fence(SeqCst),
        Add(X, 1, Relaxed),
        Load(X, Acquire),
    ]];
    let only = BTreeSet::from([Outcome {
        reads: vec![vec![1, 1, 2]],
        last: vec![2, 0],
    }]);
    assert_eq!(weak_outcomes(&program, 2), only);
}

/// SC events are ordered by `sb; hb; sb`, whatever the variables. In RC11 these have to differ.
#[test]
fn happens_before_orders_sc_events_whatever_the_variables() {
    let begins = |second| {
        vec![
            vec![Store(X, 1, SeqCst), Store(second, 2, Release)],
            vec![Load(second, Acquire), Load(Y, SeqCst)],
            vec![Store(Y, 1, SeqCst), Load(X, SeqCst)],
        ]
    };
    forbidden(begins(X), &[&[], &[2, 0], &[0]]);
    forbidden(begins(Z), &[&[], &[2, 0], &[0]]);
    let ends = |first| {
        vec![
            vec![
                Store(X, 1, SeqCst),
                Store(Y, 1, Release),
                Store(first, 1, Release),
            ],
            vec![Load(first, Acquire), Load(Y, SeqCst)],
            vec![Store(Y, 2, SeqCst), Load(X, SeqCst)],
        ]
    };
    // The second store of Y is the last one.
    let ends = |first| verdicts(&ends(first), &[&[], &[1, 1], &[0]], [None, Some(2), None]);
    assert_eq!(ends(Y), (false, false));
    assert_eq!(ends(Z), (false, false));
}

/// Tasks in a ring store to one variable each, and load the next one. There are `2^tasks` execution graphs.
#[test]
fn stale_reads_that_another_order_gives_are_left_out() {
    let ring = |tasks: usize| -> Program {
        let ops = |task| vec![Store(task, 1, Relaxed), Load((task + 1) % tasks, Relaxed)];
        (0..tasks).map(ops).collect()
    };
    let by_caching_and_dpor = |tasks: usize| {
        let program = ring(tasks);
        [1, 3].map(|search| explored(&program, tasks, SEARCHES[search]).unwrap().1)
    };
    assert_eq!(
        [2, 3, 4].map(by_caching_and_dpor),
        [[13, 5], [119, 10], [825, 19]]
    );
}
