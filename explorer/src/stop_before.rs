//! A stop of a replay right before one of its steps, for a person or a debugger to look at.
//!
//! A monitor waits for the step. At its schedule point the task that comes next runs its own code, on its own stack, and
//! nothing of the step has happened: so its backtrace is the test's, and a debugger sees its variables. CHESS breaks in a
//! replay at events that are given by task and number (Musuvathi et al., OSDI 2008).
//!
//! Blind spot: a step without a schedule point, such as the end of a task, stops right after it; [`Stopped`] says so.

use crate::report::TextStyle;
use intermezzo_engine::call_stack::is_ours;
use intermezzo_sdk::{
    Context, EventId, Execution, Interests, Monitor, SchedulePoint, SiteId, SyncVar, SyncVarAccess, SyncVarOp,
};
use std::backtrace::Backtrace;
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::str::FromStr;

/// The largest number of events that are shown before a stop. A page shows all.
const EVENTS_SHOWN: usize = 30;

/// The step before which a replay stops: `task 1 step 14`, `event 18`, or a place in the source as `ring.rs:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopPoint {
    /// The step of this number, from 1, of the task of this name.
    Step {
        /// The name of the task, in the form of reports.
        task: String,
        /// The number of its step.
        step: u32,
    },
    /// The event of this number, from 1, of the execution.
    Event(usize),
    /// The first operation at this place: the end of a source file's path, the line, and perhaps the column.
    Place(String),
}

impl FromStr for StopPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<StopPoint, String> {
        let text = text.trim();
        let wrong = || {
            format!(
                "`{text}` is not a step of an execution: give `task 1 step 14`, `event 18`, or a place such as `ring.rs:12`"
            )
        };
        if let Some((task, step)) = text.rsplit_once(" step ") {
            let step = step.trim().parse().ok().filter(|&step| step > 0);
            let task = task.trim().to_owned();
            return step.map(|step| StopPoint::Step { task, step }).ok_or_else(wrong);
        }
        if let Some(event) = text.strip_prefix("event ") {
            let event = event.trim().parse().ok().filter(|&event| event > 0);
            return event.map(StopPoint::Event).ok_or_else(wrong);
        }
        let (file, numbers) = text.split_once(".rs:").ok_or_else(wrong)?;
        let are_numbers = numbers.split(':').all(|number| number.parse::<u32>().is_ok());
        (!file.is_empty() && are_numbers && numbers.split(':').count() <= 2)
            .then(|| StopPoint::Place(text.to_owned()))
            .ok_or_else(wrong)
    }
}

impl fmt::Display for StopPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopPoint::Step { task, step } => write!(f, "{task} step {step}"),
            StopPoint::Event(event) => write!(f, "event {event}"),
            StopPoint::Place(place) => f.write_str(place),
        }
    }
}

impl StopPoint {
    /// Returns `true` if it is this event, the `number`-th of the execution, at this place.
    fn is(&self, event: EventId, number: usize, site: SiteId, cx: &Context<'_>) -> bool {
        match self {
            StopPoint::Step { task, step } => *step == event.index && *task == cx.task_name(event.task),
            StopPoint::Event(wanted) => *wanted == number,
            StopPoint::Place(place) => is_at(&cx.site_name(site), place),
        }
    }
}

/// `true` if a place, as `src/ring.rs:12:5`, is one that was given, as `ring.rs:12`.
fn is_at(site: &str, wanted: &str) -> bool {
    let without_column = || site.rsplit_once(':').map_or("", |(place, _)| place);
    let ends = |place: &str| {
        place
            .strip_suffix(wanted)
            .is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
    };
    ends(site) || ends(without_column())
}

/// An execution that is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The step before which it is, in words.
    pub next: String,
    /// `true` if it is right after that step, because there is no schedule point before it.
    pub is_after: bool,
    /// The last events so far, each as a line, and the number of those before them.
    pub events: Vec<String>,
    /// The number of events that are left out.
    pub events_left_out: usize,
    /// The names of the tasks that could take a step.
    pub enabled: Vec<String>,
    /// The frames of the task's stack that are not intermezzo's or std's, innermost first.
    pub stack: Vec<String>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        f.write_str(&TextStyle::default().visible(text))
    }
}

impl Stopped {
    fn write(&self, f: &mut String) -> fmt::Result {
        let side = if self.is_after { "after" } else { "before" };
        writeln!(f, "stopped {side} {}", self.next)?;
        writeln!(f, "  events so far:")?;
        if self.events_left_out > 0 {
            writeln!(f, "    {} earlier ones are left out", self.events_left_out)?;
        }
        self.events
            .iter()
            .try_for_each(|event| writeln!(f, "    {event}"))?;
        writeln!(f, "  enabled tasks: {}", self.enabled.join(", "))?;
        writeln!(f, "  stack:")?;
        self.stack.iter().try_for_each(|frame| writeln!(f, "    {frame}"))
    }
}

/// The function that receives the stop.
pub(crate) type OnStop = Box<dyn FnMut(&Stopped) + Send>;

/// Called when an execution is stopped, and does nothing: for a debugger's breakpoint. Its caller's callers are the task.
#[inline(never)]
fn stopped_here(stopped: &Stopped) {
    std::hint::black_box(stopped);
}

/// The monitor that stops.
pub(crate) struct Stopper {
    at: StopPoint,
    call: OnStop,
    /// `true` once it has stopped, or the first execution is over: others are made from it.
    is_done: bool,
}

impl Stopper {
    pub(crate) fn new(at: StopPoint, call: OnStop) -> Stopper {
        Stopper {
            at,
            call,
            is_done: false,
        }
    }

    /// Stops right before or after the `number`-th event.
    #[cold]
    fn stop(&mut self, next: &Event, number: usize, is_after: bool, cx: &Context<'_>) {
        self.is_done = true;
        let all = cx.accesses();
        let begin = all.len().saturating_sub(EVENTS_SHOWN);
        let line = |(at, access): (usize, &SyncVarAccess)| {
            let event = Event {
                id: access.event,
                op: access.op,
                var: access.var,
                site: access.site,
            };
            event.line(begin + at + 1, cx)
        };
        let stopped = Stopped {
            next: next.line(number, cx),
            is_after,
            events: all[begin..].iter().enumerate().map(line).collect(),
            events_left_out: begin,
            enabled: cx.enabled().into_iter().map(|task| cx.task_name(task)).collect(),
            stack: own_frames(&Backtrace::force_capture().to_string()),
        };
        (self.call)(&stopped);
        stopped_here(&stopped);
    }
}

/// An event, of those that have happened or that comes next.
struct Event {
    id: EventId,
    op: SyncVarOp,
    var: SyncVar,
    site: SiteId,
}

impl Event {
    /// Describes it in a line: `event 18, task 1 step 14: load tail at src/ring.rs:12:5`.
    fn line(&self, number: usize, cx: &Context<'_>) -> String {
        let (task, step) = (cx.task_name(self.id.task), self.id.index);
        let mut line = format!("event {number}, {task} step {step}: {}", self.op.name());
        if self.var != SyncVar::NONE {
            let in_source = cx.source_name(self.var);
            let name = match in_source.is_empty() {
                true => cx.var_name(self.var),
                false => in_source,
            };
            line.push_str(&format!(" {name}"));
        }
        let site = cx.site_name(self.site);
        if !site.is_empty() {
            line.push_str(&format!(" at {site}"));
        }
        line
    }
}

/// The beginnings of functions that are not the test's, where their places are not known.
const OF_TOOL: [&str; 7] = [
    "intermezzo::",
    "intermezzo_engine::",
    "intermezzo_explorer::",
    "intermezzo_lookalikes::",
    "std::",
    "core::",
    "alloc::",
];

/// Returns the frames of a backtrace that are not intermezzo's, std's or core's, each with its place.
fn own_frames(backtrace: &str) -> Vec<String> {
    let mut frames: Vec<(String, bool)> = Vec::new();
    for line in backtrace.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            if let Some((frame, is_own)) = frames.last_mut() {
                *is_own = is_of_test(place);
                frame.push_str(&format!(" at {}", place.trim_start_matches("./")));
            }
        } else if let Some((_, function)) = line.split_once(": ") {
            let path = function.trim_start_matches(['<', '&', '_']);
            let is_own = path.contains("::") && !OF_TOOL.iter().any(|krate| path.starts_with(krate));
            frames.push((function.to_owned(), is_own));
        }
    }
    let own = frames.into_iter().filter(|(_, is_own)| *is_own);
    own.map(|(frame, _)| frame).collect()
}

/// `true` if a place of a backtrace is in the test's own code or in that of a library.
fn is_of_test(place: &str) -> bool {
    // A backtrace shows places in the current directory relative to it.
    let file = match place.strip_prefix("./") {
        Some(relative) => std::env::current_dir().unwrap_or_default().join(relative),
        None => PathBuf::from(place),
    };
    let of_std = file.starts_with("/rustc/") || place.contains("/rust/library/");
    !is_ours(&file) && !of_std && !place.contains("/corosensei-")
}

impl Monitor for Stopper {
    fn name(&self) -> &str {
        "stopper"
    }

    fn interests(&self) -> Interests {
        Interests::SCHEDULE_POINTS | Interests::SYNC_ACCESSES | Interests::ENABLED_SETS
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_schedule_point(&mut self, point: &SchedulePoint, cx: &mut Context<'_>) {
        let number = cx.accesses().len() + 1;
        if !self.is_done && self.at.is(point.event, number, point.site, cx) {
            let next = Event {
                id: point.event,
                op: point.op,
                var: point.var,
                site: point.site,
            };
            self.stop(&next, number, false, cx);
        }
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let number = cx.accesses().len();
        if !self.is_done && self.at.is(access.event, number, access.site, cx) {
            let last = Event {
                id: access.event,
                op: access.op,
                var: access.var,
                site: access.site,
            };
            self.stop(&last, number, true, cx);
        }
    }

    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        if !std::mem::replace(&mut self.is_done, true) {
            let stopped = Stopped {
                next: format!("the end of the execution: it has no {}", self.at),
                is_after: false,
                events: Vec::new(),
                events_left_out: cx.accesses().len(),
                enabled: Vec::new(),
                stack: Vec::new(),
            };
            (self.call)(&stopped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_named_in_three_ways() {
        for text in [
            "task 1 step 14",
            "main step 2",
            "task 0.1 step 3",
            "event 18",
            "ring.rs:12",
            "a/ring.rs:12:5",
        ] {
            assert_eq!(text.parse::<StopPoint>().unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "task 1",
            "task 1 step 0",
            "event x",
            "ring.rs",
            "ring.rs:a",
            ".rs:1",
            "a.rs:1:2:3",
        ] {
            let error = wrong.parse::<StopPoint>().unwrap_err();
            assert!(error.contains("give `task 1 step 14`"), "{error}");
        }
        assert!(is_at("src/ring.rs:12:5", "ring.rs:12"));
        assert!(is_at("src/ring.rs:12:5", "src/ring.rs:12:5"));
        assert!(!is_at("src/string.rs:12:5", "ring.rs:12"));
        assert!(!is_at("src/ring.rs:120:5", "ring.rs:12"));
    }

    #[test]
    fn frames_of_the_tool_are_left_out() {
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/stop_before.rs:1:2");
        let backtrace = format!(
            "   0: stop\n             at {here}\n   1: call_once\n             at /rustc/0/library/core/src/ops/function.rs:250:5\n   \
             2: queue::push\n             at ./src/queue.rs:3:4\n   3: core::hint::black_box\n   4: other::run\n   5: start_thread\n"
        );
        // In a directory that is the user's.
        let frames = own_frames(&backtrace.replace("./src", "/home/queue/src"));
        assert_eq!(
            frames,
            ["queue::push at /home/queue/src/queue.rs:3:4", "other::run"]
        );
        // Here the same file is the explorer's.
        assert!(std::env::current_dir().unwrap().ends_with("explorer"));
        assert_eq!(own_frames(&backtrace), ["other::run"]);
    }
}
