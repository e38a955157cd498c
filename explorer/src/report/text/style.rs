//! The look of a text: its width, its colours, and the amount of detail.

use crate::report::source::Search;
use crate::settings::Verbosity;
use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;

/// The number of columns if it is not known.
const WIDTH: usize = 100;

/// The smallest width. No terminal that is read is narrower.
const WIDTH_MIN: usize = 20;

/// The origin of the findings, which decides by which command they are replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayedBy {
    /// A call of the explorer, which replays by itself.
    #[default]
    Explorer,
    /// A test of a project, which takes its schedule from the environment.
    Test,
    /// A program built into the command line.
    CommandLine,
}

/// The look of a text. The default is plain, and the same everywhere.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{TextStyle, Verbosity};
///
/// let narrow = TextStyle { width: Some(80), ..TextStyle::default() };
/// assert_eq!(narrow.detail, Verbosity::Normal);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// The largest number of columns in a line. With `None`, prose takes 100 and commands, which are to be copied, are
    /// not broken.
    pub width: Option<usize>,
    /// `true` for colours.
    pub colour: bool,
    /// The amount of detail.
    pub detail: Verbosity,
    /// The way to replay findings.
    pub replayed_by: ReplayedBy,
    /// The places to look for source files; `None` for the current directory and those above it.
    pub sources: Option<Search>,
}

impl TextStyle {
    /// Returns the style for text that this process shows. It is as wide as the terminal, or else `COLUMNS`, and has
    /// colours if the terminal shows them. `NO_COLOR` and `CLICOLOR_FORCE` override that.
    pub fn of_process() -> TextStyle {
        // The output of a test may end up on either stream.
        TextStyle::shown(std::io::stdout().is_terminal() && std::io::stderr().is_terminal())
    }

    /// Returns the style for text that this process itself writes to stdout.
    pub fn of_stdout() -> TextStyle {
        TextStyle::shown(std::io::stdout().is_terminal())
    }

    fn shown(on_terminal: bool) -> TextStyle {
        let columns = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
        TextStyle {
            width: terminal_columns().or_else(columns).filter(|&columns| columns > 0),
            colour: colours(on_terminal),
            ..TextStyle::default()
        }
    }

    /// Sets the amount of detail.
    pub fn detail(mut self, detail: Verbosity) -> TextStyle {
        self.detail = detail;
        self
    }

    /// Sets the way to replay findings.
    pub fn replayed_by(mut self, replayed_by: ReplayedBy) -> TextStyle {
        self.replayed_by = replayed_by;
        self
    }

    /// Sets the places to look for source files.
    pub fn sources(mut self, sources: Search) -> TextStyle {
        self.sources = Some(sources);
        self
    }

    /// Returns the number of columns for prose.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(WIDTH).max(WIDTH_MIN)
    }

    /// Returns the text in the colours of its part.
    pub fn paint(&self, part: Part, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let style = part.style();
        format!("{style}{text}{style:#}")
    }
}

/// Returns the width of the terminal that stdout is, if it is one.
#[cfg(feature = "terminal")]
fn terminal_columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(columns.into())
}

/// Returns `None`: terminals are not asked.
#[cfg(not(feature = "terminal"))]
fn terminal_columns() -> Option<usize> {
    None
}

/// `true` if there are colours: as the user wishes, else as the terminal can.
#[cfg(feature = "terminal")]
fn colours(on_terminal: bool) -> bool {
    if anstyle_query::no_color() {
        return false;
    }
    let wanted = anstyle_query::clicolor() != Some(false);
    anstyle_query::clicolor_force() || on_terminal && wanted && anstyle_query::term_supports_color()
}

/// Returns `false`: neither the user nor the terminal is asked.
#[cfg(not(feature = "terminal"))]
fn colours(_: bool) -> bool {
    false
}

/// The role of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A failure of the test.
    Error,
    /// A warning, which does not fail the test.
    Warning,
    /// The statement that nothing was found.
    Pass,
    /// Marks that lead the eye: numbers of places, carets under the source.
    Mark,
    /// The point at which the execution was preempted.
    Switch,
    /// A heading.
    Heading,
}

impl Part {
    pub(super) const ALL: [Part; 6] = [
        Part::Error,
        Part::Warning,
        Part::Pass,
        Part::Mark,
        Part::Switch,
        Part::Heading,
    ];

    /// Returns the sequence with which a terminal begins to show it.
    pub(super) fn begin(self) -> String {
        self.style().render().to_string()
    }

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
