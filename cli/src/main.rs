//! `cargo intermezzo`: the only crate of the workspace that parses flags, prints, and writes files.
//!
//! A command is a function from its flags to an [`Exit`] or a [`Problem`]. Its results go to stdout through
//! [`output`], as text or as one JSON value; problems and progress go to stderr.

mod args;
mod breakpoints;
mod cargo;
mod clock;
mod command_flags;
mod corpus;
mod debugger;
mod exit;
mod explain;
mod files;
mod guard;
mod history;
mod memo;
mod monitor;
mod output;
mod problem;
mod progress;
mod project;
mod replay;
mod search_flags;
mod tune;
mod unmodified;
mod view;

use args::{Cli, Command, CorpusCommand, HistoryCommand, MemoCommand, MonitorCommand, PoolCommand};
use clap::Parser;
use exit::Exit;
use problem::Problem;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(compiled) = unmodified::wrapper::run() {
        return compiled;
    }
    if let Some(ended) = project::pool::run_for_worker() {
        return ended;
    }
    guard::guarded(|| {
        let args = args::without_subcommand_word(std::env::args_os());
        let args = args::ours_first(args).unwrap_or_else(|error| error.exit());
        let cli = Cli::parse_from(args);
        run(cli.command).unwrap_or_else(|problem| {
            output::complain(&problem.to_string());
            problem.exit()
        })
    })
    .into()
}

fn run(command: Command) -> Result<Exit, Problem> {
    match command {
        Command::Test(args) => project::test::run(*args),
        Command::Run(args) => project::program::run(*args),
        Command::Merge(args) => project::merge::run(&args),
        Command::Worker(args) => project::pool::worker(args),
        Command::Pool {
            command: PoolCommand::Status(args),
        } => project::pool::status(&args),
        Command::Replay(args) => replay::run(args),
        Command::Config(args) => project::config::run(*args),
        Command::List(args) => project::list::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::View(args) => view::run(&args),
        Command::Corpus {
            command: CorpusCommand::List(args),
        } => corpus::list::run(args),
        Command::Corpus {
            command: CorpusCommand::Run(args),
        } => corpus::run::run(*args),
        Command::Breakpoints(args) => breakpoints::run(&args),
        Command::History {
            command: HistoryCommand::Check(args),
        } => history::check::run(args),
        Command::Memo { command } => match command {
            MemoCommand::Show(args) => memo::show(&args),
            MemoCommand::Merge(args) => memo::merge(&args),
            MemoCommand::Forget(args) => memo::forget(&args),
        },
        Command::Monitor { command } => match command {
            MonitorCommand::List(args) => monitor::list(&args),
            MonitorCommand::New(args) => monitor::new::run(&args),
            MonitorCommand::Check(args) => monitor::check::run(&args),
        },
    }
}
