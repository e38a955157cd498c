//! Monitors that go on from the execution before report what those report that begin anew: execution by execution, whatever
//! chooses the executions.

use crate::noting::Overheard;
use crate::program::{Draw, Program};
use crate::run::execute;
use crate::{SEED, blocks};
use intermezzo::monitors::{DataRaces, Leaks};
use intermezzo::sdk::{Context, Execution, Interests, MemoryEvent, Monitor, Report, SyncVarAccess};
use intermezzo::{Explorer, Settings};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::{Arc, Mutex};

/// Random programs of each sort; each explored with all of `SEARCHES`.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 5 } else { 50 };

/// How executions are chosen.
const SEARCHES: [&[(&str, &str)]; 16] = [
    &[("strategy", "dfs"), ("reduction", "none")],
    &[("strategy", "dfs"), ("reduction", "caching")],
    &[("strategy", "dfs"), ("reduction", "dpor")],
    &[("strategy", "dfs"), ("reduction", "dpor"), ("jobs", "2")],
    &[("strategy", "dfs"), ("reduction", "none"), ("preemptions", "1")],
    &[("strategy", "dfs"), ("preempt_at_races", "true")],
    &[("strategy", "delays")],
    &[("strategy", "best-first")],
    &[("strategy", "ranked"), ("preemptions", "2")],
    &[("strategy", "coverage")],
    &[("strategy", "auto")],
    &[("strategy", "auto"), ("keep_going", "false"), ("minimise", "100")],
    &[("strategy", "random")],
    &[("strategy", "pct(3)")],
    &[("strategy", "portfolio(surw,pos)")],
    &[("strategy", "auto"), ("executions", "1000")],
];

/// What was compared, and what was wrong.
#[derive(Debug, Default)]
struct Seen {
    executions: u64,
    /// In which there was something to go on from, and in which something was reported.
    went_on: u64,
    reporting: u64,
    wrong: Vec<String>,
}

/// A monitor that goes on, and next to it in each execution one that begins anew.
struct Both<M> {
    make: fn() -> M,
    going_on: M,
    anew: M,
    reports: [Vec<Report>; 2],
    /// The execution before, and what was told of memory in the one that runs.
    before: (Vec<MemoryEvent>, Vec<SyncVarAccess>),
    told: Vec<MemoryEvent>,
    seen: Arc<Mutex<Seen>>,
}

impl<M: Monitor> Both<M> {
    fn new(make: fn() -> M, seen: Arc<Mutex<Seen>>) -> Both<M> {
        Both {
            make,
            going_on: make(),
            anew: make(),
            reports: Default::default(),
            before: Default::default(),
            told: Vec::new(),
            seen,
        }
    }

    /// Calls both.
    fn call(&mut self, cx: &mut Context<'_>, mut call: impl FnMut(&mut M, bool, &mut Context<'_>)) {
        let both = [&mut self.going_on, &mut self.anew];
        for ((monitor, reports), goes_on) in both.into_iter().zip(&mut self.reports).zip([true, false]) {
            call(monitor, goes_on, &mut Context::new(&mut Overheard(cx, reports)));
        }
    }
}

impl<M: Monitor> Monitor for Both<M> {
    fn name(&self) -> &str {
        self.going_on.name()
    }
    fn interests(&self) -> Interests {
        self.going_on.interests()
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn memory_afterwards(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        self.anew = (self.make)();
        self.told.clear();
        self.going_on.on_execution_begin(execution);
        self.anew.on_execution_begin(execution);
    }
    fn on_memory_again(&mut self, memory: &[MemoryEvent], same: usize, cx: &mut Context<'_>) {
        if self.told.is_empty() {
            let (before, events) = &self.before;
            let needed = same.checked_sub(1).map_or(0, |last| memory[last].events);
            if before.get(..same) != Some(&memory[..same])
                || events.get(..needed) != Some(&cx.accesses()[..needed])
            {
                let wrong = format!("{same} events were not the same: {before:?} and now {memory:?}");
                self.seen.lock().unwrap().wrong.push(wrong);
            }
            self.seen.lock().unwrap().went_on += u64::from(same > 0);
        }
        self.told.extend_from_slice(memory);
        self.call(cx, |monitor, goes_on, cx| match goes_on {
            true => monitor.on_memory_again(memory, same, cx),
            false => monitor.on_memory(memory, cx),
        });
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        self.call(cx, |monitor, _, cx| monitor.on_execution_end(execution, cx));
        self.before = (std::mem::take(&mut self.told), execution.accesses.to_vec());
        let [going_on, anew] = std::mem::take(&mut self.reports);
        let mut seen = self.seen.lock().unwrap();
        seen.executions += 1;
        seen.reporting += u64::from(!anew.is_empty());
        if going_on != anew {
            seen.wrong
                .push(format!("it reported {going_on:#?}, and should have {anew:#?}"));
        }
        going_on.into_iter().for_each(|report| cx.report(report));
    }
}

/// Explores a program in all ways.
fn compare(seen: &Arc<Mutex<Seen>>, program: Arc<dyn Fn() + Send + Sync>) {
    for search in SEARCHES {
        let mut settings = Settings::default();
        let defaults = [("executions", "60"), ("keep_going", "true"), ("monitors", "none")];
        for (key, value) in defaults.iter().chain(search) {
            settings.set(key, value).unwrap();
        }
        let explorer = |executions: Option<u64>| {
            let mut settings = settings.clone();
            settings.executions = executions.or(settings.executions);
            let (races, leaks) = (seen.clone(), seen.clone());
            let explorer = Explorer::with_settings(settings).program("again");
            let explorer = explorer.monitor_with(move || Both::new(DataRaces::new, races.clone()));
            explorer.monitor_with(move || Both::new(Leaks::new, leaks.clone()))
        };
        let report = explorer(None).explore(|| program());
        if let Some(finding) = report.findings().first() {
            explorer(None)
                .replay(finding.schedule.clone())
                .explore(|| program());
        }
        let file = std::env::temp_dir().join(format!("again-{}", std::process::id()));
        for executions in [20, 60] {
            let explorer = explorer(Some(executions)).checkpoint(&file);
            // Not every search can be kept.
            let _report = explorer.try_explore(|| program());
        }
        let _nothing_there = std::fs::remove_file(&file);
        let wrong = std::mem::take(&mut seen.lock().unwrap().wrong);
        assert!(wrong.is_empty(), "{search:?}: {wrong:#?}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the harness shows it when asked to")]
fn monitors_that_go_on_report_the_same() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut programs: Vec<Program> = Vec::new();
    while programs.len() < PROGRAMS as usize {
        programs.extend(Draw::new(&mut rng).program(5));
    }
    for program in programs {
        compare(&seen, Arc::new(move || execute(&program)));
    }
    for number in 0..PROGRAMS {
        let families = [blocks::Family::Memory, blocks::Family::Mixed];
        let program = blocks::draw(&mut rng, families[(number % 2) as usize]);
        compare(&seen, Arc::new(move || blocks::run(&program)));
    }
    let Seen {
        executions,
        went_on,
        reporting,
        ..
    } = &*seen.lock().unwrap();
    println!("{executions} executions, {went_on} went on from the one before, {reporting} with reports");
    assert!(2 * went_on > *executions && 4 * reporting > *executions);
}
