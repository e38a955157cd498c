//! The command line as the user writes it.

mod known;
mod memo;
mod passed_on;
mod pool;
mod program;
mod tune;

pub(crate) use known::{ExplainArgs, ListTestsArgs};
pub(crate) use memo::{MemoCommand, MemoForgetArgs, MemoMergeArgs, MemoShowArgs};
pub(crate) use passed_on::ours_first;
pub(crate) use pool::{PoolCommand, PoolStatusArgs, WorkerArgs};
pub(crate) use program::{Around, ProgramArgs};
pub(crate) use tune::TuneArgs;

use crate::command_flags::CommandFlags;
use crate::debugger::Debugger;
use crate::search_flags::{LimitFlags, SearchFlags, seconds};
use clap::{Args, Parser, Subcommand, ValueEnum};
use intermezzo::StopPoint;
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing was found
  1  something was found, or a test failed
  2  the command cannot be carried out as given (flags, names, files, a project that does not build)
  3  no verdict: inconclusive, a replay that diverged, nothing explored
  4  internal error

With --json, stdout gets exactly one JSON value, or nothing if the command cannot be carried out.
Problems are reported on stderr, as text, and so is progress, on a terminal only.";

/// Finds the interleavings that break concurrent Rust code
#[derive(Parser, Debug)]
#[command(name = "cargo-intermezzo", bin_name = "cargo intermezzo", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Test(Box<TestArgs>),
    Run(Box<ProgramArgs>),
    Merge(MergeArgs),
    Worker(WorkerArgs),
    /// Pools of workers, over NATS
    Pool {
        #[command(subcommand)]
        command: PoolCommand,
    },
    Replay(ReplayArgs),
    Config(Box<ConfigArgs>),
    List(ListTestsArgs),
    Explain(ExplainArgs),
    Tune(Box<TuneArgs>),
    View(ViewArgs),
    /// Programs with known verdicts: the first thing to try
    Corpus {
        #[command(subcommand)]
        command: CorpusCommand,
    },
    Breakpoints(BreakpointsArgs),
    /// Memos of iRoots, which searches by `maple` keep: show, merge and edit them
    Memo {
        #[command(subcommand)]
        command: MemoCommand,
    },
    /// Recorded histories of concurrent objects
    History {
        #[command(subcommand)]
        command: HistoryCommand,
    },
    /// Monitors, which observe executions: list them, create new ones, check files
    Monitor {
        #[command(subcommand)]
        command: MonitorCommand,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum HistoryCommand {
    Check(CheckArgs),
}

#[derive(Subcommand, Debug)]
pub(crate) enum MonitorCommand {
    List(MonitorListArgs),
    New(MonitorNewArgs),
    Check(MonitorCheckArgs),
}

#[derive(Subcommand, Debug)]
pub(crate) enum CorpusCommand {
    List(ListArgs),
    Run(Box<RunArgs>),
}

/// Runs this project's tests with the given search settings, and summarises what was explored
///
/// Runs `cargo test` with the flags' settings in environment variables (`INTERMEZZO_PREEMPTIONS=2`), which override
/// those of `#[intermezzo::test(..)]`; then prints a line for each explored test, beginning with those that need
/// attention. Cargo's own arguments and these flags may come in any order. Other arguments, and those after `--`, are
/// passed on to cargo.
#[derive(Args, Debug)]
#[command(after_help = TEST_HELP)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) command: CommandFlags,
    #[command(flatten)]
    pub(crate) results: ResultFlags,
    /// Explores with all workers of this pool: a NATS server with JetStream, and the name of a stream in it (see `worker`)
    #[arg(long, value_name = "nats://HOST:4222/STREAM")]
    pub(crate) pool: Option<String>,
    /// Divides a share that has run for this many seconds, if another worker is idle [default: 2]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, requires = "pool")]
    pub(crate) split_after: Option<Duration>,
    #[command(flatten)]
    pub(crate) cargo: CargoArguments,
}

/// The results of a run of tests or of a program
#[derive(Args, Debug)]
pub(crate) struct ResultFlags {
    /// Writes the findings of this run into the baseline, so that they count as known from now on
    #[arg(long)]
    pub(crate) update_baseline: bool,
    /// Writes each report to this directory, and a schedule file for each finding
    #[arg(long, value_name = "DIR")]
    pub(crate) reports: Option<PathBuf>,
    /// Writes a page to this file that shows the findings' executions event by event (see `view`)
    #[arg(long, value_name = "FILE")]
    pub(crate) view: Option<PathBuf>,
    /// Prints one JSON value on stdout, and cargo's output on stderr
    #[arg(long)]
    pub(crate) json: bool,
}

const TEST_HELP: &str = "\
Examples:
  cargo intermezzo test --preemptions 2
  cargo intermezzo test --strategy random --executions 10_000 -p my-queue --lib push -- --nocapture
  cargo intermezzo test --jobs 2 --checkpoint target/searches

JSON: { arguments: [..], started, ended, verdict, cargo_test: \"passed\" | \"failed\", reports: [..], baseline?: { known,
gone } }. `known` and `gone` are the findings { test, in, kind, at } of the baseline that were found, and those that were
not found any more; times are in UTC.
Exit code 2: the project does not build, cargo cannot be run, or a test cannot be run with its settings.
Exit code 3: nothing was explored.";

/// Merges the reports of all shares of a search into one
///
/// Each machine explores one share (`test --partition 3/8 --reports DIR`). This command reads their reports, checks that
/// all shares of one search are there, and prints the verdict on the whole search. Coverage is full only if every share
/// ended.
#[derive(Args, Debug)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// The reports of all shares: files, or directories with files
    #[arg(value_name = "REPORT", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Writes each merged report to this directory, and a schedule file for each finding
    #[arg(long, value_name = "DIR")]
    pub(crate) reports: Option<PathBuf>,
    /// Writes a page to this file that shows the findings' executions event by event (see `view`)
    #[arg(long, value_name = "FILE")]
    pub(crate) view: Option<PathBuf>,
    /// Prints { verdict, reports: [..] } as one JSON value on stdout, with reports in the form of `test`
    #[arg(long)]
    pub(crate) json: bool,
}

const MERGE_HELP: &str = "\
Examples:
  cargo intermezzo test --strategy dfs --reduction dpor --partition 1/2 --reports shares/1
  cargo intermezzo test --strategy dfs --reduction dpor --partition 2/2 --reports shares/2
  cargo intermezzo merge shares

Exit codes: those of `test`. 2: a share is missing, occurs twice, or belongs to another search; or a file is not a report.";

/// The arguments of `cargo test`
#[derive(Args, Debug)]
pub(crate) struct CargoArguments {
    /// Arguments of `cargo test`, and after a further `--`, of the test binaries
    #[arg(
        value_name = "CARGO TEST ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) cargo: Vec<OsString>,
}

/// Replays a schedule
///
/// A schedule of a program of the corpus is run directly. Any other belongs to a test or a program of the project in the
/// current directory: `cargo test` runs just that test, or `cargo run` the program. A schedule of a test of an object
/// (`refine`) does not name its test: name it after `--`, as the failure does. A replay uses the environment and the
/// limit of steps with which the schedule was recorded; the size of stacks is not part of a schedule.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_HELP)]
pub(crate) struct ReplayArgs {
    /// A token (`imz1.…`), or the path of a schedule file
    #[arg(value_name = "SCHEDULE")]
    pub(crate) schedule: String,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
    #[command(flatten)]
    pub(crate) around: Around,
    /// Writes a page to this file that shows the execution event by event (see `view`)
    #[arg(long, value_name = "FILE")]
    pub(crate) view: Option<PathBuf>,
    /// Stops before this step, and shows the events so far, the task's stack and the enabled tasks: `task 1 step 14`,
    /// `event 18`, or a place such as `ring.rs:12`
    #[arg(long = "break", value_name = "STEP")]
    pub(crate) stop: Option<StopPoint>,
    /// Runs the test in this debugger, which stops there too
    #[arg(long, value_enum, value_name = "NAME", requires = "stop")]
    pub(crate) debugger: Option<Debugger>,
    /// Prints the report as one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// More arguments of `cargo test`, and after a further `--`, of the test binary. For a program: arguments of
    /// `cargo run`, then `--` and the program's own
    #[arg(value_name = "CARGO TEST ARGS", last = true)]
    pub(crate) cargo: Vec<OsString>,
}

/// Shows the settings of each explored test of this project, and their origins
///
/// Runs `cargo test`, in which explored tests then report their settings instead of exploring. Tests that are not
/// explored run as usual; to leave them out, name the tests that you want. The flags are those of `test`, and may come in
/// any order with cargo's own arguments.
#[derive(Args, Debug)]
#[command(after_help = CONFIG_HELP)]
pub(crate) struct ConfigArgs {
    /// Shows every setting, including those that have their defaults
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    /// Prints one JSON value on stdout, and cargo's output on stderr
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) cargo: CargoArguments,
}

const CONFIG_HELP: &str = "\
From weakest to strongest: defaults, intermezzo.toml for all tests, the test's #[intermezzo::test(..)], intermezzo.toml for this
test, environment variables (INTERMEZZO_PREEMPTIONS=2), flags. INTERMEZZO_CONFIG names another file, or `none`; without
it the nearest one from the package's directory up to the workspace's is used.

  executions = 50_000             # intermezzo.toml: every test of the package

  [test.\"ring::no_item_is_lost\"]  # this one: the end of its path, in whole names; * matches anything
  preemptions = 3
  monitors = [\"data-race\", \"leak\"]

JSON: { tests: [{ program, config, layers: [{ setting, value, from, .. }], refused? }] }. The effective layer of a setting
comes last; `from` is \"default\" (with --all), \"config\", \"attribute\", \"variable\" or \"flag\"; `refused` is the reason why
these settings contradict each other. Exit code 2: the settings of some test contradict each other.";

const REPLAY_HELP: &str = "\
Exit code 1: the schedule shows a finding. 0: it no longer does. 3: the program departed from the schedule, because it
was changed since, or does not do the same thing twice. With --debugger a replay of the corpus ends with the debugger's
code.

  cargo intermezzo replay TOKEN --break 'task 1 step 14' --debugger gdb";

/// Shows a report as a page, or in a format of other tools
///
/// The page is one file that needs no network: tasks as columns, time downwards, the happens-before order, the tasks
/// that could continue at each step, the source. It shows everything in the report, but only recorded executions contain
/// all of this: `test --view`, `replay --view` and `corpus run --view` record them, and so does `test` with
/// INTERMEZZO_RECORD=1.
#[derive(Args, Debug)]
#[command(after_help = VIEW_HELP)]
pub(crate) struct ViewArgs {
    /// The report: a file of `test --reports DIR`, or the output of `--json`; for a directory of reports, the page
    /// lists its tests
    pub(crate) report: PathBuf,
    /// The format of the output
    #[arg(long, value_name = "NAME", default_value = "html")]
    pub(crate) format: Format,
    /// The file to write, or `-` for stdout [default: a file in the current directory, named after the report]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Opens the page in a browser, or does not [default: only if this is a terminal]
    #[arg(long, value_name = "WHEN")]
    pub(crate) open: Option<Open>,
    /// Overwrites the file even if it was not written by `view`
    #[arg(long)]
    pub(crate) force: bool,
    /// Prints { file, format, bytes } as one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// The format of an exported report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// A page, one file
    Html,
    /// A trace for ui.perfetto.dev and chrome://tracing
    Perfetto,
    /// A log with vector clocks for ShiViz
    Shiviz,
    /// SARIF 2.1.0: findings for editors and code hosts
    Sarif,
    /// JUnit XML: tests and failures for CI servers
    Junit,
    /// The happens-before graph, for Graphviz
    Dot,
}

/// The choice of opening the page in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Open {
    /// In the browser
    Yes,
    /// Not at all
    No,
}

const VIEW_HELP: &str = "\
Examples:
  cargo intermezzo corpus run work_stealing_queue --view deque.html
  cargo intermezzo test --view target/failures.html
  cargo intermezzo view report.json --format sarif --out report.sarif
  cargo intermezzo view reports --out tests.html

docs/VIEW.md describes the page and the formats.";

/// Lists the programs, their parameters with defaults, and their expected verdicts
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Prints a JSON array of { name, about, expected, parameters, settings } on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Explores a program, or all of them
///
/// Each program has settings of its own. Environment variables override these, and flags override both.
#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// The program, with parameters if any: `counter,tasks=2` [default: all programs]
    pub(crate) name: Option<String>,
    /// Sets a parameter of the program
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "name")]
    pub(crate) sets: Vec<String>,
    /// Writes the first finding's schedule to this file, which must be new or a schedule file
    #[arg(long, value_name = "FILE", requires = "name")]
    pub(crate) schedule_out: Option<PathBuf>,
    /// Writes a page to this file that shows the findings' executions event by event (see `view`)
    #[arg(long, value_name = "FILE", requires = "name")]
    pub(crate) view: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    /// Prints the report as one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const RUN_HELP: &str = "\
With a name, the exit code is the verdict's: 0 pass, 1 findings, 3 inconclusive. Without one, a line for each program
gives its verdict and says whether it is the expected one; the exit code is 0 if all are, and 1 if not.

intermezzo.toml is ignored: it is for the tests of a package, and the expected verdict of a program holds for the
program's own settings, in any directory. The same goes for `detail`: it takes a flag, or INTERMEZZO_DETAIL.

JSON: the report; without a name, an array of { name, expected, met, report }.";

/// Tries both orders of every two places that contend, and shows how often the test fails in each
///
/// Random executions show which places contend for a lock, an atomic, a condition variable or plain memory. For each order
/// of two such places, the same number of random executions is run with a breakpoint, which holds one task until the other
/// has gone first.
#[derive(Args, Debug)]
#[command(after_help = BREAKPOINTS_HELP)]
pub(crate) struct BreakpointsArgs {
    #[command(subcommand)]
    pub(crate) of: BreakpointsOf,
    /// Executions for each line of the table
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..), global = true)]
    pub(crate) runs: u64,
    /// Limits the number of pairs of a test that are tried
    #[arg(long, value_name = "N", default_value_t = 30, global = true)]
    pub(crate) pairs: usize,
    /// Seed of the random executions
    #[arg(long, value_name = "N", default_value_t = 0, global = true)]
    pub(crate) seed: u64,
    /// Prints one JSON value on stdout
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BreakpointsOf {
    /// Tries the places of a program of the corpus
    Corpus {
        /// The program
        name: String,
        /// Sets a parameter of the program
        #[arg(long = "set", value_name = "NAME=VALUE")]
        sets: Vec<String>,
    },
    /// Tries the places of this project's explored tests
    Tests {
        /// Arguments of `cargo test`, after `--`
        #[arg(value_name = "CARGO TEST ARGS", last = true)]
        cargo: Vec<OsString>,
    },
}

const BREAKPOINTS_HELP: &str = "\
Examples:
  cargo intermezzo breakpoints corpus lostupd
  cargo intermezzo breakpoints tests --runs 50 -- -p my-queue --lib

FAILS and HIT are shares of the executions: those in which the test failed, and those in which the two tasks met.
UNMET counts the times that a task was held until no other task could continue. An order that fails far more often
than the others, and is hit where it fails, is the cause; docs/BREAKPOINTS.md shows how to write it into the code.

Exit codes: 0 nothing failed, 1 something did, 3 nothing was explored.

JSON: { runs, seed, programs: [{ program, unarmed, orders: [{ armed, executions, failures, kinds, hit, in_vain }],
left_out }] }, `unarmed` like an order without `armed`.";

/// Checks whether a recorded history is linearizable
///
/// A history is linearizable if each operation can be assigned a moment between its call and its return such that the
/// operations, performed one at a time in the order of these moments, return the same results.
#[derive(Args, Debug)]
#[command(after_help = HISTORY_HELP)]
pub(crate) struct CheckArgs {
    /// The history
    pub(crate) file: PathBuf,
    /// The object of the history: register (cas-register), queue, stack, priority-queue, set, counter, map (kv); not needed
    /// if the file names it
    #[arg(long, value_name = "NAME")]
    pub(crate) spec: Option<String>,
    /// The format: jepsen, edn, calls, json [default: recognised from the contents]
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Gives up after this many states, of each key if there are keys
    #[arg(long, value_name = "N", default_value_t = intermezzo::refinement::recorded::STATES_MAX)]
    pub(crate) states: u64,
    /// Gives up after this many seconds, or `none` for no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = time_limit)]
    pub(crate) time: Duration,
    /// Prints one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const HISTORY_HELP: &str = "\
Formats:
  jepsen  INFO  jepsen.util - 0  :invoke  :write  4     :info is an unknown outcome, :fail did not happen
  edn     {:process 0, :type :invoke, :f :append, :key \"a\", :value \"x\"}
  calls   [1] call push(a)  and  [1] return empty       # @object stack names the object
  json    intermezzo-history/1

Exit codes: 0 linearizable, 1 not linearizable, 2 the file is not such a history, 3 inconclusive.

JSON: { file, format, spec, operations, verdict: \"linearizable\" | \"not_linearizable\" | \"inconclusive\", checker,
why?, longest?, stuck?, concerned? }, the last three arrays of operations.";

/// Lists the monitors that ship with intermezzo
#[derive(Args, Debug)]
pub(crate) struct MonitorListArgs {
    /// Prints a JSON array of { name, about } on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Creates a project for a new monitor, in a new directory of that name
///
/// The project compiles as it is, into a plugin: a library that `--monitor` loads. docs/MONITORS.md describes the next
/// steps.
#[derive(Args, Debug)]
#[command(after_help = NEW_HELP)]
pub(crate) struct MonitorNewArgs {
    /// The monitor's name: letters, digits, `-` and `_`
    pub(crate) name: String,
    /// Creates it in C, with a Makefile and the header, instead of in Rust
    #[arg(long)]
    pub(crate) c: bool,
    /// Prints { name, language, files, library } as one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const NEW_HELP: &str = "\
Examples:
  cargo intermezzo monitor new no-relaxed
  cd no-relaxed && cargo build && cargo intermezzo monitor check target/debug/libno_relaxed.so

Nothing is overwritten: an existing file or directory of that name is a usage error.";

/// Checks whether a file is a monitor that can be loaded
///
/// Reads the headers of the file. Then another process loads it, creates the monitor, and passes it an execution with every
/// event that a monitor can receive.
#[derive(Args, Debug)]
#[command(after_help = CHECK_HELP)]
pub(crate) struct MonitorCheckArgs {
    /// The library
    pub(crate) file: PathBuf,
    /// Arguments for the monitor
    #[arg(long, value_name = "ARGS", default_value = "")]
    pub(crate) arguments: String,
    /// Prints { file, loadable, problem } as one JSON value on stdout; for a monitor also its name, plugin_version,
    /// interests, reduction_compatible, follows_stale_reads and complaints
    #[arg(long)]
    pub(crate) json: bool,
}

const CHECK_HELP: &str = "\
Exit code 0: the monitor was loaded and handled every event. 1: it cannot be loaded, or it complains. 2: there is no file.";

/// Returns the arguments as if the binary had been called by its own name, without the word `intermezzo` that cargo puts
/// first.
pub(crate) fn without_subcommand_word(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    if args.get(1).is_some_and(|word| word == "intermezzo") {
        args.remove(1);
    }
    args
}

/// Parses a time limit in the form of the setting `time`; `Duration::MAX` means none.
fn time_limit(value: &str) -> Result<Duration, String> {
    let mut settings = intermezzo::Settings::default();
    settings.set("time", value).map_err(|error| error.problem)?;
    Ok(settings.time.unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_subcommand_word_is_optional() {
        for words in [
            &["exe", "intermezzo", "corpus", "list"][..],
            &["exe", "corpus", "list"],
        ] {
            let args = without_subcommand_word(words.iter().map(OsString::from));
            assert_eq!(args, ["exe", "corpus", "list"]);
        }
        assert_eq!(
            without_subcommand_word(["exe"].iter().map(OsString::from)),
            ["exe"]
        );
    }
}
