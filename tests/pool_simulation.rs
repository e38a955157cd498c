//! The number of workers that a pool can use: simulates the exploration of a tree by up to ten thousand workers. This makes
//! the tables of `docs/POOL.md`.
//!
//! `UPDATE_DOCS=1 cargo test --release --test pool_simulation -- --include-ignored` makes the page again.

#[path = "pool_simulation/play.rs"]
mod play;
#[path = "pool_simulation/tree.rs"]
mod tree;

use intermezzo::sync::atomic::{AtomicU64, Ordering::SeqCst};
use intermezzo::{Environment, Explorer, Reduction, Strategy, thread};
use play::{Rules, SECOND, Time, play};
use std::fmt::Write;
use std::fs;
use std::sync::Mutex;
use tree::Tree;

const PAGE: &str = include_str!("pool_simulation/page.md");

/// The rules of each row that names no others, as in `docs/guide/src/pool.md`.
const RULES: Rules = Rules {
    workers: 1,
    execution: SECOND / 100,
    process: SECOND / 10,
    message: SECOND / 1000,
    life: None,
    split_after: 2 * SECOND,
    look: SECOND / 2,
    patience: 8,
    stock: 0,
    runs_others: true,
    throws_away: true,
    seed: 7,
};

/// Two tasks that add to each other's number, and one that reads both.
fn fibonacci(rounds: u32) {
    let numbers = [AtomicU64::new(1), AtomicU64::new(1)];
    let [x, y] = &numbers;
    thread::scope(|scope| {
        for (to, from) in [(x, y), (y, x)] {
            scope.spawn(move || {
                for _ in 0..rounds {
                    to.store(to.load(SeqCst) + from.load(SeqCst), SeqCst);
                }
            });
        }
        x.load(SeqCst);
        y.load(SeqCst);
    });
}

/// Tasks that write to one number.
fn writers(tasks: u64) {
    let number = AtomicU64::new(0);
    thread::scope(|scope| {
        for task in 0..tasks {
            let number = &number;
            scope.spawn(move || number.store(task, SeqCst));
        }
    });
}

/// Explores a program, and returns its tree.
fn explored(program: impl Fn() + Send + Sync) -> Tree {
    let tree = Mutex::new(Tree::new());
    let report = Explorer::new()
        .strategy(Strategy::dfs())
        .reduction(Reduction::Dpor)
        .environment(Environment::calm())
        .explore(|| {
            program();
            let choices = intermezzo::choices().expect("it is explored");
            tree.lock().unwrap().add(choices);
        });
    assert!(report.verdict().is_pass(), "{report}");
    let tree = tree.into_inner().unwrap();
    assert_eq!(tree.executions(Some(Tree::WHOLE)), report.executions());
    tree
}

/// Returns the useful fraction of the workers' time: the time that one worker needs, divided by the time of all workers.
fn efficiency(tree: &Tree, rules: Rules) -> f64 {
    let whole = tree.executions(Some(Tree::WHOLE)) * rules.execution;
    whole as f64 / (rules.workers as f64 * play(tree, rules) as f64)
}

fn percent(efficiency: f64) -> String {
    format!("{:.0} %", 100.0 * efficiency)
}

fn seconds(time: Time) -> String {
    format!("{} s", time as f64 / SECOND as f64)
}

/// Returns a table with a row for each title. Each cell is the result under the rules of its column.
fn table(
    tree: &Tree,
    first: &str,
    rows: &[(String, Rules)],
    columns: &[(String, &dyn Fn(Rules) -> Rules)],
) -> String {
    let titles: Vec<&str> = columns.iter().map(|(title, _)| title.as_str()).collect();
    let mut text = format!(
        "| {first} | {} |\n|---|{}",
        titles.join(" | "),
        "---:|".repeat(columns.len())
    );
    for (title, rules) in rows {
        write!(text, "\n| {title} |").unwrap();
        for (_, change) in columns {
            write!(text, " {} |", percent(efficiency(tree, change(*rules)))).unwrap();
        }
    }
    text
}

const WORKERS: [usize; 5] = [1, 10, 100, 1_000, 10_000];

fn by_workers(tree: &Tree) -> String {
    let rows = [SECOND / 1000, SECOND / 100, SECOND / 10].map(|execution| {
        let title = format!("{} ms", execution * 1000 / SECOND);
        (title, Rules { execution, ..RULES })
    });
    let set: Vec<_> = WORKERS
        .map(|workers| (workers.to_string(), move |rules| Rules { workers, ..rules }))
        .into();
    let columns: Vec<(String, &dyn Fn(Rules) -> Rules)> =
        set.iter().map(|(title, set)| (title.clone(), set as _)).collect();
    table(tree, "an execution takes", &rows, &columns)
}

/// Returns the table for a thousand workers under other rules.
fn by_rules(tree: &Tree) -> String {
    let rules = Rules {
        workers: 1_000,
        ..RULES
    };
    let mut rows = vec![("as above".to_owned(), rules)];
    rows.extend([SECOND / 2, SECOND, 4 * SECOND, 8 * SECOND].map(|split_after| {
        let title = format!("divided after {}", seconds(split_after));
        (title, Rules { split_after, ..rules })
    }));
    rows.extend([2, 32].map(|patience| {
        let title = format!("divided when a worker has waited for 1/{patience} of its time");
        (title, Rules { patience, ..rules })
    }));
    rows.extend([1, 4, 16].map(|stock| {
        let title = format!("divided at once while fewer than {stock} shares a worker are queued");
        (title, Rules { stock, ..rules })
    }));
    rows.extend([10, 100].map(|ms| {
        let title = format!("a message takes {ms} ms");
        (
            title,
            Rules {
                message: ms * SECOND / 1000,
                ..rules
            },
        )
    }));
    rows.extend([1, 10].map(|s| {
        let title = format!("the process of a share takes {s} s more");
        (
            title,
            Rules {
                process: s * SECOND + rules.process,
                ..rules
            },
        )
    }));
    rows.extend([60, 10].map(|minutes| {
        let title = format!("a worker ends every {minutes} minutes, and is away for one");
        (
            title,
            Rules {
                life: Some(minutes * 60 * SECOND),
                ..rules
            },
        )
    }));
    let keeps = Rules {
        throws_away: false,
        ..rules
    };
    let alone = Rules {
        runs_others: false,
        ..rules
    };
    let neither = Rules {
        runs_others: false,
        ..keeps
    };
    rows.push(("if the executions of divided shares were kept".to_owned(), keeps));
    rows.push(("if no prefix of another share was run".to_owned(), alone));
    rows.push(("if both were so".to_owned(), neither));
    let set = [1, 10, 100].map(|ms| {
        (format!("{ms} ms"), move |rules| Rules {
            execution: ms * SECOND / 1000,
            ..rules
        })
    });
    let columns: Vec<(String, &dyn Fn(Rules) -> Rules)> =
        set.iter().map(|(title, set)| (title.clone(), set as _)).collect();
    table(tree, "1,000 workers", &rows, &columns)
}

#[test]
fn the_simulation_explores_the_whole_tree() {
    let tree = explored(|| fibonacci(3));
    let whole = tree.executions(Some(Tree::WHOLE));
    for share in 0.. {
        let within = tree.divided(Some(share));
        if share > 0 && within.is_empty() {
            break;
        }
        let sum: u64 = within.iter().map(|&(share, _)| tree.executions(share)).sum();
        assert!(
            share == Tree::WHOLE && sum == whole
                || share != Tree::WHOLE && sum <= tree.executions(Some(share))
        );
    }
    // One worker divides nothing.
    let alone = play(&tree, RULES);
    assert_eq!(alone, whole * RULES.execution + RULES.process + 3 * RULES.message);
    // No pool is faster than workers without pauses, and several workers are faster than one.
    for workers in [2, 10, 100] {
        let rules = Rules { workers, ..RULES };
        let efficiency = efficiency(&tree, rules);
        assert!(efficiency > 0.0 && efficiency <= 1.0, "{workers}: {efficiency}");
        assert!(play(&tree, rules) < alone, "{workers}");
        let fails = Rules {
            life: Some(20 * SECOND),
            ..rules
        };
        assert!(play(&tree, fails) > play(&tree, rules), "{workers}");
    }
}

#[test]
#[ignore = "takes a minute"]
fn the_page_has_the_simulated_figures() {
    let (skewed, even) = (explored(|| fibonacci(6)), explored(|| writers(9)));
    let executions = |tree: &Tree| tree.executions(Some(Tree::WHOLE)).to_string();
    let page = PAGE
        .replace("{skewed}", &executions(&skewed))
        .replace("{even}", &executions(&even))
        .replace("{by workers}", &by_workers(&skewed))
        .replace("{by workers, even}", &by_workers(&even))
        .replace("{by rules}", &by_rules(&skewed));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/POOL.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, page).unwrap();
    } else {
        let written = fs::read_to_string(path).unwrap();
        assert_eq!(written, page, "UPDATE_DOCS=1 makes {path} again");
    }
}
