//! The build that a crate gets which is patched to use this package: it explores, and what it is built without is
//! refused by the name of the feature.
#![cfg(not(any(feature = "full", feature = "checkpoint")))]

use intermezzo::baseline::Baseline;
use intermezzo::settings::Config;
use intermezzo::{Explorer, Plugin, Schedule, Settings};
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::SeqCst;
use loom::thread;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Two tasks that add one, with a load and a store each.
fn lost_update() {
    let n = Arc::new(AtomicUsize::new(0));
    let add = |n: &AtomicUsize| n.store(n.load(SeqCst) + 1, SeqCst);
    let other = n.clone();
    let task = thread::spawn(move || add(&other));
    add(&n);
    task.join().unwrap();
    assert_eq!(n.load(SeqCst), 2, "an update is lost");
}

/// Returns the settings with these values.
fn settings(values: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in values {
        settings.set(name, value).unwrap();
    }
    settings
}

/// Returns the reason why nothing is explored with these settings.
fn refusal(values: &[(&str, &str)]) -> String {
    let explored = Explorer::with_settings(settings(values)).try_explore(lost_update);
    explored.expect_err("it is refused").to_string()
}

#[test]
fn a_model_fails_with_its_report() {
    let failed = std::panic::catch_unwind(|| loom::model(lost_update)).unwrap_err();
    let report = failed.downcast_ref::<String>().expect("a report is a text");
    assert!(report.contains("an update is lost"), "{report}");
}

#[test]
fn findings_replay_by_their_tokens() {
    for jobs in ["1", "2"] {
        let report = Explorer::with_settings(settings(&[("jobs", jobs)])).explore(lost_update);
        let token = report.findings()[0].schedule.token();
        let replayed = Explorer::new()
            .replay(Schedule::from_token(&token).unwrap())
            .explore(lost_update);
        assert!(replayed.verdict().is_fail(), "{replayed}");
    }
}

#[test]
fn monitors_that_are_left_out_are_refused() {
    let refused = refusal(&[("monitors", "lock-order")]);
    assert!(refused.contains("enable its feature `all-monitors`"), "{refused}");
}

#[test]
fn searches_that_are_left_out_are_refused() {
    for strategy in [
        "ranked",
        "maple",
        "best-first",
        "dfs(delays=1)",
        "dfs(depth=9)",
        "pct-all",
        "pctvb",
        "portfolio(pos,pctvb)",
    ] {
        let refused = refusal(&[("strategy", strategy)]);
        assert!(refused.contains("enable its feature `all-searches`"), "{refused}");
    }
    let refused = refusal(&[("iroots", "true")]);
    assert!(refused.contains("enable its feature `all-searches`"), "{refused}");
    for named in ["best-first(rare)", "maple(target=12345678)"] {
        let refused = Settings::default()
            .set("strategy", named)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("enable its feature `all-searches`"), "{refused}");
    }
    for strategy in ["auto", "dfs", "random", "pct(2)", "portfolio(pos,surw)"] {
        let report = Explorer::with_settings(settings(&[("strategy", strategy), ("executions", "99")]))
            .explore(lost_update);
        assert!(report.verdict().is_fail(), "{strategy}: {report}");
    }
}

#[test]
fn plugins_are_refused() {
    let refused = Plugin::load("libany.so").expect_err("it is refused").to_string();
    assert!(refused.contains("enable its feature `plugins`"), "{refused}");
}

#[test]
fn configuration_files_are_refused() {
    let path = Path::new("intermezzo.toml");
    for refused in [
        Config::parse(path, "executions = 1").unwrap_err(),
        Baseline::parse(path, "").unwrap_err(),
    ] {
        let refused = refused.to_string();
        assert!(refused.starts_with("intermezzo.toml: "), "{refused}");
        assert!(refused.contains("enable its feature `config-files`"), "{refused}");
    }
}

#[test]
fn files_of_json_are_refused() {
    let schedule = Schedule::from_json("{}").unwrap_err().to_string();
    for refused in [
        refusal(&[("checkpoint", "never-written")]),
        refusal(&[("strategy", "maple(memo=never-written)")]),
        schedule,
    ] {
        assert!(refused.contains("enable its feature `files`"), "{refused}");
    }
    assert!(!Path::new("never-written").exists());
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[expect(clippy::missing_spin_loop, reason = "with a hint it would be no hang")]
fn a_hang_is_found_without_its_place() {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let report =
        Explorer::with_settings(settings(&[("hang", "0.5")])).explore(|| while !NEVER.load(Relaxed) {});
    let finding = &report.findings()[0].message;
    assert!(finding.contains("without a visible operation"), "{finding}");
    assert!(finding.contains("feature `hang-places` is off"), "{finding}");
}
