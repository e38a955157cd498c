//! `test --pool`: submits the project's tests as a run, takes part in it, and merges the results.

use super::super::cargo::{CargoTest, Ran, variable};
use super::super::config;
use super::super::merge::combine::combined;
use super::super::merge::read::{ReadReport, read_all};
use super::super::reports::ProjectReport;
use super::binaries;
use super::connect;
use super::work::{Step, Worker, refused, unique};
use crate::args::TestArgs;
use crate::output;
use crate::problem::Problem;
use intermezzo::settings::CommandSettings;
use intermezzo::{Partition, Settings, Verdict};
use intermezzo_pool::{Cover, FORMAT, Item, Outcome, Pool, Run, ShareName, TestEntry};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// The time after which a share may be divided.
const SPLIT_AFTER: Duration = Duration::from_secs(2);

/// The longest wait for an item of the run.
const WAIT: Duration = Duration::from_millis(300);

/// The largest number of open shares whose results are requested at once.
const LOOKED_FOR: usize = 128;

/// If no result arrived for this time, and no item is queued or being explored, the open items were lost and are submitted
/// again.
const LOST_AFTER: Duration = Duration::from_secs(20);

/// Explores the tests with all workers of the pool.
pub(crate) fn explore(
    address: &str,
    args: &TestArgs,
    command: &CommandSettings,
    cargo: CargoTest,
) -> Result<Ran, Problem> {
    for (is_given, what) in [
        (command.unmodified, "--unmodified"),
        (command.nextest, "--nextest"),
        (
            command.junit.is_some() || command.annotations,
            "--junit and --annotations",
        ),
        (args.results.update_baseline, "--update-baseline"),
        // The tests use the file that is nearest to them, on each machine.
        (
            std::env::var_os("INTERMEZZO_CONFIG").is_some(),
            "INTERMEZZO_CONFIG",
        ),
    ] {
        if is_given {
            return Err(Problem::usage(format!(
                "{what} cannot be used with --pool: leave one of them out"
            )));
        }
    }
    // The tests are only asked for their settings, so their output is not shown.
    let cargo = cargo.silent();
    let settings = settings(&cargo)?;
    let pool = connect(address)?;
    let (tests, passed) = asked(&cargo)?;
    let built = binaries::built(cargo.given().1)?;
    let mut run = Run {
        format: FORMAT.into(),
        id: unique(),
        version: env!("CARGO_PKG_VERSION").into(),
        started: SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |time| time.as_secs()),
        binaries: Vec::new(),
        settings,
        config: String::new(),
        split_after_ms: args.split_after.unwrap_or(SPLIT_AFTER).as_millis() as u64,
        tests: Vec::new(),
    };
    for built in &built {
        let programs = built.programs();
        let of_it = tests.iter().filter(|(program, _)| programs.contains(program));
        let number = run.binaries.len();
        let before = run.tests.len();
        run.tests
            .extend(of_it.map(|(program, &stops_at_failure)| TestEntry {
                program: program.clone(),
                binary: number,
                stops_at_failure,
            }));
        if run.tests.len() > before {
            run.binaries.push(built.binary.clone());
        }
    }
    let ran = |reports| Ran {
        of_program: false,
        passed,
        reports,
        refusals: Vec::new(),
        of_harness: Vec::new(),
    };
    if run.tests.is_empty() {
        return Ok(ran(Vec::new()));
    }
    let runs = |built: &&binaries::Built| run.binaries.contains(&built.binary);
    run.config = binaries::config(built.iter().filter(runs));
    let mut worker = Worker::new(&pool, built);
    if !worker.takes_part(&run) {
        return Err(Problem::usage(
            "the tests cannot be explored with a pool: see above why",
        ));
    }
    pool.submit(&run)?;
    output::complain(&format!(
        "{} of {} {} submitted to {} as run {}",
        output::count(run.tests.len() as u64, "test"),
        output::count(run.binaries.len() as u64, "test binary").replace("binarys", "binaries"),
        if run.tests.len() == 1 { "is" } else { "are" },
        pool.address(),
        run.id,
    ));
    let (cover, reports) = explored(&pool, &run, &mut worker)?;
    pool.hide_worker(worker.name());
    pool.close(&cover)?;
    let mut ran = ran(reports.reports);
    ran.passed &=
        reports.troubles.is_empty() && ran.reports.iter().all(|report| report.verdict != Verdict::Fail);
    match reports.troubles.is_empty() {
        true => Ok(ran),
        false => Err(Problem::failed_test(format!(
            "there is no verdict on these tests:\n  {}",
            reports.troubles.join("\n").replace('\n', "\n  ")
        ))),
    }
}

/// Returns the settings that all workers pass to the tests.
fn settings(cargo: &CargoTest) -> Result<Vec<(String, String)>, Problem> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    let of_environment = Settings::all().iter().filter_map(|setting| {
        let value = std::env::var(variable(setting.name)).ok()?;
        Some((setting.name.to_owned(), value))
    });
    settings.extend(of_environment);
    let given = cargo.given().0.into_iter();
    // Known findings are marked after the reports are merged.
    let given = given.filter(|(name, _)| !name.starts_with("baseline"));
    settings.extend(given.map(|(name, value)| (name, value.to_string_lossy().into_owned())));
    for (name, value) in &settings {
        if let Some(why) = refused(name, value) {
            return Err(Problem::usage(format!(
                "{} cannot be used with --pool: {why}",
                crate::search_flags::flag(name)
            )));
        }
    }
    Ok(settings.into_iter().collect())
}

/// Asks the explored tests for their settings. Returns the name of each, with `true` if it stops at a failure. The second
/// value is `true` if the tests that are not explored passed.
fn asked(cargo: &CargoTest) -> Result<(BTreeMap<String, bool>, bool), Problem> {
    let (directory, ran) = cargo.ask_for_settings()?;
    ran.refused_none()?;
    let mut tests = BTreeMap::new();
    for test in config::read_all(&directory)? {
        if let Some(why) = &test.refused {
            return Err(Problem::usage(format!(
                "{} cannot be run with its settings: {why}",
                test.program
            )));
        }
        for name in ["partition", "checkpoint"] {
            let mut settings = Settings::default();
            let given = test
                .value(name)
                .is_some_and(|value| settings.set(name, value).is_ok());
            if given && (settings.partition.is_some() || settings.checkpoint.is_some()) {
                return Err(Problem::usage(format!(
                    "{} has the setting {name:?}, which cannot be used with --pool: take it out",
                    test.program
                )));
            }
        }
        let keeps_going = test.value("keep_going") == Some("true");
        tests.insert(test.program, !keeps_going);
    }
    Ok((tests, ran.passed))
}

/// The reports of a run, and the tests without one.
struct Explored {
    reports: Vec<ProjectReport>,
    troubles: Vec<String>,
}

/// Takes part in the run until it is complete, and merges its reports.
fn explored(pool: &Pool, run: &Run, worker: &mut Worker<'_>) -> Result<(Cover, Explored), Problem> {
    let mut cover = Cover::new(run);
    let (mut printed, mut quiet_since) = (BTreeSet::new(), Instant::now());
    loop {
        if pool.update(&mut cover, LOOKED_FOR)? {
            quiet_since = Instant::now();
            print_findings(&cover, &mut printed);
        }
        if cover.is_complete() {
            let damaged = match merged(pool, &cover)? {
                Ok(explored) => return Ok((cover, explored)),
                Err(damaged) => damaged,
            };
            for (item, why) in damaged {
                output::complain(&format!(
                    "{}, share {}, is explored again, because its report cannot be used: {why}",
                    run.tests[item.test].program, item.share
                ));
                pool.withdraw(&item)?;
                cover.forget(item.test, &item.share);
                pool.publish_again(&item)?;
            }
        }
        if worker.step(run, WAIT)? == Step::Done {
            quiet_since = Instant::now();
        } else if quiet_since.elapsed() > LOST_AFTER {
            quiet_since = Instant::now();
            if pool.queued(run)? == (0, 0) {
                // Some shares may have ended in the meantime.
                while pool.update(&mut cover, usize::MAX)? {}
                for item in cover.open() {
                    pool.publish_again(&item)?;
                }
            }
        }
    }
}

/// Prints each finding as soon as it is known.
fn print_findings(cover: &Cover, printed: &mut BTreeSet<(usize, String)>) {
    for (test, entry) in cover.run().tests.iter().enumerate() {
        for leaf in cover.leaves(test) {
            let Some(Outcome::Report { findings, worker, .. }) = leaf.outcome else {
                continue;
            };
            for finding in findings {
                if printed.insert((test, finding.clone())) {
                    output::complain(&format!("found by {worker}: {}: {finding}", entry.program));
                }
            }
        }
    }
}

/// Returns the share in the form that reports use.
fn partition(share: &ShareName) -> Option<Partition> {
    share.to_string().parse().ok()
}

/// Merges the reports of all tests. If some are damaged, returns their items, each with the reason.
fn merged(pool: &Pool, cover: &Cover) -> Result<Result<Explored, Vec<(Item, String)>>, Problem> {
    let mut explored = Explored {
        reports: Vec::new(),
        troubles: Vec::new(),
    };
    let mut damaged = Vec::new();
    for (test, entry) in cover.run().tests.iter().enumerate() {
        let directory = tempfile::tempdir().map_err(|error| {
            let help = "set TMPDIR to a directory that can be written";
            Problem::file("make a directory in", &std::env::temp_dir(), &error, help)
        })?;
        let (mut groups, mut dropped) = (BTreeMap::<_, Vec<ReadReport>>::new(), Vec::new());
        let mut troubles = Vec::new();
        for leaf in cover.leaves(test) {
            match leaf.outcome {
                Some(Outcome::Report { object, .. }) => {
                    let item = Item::new(cover.run(), test, leaf.share.clone());
                    match read(pool, object, &leaf.share, directory.path())? {
                        Ok(reports) => {
                            for report in reports {
                                groups.entry(report.test()).or_default().push(report);
                            }
                        }
                        Err(why) => damaged.push((item, why)),
                    }
                }
                Some(Outcome::Dropped) => dropped.extend(partition(&leaf.share)),
                Some(Outcome::Trouble { why, worker }) => {
                    troubles.push(format!(
                        "{}, share {}, by {worker}: {why}",
                        entry.program, leaf.share
                    ));
                }
                Some(Outcome::Split { .. }) | None => {}
            }
        }
        if !troubles.is_empty() {
            explored.troubles.append(&mut troubles);
            continue;
        }
        for reports in groups.values() {
            match combined(reports, &dropped) {
                Ok(text) => {
                    let name = format!(
                        "{}-{}",
                        entry.program.replace("::", "-"),
                        explored.reports.len() + 1
                    );
                    explored.reports.push(ProjectReport::parse(name, text)?);
                }
                Err(problems) => {
                    let problems = problems
                        .into_iter()
                        .map(|problem| format!("{}: {problem}", entry.program));
                    explored.troubles.extend(problems);
                }
            }
        }
    }
    Ok(match damaged.is_empty() {
        true => Ok(explored),
        false => Err(damaged),
    })
}

/// Reads the reports of a share.
///
/// # Errors
/// The inner error says why they cannot be read.
fn read(
    pool: &Pool,
    object: &str,
    share: &ShareName,
    directory: &Path,
) -> Result<Result<Vec<ReadReport>, String>, Problem> {
    let Some(bytes) = pool.report(object)? else {
        return Ok(Err("it is lost, or damaged".into()));
    };
    let path = directory.join(format!("share {}.json", share.to_string().replace('/', " of ")));
    fs::write(&path, bytes).map_err(|error| {
        Problem::file(
            "write",
            &path,
            &error,
            "set TMPDIR to a directory that can be written",
        )
    })?;
    let reports = match read_all(&[path]) {
        Ok(reports) => reports,
        Err(problem) => return Ok(Err(problem.to_string())),
    };
    let is_other = |report: &ReadReport| report.share() != partition(share);
    Ok(match reports.iter().any(is_other) || reports.is_empty() {
        true => Err("it is of another share".into()),
        false => Ok(reports),
    })
}
