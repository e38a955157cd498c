//! The cost of partial-order reduction: its executions as it finds them, and the same ones merely replayed.
//!
//! For each program the executions that it runs are recorded as schedules, which another search then prescribes one after
//! the other. The benches time both; the ratio of the two in processor time, taken by turns, is printed before.
#![allow(clippy::print_stdout, reason = "a ratio is what this bench is for")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use intermezzo::schedule::{Choice, ChoiceKind};
use intermezzo::sdk::{Context, Execution, Interests, Monitor, SyncVarOp};
use intermezzo::search::{self, ChoicePoint, Needs, Plan, SoFar, Status};
use intermezzo::trace::{Analysis, Trace};
use intermezzo::{Coverage, Environment, Explorer, Reduction, Report, Settings, Strategy};
use intermezzo_corpus::find;
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Arc, Mutex};

/// Programs of the corpus, with the values of their parameters: increments of one variable, Fibonacci numbers, many reads
/// against many stores, and a queue.
const PROGRAMS: [(&str, &[u64]); 4] = [
    ("fai-ok", &[3, 3]),
    ("fib_bench", &[4]),
    ("big0", &[]),
    ("ms-queue", &[]),
];

/// The number of turns for a ratio. It is odd, so that there is a middle one.
const TURNS: usize = 15;

/// The minimum duration of a turn.
const TURN_SECONDS: f64 = 0.02;

/// An execution's choices.
type Schedules = Arc<Vec<Vec<Choice>>>;

/// A monitor that records the tasks of the visible operations in order, execution by execution.
struct Orders(Arc<Mutex<Vec<Vec<u32>>>>);

impl Monitor for Orders {
    fn name(&self) -> &str {
        "orders"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        use SyncVarOp::{TaskBegin, TaskEnd, TaskFork, TaskJoin};
        let steps = execution
            .accesses
            .iter()
            .filter(|access| !matches!(access.op, TaskFork | TaskBegin | TaskEnd | TaskJoin));
        let order = steps.map(|access| access.event.task.0).collect();
        self.0.lock().unwrap().push(order);
    }
}

/// A strategy that runs executions by the order of their operations, and records the choices that it makes.
struct Follow {
    orders: Vec<Vec<u32>>,
    begun: bool,
    /// The number of operations of the current execution so far.
    done: usize,
    schedules: Arc<Mutex<Vec<Vec<Choice>>>>,
}

impl search::Strategy for Follow {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        let mut schedules = self.schedules.lock().unwrap();
        if self.begun {
            schedules.push(plan.choices().to_vec());
        }
        self.begun = true;
        self.done = 0;
        plan.truncate(0);
        schedules.len() < self.orders.len()
    }
    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        assert_eq!(point.kind, ChoiceKind::Task, "these programs choose nothing else");
        let order = &self.orders[self.schedules.lock().unwrap().len()];
        let task = *order.get(self.done)?;
        self.done += 1;
        (0..point.alternatives).find(|&one| point.task(one).is_some_and(|other| other.0 == task))
    }
    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            analysis: Analysis::Races,
            ..Needs::default()
        }
    }
    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 0 }
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("follow")
    }
}

/// A strategy that runs these schedules, one after the other, without a search.
struct Again {
    schedules: Schedules,
    begun: usize,
}

impl search::Strategy for Again {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        let Some(schedule) = self.schedules.get(self.begun) else {
            return false;
        };
        self.begun += 1;
        plan.replace(schedule);
        true
    }
    fn choose(&mut self, _: &ChoicePoint<'_>) -> Option<u32> {
        None
    }
    fn needs(&self) -> Needs {
        Needs {
            scope: false,
            ..Needs::default()
        }
    }
    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Sampled { executions: 0 }
    }
    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("again")
    }
}

/// A program, with the executions of it that the reduction runs.
struct Recorded {
    name: String,
    body: fn(&[u64]),
    values: &'static [u64],
    schedules: Schedules,
}

impl Recorded {
    fn new(name: &str, values: &'static [u64]) -> Recorded {
        let body = find(name).expect("a program of the corpus").body;
        let test = move || body(values);
        let orders = Arc::default();
        let found = reduced().monitor(Orders(Arc::clone(&orders))).explore(test);
        assert_eq!(found.coverage(), &Coverage::Exhaustive, "{found}");
        let schedules = Arc::default();
        let follow = Follow {
            orders: std::mem::take(&mut *orders.lock().unwrap()),
            begun: false,
            done: 0,
            schedules: Arc::clone(&schedules),
        };
        let followed = calm(Reduction::None)
            .strategy(Strategy::custom(follow))
            .explore(test);
        assert_same(&found, &followed);
        let schedules = Arc::new(std::mem::take(&mut *schedules.lock().unwrap()));
        let recorded = Recorded {
            name: format!("{name}{values:?}, {} executions", schedules.len()),
            body,
            values,
            schedules,
        };
        assert_same(&found, &recorded.replay());
        recorded
    }

    fn reduce(&self) -> Report {
        reduced().explore(|| (self.body)(self.values))
    }

    fn replay(&self) -> Report {
        let again = Again {
            schedules: self.schedules.clone(),
            begun: 0,
        };
        calm(Reduction::None)
            .strategy(Strategy::custom(again))
            .explore(|| (self.body)(self.values))
    }

    /// Returns the ratio of the reduction's time to that of a replay of its executions: the least, the median and the
    /// greatest of several turns.
    fn ratio(&self) -> [f64; 3] {
        let seconds = |run: &dyn Fn() -> Report, times: u32| {
            let began = processor_seconds();
            (0..times).for_each(|_| drop(run()));
            processor_seconds() - began
        };
        let times = (TURN_SECONDS / seconds(&|| self.reduce(), 1)).ceil() as u32;
        let turn = |_| seconds(&|| self.reduce(), times) / seconds(&|| self.replay(), times);
        let mut ratios: Vec<f64> = (0..TURNS).map(turn).collect();
        ratios.sort_by(f64::total_cmp);
        [ratios[0], ratios[TURNS / 2], ratios[TURNS - 1]]
    }
}

/// Returns the processor time of all threads of the process. Time on the wall clock includes that of other programs.
fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn calm(reduction: Reduction) -> Explorer {
    Explorer::with_settings(Settings {
        reduction,
        environment: Environment::calm(),
        ..Settings::default()
    })
}

fn reduced() -> Explorer {
    calm(Reduction::Dpor)
}

/// Asserts that both ran the same executions, each of a trace of its own.
fn assert_same(found: &Report, again: &Report) {
    assert_eq!(found.traces(), Some(found.executions()), "{found}");
    assert_eq!(again.executions(), found.executions(), "{again}");
    assert_eq!(again.traces(), found.traces(), "{again}");
}

fn reduction(c: &mut Criterion) {
    for (name, values) in PROGRAMS {
        let recorded = Recorded::new(name, values);
        let [least, middle, most] = recorded.ratio();
        println!(
            "{}: dpor takes {middle:.2} ({least:.2} to {most:.2}) times as long as a replay of its executions",
            recorded.name
        );
        let mut group = c.benchmark_group(&recorded.name);
        group
            .sample_size(10)
            .throughput(Throughput::Elements(recorded.schedules.len() as u64));
        group.bench_function("dpor", |bencher| bencher.iter(|| recorded.reduce()));
        group.bench_function("replay", |bencher| bencher.iter(|| recorded.replay()));
        group.finish();
    }
}

criterion_group!(benches, reduction);
criterion_main!(benches);
