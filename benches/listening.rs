//! Instructions that monitors cost in each execution, counted by callgrind, which must be installed.
//!
//! `cargo bench --bench listening` prints the table of `docs/BENCHMARKS.md`. It runs this binary under callgrind twice
//! for each program, reduction and set of monitors, with few and with more executions. The difference excludes the
//! fixed costs of an exploration. `cargo bench --bench listening -- counter` measures the programs whose names contain
//! this.
//!
//! To look into one of them, run the binary with `run`, a program, a reduction, a set of monitors and a number of executions:
//! `valgrind --tool=callgrind target/release/deps/listening-* run "ring(7)" dpor data-race 2000`.
#![allow(clippy::print_stdout, reason = "a table is what this bench is for")]

use intermezzo::cell::{ByPointer, UnsafeCell};
use intermezzo::monitors::{by_name, names};
use intermezzo::sdk::{Interests, Monitor};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering};
use intermezzo::{Environment, Explorer, Settings, thread};
use std::sync::Arc;

mod callgrind;
#[allow(dead_code, unreachable_pub, reason = "it is another package's")]
#[path = "peers/src/case.rs"]
mod case;
#[allow(dead_code, unreachable_pub, reason = "it is another package's")]
#[path = "peers/src/kernels.rs"]
mod kernels;
#[allow(dead_code, unreachable_pub, reason = "it is another package's")]
#[path = "peers/src/outcomes.rs"]
mod outcomes;

use callgrind::instructions;
use case::{Case, Kernel};

/// A ring for one producer and one consumer, with several cells to an item.
struct Ring {
    /// Items taken, and items added.
    head: AtomicUsize,
    tail: AtomicUsize,
    slots: [[UnsafeCell<usize>; CELLS]; CAPACITY],
}

const CELLS: usize = 4;
const CAPACITY: usize = 2;

// SAFETY: a slot is written while it is outside head..tail, by the producer, and read while it is inside, by the consumer.
unsafe impl Sync for Ring {}

impl Ring {
    fn push(&self, value: usize) {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail - self.head.load(Ordering::Acquire) < CAPACITY {
            for cell in &self.slots[tail % CAPACITY] {
                // SAFETY: the consumer is done with this slot.
                cell.with_mut(|at| unsafe { *at = value });
            }
            self.tail.store(tail + 1, Ordering::Release);
        }
    }

    fn pop(&self) -> usize {
        let head = self.head.load(Ordering::Relaxed);
        if head == self.tail.load(Ordering::Acquire) {
            return 0;
        }
        let cells = self.slots[head % CAPACITY].iter();
        // SAFETY: the producer is done with this slot.
        let sum = cells.map(|cell| cell.with(|at| unsafe { *at })).sum();
        self.head.store(head + 1, Ordering::Release);
        sum
    }
}

/// One task pushes `items` items and another takes as many, as far as there is room and there are any.
fn ring(items: usize) {
    let ring = Arc::new(Ring {
        head: AtomicUsize::new(0),
        tail: AtomicUsize::new(0),
        slots: [(); CAPACITY].map(|()| [(); CELLS].map(|()| UnsafeCell::new(0))),
    });
    let producer = {
        let ring = ring.clone();
        thread::spawn(move || (1..=items).for_each(|item| ring.push(item)))
    };
    (0..items).for_each(|_| {
        ring.pop();
    });
    producer.join().unwrap();
}

/// The programs: three without plain memory, and one with more accesses to it than to atomics.
const PROGRAMS: [(&str, fn()); 4] = [
    ("counter(3,3)", || {
        kernels::run(Case::new(Kernel::Counter, 3, 3));
    }),
    ("michael_scott(3,1)", || {
        kernels::run(Case::new(Kernel::MichaelScott, 3, 1));
    }),
    ("big0", || {
        kernels::run(Case::new(Kernel::Big0, 4, 1));
    }),
    ("ring(7)", || ring(7)),
];

/// Sets of monitors. `events` wants every visible operation, `idle` everything; they do nothing with it.
const SETS: [&str; 8] = [
    "none",
    "nothing",
    "events",
    "idle",
    "misuse",
    "leak",
    "data-race",
    "data-race;leak;misuse",
];

/// The numbers of executions of the two runs whose difference is taken.
const FEW: u64 = 200;
const MANY: u64 = 1_200;

/// A monitor that does nothing with its calls.
struct Idle(Interests);

impl Monitor for Idle {
    fn name(&self) -> &str {
        "idle"
    }
    fn interests(&self) -> Interests {
        self.0
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
}

fn run(program: &str, reduction: &str, monitors: &str, executions: &str) {
    let mut settings = Settings {
        environment: Environment::calm(),
        ..Settings::default()
    };
    // The setting edits what is on by default.
    let shipped = match monitors {
        "none" | "nothing" | "events" | "idle" => "none".to_owned(),
        shipped => format!("none;{shipped}"),
    };
    for (key, value) in [
        ("reduction", reduction),
        ("executions", executions),
        ("monitors", shipped.as_str()),
    ] {
        settings.set(key, value).unwrap();
    }
    let explorer = Explorer::with_settings(settings).monitors_by_name(by_name, names());
    let explorer = match monitors {
        "idle" => explorer.monitor(Idle(Interests::ALL)),
        "nothing" => explorer.monitor(Idle(Interests::NONE)),
        "events" => explorer.monitor(Idle(Interests::SYNC_ACCESSES)),
        _ => explorer,
    };
    let (_, test) = PROGRAMS
        .iter()
        .find(|(name, _)| *name == program)
        .expect("a program");
    let report = explorer.explore(test);
    assert!(report.findings().is_empty(), "{report}");
    assert_eq!(report.executions().to_string(), executions, "{report}");
    assert_eq!(report.reduction(), reduction, "{report}");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, program, reduction, monitors, executions] = &arguments[..]
        && command == "run"
    {
        return run(program, reduction, monitors, executions);
    }
    // `cargo test` runs it, too.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let filter = arguments.iter().find(|argument| *argument != "--bench");
    println!("| program, reduction | {} |", SETS.join(" | "));
    println!("|---|{}", "---|".repeat(SETS.len()));
    for (program, _) in PROGRAMS {
        if filter.is_some_and(|filter| !program.contains(filter.as_str())) {
            continue;
        }
        for reduction in ["none", "dpor"] {
            let mut off = None;
            let columns = SETS.map(|monitors| {
                let [few, many] = [FEW, MANY].map(|executions| {
                    instructions(&["run", program, reduction, monitors, &executions.to_string()])
                });
                let each = (many - few) / (MANY - FEW) as f64;
                let off = *off.get_or_insert(each);
                format!("{each:.0} ({:.2})", each / off)
            });
            println!("| {program}, {reduction} | {} |", columns.join(" | "));
        }
    }
}
