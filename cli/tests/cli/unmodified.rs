//! `test --unmodified`: ordinary crates, which do not use intermezzo.

use crate::{Ran, command, throw_away};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once};

const LIBRARY: &str = r#"
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

pub fn add(n: &AtomicUsize) {
    let seen = n.load(SeqCst);
    n.store(seen + 1, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_lost() {
        let n = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({ let n = n.clone(); move || add(&n) });
        println!("the first task adds");
        add(&n);
        other.join().unwrap();
        assert_eq!(n.load(SeqCst), 2);
    }

    #[test]
    fn locks_are_taken_crosswise() {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = thread::spawn({
            let locks = locks.clone();
            move || { let _one = locks.0.lock(); let _two = locks.1.lock(); }
        });
        { let _two = locks.1.lock(); let _one = locks.0.lock(); }
        other.join().unwrap();
    }

    #[test]
    fn words_are_counted() {
        let counts: Arc<Mutex<HashMap<&str, u32>>> = Arc::default();
        let tasks = ["one", "two"].map(|word| {
            let counts = counts.clone();
            thread::spawn(move || *counts.lock().unwrap().entry(word).or_default() += 1)
        });
        for task in tasks {
            task.join().unwrap();
        }
        let mut words: Vec<_> = counts.lock().unwrap().keys().copied().collect();
        words.sort();
        assert_eq!(words, ["one", "two"]);
    }

    static USES: AtomicUsize = AtomicUsize::new(0);
    static NAME: OnceLock<String> = OnceLock::new();
    static TABLE: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(Mutex::default);
    thread_local! { static MINE: RefCell<Vec<u32>> = RefCell::default(); }

    #[test]
    fn statics_are_fresh() {
        let task = thread::spawn(|| MINE.with_borrow_mut(|mine| { mine.push(1); mine.len() }));
        assert_eq!(USES.fetch_add(1, SeqCst), 0);
        NAME.set("me".to_owned()).unwrap();
        TABLE.lock().unwrap().push(1);
        assert_eq!((task.join().unwrap(), TABLE.lock().unwrap().len()), (1, 1));
    }

    #[test]
    fn atomics_have_the_layout_of_std() {
        const _: () = assert!(size_of::<[AtomicPtr<u8>; 3]>() == 3 * size_of::<usize>());
        let halves = Arc::new(unsafe { std::mem::transmute::<u64, [AtomicU32; 2]>(0) });
        let other = thread::spawn({
            let halves = halves.clone();
            move || unsafe { AtomicU32::from_ptr(halves[1].as_ptr()) }.fetch_add(1, SeqCst)
        });
        halves[1].fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(halves[1].load(SeqCst), 2);
    }

    #[test]
    fn addresses_are_the_same() {
        let task = thread::spawn(|| USES.fetch_add(1, SeqCst));
        let address = format!("{:p}", Box::new(1));
        if std::env::var_os("INTERMEZZO_ARENA_CHECK").is_some() {
            return; // They are new in each execution.
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/address");
        match std::fs::read_to_string(file) {
            Ok(known) => assert_eq!(known, address),
            Err(_) => std::fs::write(file, address).unwrap(),
        }
        USES.fetch_add(1, SeqCst);
        task.join().unwrap();
    }

    #[test]
    fn panics_are_heard() {
        use std::panic::{catch_unwind, set_hook, take_hook};
        let heard = Arc::new(AtomicUsize::new(0));
        let before = take_hook();
        set_hook(Box::new({ let heard = heard.clone(); move |_| drop(heard.fetch_add(1, SeqCst)) }));
        let stack = std::backtrace::Backtrace::force_capture().to_string();
        let task = thread::spawn(move || panic!("{}", stack.len()));
        assert!(catch_unwind(|| panic!("heard")).is_err() && task.join().is_err());
        set_hook(before);
        assert_eq!(heard.load(SeqCst), 2);
    }

    #[test]
    fn hooks_are_exchanged_crosswise() {
        use std::panic::{catch_unwind, set_hook, take_hook};
        static HEARD: AtomicUsize = AtomicUsize::new(0);
        fn silently() {
            let before = take_hook();
            set_hook(Box::new(|_| ()));
            assert!(catch_unwind(|| panic!("not heard")).is_err());
            set_hook(before);
        }
        set_hook(Box::new(|_| drop(HEARD.fetch_add(1, SeqCst))));
        let task = thread::spawn(silently);
        silently();
        task.join().unwrap();
        assert_eq!(HEARD.load(SeqCst), 0);
    }

    #[test]
    fn a_hook_is_set_too_late() {
        use std::panic::{catch_unwind, set_hook};
        static HEARD: AtomicUsize = AtomicUsize::new(0);
        let task = thread::spawn(|| assert!(catch_unwind(|| panic!("heard")).is_err()));
        set_hook(Box::new(|_| drop(HEARD.fetch_add(1, SeqCst))));
        task.join().unwrap();
        assert_eq!(HEARD.load(SeqCst), 1);
    }

    #[test]
    fn a_thread_is_left() {
        thread::spawn(thread::park);
    }

    #[test]
    fn a_wait_is_long_enough() {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(1).unwrap());
        assert!(receiver.recv_timeout(Duration::from_secs(5)).is_ok());
    }

    #[test]
    fn the_wall_clock_is_virtual() {
        use std::time::{SystemTime, UNIX_EPOCH};
        let began = SystemTime::now();
        let other = thread::spawn(|| thread::sleep(Duration::from_secs(3600)));
        thread::sleep(Duration::from_secs(7200));
        other.join().unwrap();
        let passed = began.elapsed().unwrap();
        // One thread may begin to sleep after the other has woken.
        assert!((7200..10900).contains(&passed.as_secs()), "{passed:?}");
        // Every execution begins at the same time, which is the beginning of a year.
        let since = began.duration_since(UNIX_EPOCH).unwrap();
        assert!((1_767_225_600..1_767_225_700).contains(&since.as_secs()), "{since:?}");
        // The times of files have std's type, and are real.
        let changed = std::fs::metadata(env!("CARGO_MANIFEST_DIR")).unwrap().modified().unwrap();
        assert!(changed.max(began) >= changed);
    }

    #[test]
    fn the_clocks_of_c_are_virtual() {
        unsafe extern "C" {
            fn sleep(seconds: u32) -> u32;
            fn usleep(microseconds: u32) -> i32;
            fn nanosleep(time: *const [i64; 2], left: *mut [i64; 2]) -> i32;
            fn clock_nanosleep(clock: i32, flags: i32, time: *const [i64; 2], left: *mut [i64; 2]) -> i32;
            fn clock_gettime(clock: i32, into: *mut [i64; 2]) -> i32;
            fn gettimeofday(into: *mut [i64; 2], zone: *mut u8) -> i32;
            fn time(into: *mut i64) -> i64;
            fn sched_yield() -> i32;
        }
        if cfg!(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))) {
            return;
        }
        use std::ptr::null_mut;
        let up = || {
            let mut now = [0; 2];
            assert_eq!(unsafe { clock_gettime(1, &mut now) }, 0);
            now[0]
        };
        let (began, up_before) = (unsafe { time(null_mut()) }, up());
        let other = thread::spawn(|| unsafe { sleep(3600) });
        unsafe {
            assert_eq!(nanosleep(&[3000, 0], null_mut()), 0);
            // Until then.
            assert_eq!(clock_nanosleep(1, 1, &[up() + 3000, 0], null_mut()), 0);
            assert_eq!((sleep(1200), usleep(1), sched_yield()), (0, 0, 0));
        }
        assert_eq!(other.join().unwrap(), 0);
        let mut now = [0; 2];
        assert_eq!(unsafe { gettimeofday(&mut now, null_mut()) }, 0);
        assert!((7200..10900).contains(&(now[0] - began)), "{began} {now:?}");
        assert!((7200..10900).contains(&(up() - up_before)));
        // An invalid time is refused, as it is by the C library.
        assert_eq!(unsafe { nanosleep(&[0, -1], null_mut()) }, -1);
    }

    #[test]
    fn types_are_inferred() {
        let mut lengths: HashMap<String, usize> = HashMap::new();
        lengths.insert("one".into(), lengths.len());
        let is_empty: fn(&HashMap<String, usize>) -> bool = HashMap::is_empty;
        assert!(!is_empty(&lengths) && lengths["one"] == "0".parse().unwrap());
        // sled has such code.
        let bytes: &[u8] = b"one";
        let copy: Vec<u8> = bytes.as_ref().into();
        assert_eq!(copy, bytes);
    }

    static TURNS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn an_execution_begins_as_the_process_does() {
        let begins = || {
            assert!(std::path::Path::new("Cargo.toml").exists());
            assert!(std::env::var_os("CARGO").is_some() && std::env::var_os("NEW").is_none());
        };
        begins();
        let other = thread::spawn(|| TURNS.fetch_add(1, SeqCst));
        if TURNS.fetch_add(1, SeqCst) == 0 {
            unsafe {
                std::env::set_var("NEW", "1");
                std::env::remove_var("CARGO");
            }
            std::env::set_current_dir("src").unwrap();
        }
        other.join().unwrap();
    }

    #[test]
    fn a_message_comes() -> Result<(), mpsc::RecvError> {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || sender.send(1).unwrap());
            assert_eq!(receiver.recv()?, 1);
            Ok(())
        })
    }

    #[test]
    #[should_panic(expected = "as it should")]
    fn it_panics() {
        panic!("as it should");
    }

    #[test]
    #[ignore]
    fn it_is_ignored() {
        unreachable!();
    }
}
"#;

const SUITE: &str = "#[test]\nfn it_adds() {\n    let n = std::sync::atomic::AtomicUsize::new(1);\n    \
                     plain::add(&n);\n    assert_eq!(n.into_inner(), 2);\n}\n";

/// Makes a project with these dependencies, and this library.
///
/// # Panics
/// If another test of this process has one of this name: they would overwrite each other's.
pub(super) fn project_of(name: &str, dependencies: &str, library: &str) -> PathBuf {
    static NAMES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = NAMES.lock().unwrap().insert(name.to_owned());
    assert!(is_new, "two projects are called `{name}`");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let project = throw_away::project(root, place, name, dependencies);
    throw_away::write(&project.join("src/lib.rs"), library);
    project
}

/// Makes the project.
fn project(name: &str) -> PathBuf {
    let project = project_of(name, "", LIBRARY);
    let program = "fn main() {}\n#[test]\nfn it_is_found_by_a_replay() {\n    panic!(\"always\")\n}\n";
    throw_away::write(&project.join("src/bin/program.rs"), program);
    throw_away::write(&project.join("tests/suite.rs"), &SUITE.replace("plain", name));
    project
}

/// Runs the command in that project.
pub(super) fn run(project: &Path, arguments: &[&str]) -> Ran {
    run_with(project, arguments, &[])
}

/// Runs the command in that project, with these variables.
pub(super) fn run_with(project: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    Ran::of(&mut prepared(project, arguments, variables))
}

/// Returns the command that runs in that project, with these variables.
pub(super) fn prepared(project: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unmodified-target");
    let mut command = command(project, arguments);
    command
        .env("INTERMEZZO_CACHE", overlays())
        .env("CARGO_TARGET_DIR", target)
        .envs(variables.iter().copied());
    command
}

/// cargo's configuration for the overlays: with little optimisation of most packages, which takes the least time for
/// build and tests together. The rest would make it impossible to explore anything, so it must not count.
const CONFIGURATION: &str = "[profile.release]\nopt-level = 0\nlto = \"fat\"\npanic = \"abort\"\n\n\
                             [profile.release.package.\"*\"]\nopt-level = 1\n";

/// Returns the directory of the overlays. The variables of a project's build do not count for them, but cargo reads the
/// file above them.
pub(super) fn overlays() -> PathBuf {
    static WRITTEN: Once = Once::new();
    let overlays = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overlays");
    let file = overlays.join(".cargo/config.toml");
    WRITTEN.call_once(|| {
        if !std::fs::read_to_string(&file).is_ok_and(|known| known == CONFIGURATION) {
            throw_away::write(&file, CONFIGURATION);
        }
    });
    overlays
}

pub(super) fn report<'a>(run: &'a Value, test: &str) -> &'a Value {
    let reports = run["reports"].as_array().unwrap();
    let found = reports.iter().find(|report| report["program"] == test);
    found.unwrap_or_else(|| panic!("{test} is not among {reports:#?}"))
}

#[test]
fn ordinary_tests_are_explored_and_their_failures_replayed() {
    let project = project("ordinary");
    let ran = run(&project, &["test", "--unmodified", "--json"]).ends_with(1);
    let all = ran.json();
    let verdicts = [
        ("ordinary::tests::an_update_is_lost", "fail"),
        ("ordinary::tests::locks_are_taken_crosswise", "fail"),
        ("ordinary::tests::words_are_counted", "pass"),
        ("ordinary::tests::statics_are_fresh", "pass"),
        ("ordinary::tests::a_message_comes", "pass"),
        ("ordinary::tests::an_execution_begins_as_the_process_does", "pass"),
        ("ordinary::tests::it_panics", "pass"),
        ("ordinary::tests::atomics_have_the_layout_of_std", "pass"),
        ("ordinary::tests::addresses_are_the_same", "pass"),
        ("ordinary::tests::panics_are_heard", "pass"),
        ("ordinary::tests::hooks_are_exchanged_crosswise", "fail"),
        ("ordinary::tests::a_hook_is_set_too_late", "fail"),
        ("ordinary::tests::a_thread_is_left", "pass"),
        ("ordinary::tests::a_wait_is_long_enough", "pass"),
        ("ordinary::tests::types_are_inferred", "pass"),
        ("ordinary::tests::the_wall_clock_is_virtual", "pass"),
        ("ordinary::tests::the_clocks_of_c_are_virtual", "pass"),
        ("program::it_is_found_by_a_replay", "fail"),
        ("suite::it_adds", "pass"),
    ];
    assert_eq!(all["reports"].as_array().unwrap().len(), verdicts.len());
    for (test, verdict) in verdicts {
        let report = report(&all, test);
        assert_eq!(report["verdict"], verdict, "{report:#}");
        let limits = report["limits"].as_array().unwrap();
        assert!(
            limits.iter().any(|limit| limit["kind"] == "unmodified"),
            "{report:#}"
        );
        if test.contains("::tests::") && test.contains("hook") && verdict == "fail" {
            assert_eq!(report["findings"][0]["kind"], "assertion", "{report:#}");
        }
        let has_arena = limits.iter().all(|limit| limit["kind"] != "addresses");
        assert!(has_arena || cfg!(not(unix)), "{report:#}");
        if verdict == "pass" && !test.ends_with("it_panics") && !test.ends_with("clocks_of_c_are_virtual") {
            assert_eq!(report["coverage"]["kind"], "exhaustive", "{report:#}");
        }
    }
    // The same in a process that crashes if the memory of an ended execution is used.
    let checked = run_with(
        &project,
        &["test", "--unmodified", "--json"],
        &[("INTERMEZZO_ARENA_CHECK", "1")],
    )
    .ends_with(1)
    .json();
    for (test, verdict) in verdicts {
        let report = report(&checked, test);
        assert_eq!(report["verdict"], verdict, "{report:#}");
    }
    // The output of the executions is hidden, because there are many, and it means little without the schedule.
    assert!(!ran.stderr.contains("the first task adds"), "{}", ran.stderr);

    for (test, kind) in [
        ("ordinary::tests::an_update_is_lost", "assertion"),
        ("ordinary::tests::locks_are_taken_crosswise", "deadlock"),
        ("program::it_is_found_by_a_replay", "panic"),
    ] {
        let finding = &report(&all, test)["findings"][0];
        assert_eq!(finding["kind"], kind, "{finding:#}");
        let again = replays(&project, &ran, finding);
        assert!(!again.stderr.contains("building intermezzo"), "{}", again.stderr);
    }
}

/// Asserts that a run has printed the command that replays a finding, and that the command shows the finding again.
pub(super) fn replays(project: &Path, ran: &Ran, finding: &Value) -> Ran {
    let token = finding["schedule"].as_str().unwrap();
    let printed = format!("cargo intermezzo replay {token}");
    assert!(
        ran.stderr.contains(&printed),
        "{printed} is not in:\n{}",
        ran.stderr
    );
    let again = run(project, &["replay", token, "--json"]).ends_with(1);
    assert_eq!(again.json()["findings"][0]["message"], finding["message"]);
    again
}

#[test]
fn a_program_with_an_allocator_of_its_own_is_explored() {
    let project = project("allocating");
    let allocator = "\n#[global_allocator]\nstatic OWN: std::alloc::System = std::alloc::System;\n";
    throw_away::write(&project.join("src/lib.rs"), &format!("{LIBRARY}{allocator}"));
    let exact = ["--", "--exact", "tests::words_are_counted"];
    let ran = run(
        &project,
        &[&["test", "--unmodified", "--lib", "--json"][..], &exact].concat(),
    )
    .ends_with(0);
    let all = ran.json();
    let passed = report(&all, "allocating::tests::words_are_counted");
    assert_eq!(passed["verdict"], "pass");
    let limits = passed["limits"].as_array().unwrap();
    let limit = limits.iter().find(|limit| limit["kind"] == "addresses");
    let because = limit.unwrap_or_else(|| panic!("{passed:#}"))["because"]
        .as_str()
        .unwrap();
    assert_eq!(because, "the program has a global allocator of its own");
    assert!(!ran.stderr.contains("conflicts"), "{}", ran.stderr);
}

#[test]
fn flags_of_cargo_and_of_the_harness_work() {
    let project = project("flagged");
    let exact = ["--", "--exact", "tests::words_are_counted"];
    let one = run(
        &project,
        &[&["test", "--unmodified", "--lib", "--json"][..], &exact].concat(),
    )
    .ends_with(0);
    assert_eq!(one.json()["reports"].as_array().unwrap().len(), 1);
    let list = run(&project, &["test", "--unmodified", "--lib", "--", "--list"]);
    assert!(
        list.stdout.contains("tests::it_is_ignored: test"),
        "{}\n{}",
        list.stdout,
        list.stderr
    );
    let all = run(&project, &["test", "--unmodified", "--json", "--test", "suite"]).ends_with(0);
    assert_eq!(all.json()["reports"].as_array().unwrap().len(), 1);
}

/// Returns the test binary of this library: the newest one with the wrapper's notes.
fn test_binary(library: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unmodified-target/intermezzo");
    let below = |directory: PathBuf| {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
    };
    let targets = below(built).flat_map(below);
    let files = targets.flat_map(|target| std::fs::read_dir(target.join("debug/deps")).into_iter().flatten());
    let notes = files.map(|file| file.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!("{library}-")) && name.ends_with(".intermezzo")
    });
    let newest = notes.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.unwrap().with_extension(std::env::consts::EXE_EXTENSION)
}

/// The calls by which cargo-nextest asks a test binary for its tests, and runs one.
#[test]
fn test_binaries_can_be_run_by_nextest() {
    let project = project("asked");
    run(&project, &["test", "--unmodified", "--lib", "--", "--list"]).ends_with(3);
    let binary = test_binary("asked");
    let call = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&binary);
        let output = command.args(arguments).current_dir(&project).output().unwrap();
        let code = output.status.code().unwrap();
        (code, String::from_utf8(output.stdout).unwrap())
    };
    let (code, listed) = call(&["--list", "--format", "terse"]);
    let names: Vec<&str> = listed
        .lines()
        .map(|line| line.strip_suffix(": test").unwrap())
        .collect();
    assert_eq!(
        (code, names.len()),
        (0, LIBRARY.matches("#[test]").count()),
        "{listed}"
    );
    assert!(names.contains(&"tests::an_update_is_lost") && names.contains(&"tests::it_is_ignored"));
    let (code, ignored) = call(&["--list", "--format", "terse", "--ignored"]);
    assert_eq!((code, ignored.as_str()), (0, "tests::it_is_ignored: test\n"));
    for (test, expected, line) in [
        ("tests::words_are_counted", 0, "1 passed; 0 failed; 0 ignored"),
        ("tests::an_update_is_lost", 101, "0 passed; 1 failed; 0 ignored"),
        ("tests::it_panics", 0, "1 passed; 0 failed; 0 ignored"),
        ("tests::words", 0, "0 passed; 0 failed; 0 ignored"),
    ] {
        let (code, output) = call(&["--exact", test, "--nocapture"]);
        assert_eq!(code, expected, "{test}: {output}");
        assert!(output.contains(line), "{test}: {output}");
    }
    let (code, output) = call(&["--exact", "tests::it_is_ignored", "--nocapture", "--ignored"]);
    assert_eq!(code, 101, "{output}");
    // As in std's harness, a test runs if one of several filters is in its name.
    let are_listed = |arguments: &[&str], expected: &[&str]| {
        let (code, listed) = call(&[&["--list", "--format", "terse"], arguments].concat());
        let listed: BTreeSet<_> = listed.lines().collect();
        let expected: BTreeSet<String> = expected
            .iter()
            .map(|name| format!("tests::{name}: test"))
            .collect();
        assert_eq!(
            (code, listed),
            (0, expected.iter().map(String::as_str).collect()),
            "{arguments:?}"
        );
    };
    are_listed(&["words", "update"], &["words_are_counted", "an_update_is_lost"]);
    are_listed(
        &["words", "--skip", "update", "update", "it_panics"],
        &["words_are_counted", "it_panics"],
    );
    are_listed(
        &["--exact", "words", "tests::it_panics", "nothing"],
        &["it_panics"],
    );
    let (code, output) = call(&["--no-capture", "words", "nothing"]);
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("1 passed; 0 failed; 0 ignored"), "{output}");
    // The harness begins a line with the name of a test, unless several tests run at a time.
    for threads in ["1", "2"] {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(&binary);
        shell.args(["words", "--nocapture", "--test-threads", threads]);
        let output = shell.current_dir(&project).output().unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let told: Vec<&str> = output.lines().filter(|line| line.contains(" passed: ")).collect();
        assert!(!told.is_empty(), "{output}");
        for line in told {
            assert!(line.starts_with("asked::"), "{threads}: {output}");
        }
    }
}

#[test]
fn nextest_runs_the_tests() {
    let version = std::process::Command::new(env!("CARGO"))
        .args(["nextest", "--version"])
        .output();
    if !version.is_ok_and(|version| version.status.success()) {
        return crate::seeded::ignored("cargo-nextest is not installed");
    }
    let project = project("run_by_nextest");
    let ran = run(&project, &["test", "--unmodified", "--nextest", "--json"]).ends_with(1);
    let all = ran.json();
    assert_eq!(all["reports"].as_array().unwrap().len(), 19, "{}", ran.stderr);
    for (test, verdict) in [
        ("run_by_nextest::tests::an_update_is_lost", "fail"),
        ("run_by_nextest::tests::locks_are_taken_crosswise", "fail"),
        ("run_by_nextest::tests::words_are_counted", "pass"),
        ("run_by_nextest::tests::statics_are_fresh", "pass"),
        ("run_by_nextest::tests::it_panics", "pass"),
        ("program::it_is_found_by_a_replay", "fail"),
        ("suite::it_adds", "pass"),
    ] {
        assert_eq!(report(&all, test)["verdict"], verdict, "{test}");
    }
    replays(
        &project,
        &ran,
        &report(&all, "run_by_nextest::tests::an_update_is_lost")["findings"][0],
    );
    // The words after `--` are for nextest, which accepts the filters of test binaries.
    let exact = ["--", "--exact", "tests::words_are_counted"];
    let one = ["test", "--unmodified", "--nextest", "--lib", "--json"];
    let one = run(&project, &[&one[..], &exact].concat()).ends_with(0);
    assert_eq!(one.json()["reports"].as_array().unwrap().len(), 1);
    let none = [
        "test",
        "--unmodified",
        "--nextest",
        "--lib",
        "--quiet",
        "no_test_has_this_name",
    ];
    run(&project, &none).ends_with(3);
}

#[test]
fn doctests_and_intermezzo_itself_are_refused() {
    let project = project("refusing");
    run(&project, &["test", "--unmodified", "--doc"]).refused(&[
        "tests in documentation",
        "a program of its own",
        "leave out `--doc`",
        "`cargo test --doc`",
    ]);
    let all_points = ["test", "--unmodified", "--data-points", "all"];
    let ran = run(&project, &all_points).ends_with(2);
    let told = "setting `data_points`: in unmodified code some accesses within an operation of a lock";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}

#[test]
fn a_panic_with_another_message_names_the_expected_one() {
    let library =
        "#[test]\n#[should_panic(expected = \"full\")]\nfn it_is_full() {\n    panic!(\"closed\")\n}\n";
    let project = project_of("expecting", "", library);
    let ran = run(&project, &["test", "--unmodified"]).ends_with(1);
    let told = "the test panicked without \"full\" in its message";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}
