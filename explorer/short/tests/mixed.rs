//! Programs that mix what each other test looks at alone: tasks that create tasks, poisoning, tasks that are asked if they have
//! ended, virtual time, statics, destructors, and several panics. Every search gives each its verdict.

use intermezzo_explorer::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, PoisonError, RwLock, TryLockError, mpsc,
};
use intermezzo_explorer::time::{Duration, Instant};
use intermezzo_explorer::{Explorer, Reduction, Report, Strategy, choose, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A program, and the kind of its only findings; empty if it is right.
struct Program {
    name: &'static str,
    kind: &'static str,
    body: fn(),
}

macro_rules! programs {
    ($($kind:literal $name:ident $body:block)*) => {
        const PROGRAMS: &[Program] = &[$(Program { name: stringify!($name), kind: $kind, body: || $body }),*];
    };
}

/// Panics without a message of its own.
fn fail() -> ! {
    resume_unwind(Box::new("on purpose"))
}

fn bump(n: &AtomicUsize) {
    n.store(n.load(SeqCst) + 1, SeqCst);
}

/// Adds one for each task of a tree of tasks that create each other.
fn tree(n: &Arc<AtomicUsize>, depth: u32, add: fn(&AtomicUsize)) {
    add(n);
    if depth > 0 {
        let n = n.clone();
        thread::spawn(move || tree(&n, depth - 1, add)).join().unwrap();
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

static COUNT: AtomicUsize = AtomicUsize::new(0);
static LIST: LazyLock<Mutex<Vec<usize>>> = LazyLock::new(|| Mutex::new(vec![COUNT.fetch_add(1, SeqCst)]));
static CELL: OnceLock<usize> = OnceLock::new();
static ONCE: Once = Once::new();

programs! {
    "" tree_of_tasks {
        let n = Arc::new(AtomicUsize::new(0));
        let other = { let n = n.clone(); thread::spawn(move || tree(&n, 1, |n| _ = n.fetch_add(1, SeqCst))) };
        tree(&n, 1, |n| _ = n.fetch_add(1, SeqCst));
        other.join().unwrap();
        assert_eq!(n.load(SeqCst), 4);
    }
    "assertion" tree_loses_an_update {
        let n = Arc::new(AtomicUsize::new(0));
        let other = { let n = n.clone(); thread::spawn(move || tree(&n, 1, bump)) };
        tree(&n, 1, bump);
        other.join().unwrap();
        assert_eq!(n.load(SeqCst), 4);
    }
    "" as_many_tasks_as_are_chosen {
        let tasks: Vec<_> = (0..choose(3)).map(|i| thread::spawn(move || i + choose(2))).collect();
        let many = tasks.len();
        let sum: usize = tasks.into_iter().map(|task| task.join().unwrap()).sum();
        assert!(sum <= many * (many + 1) / 2);
    }
    "" poison_is_seen_after_join {
        let lock = Arc::new(Mutex::new(0));
        let other = { let lock = lock.clone(); thread::spawn(move || { let _held = lock.lock(); fail() }) };
        assert!(other.join().is_err());
        assert!(lock.is_poisoned());
        assert!(matches!(lock.try_lock(), Err(TryLockError::Poisoned(_))));
        lock.clear_poison();
        drop(lock.lock().unwrap());
    }
    "panic" poison_is_unwrapped {
        let lock = Arc::new(Mutex::new(0));
        let other = { let lock = lock.clone(); thread::spawn(move || { let _held = lock.lock(); fail() }) };
        *lock.lock().unwrap() += 1;
        assert!(other.join().is_err());
    }
    "" a_reader_poisons_nothing {
        let lock = Arc::new(RwLock::new(0));
        let reads = { let lock = lock.clone(); thread::spawn(move || { let _held = lock.read(); fail() }) };
        drop(lock.write().unwrap());
        assert!(reads.join().is_err() && !lock.is_poisoned());
        let writes = { let lock = lock.clone(); thread::spawn(move || { let _held = lock.write(); fail() }) };
        _ = lock.read();
        assert!(writes.join().is_err() && lock.is_poisoned());
    }
    "" a_guard_of_an_unwinding_task_poisons_nothing {
        let lock = Arc::new(Mutex::new(0));
        let mine = lock.clone();
        let caught = catch_unwind(AssertUnwindSafe(move || {
            let _locks = OnDrop(move || *mine.lock().unwrap() += 1);
            fail()
        }));
        assert!(caught.is_err() && !lock.is_poisoned());
        assert_eq!(*lock.lock().unwrap(), 1);
    }
    "" a_finished_task_has_done_all {
        let n = Arc::new(AtomicUsize::new(0));
        let other = { let n = n.clone(); thread::spawn(move || { n.store(1, SeqCst); fail() }) };
        while !other.is_finished() { thread::yield_now(); }
        assert!(other.join().is_err());
        assert_eq!(n.load(SeqCst), 1);
    }
    "assertion" a_task_is_not_finished_at_once {
        let other = thread::spawn(|| {});
        assert!(other.is_finished());
    }
    "assertion" a_task_may_be_finished_at_once {
        let other = thread::spawn(|| {});
        assert!(!other.is_finished());
    }
    "" sleeping_takes_its_time {
        let begin = Instant::now();
        let other = thread::spawn(move || { thread::sleep(Duration::from_millis(30)); begin.elapsed() });
        thread::sleep(Duration::from_millis(10));
        assert!(begin.elapsed() >= Duration::from_millis(10));
        assert!(other.join().unwrap() >= Duration::from_millis(30));
    }
    "" a_message_comes_or_not_in_time {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || { thread::sleep(Duration::from_millis(5)); sender.send(1) });
        let early = receiver.recv_timeout(Duration::from_millis(5)).ok();
        let late = receiver.recv().ok();
        assert_eq!(early.or(late), Some(1));
        assert!(early.is_none() || late.is_none());
        assert!(other.join().unwrap().is_ok());
    }
    "" a_task_that_panics_closes_its_channel {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || { sender.send(1).unwrap(); fail() });
        assert_eq!(receiver.iter().collect::<Vec<i32>>(), [1]);
        assert!(other.join().is_err());
    }
    "" statics_are_fresh {
        let tasks = [0, 1].map(|_| thread::spawn(|| {
            let mut list = LIST.lock().unwrap();
            let length = list.len();
            list.push(length);
        }));
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*LIST.lock().unwrap(), [0, 1, 2]);
        assert_eq!(COUNT.load(SeqCst), 1);
    }
    "assertion" statics_are_shared {
        let other = thread::spawn(|| bump(&COUNT));
        bump(&COUNT);
        other.join().unwrap();
        assert_eq!(COUNT.load(SeqCst), 2);
    }
    "" a_cell_is_filled_after_a_panic {
        let other = thread::spawn(|| _ = CELL.get_or_init(|| fail()));
        let value = *CELL.get_or_init(|| 7);
        assert!(value == 7);
        // It panics only if it comes first.
        _ = other.join();
        assert_eq!(CELL.get(), Some(&7));
    }
    "panic" a_poisoned_once_panics {
        let other = thread::spawn(|| ONCE.call_once(|| fail()));
        ONCE.call_once(|| {});
        _ = other.join();
    }
    "" a_poisoned_once_may_be_forced {
        let other = thread::spawn(|| ONCE.call_once(|| fail()));
        ONCE.call_once_force(|_| {});
        _ = other.join();
        assert!(ONCE.is_completed());
    }
    "" many_panics_that_are_joined {
        let tasks = [0, 1, 2].map(|_| thread::spawn(bump_and_fail));
        let failed = tasks.into_iter().filter_map(|task| task.join().err()).count();
        assert_eq!((failed, COUNT.load(SeqCst)), (3, 3));
    }
    "panic" one_panic_of_many_is_not_joined {
        let [one, two] = [0, 1].map(|_| thread::spawn(bump_and_fail));
        assert!(one.join().is_err());
        drop(two);
        while COUNT.load(SeqCst) < 2 { thread::yield_now(); }
    }
    "panic" a_scope_passes_panics_on {
        thread::scope(|scope| {
            scope.spawn(bump_and_fail);
            scope.spawn(|| COUNT.fetch_add(1, SeqCst));
        });
    }
    "" a_scope_whose_panics_are_joined {
        let failed = thread::scope(|scope| {
            let tasks = [0, 1].map(|_| scope.spawn(bump_and_fail));
            tasks.into_iter().filter_map(|task| task.join().err()).count()
        });
        assert_eq!(failed, 2);
    }
    "" a_destructor_creates_a_task_while_unwinding {
        let n = Arc::new(AtomicUsize::new(0));
        let other = { let n = n.clone(); thread::spawn(move || {
            let _spawns = OnDrop(move || { let n = n.clone(); thread::spawn(move || n.fetch_add(1, SeqCst)).join().unwrap(); });
            fail()
        }) };
        n.fetch_add(1, SeqCst);
        assert!(other.join().is_err());
        assert_eq!(n.load(SeqCst), 2);
    }
    "panic" no_task_notifies_after_a_panic {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = { let pair = pair.clone(); thread::spawn(move || {
            let mut ready = pair.0.lock().unwrap();
            if choose(2) == 0 { fail() }
            *ready = true;
            pair.1.notify_one();
        }) };
        let mut ready = pair.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !*ready { ready = pair.1.wait(ready).unwrap_or_else(PoisonError::into_inner); }
        drop(ready);
        _ = other.join();
    }
    "" a_wait_with_a_limit_ends {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = { let pair = pair.clone(); thread::spawn(move || {
            *pair.0.lock().unwrap() = true;
            pair.1.notify_one();
        }) };
        let ready = pair.0.lock().unwrap();
        let (ready, _) = pair.1.wait_timeout_while(ready, Duration::from_millis(5), |ready| !*ready).unwrap();
        drop(ready);
        other.join().unwrap();
    }
    "" one_task_leads {
        let barrier = Arc::new(Barrier::new(2));
        let other = { let barrier = barrier.clone(); thread::spawn(move || barrier.wait().is_leader()) };
        assert!(barrier.wait().is_leader() != other.join().unwrap());
    }
    "" a_token_is_kept {
        let main = thread::current();
        let flag = Arc::new(AtomicBool::new(false));
        let other = { let flag = flag.clone(); thread::spawn(move || { flag.store(true, SeqCst); main.unpark(); }) };
        while !flag.load(SeqCst) { thread::park(); }
        other.join().unwrap();
    }
    "deadlock" a_token_is_taken_once {
        let main = thread::current();
        let other = thread::spawn(move || { main.unpark(); main.unpark(); });
        thread::park();
        thread::park();
        other.join().unwrap();
    }
    "" one_of_two_gets_the_value {
        let value = Arc::new(7);
        let other = { let value = value.clone(); thread::spawn(move || Arc::into_inner(value)) };
        let mine = Arc::into_inner(value);
        assert!(mine.is_some() != other.join().unwrap().is_some());
    }
    "assertion" neither_of_two_gets_the_value {
        let value = Arc::new(7);
        let other = { let value = value.clone(); thread::spawn(move || Arc::try_unwrap(value).ok()) };
        let mine = Arc::try_unwrap(value).ok();
        assert!(mine.is_some() != other.join().unwrap().is_some());
    }
}

fn bump_and_fail() {
    COUNT.fetch_add(1, SeqCst);
    fail()
}

/// Returns every search, with the findings that it is sure to make.
fn searches() -> Vec<(&'static str, bool, Explorer)> {
    let explorer = || Explorer::new().minimise(0).executions(20_000);
    vec![
        ("dfs", true, explorer()),
        ("dpor", true, explorer().reduction(Reduction::Dpor)),
        ("source-dpor", true, explorer().reduction(Reduction::SourceDpor)),
        ("caching", true, explorer().reduction(Reduction::Caching)),
        (
            "bounded",
            true,
            explorer().preemptions(2).reduction(Reduction::Caching),
        ),
        ("auto", true, explorer().strategy(Strategy::auto())),
        (
            "random",
            false,
            explorer().strategy(Strategy::random()).executions(400),
        ),
        ("pos", false, explorer().strategy(Strategy::pos()).executions(400)),
    ]
}

/// `true` if the report has the verdict.
fn fits(report: &Report, kind: &str, is_sure: bool) -> bool {
    let mut kinds = report.findings().iter().filter(|finding| finding.is_error());
    match kind.is_empty() || !is_sure && report.verdict().is_pass() {
        true => report.verdict().is_pass(),
        false => report.verdict().is_fail() && kinds.all(|finding| finding.kind.as_str() == kind),
    }
}

#[test]
fn every_search_gives_each_program_its_verdict() {
    let mut wrong = Vec::new();
    for program in PROGRAMS {
        for (name, is_sure, explorer) in searches() {
            let report = explorer.explore(program.body);
            if !fits(&report, program.kind, is_sure) {
                wrong.push(format!(
                    "{} by {name}, {:?} expected:\n{report}",
                    program.name, program.kind
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
