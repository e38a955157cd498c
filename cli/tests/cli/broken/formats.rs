//! The formats of files, each with valid files and a function that reads them.

use intermezzo::baseline::{Baseline, KnownFinding};
use intermezzo::refinement::history::formats::{Format as History, Recorded, write_json};
use intermezzo::refinement::recorded::{Object, STATES_MAX, judge};
use intermezzo::refinement::{ObservationSet, refine};
use intermezzo::settings::Config;
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Explorer, Reduction, Schedule, foreign, thread};
use std::fs;
use std::path::Path;

/// The reason why a file was refused, in words.
pub(super) type Problem = String;

/// A function that corrects a checksum.
type Seal = fn(&[u8]) -> Vec<u8>;

/// A format.
pub(super) struct Format {
    pub(super) name: &'static str,
    /// The name of a file in this format.
    pub(super) file: &'static str,
    /// Valid files.
    pub(super) whole: Vec<Vec<u8>>,
    /// Reads a file, or returns the reason why it is refused.
    pub(super) read: fn(&Path) -> Result<String, Problem>,
    /// `true` if only unchanged files are accepted.
    pub(super) checked: bool,
    /// Corrects a checksum.
    pub(super) seal: Option<Seal>,
    /// A problem must contain one of these, which name the place of the error. Not required if `checked`.
    pub(super) places: &'static [&'static str],
    /// `true` if problems name the file.
    pub(super) names_file: bool,
}

impl Format {
    /// Returns what is wrong with the text of a problem.
    pub(super) fn complaint(&self, problem: &str) -> Option<String> {
        let is_text = |c: char| c == '\n' || !c.is_control();
        let says_where = |place: &&str| problem.contains(place);
        let wrong = if !(20..4_000).contains(&problem.len()) {
            "too little is said, or too much"
        } else if !problem.chars().all(is_text) {
            "this is no text"
        } else if self.names_file && !problem.contains(self.file) {
            "which file?"
        } else if !self.places.is_empty() && !self.places.iter().any(says_where) {
            "where?"
        } else {
            return None;
        };
        Some(format!("{wrong} {problem:?}"))
    }
}

/// Returns the formats that are read in this process.
pub(super) fn all() -> Vec<Format> {
    let plain = |name, file, whole, read| Format {
        name,
        file,
        whole,
        read,
        checked: false,
        seal: None,
        places: &[],
        names_file: true,
    };
    let checked = |name, file, whole, read| Format {
        checked: true,
        ..plain(name, file, whole, read)
    };
    let token = Format {
        names_file: false,
        ..checked(
            "schedule token",
            "token",
            vec![schedule().token().into_bytes()],
            read_token,
        )
    };
    let mut formats = vec![
        Format {
            // A checksum is reported only for a file that can be read.
            places: &[
                "line ",
                "byte ",
                "checksum",
                "format",
                "choice ",
                " is ",
                "cannot be read",
                "larger than",
                "preempt",
            ],
            ..checked(
                "schedule file",
                "schedule.json",
                vec![schedule().to_json(Some(("panic", "lost"))).into_bytes()],
                read_schedule,
            )
        },
        token,
        checked(
            "observations",
            "observations.json",
            vec![observations()],
            read_observations,
        ),
        Format {
            seal: Some(sealed),
            ..checked("checkpoint", "search", vec![checkpoint()], read_checkpoint)
        },
        Format {
            seal: Some(sealed),
            ..checked(
                "checkpoint of a reduction",
                "search",
                vec![checkpoint_of_reduction(1), checkpoint_of_reduction(3)],
                read_checkpoint_of_reduction,
            )
        },
        Format {
            seal: Some(sealed),
            ..checked("memo", "memo", vec![memo()], read_memo)
        },
        Format {
            places: &[
                "toml:1",
                "toml:2",
                "toml:3",
                "toml:4",
                "toml:5",
                "toml:6",
                "toml:7",
                "toml:8",
                "toml:9",
                "cannot be read",
            ],
            ..plain(
                "settings",
                "intermezzo.toml",
                vec![SETTINGS.into()],
                read_settings,
            )
        },
        Format {
            places: &["toml:", "cannot be read"],
            ..plain("known findings", "known.toml", vec![baseline()], read_baseline)
        },
    ];
    formats.extend(histories().map(|(name, text, read)| Format {
        names_file: false,
        places: &["line ", "event ", "no text"],
        ..plain(name, "history", vec![text.into_bytes()], read)
    }));
    formats
}

const SETTINGS: &str = "executions = 50_000\n[test.\"z::last\"]\npreemptions = 3\nmonitors = [\"leak\"]\n\
                        [test.\"queue::*\"]\ntime = 2.5\nkeep_going = true\nseed = 0x10\n";

fn count() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        }
    });
}

fn lost() {
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| n.store(n.load(SeqCst) + 1, SeqCst));
        }
    });
    assert_eq!(n.load(SeqCst), 2);
}

fn schedule() -> Schedule {
    let report = Explorer::new().program("counts::an_update_is_lost").explore(lost);
    report.findings()[0].schedule.clone()
}

fn read_schedule(path: &Path) -> Result<String, Problem> {
    let schedule = Schedule::read(path).map_err(|error| error.to_string())?;
    Ok(schedule.token())
}

fn read_token(path: &Path) -> Result<String, Problem> {
    let bytes = fs::read(path).map_err(|error| format!("a token is no file: {error}"))?;
    let schedule = Schedule::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| error.to_string())?;
    Ok(schedule.token())
}

fn observations() -> Vec<u8> {
    let set = refine(|| Mutex::new(Vec::new()))
        .op(
            "push",
            intermezzo::refinement::fresh(),
            |list: &Mutex<Vec<u8>>, value| {
                list.lock().unwrap().push(value);
            },
        )
        .op("pop", (), |list: &Mutex<Vec<u8>>, ()| list.lock().unwrap().pop())
        .scenarios(2)
        .observe();
    set.expect("observations").to_json().into_bytes()
}

fn read_observations(path: &Path) -> Result<String, Problem> {
    let set = ObservationSet::load(path).map_err(|error| error.to_string())?;
    Ok(set.to_json())
}

fn searched(checkpoint: &Path, executions: u64) -> Result<String, Problem> {
    searched_by(Explorer::new(), checkpoint, executions)
}

fn searched_by(explorer: Explorer, checkpoint: &Path, executions: u64) -> Result<String, Problem> {
    let there = foreign::read(checkpoint).unwrap_or_default();
    let explorer = explorer.program("counts::counted").executions(executions);
    let explored = explorer.checkpoint(checkpoint).try_explore(count as fn());
    explored.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&there).into_owned())
}

/// Returns the checkpoint of a search that was interrupted.
fn checkpoint() -> Vec<u8> {
    let directory = super::directory();
    let path = directory.path().join("search");
    searched(&path, 3).expect("a new one");
    fs::read(path).unwrap()
}

fn read_checkpoint(path: &Path) -> Result<String, Problem> {
    searched(path, 5)
}

/// Returns the checkpoint of a search by `jobs` workers with a reduction, which was interrupted.
fn checkpoint_of_reduction(jobs: usize) -> Vec<u8> {
    let directory = super::directory();
    let path = directory.path().join("search");
    let explorer = Explorer::new().reduction(Reduction::Dpor).jobs(jobs);
    searched_by(explorer, &path, 2).expect("a new one");
    fs::read(path).unwrap()
}

fn read_checkpoint_of_reduction(path: &Path) -> Result<String, Problem> {
    let explorer = Explorer::new().reduction(Reduction::Dpor).jobs(2);
    searched_by(explorer, path, 4)
}

fn remembered(memo: &Path) -> Result<String, Problem> {
    let there = foreign::read(memo).unwrap_or_default();
    let explorer = Explorer::new().program("counts::counted").executions(3);
    let explored = explorer
        .set("strategy", format!("maple(memo={})", memo.display()))
        .try_explore(count);
    explored.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&there).into_owned())
}

fn memo() -> Vec<u8> {
    let directory = super::directory();
    let path = directory.path().join("memo");
    remembered(&path).expect("a new one");
    fs::read(path).unwrap()
}

fn read_memo(path: &Path) -> Result<String, Problem> {
    remembered(path)
}

/// Returns the file with the checksum and the length of everything after its second line.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
    let (Some(format), Some(_), Some(contents)) = (lines.next(), lines.next(), lines.next()) else {
        return bytes.to_vec();
    };
    let seal = format!("\n{:08x} {}\n", crc32fast::hash(contents), contents.len());
    [format, seal.as_bytes(), contents].concat()
}

fn baseline() -> Vec<u8> {
    let known = KnownFinding {
        test: "queue::push".into(),
        binary: "queue lib".into(),
        kind: "deadlock".into(),
        at: ["src/a.rs: let a = b.lock();".to_owned()].into(),
    };
    let known = [known].into();
    Baseline { known }.to_text().into_bytes()
}

fn read_baseline(path: &Path) -> Result<String, Problem> {
    let baseline = Baseline::read(path).map_err(|error| error.to_string())?;
    Ok(format!("{baseline:?}"))
}

fn read_settings(path: &Path) -> Result<String, Problem> {
    let config = Config::read(path).map_err(|error| error.to_string())?;
    Ok(format!("{config:?}"))
}

type ReadHistory = fn(&Path) -> Result<String, Problem>;

/// Returns a history in each of its possible forms.
fn histories() -> [(&'static str, String, ReadHistory); 4] {
    let jepsen: Vec<String> = (0..6)
        .map(|at| {
            let value = if at % 2 == 0 { at.to_string() } else { "[1 nil]".to_owned() };
            format!("INFO  jepsen.util - {0}\t:invoke\t:write\t{value}\nINFO  jepsen.util - {0}\t:ok\t:write\t{value}", at % 3)
        })
        .collect();
    let jepsen = jepsen.join("\n");
    let edn = r#"[{:process 0 :type :invoke :f :append :key "a" :value "x"}
{:process 1, :type :invoke, :f :get, :key "a", :value nil} #_ #{1 2} ; said
{:process 0, :type :ok, :f :append, :key "a", :value "x"}
{:process 1, :type :ok, :f :get, :key "a", :value "x\n"}]"#;
    let calls = "# @object stack\n[1] call push(a)\n[2] call pop\n[1] return\n[2] return a\n[3] call pop()\n[3] return empty\n\
                 [4] call add(1, 2)\n[4] return true";
    let events = History::Jepsen.read(&jepsen).expect("events").0;
    [
        ("history in JSON", write_json(&events, Some("register")), |path| {
            judged(path, History::Json)
        }),
        ("history of Jepsen", jepsen, |path| judged(path, History::Jepsen)),
        ("history in EDN", edn.to_owned(), |path| {
            judged(path, History::Edn)
        }),
        ("history of calls", calls.to_owned(), |path| {
            judged(path, History::Calls)
        }),
    ]
}

/// Judges a file as a history of each kind of object. It is accepted if one of them accepts it.
fn judged(path: &Path, format: History) -> Result<String, Problem> {
    let bytes = fs::read(path).map_err(|error| format!("no text to read: {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    let wrong = |error: intermezzo::refinement::history::formats::FormatError| error.to_string();
    let (events, _) = format.read(&text).map_err(wrong)?;
    let recorded = Recorded::pair(events).map_err(wrong)?;
    let judgements: Vec<_> = Object::ALL
        .into_iter()
        .map(|object| judge(&recorded, object, STATES_MAX, None).map_err(wrong))
        .collect();
    match judgements.iter().find(|judgement| judgement.is_ok()) {
        Some(judgement) => Ok(format!("{judgement:?}")),
        None => Err(judgements.into_iter().find_map(Result::err).expect("an object")),
    }
}
