//! A finding as data, and the words for it.
//!
//! The words are derived from the data: reports and pages get them from [`FindingDetail::lines`], and the minimiser
//! compares findings by [`FindingDetail::without_names`]. The words are searched only for identities of variables and
//! places, to show names (`names`) and for baselines.

mod words;

use super::names::{VarNames, in_text, quoted};
use super::source::sites_in;
use intermezzo_engine::serial::{Deserialize, Serialize};
use words::{CONSEQUENCE, difference, earlier, endless, meanwhile, returned_in, rounds};

/// The subject of a finding, as data.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, FindingDetail};
///
/// let report = Explorer::new().explore(|| panic!("boom"));
/// let FindingDetail::Panic { panics, .. } = &report.findings()[0].detail else { panic!("{report}") };
/// assert_eq!((panics[0].task.as_str(), panics[0].message.as_str()), ("main", "boom"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FindingDetail {
    /// Panics that ended tasks, in order.
    Panic {
        /// The panics; at least one.
        panics: Vec<TaskPanic>,
        /// The tasks that then waited for ever, if that was the consequence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        waiting: Vec<WaitingTask>,
    },
    /// No task can continue.
    Blocked {
        /// The tasks that wait, in order of creation.
        waiting: Vec<WaitingTask>,
        /// Earlier panics.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        panics: Vec<TaskPanic>,
        /// A thread that is not controlled and used the objects of the execution.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outsider: Option<String>,
    },
    /// The execution was ended at its limit of steps.
    Endless {
        /// The reason, as far as it is known.
        cause: EndlessCause,
        /// The task that ran last.
        running: String,
        /// The tasks that run in loops.
        loops: Vec<TaskLoop>,
        /// Earlier panics.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        panics: Vec<TaskPanic>,
    },
    /// The execution was ended at its limit of tasks.
    TaskLimit {
        /// The limit.
        limit: u32,
        /// The task that would have created one more.
        task: String,
        /// The place of that, as `file:line:column`.
        site: String,
        /// Earlier panics.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        panics: Vec<TaskPanic>,
    },
    /// A choice was not the one in the schedule.
    ChoiceDiffers {
        /// The number of the choice, from 1.
        choice: usize,
        /// The choice in the schedule; `None` if the execution should have ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<String>,
        /// The choice that was met; `None` if the execution ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<String>,
    },
    /// An event was not the one that came under the same choices before.
    EventDiffers {
        /// The number of the event, from 1.
        event: usize,
        /// The event before.
        before: String,
        /// The event now; `None` if the execution ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<String>,
    },
    /// A task crashed.
    Crash {
        /// The task.
        task: String,
        /// The signal or the overflow, in words.
        crash: String,
        /// Earlier panics.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        panics: Vec<TaskPanic>,
    },
    /// A destructor crashed or hung while the state that the execution left behind was dropped.
    CrashOfRemains {
        /// `true` if it hung.
        hung: bool,
        /// The signal, the overflow or the hang, in words.
        crash: String,
    },
    /// A task did nothing visible for too long.
    Hang {
        /// The task.
        task: String,
        /// The limit, in milliseconds.
        milliseconds: u64,
        /// The function and the place in the source where it was, as far as they are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        /// The system call in which it was blocked, by its name in C, if it is one that may wait for long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
        /// The state of the task.
        state: HangState,
        /// Earlier panics.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        panics: Vec<TaskPanic>,
    },
    /// One execution took too long.
    TookTooLong {
        /// The task that ran last.
        task: String,
        /// The limit, in milliseconds.
        milliseconds: u64,
        /// The place of the operation before which the task was, as `file:line:column`, unless it had ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<String>,
        /// Earlier panics.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        panics: Vec<TaskPanic>,
    },
    /// A test that has to return the same in every execution returned something else.
    Results {
        /// The value that it returned in this execution, as `Debug` shows it.
        returned: String,
        /// The value that it returned in its default execution.
        by_default: String,
        /// The schedule of that execution, as a token.
        default_schedule: String,
    },
    /// A finding of a monitor, or wrong use of the tool. Only its message is known.
    Message {
        /// The message.
        text: String,
    },
}

/// A panic of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPanic {
    /// The name of the task.
    pub task: String,
    /// The message of the panic.
    pub message: String,
    /// The place in the source, as `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// `true` if its destructors were still running when the execution ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwinding: bool,
}

/// A task that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingTask {
    /// The name of the task.
    pub task: String,
    /// The operation that it cannot perform.
    pub op: String,
    /// The name of the variable, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub var: String,
    /// The place of that operation, as `file:line:column`.
    pub site: String,
    /// The name of the task that holds the variable, if it is a lock that is held; one of them, if several tasks read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// The place where that task took it, as `file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<String>,
    /// The variables that it waits for in a loop, if it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaited: Vec<Awaited>,
}

/// A variable that a loop waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// The name of the variable.
    pub var: String,
    /// The value it has, if it is a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// The place where the loop reads it, as `file:line:column`.
    pub site: String,
}

/// The reason why an execution reached its limit of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndlessCause {
    /// A loop never lets other tasks run.
    UnfairSpin,
    /// All running tasks repeat themselves, although each lets others run.
    Livelock,
    /// No cause was seen: the execution may be long, or may never end.
    Long,
}

/// A task that runs in a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLoop {
    /// The name of the task.
    pub task: String,
    /// The operations of one round; of a long round, the first ones.
    pub steps: Vec<LoopStep>,
    /// The number of the other operations of the round.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps_left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// An operation of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopStep {
    /// The operation.
    pub op: String,
    /// The name of the variable, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub var: String,
    /// The place of the operation, as `file:line:column`.
    pub site: String,
}

/// The state of a task that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HangState {
    /// It runs.
    Running,
    /// It waits for a lock or a channel of std.
    Locked,
    /// It waits for something else: a sleep, or input.
    Blocked,
}

/// Marks names in details that are compared without them.
const NAME: &str = "NAME";

impl FindingDetail {
    /// Returns the message about a test that returned something else than in its default execution.
    pub(crate) fn message_of_results(returned: &str, by_default: &str) -> String {
        difference(returned, by_default)
    }

    /// Returns the detail of a finding with such a message, given the token of the default execution; `None` if it is
    /// another message.
    pub(crate) fn of_results(
        message: &str,
        by_default: &str,
        default_schedule: &str,
    ) -> Option<FindingDetail> {
        Some(FindingDetail::Results {
            returned: returned_in(message, by_default)?,
            by_default: by_default.to_owned(),
            default_schedule: default_schedule.to_owned(),
        })
    }

    /// Returns the message line by line. The first line says what happened; each other line is a part of it.
    pub fn lines(&self) -> Vec<String> {
        // The message of a panic may have several lines.
        let parts = self.parts();
        parts
            .iter()
            .flat_map(|part| part.lines())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the places in the source that it names, as `file:line:column`. Those of monitors, divergences and hangs are
    /// only in the words.
    pub fn sites(&self) -> Vec<&str> {
        match self {
            FindingDetail::Panic { panics, waiting } => [of_panics(panics), of_waiting(waiting)].concat(),
            FindingDetail::Blocked { waiting, panics, .. } => {
                [of_waiting(waiting), of_panics(panics)].concat()
            }
            FindingDetail::Endless { loops, panics, .. } => {
                let steps = loops.iter().flat_map(|each| &each.steps);
                let steps = steps.map(|step| &*step.site);
                steps.chain(of_panics(panics)).collect()
            }
            FindingDetail::TaskLimit { site, panics, .. } => [vec![&**site], of_panics(panics)].concat(),
            FindingDetail::TookTooLong { site, panics, .. } => {
                site.iter().map(|site| &**site).chain(of_panics(panics)).collect()
            }
            FindingDetail::Crash { panics, .. } => of_panics(panics),
            FindingDetail::EventDiffers { before, now, .. } => {
                let texts = [Some(before), now.as_ref()];
                texts
                    .into_iter()
                    .flatten()
                    .flat_map(|text| sites_in(text))
                    .collect()
            }
            FindingDetail::Hang { place, .. } => place.iter().flat_map(|place| sites_in(place)).collect(),
            FindingDetail::Message { text } => sites_in(text).collect(),
            FindingDetail::ChoiceDiffers { .. }
            | FindingDetail::CrashOfRemains { .. }
            | FindingDetail::Results { .. } => Vec::new(),
        }
    }

    /// `true` if tasks wait, and a thread that is not controlled may release them.
    pub(super) fn may_be_released(&self) -> bool {
        matches!(
            self,
            FindingDetail::Blocked {
                outsider: Some(_),
                ..
            }
        )
    }

    /// Returns the detail with these names for variables. A panic's message is the user's, and is not changed.
    pub fn named(&self, names: &VarNames) -> FindingDetail {
        let mut detail = self.clone();
        let name = |var: &mut String| {
            if let Some(name) = names.get(var) {
                *var = quoted(name);
            }
        };
        match &mut detail {
            FindingDetail::Blocked { waiting, .. } | FindingDetail::Panic { waiting, .. } => {
                for task in waiting {
                    name(&mut task.var);
                    task.awaited.iter_mut().for_each(|awaited| name(&mut awaited.var));
                }
            }
            FindingDetail::Endless { loops, .. } => {
                let steps = loops.iter_mut().flat_map(|each| &mut each.steps);
                steps.for_each(|step| name(&mut step.var));
            }
            FindingDetail::EventDiffers { before, now, .. } => {
                *before = in_text(before, names);
                *now = now.as_ref().map(|now| in_text(now, names));
            }
            FindingDetail::Message { text } => *text = in_text(text, names),
            _ => {}
        }
        detail
    }

    fn parts(&self) -> Vec<String> {
        match self {
            FindingDetail::Panic { panics, waiting } => {
                let mut lines: Vec<String> = panics.iter().map(TaskPanic::to_string).collect();
                // A line that only repeats that another task panicked adds nothing.
                let mut number = 0;
                lines.retain(|_| {
                    number += 1;
                    number == 1 || panics[number - 1].message != SCOPED
                });
                for later in &mut lines[1..] {
                    later.insert_str(0, "then ");
                }
                if !waiting.is_empty() {
                    lines.push(CONSEQUENCE.to_owned());
                }
                lines.extend(waiting.iter().map(|task| format!("  {task}")));
                lines
            }
            FindingDetail::Blocked {
                waiting,
                panics,
                outsider,
            } => {
                let mut lines = vec!["no task can continue".to_owned()];
                lines.extend(waiting.iter().map(|task| format!("  {task}")));
                lines.extend(earlier(panics).map(|panic| format!("  {panic}")));
                let outsider = outsider.iter().map(|thread| format!("  {}", meanwhile(thread)));
                lines.extend(outsider);
                lines
            }
            FindingDetail::Endless {
                cause,
                running,
                loops,
                panics,
            } => {
                let mut lines = vec![endless(*cause, running)];
                let (at_the_end, rounds) = rounds(*cause, loops);
                for (number, round) in rounds.into_iter().enumerate() {
                    let at_the_end = if number == 0 { at_the_end } else { "" };
                    lines.push(format!("  {at_the_end}{round}"));
                }
                lines.extend(earlier(panics).map(|panic| format!("  {panic}")));
                lines
            }
            _ => vec![self.to_string()],
        }
    }

    /// Returns the detail with all names of tasks and variables replaced, and lists of tasks sorted. Two executions
    /// that show the same failure may name them differently.
    pub(crate) fn without_names(&self) -> FindingDetail {
        let mut detail = self.clone();
        let hide = |name: &mut String| NAME.clone_into(name);
        let panics_without_names = |panics: &mut Vec<TaskPanic>| {
            panics.iter_mut().for_each(|panic| hide(&mut panic.task));
            panics.sort_by(|one, other| (&one.place, &one.message).cmp(&(&other.place, &other.message)));
        };
        match &mut detail {
            FindingDetail::Panic { panics, waiting } => {
                panics_without_names(panics);
                // The panic is the failure, whatever waits then.
                waiting.clear();
            }
            FindingDetail::Blocked { waiting, panics, .. } => {
                for task in waiting.iter_mut() {
                    let itself = task.held_by.as_ref() == Some(&task.task);
                    hide(&mut task.task);
                    task.var = kind_of(&task.var).into();
                    if let Some(holder) = &mut task.held_by {
                        *holder = if itself { "itself" } else { NAME }.into();
                    }
                    for awaited in &mut task.awaited {
                        awaited.var = kind_of(&awaited.var).into();
                    }
                }
                waiting.sort_by(|one, other| (&one.site, &one.op).cmp(&(&other.site, &other.op)));
                panics_without_names(panics);
            }
            FindingDetail::Endless { running, loops, .. } => {
                hide(running);
                for each in loops.iter_mut() {
                    hide(&mut each.task);
                    for step in &mut each.steps {
                        step.var = kind_of(&step.var).into();
                    }
                }
                loops.sort_by_key(|each| {
                    each.steps
                        .iter()
                        .map(|step| step.site.clone())
                        .collect::<Vec<_>>()
                });
            }
            FindingDetail::TaskLimit { task, .. }
            | FindingDetail::Crash { task, .. }
            | FindingDetail::TookTooLong { task, .. }
            | FindingDetail::Hang { task, .. } => hide(task),
            FindingDetail::ChoiceDiffers { .. }
            | FindingDetail::EventDiffers { .. }
            | FindingDetail::CrashOfRemains { .. }
            | FindingDetail::Results { .. }
            | FindingDetail::Message { .. } => {}
        }
        if let FindingDetail::Crash { panics, .. }
        | FindingDetail::Endless { panics, .. }
        | FindingDetail::TaskLimit { panics, .. }
        | FindingDetail::TookTooLong { panics, .. }
        | FindingDetail::Hang { panics, .. } = &mut detail
        {
            panics_without_names(panics);
        }
        detail
    }
}

/// Returns the places of panics.
fn of_panics(panics: &[TaskPanic]) -> Vec<&str> {
    panics.iter().filter_map(|panic| panic.place.as_deref()).collect()
}

/// Returns the places at which tasks wait, and those at which the locks were taken that they wait for.
fn of_waiting(waiting: &[WaitingTask]) -> Vec<&str> {
    let of_task = |task| {
        let WaitingTask {
            site,
            held_since,
            awaited,
            ..
        }: &WaitingTask = task;
        match &awaited[..] {
            [] => std::iter::once(&**site).chain(held_since.as_deref()).collect(),
            awaited => awaited.iter().map(|awaited| &*awaited.site).collect::<Vec<_>>(),
        }
    };
    waiting.iter().flat_map(of_task).collect()
}

/// The message of a panic that only repeats that another task panicked.
const SCOPED: &str = "a scoped thread panicked";

/// Returns the kind in a variable's name: `mutex` of `mutex 0.2`. A task that is joined has a name and no kind.
fn kind_of(var: &str) -> &str {
    match var.rsplit_once(' ') {
        Some((kind, _)) if kind != "task" => kind,
        _ => NAME,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_back_from_their_message() {
        for value in [
            "1",
            "",
            "\"2, and 3 in its default execution\"",
            "the test returned 4, and 5",
        ] {
            let message = FindingDetail::message_of_results(value, "\"3\"");
            let detail = FindingDetail::of_results(&message, "\"3\"", "token").expect("it is such a message");
            assert_eq!(detail.to_string(), message);
            let FindingDetail::Results { returned, .. } = detail else {
                panic!("{detail:?}")
            };
            assert_eq!(returned, value);
            assert!(FindingDetail::of_results(&message, "4", "token").is_none());
        }
    }

    #[test]
    fn panics_before_the_end_are_told_in_their_order() {
        let panic = |task: &str| TaskPanic {
            task: task.to_owned(),
            message: "no value".to_owned(),
            place: None,
            unwinding: false,
        };
        let blocked = FindingDetail::Blocked {
            waiting: Vec::new(),
            panics: vec![panic("task 1"), panic("task 2")],
            outsider: None,
        };
        assert_eq!(
            blocked.to_string(),
            "no task can continue: ; before that task 1 panicked: no value; then task 2 panicked: no value"
        );
        let lines = [
            "no task can continue",
            "  before that task 1 panicked: no value",
            "  then task 2 panicked: no value",
        ];
        assert_eq!(blocked.lines(), lines);
    }
}
