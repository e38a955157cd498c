//! Plugins that ask for variables by the names that the author of the test gave them.

use crate::build::{c, rust};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Condvar, Mutex};
use intermezzo_explorer::{Explorer, Plugin, Report, name, thread};
use std::path::Path;
use std::sync::OnceLock;

struct Shared {
    registry: Mutex<Vec<u32>>,
    epoch: AtomicUsize,
    changed: Condvar,
}

impl Shared {
    fn new() -> Arc<Shared> {
        Arc::new(Shared {
            registry: Mutex::new(Vec::new()),
            epoch: AtomicUsize::new(0),
            changed: Condvar::new(),
        })
    }

    fn add(&self) {
        self.registry.lock().unwrap().push(1);
        self.epoch.fetch_add(1, SeqCst);
        self.changed.notify_all();
    }

    fn add_while_held(&self) {
        let mut entries = self.registry.lock().unwrap();
        self.epoch.fetch_add(1, SeqCst);
        entries.push(1);
    }

    /// A task that waits holds nothing.
    fn wait(&self) {
        let entries = self.registry.lock().unwrap();
        let entries = self
            .changed
            .wait_while(entries, |entries| entries.is_empty())
            .unwrap();
        drop(entries);
        self.epoch.load(SeqCst);
    }
}

fn plugins() -> [&'static Path; 2] {
    static BUILT: OnceLock<[std::path::PathBuf; 2]> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        [
            c(
                "held-while-c",
                include_str!("../../../examples/monitors/held_while.c"),
                &[],
            ),
            rust(
                "held-while",
                include_str!("../../../examples/monitors/held_while.rs"),
            ),
        ]
    });
    [&built[0], &built[1]]
}

/// Explores the test with each of the plugins.
fn each(arguments: &str, test: fn()) -> [Report; 2] {
    plugins().map(|library| {
        let plugin = Plugin::load_with(library, arguments).unwrap();
        Explorer::new().monitor(plugin).explore(test)
    })
}

#[test]
fn no_task_may_hold_the_registry_while_touching_the_epoch() {
    let wrong = || {
        let shared = Shared::new();
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.add_while_held()
        });
        shared.add();
        other.join().unwrap();
    };
    for report in each("registry,epoch", wrong) {
        let [finding] = report.findings() else {
            panic!("{report}")
        };
        assert_eq!(finding.kind.as_str(), "plugin/held-while");
        assert_eq!(
            finding.lines(),
            ["task 1 holds `registry` while touching `epoch`"],
            "{report}"
        );
    }
    // The names decide.
    for report in each("epoch,registry", wrong) {
        assert!(report.verdict().is_pass(), "{report}");
    }
    let right = || {
        let shared = Shared::new();
        let other = thread::spawn({
            let shared = shared.clone();
            move || shared.wait()
        });
        shared.add();
        other.join().unwrap();
    };
    for report in each("registry,epoch", right) {
        assert!(report.verdict().is_pass(), "{report}");
    }
}

/// The source shows no name of either.
#[test]
fn a_name_that_the_test_gives_is_known_to_plugins() {
    fn locked(locks: &[Mutex<u32>], counters: &[AtomicUsize]) {
        let run = |lock: &Mutex<u32>, counter: &AtomicUsize| {
            let _held = lock.lock().unwrap();
            counter.fetch_add(1, SeqCst);
        };
        run(&locks[0], &counters[0]);
    }
    for report in each("registry,epoch", || {
        let (locks, counters) = ([Mutex::new(0)], [AtomicUsize::new(0)]);
        locked(&locks, &counters);
    }) {
        assert!(report.verdict().is_pass(), "{report}");
    }
    for report in each("registry,epoch", || {
        let (locks, counters) = ([Mutex::new(0)], [AtomicUsize::new(0)]);
        name(&locks[0], "registry");
        name(&counters[0], "epoch");
        locked(&locks, &counters);
    }) {
        assert_eq!(
            report.findings()[0].lines(),
            ["main holds `registry` while touching `epoch`"]
        );
    }
}

#[test]
fn arguments_without_two_names_are_refused() {
    for library in plugins() {
        let error = Plugin::load_with(library, "registry").unwrap_err().to_string();
        assert!(error.contains("as in `registry,epoch`"), "{error}");
    }
}
