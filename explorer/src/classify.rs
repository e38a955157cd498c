//! The findings of an execution that did not simply end well.

use crate::report::{
    Awaited, EndlessCause, Finding, FindingDetail, FindingEvent, FoundBy, HangState, LoopStep, TaskLoop,
    TaskPanic, VarNames, WaitingTask,
};
use intermezzo_engine::described::NamedPlace;
use intermezzo_engine::memory_model::ExecutionGraph;
use intermezzo_engine::runtime::{
    Abnormal, Crash, Doing, Endless, EndlessLoop, FailureContext, Layout, PanicNote, Reported, Stop, Unlike,
    Verdict, Waiting,
};
use intermezzo_engine::schedule::{Choice, ChoiceKind, Premises, Schedule};
use intermezzo_sdk::{FindingKind, Severity, SyncVarOp};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `true` if the execution ended by itself.
pub(crate) fn complete(stop: &Stop) -> bool {
    matches!(
        stop,
        Stop::Complete
            | Stop::Ended
            | Stop::Failed(_)
            | Stop::Panicked
            | Stop::Deadlock
            | Stop::Livelock
            | Stop::Crashed(_)
            | Stop::Hung(_)
    )
}

/// Returns the most likely reason why an execution departed from its schedule, and what to do about it. `another_var`
/// is `true` if the same operation of the same task accessed another variable.
fn likely_source(unlike: Unlike, toucher: Option<&str>, another_var: bool) -> String {
    if let Some(thread) = toucher {
        return format!(
            "the likely source is {thread}, which is not controlled and used what the test uses: spawn it by `intermezzo::thread`"
        );
    }
    if unlike.unmodified {
        return likely_source_of_unmodified(unlike).to_owned();
    }
    let source = if unlike.is_first {
        "the test was changed since the schedule was recorded, or does what the schedule does not determine: take time, \
         randomness, hash tables, threads and locks from `intermezzo`"
    } else if unlike.hash_tables {
        "the likely source is a hash table of std, which iterates in another order each time: take `HashMap` and \
         `HashSet` from `intermezzo::collections`"
    } else if another_var {
        "the likely source is an order by address, or by a random number: sort by something that is the same each time, and \
         take randomness from `intermezzo::rand`"
    } else if unlike.follows_first {
        "the likely source is state that the first execution set up and later ones reuse (a static, a `OnceLock`, a \
         thread-local): `warm_up = 1` runs the test once before the search"
    } else {
        "the likely source is time, randomness, an address, a thread or lock of std, or what an earlier execution left \
         behind: take time, randomness, threads and locks from `intermezzo`; what is set up once, before all executions, \
         wants `warm_up = 1`"
    };
    source.to_owned()
}

/// Returns that of a test that was not written for us. Its hash tables, statics and addresses are the same each time.
fn likely_source_of_unmodified(unlike: Unlike) -> &'static str {
    if unlike.is_first && unlike.calls_system {
        "the test was changed since the schedule was recorded, or the system answered otherwise: what comes over a socket with \
         an address, or from a child process, may come later, or in other pieces"
    } else if unlike.calls_system {
        "the likely source is the system, whose answers no schedule determines: what comes over a socket with an address, or \
         from a child process, may come later, or in other pieces. Pipes and `UnixStream::pair` within the test do not differ"
    } else if unlike.is_first {
        "the test was changed since the schedule was recorded, or does what the schedule does not determine: files, clocks of \
         processor time, random numbers of the processor, threads of C code"
    } else {
        "the likely source is what no schedule determines: files, clocks of processor time, random numbers of the processor, \
         threads of C code, or what an earlier execution left outside the process"
    }
}

/// Says of an execution that departed from its schedule that the search, which is the user's own and has this name, may be
/// at fault as well as the test.
pub(crate) fn suspect_search(finding: &mut Finding, strategy: &str) {
    if let FindingDetail::ChoiceDiffers { .. } = finding.detail {
        let otherwise = finding.suggestion.take().unwrap_or_default();
        finding.suggestion = Some(format!(
            "the strategy `{strategy}` is your own, and may be at fault: it prescribed another choice here, or its `choose` \
             returned `None`. Where there may be a choice, `choose` has to return an alternative, and `true` from `gives_up` \
             ends an execution without a finding. If the strategy is right, {otherwise}"
        ));
    }
}

/// Returns the findings of an execution.
pub(crate) fn findings(
    trouble: Abnormal,
    schedule: &dyn Fn(Vec<Choice>, Premises) -> Schedule,
) -> Vec<Finding> {
    if matches!(trouble.stop, Stop::Inconsistent) {
        return Vec::new();
    }
    let Abnormal {
        stop,
        scene,
        crash_cleared,
        ..
    } = trouble;
    let FailureContext {
        panics,
        waiting,
        reported: reports,
        events,
        given_names,
        layout,
        graph,
        current,
        toucher,
        unlike,
        choices,
        premises,
    } = scene;
    let schedule = schedule(choices, premises);
    let engine = |kind, detail: FindingDetail, tasks: Vec<String>| Finding {
        kind,
        severity: Severity::Error,
        monitor: FoundBy::Engine,
        message: detail.to_string(),
        detail,
        suggestion: None,
        events: concerning_last_of(&tasks, &events),
        tasks,
        schedule: schedule.clone(),
        count: 1,
        replays: None,
        found_by: None,
        places: Vec::new(),
        deeds: Vec::new(),
        names: given_names.clone(),
        functions: BTreeMap::new(),
        layout: layout.clone(),
        graph: graph.clone(),
    };
    let likely_source = |another_var| Some(likely_source(unlike, toucher.as_deref(), another_var));
    let panicked = |panics: Vec<TaskPanic>, waiting: Vec<WaitingTask>| {
        let kind = panic_kind(&panics.first()?.message);
        let tasks = panics.iter().map(|panic| panic.task.clone());
        let tasks = tasks
            .chain(waiting.iter().map(|task| task.task.clone()))
            .collect();
        Some(engine(kind, FindingDetail::Panic { panics, waiting }, tasks))
    };
    let all_panics = || panics.iter().map(task_panic).collect();
    let mut found = Vec::new();
    match &stop {
        Stop::Complete | Stop::Ended | Stop::Panicked | Stop::GivenUp => {
            // If the test's body failed, every panic that ended a task, or still unwinds one, may be the cause. If it did
            // not, panics of tasks that were joined were seen and handled.
            let failed = matches!(stop, Stop::Panicked);
            let telling = panics.iter().filter(|(_, note)| failed || note.unhandled());
            found.extend(panicked(telling.map(task_panic).collect(), Vec::new()));
        }
        // The panic of a task for which others then wait is the failure; that they wait is its consequence.
        Stop::Deadlock | Stop::Livelock
            if toucher.is_none() && panics.iter().any(|(_, note)| note.unhandled()) =>
        {
            let unhandled = panics.iter().filter(|(_, note)| note.unhandled());
            let waiting_tasks = waiting.iter().map(waiting_task).collect();
            found.extend(panicked(unhandled.map(task_panic).collect(), waiting_tasks));
        }
        Stop::Deadlock | Stop::Livelock => {
            let kind = match stop {
                Stop::Deadlock => FindingKind::Deadlock,
                _ => FindingKind::Livelock,
            };
            let tasks = waiting.iter().map(|waiting| waiting.task.clone()).collect();
            let detail = FindingDetail::Blocked {
                waiting: waiting.iter().map(waiting_task).collect(),
                panics: all_panics(),
                outsider: toucher.clone(),
            };
            let mut finding = engine(kind, detail, tasks);
            finding.places = locks_waited_for(&waiting);
            found.push(finding);
        }
        Stop::StepLimit(endless) => {
            let (kind, detail, tasks) = classify_endless(endless, &current, all_panics());
            found.push(engine(kind, detail, tasks));
        }
        // It counts for nothing.
        Stop::CutOff | Stop::Inconsistent => {}
        Stop::TaskLimit { most, site } => {
            let detail = FindingDetail::TaskLimit {
                limit: *most,
                task: current.clone(),
                site: site.clone(),
                panics: all_panics(),
            };
            let mut finding = engine(FindingKind::StepLimit, detail, vec![current]);
            finding.suggestion = Some(format!(
                "if it needs more tasks, raise the limit: the setting `stack = \"tasks={}\"`, or INTERMEZZO_STACK=tasks={0}",
                2 * u64::from(*most)
            ));
            found.push(finding);
        }
        Stop::Diverged {
            at,
            expected,
            found: met,
        } => {
            let detail = FindingDetail::ChoiceDiffers {
                choice: at + 1,
                expected: expected.as_ref().map(shape),
                found: met.as_ref().map(shape),
            };
            let mut finding = engine(FindingKind::Divergence, detail, vec![current]);
            finding.suggestion = likely_source(false);
            found.push(finding);
        }
        Stop::Differed {
            at,
            before,
            now,
            another_var,
        } => {
            let detail = FindingDetail::EventDiffers {
                event: *at,
                before: before.clone(),
                now: Some(now.clone()).filter(|now| !now.is_empty()),
            };
            let mut finding = engine(FindingKind::Divergence, detail, vec![current]);
            finding.suggestion = likely_source(*another_var);
            found.push(finding);
        }
        Stop::Misuse(message) | Stop::Failed(message) => {
            let kind = match stop {
                Stop::Failed(_) => FindingKind::Panic,
                _ => FindingKind::Misuse,
            };
            // A program may fail because one of its threads panicked.
            let unhandled = panics.iter().filter(|(_, note)| note.unhandled());
            if let Stop::Failed(_) = stop {
                found.extend(panicked(unhandled.map(task_panic).collect(), Vec::new()));
            }
            let detail = FindingDetail::Message {
                text: message.clone(),
            };
            found.push(engine(kind, detail, vec![current]));
        }
        Stop::Crashed(crash) => {
            let detail = FindingDetail::Crash {
                task: current.clone(),
                crash: crash.describe(),
                panics: all_panics(),
            };
            let mut finding = engine(FindingKind::Crash, detail, vec![current]);
            if let Crash::StackOverflow { bytes } = crash {
                finding.suggestion = Some(format!(
                    "if it does not call itself for ever, it needs a larger stack: the setting `stack = {}`, or \
                     INTERMEZZO_STACK={0}",
                    4 * bytes
                ));
            }
            found.push(finding);
        }
        Stop::TookTooLong { limit, site } => {
            let detail = FindingDetail::TookTooLong {
                task: current.clone(),
                milliseconds: limit.as_millis() as u64,
                site: site.clone(),
                panics: all_panics(),
            };
            found.push(engine(FindingKind::Hang, detail, vec![current]));
        }
        Stop::Hung(hang) => {
            let detail = FindingDetail::Hang {
                task: current.clone(),
                milliseconds: hang.limit.as_millis() as u64,
                place: hang.place.clone(),
                call: hang.call.map(str::to_owned),
                state: match hang.doing {
                    Doing::Running => HangState::Running,
                    Doing::Locked => HangState::Locked,
                    Doing::Blocked => HangState::Blocked,
                },
                panics: all_panics(),
            };
            found.push(engine(FindingKind::Hang, detail, vec![current]));
        }
    }
    if let Some(crash) = crash_cleared {
        let hung = matches!(crash, Crash::Hang);
        let kind = if hung {
            FindingKind::Hang
        } else {
            FindingKind::Crash
        };
        let crash = crash.describe();
        found.push(engine(
            kind,
            FindingDetail::CrashOfRemains { hung, crash },
            Vec::new(),
        ));
    }
    let context = (&given_names, &layout, &graph);
    found.extend(reported(reports, &events, context, &schedule));
    found
}

/// Returns the findings that monitors reported.
pub(crate) fn reported(
    reports: Vec<Reported>,
    events: &[FindingEvent],
    (given_names, layout, graph): (&VarNames, &Layout, &Option<Arc<ExecutionGraph>>),
    schedule: &Schedule,
) -> Vec<Finding> {
    let finding = |Reported {
                       monitor,
                       report,
                       places,
                       deeds,
                   }: Reported| {
        let mut tasks: Vec<String> = Vec::new();
        let mut events = events.to_vec();
        for id in &report.events {
            let id = id.to_string();
            if let Some(event) = events.iter_mut().find(|event| event.id == id) {
                event.concerned = true;
                if !tasks.contains(&event.task) {
                    tasks.push(event.task.clone());
                }
            }
        }
        Finding {
            kind: report.kind,
            severity: report.severity,
            monitor: FoundBy::Monitor(monitor),
            detail: FindingDetail::Message {
                text: report.message.clone(),
            },
            message: report.message,
            suggestion: report.suggestion,
            tasks,
            events,
            schedule: schedule.clone(),
            count: 1,
            replays: None,
            found_by: None,
            places,
            deeds,
            names: given_names.clone(),
            functions: BTreeMap::new(),
            layout: layout.clone(),
            graph: graph.clone(),
        }
    };
    reports.into_iter().map(finding).collect()
}

/// Returns these events, with the last one of each of these tasks marked as concerned.
fn concerning_last_of(tasks: &[String], events: &[FindingEvent]) -> Vec<FindingEvent> {
    let mut events = events.to_vec();
    for task in tasks {
        if let Some(last) = events.iter_mut().rev().find(|event| event.task == *task) {
            last.concerned = true;
        }
    }
    events
}

fn waiting_task(waiting: &Waiting) -> WaitingTask {
    let (held_by, held_since) = waiting.owner.clone().unzip();
    let awaited = waiting.awaited.iter().map(|awaited| Awaited {
        var: awaited.var.clone(),
        value: awaited.value,
        site: awaited.site.clone(),
    });
    WaitingTask {
        task: waiting.task.clone(),
        op: waiting.op.to_string(),
        var: waiting.var.clone(),
        site: waiting.site.clone(),
        held_by,
        held_since,
        awaited: awaited.collect(),
    }
}

fn task_panic((task, note): &(String, PanicNote)) -> TaskPanic {
    TaskPanic {
        task: task.clone(),
        message: note.message.clone(),
        place: note.place.clone(),
        unwinding: note.unwinding,
    }
}

fn panic_kind(message: &str) -> FindingKind {
    // The message is the only way to recognise the panics of `assert!`, `assert_eq!` and similar macros.
    if message.starts_with("assertion") {
        FindingKind::Assertion
    } else {
        FindingKind::Panic
    }
}

/// Returns the places where tasks wait for locks that others hold.
fn locks_waited_for(waiting: &[Waiting]) -> Vec<NamedPlace> {
    let locks = waiting
        .iter()
        .filter(|waiting| waiting.owner.is_some() && waiting.awaited.is_empty());
    let place = |waiting: &Waiting| NamedPlace {
        site: waiting.site.clone(),
        what: waiting.var.clone(),
    };
    locks.map(place).collect()
}

/// Returns the kind and the detail of an execution that was ended at its limit of steps, and the tasks concerned.
fn classify_endless(
    endless: &Endless,
    current: &str,
    panics: Vec<TaskPanic>,
) -> (FindingKind, FindingDetail, Vec<String>) {
    let (kind, cause) = match endless.verdict {
        Verdict::UnfairSpin => (FindingKind::UnfairSpin, EndlessCause::UnfairSpin),
        Verdict::Livelock => (FindingKind::Livelock, EndlessCause::Livelock),
        Verdict::Long => (FindingKind::StepLimit, EndlessCause::Long),
    };
    // Loops that let others run are no part of an unfair spin.
    let concerned = |each: &&EndlessLoop| cause != EndlessCause::UnfairSpin || !each.yields;
    let loops: Vec<TaskLoop> = endless.loops.iter().filter(concerned).map(task_loop).collect();
    let tasks = match cause {
        EndlessCause::Long => vec![current.to_owned()],
        _ => loops.iter().map(|each| each.task.clone()).collect(),
    };
    let detail = FindingDetail::Endless {
        cause,
        running: current.to_owned(),
        loops,
        panics,
    };
    (kind, detail, tasks)
}

fn task_loop(each: &EndlessLoop) -> TaskLoop {
    let step = |(op, var, site): &(SyncVarOp, String, String)| LoopStep {
        op: op.to_string(),
        var: var.clone(),
        site: site.clone(),
    };
    TaskLoop {
        task: each.task.clone(),
        steps: each.steps.iter().map(step).collect(),
        steps_left_out: each.steps_left_out,
    }
}

fn shape(choice: &Choice) -> String {
    let kind = subject(choice.kind);
    let running = if choice.preempts {
        ", the running one among them"
    } else {
        ""
    };
    format!("{kind}, one of {}{running}", choice.alternatives)
}

/// Returns the question that a choice of this kind answers.
pub(crate) fn subject(kind: ChoiceKind) -> &'static str {
    match kind {
        ChoiceKind::Task => "which task goes next",
        ChoiceKind::Value => "a value of `choose`",
        ChoiceKind::WeakExchange => "whether a weak compare-exchange fails",
        ChoiceKind::TryLock => "whether a try_lock fails",
        ChoiceKind::Waiter => "which waiter notify_one wakes",
        ChoiceKind::Wake => "whether a wait ends early",
        ChoiceKind::Rescue => "which waiting task wakes spuriously, as no task can continue",
        ChoiceKind::Ended => "whether a task that is over is found ended",
    }
}
