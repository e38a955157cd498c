//! The time that the engine takes: whole explorations, and its parts.
//!
//! Divide by the executions or points given in each name. For comparisons with other tools see `peers/`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use intermezzo::sdk::{Interests, Monitor};
use intermezzo::search::{self, ChoicePoint, Plan, SoFar, Status};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::trace::Trace;
use intermezzo::{Coverage, Environment, Explorer, Strategy, thread};
use std::sync::Arc;

/// `tasks` tasks that each increment one atomic `increments` times, joined by main.
fn counter(tasks: usize, increments: usize) {
    let n = Arc::new(AtomicUsize::new(0));
    let spawn = |_| {
        let n = n.clone();
        thread::spawn(move || {
            for _ in 0..increments {
                n.fetch_add(1, SeqCst);
            }
        })
    };
    let handles: Vec<_> = (0..tasks).map(spawn).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

/// `tasks` tasks that each take one lock `sections` times.
fn locked(tasks: usize, sections: usize) {
    let n = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..tasks {
            scope.spawn(|| {
                for _ in 0..sections {
                    *n.lock().unwrap() += 1;
                }
            });
        }
    });
}

/// A strategy that runs the default execution this many times: the engine without a search.
struct Repeat(u64);

impl search::Strategy for Repeat {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        plan.truncate(0);
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        Some(0)
    }
    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 0 }
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("repeat")
    }
}

/// A monitor that wants everything and does nothing with it.
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

fn explorer() -> Explorer {
    Explorer::new().environment(Environment::calm()).monitors("none")
}

/// Explores once, and asserts the number of executions in the name.
fn explored(explorer: Explorer, executions: u64, test: impl Fn() + Send + Sync) {
    let report = explorer.explore(test);
    assert_eq!(report.executions(), executions, "{report}");
}

/// The executions of the benches that repeat one: enough to make the set-up negligible.
const REPEATED: u64 = 10_000;

fn depth_first(c: &mut Criterion) {
    let mut group = c.benchmark_group("depth first");
    group.sample_size(20);
    for (tasks, increments, executions) in [(3, 2, 90), (3, 3, 1_680), (3, 4, 34_650)] {
        group.throughput(Throughput::Elements(executions));
        group.bench_function(
            format!("counter {tasks}x{increments}, {executions} executions"),
            |b| {
                b.iter(|| explored(explorer(), executions, || counter(tasks, increments)));
            },
        );
    }
    group.throughput(Throughput::Elements(90));
    group.bench_function("locked 3x2, 90 executions", |b| {
        b.iter(|| explored(explorer(), 90, || locked(3, 2)));
    });
    group.finish();
}

fn repeated(c: &mut Criterion) {
    let mut group = c.benchmark_group("one execution");
    group.sample_size(20).throughput(Throughput::Elements(REPEATED));
    for (tasks, increments) in [(0, 0), (3, 0), (3, 2), (1, 100)] {
        group.bench_function(format!("counter {tasks}x{increments}"), |b| {
            b.iter(|| {
                let strategy = Strategy::custom(Repeat(REPEATED + 1));
                explored(explorer().strategy(strategy), REPEATED, || {
                    counter(tasks, increments)
                });
            });
        });
    }
    group.finish();
}

fn monitored(c: &mut Criterion) {
    let mut group = c.benchmark_group("monitor that does nothing");
    group.sample_size(20).throughput(Throughput::Elements(1_680));
    for (name, interests) in [
        ("not interested", Interests::NONE),
        ("interested in everything", Interests::ALL),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| explored(explorer().monitor(Idle(interests)), 1_680, || counter(3, 3)));
        });
    }
    group.finish();
}

criterion_group!(benches, depth_first, repeated, monitored);
criterion_main!(benches);
