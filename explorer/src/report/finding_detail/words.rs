//! The words for a finding's detail.

use super::{Awaited, EndlessCause, FindingDetail, HangState, LoopStep, TaskLoop, TaskPanic, WaitingTask};
use intermezzo_engine::words::seconds;
use intermezzo_sdk::SyncVarOp;
use std::fmt;
use std::time::Duration;

/// The words for a deadlock that a panic led to.
pub(super) const CONSEQUENCE: &str = "then no task could continue";

pub(super) fn meanwhile(thread: &str) -> String {
    format!(
        "meanwhile {thread}, which is not controlled, used an object of this execution: a task may wait for it"
    )
}

/// Returns the words for a test that returned something else than in its default execution.
pub(super) fn difference(returned: &str, by_default: &str) -> String {
    format!("the test returned {returned}, and {by_default} in its default execution")
}

/// Returns the value that the test returned, from such words; `None` if they are others.
pub(super) fn returned_in(words: &str, by_default: &str) -> Option<String> {
    let returned = words.strip_prefix("the test returned ")?;
    let returned = returned.strip_suffix(&format!(", and {by_default} in its default execution"))?;
    Some(returned.to_owned())
}

pub(super) fn endless(cause: EndlessCause, running: &str) -> String {
    let stopped = "the execution was stopped at its limit of steps";
    match cause {
        EndlessCause::UnfairSpin => {
            format!("{stopped}: a loop never gives way to others, with `yield_now` or `spin_loop`")
        }
        EndlessCause::Livelock => {
            format!("{stopped}: all running tasks keep looping, although each gives way")
        }
        EndlessCause::Long => {
            format!("{stopped}, while {running} was running: it may be long, or never end")
        }
    }
}

/// Returns the rounds of loops in words, and the words before the first of them.
pub(super) fn rounds(cause: EndlessCause, loops: &[TaskLoop]) -> (&'static str, Vec<String>) {
    let before = match cause {
        EndlessCause::Long => "at the end ",
        EndlessCause::UnfairSpin | EndlessCause::Livelock => "",
    };
    (before, loops.iter().map(TaskLoop::to_string).collect())
}

/// Returns the panics that came before the end of an execution, in words and in their order.
pub(super) fn earlier(panics: &[TaskPanic]) -> impl Iterator<Item = String> {
    let after = ["before that"].into_iter().chain(std::iter::repeat("then"));
    panics
        .iter()
        .zip(after)
        .map(|(panic, after)| format!("{after} {panic}"))
}

/// The words in one line, as in JSON.
impl fmt::Display for FindingDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined =
            |parts: &mut dyn Iterator<Item = String>, between: &str| parts.collect::<Vec<_>>().join(between);
        let before = |panics: &[TaskPanic]| {
            earlier(panics)
                .map(|panic| format!("; {panic}"))
                .collect::<String>()
        };
        match self {
            FindingDetail::Panic { panics, waiting } => {
                f.write_str(&joined(&mut panics.iter().map(TaskPanic::to_string), "; then "))?;
                match &waiting[..] {
                    [] => Ok(()),
                    waiting => {
                        let waiting = joined(&mut waiting.iter().map(WaitingTask::to_string), "; ");
                        write!(f, "; {CONSEQUENCE}: {waiting}")
                    }
                }
            }
            FindingDetail::Blocked {
                waiting,
                panics,
                outsider,
            } => {
                let waiting = joined(&mut waiting.iter().map(WaitingTask::to_string), "; ");
                write!(f, "no task can continue: {waiting}{}", before(panics))?;
                match outsider {
                    Some(thread) => write!(f, "; {}", meanwhile(thread)),
                    None => Ok(()),
                }
            }
            FindingDetail::Endless {
                cause,
                running,
                loops,
                panics,
            } => {
                f.write_str(&endless(*cause, running))?;
                let (at_the_end, rounds) = rounds(*cause, loops);
                if !rounds.is_empty() {
                    write!(f, "; {at_the_end}{}", rounds.join("; "))?;
                }
                f.write_str(&before(panics))
            }
            FindingDetail::TaskLimit {
                limit,
                task,
                site,
                panics,
            } => write!(
                f,
                "the execution was stopped at its limit of {limit} tasks: {task} would have created one more at {site}, \
                 and may create them for ever{}",
                before(panics)
            ),
            FindingDetail::ChoiceDiffers {
                choice,
                expected,
                found,
            } => write!(
                f,
                "choice {choice} should have been {}, but was {}",
                expected.as_deref().unwrap_or("the end of the schedule"),
                found.as_deref().unwrap_or("the end of the execution"),
            ),
            FindingDetail::EventDiffers { event, before, now } => match now {
                Some(now) => write!(
                    f,
                    "event {event} was {now}, but {before} when the same choices were made before"
                ),
                None => write!(
                    f,
                    "the execution ended before event {event}, which happened when the same choices were made before"
                ),
            },
            FindingDetail::Crash { task, crash, panics } => {
                write!(f, "{task} crashed: {crash}{}", before(panics))
            }
            FindingDetail::CrashOfRemains { hung, crash } => write!(
                f,
                "a destructor {} while what the execution left behind was dropped: {crash}",
                if *hung { "hung" } else { "crashed" },
            ),
            FindingDetail::Hang {
                task,
                milliseconds,
                place,
                call,
                state,
                panics,
            } => {
                let limit = seconds(Duration::from_millis(*milliseconds));
                let place = place
                    .as_ref()
                    .map(|place| format!(", in {place}"))
                    .unwrap_or_default();
                match state {
                    HangState::Running => write!(
                        f,
                        "{task} has run for {limit} without a visible operation{place}: it goes round in a loop \
                         that does nothing visible, or computes for long"
                    ),
                    HangState::Locked => write!(
                        f,
                        "{task} has been blocked for {limit} by something that is not controlled{place}: a lock \
                         or a channel of std, most likely a `std::sync::Mutex` that another task holds while it waits for \
                         its turn"
                    ),
                    HangState::Blocked => {
                        write!(
                            f,
                            "{task} has been blocked for {limit} by something that is not controlled{place}: "
                        )?;
                        match call.as_deref() {
                            Some("nanosleep" | "clock_nanosleep") => {
                                f.write_str("a sleep of std, or of the system")
                            }
                            Some(call) => write!(
                                f,
                                "the system call `{call}`, which is not a schedule point: other tasks cannot run until it \
                                 returns"
                            ),
                            None => f.write_str("a sleep of std, or input that does not come"),
                        }
                    }
                }?;
                f.write_str(&before(panics))
            }
            FindingDetail::TookTooLong {
                task,
                milliseconds,
                site,
                panics,
            } => {
                let limit = seconds(Duration::from_millis(*milliseconds));
                let site = site
                    .as_ref()
                    .map(|site| format!(" before the operation at {site}"))
                    .unwrap_or_default();
                write!(
                    f,
                    "the execution took longer than its limit of {limit}: {task} ran last, and was ended{site}{}",
                    before(panics)
                )
            }
            FindingDetail::Results {
                returned, by_default, ..
            } => f.write_str(&difference(returned, by_default)),
            FindingDetail::Message { text } => f.write_str(text),
        }
    }
}

impl fmt::Display for TaskPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked", self.task)?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        write!(f, ": {}", self.message)?;
        if self.unwinding {
            f.write_str(" (its destructors had not ended when the execution did)")?;
        }
        Ok(())
    }
}

impl fmt::Display for WaitingTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingTask {
            task,
            op,
            var,
            site,
            held_by,
            held_since,
            awaited,
        } = self;
        if !awaited.is_empty() {
            let each: Vec<String> = awaited.iter().map(Awaited::to_string).collect();
            return write!(f, "{task} goes round in a loop and waits {}", each.join(" or "));
        }
        let is = |known: SyncVarOp| known.name() == op;
        write!(f, "{task} waits ")?;
        if is(SyncVarOp::LockAcquire) {
            write!(f, "to lock {var}")?;
        } else if is(SyncVarOp::SharedAcquire) {
            write!(f, "to read {var}")?;
        } else if is(SyncVarOp::TaskJoin) {
            write!(f, "for {var} to end")?;
        } else if is(SyncVarOp::CondvarWait) || is(SyncVarOp::CondvarWake) {
            write!(f, "to be notified by {var}")?;
        } else if is(SyncVarOp::ChannelSend) {
            write!(f, "to send to {var}")?;
        } else if is(SyncVarOp::ChannelReceive) {
            write!(f, "to receive from {var}")?;
        } else if is(SyncVarOp::Park) {
            f.write_str("to be unparked")?;
        } else if is(SyncVarOp::PrimitiveChange) || is(SyncVarOp::AtomicRmw) {
            write!(f, "for {var}")?;
        } else {
            write!(f, "for {var} ({op})")?;
        }
        // A call of C has the place of the operation before it, if there is one.
        if !site.is_empty() {
            write!(f, " at {site}")?;
        }
        match (held_by, held_since) {
            (Some(holder), Some(since)) if holder == task => {
                write!(f, ", which it holds itself since {since}")
            }
            (Some(holder), Some(since)) => write!(f, ", held by {holder} since {since}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Awaited { var, value, site } = self;
        match value {
            Some(value) => write!(f, "for {var} to be other than {value} at {site}"),
            None => write!(f, "for {var} to change at {site}"),
        }
    }
}

impl fmt::Display for TaskLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.steps.iter().map(LoopStep::to_string).collect();
        write!(f, "{} goes round: {}", self.task, steps.join(", "))?;
        match self.steps_left_out {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

impl fmt::Display for LoopStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.op)?;
        if !self.var.is_empty() {
            write!(f, " of {}", self.var)?;
        }
        write!(f, " at {}", self.site)
    }
}
