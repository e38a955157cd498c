//! How a text is to look: how wide, in which colours, how much of it.

use crate::report::source::Search;
use crate::settings::Verbosity;
use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;
use terminal_size::{Width, terminal_size_of};

/// Columns where nobody knows how many there are.
const WIDTH: usize = 100;

/// Less is no terminal that anybody reads.
const WIDTH_MIN: usize = 20;

/// Whose findings these are: that decides which command replays them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayedBy {
    /// Whoever explores.
    #[default]
    Explorer,
    /// A test of a project, which takes its schedule from the environment.
    Test,
    /// A program that the command line has itself.
    CommandLine,
}

/// How a text is to look. Without more it is plain, and the same wherever it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// The most columns of a line; `None` if nobody knows: then prose takes 100, and commands, which are to be copied, what they need.
    pub width: Option<usize>,
    /// Whether there are colours.
    pub colour: bool,
    /// How much is told.
    pub detail: Verbosity,
    /// Who replays.
    pub replayed_by: ReplayedBy,
    /// Where source files are that are shown; `None` for the current directory, and above.
    pub sources: Option<Search>,
}

impl TextStyle {
    /// For what this process shows: as wide as its terminal, or else `COLUMNS`; in colour if it shows them on a terminal. `NO_COLOR`
    /// and `CLICOLOR_FORCE` say otherwise.
    pub fn of_process() -> TextStyle {
        // What a test says may end up on either stream.
        TextStyle::shown(std::io::stdout().is_terminal() && std::io::stderr().is_terminal())
    }

    /// The same for what is written to stdout by this process itself.
    pub fn of_stdout() -> TextStyle {
        TextStyle::shown(std::io::stdout().is_terminal())
    }

    fn shown(on_terminal: bool) -> TextStyle {
        let columns = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
        let terminal = terminal_size_of(std::io::stdout()).map(|(Width(columns), _)| columns.into());
        TextStyle {
            width: terminal.or_else(columns).filter(|&columns| columns > 0),
            colour: colours(on_terminal),
            ..TextStyle::default()
        }
    }

    /// The same with so much detail.
    pub fn detail(mut self, detail: Verbosity) -> TextStyle {
        self.detail = detail;
        self
    }

    /// The same for what is replayed so.
    pub fn replayed_by(mut self, replayed_by: ReplayedBy) -> TextStyle {
        self.replayed_by = replayed_by;
        self
    }

    /// The same with source files from there.
    pub fn sources(mut self, sources: Search) -> TextStyle {
        self.sources = Some(sources);
        self
    }

    /// The columns that prose has.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(WIDTH).max(WIDTH_MIN)
    }

    /// The text, painted for its part.
    pub fn paint(&self, part: Part, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = part.style();
        format!("{style}{text}{style:#}")
    }
}

/// Whether there are colours, as the user wants it, or else the terminal.
fn colours(on_terminal: bool) -> bool {
    if anstyle_query::no_color() {
        return false;
    }
    let wanted = anstyle_query::clicolor() != Some(false);
    anstyle_query::clicolor_force() || on_terminal && wanted && anstyle_query::term_supports_color()
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What fails a test.
    Error,
    /// What does not, and should be looked at.
    Warning,
    /// That nothing was found.
    Pass,
    /// What leads the eye: numbers of places, marks under the source.
    Mark,
    /// Where the execution was turned from its course.
    Switch,
    /// A heading.
    Heading,
}

impl Part {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
        match self {
            Part::Error => colour(AnsiColor::Red),
            Part::Warning => colour(AnsiColor::Yellow),
            Part::Pass => colour(AnsiColor::Green),
            Part::Mark => colour(AnsiColor::Cyan),
            Part::Switch => colour(AnsiColor::Magenta),
            Part::Heading => Style::new().bold(),
        }
    }
}
