//! Altered checkpoints are refused, whatever was altered.

use crate::common::{Directory, counter};
use crate::reductions::reduced;
use crate::{checkpoint, explorer, refused, sealed};
use intermezzo_explorer::sync::Mutex;
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::{CheckpointProblem, Coverage, ExploreError, Explorer, Finding, Reduction, thread};
use serde_json::Value;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

#[test]
fn a_damaged_checkpoint_is_refused() {
    let directory = Directory::new("damaged");
    let file = directory.file();
    let whole = checkpoint(&directory);
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        let problem = refused(explorer("counter", None), &file);
        let right = match length {
            0..23 => problem == CheckpointProblem::NotACheckpoint || length == 22,
            _ => !matches!(problem, CheckpointProblem::Unintelligible { .. }),
        };
        assert!(right, "{length} bytes: {problem:?}");
    }
    // The step is odd, so that another bit of the byte changes each time.
    for bit in (0..whole.len() * 8).step_by(7) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &damaged).unwrap();
        let problem = refused(explorer("counter", None), &file);
        assert!(
            !matches!(problem, CheckpointProblem::Unintelligible { .. }),
            "bit {bit}: {problem:?}"
        );
    }
    fs::write(&file, &whole).unwrap();
    let report = explorer("counter", None)
        .checkpoint(&file)
        .explore(counter as fn());
    assert_eq!(report.executions(), 90);
}

#[test]
fn nonsense_with_the_right_checksum_is_refused() {
    let directory = Directory::new("nonsense");
    let file = directory.file();
    let whole = String::from_utf8(checkpoint(&directory)).unwrap();
    let contents = whole.splitn(3, '\n').nth(2).unwrap();
    let lines: Vec<&str> = contents.split('\n').collect();
    assert!(
        lines.len() >= 3,
        "the contents, what hands share, and a hand: {contents}"
    );
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    for nonsense in [
        String::new(),
        lines[0].to_owned(),
        with(0, "{}"),
        with(1, "{}"),
        with(1, r#"{"round":0,"runs":[["9.9.gA"]],"later":[],"cut":false}"#),
        with(2, "[]"),
        with(2, r#"{"items":["0.5.gA"],"later":[]}"#),
        with(2, r#"{"items":["0.0.____"],"later":[]}"#),
    ] {
        fs::write(&file, sealed(&nonsense)).unwrap();
        let problem = refused(explorer("counter", None), &file);
        assert!(
            matches!(problem, CheckpointProblem::Unintelligible { .. }),
            "{nonsense}: {problem:?}"
        );
    }
    let whole = sealed(contents);
    for other in ["1", "2", "3", "4", "5", "7"] {
        fs::write(
            &file,
            whole.replace("checkpoint/6", &format!("checkpoint/{other}")),
        )
        .unwrap();
        assert_eq!(
            refused(explorer("counter", None), &file),
            CheckpointProblem::OtherVersion {
                found: other.into(),
                needed: 6
            }
        );
    }
}

/// The number of damaged files for each search, unless `EXPLORED_DAMAGED` sets it.
const DAMAGED: u64 = 25;

/// A small generator (Knuth's).
struct Dice(u64);

impl Dice {
    /// Returns a number below `end`.
    fn roll(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Changes something somewhere in the value.
fn damage(value: &mut Value, dice: &mut Dice) {
    let size = match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    // Rarely at this level, mostly further down.
    if size > 0 && dice.roll(12) > 0 {
        let at = dice.roll(size);
        return match value {
            Value::Array(list) => damage(&mut list[at], dice),
            Value::Object(map) => damage(map.values_mut().nth(at).unwrap(), dice),
            _ => unreachable!("what has parts has them"),
        };
    }
    match value {
        Value::Array(list) => match (dice.roll(4), list.len()) {
            (0, 1..) => drop(list.remove(dice.roll(list.len()))),
            (1, 1..) => {
                let (from, to) = (dice.roll(list.len()), dice.roll(list.len() + 1));
                list.insert(to, list[from].clone());
            }
            (2, 2..) => list.swap(dice.roll(size), dice.roll(size)),
            _ => list.clear(),
        },
        Value::Number(number) => {
            let near = number.as_u64().unwrap_or_default();
            *value = match dice.roll(6) {
                0 => near.wrapping_add(1).into(),
                1 => near.saturating_sub(1).into(),
                2 => dice.roll(8).into(),
                3 => u32::MAX.into(),
                4 => u64::MAX.into(),
                _ => Value::Null,
            };
        }
        Value::Bool(is) => *is = !*is,
        Value::Null => *value = dice.roll(4).into(),
        other => *other = Value::Null,
    }
}

/// Returns a checkpoint of an interrupted search, if possible with unfinished work of several workers if `jobs` is
/// more than 1.
fn half_done(explorer: impl Fn() -> Explorer, test: fn(), jobs: usize, file: &Path) -> String {
    let whole = explorer().explore(test);
    let mut half = String::new();
    for try_anew in 0..20 {
        let _ = fs::remove_file(file);
        let executions = (whole.executions() * (2 + try_anew % 5) / 8).max(1);
        let explorer = explorer().jobs(jobs).checkpoint(file).executions(executions);
        explorer.explore(test);
        half = fs::read_to_string(file).unwrap();
        if jobs == 1 || half.matches("\"told\":").count() > 1 {
            break;
        }
    }
    half
}

/// Whatever the remaining work looks like, the search continues with it or refuses it. The engine does not fail, and
/// the search ends.
#[test]
fn any_remaining_work_is_continued_or_refused() {
    let directory = Directory::new("anything");
    let file = directory.file();
    let (mut refusals, mut taken, mut complaints) = (0, 0, Vec::new());
    let damaged = std::env::var("EXPLORED_DAMAGED").map_or(DAMAGED, |number| number.parse().unwrap());
    for (program, test, reduction, bound) in reduced() {
        for jobs in [1, 3] {
            let explorer = || explorer(program, bound).reduction(reduction).keep_going(true);
            let half = half_done(explorer, test, jobs, &file);
            let contents = half.splitn(3, '\n').nth(2).unwrap();
            let lines: Vec<&str> = contents.split('\n').collect();
            let mut dice = Dice(jobs as u64);
            for number in 0..damaged {
                let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
                let at = lines.len() - 1;
                let Ok(mut left) = serde_json::from_str(&lines[at]) else {
                    break;
                };
                for _ in 0..=dice.roll(2) {
                    damage(&mut left, &mut dice);
                }
                lines[at] = left.to_string();
                fs::write(&file, sealed(&lines.join("\n"))).unwrap();
                let jobs = 1 + dice.roll(3);
                let explored = catch_unwind(|| {
                    let explorer = explorer().jobs(jobs).checkpoint(&file).executions(200);
                    explorer.try_explore(test)
                });
                // A failure of the engine inside an execution looks like a failure of the test.
                let ours = |finding: &Finding| finding.message.contains("src/search");
                match explored {
                    Ok(Ok(report)) if !report.findings().iter().any(ours) => taken += 1,
                    Ok(Err(ExploreError::Checkpoint(_))) => refusals += 1,
                    other => complaints.push(format!("{program}, {reduction:?}, file {number}: {other:?}")),
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(refusals > 100 && taken > 100, "{refusals} refused, {taken} taken");
}

/// Tasks wait for each other, so that often only one can continue.
fn sections() {
    let n = Mutex::new(0);
    let section = || *n.lock().unwrap() += 1;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                section();
                section();
            });
        }
    });
    let n = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| n.fetch_add(1, SeqCst));
        scope.spawn(|| n.store(3, SeqCst));
    });
}

/// A path with one step too few or too many, at which nothing was decided, looks valid until it is run.
#[test]
fn a_path_that_does_not_exist_is_noticed() {
    let directory = Directory::new("path");
    let file = directory.file();
    let mut found_out = 0;
    for (test, executions, more) in [counter as fn(), sections]
        .into_iter()
        .flat_map(|test| (1..12).flat_map(move |number| [(test, number, true), (test, number, false)]))
    {
        let explorer = || explorer("path", None).reduction(Reduction::Dpor).keep_going(true);
        let whole = explorer().explore(test);
        let explorer = || explorer().checkpoint(&file);
        let _ = fs::remove_file(&file);
        if explorer().executions(executions).explore(test).executions() < executions {
            continue;
        }
        let half = fs::read_to_string(&file).unwrap();
        let mut lines: Vec<String> = half.split('\n').skip(2).map(str::to_owned).collect();
        let mut hand: Value = serde_json::from_str(&lines[2]).unwrap();
        let nodes = hand["path"]["nodes"].as_array_mut().unwrap();
        let undecided = nodes.iter().rposition(|node| node["choice"].is_null());
        match (more, undecided) {
            (true, Some(_)) => {
                let mut one = nodes.last().unwrap().clone();
                one["choice"] = Value::Null;
                nodes.push(one);
            }
            (false, Some(at)) if at > 0 => drop(nodes.remove(at)),
            _ => continue,
        }
        hand["fresh"] = 0.into();
        lines[2] = hand.to_string();
        fs::write(&file, sealed(&lines.join("\n"))).unwrap();
        // Noticed each time that a search is started.
        for _ in 0..2 {
            let report = explorer().explore(test);
            let reason = match report.coverage() {
                Coverage::Bounded { reason, .. } => reason.clone().unwrap_or_default(),
                _ => String::new(),
            };
            // An additional step without a decision may really exist.
            let same = more && report.traces() == whole.traces();
            assert!(same || !reason.is_empty(), "{executions}, {more}: {report}");
            found_out += u64::from(reason.contains("does not fit what the test does"));
        }
    }
    assert!(found_out > 0, "the others are seen to depart");
}
