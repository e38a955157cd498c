//! Names that a test gives its objects by `name`, in findings, in JSON and in recordings.

use intermezzo_explorer::report::{TextStyle, VarNames};
use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use intermezzo_explorer::{Explorer, Nameable, Report, name, thread};
use intermezzo_sdk::{Context, Execution, FindingKind, Interests, Monitor, MonitorFinding, SyncVarAccess};

/// Returns the names of the only finding.
fn names(report: &Report) -> &VarNames {
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    &finding.names
}

/// Returns the names of a test that fails at its end.
fn names_of(test: impl Fn() + Sync) -> Vec<String> {
    let report = Explorer::new().minimise(0).explore(|| {
        test();
        panic!("so that there is a finding");
    });
    names(&report).values().cloned().collect()
}

#[test]
fn every_look_alike_can_have_a_name() {
    static INITIAL: AtomicUsize = AtomicUsize::new(0);
    static LAZY: LazyLock<u32> = LazyLock::new(|| 1);
    let mut names = names_of(|| {
        let (atomic, flag, pointer) = (
            AtomicUsize::new(0),
            AtomicBool::new(false),
            AtomicPtr::new(std::ptr::null_mut::<u8>()),
        );
        let (mutex, rwlock, condvar) = (Mutex::new(0), RwLock::new(0), Condvar::new());
        let (once, once_lock, barrier) = (Once::new(), OnceLock::new(), Barrier::new(1));
        let ((sender, receiver), (sync_sender, _sync_receiver)) =
            (mpsc::channel::<u8>(), mpsc::sync_channel::<u8>(1));
        name(&atomic, "the atomic");
        name(&flag, "the flag");
        name(&pointer, "the pointer");
        name(&mutex, "the mutex");
        name(&rwlock, "the rwlock");
        name(&condvar, "the condvar");
        name(&once, "the once");
        name(&once_lock, "the once lock");
        name(&barrier, "the barrier");
        name(&receiver, "the channel");
        name(&sync_sender, "the bounded channel");
        name(&INITIAL, "the static");
        name(&LAZY, "the lazy static");
        _ = (atomic.load(SeqCst), flag.load(SeqCst), pointer.load(SeqCst));
        drop((mutex.lock(), rwlock.read()));
        condvar.notify_one();
        once.call_once(|| {});
        once_lock.get_or_init(|| 1);
        barrier.wait();
        sender.send(1).unwrap();
        sync_sender.send(1).unwrap();
        _ = (INITIAL.load(SeqCst), *LAZY);
    });
    names.sort();
    assert_eq!(
        names.join(", "),
        "the atomic, the barrier, the bounded channel, the channel, the condvar, the flag, the lazy static, the mutex, \
         the once, the once lock, the pointer, the rwlock, the static"
    );
}

#[test]
fn a_name_wins_over_the_source_before_and_after_the_first_use() {
    let names = names_of(|| {
        let (first, second, third) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        name(&first, "before");
        _ = (first.load(SeqCst), second.load(SeqCst), third.load(SeqCst));
        name(&second, "never seen");
        name(&second, "after");
    });
    assert_eq!(names, ["before", "after", "third"]);
}

/// The object is somewhere else when it is used, and another one is where it was.
#[test]
fn a_name_moves_with_its_object() {
    let names = names_of(|| {
        let mut slots = Vec::with_capacity(1);
        for named in [true, false, false] {
            let slot = AtomicUsize::new(0);
            if named {
                name(&slot, "named");
            }
            // Reallocation moves it once more.
            slots.push(slot);
        }
        slots.rotate_left(1);
        let load = |slot: &AtomicUsize| slot.load(SeqCst);
        slots.iter().for_each(|slot| _ = load(slot));
    });
    assert_eq!(names, ["slot#1", "slot#2", "named"]);
}

/// The first execution names the atomics, and the others begin without names.
#[test]
fn names_are_of_one_execution() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    let named = std::sync::atomic::AtomicBool::new(false);
    let report = Explorer::new().minimise(0).explore(|| {
        let own = AtomicUsize::new(0);
        if !named.swap(true, SeqCst) {
            name(&SHARED, "of the first execution");
            name(&own, "of the first execution");
        }
        thread::scope(|scope| {
            scope.spawn(|| own.store(1, SeqCst));
            own.load(SeqCst);
        });
        SHARED.load(SeqCst);
        assert!(own.load(SeqCst) == 0 || !named.load(SeqCst));
    });
    let first: Vec<&str> = names(&report).values().map(String::as_str).collect();
    assert!(report.executions() >= 1);
    assert_eq!(first, ["of the first execution#1", "of the first execution#2"]);
    let again = Explorer::new().minimise(0).explore(|| {
        let own = AtomicUsize::new(0);
        assert_eq!(own.load(SeqCst) + SHARED.load(SeqCst), 1);
    });
    assert_eq!(
        names(&again).values().cloned().collect::<Vec<_>>(),
        ["own", "SHARED"]
    );
}

#[test]
fn an_arc_names_its_value_and_its_counts() {
    struct Node {
        left: AtomicUsize,
        right: AtomicUsize,
    }
    impl Nameable for Node {
        fn give_name(&self, given: &str) {
            name(&self.left, &format!("{given}.left"));
        }
    }
    let names = names_of(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        name(&counter, "hits");
        counter.clone().load(SeqCst);
        let node = Arc::new(Node {
            left: AtomicUsize::new(0),
            right: AtomicUsize::new(0),
        });
        name(&node, "root");
        _ = (node.clone().left.load(SeqCst), node.right.load(SeqCst));
    });
    let mut names = names;
    names.sort();
    assert_eq!(names, ["hits", "hits (count)", "right", "root", "root.left"]);
}

#[test]
fn names_are_in_first_lines_in_json_and_in_texts() {
    let report = Explorer::new().explore(|| {
        let locks: Vec<Arc<Mutex<u32>>> = (0..2).map(|_| Arc::new(Mutex::new(0))).collect();
        name(&locks[0], "accounts");
        name(&locks[1], "journal");
        let other = thread::spawn({
            let locks = locks.clone();
            move || drop((locks[1].lock(), locks[0].lock()))
        });
        drop((locks[0].lock(), locks[1].lock()));
        other.join().unwrap();
    });
    let [finding] = report.findings() else {
        panic!("{report}")
    };
    let lines = finding.lines().join("\n");
    assert!(lines.contains("main waits to lock `journal` at "), "{lines}");
    assert!(lines.contains("task 1 waits to lock `accounts` at "), "{lines}");
    let text = report.text(&TextStyle::default());
    assert!(
        text.contains("lock accounts") && !text.contains("mutex 0"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::to_value(&report).unwrap();
    let named = &json["findings"][0]["names"];
    assert!(
        named.as_object().unwrap().values().any(|name| name == "journal"),
        "{json}"
    );
}

#[test]
fn recordings_have_the_names() {
    let report = Explorer::new().record(true).explore(|| {
        let flag = AtomicBool::new(false);
        name(&flag, "ready");
        thread::scope(|scope| {
            scope.spawn(|| flag.store(true, SeqCst));
            assert!(!flag.load(SeqCst));
        });
    });
    let recorded = report.recordings();
    let execution = recorded[0].execution.as_ref().expect("it is recorded");
    let name_of = |recording: &intermezzo_explorer::recording::Recording| {
        let var = recording.vars.iter().find(|var| var.kind == "atomic").unwrap();
        var.source_name.clone()
    };
    assert_eq!(name_of(execution).as_deref(), Some("ready"));
    let passing = recorded[0].nearest_pass.as_ref().expect("some execution passes");
    assert_eq!(name_of(passing).as_deref(), Some("ready"));
}

#[test]
fn outside_an_exploration_a_name_does_nothing() {
    let flag = AtomicBool::new(false);
    name(&flag, "flag");
    assert!(!flag.swap(true, SeqCst) && flag.load(SeqCst));
}

/// A name is no use: the same executions are run, by each strategy, and variables keep their identities.
#[test]
fn names_change_nothing_of_the_search() {
    for (strategy, reduction) in [("dfs", "none"), ("dfs", "dpor"), ("random", "none")] {
        let explore = |named: bool| {
            let explorer = Explorer::new()
                .set("strategy", strategy)
                .set("reduction", reduction);
            let explorer = explorer.executions(400).keep_going(true);
            explorer.explore(move || {
                let vars: [AtomicUsize; 3] = std::array::from_fn(|_| AtomicUsize::new(0));
                if named {
                    (0..3).for_each(|at| name(&vars[at], &format!("v{at}")));
                }
                thread::scope(|scope| {
                    for task in 0..2 {
                        let vars = &vars;
                        scope.spawn(move || {
                            if vars[task].fetch_add(1, SeqCst) == 0 {
                                vars[2].store(task, SeqCst);
                            }
                            if named {
                                name(&vars[1 - task], "renamed");
                            }
                            vars[1 - task].load(SeqCst);
                        });
                    }
                });
                assert_eq!(vars[2].load(SeqCst), 0);
            })
        };
        let figures = |report: &Report| {
            let vars = report.findings().iter().map(|finding| {
                let vars = finding.events.iter().map(|event| event.var.clone());
                (vars.collect::<Vec<_>>(), finding.schedule.token(), finding.count)
            });
            (report.executions(), report.traces(), vars.collect::<Vec<_>>())
        };
        assert_eq!(
            figures(&explore(true)),
            figures(&explore(false)),
            "{strategy} {reduction}"
        );
    }
}

/// A monitor that says at the end what it can learn of each variable, and asks while an operation is under way.
struct Curious;

impl Monitor for Curious {
    fn name(&self) -> &str {
        "curious"
    }
    fn interests(&self) -> Interests {
        Interests::SYNC_ACCESSES
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        // The name of the first place, which later ones may replace.
        assert_eq!(
            cx.source_name(access.var).is_empty(),
            cx.var_kind(access.var) == "task"
        );
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let mut vars: Vec<_> = execution.accesses.iter().map(|access| access.var).collect();
        vars.sort();
        vars.dedup();
        let known = vars
            .into_iter()
            .filter(|var| cx.var_kind(*var) != "task")
            .map(|var| {
                let (name, kind, place) = (cx.source_name(var), cx.var_kind(var), cx.made_at(var));
                let mut place = place.rsplit(':');
                let (_, line) = (place.next().unwrap(), place.next().unwrap());
                format!("{kind} {name}, line {line}")
            });
        let message = known.collect::<Vec<_>>().join("; ");
        let report = MonitorFinding::new(FindingKind::Plugin("curious".into()), message);
        cx.report(report.warning());
    }
}

static TOTAL: AtomicUsize = AtomicUsize::new(0);
const TOTAL_LINE: u32 = line!() - 1;

#[test]
fn monitors_learn_names_kinds_and_places() {
    let made = line!() + 3;
    let test = || {
        let unused = AtomicBool::new(false);
        let count = Arc::new(AtomicUsize::new(0));
        let journal = Mutex::new(0);
        name(&journal, "the journal");
        let add = |c: &AtomicUsize| c.fetch_add(1, SeqCst);
        add(&count);
        *journal.lock().unwrap() = count.load(SeqCst);
        TOTAL.store(1, SeqCst);
        _ = unused;
    };
    let report = Explorer::new().monitor(Curious).explore(test);
    // The source shows where a mutex with a given name is made, too. The counts of an `Arc` are used where it is made.
    let expected = format!(
        "atomic count, line {made}; mutex the journal, line {}; atomic TOTAL, line {TOTAL_LINE}; count count, line {made}",
        made + 1,
    );
    assert_eq!(report.findings()[0].message, expected);
}

/// The order in which monitors ask, and that they ask at all, changes no figure.
#[test]
fn questions_for_names_change_nothing_of_the_search() {
    let test = || {
        let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| a.store(1 + b.load(SeqCst), SeqCst));
            b.store(1 + a.load(SeqCst), SeqCst);
        });
    };
    let explorer = || Explorer::new().keep_going(true);
    let (asked, plain) = (
        explorer().monitor(Curious).explore(test),
        explorer().explore(test),
    );
    assert_eq!(
        (asked.executions(), asked.traces()),
        (plain.executions(), plain.traces())
    );
}

/// Messages that std's own code receives for the test are received where the test began to iterate.
#[test]
fn an_operation_that_std_calls_has_a_place_of_the_test() {
    let sites = |receive: fn(mpsc::Receiver<u32>) -> Vec<u32>| {
        let report = Explorer::new().minimise(0).explore(move || {
            let (sender, receiver) = mpsc::channel();
            sender.send(1).unwrap();
            drop(sender);
            assert!(receive(receiver).is_empty());
        });
        let [finding] = report.findings() else {
            panic!("{report}")
        };
        let events = finding.events.iter().filter(|event| event.op == "receive");
        events.map(|event| event.site.clone()).collect::<Vec<_>>()
    };
    let line = line!();
    let receives: [fn(mpsc::Receiver<u32>) -> Vec<u32>; 4] = [
        |receiver| receiver.iter().collect(),
        |receiver| receiver.try_iter().collect(),
        |receiver| receiver.into_iter().collect(),
        |receiver| (&receiver).into_iter().map(|n| n + 1).collect(),
    ];
    for (receive, number) in receives.into_iter().zip(2..) {
        let sites = sites(receive);
        assert_eq!(sites.len(), 2, "{sites:?}");
        for site in sites {
            assert!(site.contains(&format!("naming.rs:{}:", line + number)), "{site}");
        }
    }
}
