//! The setting `preempt`.

use super::{PROGRAMS, explored, on_second, once_each};
use crate::common::counted;
use crate::interleavings::{Held, Objects, Op, Program, check_programs, enumerate, run_with};
use crate::regions::within_scope;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{Coverage, Explorer, Settings, thread};
use quickcheck::TestResult;

/// Operations in a source file of their own.
mod elsewhere;

/// Performs the operation, in the other file if it is on the second atomic or lock.
fn perform<'a>(objects: &'a Objects, op: Op, held: &mut Held<'a>) {
    if on_second(op, &Objects::held_locks(held)) {
        elsewhere::perform(objects, op, held);
    } else {
        objects.perform(op, held);
    }
}

fn agrees(program: Program) -> TestResult {
    let Some(all) = enumerate(&program) else {
        return TestResult::discard();
    };
    let left_out = all.iter().any(|one| !within_scope(one));
    for scope in [
        "preempt=!bounds/scope/elsewhere.rs",
        "preempt=!scope::elsewhere",
        "preempt=./scope.rs",
        "preempt=bounds::scope,!elsewhere.rs",
    ] {
        let (seen, report) = explored(scope, || run_with(&program, perform));
        assert_eq!(
            counted(&seen),
            once_each(&all, within_scope),
            "{scope} of {program:?}"
        );
        let noted = report
            .notes()
            .iter()
            .any(|note| note.starts_with("scope: schedules are left out"));
        assert_eq!(noted, left_out, "{scope} of {program:?}: {report}");
        assert_eq!(
            *report.coverage() == Coverage::Exhaustive,
            !left_out,
            "{scope} of {program:?}"
        );
    }
    TestResult::passed()
}

#[test]
fn no_preemption_out_of_the_scope() {
    check_programs(PROGRAMS, agrees);
}

/// Two atomics that the first task uses first, so that they are named after it; two tasks write each of them twice.
fn two_atomics() {
    let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
    a.store(0, SeqCst);
    b.store(0, SeqCst);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                a.fetch_add(1, SeqCst);
                b.fetch_add(1, SeqCst);
            });
        }
    });
}

#[test]
fn variables_are_named_as_in_reports() {
    let within = |only_in: &str, not_in: &str| {
        let not_in = match not_in {
            "" => String::new(),
            place => format!("!{place}"),
        };
        let explorer = Explorer::new().set("preempt", format!("{only_in},{not_in}"));
        explorer.explore(two_atomics)
    };
    assert_eq!(within("", "").executions(), 6);
    assert_eq!(within("atomic 0.1", "").executions(), 2);
    assert_eq!(within("atomic 0.2", "").executions(), 6);
    assert_eq!(within("", "atomic 0.2").executions(), 2);
    assert_eq!(within("atomic 0.2", "atomic 0.2").executions(), 2);
    let report = within("atomic 0.2, atomic 0.3", "queue::ring");
    assert_eq!(
        report.notes(),
        [
            "`preempt`: no schedule point that was met is in `atomic 0.3`",
            "`preempt`: no schedule point that was met is in `!queue::ring`",
        ]
    );
    let told = within("", "atomic 0.2").to_string().replace("\n  ", " ");
    let left_out = "; not every schedule was run: preemptions out of scope are left out";
    assert!(told.contains(left_out), "{told}");
}

/// A name of the source applies at the place of the operation. A name that the test gives applies everywhere.
#[test]
fn variables_have_names_of_the_source_or_of_the_test() {
    let within = |scope: &str| {
        let report = Explorer::new().set("preempt", scope).explore(two_atomics);
        (report.executions(), report.notes().len())
    };
    let by_identity = |scope: &str| within(scope).0;
    for (named, identity) in [
        ("a", "atomic 0.1"),
        ("b", "atomic 0.2"),
        ("!a", "!atomic 0.1"),
        ("!`b`", "!atomic 0.2"),
        ("a, b", "everywhere"),
    ] {
        assert_eq!(by_identity(named), by_identity(identity), "{named}");
    }
    let unfitting = |scope: &str| {
        let report = Explorer::new().set("preempt", scope).explore(two_atomics);
        report
            .notes()
            .iter()
            .any(|note| note.contains("no schedule point"))
    };
    assert!(!unfitting("b") && unfitting("b, c") && unfitting("b[_]"));
    let given = || {
        let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
        intermezzo_explorer::name(&a, "first of both");
        intermezzo_explorer::name(&b, "b");
        let add = |x: &AtomicUsize| _ = x.fetch_add(1, SeqCst);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    add(&a);
                    add(&b);
                });
            }
        });
    };
    let explored = |scope: &str| Explorer::new().set("preempt", scope).explore(given).executions();
    assert_eq!(explored("!`first of both`"), explored("b"));
    assert_eq!(explored("x"), explored("queue::nothing"));
}

/// The element that an operation uses is known only at the end of the execution, so a test has to name the element.
#[test]
fn one_element_is_named_by_the_test() {
    let slots = || {
        let slots = [AtomicUsize::new(0), AtomicUsize::new(0)];
        intermezzo_explorer::name(&slots[1], "last slot");
        slots.iter().for_each(|slot| slot.store(0, SeqCst));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..2).for_each(|at| _ = slots[at].fetch_add(1, SeqCst)));
            }
        });
    };
    let mut settings = Settings::default();
    let refused = settings.set("preempt", "slots[1]").unwrap_err().to_string();
    assert!(
        refused.contains("give `slots[_]`") && refused.contains("intermezzo::name"),
        "{refused}"
    );
    let executions = |scope: &str| Explorer::new().set("preempt", scope).explore(slots).executions();
    assert_eq!(executions("everywhere"), 6);
    assert_eq!(executions("`last slot`"), executions("atomic 0.2"));
    assert_eq!(executions("slots[_]"), executions("atomic 0.1"));
}

#[test]
fn findings_replay_without_the_scope() {
    let test = || {
        let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
        a.store(0, SeqCst);
        b.store(0, SeqCst);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    a.fetch_add(1, SeqCst);
                    let read = b.load(SeqCst);
                    a.fetch_add(1, SeqCst);
                    b.store(read + 1, SeqCst);
                });
            }
        });
        assert_eq!(b.load(SeqCst), 2);
    };
    let report = Explorer::new()
        .program("scope")
        .set("preempt", "!atomic 0.1")
        .explore(test);
    assert_eq!(report.findings().len(), 1, "{report}");
    let schedule = || report.findings()[0].schedule.clone();
    let again = Explorer::new().program("scope").replay(schedule()).explore(test);
    assert_eq!(again.findings(), report.findings());
    let again = Explorer::new()
        .program("scope")
        .set("preempt", "!atomic 0.1")
        .replay(schedule())
        .explore(test);
    assert_eq!(again.findings(), report.findings());
}

/// A queue without a module or file of its own, each of whose methods has one operation.
struct Ring {
    head: AtomicUsize,
    tail: AtomicUsize,
}

impl Ring {
    fn push(&self) {
        self.tail.fetch_add(1, SeqCst);
    }

    fn pop(&self) {
        self.head.fetch_add(1, SeqCst);
    }
}

/// Two tasks that each push and pop. No task is preempted before its first operation: it has only begun.
fn two_users() {
    let (head, tail) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let ring = Ring { head, tail };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                ring.pop();
                ring.push();
                ring.pop();
                ring.pop();
            });
        }
    });
}

/// A scope of a type or a method allows preemptions at its operations. The more specific of two entries applies.
#[test]
fn types_and_methods_are_scopes() {
    let executions = |scope: &str| {
        let report = Explorer::new().set("preempt", scope).explore(two_users);
        let unmet = |note: &String| note.starts_with("`preempt`");
        assert!(!report.notes().iter().any(unmet), "{report}");
        report.executions()
    };
    let (everywhere, in_push, in_pop) = (executions("everywhere"), executions("tail"), executions("head"));
    assert!(in_push < in_pop && in_pop < everywhere);
    for (scope, is) in [
        ("Ring", everywhere),
        ("bounds::scope::Ring", everywhere),
        ("Ring::push", in_push),
        ("crate::scope::Ring::pop", in_pop),
        ("scope.rs,!Ring::pop", in_push),
        ("!Ring,Ring::push", in_push),
        ("!Ring::push", in_pop),
    ] {
        assert_eq!(executions(scope), is, "{scope}");
    }
    let report = Explorer::new().set("preempt", "Ring::peek").explore(two_users);
    let unmet = "`preempt`: no schedule point that was met is in `Ring::peek`";
    assert!(report.notes().iter().any(|note| note == unmet), "{report}");
}
