//! The reasons for which a search ended, and its limits.

use super::*;

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
    let (dfs, auto) = (|| StrategyKind::DFS, || StrategyKind::Auto);
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
fn a_limit_that_was_not_set_says_how_to_set_one() {
    let settings = Settings::default();
    assert_eq!(
        End::Time.reason(&settings, 9, &CutOffExecutions::default()),
        "the limit of 120 seconds was reached, which holds where none is set (set `executions` or `time` to change it)"
    );
    let settings = Settings {
        executions: Some(9),
        ..settings
    };
    assert_eq!(
        End::Executions.reason(&settings, 9, &CutOffExecutions::default()),
        "the limit of 9 executions was reached"
    );
}
