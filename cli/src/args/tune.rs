//! The arguments of `tune`.

use crate::search_flags::seconds;
use clap::Args;
use intermezzo::Settings;
use std::path::PathBuf;
use std::time::Duration;

/// Compares searches, on programs of the corpus or on this project's tests
///
/// Without strategies, reductions or bounds, the usual searches are compared within 30 seconds: all of them for a few
/// executions, the better half of them for more, and so on. Otherwise each program is explored by each search: every
/// strategy with every reduction, bound on preemptions and memory budget that is given. A search stops at the first
/// failure. Strategies that draw at random are run once for each seed. Combinations of settings that are not possible are
/// shown as refused, with the reason.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct TuneArgs {
    /// Programs of the corpus, with parameters if any: `counter,tasks=2`
    #[arg(value_name = "PROGRAM", required_unless_present_any = ["bugs", "test"], conflicts_with_all = ["bugs", "test"])]
    pub(crate) programs: Vec<String>,
    /// Compares on the table of buggy programs, and prints a page with the published figures (Markdown)
    #[arg(long, conflicts_with_all = ["grow", "sets", "test"])]
    pub(crate) bugs: bool,
    /// Compares on this project's tests, with these arguments of `cargo test`; must be the last flag
    #[arg(long, value_name = "CARGO TEST ARGS", num_args = 0.., allow_hyphen_values = true,
          conflicts_with_all = ["grow", "sets"])]
    pub(crate) test: Option<Vec<std::ffi::OsString>>,
    /// Sets a parameter of each program
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Explores each program with each value of a parameter, to see how the cost grows
    #[arg(long, value_name = "NAME=FROM..TO")]
    pub(crate) grow: Option<String>,
    /// Strategies, written as for the setting `strategy`; `dfs(N)` allows at most N preemptions
    #[arg(long, value_name = "LIST")]
    pub(crate) strategies: Option<String>,
    /// Reductions
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = setting("reduction"))]
    pub(crate) reductions: Vec<String>,
    /// Bounds on preemptions, or `none`
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = setting("preemptions"))]
    pub(crate) preemptions: Vec<String>,
    /// Memory budgets for the states and traces that a search remembers, in bytes
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes)]
    pub(crate) cache_bytes: Vec<String>,
    /// Seeds of each strategy that draws at random: 0, 1, ..
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// Limits the number of executions of each search
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) executions: u64,
    /// Limits the time in seconds, if no strategies, reductions or bounds are given
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with_all = ["strategies", "reductions", "preemptions", "bugs"])]
    pub(crate) time: Option<Duration>,
    /// Any other setting, for all searches
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = any_setting)]
    pub(crate) settings: Vec<(String, String)>,
    /// Keeps results in this directory, and continues from them if the comparison was interrupted
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Draws the results to this file, which must be new or an earlier drawing
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Leaves out everything that depends on the machine, so that the same command prints the same text
    #[arg(long)]
    pub(crate) no_times: bool,
    /// Prints one JSON value on stdout
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Prints the table as CSV on stdout
    #[arg(long)]
    pub(crate) csv: bool,
}

const HELP: &str = "\
Examples:
  cargo intermezzo tune --time 60 --test push
  cargo intermezzo tune work_stealing_queue --strategies dfs,random --preemptions 1,2,none
  cargo intermezzo tune counter --grow tasks=2..4 --reductions none,dpor --svg growth.svg
  cargo intermezzo tune --strategies random --seeds 5 --out target/tune --test push

JSON: { programs, cells: [{ program, strategy, reduction, preemptions, cache_bytes?, refused? | runs, found, .. }],
growth: [..], advice: [..] }. A comparison that was carried out is exit code 0, whatever was found.";

/// Accepts the values that `Settings::set` accepts for this setting, with its error message.
fn setting(name: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync + 'static {
    move |value| {
        let set = Settings::default().set(name, value);
        set.map(|()| value.to_owned()).map_err(|error| error.problem)
    }
}

/// Accepts a number of bytes.
fn bytes(value: &str) -> Result<String, String> {
    any_setting(&format!("reduction=cache_bytes={value}")).map(|_| value.to_owned())
}

/// The default time limit.
const TIME: Duration = Duration::from_secs(30);

impl TuneArgs {
    /// `true` if no flag chooses the searches to compare.
    pub(crate) fn is_open(&self) -> bool {
        let lists = [&self.reductions, &self.preemptions, &self.cache_bytes];
        self.strategies.is_none()
            && !self.bugs
            && self.grow.is_none()
            && lists.iter().all(|list| list.is_empty())
    }

    /// Returns the time limit of a comparison that [`TuneArgs::is_open`]. With `--no-times` there is no default limit,
    /// because the output would depend on the machine.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.time.or((!self.no_times).then_some(TIME))
    }
}

/// Splits `name=value`, and checks that it sets a setting.
fn any_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "it sets nothing: write NAME=VALUE".to_owned())?;
    let set = Settings::default().set(name, value);
    set.map(|()| (name.to_owned(), value.to_owned()))
        .map_err(|error| error.problem)
}
