//! Plugins in use.

use crate::build::{c_plugin, c_plugin_of_version_5, c_plugin_of_version_6, rust_plugin, shipped};
use intermezzo_explorer::sync::{Arc, Mutex, atomic::AtomicUsize, atomic::Ordering::SeqCst};
use intermezzo_explorer::{Environment, Explorer, Plugin, Report, Settings, thread};
use std::path::Path;

fn two_tasks() {
    let n = AtomicUsize::new(0);
    thread::scope(|s| {
        s.spawn(|| n.store(1, SeqCst));
        intermezzo_explorer::event("said");
        n.load(SeqCst);
    });
}

fn messages(report: &Report) -> Vec<&str> {
    report
        .findings()
        .iter()
        .map(|finding| finding.message.as_str())
        .collect()
}

#[test]
fn a_plugin_in_c_gets_all_events_and_answers() {
    hears_and_asks_everything(c_plugin());
}

#[test]
fn a_plugin_of_an_older_version_gets_all_events_and_answers() {
    for library in [c_plugin_of_version_5(), c_plugin_of_version_6()] {
        hears_and_asks_everything(library);
    }
}

#[test]
fn a_plugin_that_follows_stale_reads_gets_the_store_that_is_read() {
    let explore = |library: &Path| {
        let plugin = Plugin::load(library).unwrap();
        let environment = Environment {
            stale_reads: 1,
            ..Environment::calm()
        };
        let explorer = Explorer::new().environment(environment).keep_going(true);
        explorer.monitor(plugin).try_explore(two_tasks)
    };
    let report = explore(c_plugin()).unwrap();
    let stale = messages(&report)
        .into_iter()
        .filter(|message| message.ends_with(", stale"));
    assert_eq!(stale.count(), 1, "{report}");
    assert!(Plugin::try_out(c_plugin(), "").unwrap().follows_stale_reads);
    assert_eq!(messages(&explore(rust_plugin()).unwrap()), ["8 accesses"]);
    // The other plugins declare that they follow stale reads, or have a version without them.
    assert!(explore(&shipped("intermezzo-lock-order")).is_ok());
    for refused in [
        c_plugin_of_version_5(),
        c_plugin_of_version_6(),
        &shipped("intermezzo-stale-load"),
    ] {
        let error = explore(refused).unwrap_err().to_string();
        assert!(
            error.contains("needs every load to read the last store"),
            "{error}"
        );
        assert!(!Plugin::try_out(refused, "").unwrap().follows_stale_reads);
    }
}

fn hears_and_asks_everything(library: &Path) {
    let plugin = Plugin::load(library).unwrap();
    assert_eq!(plugin.plugin_version(), Some("0.0.7"));
    let report = Explorer::new()
        .keep_going(true)
        .monitor(plugin)
        .explore(two_tasks);
    assert!(report.verdict().is_fail());
    let [first, ..] = messages(&report)[..] else {
        panic!("{report}")
    };
    assert!(first.starts_with("begun 1, points 1, accesses 8, "), "{first}");
    assert!(first.ends_with(", said 1, complete 1"), "{first}");
    let tried = Plugin::try_out(library, "").unwrap();
    assert_eq!(tried.name, "counted");
    assert_eq!(tried.interests, 127);
    assert!(tried.reduction_compatible && tried.complaints.is_empty());
}

#[test]
fn callbacks_may_be_null() {
    let library = c_plugin();
    let plugin = Plugin::load_with(library, "callbacks are null").unwrap();
    let report = Explorer::new().monitor(plugin).explore(two_tasks);
    assert!(report.verdict().is_pass(), "{report}");
}

#[test]
fn a_plugin_in_rust_gets_all_events_and_its_panic_is_a_finding() {
    let library = rust_plugin();
    let plugin = Plugin::load(library).unwrap();
    assert_eq!(plugin.plugin_version(), Some("3.2.1"));
    let report = Explorer::new().monitor(plugin).explore(two_tasks);
    assert_eq!(messages(&report), ["8 accesses"]);

    let plugin = Plugin::load_with(library, "3").unwrap();
    let report = Explorer::new()
        .keep_going(true)
        .monitor(plugin)
        .explore(two_tasks);
    let [message] = messages(&report)[..] else {
        panic!("{report}")
    };
    let said = "the monitor `counted-in-rust` panicked in `on_sync_var_access`: number 3 (src/lib.rs:";
    assert!(message.starts_with(said), "{message}");
    assert_eq!(report.findings()[0].kind.as_str(), "plugin/counted-in-rust");
    // It was not called again, and the exploration continued.
    assert!(report.executions() > 1, "{report}");

    let tried = Plugin::try_out(library, "3").unwrap();
    assert!(tried.complaints[0].starts_with(said), "{tried:?}");
    let error = Plugin::load_with(library, "panic").unwrap_err().to_string();
    assert!(
        error.contains("its constructor panicked: on purpose (src/lib.rs:"),
        "{error}"
    );
    let error = Plugin::load_with(library, "three").unwrap_err().to_string();
    assert!(
        error.ends_with("the monitor could not be made: `three` is not a number"),
        "{error}"
    );
}

#[test]
fn each_worker_has_a_monitor_of_its_own() {
    let settings = Settings {
        jobs: 2,
        keep_going: true,
        ..Settings::default()
    };
    let explore = |monitors: &str| {
        let mut settings = settings.clone();
        settings.set("monitors", monitors).unwrap();
        Explorer::with_settings(settings).try_explore(two_tasks)
    };
    let library = rust_plugin().to_str().unwrap();
    assert_eq!(messages(&explore(library).unwrap()), ["8 accesses"]);
    for (monitors, says) in [
        (
            format!("{library};{library}"),
            "are the same monitor, `counted-in-rust`",
        ),
        ("no-such-monitor".into(), "no plugin of that name"),
        (format!("{library}:x"), "`x` is not a number"),
    ] {
        let error = explore(&monitors).unwrap_err().to_string();
        assert!(
            error.starts_with("setting `monitors`: ") && error.contains(says),
            "{error}"
        );
    }
}

#[test]
fn a_plugin_is_found_by_its_name() {
    let library = shipped("intermezzo-lock-order");
    // Test binaries are in `deps`, one level below.
    assert_eq!(Plugin::find("intermezzo-lock-order").unwrap(), library);
    assert_eq!(Plugin::find("./some.path").unwrap().to_str(), Some("./some.path"));
    let settings = {
        let mut settings = Settings::default();
        settings.set("monitors", "intermezzo-lock-order").unwrap();
        settings
    };
    let explorer = Explorer::with_settings(settings).keep_going(true);
    let report = explorer.explore(|| {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let other = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || drop((a.lock(), b.lock()))
        });
        drop((b.lock(), a.lock()));
        other.join().unwrap();
    });
    let kinds: Vec<_> = report
        .findings()
        .iter()
        .map(|finding| finding.kind.as_str())
        .collect();
    assert!(kinds.contains(&"lock_order".into()), "{report}");
}
