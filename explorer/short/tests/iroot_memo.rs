//! The memo of iRoots: the work that it saves, the files that it refuses, and processes that share it.

use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{ExploreError, Explorer, Report, Settings, StoredMemo, Strategy, thread};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The variable with the path of the memo for a child process, and the one with the name of the test to explore.
const MEMO: &str = "MEMO_OF_THE_CHILD";
const WHICH: &str = "TEST_OF_THE_CHILD";

/// A directory that is removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("intermezzo-iroots-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn memo(&self) -> PathBuf {
        self.0.join("memo")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Two tasks at places of their own.
fn one() {
    let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            a.store(b.load(SeqCst), SeqCst);
            b.fetch_add(1, SeqCst);
        });
        b.store(a.load(SeqCst), SeqCst);
        a.fetch_add(1, SeqCst);
    });
}

/// Another test, with other places.
fn another() {
    let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| a.store(b.load(SeqCst), SeqCst));
        scope.spawn(|| b.store(a.load(SeqCst), SeqCst));
        a.fetch_add(1, SeqCst);
    });
}

fn explorer(memo: &Path) -> Explorer {
    Explorer::new().set("strategy", format!("maple(memo={})", memo.display()))
}

fn attempts(report: &Report) -> u64 {
    report.iroots().unwrap().attempts().unwrap()
}

/// Returns the problem with the memo, in words.
fn refused(memo: &Path) -> String {
    match explorer(memo).try_explore(one) {
        Err(ExploreError::Memo(error)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(report) => panic!("{memo:?} was not refused: {report}"),
    }
}

#[test]
fn what_was_exposed_is_not_tried_again() {
    let directory = Directory::new("again");
    let memo = directory.memo();
    let first = explorer(&memo).explore(one);
    assert!(attempts(&first) > 0, "{first}");
    let second = explorer(&memo).explore(one);
    assert_eq!(attempts(&second), 0, "{second}");
    // Another test is at other places.
    let elsewhere = Explorer::new()
        .strategy(Strategy::named("maple").unwrap())
        .explore(another);
    assert!(attempts(&elsewhere) > 0);
    assert_eq!(attempts(&explorer(&memo).explore(another)), attempts(&elsewhere));
    // An iRoot counts whichever search exposes it.
    let memo = directory.0.join("by depth first search");
    Explorer::new()
        .set("iroots", format!("memo={}", memo.display()))
        .explore(one);
    assert!(attempts(&explorer(&memo).explore(one)) < attempts(&first));
}

/// The identities of a memo are those of explorations without it, which see places in another order.
#[test]
fn identities_do_not_depend_on_the_memo() {
    let directory = Directory::new("identities");
    let memo = directory.memo();
    let with_memo = explorer(&memo).explore(one);
    let named = with_memo.iroots().unwrap().names();
    let iroots = StoredMemo::read(&memo).unwrap().iroots;
    let of_five = |name: &str| name.starts_with("5: ");
    let crosswise: Vec<_> = iroots.iter().filter(|iroot| of_five(&iroot.name)).collect();
    assert!(crosswise.iter().any(|iroot| named.contains(&iroot.name)));
    for iroot in crosswise {
        let report = Explorer::new()
            .set("strategy", format!("maple(target={})", iroot.id))
            .explore(one);
        assert!(
            report.notes().is_empty(),
            "{} ({}): {report}",
            iroot.id,
            iroot.name
        );
        assert!(attempts(&report) > 0, "{} ({}): {report}", iroot.id, iroot.name);
    }
}

/// A search that found an error finds it again.
#[test]
fn a_failing_test_goes_on_failing() {
    let directory = Directory::new("failing");
    let memo = directory.memo();
    let test = || {
        let a = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| a.store(a.load(SeqCst) + 1, SeqCst));
            a.store(a.load(SeqCst) + 1, SeqCst);
        });
        assert_eq!(a.load(SeqCst), 2);
    };
    for _ in 0..3 {
        let report = explorer(&memo).explore(test);
        assert!(report.verdict().is_fail(), "{report}");
        assert!(!memo.exists(), "nothing was added");
    }
}

#[test]
fn what_is_no_memo_is_refused_and_left_alone() {
    let directory = Directory::new("foreign");
    let memo = directory.memo();
    for (contents, says) in [
        (&b""[..], "something else than a memo"),
        (b"a letter", "something else"),
        (b"intermezzo-checkpoint/3\n", "something else"),
        (
            b"intermezzo-memo/0\n00000000 0\n",
            "has version \"0\" of its format, but 1 is needed",
        ),
        (b"intermezzo-memo/2\nwhatever", "has version \"2\""),
        (b"intermezzo-memo/", "has version \"\""),
    ] {
        fs::write(&memo, contents).unwrap();
        let problem = refused(&memo);
        assert!(problem.contains(says), "{problem}");
        assert_eq!(fs::read(&memo).unwrap(), contents);
    }
    fs::remove_file(&memo).unwrap();
    fs::create_dir(&memo).unwrap();
    assert!(refused(&memo).contains("something else than a memo"));
    let nowhere = directory.0.join("no/such/memo");
    assert!(refused(&nowhere).contains("give a path that can be read and written"));
}

/// A file that appears there while the search runs is left alone as well, and the report says so.
#[test]
fn nothing_is_overwritten_at_the_end() {
    let directory = Directory::new("meanwhile");
    let memo = directory.memo();
    let put = memo.clone();
    let report = explorer(&memo).set("checkpoint", "every=60").explore(move || {
        if !put.exists() {
            fs::write(&put, "a letter").unwrap();
        }
        one();
    });
    let notes = report.notes().join("\n");
    assert!(notes.contains("something else than a memo"), "{notes}");
    assert_eq!(fs::read_to_string(&memo).unwrap(), "a letter");
}

/// The test that child processes run: explorations that share a memo.
#[test]
fn child() {
    let (Ok(memo), Ok(which)) = (std::env::var(MEMO), std::env::var(WHICH)) else {
        return;
    };
    let explorer = |seed| {
        // Executions that another test killed must not be reported here.
        let mut settings = Settings::default();
        settings.set("journal", "none").unwrap();
        Explorer::with_settings(settings)
            .set("strategy", format!("maple(memo={memo})"))
            .seed(seed)
            .set("checkpoint", "every=0")
    };
    for seed in 0..20 {
        let report = match which.as_str() {
            "one" => explorer(seed).program("one").explore(one),
            _ => explorer(seed).program("another").explore(another),
        };
        // Notes say if it could not be written.
        assert!(report.notes().is_empty(), "{report}");
    }
}

fn spawn(memo: &Path, which: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child"])
        .env(MEMO, memo)
        .env(WHICH, which);
    command.stdout(Stdio::null()).spawn().unwrap()
}

#[test]
fn processes_share_one() {
    let directory = Directory::new("shared");
    let memo = directory.memo();
    let children = ["one", "another", "one", "another"].map(|which| spawn(&memo, which));
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = fs::read_to_string(&memo).unwrap();
    // Nothing that any of them wrote was lost.
    for test in ["one", "another"] {
        assert!(
            text.contains(&format!("\"{test}\":{{\"explorations\":40,")),
            "{text}"
        );
    }
    assert_eq!(attempts(&explorer(&memo).explore(one)), 0);
    assert_eq!(attempts(&explorer(&memo).explore(another)), 0);
}

/// A process that is killed at any moment leaves a memo that others can read at once.
#[test]
fn whoever_is_killed_leaves_it_whole() {
    let directory = Directory::new("killed");
    let memo = directory.memo();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut written = 0;
    for kill in 0..40 {
        let mut child = spawn(&memo, if kill % 2 == 0 { "one" } else { "another" });
        std::thread::sleep(Duration::from_millis(random.random_range(1..60)));
        child.kill().unwrap();
        child.wait().unwrap();
        let report = explorer(&memo).executions(1).explore(one);
        assert!(
            report.notes().iter().all(|note| !note.contains("memo")),
            "{report}"
        );
        written = written.max(fs::metadata(&memo).map_or(0, |memo| memo.len()));
    }
    assert!(written > 0);
}
