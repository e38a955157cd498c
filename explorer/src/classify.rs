//! What an execution that did not simply end well amounts to, in words.

use crate::report::{Evidence, Finding, FindingEvent, WaitingTask};
use intermezzo_engine::described::NamedPlace;
use intermezzo_engine::runtime::{
    Abnormal, AwaitedVar, Crash, Doing, Endless, EndlessLoop, EventLine, FailureContext, Hang, PanicNote,
    Reported, Stop, Unlike, Verdict, Waiting,
};
use intermezzo_engine::schedule::{Choice, Premises, Schedule};
use intermezzo_sdk::{FindingKind, MemoryOrder, Severity, SyncVarOp};

/// Whether the execution came to an end of its own.
pub(crate) fn complete(stop: &Stop) -> bool {
    matches!(
        stop,
        Stop::Complete | Stop::Panicked | Stop::Deadlock | Stop::Livelock | Stop::Crashed(_) | Stop::Hung(_)
    )
}

/// The most likely reason why an execution departed from its schedule, and what to do about it. `another_var`: the same
/// operation of the same task accessed another variable.
fn likely_source(unlike: Unlike, toucher: Option<&str>, another_var: bool) -> String {
    if let Some(thread) = toucher {
        return format!(
            "the likely source is {thread}, which is not controlled and used what the test uses: spawn it by `intermezzo::thread`"
        );
    }
    let source = if unlike.is_first {
        "the test was changed since the schedule was recorded, or does what the schedule does not determine: take time, \
         randomness, hash tables, threads and locks from `intermezzo`"
    } else if unlike.hash_tables {
        "the likely source is a hash table of std, which is gone through in another order each time: take `HashMap` and \
         `HashSet` from `intermezzo::collections`"
    } else if another_var {
        "the likely source is an order by address, or by a random number: sort by something that is the same each time, and \
         take randomness from `intermezzo::rand`"
    } else if unlike.follows_first {
        "the likely source is what the first execution set up and later ones find ready (a static, a `OnceLock`, a \
         thread-local): `warm_up = 1` runs the test once before the search"
    } else {
        "the likely source is time, randomness, an address, a thread or lock of std, or what an earlier execution left \
         behind: take time, randomness, threads and locks from `intermezzo`; what is set up once, before all executions, \
         wants `warm_up = 1`"
    };
    source.to_owned()
}

/// The findings of an execution.
pub(crate) fn findings(
    trouble: Abnormal,
    schedule: impl Fn(Vec<Choice>, Premises) -> Schedule,
) -> Vec<Finding> {
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
        current,
        toucher,
        unlike,
        choices,
        premises,
    } = scene;
    let schedule = schedule(choices, premises);
    let events: Vec<FindingEvent> = events.iter().map(finding_event).collect();
    let engine = |kind, message, tasks: Vec<String>| Finding {
        kind,
        severity: Severity::Error,
        monitor: "engine".into(),
        message,
        suggestion: None,
        events: concerning_last_of(&tasks, &events),
        tasks,
        schedule: schedule.clone(),
        count: 1,
        replays: None,
        found_by: None,
        places: Vec::new(),
        deeds: Vec::new(),
        evidence: Evidence::default(),
    };
    let mut found = Vec::new();
    match &stop {
        Stop::Complete | Stop::Panicked => {
            // Where the test's body failed, every panic that ended a task, or still unwinds one, may be the cause;
            // where it did not, those of tasks that were joined were seen and handled.
            let failed = matches!(stop, Stop::Panicked);
            let telling: Vec<_> = panics
                .iter()
                .filter(|(_, note)| failed || note.unhandled())
                .collect();
            if let Some((_, first)) = telling.first() {
                let message = telling
                    .iter()
                    .map(|(task, note)| panic_message(task, note))
                    .collect::<Vec<_>>()
                    .join("; then ");
                let tasks = telling.iter().map(|(task, _)| task.clone()).collect();
                let mut finding = engine(panic_kind(first), message, tasks);
                finding.evidence.place = first.place.clone();
                found.push(finding);
            }
        }
        Stop::Deadlock | Stop::Livelock => {
            let mut message = deadlock_message(&waiting, &panics);
            if let Some(thread) = &toucher {
                message.push_str(&format!(
                    "; meanwhile {thread}, which is not controlled, used what this execution uses: a task may wait for it"
                ));
            }
            let kind = match stop {
                Stop::Deadlock => FindingKind::Deadlock,
                _ => FindingKind::Livelock,
            };
            let tasks = waiting.iter().map(|waiting| waiting.task.clone()).collect();
            let mut finding = engine(kind, message, tasks);
            finding.places = locks_waited_for(&waiting);
            finding.evidence.waiting = waiting.iter().map(waiting_task).collect();
            found.push(finding);
        }
        Stop::StepLimit(endless) => {
            let (kind, message, tasks) = judge_endless(endless, &current);
            found.push(engine(kind, message, tasks));
        }
        Stop::TaskLimit { most, site } => {
            let message = format!(
                "the execution was given up at its limit of {most} tasks: {current} would have created one more at \
                 {site}, and may create them for ever"
            );
            let mut finding = engine(FindingKind::StepLimit, message, vec![current]);
            finding.suggestion = Some(format!(
                "a test that needs more tasks needs a higher limit: `tasks = {}` in its attribute, or INTERMEZZO_TASKS={0}",
                2 * u64::from(*most)
            ));
            found.push(finding);
        }
        Stop::Diverged {
            at,
            expected,
            found: met,
        } => {
            let message = format!(
                "choice {} was to be {}, and was {}",
                at + 1,
                expected
                    .as_ref()
                    .map_or_else(|| "the end of the schedule".into(), shape),
                met.as_ref()
                    .map_or_else(|| "the end of the execution".into(), shape),
            );
            let mut finding = engine(FindingKind::Divergence, message, vec![current]);
            finding.suggestion = Some(likely_source(unlike, toucher.as_deref(), false));
            found.push(finding);
        }
        Stop::Differed {
            at,
            before,
            now,
            another_var,
        } => {
            let what = if now.is_empty() {
                format!("it ended before event {at}, which there had been")
            } else {
                format!("event {at} was {now}, and had been {before}")
            };
            let message = format!("{what} under the same choices before");
            let mut finding = engine(FindingKind::Divergence, message, vec![current]);
            finding.suggestion = Some(likely_source(unlike, toucher.as_deref(), *another_var));
            found.push(finding);
        }
        Stop::Misuse(message) => found.push(engine(FindingKind::Misuse, message.clone(), vec![current])),
        Stop::Crashed(crash) => {
            let mut message = format!("{current} crashed: {}", crash.describe());
            for (task, note) in &panics {
                message.push_str(&format!("; before that {}", panic_message(task, note)));
            }
            let mut finding = engine(FindingKind::Crash, message, vec![current]);
            if let Crash::StackOverflow { bytes } = crash {
                finding.suggestion = Some(format!(
                    "if it does not call itself for ever, it needs a larger stack: `stack = {}` in its attribute, or \
                     INTERMEZZO_STACK={0}",
                    4 * bytes
                ));
            }
            found.push(finding);
        }
        Stop::Hung(hang) => {
            let message = hang_message(&current, hang);
            found.push(engine(FindingKind::Hang, message, vec![current]));
        }
    }
    if let Some(crash) = crash_cleared {
        let (kind, what) = match crash {
            Crash::Hang => (FindingKind::Hang, "hung"),
            _ => (FindingKind::Crash, "crashed"),
        };
        let what = format!("a destructor {what} while what the execution left behind was dropped");
        found.push(engine(kind, format!("{what}: {}", crash.describe()), Vec::new()));
    }
    found.extend(reported(reports, &events, &schedule));
    found
}

/// What monitors reported.
pub(crate) fn reported(reports: Vec<Reported>, events: &[FindingEvent], schedule: &Schedule) -> Vec<Finding> {
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
            monitor,
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
            evidence: Evidence::default(),
        }
    };
    reports.into_iter().map(finding).collect()
}

/// These events, with the last one of each of these tasks marked as what it is about.
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
    WaitingTask {
        task: waiting.task.clone(),
        op: waiting.op.to_string(),
        var: waiting.var.clone(),
        site: waiting.site.clone(),
        held_by,
        held_since,
    }
}

fn hang_message(task: &str, hang: &Hang) -> String {
    let seconds = hang.limit.as_secs_f64();
    let place = hang
        .place
        .as_ref()
        .map(|place| format!(", in {place}"))
        .unwrap_or_default();
    match hang.doing {
        Doing::Running => format!(
            "{task} has run for {seconds} seconds without a visible operation{place}: it goes round in a loop that does \
             nothing visible, or computes for long"
        ),
        Doing::Locked => format!(
            "{task} has been blocked for {seconds} seconds by something that is not controlled{place}: a lock or a \
             channel of std, most likely a `std::sync::Mutex` that another task holds while it waits for its turn"
        ),
        Doing::Blocked => format!(
            "{task} has been blocked for {seconds} seconds by something that is not controlled{place}: a sleep of std, or \
             input that does not come"
        ),
    }
}

fn panic_kind(note: &PanicNote) -> FindingKind {
    // The words of `assert!`, `assert_eq!` and their like; there is no other way to tell them.
    if note.message.starts_with("assertion") {
        FindingKind::Assertion
    } else {
        FindingKind::Panic
    }
}

fn panic_message(task: &str, note: &PanicNote) -> String {
    let place = note
        .place
        .as_ref()
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    let unwinding = if note.unwinding {
        " (its destructors had not ended when the execution did)"
    } else {
        ""
    };
    format!("{task} panicked{place}: {}{unwinding}", note.message)
}

/// Where tasks wait for locks that others hold.
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

fn deadlock_message(waiting: &[Waiting], panics: &[(String, PanicNote)]) -> String {
    let lines = waiting.iter().map(|waiting| {
        let Waiting {
            task,
            op,
            var,
            site,
            owner,
            awaited,
        } = waiting;
        if !awaited.is_empty() {
            return format!(
                "{task} goes round in a loop and waits {}",
                awaited_message(awaited)
            );
        }
        let what = match op {
            SyncVarOp::LockAcquire => format!("to lock {var}"),
            SyncVarOp::SharedAcquire => format!("to read {var}"),
            SyncVarOp::TaskJoin => format!("for {var} to end"),
            SyncVarOp::CondvarWait | SyncVarOp::CondvarWake => format!("to be notified by {var}"),
            SyncVarOp::ChannelSend => format!("to send to {var}"),
            SyncVarOp::ChannelReceive => format!("to receive from {var}"),
            SyncVarOp::Park => "to be unparked".into(),
            op => format!("for {var} ({op})"),
        };
        let holder = match owner {
            Some((owner, since)) if owner == task => format!(", which it holds itself since {since}"),
            Some((owner, since)) => format!(", held by {owner} since {since}"),
            None => String::new(),
        };
        format!("{task} waits {what} at {site}{holder}")
    });
    let lines: Vec<String> = lines.collect();
    let mut message = format!("no task can go on: {}", lines.join("; "));
    for (task, note) in panics {
        message.push_str(&format!("; before that {}", panic_message(task, note)));
    }
    message
}

/// What a loop waits for.
fn awaited_message(awaited: &[AwaitedVar]) -> String {
    let each = awaited.iter().map(|AwaitedVar { var, value, site }| match value {
        Some(value) => format!("for {var} to be other than {value} at {site}"),
        None => format!("for {var} to change at {site}"),
    });
    each.collect::<Vec<_>>().join(" or ")
}

/// What an execution that was given up at its limit of steps amounts to.
fn judge_endless(endless: &Endless, current: &str) -> (FindingKind, String, Vec<String>) {
    let Endless { verdict, loops } = endless;
    let tasks = |named: &dyn Fn(&&EndlessLoop) -> bool| -> Vec<String> {
        loops.iter().filter(named).map(|each| each.task.clone()).collect()
    };
    let given_up = "the execution was given up at its limit of steps";
    let rounds = |named: &dyn Fn(&&EndlessLoop) -> bool| -> String {
        let each = loops.iter().filter(named).map(|each| {
            let EndlessLoop { task, steps, .. } = each;
            let steps = steps.iter().map(|(op, var, site)| {
                let var = if var.is_empty() {
                    String::new()
                } else {
                    format!(" of {var}")
                };
                format!("{op}{var} at {site}")
            });
            format!("{task} goes round: {}", steps.collect::<Vec<_>>().join(", "))
        });
        each.collect::<Vec<_>>().join("; ")
    };
    match verdict {
        Verdict::UnfairSpin => {
            let never = |each: &&EndlessLoop| !each.yields;
            let message = format!(
                "{given_up}: a loop never gives way to others, with `yield_now` or `spin_loop`; {}",
                rounds(&never)
            );
            (FindingKind::UnfairSpin, message, tasks(&never))
        }
        Verdict::Livelock => {
            let message = format!(
                "{given_up}: all tasks that run go round and round, though each gives way; {}",
                rounds(&|_| true)
            );
            (FindingKind::Livelock, message, tasks(&|_| true))
        }
        Verdict::Long => {
            let mut message =
                format!("{given_up}, while {current} was running: it may be long, or never end");
            if !loops.is_empty() {
                message.push_str(&format!("; at the end {}", rounds(&|_| true)));
            }
            (FindingKind::StepLimit, message, vec![current.to_owned()])
        }
    }
}

fn shape(choice: &Choice) -> String {
    let kind = match choice.kind {
        intermezzo_engine::schedule::ChoiceKind::Task => "which task goes next",
        intermezzo_engine::schedule::ChoiceKind::Value => "a value of `choose`",
        intermezzo_engine::schedule::ChoiceKind::WeakExchange => "whether a weak compare-exchange fails",
        intermezzo_engine::schedule::ChoiceKind::TryLock => "whether a try_lock fails",
        intermezzo_engine::schedule::ChoiceKind::Waiter => "whom notify_one wakes",
        intermezzo_engine::schedule::ChoiceKind::Wake => "why a wait ends",
        intermezzo_engine::schedule::ChoiceKind::Rescue => "who goes on for no reason where nobody else can",
        intermezzo_engine::schedule::ChoiceKind::Ended => "whether a task that is over is found ended",
    };
    let running = if choice.preempts {
        ", the running one among them"
    } else {
        ""
    };
    format!("{kind}, one of {}{running}", choice.alternatives)
}

/// What an operation read and wrote, where those are values that say something to people.
pub(crate) fn values(op: SyncVarOp, read: u64, written: u64) -> (Option<u64>, Option<u64>) {
    let carries = matches!(
        op,
        SyncVarOp::AtomicLoad
            | SyncVarOp::AtomicStore
            | SyncVarOp::AtomicRmw
            | SyncVarOp::AtomicRmwFailed
            | SyncVarOp::CountUp
            | SyncVarOp::CountDown
            | SyncVarOp::CountRead
    );
    (
        (carries && op.is_read() || op == SyncVarOp::Choice).then_some(read),
        (carries && op.is_write()).then_some(written),
    )
}

fn finding_event(event: &EventLine) -> FindingEvent {
    let (read, written) = values(event.op, event.read, event.written);
    FindingEvent {
        id: event.id.to_string(),
        task: event.task.clone(),
        op: match event.op {
            SyncVarOp::CondvarWake | SyncVarOp::Park if event.read == 1 => {
                format!("{} for no reason", event.op)
            }
            op if event.elided => format!("{op}, in vain"),
            op => op.name().into(),
        },
        order: match event.order {
            MemoryOrder::None => None,
            order => Some(format!("{order:?}")),
        },
        var: event.var.clone(),
        read,
        written,
        site: event.site.clone(),
        preempts: event.preempts,
        concerned: false,
    }
}
