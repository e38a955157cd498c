//! A monitor that receives plain memory events after the execution receives the same ones as a monitor that receives
//! them at once.

use intermezzo_explorer::alloc::{Layout, alloc, dealloc};
use intermezzo_explorer::cell::{ByPointer, Cell, UnsafeCell};
use intermezzo_explorer::sync::Arc;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, ptr, thread};
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, Execution, Interests, Location, MemoryDeed, MemoryEvent, Monitor,
    Release, SiteId,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::mem::ManuallyDrop;
use std::sync::{Arc as StdArc, Mutex};

/// The memory events received, execution by execution.
type Heard = StdArc<Mutex<Vec<Vec<MemoryEvent>>>>;

struct Hearing {
    heard: Heard,
    afterwards: bool,
    ended: bool,
}

impl Hearing {
    fn hear(&mut self, what: MemoryDeed, cx: &Context<'_>) {
        assert!(!self.afterwards, "it is not told at once");
        let events = cx.accesses().len();
        self.add(&[MemoryEvent { events, what }]);
    }

    fn add(&mut self, memory: &[MemoryEvent]) {
        assert!(!self.ended, "the end comes last");
        let mut heard = self.heard.lock().unwrap();
        let heard = heard.last_mut().unwrap();
        for event in memory {
            heard.push(without_site(*event));
        }
    }
}

/// Removes source places, which are numbered in the order in which they are met. That order differs if all events come
/// at the end.
fn without_site(mut event: MemoryEvent) -> MemoryEvent {
    match &mut event.what {
        MemoryDeed::Access(access) => access.site = SiteId(0),
        MemoryDeed::Allocation(allocation) => allocation.site = SiteId(0),
        MemoryDeed::Release(release) => release.site = SiteId(0),
    }
    event
}

impl Monitor for Hearing {
    fn name(&self) -> &str {
        "hearing"
    }
    fn interests(&self) -> Interests {
        Interests::DATA_ACCESSES | Interests::ALLOCATIONS
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn memory_afterwards(&self) -> bool {
        self.afterwards
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.ended = false;
        self.heard.lock().unwrap().push(Vec::new());
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.hear(MemoryDeed::Access(*access), cx);
    }
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.hear(MemoryDeed::Allocation(*allocation), cx);
    }
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.hear(MemoryDeed::Release(*release), cx);
    }
    fn on_memory(&mut self, memory: &[MemoryEvent], _: &mut Context<'_>) {
        assert!(self.afterwards, "it is told at once");
        self.add(memory);
    }
    fn on_execution_end(&mut self, _: &Execution<'_>, _: &mut Context<'_>) {
        self.ended = true;
    }
}

struct Shared {
    cell: UnsafeCell<usize>,
    ready: AtomicUsize,
}

// SAFETY: the cell is read only once `ready` says so.
unsafe impl Sync for Shared {}

/// Accesses a cell `accesses` times before another task reads it.
fn publish(accesses: usize) {
    let shared = Arc::new(Shared {
        cell: UnsafeCell::new(0),
        ready: AtomicUsize::new(0),
    });
    let other = Arc::clone(&shared);
    let reader = thread::spawn(move || {
        if other.ready.load(SeqCst) == 1 {
            // SAFETY: it has been written, and is not written any more.
            other.cell.with(|at| unsafe { *at });
        }
    });
    for number in 0..accesses {
        // SAFETY: no other task reads it yet.
        shared.cell.with_mut(|at| unsafe { *at = number });
    }
    shared.ready.store(1, SeqCst);
    reader.join().unwrap();
}

/// Returns the events that each of these monitors received.
fn heard(afterwards: &[bool], accesses: usize) -> Vec<Vec<Vec<MemoryEvent>>> {
    let explorer = Explorer::new().environment(Environment::calm());
    heard_in(explorer, afterwards, move || publish(accesses))
}

/// Returns the events that each of these monitors receives when this is explored.
fn heard_in(
    mut explorer: Explorer,
    afterwards: &[bool],
    test: impl Fn() + Send + Sync,
) -> Vec<Vec<Vec<MemoryEvent>>> {
    let heard: Vec<Heard> = afterwards.iter().map(|_| Heard::default()).collect();
    for (heard, &afterwards) in heard.iter().zip(afterwards) {
        explorer = explorer.monitor(Hearing {
            heard: heard.clone(),
            afterwards,
            ended: true,
        });
    }
    let report = explorer.explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    let executions = report.executions() as usize;
    let heard: Vec<_> = heard
        .iter()
        .map(|heard| std::mem::take(&mut *heard.lock().unwrap()))
        .collect();
    assert!(heard.iter().all(|heard| heard.len() == executions), "{report}");
    heard
}

#[test]
fn a_monitor_that_is_told_afterwards_hears_the_same() {
    let alone = heard(&[false], 3);
    assert!(alone[0].iter().all(|memory| memory.len() >= 5));
    assert_eq!(heard(&[true], 3), alone);
    let both = heard(&[true, false, true], 3);
    assert!(both.iter().all(|one| *one == alone[0]));
}

/// There are more events than are kept: they arrive in several pieces.
#[test]
fn what_is_kept_for_later_is_bounded() {
    let alone = heard(&[false], 70_000);
    assert!(alone[0].iter().all(|memory| memory.len() > 70_000));
    assert_eq!(heard(&[true], 70_000), alone);
}

/// A step of a task, in a random program.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize),
    Store(usize),
    Read(usize),
    Write(usize),
    /// Asks for a pointer, and writes by it or does not.
    Point(usize, bool),
    /// Reads by an address inside of a cell.
    ReadAt(usize),
    /// Uses a cell of its own, and drops it.
    Own(usize),
    /// Lets two copies of a cell end.
    Twice,
    /// Only asks for the address of a cell of its own.
    Address,
    /// Changes an atomic of its own by a unique reference.
    Change,
    /// Allocates a block, uses it, and gives it back.
    Block,
    Share,
}

fn step(random: &mut Xoshiro256PlusPlus) -> Step {
    let of = random.random_range(0..2);
    match random.random_range(0..40) {
        0..6 => Step::Load(of),
        6..12 => Step::Store(of),
        12..17 => Step::Read(of),
        17..22 => Step::Write(of),
        22..25 => Step::Point(of, random.random()),
        25..27 => Step::ReadAt(of),
        27..32 => Step::Own(random.random_range(0..4)),
        32..34 => Step::Twice,
        34..36 => Step::Address,
        36..38 => Step::Change,
        38 => Step::Block,
        _ => Step::Share,
    }
}

/// The objects that the tasks share. They race, but it is all on one thread, and of numbers.
#[derive(Default)]
struct Common {
    cells: [UnsafeCell<usize>; 2],
    places: [Cell<usize>; 2],
    atomics: [AtomicUsize; 2],
}

// SAFETY: all tasks run on one thread, one at a time.
unsafe impl Sync for Common {}

fn take(step: Step, common: &Common) {
    match step {
        Step::Load(of) => _ = common.atomics[of].load(SeqCst),
        Step::Store(of) => common.atomics[of].store(of, SeqCst),
        // SAFETY: see `Common`, here and below.
        Step::Read(of) => _ = common.cells[of].with(|at| unsafe { *at }),
        // SAFETY: as above.
        Step::Write(of) => common.cells[of].with_mut(|at| unsafe { *at += 1 }),
        Step::Point(of, writes) => {
            let at = common.cells[of].get();
            if writes {
                // SAFETY: as above.
                unsafe { *at += 1 };
            }
        }
        // SAFETY: as above.
        Step::ReadAt(of) => _ = unsafe { ptr::read(common.places[of].as_ptr()) },
        Step::Own(accesses) => {
            let own = Cell::new(0);
            (0..accesses).for_each(|number| own.set(number));
        }
        Step::Twice => {
            let own = ManuallyDrop::new(Cell::new(0));
            own.set(1);
            // SAFETY: it is a number and an identity, and nothing is freed.
            drop(unsafe { std::ptr::read(&*own) });
            drop(ManuallyDrop::into_inner(own));
        }
        Step::Address => {
            let own = Cell::new(0);
            own.as_ptr();
        }
        Step::Change => {
            let mut own = AtomicUsize::new(0);
            own.store(1, SeqCst);
            *own.get_mut() += 1;
        }
        Step::Block => {
            let layout = Layout::new::<usize>();
            // SAFETY: it has a size, and is used as a number.
            unsafe {
                let block = alloc(layout).cast::<usize>();
                ptr::write(block, 1);
                dealloc(block.cast(), layout);
            }
        }
        Step::Share => drop(Arc::new(Cell::new(1)).clone()),
    }
}

/// Numbers the locations in the order in which they are met: which of them are numbered before the first access to them
/// is not promised.
fn renumbered(mut heard: Vec<Vec<Vec<MemoryEvent>>>) -> Vec<Vec<Vec<MemoryEvent>>> {
    for memory in heard.iter_mut().flatten() {
        let mut met = Vec::new();
        for event in memory {
            let location = match &mut event.what {
                MemoryDeed::Access(access) => &mut access.location,
                MemoryDeed::Allocation(allocation) => &mut allocation.location,
                MemoryDeed::Release(release) => &mut release.location,
            };
            let known = met.iter().position(|met| met == location);
            let number = known.unwrap_or(met.len());
            if known.is_none() {
                met.push(*location);
            }
            *location = Location(number as u32);
        }
    }
    heard
}

/// Random programs with all that the log treats in its own way: pointers, addresses, cells that end twice or were never
/// accessed, and blocks, before which and after which there are cells.
#[test]
fn it_is_so_for_random_programs() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
    let (mut events, mut released) = (0, 0);
    for number in 0..300 {
        let steps: [Vec<Step>; 2] = [(); 2].map(|()| {
            (0..random.random_range(2..7))
                .map(|_| step(&mut random))
                .collect()
        });
        let reduction = ["none", "dpor"][number % 2];
        let strategy = ["dfs", "dfs", "random"][number % 3];
        let test = || {
            let common = Arc::new(Common::default());
            let (other, its) = (common.clone(), steps[1].clone());
            let task = thread::spawn(move || its.iter().for_each(|&step| take(step, &other)));
            steps[0].iter().for_each(|&step| take(step, &common));
            task.join().unwrap();
        };
        let run = |afterwards: &[bool]| {
            let mut explorer = Explorer::new().environment(Environment::calm());
            for (name, value) in [("strategy", strategy), ("executions", "60"), ("seed", "5")] {
                explorer = explorer.set(name, value);
            }
            if strategy == "dfs" {
                explorer = explorer.set("reduction", reduction);
            }
            renumbered(heard_in(explorer, afterwards, test))
        };
        let alone = run(&[false]).remove(0);
        let later = run(&[true]).remove(0);
        assert_eq!(
            later, alone,
            "program {number}, {strategy}, {reduction}: {steps:?}"
        );
        assert!(run(&[true, false]).iter().all(|one| *one == alone), "{steps:?}");
        events += alone.iter().flatten().count();
        let all = alone.iter().flatten();
        released += all
            .filter(|event| matches!(event.what, MemoryDeed::Release(_)))
            .count();
    }
    assert!(events > 50_000 && released > 5_000, "{events}, {released}");
}
