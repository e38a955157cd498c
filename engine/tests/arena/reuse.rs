//! Addresses that are used again in an execution, for the bound `address_reuse` of the environment.

use super::{Notes, alone, explored, explorer};
use intermezzo_engine::runtime::arena::outside;
use intermezzo_explorer::report::Report;
use intermezzo_explorer::sync::atomic::Ordering::SeqCst;
use intermezzo_explorer::thread;
use intermezzo_explorer::{Coverage, Environment, Explorer, Reduction, Schedule};
use intermezzo_lookalikes::sync::atomic::by_address::{AtomicPtr, AtomicUsize};
use intermezzo_sdk::FindingKind;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns an explorer of every trace, where this many allocations of a task get the address of freed memory.
fn reusing(address_reuse: u32) -> Explorer {
    explorer()
        .environment(Environment {
            address_reuse,
            ..Environment::calm()
        })
        .reduction(Reduction::Dpor)
}

fn passes(report: &Report) {
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.coverage(), &Coverage::Exhaustive, "{report}");
}

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 8).unwrap()
}

/// Allocates a block, and returns its address.
fn allocated(size: usize) -> usize {
    // SAFETY: the layout has a size.
    unsafe { alloc(layout(size)) }.expose_provenance()
}

/// Frees a block.
fn free(address: usize, size: usize) {
    // SAFETY: each test frees what it allocated with this size.
    unsafe { dealloc(std::ptr::with_exposed_provenance_mut(address), layout(size)) };
}

#[test]
fn each_freed_block_of_the_size_is_a_choice() {
    let _alone = alone();
    let notes = Notes::new();
    let executions = |bound: u32| {
        let report = explored(reusing(bound), || {
            let blocks = [24, 32, 32, 48].map(allocated);
            free(blocks[0], 24);
            free(blocks[1], 32);
            free(blocks[3], 48);
            // Room for 32 bytes; the third block is in use.
            let (first, second) = (allocated(30), allocated(32));
            let which = |address| blocks.iter().position(|&block| block == address);
            notes.add([which(first), which(second)]);
        });
        passes(&report);
        let limits = report.limits().iter().map(ToString::to_string);
        let beyond: Vec<String> = limits.filter(|limit| limit.contains("reuse")).collect();
        let expected = (bound == 1).then_some("more than 1 reuse of freed memory in a task");
        assert_eq!(beyond, Vec::from_iter(expected));
        BTreeSet::from_iter(notes.take())
    };
    assert_eq!(executions(0), BTreeSet::from([[None, None]]));
    let once = [
        [None, None],
        [None, Some(0)],
        [None, Some(1)],
        [Some(0), None],
        [Some(1), None],
    ];
    assert_eq!(executions(1), BTreeSet::from(once));
    let twice = [[Some(0), Some(1)], [Some(1), Some(0)]];
    assert_eq!(executions(2), BTreeSet::from_iter(once.into_iter().chain(twice)));
}

#[test]
fn memory_that_is_used_again_is_as_new() {
    let _alone = alone();
    let notes = Notes::new();
    let report = explored(reusing(3), || {
        // SAFETY: each block is used within its size, and freed once with it.
        unsafe {
            let block = alloc(layout(40));
            block.write_bytes(1, 40);
            dealloc(block, layout(40));
            let zeroed = black_box(alloc_zeroed(layout(40)));
            assert_eq!(zeroed.cast::<[u8; 40]>().read(), [0; 40]);
            zeroed.write_bytes(2, 40);
            dealloc(zeroed, layout(40));
            let other = black_box(alloc(layout(40)));
            other.write_bytes(3, 40);
            // A block of the arena's end may grow in place.
            _ = allocated(8);
            let larger = realloc(other, layout(40), 200);
            assert_eq!(larger.cast::<[u8; 40]>().read(), [3; 40]);
            // An alignment that the first block had by chance does not count.
            let aligned = alloc(Layout::from_size_align(40, 16).unwrap());
            assert!(aligned != block && aligned != zeroed);
            notes.add((zeroed == block, other == block));
        }
    });
    passes(&report);
    let seen = BTreeSet::from_iter(notes.take());
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[test]
fn no_large_block_is_used_again() {
    let _alone = alone();
    let report = explored(reusing(1), || {
        let block = allocated(256 << 10);
        free(block, 256 << 10);
        assert_ne!(allocated(256 << 10), block);
    });
    passes(&report);
    assert_eq!(report.executions(), 1);
}

#[test]
fn what_cannot_be_combined_is_refused() {
    for (name, value, why) in [
        ("jobs", "2", "one worker"),
        ("reduction", "ordered-atomics", "allocations are ordered"),
    ] {
        let error = reusing(1)
            .set(name, value)
            .try_explore(|| ())
            .unwrap_err()
            .to_string();
        assert!(error.contains(name) && error.contains(why), "{error}");
    }
}

/// A stack of nodes that are freed as soon as they are taken out.
struct Stack(AtomicPtr<Node>);

struct Node {
    next: *mut Node,
    value: u32,
}

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node {
            next: self.0.load(SeqCst),
            value,
        }));
        // SAFETY: the node is not shared yet.
        let next = || unsafe { &raw mut (*node).next };
        loop {
            // SAFETY: as above.
            let expected = unsafe { *next() };
            match self.0.compare_exchange(expected, node, SeqCst, SeqCst) {
                Ok(_) => return,
                // SAFETY: as above.
                Err(found) => unsafe { *next() = found },
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let node = self.0.load(SeqCst);
            // SAFETY: wrong, and that is the point. The memory stays mapped, whatever is in it.
            let Node { next, value } = unsafe { node.as_ref()?.copied() };
            if self.0.compare_exchange(node, next, SeqCst, SeqCst).is_ok() {
                // SAFETY: this task took it out.
                drop(unsafe { Box::from_raw(node) });
                return Some(value);
            }
        }
    }
}

impl Node {
    fn copied(&self) -> Node {
        Node {
            next: self.next,
            value: self.value,
        }
    }
}

/// Two tasks take from the stack; the second one puts something back.
fn aba() {
    let stack = Stack(AtomicPtr::new(std::ptr::null_mut()));
    (0..2).for_each(|value| stack.push(value));
    thread::scope(|scope| {
        scope.spawn(|| stack.pop());
        scope.spawn(|| {
            let taken = [stack.pop(), stack.pop()];
            if taken[1].is_some() {
                stack.push(2);
            }
        });
    });
    let mut left = 0;
    while stack.pop().is_some() {
        left += 1;
        assert!(left < 3, "a node comes out again");
    }
}

#[test]
fn aba_is_found_and_replayed() {
    let _alone = alone();
    let without = explored(reusing(0).preemptions(2), aba);
    assert!(without.verdict().is_pass(), "{without}");
    let report = explored(reusing(1).preemptions(2), aba);
    let found = report.findings().first().unwrap_or_else(|| panic!("{report}"));
    let token = found.schedule.token();
    for _ in 0..3 {
        let schedule = Schedule::from_token(&token).unwrap();
        assert_eq!(schedule.environment.address_reuse, 1);
        let again = explored(explorer().replay(schedule), aba);
        let second = again.findings().first().unwrap_or_else(|| panic!("{again}"));
        assert_eq!((&found.kind, &found.message), (&second.kind, &second.message));
    }
}

/// A stale pointer to an atomic: while the memory is free it is a finding, and then it leads to the new one.
#[test]
fn an_atomic_in_memory_that_is_used_again_is_a_new_one() {
    let _alone = alone();
    let notes = Notes::new();
    let test = || {
        let first = Box::into_raw(Box::new(AtomicUsize::new(1)));
        // SAFETY: the memory stays mapped.
        let of = |atomic: *mut AtomicUsize| unsafe { &*atomic };
        of(first).fetch_add(1, SeqCst);
        // SAFETY: it is not used again, but for the test.
        drop(unsafe { Box::from_raw(first) });
        let second = Box::into_raw(Box::new(AtomicUsize::new(5)));
        notes.add((
            second == first,
            of(first).fetch_add(1, SeqCst),
            of(second).load(SeqCst),
        ));
    };
    let report = explored(reusing(1).set("keep_going", true), test);
    let seen = notes.take();
    assert!(
        !seen.is_empty() && seen.iter().all(|&seen| seen == (true, 5, 6)),
        "{seen:?}"
    );
    let findings = report.findings();
    let kinds: Vec<_> = findings.iter().map(|finding| &finding.kind).collect();
    assert_eq!(kinds, [&FindingKind::Misuse], "{report}");
    assert!(
        findings[0].message.contains("is in memory that was freed"),
        "{report}"
    );
}

/// The number of random programs that are compared.
const PROGRAMS: u64 = 1_500;

/// A program with more executions than this in the search of every schedule is left out.
const EXECUTIONS_MAX: u64 = 1_500;

/// The number of pointers that tasks share.
const SHARED: usize = 2;

/// The number of blocks that a task can own.
const OWN: usize = 3;

/// An operation of a random program.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// Allocates a block of this size.
    Allocate(usize),
    /// Frees the task's latest block.
    Free,
    /// Exchanges a shared pointer for one to the task's latest block, and owns what was there.
    Swap(usize),
    /// Takes what is at a shared pointer.
    Take(usize),
    /// Remembers a shared pointer.
    Load(usize),
    /// Exchanges the shared pointer that is remembered for one to the task's latest block, if it is as it was.
    Exchange(usize),
    /// Adds to the atomic in the task's latest block.
    Add,
}

/// Returns one of the first `kinds` kinds of operations, some of which count several times.
fn random_op(random: &mut Xoshiro256PlusPlus, kinds: u32) -> Op {
    let shared = random.random_range(0..SHARED);
    match random.random_range(0..kinds) {
        0..4 => Op::Allocate([24, 24, 40][random.random_range(0..3)]),
        4..7 => Op::Free,
        7..9 => Op::Swap(shared),
        9 => Op::Take(shared),
        10 => Op::Load(shared),
        11..13 => Op::Exchange(shared),
        _ => Op::Add,
    }
}

/// The operations of `main` before it creates the others, of two tasks, and of `main` while they run and after it has
/// joined them.
type Program = [Vec<Op>; 5];

fn random_program(seed: u64) -> Program {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    // In some programs tasks share nothing but what is freed.
    let kinds = [14, 9, 7][random.random_range(0..3)];
    [2..5, 1..4, 1..4, 0..2, 0..2].map(|lengths| {
        let length = random.random_range(lengths);
        (0..length).map(|_| random_op(random, kinds)).collect()
    })
}

/// The state of an execution outside it: the block at each address, and what tasks saw.
#[derive(Default)]
struct Seen {
    /// The size of the block at an address, and its number: that of its task, and its index there.
    blocks: BTreeMap<usize, (usize, u32)>,
    /// The values that each part of the program saw.
    seen: [Vec<u32>; 4],
}

impl Seen {
    fn number(&self, address: usize) -> u32 {
        self.blocks.get(&address).map_or(0, |&(_, number)| number)
    }
}

/// The record of all executions of a program.
struct Record {
    now: Mutex<Seen>,
    outcomes: Mutex<BTreeSet<[Vec<u32>; 4]>>,
    /// `true` if there is a schedule point before each allocation and each free.
    every: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a program while it runs.
struct Part<'a> {
    which: usize,
    record: &'a Record,
    shared: &'a [AtomicUsize; SHARED],
    point: &'a AtomicUsize,
    own: [usize; OWN],
    owned: usize,
    remembered: usize,
    allocated: u32,
}

impl Part<'_> {
    fn note(&self, see: impl FnOnce(&mut Seen) -> u32) {
        outside(|| {
            let mut now = lock(&self.record.now);
            let seen = see(&mut now);
            now.seen[self.which].push(seen);
        });
    }

    fn point(&self) {
        if self.record.every {
            self.point.fetch_add(1, SeqCst);
        }
    }

    fn latest(&self) -> Option<usize> {
        Some(self.own[self.owned.checked_sub(1)?])
    }

    /// Owns a block, or none if the address is 0.
    fn own(&mut self, address: usize) {
        if address != 0 {
            self.own[self.owned] = address;
            self.owned += 1;
        }
    }

    fn perform(&mut self, op: Op) {
        let has_room = self.owned < OWN;
        match op {
            Op::Allocate(size) if has_room => {
                self.point();
                let address = allocated(size);
                self.allocated += 1;
                let number = (self.which as u32 + 1) * 100 + self.allocated;
                self.note(|now| {
                    let before = now.number(address);
                    now.blocks.insert(address, (size, number));
                    before
                });
                // SAFETY: the block is this task's, and has room for it.
                unsafe {
                    let place = std::ptr::with_exposed_provenance_mut::<AtomicUsize>(address);
                    place.write(AtomicUsize::new(0));
                }
                self.own(address);
            }
            Op::Free => {
                let Some(address) = self.latest() else { return };
                self.point();
                self.owned -= 1;
                let size = outside(|| lock(&self.record.now).blocks[&address].0);
                free(address, size);
            }
            Op::Swap(at) => {
                let Some(address) = self.latest() else { return };
                let before = self.shared[at].swap(address, SeqCst);
                self.owned -= 1;
                self.own(before);
                self.note(|now| now.number(before));
            }
            Op::Take(at) if has_room => {
                let before = self.shared[at].swap(0, SeqCst);
                self.own(before);
                self.note(|now| now.number(before));
            }
            Op::Load(at) => {
                let address = self.shared[at].load(SeqCst);
                self.remembered = address;
                self.note(|now| now.number(address));
            }
            Op::Exchange(at) => {
                let Some(address) = self.latest() else { return };
                let exchange = self.shared[at].compare_exchange(self.remembered, address, SeqCst, SeqCst);
                if let Ok(before) = exchange {
                    self.owned -= 1;
                    self.own(before);
                }
                self.note(|now| 2 * now.number(self.remembered) + u32::from(exchange.is_ok()));
            }
            Op::Add => {
                let Some(address) = self.latest() else { return };
                // SAFETY: the block is this task's, and has an atomic.
                let atomic = unsafe { &*std::ptr::with_exposed_provenance::<AtomicUsize>(address) };
                let before = atomic.fetch_add(1, SeqCst);
                self.note(|_| before as u32);
            }
            _ => {}
        }
    }
}

/// Returns what the executions of a program saw, and their number.
fn outcomes(program: &Program, explorer: Explorer, every: bool) -> (u64, BTreeSet<[Vec<u32>; 4]>) {
    let record = Record {
        now: Mutex::default(),
        outcomes: Mutex::default(),
        every,
    };
    let report = explored(explorer.executions(EXECUTIONS_MAX), || {
        outside(|| *lock(&record.now) = Seen::default());
        let shared = [const { AtomicUsize::new(0) }; SHARED];
        let point = AtomicUsize::new(0);
        let part = |which| Part {
            which,
            record: &record,
            shared: &shared,
            point: &point,
            own: [0; OWN],
            owned: 0,
            remembered: 0,
            allocated: 0,
        };
        let perform = |part: &mut Part<'_>, which: usize| {
            program[which].iter().for_each(|&op| part.perform(op));
        };
        let mut main = part(0);
        perform(&mut main, 0);
        thread::scope(|scope| {
            scope.spawn(|| perform(&mut part(1), 1));
            scope.spawn(|| perform(&mut part(2), 2));
            main.which = 3;
            perform(&mut main, 3);
        });
        perform(&mut main, 4);
        outside(|| {
            let seen = std::mem::take(&mut *lock(&record.now)).seen;
            lock(&record.outcomes).insert(seen);
        });
    });
    assert!(report.verdict().is_pass(), "{program:?}\n{report}");
    let executions = report.executions();
    if executions < EXECUTIONS_MAX {
        assert_eq!(report.coverage(), &Coverage::Exhaustive, "{program:?}\n{report}");
    }
    (executions, record.outcomes.into_inner().unwrap())
}

/// A reduction has the outcomes of a search of every schedule in which each allocation and each free is a visible
/// operation that nothing commutes with.
#[test]
fn reductions_have_all_outcomes() {
    let _alone = alone();
    let programs = std::env::var("FUZZED_PROGRAMS").map_or(PROGRAMS, |number| number.parse().unwrap());
    let (mut compared, mut with_reuse, mut seed) = (0, 0, 0);
    while compared < programs {
        seed += 1;
        let program = random_program(seed);
        let every = || reusing(1).reduction(Reduction::None);
        let (executions, wanted) = outcomes(&program, every(), true);
        if executions == EXECUTIONS_MAX {
            continue;
        }
        compared += 1;
        let reductions = [
            Reduction::None,
            Reduction::Dpor,
            Reduction::SourceDpor,
            Reduction::Caching,
        ];
        for reduction in reductions {
            let (_, found) = outcomes(&program, reusing(1).reduction(reduction), false);
            assert_eq!(found, wanted, "seed {seed}, {reduction:?}: {program:#?}");
        }
        let (_, never) = outcomes(&program, reusing(0), false);
        assert!(never.is_subset(&wanted), "seed {seed}");
        with_reuse += u64::from(never != wanted);
    }
    assert!(
        with_reuse > programs / 10,
        "{with_reuse} programs use an address again"
    );
}
