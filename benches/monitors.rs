//! The costs of monitors: the same exploration without any, with one that wants nothing, and with each that ships,
//! built in and as a plugin. (The plugins are built first, next to the bench.)

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use intermezzo::monitors::{SHIPPED, by_name, names};
use intermezzo::sdk::{Interests, Monitor};
use intermezzo::{Environment, Explorer, Plugin, Settings};
use intermezzo_corpus::parse_full_name;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::process::Command;

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

/// A program whose tasks work on their own memory, and learn of each other through atomics; and the number of its
/// executions.
const PROGRAM: &str = "tickets-plain,tasks=4";
const EXECUTIONS: u64 = 2_520;

/// Returns the plugin of the monitor with this name, built with the bench's own profile.
fn plugin(name: &str) -> Plugin {
    let executable = std::env::current_exe().expect("the bench is a file");
    let built = executable
        .ancestors()
        .nth(2)
        .expect("the bench is in target/release/deps");
    let target = built.parent().expect("target/release is in target");
    let cargo = std::env::var_os("CARGO").expect("cargo runs the bench");
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--package"])
        .arg(format!("intermezzo-{name}"))
        .arg("--target-dir")
        .arg(target)
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{name} is built");
    let library = format!("{DLL_PREFIX}intermezzo_{}{DLL_SUFFIX}", name.replace('-', "_"));
    Plugin::load(built.join(library)).unwrap_or_else(|error| panic!("{error}"))
}

fn monitored(c: &mut Criterion) {
    let (program, arguments) = parse_full_name(PROGRAM).expect("it is in the corpus");
    let mut group = c.benchmark_group(PROGRAM);
    group.sample_size(20).throughput(Throughput::Elements(EXECUTIONS));
    let mut row = |name: &str, attach: &dyn Fn(Explorer) -> Explorer| {
        group.bench_function(name, |b| {
            b.iter(|| {
                let explorer = Explorer::new().environment(Environment::calm());
                let report = attach(explorer).explore(program.test(&arguments));
                assert_eq!(report.executions(), EXECUTIONS, "{report}");
                assert!(report.verdict().is_pass(), "{report}");
            });
        });
    };
    row("no monitor", &|explorer| explorer);
    row("a monitor without interests", &|explorer| {
        explorer.monitor(Indifferent)
    });
    // The cost of the log is that of its file.
    for shipped in SHIPPED.iter().filter(|shipped| shipped.name != "event-log") {
        let name = shipped.name;
        row(name, &|_| {
            let mut settings = Settings::default();
            settings.set("monitors", name).expect("it ships");
            settings.environment = Environment::calm();
            Explorer::with_settings(settings).monitors_by_name(by_name, names())
        });
        let plugin = plugin(name);
        row(&format!("{name}, plugin"), &|explorer| {
            explorer.monitor(plugin.another().expect("it was loaded before"))
        });
    }
    group.finish();
}

criterion_group!(benches, monitored);
criterion_main!(benches);
