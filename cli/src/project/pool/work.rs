//! A worker: takes items from a pool, explores them, and stores their results there.
//!
//! A worker may end at any moment without harm, because of the order in which it writes. The result of an item is stored
//! before the item is acknowledged. If an item is divided, that is stored before its shares are published, and they are
//! published before the item is acknowledged. An item that was not acknowledged is delivered again, and the worker that
//! gets it completes these steps.

use super::binaries::{self, Built};
use super::process::{Ended, Running};
use super::{SPLIT_INTO, connect};
use crate::args::WorkerArgs;
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo::Settings;
use intermezzo_pool::{Item, Outcome, Pool, Run, Take, Taken, WorkerEntry};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

/// The longest wait for an item. Meanwhile the server counts the worker as idle.
const WAIT: Duration = Duration::from_secs(1);

/// The pause between two checks of the pool while a test runs.
const LOOK: Duration = Duration::from_millis(500);

/// A share is divided once another worker has been idle for this fraction (1/8) of the time that the share has run. So the
/// youngest share is divided first, which throws away the least work.
const PATIENCE: u32 = 8;

/// The time limit for the trial that shows that a test can be divided: one execution of a share.
const TRIAL: Duration = Duration::from_secs(2);

/// The time after which this worker's entry in the list of workers is renewed.
const SHOW: Duration = Duration::from_secs(8);

/// The number of deliveries after which an item is not tried again, because each of its workers has ended.
const DELIVERIES_MAX: i64 = 25;

/// Settings that name files, or that have no meaning next to a pool, with the reason.
const REFUSED: [(&str, &str); 4] = [
    ("partition", "the pool divides the searches itself"),
    ("checkpoint", "the pool keeps what is done"),
    ("log", "its file need not be there on other machines"),
    (
        "jobs",
        "give more workers instead, and run several on each machine",
    ),
];

/// A worker.
pub(super) struct Worker<'a> {
    pool: &'a Pool,
    built: Vec<Built>,
    entry: WorkerEntry,
    shown: Option<Instant>,
    /// Tests of runs that cannot be divided.
    whole: BTreeSet<(String, usize)>,
    /// The runs in which it takes part, with the indexes of their binaries in `built`; `None` for other runs.
    runs: BTreeMap<String, Option<Vec<usize>>>,
    objects: u64,
}

/// The end of a step of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Done,
    /// There was nothing to do.
    Waited,
}

/// Works until it is stopped.
pub(crate) fn worker(args: WorkerArgs) -> Result<Exit, Problem> {
    let pool = connect(&args.pool)?;
    let built = binaries::built(&args.cargo.cargo)?;
    let mut worker = Worker::new(&pool, built);
    output::complain(&format!(
        "{} works for {}, with {}",
        worker.entry.name,
        pool.address(),
        output::count(worker.built.len() as u64, "test binary").replace("binarys", "binaries"),
    ));
    let mut idle = Instant::now();
    loop {
        worker.show(false);
        let runs = pool.runs()?;
        let is_open = |id: &String| runs.iter().any(|run| run.id == *id);
        worker.runs.retain(|id, _| is_open(id));
        worker.entry.refuses.retain(|(id, _)| is_open(id));
        let mut any = false;
        for run in &runs {
            // When this run has nothing to do, another one may have.
            while worker.takes_part(run) {
                any = true;
                if worker.step(run, WAIT)? == Step::Waited {
                    break;
                }
                idle = Instant::now();
            }
        }
        if args.idle_time.is_some_and(|most| idle.elapsed() >= most) {
            pool.hide_worker(&worker.entry.name);
            return Ok(Exit::Pass);
        }
        if !any {
            thread::sleep(WAIT);
        }
    }
}

/// Returns the reason why a setting cannot be used with a pool.
pub(super) fn refused(name: &str, value: &str) -> Option<String> {
    if name == "record" {
        return None;
    }
    let mut settings = Settings::default();
    if let Err(error) = settings.set(name, value) {
        return Some(error.problem);
    }
    let keeps_none = name == "checkpoint" && settings.checkpoint.is_none();
    if let Some((_, why)) = REFUSED
        .iter()
        .find(|(refused, _)| *refused == name && !keeps_none)
    {
        return Some((*why).to_owned());
    }
    let of_file = |name: &str| name.contains(['/', '\\', '.']);
    if settings.monitors.iter().any(|monitor| of_file(&monitor.name)) {
        return Some(
            "the file of a plugin need not be there on other machines: give monitors by name".into(),
        );
    }
    settings
        .memo()
        .map(|_| "a file of a memo need not be there on other machines".to_owned())
}

/// Returns the name of this machine.
fn host() -> String {
    let name = fs::read_to_string(Path::new("/proc/sys/kernel/hostname"));
    let name = name
        .ok()
        .or_else(|| env::var("HOSTNAME").ok())
        .unwrap_or_default();
    let plain = name
        .trim()
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter,
            false => '-',
        });
    let name: String = plain.take(60).collect();
    if name.is_empty() { "worker".into() } else { name }
}

/// Returns a name that no other process has: the process's id, and the time.
pub(super) fn unique() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos() as u64);
    format!("{:x}-{:x}", process::id(), now & 0xff_ffff_ffff)
}

impl<'a> Worker<'a> {
    pub(super) fn new(pool: &'a Pool, built: Vec<Built>) -> Worker<'a> {
        Worker {
            pool,
            built,
            entry: WorkerEntry {
                name: format!("{}-{}", host(), unique()),
                item: None,
                done: 0,
                refuses: Vec::new(),
            },
            shown: None,
            whole: BTreeSet::new(),
            runs: BTreeMap::new(),
            objects: 0,
        }
    }

    /// Renews the worker's entry in the list, if that is due or there is `news`.
    fn show(&mut self, news: bool) {
        if news || self.shown.is_none_or(|shown| shown.elapsed() >= SHOW) {
            self.shown = Some(Instant::now());
            self.pool.show_worker(&self.entry);
        }
    }

    /// Returns `true` if the worker takes part in a run. If not, prints the reason, once.
    pub(super) fn takes_part(&mut self, run: &Run) -> bool {
        if let Some(known) = self.runs.get(&run.id) {
            return known.is_some();
        }
        let setting = run
            .settings
            .iter()
            .find_map(|(name, value)| Some((name, refused(name, value)?)));
        let places = match setting {
            Some((name, why)) => Err(format!("it has the setting {name:?}: {why}")),
            None => binaries::of_run(run, &self.built),
        };
        if let Err(why) = &places {
            output::complain(&format!("this worker takes no part in run {}: {why}", run.id));
            self.entry.refuses.push((run.id.clone(), why.clone()));
            self.show(true);
        }
        self.runs.insert(run.id.clone(), places.ok()).is_none() && self.runs[&run.id].is_some()
    }

    /// Takes an item of a run and processes it, if there is one. The worker must take part in the run.
    pub(super) fn step(&mut self, run: &Run, wait: Duration) -> Result<Step, Problem> {
        self.show(false);
        let taken = match self.pool.take(run, wait)? {
            Take::Nothing => return Ok(Step::Waited),
            Take::Aside(why) => {
                output::complain(&format!("set aside a message of the pool, {why}"));
                return Ok(Step::Done);
            }
            Take::Taken(taken) => *taken,
        };
        let item = taken.item.clone();
        match self.pool.outcome(&item)? {
            Some(outcome) => self.finish(run, taken, outcome)?,
            None if self.pool.has_failed(run, item.test)? => self.settle(run, taken, Outcome::Dropped)?,
            None if taken.deliveries > DELIVERIES_MAX => {
                let why = format!("{} workers ended while they explored it", taken.deliveries - 1);
                let outcome = self.trouble(why);
                self.settle(run, taken, outcome)?;
            }
            None => {
                self.entry.item = Some(item);
                let done = self.explore(run, taken);
                self.entry.item = None;
                done?;
            }
        }
        Ok(Step::Done)
    }

    fn trouble(&self, why: String) -> Outcome {
        Outcome::Trouble {
            why,
            worker: self.entry.name.clone(),
        }
    }

    /// Explores an item.
    fn explore(&mut self, run: &Run, mut taken: Taken) -> Result<(), Problem> {
        let test = &run.tests[taken.item.test];
        let place = self
            .runs
            .get(&run.id)
            .and_then(|places| places.as_ref()?.get(test.binary));
        let Some(built) = place.and_then(|&place| self.built.get(place)) else {
            // The item will be delivered to another worker.
            return Ok(());
        };
        let share = taken.item.share.clone();
        let mut running = Running::start(built, &test.program, &run.settings, &share)?;
        let (mut looked, mut idle_since) = (Instant::now(), None);
        let split_after = Duration::from_millis(run.split_after_ms);
        let ended = loop {
            if let Some(ended) = running.ended() {
                break ended;
            }
            self.pool.keep(&mut taken);
            if looked.elapsed() < LOOK.min(split_after.max(Duration::from_millis(50))) {
                continue;
            }
            looked = Instant::now();
            if self.shown.is_none_or(|shown| shown.elapsed() >= SHOW) {
                self.shown = Some(Instant::now());
                self.pool.show_worker(&self.entry);
            }
            let test = taken.item.test;
            if self.pool.has_failed(run, test)? {
                drop(running);
                return self.settle(run, taken, Outcome::Dropped);
            }
            if !self.pool.is_open(run)? {
                return Ok(());
            }
            let may_divide = share.may_divide() && !self.whole.contains(&(run.id.clone(), test));
            if !may_divide || running.elapsed() < split_after || self.pool.idle_workers(&taken) == 0 {
                idle_since = None;
                continue;
            }
            let waited = idle_since.get_or_insert(looked).elapsed();
            if waited >= running.elapsed() / PATIENCE {
                let Some(why) = self.obstacle(run, &taken.item)? else {
                    drop(running);
                    let outcome = Outcome::Split {
                        into: SPLIT_INTO,
                        worker: self.entry.name.clone(),
                    };
                    return self.settle(run, taken, outcome);
                };
                output::complain(&format!(
                    "{} is explored by one worker: {why}",
                    run.tests[test].program
                ));
                self.whole.insert((run.id.clone(), test));
            }
        };
        let outcome = self.outcome(run, &taken.item, ended)?;
        self.settle(run, taken, outcome)
    }

    /// Returns the reason why the test cannot be explored in shares; `None` if it can. To find out, runs one execution of a
    /// share: a test that can be divided then reports on that share.
    fn obstacle(&self, run: &Run, item: &Item) -> Result<Option<String>, Problem> {
        if !item.share.is_whole() {
            return Ok(None);
        }
        let test = &run.tests[item.test];
        let place = self
            .runs
            .get(&run.id)
            .and_then(|places| places.as_ref()?.get(test.binary));
        let Some(built) = place.and_then(|&place| self.built.get(place)) else {
            return Ok(Some("its binary is not here".to_owned()));
        };
        let mut settings = run.settings.clone();
        settings.retain(|(name, _)| name != "executions" && name != "minimise");
        settings.extend(
            [("executions", "1"), ("minimise", "0")].map(|(name, value)| (name.into(), value.into())),
        );
        let share = item.share.divided(SPLIT_INTO).swap_remove(0);
        let mut running = Running::start(built, &test.program, &settings, &share)?;
        loop {
            match running.ended() {
                Some(ended) if ended.is_share => return Ok(None),
                Some(ended) if ended.why.is_empty() => {
                    return Ok(Some("its report is not of a share".to_owned()));
                }
                Some(ended) => return Ok(Some(ended.why)),
                None if running.elapsed() > TRIAL => {
                    return Ok(Some("one execution of a share takes over two seconds".to_owned()));
                }
                None => {}
            }
        }
    }

    /// Stores the reports of a process, and returns its outcome.
    fn outcome(&mut self, run: &Run, item: &Item, ended: Ended) -> Result<Outcome, Problem> {
        let Some(reports) = &ended.reports else {
            return Ok(self.trouble(ended.why));
        };
        self.objects += 1;
        let object = format!("{}.{}.{}", run.id, self.entry.name, self.objects);
        self.pool.put_report(&object, reports.as_bytes())?;
        let findings = ended
            .findings
            .iter()
            .map(|finding| format!("{} ({})", finding, item.share));
        Ok(Outcome::Report {
            object,
            fails: ended.fails,
            executions: ended.executions,
            seconds: ended.seconds,
            findings: findings.collect(),
            worker: self.entry.name.clone(),
        })
    }

    /// Stores the outcome of an item, unless it has one already, and does what follows from the stored one.
    fn settle(&mut self, run: &Run, taken: Taken, outcome: Outcome) -> Result<(), Problem> {
        let first = self.pool.settle(&taken.item, &outcome)?;
        if first == outcome {
            self.entry.done += 1;
        } else if let Outcome::Report { object, .. } = &outcome {
            // Another worker has stored its outcome first.
            self.pool.drop_report(object);
        }
        self.finish(run, taken, first)
    }

    /// Does what follows from the outcome of an item, and acknowledges it.
    fn finish(&mut self, run: &Run, taken: Taken, outcome: Outcome) -> Result<(), Problem> {
        match outcome {
            Outcome::Split { into, .. } => {
                for share in taken.item.share.divided(into) {
                    self.pool.publish(&Item::new(run, taken.item.test, share))?;
                }
            }
            Outcome::Report { fails: true, .. } if run.tests[taken.item.test].stops_at_failure => {
                self.pool.note_failure(run, taken.item.test)?;
            }
            Outcome::Report { .. } | Outcome::Dropped | Outcome::Trouble { .. } => {}
        }
        self.pool.done(taken);
        Ok(())
    }

    /// Returns its name.
    pub(super) fn name(&self) -> &str {
        &self.entry.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_fit_a_pool_are_refused() {
        for (name, value, is_refused) in [
            ("checkpoint", "a.search", true),
            ("checkpoint", "a.search,every=60", true),
            // How often a memo is written.
            ("checkpoint", "every=60", false),
            ("partition", "1/2", true),
            ("jobs", "2", true),
            ("iroots", "memo=a.memo", true),
            ("preemptions", "2", false),
        ] {
            assert_eq!(refused(name, value).is_some(), is_refused, "{name}={value}");
        }
    }
}
