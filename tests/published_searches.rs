//! The bugs with which the sources were measured (`corpus/oracle/published_searches.csv`), and the number of executions
//! until our searches find them: the tables of `docs/SOURCES.md`. `UPDATE_DOCS=1 cargo test --test published_searches`
//! updates the page.

use intermezzo::{Environment, Report, Settings};
use intermezzo_corpus::{Expected, Program, find};
use std::fs;

const TABLE: &str = include_str!("../corpus/oracle/published_searches.csv");

/// The page, with the names of tables in braces.
const PAGE: &str = include_str!("published_searches/page.md");

/// Limits of the random searches of a program.
#[derive(Clone, Copy)]
struct Limits {
    /// The maximum number of executions of a search.
    executions: u64,
    /// The number of seeds.
    seeds: u64,
}

const LIMITS: Limits = Limits {
    executions: 2_000,
    seeds: 20,
};

/// The limits for programs whose executions are long.
const LONG: Limits = Limits {
    executions: 200,
    seeds: 5,
};

/// Searches that draw nothing at random.
const IN_ORDER: [&str; 4] = ["ranked", "ranked(threads=2)", "best-first(rare)", "dfs"];

/// A bug of the table.
struct Row {
    columns: csv::StringRecord,
    cells: csv::StringRecord,
}

impl Row {
    fn cell(&self, column: &str) -> &str {
        let at = self.columns.iter().position(|name| name == column);
        &self.cells[at.unwrap_or_else(|| panic!("there is no column {column}"))]
    }

    fn program(&self) -> &'static Program {
        let name = self.cell("program");
        find(name).unwrap_or_else(|| panic!("{name} is in the corpus"))
    }
}

/// Returns the rows about this source.
fn rows(source: &str) -> Vec<Row> {
    let mut table = csv::Reader::from_reader(TABLE.as_bytes());
    let columns = table.headers().expect("the table has a heading").clone();
    let rows = table.into_records().map(|cells| Row {
        columns: columns.clone(),
        cells: cells.expect("the table's rows are as long as its heading"),
    });
    rows.filter(|row| row.cell("source") == source).collect()
}

/// Searches for the program's bug, up to the first failure.
fn search(program: &Program, sets: &[&str], strategy: &str, executions: u64, seed: u64) -> Report {
    let mut settings = Settings {
        environment: Environment::calm(),
        executions: Some(executions),
        steps: 100_000,
        minimise: 0,
        seed,
        ..Settings::default()
    };
    settings.set("strategy", strategy).unwrap();
    let arguments = program.arguments(sets).unwrap();
    let explorer = program.explorer(settings, &arguments).monitors("none");
    let report = explorer.explore(program.test(&arguments));
    if let Some(finding) = report.findings().first() {
        let expected = matches!(program.expected, Expected::Fail(kind) if kind == finding.kind.as_str());
        assert!(expected, "{} by {strategy}: {report}", program.name);
    }
    report
}

/// Searches with a strategy that draws nothing at random.
fn search_in_order(program: &Program, strategy: &str) -> Report {
    search(program, &[], strategy, LIMITS.executions, 0)
}

/// Returns the number of executions up to the failure.
fn in_order(program: &Program, strategy: &str) -> String {
    let first = search_in_order(program, strategy).first_failure();
    first.map_or("-".to_owned(), |first| first.to_string())
}

/// Returns the mean number of executions up to the failure, and how many seeds found it if not all did.
fn by_chance(program: &Program, sets: &[&str], strategy: &str, limits: Limits) -> String {
    let Limits { executions, seeds } = limits;
    let firsts: Vec<u64> = (1..=seeds)
        .filter_map(|seed| search(program, sets, strategy, executions, seed).first_failure())
        .collect();
    if firsts.is_empty() {
        return "-".to_owned();
    }
    let found = firsts.len() as u64;
    let mean = format!("{:.1}", firsts.iter().sum::<u64>() as f64 / found as f64);
    match found == seeds {
        true => mean,
        false => format!("{mean} ({found}/{seeds})"),
    }
}

/// Returns the rank in which a failure was found, as the source writes it.
fn rank(report: &Report) -> String {
    let note = report
        .notes()
        .iter()
        .find_map(|note| note.strip_prefix("found in rank "));
    let Some(note) = note else {
        return String::new();
    };
    let number = |what: &str| {
        let parts = note.split([',', ':']).map(str::trim);
        let mut numbers = parts.filter_map(|part| part.split_once(' '));
        let number = numbers.find(|(_, name)| name.trim_end_matches('s') == what);
        number.map(|(number, _)| number)
    };
    let parts = [number("preemption"), number("variable"), number("thread")];
    format!("({})", parts.into_iter().flatten().collect::<Vec<_>>().join(","))
}

/// Returns a table in Markdown.
fn markdown(titles: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); titles.len()];
    let mut text = line(titles) + &line(&rule);
    rows.for_each(|row| text.push_str(&line(&row)));
    text
}

fn titles(first: &[&str], strategies: &[&str]) -> Vec<String> {
    let strategies = strategies.iter().map(|strategy| format!("`{strategy}`"));
    first
        .iter()
        .map(|title| (*title).to_owned())
        .chain(strategies)
        .collect()
}

fn rankchecker() -> String {
    let by_chance_here = ["pctvb(3,1)", "pct(3)"];
    let mut strategies = IN_ORDER.to_vec();
    strategies.extend(by_chance_here);
    let first = ["bug", "program", "schedules", "rank", "rank here"];
    let rows = rows("RankChecker");
    let lines = rows.iter().map(|row| {
        let program = row.program();
        let mut cells = vec![
            row.cell("name").to_owned(),
            format!("`{}`", program.name),
            row.cell("schedules").to_owned(),
            row.cell("rank").to_owned(),
            rank(&search_in_order(program, "ranked(threads=2)")),
        ];
        assert_eq!(
            cells[3], cells[4],
            "{}: the page says that all ranks are as published",
            program.name
        );
        cells.extend(IN_ORDER.iter().map(|strategy| in_order(program, strategy)));
        cells.extend(
            by_chance_here
                .iter()
                .map(|strategy| by_chance(program, &[], strategy, LIMITS)),
        );
        cells
    });
    markdown(&titles(&first, &strategies), lines)
}

fn maple() -> String {
    let strategies = ["maple", "pct(3)", "pct-all(3)", "surw", "random"];
    let first = ["bug", "program", "idiom", "Maple", "PCT", "PCT, weak priorities"];
    let rows = rows("Maple");
    let lines = rows.iter().map(|row| {
        let program = row.program();
        let mut cells = vec![row.cell("name").to_owned(), format!("`{}`", program.name)];
        let published = ["idiom", "maple_runs", "pct_runs", "pct_large_runs"];
        cells.extend(published.iter().map(|column| row.cell(column).to_owned()));
        cells.extend(
            strategies
                .iter()
                .map(|strategy| by_chance(program, &[], strategy, LIMITS)),
        );
        cells
    });
    markdown(&titles(&first, &strategies), lines)
}

fn long() -> String {
    let strategies = ["maple", "pctvb(3,1)", "surw", "pos", "random", "pct(3)"];
    let program = find("long_tasks").expect("it is in the corpus");
    let lines = ["1000", "10000"].map(|steps| {
        let set = format!("steps={steps}");
        let by_chance = |strategy: &&str| by_chance(program, &[&set], strategy, LONG);
        let mut cells = vec![steps.to_owned()];
        cells.extend(strategies.iter().map(by_chance));
        cells
    });
    markdown(&titles(&["steps of each task"], &strategies), lines.into_iter())
}

#[test]
fn the_page_shows_how_soon_bugs_are_found() {
    let page = PAGE
        .replace("{rankchecker}", &rankchecker())
        .replace("{maple}", &maple())
        .replace("{long}", &long());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/SOURCES.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, page).unwrap();
    } else {
        let written = fs::read_to_string(path).unwrap();
        assert_eq!(written, page, "UPDATE_DOCS=1 makes {path} again");
    }
}
