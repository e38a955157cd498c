//! The command line of `memo`.

use clap::{Args, Subcommand};
use intermezzo::IRootId;
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum MemoCommand {
    Show(MemoShowArgs),
    Merge(MemoMergeArgs),
    Forget(MemoForgetArgs),
}

/// Lists the iRoots of a memo: those that were exposed, and those that were tried without success
#[derive(Args, Debug)]
#[command(after_help = SHOW_HELP)]
pub(crate) struct MemoShowArgs {
    /// The memo
    pub(crate) file: PathBuf,
    /// Prints one JSON value on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

const SHOW_HELP: &str = "\
Example:
  cargo intermezzo memo show iroots.memo

The first column is what `maple(target=IROOT)` and `memo forget` take.
JSON: { file, iroots: [{ id, name, exposed, attempts }], tests: { NAME: { explorations, executions, attempts } } }.";

/// Adds memos to another memo, for example those of several machines
///
/// iRoots that a memo has for another version of a source file are left out. Attempts without success are summed, so a
/// memo that is added twice counts twice.
#[derive(Args, Debug)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MemoMergeArgs {
    /// The memos to add
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The memo to which they are added; it is created if there is none
    #[arg(long, value_name = "FILE")]
    pub(crate) into: PathBuf,
}

const MERGE_HELP: &str = "\
Example:
  cargo intermezzo memo merge one.memo two.memo --into iroots.memo";

/// Removes iRoots from a memo, so that searches try them again
#[derive(Args, Debug)]
#[command(after_help = FORGET_HELP)]
pub(crate) struct MemoForgetArgs {
    /// The memo
    pub(crate) file: PathBuf,
    /// The iRoots, as `memo show` names them
    #[arg(value_name = "IROOT", required_unless_present_any = ["source", "tried"])]
    pub(crate) iroots: Vec<IRootId>,
    /// Removes those with a place in this source file: `ring.rs`, `src/ring.rs`
    #[arg(long, value_name = "FILE")]
    pub(crate) source: Option<PathBuf>,
    /// Removes those that were tried without success
    #[arg(long)]
    pub(crate) tried: bool,
}

const FORGET_HELP: &str = "\
Examples:
  cargo intermezzo memo forget iroots.memo 1f0c93ab
  cargo intermezzo memo forget iroots.memo --source src/ring.rs --tried

An iRoot is removed if any of these holds.";
