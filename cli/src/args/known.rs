//! The command line of `list` and `explain`.

use super::CargoArguments;
use clap::Args;

/// Lists the tests of this project, and which of them are explored
///
/// Builds the tests and asks each binary for their names; no test is run. Doctests are not listed, and a test of an object
/// (`refine`) in a plain `#[test]` counts as not explored.
#[derive(Args, Debug)]
#[command(after_help = LIST_HELP)]
pub(crate) struct ListTestsArgs {
    /// Prints one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) cargo: CargoArguments,
}

const LIST_HELP: &str = "\
Examples:
  cargo intermezzo list
  cargo intermezzo list -p my-queue --lib -- push

JSON: { tests: [{ program, package, target, explored }] }. Exit code 3: no test is explored.";

/// Explains a kind of finding: what it means, why it is one, and what to do
#[derive(Args, Debug)]
#[command(after_help = EXPLAIN_HELP)]
pub(crate) struct ExplainArgs {
    /// The kind, as in a failure's first line: `deadlock` of `error[deadlock]`; without it, all kinds are listed
    pub(crate) kind: Option<String>,
    /// Prints one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPLAIN_HELP: &str = "\
JSON: { kind, meaning, why, next }; without a kind an array of these.";
