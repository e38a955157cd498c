//! A finding: the failure, the places with their source, the execution, and what to do next.

use super::places::Places;
use super::style::{Part, ReplayedBy, TextStyle};
use super::writer::{INDENT, Text};
use super::{count, describe, execution, help, turning};
use crate::report::lines::width;
use crate::report::names::in_text;
use crate::report::source::Sources;
use crate::report::{
    Finding, FindingDetail, FoundBy, Replays, Reproduction, SuggestedBreakpoint, TurningPoint,
};
use crate::settings::Verbosity;
use std::borrow::Cow;

/// The longest token that is shown, in bytes: some lines of a terminal.
pub const TOKEN_MAX: usize = 600;

/// The largest number of stale operations that are explained.
const STALE_MAX: usize = 6;

/// The note in place of a turning point, under a memory model.
const NO_TURNING_POINT: &str =
    "no turning point: under `stale_reads` a failure does not depend on the order of the tasks alone";

/// Returns the command that replays a schedule. `with` has the arguments that the replay needs besides the token, each as a
/// shell takes it.
pub fn replay_command(token: &str, with: &[String]) -> String {
    let command = format!("cargo intermezzo replay {token}");
    with.iter().fold(command, |command, word| command + " " + word)
}

/// Further facts about a finding, which are not in the finding itself.
#[derive(Default)]
pub(super) struct FindingContext<'a> {
    /// The way to reproduce it without the tool.
    pub(super) reproduction: Option<&'a Reproduction>,
    /// The step from which on every order of the tasks fails.
    pub(super) turning_point: Option<&'a TurningPoint>,
    /// `true` if the test was expected to panic, and this is the panic.
    pub(super) expected: bool,
    /// `true` if the search used a reduction.
    pub(super) reduced: bool,
    /// The arguments that its replay by the command line needs besides the token.
    pub(super) replay_with: &'a [String],
    /// The number of an earlier finding that the same execution shows.
    pub(super) like: Option<usize>,
}

/// Returns the finding, with the ways to reproduce it.
pub(super) fn show(finding: &Finding, context: FindingContext<'_>, style: &TextStyle) -> String {
    let mut text = Text::new(style);
    if style.detail == Verbosity::Quiet {
        let lines = in_text(&finding.message, &finding.names);
        text.headline(
            finding,
            context.expected,
            lines.lines().next().unwrap_or_default(),
        );
        return text.text;
    }
    let mut places = Places::default();
    let mut sources = Sources::of(style);
    let lines = finding.lines();
    let mut lines = lines.iter().map(|line| places.numbered(line));
    text.headline(finding, context.expected, &lines.next().unwrap_or_default());
    for line in lines {
        text.prose(&line, 0, INDENT);
    }
    if places.is_empty() {
        add_concerned(finding, &mut places, &mut sources);
    }
    let stale = finding.stale_operations();
    let unexplained = stale.len().saturating_sub(STALE_MAX);
    let mut stale: Vec<String> = stale
        .iter()
        .take(STALE_MAX)
        .map(|sentence| places.numbered(&in_text(sentence, &finding.names)))
        .collect();
    if unexplained > 0 {
        stale.push(format!("{unexplained} more are marked below"));
    }
    let own = finding.suggestion.as_deref().map(Cow::from);
    let advice = own.or_else(|| help::of(finding));
    let advice = advice.map(|advice| places.numbered(&in_text(&advice, &finding.names)));
    text.section(&places.show(style, &mut sources));
    if context.like.is_none() {
        stale.iter().for_each(|sentence| text.marked("stale", sentence));
    }
    if let Some(advice) = advice {
        text.marked("help", &advice);
    }
    let turning = context.turning_point.filter(|_| context.like.is_none());
    if let Some(turning) = turning.and_then(|point| turning::of(finding, point, &mut sources)) {
        text.blank();
        turning.iter().for_each(|line| text.prose(line, 0, INDENT));
    }
    if turning.is_none()
        && finding.schedule.environment.has_memory_model()
        && style.detail == Verbosity::Verbose
    {
        text.marked("note", NO_TURNING_POINT);
    }
    match context.like {
        Some(number) => {
            let like = format!("what happened: as in finding {number}, by the same schedule");
            let deeds = execution::show_deeds(finding, style, &mut sources);
            if deeds.is_empty() {
                text.title(&like);
            } else {
                text.title(&format!("{like}, with {}:", execution::marked(finding)));
                text.text.push_str(&deeds);
            }
        }
        None => text.section(&execution::show(finding, turning, style, &mut sources)),
    }
    if let Some(Replays { shown, all }) = finding.replays {
        let or = match finding.monitor {
            FoundBy::Engine => "",
            FoundBy::Monitor(_) => ", or the monitor goes by more than one execution",
        };
        text.marked(
            "note",
            &format!(
                "its schedule does not reproduce it ({shown} of {}): the test does something that the schedule does not \
                 determine{or}",
                count(all.into(), "replay")
            ),
        );
    }
    if let Some(strategy) = &finding.found_by
        && style.detail == Verbosity::Verbose
    {
        text.marked("note", &format!("found by {strategy}"));
    }
    // A finding about the exploration as a whole has no execution.
    if context.like.is_none() && (!finding.events.is_empty() || finding.monitor == FoundBy::Engine) {
        text.next(finding, context.replay_with);
        text.default_execution(finding);
    }
    match context.reproduction.map(|reproduction| &reproduction.breakpoint) {
        Some(Ok(breakpoint)) => text.breakpoint(breakpoint, context.reduced),
        Some(Err(reason)) if style.detail == Verbosity::Verbose => {
            text.marked("note", &format!("no breakpoint reproduces it: {reason}"));
        }
        _ => {}
    }
    text.text
}

/// Adds the places that it is about, if its message names none.
fn add_concerned(finding: &Finding, places: &mut Places, sources: &mut Sources) {
    let concerned = finding.events.iter().filter(|event| event.concerned);
    for event in concerned.filter(|event| !event.site.is_empty()) {
        let what = describe(finding, event, sources.method(&event.site));
        places.add(&event.site, &format!("{}: {what}", event.task));
    }
    for place in &finding.places {
        places.add(&place.site, finding.name_of(&place.what));
    }
}

impl Text<'_> {
    /// Writes the headline: `error[deadlock]: no task can continue`.
    fn headline(&mut self, finding: &Finding, expected: bool, message: &str) {
        let (word, part) = match finding.is_error() {
            true if expected => ("expected", Part::Pass),
            true => ("error", Part::Error),
            false => ("warning", Part::Warning),
        };
        let head = format!("{word}[{}]:", finding.kind);
        self.painted(&format!("{head} {message}"), &head, part);
    }

    /// Writes how to see the finding again.
    fn next(&mut self, finding: &Finding, replay_with: &[String]) {
        let token = finding.schedule.token();
        if token.len() > TOKEN_MAX {
            return self.next_by_file(finding);
        }
        let program = &finding.schedule.program;
        match (self.style.replayed_by, program.split_once("::")) {
            (ReplayedBy::CommandLine, _) => {
                self.title("replay it; with --view page.html it becomes a page:");
                self.command(&replay_command(&token, replay_with), INDENT);
            }
            (ReplayedBy::Test, Some((_, test)))
                if test.chars().all(|c| c.is_alphanumeric() || "_:".contains(c)) =>
            {
                self.title("replay it:");
                self.command(
                    &format!("INTERMEZZO_REPLAY={token} cargo test {test} -- --exact"),
                    INDENT,
                );
                self.title("or look at it, event by event, on a page:");
                self.command(
                    &format!("cargo intermezzo replay {token} --view page.html"),
                    INDENT,
                );
            }
            _ => {
                self.title("replay it, by `Explorer::replay`, or `with_variables` by:");
                self.command(&format!("INTERMEZZO_REPLAY={token}"), INDENT);
            }
        }
    }

    /// Writes how to see the execution with which this one was compared.
    fn default_execution(&mut self, finding: &Finding) {
        let FindingDetail::Results {
            by_default,
            default_schedule,
            ..
        } = &finding.detail
        else {
            return;
        };
        if default_schedule.len() > TOKEN_MAX {
            return;
        }
        self.title(&format!("or the default execution, which returned {by_default}:"));
        let command = match (self.style.replayed_by, finding.schedule.program.split_once("::")) {
            (ReplayedBy::CommandLine, _) => format!("cargo intermezzo replay {default_schedule}"),
            (ReplayedBy::Test, Some((_, test))) => {
                format!("INTERMEZZO_REPLAY={default_schedule} cargo test {test} -- --exact")
            }
            _ => format!("INTERMEZZO_REPLAY={default_schedule}"),
        };
        self.command(&command, INDENT);
    }

    /// Writes how to see a finding again whose token is too long to copy.
    fn next_by_file(&mut self, finding: &Finding) {
        let long = count(finding.schedule.choices.len() as u64, "choice");
        let of_test = finding.schedule.program.split_once("::").map(|(_, test)| test);
        match (self.style.replayed_by, of_test) {
            (ReplayedBy::Explorer, _) | (_, None) => {
                self.title(&format!(
                    "replay it: its schedule of {long} is in the finding, and in the report's JSON form"
                ));
            }
            _ if finding.schedule.binary.is_program() => {
                self.title(
                    "the schedule is too long to print; rerun with `--reports DIR` to write it to a file",
                );
            }
            (_, Some(test)) => {
                self.title(&format!(
                    "replay it from a file, as its schedule has {long}; this writes one into a directory:"
                ));
                self.command(
                    &format!("cargo intermezzo test --reports failures {test}"),
                    INDENT,
                );
            }
        }
    }

    /// Writes how to reproduce it without the tool.
    fn breakpoint(&mut self, breakpoint: &SuggestedBreakpoint, reduced: bool) {
        self.title("or have it each time, without the tool: write each line right before its place");
        let widest = breakpoint.places.iter().map(|place| width(&place.site)).max();
        for place in &breakpoint.places {
            let line = format!("  {:1$}  {2}", place.site, widest.unwrap_or(0), place.code);
            if width(&line) <= self.style.columns() {
                self.line(&line);
            } else {
                self.prose(&place.site, INDENT, INDENT);
                self.prose(&place.code, 2 * INDENT, 3 * INDENT);
            }
        }
        if breakpoint.in_vain > 0 {
            let times = count(breakpoint.in_vain, "time");
            self.prose(
                &format!("(before it is hit, a task waits {times} for a partner that does not come)"),
                INDENT,
                INDENT,
            );
        }
        self.title("or arm it in explorations, and leave the code as it is:");
        let reduction = if reduced { "INTERMEZZO_REDUCTION=none " } else { "" };
        self.command(
            &format!("{reduction}INTERMEZZO_BREAKPOINTS=\"{}\"", breakpoint.armed),
            INDENT,
        );
    }
}
