//! Figures in the documents: each table is compared with figures that are counted again, or names the machine on which it
//! was measured.

use super::read::{Table, document, documents, root, words};
use crate::run;
use intermezzo::{Report, Settings};
use intermezzo_corpus::{Arguments, Program, parse_full_name};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;

/// The origin of a table's figures.
enum Figures {
    /// The test of this name in this file counts them again.
    Counted(&'static str, &'static str),
    /// They are times, or counts within a time, of one machine. This command measures them.
    Measured(&'static str),
    /// They were not counted; this describes them.
    Given(&'static str),
}
use Figures::{Counted, Given, Measured};

/// This file.
const HERE: &str = "cli/tests/cli/documents/figures.rs";

/// The file with the test of the page of strategies.
const STRATEGIES: &str = "cli/tests/cli/documents/strategies.rs";

/// The file with the test of the page about the sources' tables.
const SOURCES: &str = "tests/published_searches.rs";

/// Every table of figures, by its document and the beginning of its heading.
const TABLES: &[(&str, &str, Figures)] = &[
    (
        "docs/decisions/012-no-concurrency-crates.md",
        "table | workers",
        Measured("cargo bench -p intermezzo-peers --bench fingerprints"),
    ),
    (
        "docs/decisions/097-known-states-within-a-bound.md",
        "test of tokio, two preemptions | traces",
        Measured("LOOM_SUITES=tokio cargo test -p cargo-intermezzo --test cli loom_suites -- --ignored"),
    ),
    (
        "docs/decisions/119-counts-of-unmodified-code.md",
        " | counts not seen",
        Measured("cargo intermezzo test --unmodified --executions 10000 --time 5"),
    ),
    (
        "docs/decisions/120-more-yields-after-a-fair-search.md",
        "test | k = 1",
        Measured("cargo intermezzo test --unmodified"),
    ),
    (
        "docs/decisions/121-searches-within-reach-continue.md",
        "test | executions of `dpor`",
        Measured("cargo intermezzo test --unmodified"),
    ),
    (
        "docs/BENCHMARKS.md",
        "exploration | time",
        Measured("cargo bench --bench engine"),
    ),
    (
        "docs/BENCHMARKS.md",
        " | instructions",
        Measured("valgrind --tool=callgrind"),
    ),
    (
        "docs/BENCHMARKS.md",
        "kernel | intermezzo dpor",
        Measured("cargo run --release -p intermezzo-peers -- --cap 30"),
    ),
    (
        "docs/BENCHMARKS.md",
        "program | executions | instructions",
        Measured(
            "cargo test -p cargo-intermezzo --test cli unmodified_tests_have_half -- --ignored --nocapture",
        ),
    ),
    (
        "docs/BENCHMARKS.md",
        "monitor | built in",
        Measured("cargo bench --bench monitors"),
    ),
    (
        "docs/BENCHMARKS.md",
        "program, reduction",
        Measured("cargo bench --bench listening"),
    ),
    (
        "docs/BENCHMARKS.md",
        "part | instructions",
        Measured("cargo bench --bench listening"),
    ),
    (
        "docs/BENCHMARKS.md",
        "object | 10,000 operations",
        Measured("cargo bench -p intermezzo-refinement --bench long_histories"),
    ),
    (
        "docs/BREAKPOINTS.md",
        "limit | chance to meet",
        Measured("cargo test -p intermezzo-breakpoint --test chance -- --ignored"),
    ),
    (
        "docs/BREAKPOINTS.md",
        "bug | shows unarmed",
        Measured("cargo test -p intermezzo-breakpoint --test reproduced"),
    ),
    (
        "docs/CRATES.md",
        "crate | test | verdict",
        Measured("cargo test --release -p cargo-intermezzo --test cli published_crates:: -- --ignored"),
    ),
    (
        "docs/CRATES.md",
        "bug | version | found as",
        Measured("cargo test --release -p cargo-intermezzo --test cli published_crates:: -- --ignored"),
    ),
    (
        "docs/SUITES.md",
        "crate | tests | pass",
        Measured("cargo test -p cargo-intermezzo --test cli suites_of_published -- --ignored"),
    ),
    (
        "docs/SUITES.md",
        "crate | test | outcome",
        Measured("cargo test -p cargo-intermezzo --test cli suites_of_published -- --ignored"),
    ),
    (
        "docs/LOOM_SUITES.md",
        "crate | tests | under loom",
        Measured("cargo test --release -p cargo-intermezzo --test cli loom_suites -- --ignored"),
    ),
    (
        "docs/LOOM_SUITES.md",
        "crate | test | loom",
        Measured("cargo test --release -p cargo-intermezzo --test cli loom_suites -- --ignored"),
    ),
    (
        "docs/SHUTTLE_SUITES.md",
        "suite | tests | under shuttle",
        Measured("cargo test --release -p cargo-intermezzo --test cli shuttle_suites -- --ignored"),
    ),
    (
        "docs/SHUTTLE_SUITES.md",
        "suite | test | shuttle",
        Measured("cargo test --release -p cargo-intermezzo --test cli shuttle_suites -- --ignored"),
    ),
    ("docs/IROOTS.md", "idiom | T does", Given("numbers of idioms")),
    (
        "docs/IROOTS.md",
        "program | executions | `maple`",
        Counted(
            "tests/iroots/against_searches.rs",
            "it_exposes_as_many_iroots_as_other_searches",
        ),
    ),
    (
        "docs/IROOTS.md",
        "program | `random`",
        Measured("cargo bench --bench classic"),
    ),
    (
        "docs/LINEARIZABILITY.md",
        "structure | crate",
        Counted("tests/linearizability/tests/queues.rs", "seg_queue"),
    ),
    (
        "docs/POOL.md",
        "an execution takes",
        Counted("tests/pool_simulation.rs", "the_page_has_the_simulated_figures"),
    ),
    (
        "docs/POOL.md",
        "1,000 workers",
        Counted("tests/pool_simulation.rs", "the_page_has_the_simulated_figures"),
    ),
    (
        "docs/REFINEMENT.md",
        " | default",
        Counted(HERE, "sentences_agree_with_assertions"),
    ),
    (
        "docs/REFINEMENT.md",
        "object | executions",
        Counted(
            "tests/refinement_catalogue.rs",
            "bugs_are_found_in_small_scenarios",
        ),
    ),
    (
        "docs/SEARCH.md",
        "program of the corpus | `dfs preemptions=4`",
        Counted(HERE, "ranked_search_finds_bugs_as_soon_as_documented"),
    ),
    (
        "docs/SEARCH.md",
        "executions to the end",
        Counted(HERE, "ranks_are_as_large_as_documented"),
    ),
    (
        "docs/SEARCH.md",
        "program of the corpus | executions | ratio",
        Measured("cargo bench --bench search"),
    ),
    (
        "docs/SEARCH.md",
        "kernel | dpor | dfs",
        Measured("cargo run --release -p intermezzo-peers -- --cap 30"),
    ),
    (
        "docs/SOURCES.md",
        "bug | program | schedules",
        Counted(SOURCES, "the_page_shows_how_soon_bugs_are_found"),
    ),
    (
        "docs/SOURCES.md",
        "program | `dfs` | `ranked`",
        Measured("cargo bench --bench classic"),
    ),
    (
        "docs/SOURCES.md",
        "steps of each task",
        Counted(SOURCES, "the_page_shows_how_soon_bugs_are_found"),
    ),
    (
        "docs/SOURCES.md",
        "bug | program | idiom",
        Counted(SOURCES, "the_page_shows_how_soon_bugs_are_found"),
    ),
    (
        "docs/STRATEGIES.md",
        "program | `surw` | published",
        Counted(STRATEGIES, "strategies_find_bugs_as_soon_as_documented"),
    ),
    (
        "docs/STRATEGIES.md",
        "program | `auto`",
        Counted(STRATEGIES, "strategies_find_bugs_as_soon_as_documented"),
    ),
    (
        "docs/STRATEGIES.md",
        "program | published",
        Counted(STRATEGIES, "ratios_follow_from_the_page"),
    ),
    (
        "docs/STRATEGIES.md",
        "strategy | bugs found",
        Counted(STRATEGIES, "sums_follow_from_the_page"),
    ),
    (
        "docs/STRATEGIES.md",
        "program | soonest",
        Counted(STRATEGIES, "sums_follow_from_the_page"),
    ),
    (
        "docs/guide/src/shares.md",
        "program | executions | 2 shares",
        Counted(
            "tests/trace_counts_in_shares.rs",
            "the_table_shows_the_additional_executions_of_shares",
        ),
    ),
];

/// `true` if the cell begins with a number.
fn is_figure(cell: &str) -> bool {
    cell.trim_start_matches(['(', '<', '>'])
        .starts_with(|c: char| c.is_ascii_digit())
}

#[test]
fn every_table_of_figures_is_compared_or_measured() {
    let (mut wrong, mut known) = (Vec::new(), BTreeSet::new());
    for document in documents() {
        for table in document.tables() {
            let figures = table.rows.iter().flatten().filter(|cell| is_figure(cell));
            if figures.count() < 3 {
                continue;
            }
            let heading = table.heading.join(" | ");
            let is_it =
                |(file, begin, _): &(&str, &str, _)| *file == document.name && heading.starts_with(begin);
            let Some(at) = TABLES.iter().position(is_it) else {
                wrong.push(format!(
                    "{}:{}: nothing compares these figures",
                    document.name, table.line
                ));
                continue;
            };
            known.insert(at);
            match TABLES[at].2 {
                Counted(file, test) => {
                    let text = fs::read_to_string(root().join(file)).unwrap();
                    assert!(
                        text.contains(&format!("fn {test}()")),
                        "{file} has no test {test}"
                    );
                }
                // The reader can measure them again.
                Measured(command) => {
                    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                    if !words(&document.text).contains(command) {
                        wrong.push(format!("{} does not name `{command}`", document.name));
                    }
                }
                Given(what) => assert!(!what.is_empty()),
            }
        }
    }
    let gone = TABLES.iter().enumerate().filter(|(at, _)| !known.contains(at));
    wrong.extend(gone.map(|(_, (file, heading, _))| format!("{file} has no table {heading:?}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a number with commas between thousands.
pub(crate) fn number(count: impl Display) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the name in a cell, without the marks of code.
fn name(cell: &str) -> &str {
    cell.trim_matches('`')
}

/// Explores a program of the corpus with these settings, with its finding as it was found.
fn explore(program: &str, sets: &[(&str, &str)]) -> Report {
    let (program, arguments): (&Program, Arguments) = parse_full_name(program).unwrap();
    let mut settings: Settings = program.settings();
    for (name, value) in [&[("minimise", "0")], sets].concat() {
        settings.set(name, value).unwrap();
    }
    program
        .explorer(settings, &arguments)
        .explore(program.test(&arguments))
}

/// Compares the rows of a table of `docs/SEARCH.md` with counts for their programs.
fn compare_rows(table: &Table, counted: impl Fn(&str) -> Vec<String>) {
    let mut wrong = Vec::new();
    for row in &table.rows {
        let now = counted(name(&row[0]));
        if now != row[1..] {
            wrong.push(format!(
                "{}: {now:?} now, and {:?} in the document",
                row[0],
                &row[1..]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ranked_search_finds_bugs_as_soon_as_documented() {
    let table = document("docs/SEARCH.md").table("program of the corpus | `dfs preemptions=4`");
    compare_rows(&table, |program| {
        let explored = |strategy, more: &[(&str, &str)]| {
            explore(
                program,
                &[&[("strategy", strategy), ("preemptions", "4")], more].concat(),
            )
        };
        let found = |report: &Report| match report.first_failure() {
            Some(execution) => number(execution),
            None => format!("- ({})", number(report.executions())),
        };
        let ranked = explored("ranked", &[]);
        // `found in rank 2 preemptions, 1 variable, after ..`
        let note = ranked
            .notes()
            .iter()
            .find_map(|note| note.strip_prefix("found in rank "));
        let mut counts = note
            .expect("the rank is noted")
            .split(|c: char| !c.is_ascii_digit());
        let mut count = || counts.find(|word| !word.is_empty()).unwrap();
        let rank = format!("({}, {})", count(), count());
        vec![
            found(&explored("dfs", &[])),
            found(&ranked),
            rank,
            found(&explored("ranked(variables=1)", &[])),
            found(&explored("ranked(threads=2)", &[])),
        ]
    });
}

#[test]
fn ranks_are_as_large_as_documented() {
    let table = document("docs/SEARCH.md").table("executions to the end");
    let bounds = [("2", "none"), ("2", "1"), ("3", "none"), ("3", "2"), ("3", "1")];
    compare_rows(&table, |program| {
        let counted = bounds.iter().map(|(preemptions, variables)| {
            let search = match *variables {
                "none" => "ranked".to_owned(),
                most => format!("ranked(variables={most})"),
            };
            let sets = [
                ("strategy", search.as_str()),
                ("keep_going", "true"),
                ("preemptions", *preemptions),
            ];
            number(explore(program, &sets).executions())
        });
        counted.collect()
    });
}

/// The executions of `dpor` in the table that compares times.
#[test]
fn timed_executions_are_as_many_as_documented() {
    let table = document("docs/SEARCH.md").table("program of the corpus | executions | ratio");
    let programs = [
        "fai-ok,tasks=3,increments=3",
        "fib_bench,iterations=4",
        "big0",
        "ms-queue",
    ];
    for (row, program) in table.rows.iter().zip(programs) {
        let report = explore(
            program,
            &[
                ("strategy", "dfs"),
                ("reduction", "dpor"),
                ("preemptions", "none"),
            ],
        );
        assert_eq!(number(report.executions()), row[1], "{program}");
    }
}

/// Sentences of documents, and the assertions of tests, or the code, that they describe.
const ASSERTED: &[(&str, &str, &str, &str)] = &[
    (
        "docs/IROOTS.md",
        "Of 2,966 predictions, 4 are never exposed (by idiom: 0 of 2,229, 0 of 507, 1 of 153, 3 of 229, 0 of 48)",
        "search/src/classic/maple/tests/against_all.rs",
        "assert_eq!(predictions, [2229, 507, 153, 229, 48]);\n    assert_eq!(empty, [0, 0, 1, 3, 0]);",
    ),
    (
        "docs/IROOTS.md",
        "They miss 37 of these 922, and 17 of 183, 1 of 41, 2 of 116 and 0 of 25 of the other idioms.",
        "search/src/classic/maple/tests/against_all.rs",
        "assert_eq!(there, [922, 183, 41, 116, 25]);\n    assert_eq!(missed, [37, 17, 1, 2, 0]);",
    ),
    (
        "docs/REFINEMENT.md",
        "| `solo_steps` | 1,000 |",
        "refinement/src/settings.rs",
        "SOLO_STEPS: u64 = 1_000;",
    ),
    (
        "docs/REFINEMENT.md",
        "| `solo_preemptions` | 1 |",
        "refinement/src/settings.rs",
        "solo_preemptions: 1,",
    ),
    (
        "docs/REFINEMENT.md",
        "| `executions` | 20,000 |",
        "refinement/src/settings.rs",
        "executions: 20_000,",
    ),
];

#[test]
fn sentences_agree_with_assertions() {
    for (file, sentence, source, code) in ASSERTED {
        let words = document(file)
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(words.contains(sentence), "{file} does not say {sentence:?}");
        let text = fs::read_to_string(root().join(source)).unwrap();
        assert!(
            text.contains(code),
            "{source} has no {code:?}: {file} says {sentence:?}"
        );
    }
}

#[test]
fn counts_in_sentences_are_correct() {
    let first = explore("work_stealing_queue", &[]).executions();
    let others = intermezzo_corpus::programs().len() / 100 * 100;
    let bugs = document("docs/STRATEGIES.md")
        .table("program | `auto`")
        .rows
        .len()
        / 10
        * 10;
    assert_eq!((others, bugs), (200, 40));
    for (file, says) in [
        (
            "docs/guide/src/first-bug.md",
            format!("After {first} executions the tool shows"),
        ),
        (
            "docs/guide/src/first-bug.md",
            "some two hundred more programs".into(),
        ),
        (
            "docs/guide/src/strategy.md",
            "on forty programs with known bugs".into(),
        ),
    ] {
        assert!(
            document(file).text.contains(&says),
            "{file} does not say {says:?}"
        );
    }
}

/// Runs the command under `## How costs grow` that makes this drawing, and compares the result.
fn is_drawn(drawing: &str) {
    let commands = document("docs/BENCHMARKS.md").commands().into_iter();
    let mut found = commands.filter(|command| command.text.ends_with(drawing));
    let command = found
        .next()
        .unwrap_or_else(|| panic!("no command draws {drawing}"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("drawn.svg").display().to_string();
    let words = words(&command.text);
    let words = words
        .iter()
        .skip(2)
        .map(|word| if word == drawing { &file } else { word });
    run(&words.map(String::as_str).collect::<Vec<_>>()).ends_with(0);
    let same = fs::read(&file).unwrap() == fs::read(root().join(drawing)).unwrap();
    assert!(same, "{drawing} is not what is drawn now: {}", command.text);
}

#[test]
fn growth_with_tasks_is_drawn_as_shown() {
    is_drawn("docs/images/growth-reorder.svg");
}

#[test]
#[ignore = "takes a minute"]
fn growth_with_length_is_drawn_as_shown() {
    is_drawn("docs/images/growth-fib_bench.svg");
}
