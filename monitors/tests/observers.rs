//! Monitors without a verdict: their counts, and their output.

use intermezzo_monitors::{EventLog, HappensBeforeCounter, Statistics};
use intermezzo_sdk::testing::{Event, Script};
use intermezzo_sdk::{BlockKind, MemoryOrder, Severity, SyncVarOp, TaskId};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

const MAIN: TaskId = Script::MAIN;

/// Two tasks, each of which does one of these.
fn pair(ops: [SyncVarOp; 2], first: usize) -> Script {
    let mut script = Script::new();
    let x = script.var("x");
    let tasks = [script.fork(MAIN), script.fork(MAIN)];
    for which in [first, 1 - first] {
        script.operation(tasks[which], ops[which], x);
    }
    script
}

#[test]
fn executions_are_counted_up_to_what_does_not_conflict() {
    use SyncVarOp::{AtomicLoad as Load, AtomicStore as Store, CountDown};
    let classes = |ops| {
        let mut counter = HappensBeforeCounter::new();
        let counts = counter.counts();
        let (one, other) = (pair(ops, 0), pair(ops, 1));
        let mut cut_short = pair(ops, 0);
        cut_short.incomplete();
        let reports = Script::play_all([&one, &other, &one, &cut_short], &mut counter);
        assert_eq!((counts.executions(), reports.len()), (3, 1));
        let expected = format!(
            "complete executions: 3, happens-before classes: {} (at least as many as the report's traces, which do not order \
             operations that write and commute, such as ends of `Arc`)",
            counts.classes()
        );
        assert_eq!(
            (reports[0].message.as_str(), reports[0].severity),
            (expected.as_str(), Severity::Warning)
        );
        counts.classes()
    };
    assert_eq!(classes([Load, Load]), 1);
    assert_eq!(classes([Store, Load]), 2);
    assert_eq!(
        classes([CountDown, CountDown]),
        2,
        "they commute, and are counted all the same"
    );
    assert_eq!(
        HappensBeforeCounter::with_arguments("most=3").unwrap_err(),
        "happens-before-counter: there is no argument `most`; it takes none"
    );
}

/// Tasks that two tasks create at the same time have other numbers in another order, and are the same.
#[test]
fn numbers_of_tasks_do_not_count() {
    let script = |turned: bool| {
        let mut script = Script::new();
        let mut tasks = [script.fork(MAIN), script.fork(MAIN)];
        if turned {
            tasks.reverse();
        }
        let children = tasks.map(|task| script.fork(task));
        let [first, _] = if turned {
            [children[1], children[0]]
        } else {
            children
        };
        let x = script.var("x");
        script.store(first, x, MemoryOrder::Relaxed, 1);
        script
    };
    let mut counter = HappensBeforeCounter::new();
    let counts = counter.counts();
    Script::play_all([&script(false), &script(true)], &mut counter);
    assert_eq!((counts.executions(), counts.classes()), (2, 1));
}

#[test]
fn statistics_add_up() {
    let mut script = Script::new();
    let x = script.var("x");
    let child = script.fork(MAIN);
    script.store(child, x, MemoryOrder::Relaxed, 1);
    script.push(Event::Attribute {
        event: script.last(child),
        name: "status".into(),
        value: "preempted".into(),
    });
    script.load(MAIN, x, MemoryOrder::Relaxed, 1);
    script.join(MAIN, child);
    let mut statistics = Statistics::new();
    let summary = statistics.summary();
    let alone = {
        let mut script = Script::new();
        script.incomplete();
        script
    };
    let reports = Script::play_all([&script, &alone], &mut statistics);
    // begin, fork | begin, store | load | end | join, and a begin.
    assert_eq!(
        summary.get().to_string(),
        "executions: 2, complete: 1; most tasks: 2; events: 8, most in one execution: 7; steps: 8, most: 7; switches of task: \
         4, most: 4; preemptions: 1, most: 1; operations: begin 3, end 1, join 1, load 1, spawn 1, store 1"
    );
    assert_eq!(reports[0].message, summary.get().to_string());
    assert_eq!(reports[0].severity, Severity::Warning);
    assert!(Statistics::with_arguments("a=b").is_err());
}

/// A place to write to, of which the test keeps a share.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn everything() -> Script {
    let mut script = Script::new();
    let [mutex, condvar, x] = ["mutex", "condvar", "x"].map(|name| script.var(name));
    let block = script.allocate(MAIN, "block", BlockKind::Heap, 8);
    script.write(MAIN, block).say(MAIN, "written");
    script.store(MAIN, x, MemoryOrder::Release, 7);
    script.lock(MAIN, mutex);
    let released = mutex.0.into();
    script.sync(
        MAIN,
        SyncVarOp::CondvarWait,
        condvar,
        MemoryOrder::None,
        0,
        released,
    );
    script.push(Event::Attribute {
        event: script.last(MAIN),
        name: "status".into(),
        value: "blocked".into(),
    });
    script.release(MAIN, block);
    script
}

#[test]
fn the_log_has_a_line_for_each_event() {
    let paper = Paper::default();
    let reports = everything().play(&mut EventLog::with_arguments(paper.clone(), "points=false").unwrap());
    assert!(reports.is_empty());
    let expected = "\
execution 1
access     0.1    main       begin                    task 0               read 0, written 0        script:0
allocation 0.1    main       heap                     block                bytes 8                  script:1
data       0.1    main       write                    block                bytes 8, from 0          script:2
said       0.1    main       written
access     0.2    main       store (Release)          x                    read 0, written 7        script:4
access     0.3    main       lock                     mutex                read 0, written 0        script:5
access     0.4    main       wait                     condvar, mutex       read 0, written 1        script:6
attribute  0.4    main       status                   blocked
release    0.4    main                                block                                         script:8
end after 4 events, complete
shutdown
";
    assert_eq!(paper.text(), expected);
    let paper = Paper::default();
    everything().play(&mut EventLog::with_arguments(paper.clone(), "data=false").unwrap());
    let text = paper.text();
    assert!(!text.contains("data"), "{text}");
    let begins = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((begins("point"), begins("access")), (4, 4));
}

/// Nothing can be written to it.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::other("no room"))
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_that_cannot_be_written_says_so_once() {
    let script = everything();
    let reports = Script::play_all([&script, &script], &mut EventLog::new(Full));
    assert_eq!(reports.len(), 1);
    assert_eq!(
        (reports[0].message.as_str(), reports[0].severity),
        ("the log of events is not complete: no room", Severity::Warning)
    );
}
