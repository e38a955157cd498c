//! The quality of estimates, compared with the true numbers of executions of programs of the corpus.

use intermezzo::{Estimate, Explorer, Reduction, Report, Settings, Strategy};
use intermezzo_corpus::{Program, find};
use std::sync::{Arc, Mutex};

/// A change to the exploration of a program.
type Change = fn(Explorer) -> Explorer;

/// Every search that ends by itself.
const SEARCHES: &[(&str, Change)] = &[
    ("dfs", |explorer| explorer),
    ("bounded", |explorer| explorer.preemptions(2)),
    ("caching", |explorer| explorer.reduction(Reduction::Caching)),
    ("bounded caching", |explorer| {
        explorer.reduction(Reduction::Caching).preemptions(2)
    }),
    ("source-dpor", |explorer| {
        explorer.reduction(Reduction::SourceDpor)
    }),
    ("dpor", |explorer| explorer.reduction(Reduction::Dpor)),
    ("bounded dpor", |explorer| {
        explorer.reduction(Reduction::Dpor).preemptions(2)
    }),
];

fn search(name: &str) -> Change {
    SEARCHES.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Explores all of a program, beyond findings and without bounds, except as changed.
fn explored(name: &str, change: impl Fn(Explorer) -> Explorer) -> Report {
    let program: &Program = find(name).unwrap_or_else(|| panic!("{name} is in the corpus"));
    let arguments = program.arguments::<&str>(&[]).unwrap();
    let settings = Settings {
        preemptions: None,
        executions: None,
        keep_going: true,
        minimise: 0,
        ..program.settings()
    };
    change(program.explorer(settings, &arguments).monitors("none")).explore(program.test(&arguments))
}

fn estimate(report: &Report) -> Estimate {
    *report
        .estimate()
        .unwrap_or_else(|| panic!("no estimate: {report}"))
}

/// Estimates after a thousand executions, of up to fifty times that number.
#[test]
fn estimates_after_a_thousand_executions_are_within_a_factor() {
    for (name, searching, factor) in [
        ("CVE-2016-1972", "dfs", 2.5),
        ("aget-bug2", "dfs", 2.5),
        ("arithmetic_prog_bad", "dfs", 2.5),
        ("bounded_ring", "dfs", 2.5),
        ("cp-fs", "dfs", 2.5),
        ("din_phil4_sat", "bounded", 2.5),
        ("din_phil5_sat", "bounded", 2.5),
        ("din_phil3_sat", "caching", 4.0),
    ] {
        let change = search(searching);
        let whole = explored(name, change).executions() as f64;
        let part = explored(name, |explorer| change(explorer).executions(1_000));
        let ratio = estimate(&part).executions_expected as f64 / whole;
        assert!(
            (1.0 / factor..factor).contains(&ratio),
            "{name}, {searching}: {ratio} of {whole}"
        );
    }
}

/// Knuth's estimate is right on average, whatever the tree.
#[test]
fn random_walks_estimate_the_number_of_schedules_on_average() {
    for name in ["CVE-2016-1972", "aget-bug2", "bounded_ring"] {
        let whole = explored(name, |explorer| explorer).executions() as f64;
        let sum: u64 = (0..20)
            .map(|seed| {
                let walk =
                    |explorer: Explorer| explorer.strategy(Strategy::random()).seed(seed).executions(1_000);
                estimate(&explored(name, walk)).executions_expected
            })
            .sum();
        let ratio = sum as f64 / 20.0 / whole;
        assert!((0.95..1.05).contains(&ratio), "{name}: {ratio} of {whole}");
    }
}

/// When it is stopped right after its last execution, each search reports that there are no more.
#[test]
fn the_last_execution_is_exactly_all() {
    for name in [
        "bounded_ring",
        "din_phil2_sat",
        "account_bad",
        "balance",
        "deadlock",
    ] {
        for (searching, change) in SEARCHES {
            let whole = explored(name, change);
            assert_eq!(whole.estimate(), None, "{name}, {searching}: it came to its end");
            assert!(!whole.to_json().contains("\"estimate\""), "{whole}");
            let most = whole.executions();
            let stopped = estimate(&explored(name, |explorer| change(explorer).executions(most)));
            assert_eq!(
                (stopped.share, stopped.executions_expected),
                (1.0, most),
                "{name}, {searching}"
            );
        }
    }
}

/// In depth-first search the share is the sum of the weights of the executions so far, so it only grows.
#[test]
fn the_share_grows() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let shares = seen.clone();
    let report = explored("bounded_ring", |explorer| {
        let shares = shares.clone();
        explorer.on_progress(move |progress| {
            if let Some(estimate) = progress.estimate {
                shares.lock().unwrap().push(estimate.share);
            }
        })
    });
    let seen = seen.lock().unwrap();
    assert!(seen.len() as u64 > report.executions() / 100, "{}", seen.len());
    assert!(
        seen.is_sorted() && seen.iter().all(|share| (0.0..1.0).contains(share)),
        "{seen:?}"
    );
}

/// A worker knows only its own part, and a checkpoint has no positions. The documents say so.
#[test]
fn there_is_no_estimate_with_several_workers_or_a_checkpoint() {
    let seen = Arc::new(Mutex::new(0));
    let file = std::env::temp_dir().join(format!("intermezzo-estimates-{}", std::process::id()));
    for (part, reduction) in [(2, Reduction::None), (2, Reduction::Dpor), (1, Reduction::None)] {
        let (shares, file) = (seen.clone(), file.clone());
        let report = explored("cp-fs", move |explorer| {
            let shares = shares.clone();
            let explorer = match part {
                1 => explorer.checkpoint(&file),
                jobs => explorer.jobs(jobs),
            };
            explorer
                .reduction(reduction)
                .executions(100)
                .on_progress(move |progress| {
                    *shares.lock().unwrap() += u32::from(progress.estimate.is_some());
                })
        });
        assert_eq!(report.estimate(), None, "{report}");
        assert!(!report.to_json().contains("\"estimate\""), "{report}");
        assert!(!report.to_string().contains("estimate:"), "{report}");
    }
    std::fs::remove_file(file).unwrap();
    assert_eq!(*seen.lock().unwrap(), 0);
    let guide = |page: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/src");
        std::fs::read_to_string(path.join(page)).unwrap()
    };
    for (page, says) in [
        (
            "formats.md",
            "`estimate` | of a search by one worker, without a checkpoint, that did not finish",
        ),
        ("strategy.md", "unless it has several workers or a checkpoint"),
    ] {
        assert!(guide(page).contains(says), "{page}: {says}");
    }
}

#[test]
fn a_report_has_the_progress_of_its_search() {
    let report = explored("cp-fs", |explorer| explorer.executions(100));
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    let estimate = &json["estimate"];
    assert_eq!(
        estimate["share"].as_f64(),
        report.estimate().map(|estimate| estimate.share)
    );
    assert_eq!(
        estimate.as_object().map(|fields| fields.len()),
        Some(2),
        "no time: {estimate}"
    );
    assert!(report.to_string().contains("\n  estimate: "), "{report}");
}
