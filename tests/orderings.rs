//! Advice on orderings that are too weak: it names their places, and changing these fixes the failure.
//!
//! Each algorithm is right with some orderings, and one of them is weakened at a time. The line of each operation ends
//! with a comment that names the operation.

use intermezzo::cell::{ByPointer as _, UnsafeCell};
use intermezzo::sync::Arc;
use intermezzo::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use intermezzo::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use intermezzo::{Environment, Explorer, Report, Strategy, StrongerOrdering, Verdict, thread};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

/// The orderings of an algorithm's operations, in the order of their marks.
type Orders<const N: usize> = [Ordering; N];

fn weak() -> Explorer {
    Explorer::new().monitors("data-race").environment(Environment {
        stale_reads: 1,
        ..Environment::calm()
    })
}

/// Returns the mark at the end of the line of a place in this file.
fn mark(site: &str) -> &'static str {
    let line = site
        .rsplit(':')
        .nth(1)
        .and_then(|line| line.parse::<usize>().ok());
    let text = include_str!("orderings.rs")
        .lines()
        .nth(line.expect("a line") - 1);
    let (_, mark) = text.and_then(|text| text.rsplit_once("// ")).expect("a mark");
    mark
}

/// Returns the advice of a report, which is the same for all findings: the marks, and the orderings that are needed there.
fn advice(report: &Report) -> Vec<(&'static str, &str)> {
    assert_eq!(report.verdict(), Verdict::Fail, "{report}");
    assert_eq!(report.orderings().len(), report.findings().len(), "{report}");
    let first = &report.orderings()[0].raise;
    assert!(
        report.orderings().iter().all(|advice| advice.raise == *first),
        "{report}"
    );
    let raise = first.iter();
    raise
        .map(|StrongerOrdering { site, needs, .. }| (mark(site), needs.as_str()))
        .collect()
}

/// Weakens each operation of an algorithm in turn, and checks that the advice is to strengthen that one. `cases` has the
/// number of the operation, its weaker ordering, its mark, and the ordering that it needs.
fn check<const N: usize>(
    algorithm: fn(Orders<N>),
    right: Orders<N>,
    cases: &[(usize, Ordering, &str, &str)],
) {
    let report = weak().explore(move || algorithm(right));
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    assert!(report.orderings().is_empty());
    for &(at, weaker, mark, needs) in cases {
        let mut orders = right;
        orders[at] = weaker;
        let report = weak().explore(move || algorithm(orders));
        assert_eq!(advice(&report), [(mark, needs)], "{mark}: {report}");
        let told = report.findings()[0].suggestion.as_deref().unwrap_or_default();
        assert!(
            told.contains(&format!("the failure does not occur with `{needs}` for ")),
            "{told}"
        );
        assert!(told.ends_with(&format!("(now `{weaker:?}`)")), "{told}");
    }
}

/// Memory that is only read and written where the orderings are right.
struct Plain(UnsafeCell<u32>);

// SAFETY: if there is a race, the exploration reports it.
unsafe impl Sync for Plain {}

impl Plain {
    fn new() -> Plain {
        Plain(UnsafeCell::new(0))
    }

    fn get(&self) -> u32 {
        // SAFETY: as above.
        self.0.with(|value| unsafe { *value })
    }

    fn set(&self, new: u32) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

fn message_passing([publish, take]: Orders<2>) {
    let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
    let other = Arc::clone(&shared);
    let task = thread::spawn(move || {
        other.0.store(7, Relaxed);
        other.1.store(1, publish); // publish
    });
    let ready = shared.1.load(take); // take
    assert!(ready == 0 || shared.0.load(Relaxed) == 7);
    task.join().unwrap();
}

#[test]
fn a_message_needs_release_and_acquire() {
    check(
        message_passing,
        [Release, Acquire],
        &[
            (0, Relaxed, "publish", "Release"),
            (1, Relaxed, "take", "Acquire"),
        ],
    );
    // Both orderings are too weak.
    let report = weak().explore(|| message_passing([Relaxed, Relaxed]));
    let vars = report.orderings()[0].raise.iter().map(|raise| &raise.var);
    assert!(vars.clone().all(|var| var.starts_with("atomic ")), "{report}");
    let told = report.to_string().replace("\n  ", " ");
    assert!(
        told.contains("help: the failure does not occur with `Release` for the store of `shared.1` at ["),
        "{told}"
    );
    assert_eq!(advice(&report), [("publish", "Release"), ("take", "Acquire")]);
}

fn message_in_plain_memory([publish, take]: Orders<2>) {
    let shared = Arc::new((Plain::new(), AtomicU32::new(0)));
    let other = Arc::clone(&shared);
    let task = thread::spawn(move || {
        other.0.set(7);
        other.1.store(1, publish); // plain publish
    });
    let ready = shared.1.load(take); // plain take
    if ready == 1 {
        assert_eq!(shared.0.get(), 7);
    }
    task.join().unwrap();
}

#[test]
fn a_data_race_is_fixed_by_orderings() {
    check(
        message_in_plain_memory,
        [Release, Acquire],
        &[
            (0, Relaxed, "plain publish", "Release"),
            (1, Relaxed, "plain take", "Acquire"),
        ],
    );
}

fn dekker([one_store, one_load, two_store, two_load]: Orders<4>) {
    let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let others = Arc::clone(&vars);
    let task = thread::spawn(move || {
        others[0].store(1, one_store); // one stores
        others[1].load(one_load) // one loads
    });
    vars[1].store(1, two_store); // two stores
    let read = vars[0].load(two_load); // two loads
    assert!(task.join().unwrap() + read > 0, "both read 0");
}

#[test]
fn a_store_buffer_needs_sequential_consistency() {
    check(
        dekker,
        [SeqCst; 4],
        &[
            (0, Release, "one stores", "SeqCst"),
            (1, Acquire, "one loads", "SeqCst"),
            (2, Relaxed, "two stores", "SeqCst"),
            (3, Relaxed, "two loads", "SeqCst"),
        ],
    );
    let report = weak().explore(|| dekker([Release, Acquire, Release, Acquire]));
    assert_eq!(
        advice(&report),
        ["one stores", "one loads", "two stores", "two loads"].map(|mark| (mark, "SeqCst"))
    );
}

/// Three tasks that each store to a variable, and load that of the next task. More places are needed than the largest size
/// of which every set is tried.
fn ring_of_buffers(orders: Orders<6>) {
    let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
    let [first, second] = [Arc::clone(&vars), Arc::clone(&vars)];
    let first = thread::spawn(move || {
        first[0].store(1, orders[0]); // store 0
        first[1].load(orders[1]) // load 1
    });
    let second = thread::spawn(move || {
        second[1].store(1, orders[2]); // store 1
        second[2].load(orders[3]) // load 2
    });
    vars[2].store(1, orders[4]); // store 2
    let read = vars[0].load(orders[5]); // load 0
    let read = [first.join().unwrap(), second.join().unwrap(), read];
    assert!(read != [0; 3], "all read 0");
}

#[test]
fn more_places_than_are_tried_in_all_ways_are_all_needed() {
    let report = weak().explore(|| ring_of_buffers([Relaxed; 6]));
    let all = ["store 0", "load 1", "store 1", "load 2", "store 2", "load 0"];
    assert_eq!(advice(&report), all.map(|mark| (mark, "SeqCst")), "{report}");
}

/// Peterson's algorithm for two tasks, of which each tries once.
fn peterson([flag, turn, ask, whose, leave]: Orders<5>) {
    struct Lock {
        flags: [AtomicU32; 2],
        turn: AtomicUsize,
        inside: Plain,
    }
    let lock = Arc::new(Lock {
        flags: [AtomicU32::new(0), AtomicU32::new(0)],
        turn: AtomicUsize::new(0),
        inside: Plain::new(),
    });
    let tasks: Vec<_> = (0..2)
        .map(|me| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                lock.flags[me].store(1, flag); // flag
                lock.turn.store(1 - me, turn); // turn
                let other = lock.flags[1 - me].load(ask); // ask
                let waits = other == 1 && lock.turn.load(whose) != me; // whose
                if !waits {
                    lock.inside.set(lock.inside.get() + 1);
                    lock.flags[me].store(0, leave); // leave
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

#[test]
fn petersons_algorithm_needs_sequential_consistency() {
    check(
        peterson,
        [SeqCst; 5],
        &[
            (0, Release, "flag", "SeqCst"),
            (2, Acquire, "ask", "SeqCst"),
            (4, Relaxed, "leave", "Release"),
        ],
    );
}

/// One task writes two words, and the other one reads both if no write came between.
fn seqlock([begin, before, end, first, after, second]: Orders<6>) {
    let shared = Arc::new([AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
    let other = Arc::clone(&shared);
    let task = thread::spawn(move || {
        other[0].store(1, begin); // begin
        fence(before); // before
        other[1].store(1, Relaxed);
        other[2].store(1, Relaxed);
        other[0].store(2, end); // end
    });
    let seen = shared[0].load(first); // first
    let words = [shared[1].load(Relaxed), shared[2].load(Relaxed)];
    fence(after); // after
    let again = shared[0].load(second); // second
    assert!(seen != again || seen == 1 || words[0] == words[1], "{words:?}");
    task.join().unwrap();
}

#[test]
fn a_sequence_lock_needs_its_fences() {
    check(
        seqlock,
        [Relaxed, Release, Release, Acquire, Acquire, Relaxed],
        &[
            (1, Acquire, "before", "AcqRel"),
            (2, Relaxed, "end", "Release"),
            (3, Relaxed, "first", "Acquire"),
            (4, Release, "after", "AcqRel"),
        ],
    );
}

/// A ring with one slot, for one producer and one consumer.
fn ring([room, push, filled, pop]: Orders<4>) {
    struct Ring {
        slot: Plain,
        head: AtomicU32,
        tail: AtomicU32,
    }
    let ring = Arc::new(Ring {
        slot: Plain::new(),
        head: AtomicU32::new(0),
        tail: AtomicU32::new(0),
    });
    let other = Arc::clone(&ring);
    let task = thread::spawn(move || {
        for number in 0..2 {
            let head = other.head.load(room); // room
            if number == head {
                other.slot.set(number + 10);
                other.tail.store(number + 1, push); // push
            }
        }
    });
    let tail = ring.tail.load(filled); // filled
    if tail == 1 {
        assert_eq!(ring.slot.get(), 10);
        ring.head.store(1, pop); // pop
    }
    task.join().unwrap();
}

#[test]
fn a_ring_needs_its_indices_ordered() {
    check(
        ring,
        [Acquire, Release, Acquire, Release],
        &[
            (0, Relaxed, "room", "Acquire"),
            (1, Relaxed, "push", "Release"),
            (2, Relaxed, "filled", "Acquire"),
            (3, Relaxed, "pop", "Release"),
        ],
    );
}

/// A stack of numbered nodes: one task pushes a node, and another one pops it.
fn treiber([look, push, top, pop]: Orders<4>) {
    struct Stack {
        /// The number of the first node; 0 for none.
        head: AtomicUsize,
        values: [Plain; 2],
        next: [AtomicUsize; 2],
    }
    let stack = Arc::new(Stack {
        head: AtomicUsize::new(0),
        values: [Plain::new(), Plain::new()],
        next: [AtomicUsize::new(0), AtomicUsize::new(0)],
    });
    let tasks: Vec<_> = (0..2)
        .map(|node| {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                if node == 0 {
                    stack.values[node].set(7);
                    let (head, new) = (&stack.head, node + 1);
                    let first = head.load(look); // look
                    stack.next[node].store(first, Relaxed);
                    let pushed = head.compare_exchange(first, new, push, Relaxed); // push node
                    pushed.expect("no other task pushes");
                } else {
                    let head = &stack.head;
                    let first = head.load(top); // top
                    if first != 0 {
                        let next = stack.next[first - 1].load(Relaxed);
                        let popped = head.compare_exchange(first, next, pop, Relaxed); // pop node
                        popped.expect("no other task pops");
                        assert_eq!(stack.values[first - 1].get(), 7);
                    }
                }
            })
        })
        .collect();
    tasks.into_iter().for_each(|task| task.join().unwrap());
}

#[test]
fn a_stack_needs_its_head_ordered() {
    check(
        treiber,
        [Relaxed, Release, Acquire, Relaxed],
        &[(1, Relaxed, "push node", "Release")],
    );
    // The exchange that pops can acquire as well as the load can.
    let report = weak().explore(|| treiber([Relaxed, Release, Relaxed, Relaxed]));
    let advice = advice(&report);
    assert!(
        matches!(advice[..], [("top" | "pop node", "Acquire")]),
        "{advice:?}: {report}"
    );
}

/// A lost update: no ordering fixes what happens in the order of the tasks alone.
#[test]
fn it_is_said_if_no_ordering_fixes_a_failure() {
    let report = weak().explore(|| {
        let count = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&count);
        let task = thread::spawn(move || other.store(other.load(Relaxed) + 1, Relaxed));
        count.store(count.load(Relaxed) + 1, Relaxed);
        task.join().unwrap();
        assert_eq!(count.load(Relaxed), 2);
    });
    assert!(advice(&report).is_empty(), "{report}");
    let text = report.to_string();
    assert!(text.contains("no ordering fixes it"), "{text}");
    assert!(report.findings()[0].stale_operations().is_empty(), "{text}");
}

#[test]
fn advice_is_only_given_where_it_was_checked() {
    // The check takes executions, whose number `minimise` limits.
    let report = weak().minimise(0).explore(|| message_passing([Relaxed, Acquire]));
    assert!(report.orderings().is_empty() && report.findings()[0].suggestion.is_none());
    // A sampler does not run all executions, but the check does.
    let report = weak()
        .strategy(Strategy::random())
        .explore(|| message_passing([Relaxed, Acquire]));
    assert_eq!(advice(&report), [("publish", "Release")]);
    // By default, the check may not run as many executions as there are here.
    let choosing = || {
        message_passing([Relaxed, Acquire]);
        (0..14).for_each(|_| _ = intermezzo::choose(2));
    };
    let report = weak()
        .strategy(Strategy::random())
        .set("minimise", "5000,time=60")
        .explore(choosing);
    assert_eq!(advice(&report), [("publish", "Release")]);
    let report = weak().strategy(Strategy::random()).explore(choosing);
    assert!(report.orderings().is_empty(), "{report}");
    let text = report.to_string();
    assert!(
        text.contains(
            "note: finding 1: the orderings that fix it are not known: there are too many executions"
        ),
        "{text}"
    );
    // The time limit of the check may be too short.
    let report = weak()
        .set("minimise", "time=0")
        .explore(|| message_passing([Relaxed, Acquire]));
    assert!(report.orderings().is_empty(), "{report}");
    let note = "the orderings that fix it are not known: there was not enough time to find them (a larger `time` in the setting `minimise` gives more)";
    assert!(report.notes().iter().any(|said| said.ends_with(note)), "{report}");
    // Without a memory model there is nothing to fix.
    let report = Explorer::new().explore(|| panic!("in any case"));
    assert!(report.orderings().is_empty());
}

/// Advice is given even if fairness leaves out schedules.
#[test]
fn a_loop_that_yields_has_advice() {
    let report = weak().explore(|| {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let task = thread::spawn(move || {
            other.0.store(7, Relaxed);
            other.1.store(1, Release);
        });
        loop {
            let ready = shared.1.load(Relaxed); // wait
            if ready == 1 {
                break;
            }
            thread::yield_now();
        }
        assert_eq!(shared.0.load(Relaxed), 7);
        task.join().unwrap();
    });
    assert_eq!(advice(&report), [("wait", "Acquire")], "{report}");
}

/// Passes a message, and returns `true` if it was missed. Each use has places of its own.
macro_rules! missed {
    () => {
        |vars: &Arc<[AtomicU32; 2]>| {
            let other = Arc::clone(vars);
            let task = thread::spawn(move || other.iter().for_each(|var| var.store(1, SeqCst)));
            let missed = vars[1].load(Relaxed) == 1 && vars[0].load(Relaxed) == 0;
            task.join().unwrap();
            missed
        }
    };
}

/// Each exploration shows one way in which the failure occurs, and there are 24 of them.
#[test]
fn no_advice_is_given_on_a_failure_that_occurs_in_25_ways() {
    type Way = fn(&Arc<[AtomicU32; 2]>) -> bool;
    #[rustfmt::skip]
    let ways: [Way; 25] = [
        missed!(), missed!(), missed!(), missed!(), missed!(),
        missed!(), missed!(), missed!(), missed!(), missed!(),
        missed!(), missed!(), missed!(), missed!(), missed!(),
        missed!(), missed!(), missed!(), missed!(), missed!(),
        missed!(), missed!(), missed!(), missed!(), missed!(),
    ];
    for number in [24, 25] {
        let report = weak().explore(move || {
            let way = ways[intermezzo::choose(number)];
            assert!(!way(&Arc::default()), "missed");
        });
        let note = "finding 1: the orderings that fix it are not known: it occurs in too many ways";
        let is_noted = report.notes().iter().any(|said| said == note);
        assert_eq!(
            (report.orderings().len(), is_noted),
            if number == 24 { (1, false) } else { (0, true) },
            "{report}"
        );
    }
}

/// A random program: two tasks with three operations each, on two variables.
#[derive(Clone, Copy, Debug)]
struct Step {
    var: usize,
    kind: Kind,
    order: Ordering,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Load,
    Store(u32),
    Add,
}

type Program = [Step; 6];

/// Performs a step at the caller's place in the source. Returns what it read.
#[track_caller]
fn perform(step: Step, vars: &[AtomicU32; 2]) -> u32 {
    let var = &vars[step.var];
    match step.kind {
        Kind::Load => var.load(step.order),
        Kind::Store(value) => {
            var.store(value, step.order);
            0
        }
        Kind::Add => var.fetch_add(1, step.order),
    }
}

/// Runs a program, and returns the value that each step read and the final values of the variables.
fn run(program: Program) -> [u32; 8] {
    let vars = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let others = Arc::clone(&vars);
    let task = thread::spawn(move || {
        [
            perform(program[0], &others), // step 0
            perform(program[1], &others), // step 1
            perform(program[2], &others), // step 2
        ]
    });
    let own = [
        perform(program[3], &vars), // step 3
        perform(program[4], &vars), // step 4
        perform(program[5], &vars), // step 5
    ];
    let [a, b, c] = task.join().unwrap();
    let ends = [vars[0].load(Relaxed), vars[1].load(Relaxed)];
    [a, b, c, own[0], own[1], own[2], ends[0], ends[1]]
}

/// Returns the outcomes of a program.
fn outcomes(program: Program, explorer: Explorer) -> BTreeSet<[u32; 8]> {
    let outcomes = Arc::new(StdMutex::new(BTreeSet::new()));
    let seen = Arc::clone(&outcomes);
    let report = explorer.explore(move || {
        let outcome = run(program);
        seen.lock().unwrap().insert(outcome);
    });
    assert_eq!(report.verdict(), Verdict::Pass, "{report}");
    let mut outcomes = outcomes.lock().unwrap();
    std::mem::take(&mut outcomes)
}

fn random_program(random: &mut Xoshiro256PlusPlus) -> Program {
    std::array::from_fn(|_| {
        let kind = match random.random_range(0..7) {
            0..3 => Kind::Load,
            3..6 => Kind::Store(random.random_range(1..4)),
            _ => Kind::Add,
        };
        let orders: &[Ordering] = match kind {
            Kind::Load => &[Relaxed, Relaxed, Acquire, SeqCst],
            Kind::Store(_) => &[Relaxed, Relaxed, Release, SeqCst],
            Kind::Add => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
        };
        Step {
            var: random.random_range(0..2),
            kind,
            order: orders[random.random_range(0..orders.len())],
        }
    })
}

/// Returns `true` if a program never has this outcome.
fn excludes(program: Program, outcome: [u32; 8]) -> bool {
    !outcomes(program, weak()).contains(&outcome)
}

/// Advice on random programs, of which a random outcome counts as a failure: applied to the program, it removes the
/// failure; and no fewer places do, even if everything there is `SeqCst`.
#[test]
fn advice_on_random_programs_fixes_them_with_the_fewest_places() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(17);
    let (mut fixed, mut sizes) = (0, BTreeSet::new());
    while fixed < 40 {
        let program = random_program(&mut random);
        let all_ordered = program.map(|step| Step {
            order: SeqCst,
            ..step
        });
        let ordered = outcomes(all_ordered, weak());
        let weak_only: Vec<[u32; 8]> = outcomes(program, weak()).difference(&ordered).copied().collect();
        if weak_only.is_empty() {
            continue;
        }
        let failure = weak_only[random.random_range(0..weak_only.len())];
        let report = weak().explore(move || assert_ne!(run(program), failure));
        let advised = advice(&report);
        assert!(!advised.is_empty(), "{program:?} {failure:?} {report}");
        let mut applied = program;
        for (mark, needs) in &advised {
            let step: usize = mark.strip_prefix("step ").unwrap().parse().unwrap();
            applied[step].order = [Relaxed, Acquire, Release, AcqRel, SeqCst]
                .into_iter()
                .find(|order| format!("{order:?}") == *needs)
                .unwrap();
        }
        assert!(excludes(applied, failure), "{program:?} {failure:?} {advised:?}");
        for places in 0_u32..64 {
            if (places.count_ones() as usize) < advised.len() {
                let mut fewer = program;
                (0..6)
                    .filter(|at| places & (1 << at) != 0)
                    .for_each(|at| fewer[at].order = SeqCst);
                assert!(
                    !excludes(fewer, failure),
                    "{program:?} {failure:?} {advised:?} {places:b}"
                );
            }
        }
        sizes.insert(advised.len());
        fixed += 1;
    }
    assert!(sizes.len() >= 3, "{sizes:?}");
}
