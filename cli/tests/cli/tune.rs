//! `tune`: reproducible tables, runs that continue, and refusals.

use crate::documents::{strategies, words};
use crate::{Ran, json, run};
use std::fs;
use std::path::{Path, PathBuf};

/// The page that shows a comparison, and its command.
const PAGE: &str = "docs/TUNE.md";

fn in_workspace(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(file)
}

/// Compares a command's output with the text below it on the page. With UPDATE_DOCS=1, the page is updated instead.
fn shows_what_is_printed(begins: &str, run: impl FnOnce(&[&str]) -> Ran) {
    let path = in_workspace(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let begin = format!("```text\n$ cargo intermezzo {begins}");
    let (before, rest) = page.split_once(&begin).unwrap();
    let (shown, after) = rest.split_once("```\n").unwrap();
    let (command, table) = shown.split_once('\n').unwrap();
    let command = format!("{begins}{command}");
    let arguments = words(&command);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let printed = run(&arguments).ends_with(0).stdout;
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{before}```text\n$ cargo intermezzo {command}\n{printed}```\n{after}");
        fs::write(&path, page).unwrap();
    } else {
        assert_eq!(
            table, printed,
            "{PAGE} is not up to date: run this test with UPDATE_DOCS=1"
        );
    }
}

#[test]
fn the_page_shows_the_output_of_its_command() {
    shows_what_is_printed("tune work_stealing_queue", run);
}

/// Does the same for a project's own tests.
pub(crate) fn the_page_shows_tests_of_an_ordinary_crate(run: &dyn Fn(&[&str]) -> Ran) {
    shows_what_is_printed("tune --no-times --test", run);
}

/// On the programs of the page, the default search takes, in the median, at most twice the executions of the best search
/// that finds the bug each time, and never ten times as many.
#[test]
fn the_default_is_near_the_best_of_every_row() {
    let page = strategies::page();
    let others = [
        "surw",
        "pos",
        "pct(3)",
        "random",
        "places",
        "surw(all)",
        "portfolio(surw,pos,places)",
        "pct-all(3)",
        "ranked",
        "maple",
        "dfs(4)",
        "dfs(delays=6)",
    ];
    let mut ratios = Vec::new();
    for bug in intermezzo_corpus::bugs::bugs() {
        let program = bug.cell("program");
        let told = |strategy| strategies::cell(&page, program, strategy).parse::<f64>().ok();
        let best = others
            .iter()
            .filter_map(|strategy| told(strategy))
            .min_by(f64::total_cmp);
        if let Some(best) = best {
            let own = told("auto").unwrap_or_else(|| panic!("`auto` does not always find {program}"));
            assert!(own <= 10.0 * best, "{program}: {own}, and the best {best}");
            ratios.push(own / best);
        }
    }
    ratios.sort_by(f64::total_cmp);
    assert_eq!(ratios.len(), 38);
    assert!(ratios[ratios.len() / 2] <= 2.0, "{ratios:?}");
}

const SMALL: &[&str] = &[
    "tune",
    "deadlock01_bad",
    "lazy01_fixed",
    "--strategies",
    "dfs,dfs(1),random,surw(one)",
    "--reductions",
    "none,dpor",
    "--seeds",
    "3",
    "--executions",
    "50",
    "--no-times",
];

#[test]
fn an_interrupted_comparison_continues() {
    let whole = run(SMALL).ends_with(0).stdout;
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let keeping = [SMALL, &["--out", out]].concat();
    assert_eq!(run(&keeping).ends_with(0).stdout, whole);

    let file = directory.path().join("results.jsonl");
    let results = fs::read_to_string(&file).unwrap();
    // Some of the results, and a part of a line.
    let middle = results.lines().take(8).map(|line| line.len() + 1).sum::<usize>() + 20;
    fs::write(&file, &results[..middle]).unwrap();
    assert_eq!(run(&keeping).ends_with(0).stdout, whole);
    let without_times = |results: &str| -> Vec<String> {
        let lines = results
            .lines()
            .map(|line| line.split("\"seconds\"").next().unwrap());
        lines.map(str::to_owned).collect()
    };
    let again = fs::read_to_string(&file).unwrap();
    assert_eq!(without_times(&again), without_times(&results));

    run(&[&keeping[..], &["--setting", "steps=100"]].concat()).refused(&[
        "results.jsonl",
        "results of another comparison",
        "--out",
    ]);
    assert_eq!(fs::read_to_string(&file).unwrap(), again);
}

#[test]
fn impossible_combinations_are_shown() {
    let text = run(SMALL).ends_with(0).stdout;
    for says in [
        "deadlock01_bad  dfs        dpor       none         1/1 ",
        "deadlock01_bad  random     dpor       none         refused (1)\n",
        "  (1) setting `reduction`: executions drawn at random have no reduction",
        "\n  lazy01_fixed: use dfs: it covers every schedule in 6 executions; next ",
    ] {
        assert!(text.contains(says), "{says:?} is not in:\n{text}");
    }
    let comparison = json(0, SMALL);
    let cells = comparison["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2 * 4 * 2);
    assert_eq!(
        (&cells[0]["strategy"], &cells[0]["found"]),
        (&"dfs".into(), &1.into())
    );
    let refused = cells.iter().filter(|cell| cell["refused"].is_string());
    assert_eq!(refused.count(), 2 * 2);
    assert_eq!(comparison["advice"][1]["search"], "dfs");

    let csv = run(&[SMALL, &["--csv"]].concat()).ends_with(0).stdout;
    assert_eq!(csv.lines().count(), 1 + cells.len());
    assert!(
        csv.starts_with("program,strategy,reduction,preemptions,cache_bytes,runs,found,"),
        "{csv}"
    );
}

/// Random delays are only a baseline, and compared only if they are named.
#[test]
fn delays_are_compared_if_they_are_named() {
    let named = "random-delays,pct(3),random";
    let comparison = json(0, &["tune", "lostupd", "--no-times", "--strategies", named]);
    let cells = comparison["cells"].as_array().unwrap();
    let strategies: Vec<&str> = cells
        .iter()
        .map(|cell| cell["strategy"].as_str().unwrap())
        .collect();
    assert_eq!(strategies, ["random-delays", "pct(3)", "random"]);
    assert!(
        cells.iter().all(|cell| cell["found"].as_u64() > Some(0)),
        "{comparison}"
    );
    let usual = json(0, &["tune", "counter,tasks=2", "--no-times"]).to_string();
    assert!(!usual.contains("random-delays"), "{usual}");
}

#[test]
fn the_usual_searches_are_compared_within_a_time() {
    let comparison = json(0, &["tune", "counter,tasks=2", "--no-times"]);
    let cells = comparison["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 10);
    assert_eq!(
        (&cells[0]["strategy"], &cells[0]["reduction"]),
        (&"dfs".into(), &"dpor".into())
    );
    let advice = &comparison["advice"][0];
    assert_eq!(advice["search"], "dfs dpor");
    assert_eq!(
        advice["attribute"],
        "#[intermezzo::test(strategy = \"dfs\", reduction = \"dpor\")]"
    );
    assert_eq!(advice["config"], "strategy = \"dfs\"\nreduction = \"dpor\"");
    let worth = advice["worth"].as_str().unwrap();
    assert!(
        worth.starts_with("6 executions to the end; the default search: "),
        "{worth}"
    );
    // The first round is decisive: a search that did not end in it was not run further.
    assert!(
        cells
            .iter()
            .all(|cell| cell["executions"].as_f64().unwrap() <= 100.0),
        "{comparison}"
    );

    let text = run(&["tune", "counter", "--time", "0"]).ends_with(0).stdout;
    assert!(text.contains("not run: the time was up"), "{text}");
    run(&["tune", "counter", "--time", "1", "--strategies", "dfs"]).refused(&["--time", "--strategies"]);
}

#[test]
fn growth_is_shown_and_drawn() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("growth.svg");
    let svg = file.to_str().unwrap();
    let growing = [
        "tune",
        "counter",
        "--grow",
        "tasks=1..3",
        "--strategies",
        "dfs",
        "--svg",
        svg,
    ];
    for _ in 0..2 {
        let text = run(&growing).ends_with(0).stdout;
        let line = "  counter, dfs: tasks=1: 1, tasks=2: 6, tasks=3: 90; 9.49 times as many executions";
        assert!(text.contains(line), "{text}");
    }
    let drawing = fs::read_to_string(&file).unwrap();
    for says in ["<svg ", "executions by tasks", "tasks=2", "traces per second"] {
        assert!(drawing.contains(says), "{says}");
    }
    fs::write(&file, "<svg>mine</svg>").unwrap();
    run(&growing).refused(&["growth.svg", "was not drawn by `tune`", "--svg"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "<svg>mine</svg>");
}

#[test]
fn impossible_comparisons_are_refused() {
    run(&["tune"]).refused(&["PROGRAM"]);
    run(&["tune", "conter"]).refused(&["\"conter\"", "did you mean `counter`"]);
    run(&["tune", "counter,tasks=0"]).refused(&["tasks=0: give a number from 1 to 300"]);
    run(&["tune", "counter", "counter"]).refused(&["counter is given twice"]);
    run(&["tune", "counter", "--set", "task=1"]).refused(&["has no parameter `task`"]);
    run(&["tune", "counter", "--strategies", "dfs,bfs"]).refused(&["--strategies bfs", "is not a strategy"]);
    run(&["tune", "counter", "--strategies", "dfs,dfs"]).refused(&["`dfs` is given twice"]);
    run(&["tune", "counter", "--reductions", "none,most"]).refused(&["--reductions", "`most`"]);
    run(&["tune", "counter", "--grow", "tasks=3"]).refused(&["--grow tasks=3", "tasks=2..5"]);
    run(&["tune", "counter", "--seeds", "0"]).refused(&["--seeds"]);
    run(&["tune", "counter", "--setting", "strategies=1"]).refused(&["there is no such setting"]);
    run(&["tune", "counter", "--bugs"]).refused(&["--bugs"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "notes").unwrap();
    run(&["tune", "counter", "--out", file.path().to_str().unwrap()]).refused(&["--out"]);
    assert_eq!(fs::read_to_string(file.path()).unwrap(), "notes");
}
