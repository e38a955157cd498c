//! Blocks written by hand: atomicity violations, and their fixed twins.

use intermezzo_monitors::Atomicity;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{
    FindingKind, MemoryOrder, Monitor, MonitorFinding, Severity, SyncVar, SyncVarOp, TaskId, UserEvent,
};

const ORDER: MemoryOrder = MemoryOrder::SeqCst;

/// A script with two tasks, and a variable.
fn scene() -> (Script, TaskId, TaskId, SyncVar) {
    let mut script = Script::new();
    let tasks = [script.fork(Script::MAIN), script.fork(Script::MAIN)];
    let x = script.var("x");
    (script, tasks[0], tasks[1], x)
}

fn begin(script: &mut Script, task: TaskId, name: &str) {
    script.say(task, &format!("{}{name}", UserEvent::BLOCK_BEGINS));
}

fn end(script: &mut Script, task: TaskId) {
    script.say(task, UserEvent::BLOCK_ENDS);
}

fn reports(script: &Script) -> Vec<MonitorFinding> {
    script.play(&mut Atomicity::new())
}

fn count(script: &Script, arguments: &str) -> usize {
    let reports = script.play(&mut Atomicity::with_arguments(arguments).unwrap());
    reports.len()
}

#[test]
fn a_lost_update_is_no_block_and_one_after_the_other_is() {
    let (mut script, one, other, x) = scene();
    let fixed = {
        let mut script = script.clone();
        for task in [one, other] {
            begin(&mut script, task, "increment");
            script.load(task, x, ORDER, 0);
            script.store(task, x, ORDER, 1);
            end(&mut script, task);
        }
        script
    };
    begin(&mut script, one, "increment");
    script.load(one, x, ORDER, 0);
    script.store(other, x, ORDER, 1);
    script.store(one, x, ORDER, 1);
    end(&mut script, one);
    let [report] = &reports(&script)[..] else {
        panic!("one finding")
    };
    assert_eq!(
        (&report.kind, report.severity),
        (&FindingKind::Atomicity, Severity::Error)
    );
    assert_eq!(
        report.message,
        "not atomic: load of x by task 1 at script:6, in `increment` comes before store of x by task 2 at script:7; store \
         of x by task 2 at script:7 comes before store of x by task 1 at script:8, in `increment`"
    );
    assert!(report.suggestion.is_some());
    assert!(reports(&fixed).is_empty());
}

#[test]
fn two_blocks_may_each_be_whole_and_not_both() {
    let script = |crossed: bool| {
        let (mut script, one, other, x) = scene();
        let y = script.var("y");
        begin(&mut script, one, "a");
        begin(&mut script, other, "b");
        script.store(other, y, ORDER, 1);
        script.store(one, x, ORDER, 1);
        if crossed {
            script.load(one, y, ORDER, 1);
            script.load(other, x, ORDER, 1);
        } else {
            script.load(other, y, ORDER, 1);
            script.load(one, y, ORDER, 1);
        }
        end(&mut script, one);
        end(&mut script, other);
        script
    };
    let [report] = &reports(&script(true))[..] else {
        panic!("one finding, though both blocks are on the cycle")
    };
    assert!(
        report.message.contains("in `a`") && report.message.contains("in `b`"),
        "{}",
        report.message
    );
    assert!(reports(&script(false)).is_empty());
}

#[test]
fn a_cycle_may_lead_through_what_is_in_no_block() {
    let script = |seen: bool| {
        let (mut script, one, other, x) = scene();
        let y = script.var("y");
        begin(&mut script, one, "a");
        script.store(one, x, ORDER, 1);
        script.load(other, x, ORDER, 1);
        script.store(other, y, ORDER, 1);
        if seen {
            script.load(one, y, ORDER, 1);
        }
        end(&mut script, one);
        script
    };
    assert_eq!(reports(&script(true)).len(), 1);
    assert!(reports(&script(false)).is_empty());
}

#[test]
fn blocks_nest_and_the_outermost_counts() {
    let (mut script, one, other, x) = scene();
    begin(&mut script, one, "outer");
    script.load(one, x, ORDER, 0);
    begin(&mut script, one, "inner");
    script.load(one, x, ORDER, 0);
    end(&mut script, one);
    script.store(other, x, ORDER, 1);
    script.load(one, x, ORDER, 1);
    end(&mut script, one);
    script.store(other, x, ORDER, 2);
    script.load(one, x, ORDER, 2);
    let [report] = &reports(&script)[..] else {
        panic!("one finding")
    };
    assert!(
        report.message.contains("`outer`") && !report.message.contains("`inner`"),
        "{}",
        report.message
    );
}

#[test]
fn a_critical_section_is_a_block_if_that_is_asked_for() {
    // The flag is read under the lock, and written without it.
    let script = |guarded: bool| {
        let (mut script, one, other, flag) = scene();
        let mutex = script.var("mutex");
        script.lock(one, mutex);
        script.load(one, flag, ORDER, 0);
        if !guarded {
            script.store(other, flag, ORDER, 1);
        }
        script.load(one, flag, ORDER, 1);
        script.unlock(one, mutex);
        if guarded {
            script.lock(other, mutex);
            script.store(other, flag, ORDER, 1);
            script.unlock(other, mutex);
        }
        script
    };
    assert_eq!(count(&script(false), ""), 0);
    assert_eq!(count(&script(false), "blocks=critical-sections"), 1);
    assert_eq!(count(&script(true), "blocks=both"), 0);
}

#[test]
fn a_block_of_two_sections_objects_to_another_in_between() {
    let script = |between: bool| {
        let (mut script, one, other, _) = scene();
        let mutex = script.var("mutex");
        let section = |script: &mut Script, task| {
            script.lock(task, mutex);
            script.unlock(task, mutex);
        };
        begin(&mut script, one, "check then act");
        section(&mut script, one);
        if between {
            section(&mut script, other);
        }
        section(&mut script, one);
        end(&mut script, one);
        section(&mut script, other);
        script
    };
    assert_eq!(reports(&script(true)).len(), 1);
    assert!(reports(&script(false)).is_empty());
}

#[test]
fn cells_that_race_count_if_that_is_asked_for() {
    let (mut script, one, other, _) = scene();
    let cell = script.location("cell");
    begin(&mut script, one, "increment");
    script.read(one, cell);
    script.write_part(other, cell, 8, 8).write(one, cell);
    end(&mut script, one);
    assert_eq!(count(&script, "cells=true"), 0, "other bytes");
    begin(&mut script, one, "increment");
    script.read(one, cell).write(other, cell).write(one, cell);
    end(&mut script, one);
    assert_eq!(count(&script, ""), 0);
    assert_eq!(count(&script, "cells=true"), 1);
    assert_eq!(
        count(&script, "cells=true,triples=true"),
        2,
        "and the same as a triple"
    );
    assert!(Atomicity::new().reduction_compatible());
    assert!(
        !Atomicity::with_arguments("cells=true")
            .unwrap()
            .reduction_compatible()
    );
}

/// AVIO's table: of the eight ways in which another access is in between, four have no serial order.
#[test]
fn four_of_eight_triples_are_reported() {
    for case in 0..8 {
        let is_write = [case & 4 != 0, case & 2 != 0, case & 1 != 0];
        let script = |in_block: bool, interrupted: bool| {
            let (mut script, one, other, x) = scene();
            let access = |script: &mut Script, task, is_write| match is_write {
                true => script.store(task, x, ORDER, 1),
                false => script.load(task, x, ORDER, 1),
            };
            if in_block {
                begin(&mut script, one, "block");
            }
            access(&mut script, one, is_write[0]);
            if interrupted {
                access(&mut script, other, is_write[1]);
            }
            access(&mut script, one, is_write[2]);
            if in_block {
                end(&mut script, one);
            }
            script
        };
        let warnings = |script: &Script| {
            let monitor = &mut Atomicity::with_arguments("triples=true").unwrap();
            let reports = script.play(monitor);
            reports
                .into_iter()
                .filter(|report| report.severity == Severity::Warning)
                .count()
        };
        // Read-write-read, write-write-read, write-read-write, read-write-write.
        let unserialisable = matches!(
            is_write,
            [false, true, false] | [true, true, false] | [true, false, true] | [false, true, true]
        );
        assert_eq!(
            warnings(&script(true, true)),
            usize::from(unserialisable),
            "{is_write:?}"
        );
        assert_eq!(warnings(&script(true, false)), 0);
        // Places of a script are lines of no file: outside of blocks they are the same line.
        assert_eq!(warnings(&script(false, true)), 0, "no file and line");
    }
}

#[test]
fn arguments_are_checked() {
    let error = Atomicity::with_arguments("block=both").unwrap_err();
    assert_eq!(
        error,
        "atomicity: there is no argument `block`; there are: blocks (marked, critical-sections or both), cells (true or \
         false), triples (true or false), lines (a number of lines)"
    );
    assert!(Atomicity::with_arguments("blocks=some").is_err());
    assert!(Atomicity::with_arguments("lines=-1").is_err());
}

/// The marks themselves put nothing in order.
#[test]
fn operations_of_an_object_are_blocks() {
    let script = |apart: bool| {
        let (mut script, one, other, x) = scene();
        let marks = script.var("marks");
        let mark = |script: &mut Script, task, op, number| {
            script.sync(task, op, marks, MemoryOrder::None, 0, number);
        };
        mark(&mut script, one, SyncVarOp::OperationCall, 0);
        script.load(one, x, ORDER, 0);
        if apart {
            script.store(one, x, ORDER, 1);
            mark(&mut script, one, SyncVarOp::OperationReturn, 0);
        }
        mark(&mut script, other, SyncVarOp::OperationCall, 1);
        script.store(other, x, ORDER, 1);
        mark(&mut script, other, SyncVarOp::OperationReturn, 1);
        if !apart {
            script.store(one, x, ORDER, 1);
            mark(&mut script, one, SyncVarOp::OperationReturn, 0);
        }
        script
    };
    assert_eq!(count(&script(true), ""), 0);
    let found = reports(&script(false));
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("operation 0"), "{}", found[0].message);
    assert_eq!(count(&script(false), "blocks=critical-sections"), 0);
}
