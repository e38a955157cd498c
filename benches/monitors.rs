//! What monitors cost: the same exploration without any, with one that wants nothing, and with each that there is.
//!
//! A monitor is one more row of `ROWS`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use intermezzo::monitors::DataRaces;
use intermezzo::sdk::{Interests, Monitor};
use intermezzo::{Environment, Explorer};
use intermezzo_corpus::parse_full_name;

/// A name, and what attaches the monitor.
type Row = (&'static str, fn(Explorer) -> Explorer);

const ROWS: [Row; 3] = [
    ("no monitor", |explorer| explorer),
    ("a monitor without interests", |explorer| {
        explorer.monitor(Indifferent)
    }),
    ("data-race", |explorer| explorer.monitor(DataRaces::new())),
];

struct Indifferent;

impl Monitor for Indifferent {
    fn name(&self) -> &str {
        "indifferent"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
}

/// Tasks that work on memory of their own, and learn of each other by atomics: what is explored, with its executions.
const PROGRAM: &str = "tickets-plain,tasks=4";
const EXECUTIONS: u64 = 2_520;

fn monitored(c: &mut Criterion) {
    let (program, arguments) = parse_full_name(PROGRAM).expect("it is in the corpus");
    let mut group = c.benchmark_group(PROGRAM);
    group.sample_size(20).throughput(Throughput::Elements(EXECUTIONS));
    for (name, attach) in ROWS {
        group.bench_function(name, |b| {
            b.iter(|| {
                let explorer = Explorer::new().environment(Environment::calm());
                let report = attach(explorer).explore(program.test(&arguments));
                assert_eq!(report.executions(), EXECUTIONS, "{report}");
                assert!(report.verdict().is_pass(), "{report}");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, monitored);
criterion_main!(benches);
