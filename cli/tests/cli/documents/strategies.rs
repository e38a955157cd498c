//! The page of strategies: its cells are counted again, and its other tables are derived from them.
//!
//! The whole page, and the expensive parts of other pages, take a quarter of an hour without optimisation:
//! `cargo test -p cargo-intermezzo --test cli -- --ignored`.

use super::read::{Document, Table, document};
use crate::run;
use intermezzo_corpus::bugs::{Published, TOOLS, bugs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/STRATEGIES.md";

/// Strategies that take few executions on all programs of [`DEAR`].
const CHEAP: &str = "surw,pos,pct(3),auto,places,surw(all),portfolio(surw,pos,places)";

/// All strategies of the page.
const ALL: &str = "surw,pos,pct(3),auto,places,surw(all),portfolio(surw,pos,places),random,pct-all(3),pctvb(3,1),ranked,best-first,maple,dfs(4),dfs(delays=6)";

/// Programs on which some strategy takes thousands of executions, or whose executions are long.
const DEAR: &[&str] = &[
    "spinning_work_stealing_queue,thieves=2",
    "work_stealing_queue,thieves=2",
    "reorder_3_bad,setters=9",
    "reorder_3_bad,setters=19",
    "reorder_3_bad,setters=40,checkers=10",
    "twostage_bad,writers=10,readers=10",
];

/// Programs that take minutes.
const DEAREST: &[&str] = &["safestack", "reorder_3_bad,setters=80,checkers=20"];

/// SURW's mean executions to the bug over 400 seeds, as the page's remarks have them.
const SEEDS: &[(&str, &str)] = &[("deadlock01_bad", "2.45"), ("reorder_3_bad,setters=3", "10.3")];

/// The number of the execution that failed, for each program, strategy and seed.
type Runs = BTreeMap<(String, String), Vec<Option<u64>>>;

/// Runs these strategies on these programs, as the page's command does.
fn compare(programs: &[&str], strategies: &str, more: &[&str]) -> Runs {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let flags = [
        "--strategies",
        strategies,
        "--setting",
        "reduction=cache_bytes=0",
        "--out",
        out,
    ];
    run(&[&["tune"], programs, &flags, more].concat()).ends_with(0);
    runs(&directory.path().join("results.jsonl"))
}

/// Reads the results that `--out` kept.
fn runs(results: &Path) -> Runs {
    let text = fs::read_to_string(results).unwrap();
    let mut lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let matrix = lines.next().unwrap()["matrix"].take();
    let mut runs = Runs::new();
    for item in lines {
        let number = |name: &str| usize::try_from(item[name].as_u64().unwrap()).unwrap();
        let program = &matrix["programs"]["corpus"][number("program")];
        let strategy = search(&matrix["searches"][number("search")]);
        let key = (program.as_str().unwrap().to_owned(), strategy);
        runs.entry(key)
            .or_default()
            .push(item["runs"][0]["failure"].as_u64());
    }
    runs
}

/// Returns the page's name of a search: a bound is in brackets.
fn search(search: &Value) -> String {
    search["strategy"].as_str().unwrap().to_owned()
}

/// Returns a mean in the page's form.
fn mean(failures: &[u64]) -> String {
    let mean = failures.iter().sum::<u64>() as f64 / failures.len() as f64;
    if mean.fract() == 0.0 {
        format!("{mean}")
    } else {
        format!("{mean:.1}")
    }
}

/// Returns a cell in the page's form: `7.3`, or `7.3 (16/20)`.
fn told(runs: &[Option<u64>]) -> String {
    let failures: Vec<u64> = runs.iter().copied().flatten().collect();
    match failures.len() {
        0 => "-".into(),
        found if found == runs.len() => mean(&failures),
        found => format!("{} ({found}/{})", mean(&failures), runs.len()),
    }
}

pub(crate) fn page() -> Document {
    document(PAGE)
}

fn tables(page: &Document) -> [Table; 2] {
    [
        page.table("program | `surw` | published"),
        page.table("program | `auto`"),
    ]
}

/// Returns the page's cell of a strategy and a program.
pub(crate) fn cell(page: &Document, program: &str, strategy: &str) -> String {
    for table in tables(page) {
        let column = table
            .heading
            .iter()
            .position(|title| title.trim_matches('`') == strategy);
        let row = table.rows.iter().find(|row| row[0].trim_matches('`') == program);
        if let (Some(column), Some(row)) = (column, row) {
            return row[column].clone();
        }
    }
    panic!("the page has nothing of {strategy} on {program}")
}

/// Checks these cells of the page.
fn check(runs: &Runs) {
    let page = page();
    let mut wrong = Vec::new();
    for ((program, strategy), runs) in runs {
        let (now, then) = (told(runs), cell(&page, program, strategy));
        if now != then {
            wrong.push(format!("{strategy} on {program}: {now} now, {then} on the page"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{PAGE} is out of date: regenerate it\n{}",
        wrong.join("\n")
    );
}

#[test]
fn strategies_find_bugs_as_soon_as_documented() {
    let page = page();
    let programs = || {
        tables(&page)[0]
            .rows
            .iter()
            .map(|row| row[0].trim_matches('`').to_owned())
            .collect()
    };
    let programs: Vec<String> = programs();
    for bug in bugs() {
        assert!(programs.iter().any(|program| program == bug.cell("program")));
    }
    let is_cheap = |program: &&str| !DEAR.contains(program) && !DEAREST.contains(program);
    let cheap: Vec<&str> = programs.iter().map(String::as_str).filter(is_cheap).collect();
    let mut all = compare(&cheap, ALL, &[]);
    all.extend(compare(DEAR, CHEAP, &[]));
    check(&all);
    assert_eq!(all.len(), 15 * cheap.len() + 7 * DEAR.len());

    // The column of executions that SURW draws, after the two from which it learns.
    for row in page.table("program | published").rows {
        let program = row[0].trim_matches('`').to_owned();
        let Some(runs) = all.get(&(program, "surw".into())) else {
            continue;
        };
        let drawn: Vec<u64> = runs
            .iter()
            .flatten()
            .filter_map(|at| at.checked_sub(2))
            .filter(|at| *at > 0)
            .collect();
        let told = if drawn.is_empty() {
            "-".into()
        } else {
            format!("{} ({})", mean(&drawn), drawn.len())
        };
        assert_eq!(told, row[4], "{}", row[0]);
    }
}

#[test]
fn remarks_about_more_seeds_are_correct() {
    let page = document(PAGE).text;
    for (program, told) in SEEDS {
        let runs = compare(&[program], "surw", &["--seeds", "400"])
            .into_values()
            .next()
            .unwrap();
        let failures: Vec<u64> = runs.into_iter().flatten().collect();
        let mean = failures.iter().sum::<u64>() as f64 / failures.len() as f64;
        assert!(
            (mean - told.parse::<f64>().unwrap()).abs() < 0.05,
            "{program}: {mean}"
        );
        assert!(
            page.contains(&format!("- `{program}`: {told} over 400 seeds")),
            "{program}: {told}"
        );
    }
}

/// The columns of published figures are those of the table in `corpus/oracle`.
#[test]
fn published_figures_are_those_of_the_oracle() {
    let page = page();
    let tools = [
        [
            None,
            None,
            Some("surw"),
            None,
            Some("pos"),
            None,
            Some("pct3"),
            None,
            Some("random_walk"),
        ]
        .to_vec(),
        [
            [None; 12].to_vec(),
            vec![Some("rff"), Some("maple"), Some("period")],
        ]
        .concat(),
    ];
    for (table, tools) in tables(&page).iter().zip(tools) {
        for row in &table.rows {
            let bug = bugs()
                .iter()
                .find(|bug| row[0].trim_matches('`') == bug.cell("program"));
            for (cell, tool) in row
                .iter()
                .zip(&tools)
                .filter_map(|(cell, tool)| Some((cell, (*tool)?)))
            {
                let published = bug.map_or(Published::Unknown, |bug| bug.published(tool));
                let (told, found) = match cell.split_once(" (") {
                    Some((told, found)) => (told, found.strip_suffix("/20)").unwrap().parse().ok()),
                    None => (cell.as_str(), Some(20)),
                };
                let same = match published {
                    Published::Unknown => told.is_empty(),
                    Published::NotFound => told == "-",
                    Published::Found { executions, of_20 } => {
                        told.parse() == Ok((executions * 10.0).round() / 10.0)
                            && of_20.is_none_or(|of| Some(of) == found)
                    }
                };
                assert!(same, "{tool} on {}: {published:?}, {cell:?} on the page", row[0]);
            }
        }
    }
}

#[test]
fn ratios_follow_from_the_page() {
    let page = page();
    let (mut within, mut within_drawn) = (0, 0);
    let table = page.table("program | published");
    for row in &table.rows {
        let program = row[0].trim_matches('`');
        let bug = bugs().iter().find(|bug| bug.cell("program") == program).unwrap();
        let Published::Found { executions, .. } = bug.published("surw") else {
            panic!("nothing is published of SURW on {program}");
        };
        assert_eq!(row[1].parse::<f64>().unwrap(), executions, "{program}");
        assert_eq!(row[2], cell(&page, program, "surw"), "{program}");
        // A figure with one digit after the point is accurate to 0.05.
        let follows = |of: &str, ratio: &str| {
            // A mean over some of the seeds is not compared.
            let of = if of.contains('/') { "-" } else { of };
            let Some(count) = of.split(' ').next().and_then(|count| count.parse::<f64>().ok()) else {
                assert_eq!(ratio, "", "{program}");
                return None;
            };
            let ratio: f64 = ratio.parse().unwrap();
            assert!(
                (count / executions - ratio).abs() <= 0.05 / executions + 0.006,
                "{program}: {ratio}"
            );
            Some(ratio)
        };
        let (all, drawn) = (follows(&row[2], &row[3]), follows(&row[4], &row[5]));
        within += u32::from(all.is_some_and(|ratio| ratio <= 1.5));
        within_drawn += u32::from(drawn.or(all).is_some_and(|ratio| ratio <= 1.5));
    }
    let sentence = format!(
        "{within_drawn} of {} programs take at most 1.5 times the published executions, or {within} if the",
        table.rows.len()
    );
    assert!(page.text.contains(&sentence), "{sentence}");
}

#[test]
fn sums_follow_from_the_page() {
    let page = page();
    let programs: Vec<String> = tables(&page)[0].rows.iter().map(|row| row[0].clone()).collect();
    let bare = |text: &str| text.trim_matches('`').to_owned();
    let found = page.table("strategy | bugs found");
    for row in &found.rows {
        let cell = |program: &String| cell(&page, &bare(program), &bare(&row[0]));
        let (missed, hit): (Vec<&String>, Vec<&String>) =
            programs.iter().partition(|program| cell(program) == "-");
        assert_eq!(
            row[1],
            format!("{} of {}", hit.len(), programs.len()),
            "{}",
            row[0]
        );
        let is_published = |program: &&&String| {
            let bug = bugs().iter().find(|bug| bug.cell("program") == bare(program));
            bug.is_some_and(|bug| {
                TOOLS
                    .iter()
                    .any(|tool| matches!(bug.published(tool), Published::Found { .. }))
            })
        };
        let missed: Vec<&str> = missed
            .iter()
            .filter(is_published)
            .map(|program| program.as_str())
            .collect();
        assert_eq!(row[2], missed.join(", "), "{}", row[0]);
    }
    for row in page.table("program | soonest").rows {
        let strategies = found.rows.iter().map(|strategy| bare(&strategy[0]));
        let always =
            strategies.filter_map(|strategy| cell(&page, &bare(&row[0]), &strategy).parse::<f64>().ok());
        let least = always.min_by(f64::total_cmp).unwrap();
        assert_eq!(row[2].parse(), Ok(least), "{}", row[0]);
        assert_eq!(cell(&page, &bare(&row[0]), &bare(&row[1])), row[2]);
        assert_eq!(row[3], if least < 30.0 { "yes" } else { "no" });
    }
}

/// `docs/SEARCH.md` compares the default search with the best of each row.
#[test]
fn the_default_is_as_near_the_best_as_documented() {
    let page = page();
    let found = page.table("strategy | bugs found");
    let mut ratios: Vec<(f64, String)> = Vec::new();
    for row in &tables(&page)[0].rows {
        let program = row[0].trim_matches('`');
        let told = |strategy: &str| cell(&page, program, strategy).parse::<f64>().ok();
        let others = found
            .rows
            .iter()
            .map(|row| row[0].trim_matches('`'))
            .filter(|strategy| *strategy != "auto");
        let best = others.filter_map(|strategy| Some((told(strategy)?, strategy)));
        if let (Some(own), Some((best, strategy))) = (told("auto"), best.min_by(|a, b| a.0.total_cmp(&b.0))) {
            ratios.push((own / best, strategy.to_owned()));
        }
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (most, _) = ratios.last().unwrap();
    let sentence = format!(
        "`auto` takes {:.1} times as many executions as the best search of the row in the median, and {most:.1} times as many at most",
        ratios[ratios.len() / 2].0
    );
    let text = document("docs/SEARCH.md").text;
    assert!(text.contains(&sentence), "{sentence}");
}

#[test]
#[ignore = "takes minutes"]
fn the_page_of_strategies_is_the_output_of_its_command() {
    assert_eq!(run(&["tune", "--bugs"]).ends_with(0).stdout, document(PAGE).text);
}

#[test]
#[ignore = "takes minutes"]
fn the_bug_of_safestack_is_found_as_soon_as_documented() {
    let runs = compare(
        &["safestack"],
        "surw(all)",
        &["--seeds", "13", "--executions", "3000000"],
    );
    let runs = runs.into_values().next().unwrap();
    let failures: Vec<u64> = runs.iter().copied().flatten().collect();
    let mean = failures.iter().sum::<u64>() as f64 / failures.len() as f64;
    let Published::Found { executions, .. } = bugs()
        .iter()
        .find(|bug| bug.cell("program") == "safestack")
        .unwrap()
        .published("surw")
    else {
        panic!("SURW found it")
    };
    let sentence = format!(
        "found it here with {} of {} seeds, after {} on average (ratio {:.2})",
        failures.len(),
        runs.len(),
        super::figures::number(mean.round() as u64),
        mean / executions
    );
    assert!(document(PAGE).text.contains(&sentence), "{sentence}");
}
