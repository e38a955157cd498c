//! The texts of reports, and their number.

use super::*;

#[test]
fn reports_have_both_ends_and_say_what_is_missing() {
    for (store, load, suggestion) in [
        (
            Relaxed,
            Acquire,
            "`Release` at the store of flag at script:6 (now `Relaxed`) would order them",
        ),
        (
            Release,
            Relaxed,
            "`Acquire` at the load of flag at script:7 (now `Relaxed`) would order them",
        ),
        (
            Relaxed,
            Relaxed,
            "`Release` at the store of flag at script:6 (now `Relaxed`), and `Acquire` at the load of flag at script:7 \
             (now `Relaxed`) would order them",
        ),
    ] {
        let mut scene = Scene::new();
        let Scene { script, a, b, cell } = &mut scene;
        let flag = script.var("flag");
        script.write(*a, *cell);
        script.store(*a, flag, store, 1);
        script.load(*b, flag, load, 1);
        script.read(*b, *cell);
        let (first, second) = (script.last(*a).index - 1, script.last(*b));
        let [report] = &reports(script)[..] else {
            panic!("one race")
        };
        assert_eq!(
            report.message,
            "data race on cell: task 1 writes it at script:5, task 2 reads it at script:8, and nothing orders the two"
        );
        assert_eq!(report.suggestion.as_deref(), Some(suggestion));
        assert_eq!(report.events[0], second);
        assert_eq!((report.events[1].task, report.events[1].index), (*a, first));
    }
}

/// By way of a third task, a read-modify-write of which both halves are missing.
#[test]
fn the_way_with_the_fewest_changes_is_suggested() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let (long, short) = (script.var("long"), script.var("short"));
    let third = script.fork(MAIN);
    script.write(*a, *cell);
    script.store(*a, long, Relaxed, 1);
    script.rmw(third, long, Relaxed, 1, 2);
    script.store(*a, short, Release, 1);
    script.rmw(third, short, Relaxed, 1, 2);
    script.store(third, short, Relaxed, 3);
    script.load(*b, long, Acquire, 2);
    script.load(*b, short, Acquire, 3);
    script.write(*b, *cell);
    assert_eq!(
        reports(script)[0].suggestion.as_deref(),
        Some("`Release` at the store of long at script:8 (now `Relaxed`) would order them")
    );
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let (one, two) = (script.var("one"), script.var("two"));
    let third = script.fork(MAIN);
    script.write(*a, *cell);
    script.store(*a, one, Release, 1);
    script.rmw(third, one, Relaxed, 1, 2);
    script.rmw(third, two, Acquire, 0, 1);
    script.load(*b, two, Acquire, 1);
    script.write(*b, *cell);
    let suggestion = reports(script)[0].suggestion.clone().unwrap();
    assert_eq!(
        suggestion,
        "`Acquire` at the read-modify-write of one at script:9 (now `Relaxed`), and `AcqRel` at the read-modify-write \
         of two at script:10 (now `Acquire`) would order them"
    );
}

/// A lock is taken by an exchange after a load of it. Another task may have taken it in between, so only the exchange reads
/// what the last holder released.
#[test]
fn the_last_of_several_reads_of_a_variable_is_suggested() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let lock = script.var("lock");
    script.write(*a, *cell);
    script.store(*a, lock, Release, 0);
    script.load(*b, lock, Relaxed, 0);
    script.rmw(*b, lock, Relaxed, 0, 1);
    script.write(*b, *cell);
    assert_eq!(
        reports(script)[0].suggestion.as_deref(),
        Some("`Acquire` at the read-modify-write of lock at script:8 (now `Relaxed`) would order them")
    );
}

/// The ordering of a failure is another one than that of a success.
#[test]
fn the_ordering_of_a_failed_exchange_is_named_as_such() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let flag = script.var("flag");
    script.write(*a, *cell);
    script.store(*a, flag, Release, 1);
    script.sync(*b, SyncVarOp::AtomicRmwFailed, flag, Relaxed, 1, 1);
    script.write(*b, *cell);
    assert_eq!(
        reports(script)[0].suggestion.as_deref(),
        Some(
            "`Acquire` at a failure of the compare-exchange of flag at script:7 (now `Relaxed`) would order them"
        )
    );
}

/// The flag is set before the value that it publishes is written.
#[test]
fn an_access_after_the_store_that_publishes_it_is_told_from_one_without_a_store() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let flag = script.var("flag");
    script.store(*a, flag, Release, 1);
    script.write(*a, *cell);
    script.load(*b, flag, Acquire, 1);
    script.write(*b, *cell);
    let suggestion = reports(script)[0].suggestion.clone().unwrap();
    assert_eq!(
        suggestion,
        "task 1 makes its access only after the store of flag at script:5, which task 2 has read: made before that \
         store, it would be ordered"
    );
    // A store that the other task has not read says nothing.
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let flag = script.var("flag");
    script.store(*a, flag, Release, 1);
    script.write(*a, *cell);
    script.write(*b, *cell);
    let suggestion = reports(script)[0].suggestion.clone().unwrap();
    assert!(suggestion.starts_with("no synchronisation"), "{suggestion}");
}

#[test]
fn where_nothing_carries_word_it_says_so() {
    let mut scene = Scene::new();
    scene.script.write(scene.a, scene.cell).write(scene.b, scene.cell);
    let suggestion = reports(&scene.script)[0].suggestion.clone().unwrap();
    assert!(
        suggestion.starts_with("no synchronisation leads from one to the other"),
        "{suggestion}"
    );
}

/// Two pointers are reported in the same words whichever changed a byte; against a reader, the pointer wrote.
#[test]
fn what_a_pointer_is_for_is_told_as_far_as_it_is_known() {
    let message = |record: fn(&mut Scene)| {
        let mut scene = Scene::new();
        record(&mut scene);
        let reports = reports(&scene.script);
        let deeds = reports.first().map(|report| report.deeds[0].what.clone());
        (reports.first().map(|report| report.message.clone()), deeds)
    };
    let told = |ends: &str, what: &str| {
        let message = format!("data race on cell: {ends}and nothing orders the two");
        (Some(message), Some(format!("{what} cell")))
    };
    let both = "task 1 uses a pointer to it at script:5, task 2 uses a pointer to it at script:6, at least one of them to \
                write, ";
    assert_eq!(
        message(|s| {
            s.script.get_pointer(s.a, s.cell).write_by_pointer(s.b, s.cell);
        }),
        told(both, "get pointer")
    );
    assert_eq!(
        message(|s| {
            s.script.write_by_pointer(s.a, s.cell).get_pointer(s.b, s.cell);
        }),
        told(both, "write by pointer")
    );
    assert_eq!(
        message(|s| {
            s.script.write_by_pointer(s.a, s.cell).read(s.b, s.cell);
        }),
        told(
            "task 1 writes it by a pointer at script:5, task 2 reads it at script:6, ",
            "write by pointer"
        )
    );
    assert_eq!(
        message(|s| {
            s.script.get_pointer(s.a, s.cell).write(s.b, s.cell);
        }),
        told(
            "task 1 uses a pointer to it at script:5, task 2 writes it at script:6, ",
            "get pointer"
        )
    );
    assert_eq!(
        message(|s| {
            s.script.get_pointer(s.a, s.cell).get_pointer(s.b, s.cell);
        }),
        (None, None)
    );
}

/// Memory that is given back to the allocator is written to.
#[test]
fn a_free_is_named() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    let [write, read] = &scene_events(script, *a, *b, *cell)[..] else {
        panic!("two events")
    };
    let intermezzo_sdk::testing::Event::Data(mut free) = *write else {
        panic!("an access")
    };
    free.frees = true;
    script.push(intermezzo_sdk::testing::Event::Data(free));
    script.push(read.clone());
    let [report] = &reports(script)[..] else {
        panic!("one race")
    };
    let (free, read) = (&report.deeds[0].what, &report.deeds[1].what);
    assert_eq!([&free[..], read], ["free cell", "read cell"]);
    assert!(report.message.contains(" frees it at "), "{}", report.message);
}

/// The two orders of the accesses are one finding.
#[test]
fn words_do_not_depend_on_the_order() {
    let played = |turned: bool| {
        let mut scene = Scene::new();
        let Scene { script, a, b, cell } = &mut scene;
        let mut other = scene_events(script, *a, *b, *cell);
        if turned {
            other.reverse();
        }
        for event in other {
            script.push(event);
        }
        reports(script)[0].message.clone()
    };
    assert_eq!(played(false), played(true));
}

/// A write and a read of two tasks, at places of their own.
fn scene_events(
    script: &Script,
    a: TaskId,
    b: TaskId,
    cell: Location,
) -> Vec<intermezzo_sdk::testing::Event> {
    let access = |task: TaskId, is_write| {
        intermezzo_sdk::testing::Event::Data(intermezzo_sdk::DataVarAccess {
            after: script.last(task),
            location: cell,
            offset: 0,
            size: 8,
            is_write,
            by_pointer: false,
            frees: false,
            order: MemoryOrder::None,
            var: SyncVar::NONE,
            site: intermezzo_sdk::SiteId(100 + task.0),
        })
    };
    vec![access(a, true), access(b, false)]
}

#[test]
fn a_pair_of_places_is_told_once_in_each_execution() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    for _ in 0..3 {
        for event in scene_events(script, *a, *b, *cell) {
            script.push(event);
        }
    }
    assert_eq!(reports(script).len(), 1);
    let twice = Script::play_all([&*script, &*script], &mut DataRaces::new());
    assert_eq!(twice.len(), 2);
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn one_race_or_all() {
    let mut scene = Scene::new();
    let Scene { script, a, b, cell } = &mut scene;
    script.write(*a, *cell).read(*a, *cell).write(*b, *cell);
    for (arguments, races) in [("", 2), ("first_only=true", 1), (" first_only = false ,", 2)] {
        let mut monitor = DataRaces::with_arguments(arguments).unwrap();
        assert_eq!(script.play(&mut monitor).len(), races, "{arguments}");
    }
}

#[test]
fn arguments_that_cannot_be_say_why() {
    for (arguments, says) in [
        (
            "first_only",
            "data-race: `first_only` is not an argument: give `name=value`, with commas between; there are: first_only (true \
             or false)",
        ),
        ("first_only=1", "data-race: first_only=1: give true or false"),
        (
            "races=all",
            "data-race: there is no argument `races`; there are: first_only (true or false)",
        ),
    ] {
        assert_eq!(DataRaces::with_arguments(arguments).unwrap_err(), says);
    }
}

/// Knowledge of an execution is forgotten in the next.
#[test]
fn executions_are_apart() {
    let ordered = |ordered: bool| {
        let mut scene = Scene::new();
        let Scene { script, a, b, cell } = &mut scene;
        let (flag, lock, channel) = (script.var("flag"), script.var("lock"), script.var("channel"));
        script.write(*a, *cell);
        if ordered {
            script.fence(*a, Release);
            script.store(*a, flag, Release, 1);
            script.unlock(*a, lock);
            script.sync(*a, SyncVarOp::ChannelSend, channel, MemoryOrder::None, 0, 1);
        } else {
            script.store(*a, flag, Relaxed, 1);
        }
        script.load(*b, flag, Acquire, 1);
        script.lock(*b, lock);
        script.sync(*b, SyncVarOp::ChannelReceive, channel, MemoryOrder::None, 1, 0);
        script.write(*b, *cell);
        scene.script
    };
    let (first, second) = (ordered(true), ordered(false));
    let mut monitor = DataRaces::new();
    assert_eq!(Script::play_all([&first, &first], &mut monitor), []);
    assert_eq!(Script::play_all([&first, &second, &first], &mut monitor).len(), 1);
}
