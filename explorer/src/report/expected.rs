//! Tests that declare the expected result of their exploration: a finding, with which they pass, or figures.

use super::{Coverage, Finding, Report, Verdict};
use intermezzo_sdk::FindingKind;
use std::fmt;

/// An expectation that a test declares of its own exploration.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Expected, Explorer, sync::Mutex, thread};
///
/// let report = Explorer::new()
///     .expect(Expected::named("deadlock", "")?)
///     .explore(|| {
///         let (a, b) = (Mutex::new(()), Mutex::new(()));
///         thread::scope(|scope| {
///             scope.spawn(|| { let _a = a.lock(); let _b = b.lock(); });
///             let _b = b.lock();
///             let _a = a.lock();
///         });
///     });
/// assert!(report.verdict().is_pass());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// Some execution panics (a failing assertion counts) with a message that contains this text. There are no other
    /// findings except warnings.
    Panic(String),
    /// There is a finding of this kind, with a message that contains this text. There are no other findings except
    /// warnings.
    Finding(FindingKind, String),
    /// The exploration has exactly this many executions, traces, and so on. A replay may have others.
    Figure(Figure, u64),
}

/// A figure of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Figure {
    /// The executions.
    Executions,
    /// The traces.
    Traces,
    /// The steps of the longest execution.
    Steps,
    /// The largest number of tasks of an execution, including `main`.
    Tasks,
}

impl Figure {
    const ALL: [(&str, Figure); 4] = [
        ("executions", Figure::Executions),
        ("traces", Figure::Traces),
        ("steps", Figure::Steps),
        ("tasks", Figure::Tasks),
    ];

    /// Returns the figure of this name.
    pub(super) fn named(name: &str) -> Option<Figure> {
        let named = Figure::ALL.iter().find(|(known, _)| *known == name);
        named.map(|(_, figure)| *figure)
    }

    /// Returns the names of all figures.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        Figure::ALL.iter().map(|(name, _)| *name)
    }

    pub(super) fn name(self) -> &'static str {
        let named = Figure::ALL.iter().find(|(_, figure)| *figure == self);
        named.expect("every figure has a name").0
    }

    /// Returns its value; `None` if it was not counted.
    pub(super) fn of(self, report: &Report) -> Option<u64> {
        match self {
            Figure::Executions => Some(report.executions),
            Figure::Traces => report.traces,
            Figure::Steps => Some(report.max_steps),
            Figure::Tasks => Some(report.max_tasks.into()),
        }
    }
}

impl Expected {
    /// Returns the expectation that an attribute writes as `expect(name)` or `expect(name = value)`: the kind of a finding,
    /// with a part of its message, or a figure with its number.
    ///
    /// # Errors
    /// If there is no such kind and no such figure, or the value is no number.
    pub fn named(name: &str, value: &str) -> Result<Expected, String> {
        if let Some(figure) = Figure::named(name) {
            let number = value
                .parse()
                .map_err(|_| format!("expect({name} = {value}): a whole number is needed"))?;
            return Ok(Expected::Figure(figure, number));
        }
        match FindingKind::from_name(name) {
            // Whichever macro the test panics by.
            Some(FindingKind::Panic) => Ok(Expected::Panic(value.to_owned())),
            Some(kind) => Ok(Expected::Finding(kind, value.to_owned())),
            None => {
                let kinds = FindingKind::ALL.iter().map(|kind| kind.as_str().into_owned());
                let figures = Figure::names().map(str::to_owned);
                let all: Vec<String> = kinds.chain(figures).collect();
                Err(format!(
                    "expect({name}): there is no such finding or figure; there are: {}",
                    all.join(", ")
                ))
            }
        }
    }

    /// `true` if it expects a finding, without which the test fails.
    pub fn is_finding(&self) -> bool {
        !matches!(self, Expected::Figure(..))
    }

    /// `true` if it expects a finding of this kind.
    pub(crate) fn is_of(&self, kind: &FindingKind) -> bool {
        matches!(self, Expected::Finding(expected, _) if expected == kind)
    }

    fn is(&self, finding: &Finding) -> bool {
        match self {
            Expected::Panic(text) => {
                matches!(finding.kind, FindingKind::Assertion | FindingKind::Panic)
                    && finding.message.contains(text)
            }
            Expected::Finding(kind, text) => finding.kind == *kind && finding.message.contains(text),
            Expected::Figure(..) => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Expected::Panic(text) => {
                f.write_str("the test should panic")?;
                text
            }
            Expected::Finding(kind, text) => {
                write!(f, "the test should show the finding {kind}")?;
                text
            }
            Expected::Figure(figure, number) => {
                return write!(f, "the test expects {}={number}", figure.name());
            }
        };
        match text.as_str() {
            "" => Ok(()),
            text => write!(f, " with {text:?} in its message"),
        }
    }
}

impl Report {
    /// Determines the verdict of a test that declares this.
    pub(crate) fn settle_expected(&mut self, expected: &[Expected]) {
        // An exploration that shows the expected findings passes, and only then its figures count.
        let findings = expected.iter().filter(|expected| expected.is_finding());
        self.settle_findings(&findings.collect::<Vec<_>>());
        for expected in expected {
            if let Expected::Figure(figure, number) = expected {
                self.settle_figure(expected, *figure, *number);
            }
        }
    }

    /// Determines the verdict of a test that expects these findings: it must have each of them, and no other error.
    fn settle_findings(&mut self, all: &[&Expected]) {
        if all.is_empty() || self.verdict == Verdict::Inconclusive {
            return;
        }
        let is_shown = |expected: &&&Expected| self.findings.iter().any(|finding| expected.is(finding));
        let is_expected = |finding: &Finding| all.iter().any(|expected| expected.is(finding));
        let missing: Vec<&Expected> = all
            .iter()
            .filter(|expected| !is_shown(expected))
            .copied()
            .collect();
        if self.errors().any(|finding| !is_expected(finding)) {
            let others = if missing.is_empty() { all } else { &missing };
            for expected in others {
                self.note(&format!("{expected}: what was found is something else"));
            }
            return;
        }
        // A replay shows one of them.
        let is_replay = matches!(self.coverage, Coverage::Replayed { .. });
        if !(missing.is_empty() || is_replay && missing.len() < all.len()) {
            (self.verdict, self.is_expected) = (Verdict::Fail, false);
            for expected in missing {
                self.note(&format!("{expected}, and no execution did"));
            }
            return;
        }
        (self.verdict, self.is_expected) = (Verdict::Pass, true);
        for expected in all.iter().filter(|expected| !missing.contains(expected)) {
            let what = match expected {
                Expected::Panic(_) => "panic",
                _ => "finding",
            };
            self.note(&format!("the {what} was expected: {expected}"));
        }
    }

    /// Compares a figure. The figures of a replay are not compared.
    fn settle_figure(&mut self, expected: &Expected, figure: Figure, number: u64) {
        if self.verdict != Verdict::Pass || matches!(self.coverage, Coverage::Replayed { .. }) {
            return;
        }
        match figure.of(self) {
            Some(value) if value == number => {}
            value => {
                self.verdict = Verdict::Fail;
                let value = value.map_or("they were not counted".to_owned(), |value| {
                    format!("there are {value}")
                });
                self.note(&format!("{expected}: {value}"));
            }
        }
    }
}
