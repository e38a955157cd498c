//! Random programs with std's types have the same outcomes unmodified and with the look-alikes, under weak memory.
//!
//! `SAME_OUTCOMES=5000` explores 5,000 programs instead of 300, and `SAME_OUTCOMES_FROM=1000` begins with seed 1000.

use crate::Ran;
use crate::unmodified::project_of;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::Path;

const PROGRAMS: &str = include_str!("same_outcomes/programs.rs");

/// Settings that find all outcomes. Operations on the counts of `Arc` are schedule points, so no order of theirs is left
/// out.
const SETTINGS: [(&str, &str); 5] = [
    ("INTERMEZZO_STRATEGY", "dfs"),
    ("INTERMEZZO_REDUCTION", "dpor"),
    ("INTERMEZZO_MONITORS", "none"),
    (
        "INTERMEZZO_ENVIRONMENT",
        "timeouts=0,weak_failures=0,arc_counts=1,stale_reads=1",
    ),
    ("INTERMEZZO_EXECUTIONS", "30000"),
];

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// Explores the programs in a project of this name, with their types from this crate. Returns the directory of outcomes,
/// and the reports.
fn explore(name: &str, std: &str, seeds: Range<u64>) -> (std::path::PathBuf, Vec<Value>) {
    let is_unmodified = std == "std";
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let dependencies = format!(
        "[dependencies]\nintermezzo = {{ path = {:?}, features = [\"explore-in-release\"] }}\n",
        root.to_str().unwrap()
    );
    let (dependencies, attribute) = match is_unmodified {
        true => ("", "#[test]"),
        false => (&*dependencies, "#[intermezzo::test]"),
    };
    let mut library = PROGRAMS.replace("STD", std);
    library += "#[cfg(test)]\nmod tests {\n";
    for seed in seeds {
        writeln!(
            library,
            "    {attribute}\n    fn of_{seed}() {{ super::run({seed}) }}"
        )
        .unwrap();
    }
    library += "}\n";
    let project = project_of(name, dependencies, &library);
    let outcomes = project.join("outcomes");
    if outcomes.exists() {
        fs::remove_dir_all(&outcomes).unwrap();
    }
    fs::create_dir(&outcomes).unwrap();
    let arguments: &[&str] = match is_unmodified {
        true => &["test", "--unmodified", "--release", "--lib", "--json"],
        false => &["test", "--release", "--lib", "--json"],
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("same-outcomes-target");
    let mut command = crate::command(&project, arguments);
    command
        .env("INTERMEZZO_CACHE", target.join("overlays"))
        .env("CARGO_TARGET_DIR", target)
        .env("OUTCOMES", &outcomes)
        .envs(SETTINGS);
    let ran = Ran::of(&mut command).ends_with(0).json();
    (outcomes, ran["reports"].as_array().unwrap().clone())
}

#[test]
#[ignore = "it takes minutes: it builds intermezzo twice with optimisation"]
fn unmodified_code_and_the_look_alikes_have_the_same_outcomes() {
    let from = number("SAME_OUTCOMES_FROM", 1);
    let seeds = from..from + number("SAME_OUTCOMES", 300);
    let (unmodified, reports) = explore("same_in_std", "std", seeds.clone());
    let (alike, others) = explore("same_in_look_alikes", "intermezzo", seeds.clone());
    let is_whole = |reports: &[Value], seed: u64| {
        let name = format!("::of_{seed}");
        let is_it = |report: &&Value| report["program"].as_str().unwrap().ends_with(&name);
        let report = reports.iter().find(is_it).unwrap();
        assert_eq!(report["verdict"], "pass", "{report:#}");
        report["coverage"]["kind"] == "exhaustive"
    };
    let mut compared = 0;
    for seed in seeds.clone() {
        if !is_whole(&reports, seed) || !is_whole(&others, seed) {
            continue;
        }
        compared += 1;
        let [one, two] = [&unmodified, &alike].map(|directory| {
            let text = fs::read_to_string(directory.join(seed.to_string())).unwrap();
            text.lines().map(str::to_owned).collect::<BTreeSet<_>>()
        });
        assert_eq!(one, two, "program {seed}: unmodified, and with the look-alikes");
    }
    let all = seeds.end - seeds.start;
    assert!(
        compared * 10 >= all * 9,
        "{compared} of {all} programs were explored whole"
    );
}
