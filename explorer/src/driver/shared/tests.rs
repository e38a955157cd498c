//! The reasons for which a search ended, and its limits.

use super::*;
use crate::settings::StrategyKind;

fn limits(strategy: StrategyKind, given: &[(&str, &str)]) -> Limits {
    let mut settings = Settings {
        strategy,
        ..Settings::default()
    };
    for (name, value) in given {
        settings.set(name, value).unwrap();
    }
    Limits::of(&settings)
}

#[test]
fn every_search_has_a_limit() {
    let told = |strategy, given| {
        let limits = limits(strategy, given);
        (limits.executions, limits.time, limits.by_default)
    };
    let (dfs, auto) = (|| StrategyKind::DFS, || StrategyKind::AUTO);
    let minutes = Some(Duration::from_secs(120));
    assert_eq!(told(dfs(), &[]), (None, minutes, true));
    assert_eq!(told(auto(), &[]), (Some(50_000), minutes, true));
    assert_eq!(told(auto(), &[("time", "auto")]), (Some(50_000), minutes, true));
    // A limit that is set is the only one.
    assert_eq!(told(auto(), &[("executions", "7")]), (Some(7), None, false));
    let seconds = Some(Duration::from_secs(3));
    assert_eq!(told(auto(), &[("time", "3")]), (None, seconds, false));
    assert_eq!(
        told(dfs(), &[("time", "none")]),
        (None, Some(Duration::MAX), false)
    );
}

#[test]
fn what_is_left_of_the_limits_is_for_the_exploration_that_follows() {
    let secs = Duration::from_secs;
    let left = |given: &[(&str, &str)], executions, elapsed| {
        let mut settings = Settings {
            strategy: StrategyKind::AUTO,
            ..Settings::default()
        };
        for (name, value) in given {
            settings.set(name, value).unwrap();
        }
        limits_left(&settings, executions, elapsed, false)
    };
    assert_eq!(left(&[], 20, secs(1)), (Some(49_980), Some(secs(5))));
    assert_eq!(left(&[], 20, secs(30)).1, Some(secs(30)));
    assert_eq!(left(&[], 20, secs(80)).1, Some(secs(40)));
    assert_eq!(left(&[("time", "60")], 20, secs(1)), (None, Some(secs(59))));
    for elapsed in [46, 1_000] {
        assert_eq!(left(&[("time", "60")], 20, secs(elapsed)).1, Some(secs(15)));
    }
    let micros = Duration::from_micros(1_250_300);
    assert_eq!(
        left(&[("time", "3")], 20, micros).1,
        Some(Duration::from_millis(1_749))
    );
    // The first exploration continued beyond the default limit.
    assert_eq!(left(&[], 150_000, secs(1)).0, Some(50_000));
    assert_eq!(left(&[("executions", "60")], 70, secs(1)).0, Some(0));
    assert_eq!(left(&[("executions", "60")], 20, secs(1)), (Some(40), None));
    assert_eq!(left(&[("executions", "10")], 20, secs(1)).0, Some(0));
    let first = |strategy| {
        let given = [("strategy", strategy), ("executions", "400")];
        limits(StrategyKind::AUTO, &given).executions(true)
    };
    assert_eq!(first("auto"), Some(300));
    assert_eq!(first("auto(weak_executions=7)"), Some(393));
    assert_eq!(first("auto(weak_executions=700)"), Some(300));
}

#[test]
fn a_limit_of_which_nothing_is_left_is_named_as_one() {
    let reason = |executions| {
        let settings = Settings {
            executions: Some(executions),
            ..Settings::default()
        };
        End::Executions.reason(&settings, executions, &CutOffExecutions::default(), true)
    };
    assert_eq!(reason(3), "the limit of 3 executions was reached");
    assert!(reason(4).contains("the rest is for weak memory"));
}

#[test]
fn the_larger_limit_of_a_search_that_was_within_reach_is_named() {
    let settings = Settings {
        strategy: StrategyKind::AUTO,
        ..Settings::default()
    };
    let reason = |executions, keeps_rest| {
        End::Executions.reason(&settings, executions, &CutOffExecutions::default(), keeps_rest)
    };
    assert!(reason(50_000, false).starts_with("the limit of 50000 executions was reached"));
    assert!(reason(37_500, true).starts_with("37500 of 50000 executions"));
    assert!(reason(200_000, false).starts_with("the limit of 200000 executions was reached"));
    assert!(reason(150_000, true).starts_with("150000 of 200000 executions"));
}

#[test]
fn a_limit_that_was_not_set_says_how_to_set_one() {
    let settings = Settings::default();
    assert_eq!(
        End::Time.reason(&settings, 9, &CutOffExecutions::default(), false),
        "the limit of 120 seconds was reached, which holds where none is set (set `executions` or `time` to change it)"
    );
    let settings = Settings {
        executions: Some(9),
        ..settings
    };
    assert_eq!(
        End::Executions.reason(&settings, 9, &CutOffExecutions::default(), false),
        "the limit of 9 executions was reached"
    );
}
