//! Monitors that continue from the previous execution report the same as monitors that start over, and as monitors that
//! receive each access separately: execution by execution, for all strategies.

use crate::noting::Overheard;
use crate::program::{Draw, Program};
use crate::run::execute;
use crate::{SEED, blocks};
use intermezzo::monitors::{DataRaces, Leaks};
use intermezzo::sdk::{
    Context, EventId, Execution, Host, Interests, Location, MemoryDeed, MemoryEvent, Monitor, MonitorFinding,
    SiteId, SyncVar, SyncVarAccess, TaskId, VectorClock,
};
use intermezzo::{Explorer, Settings};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::{Arc, Mutex};

/// The number of random programs of each kind. Each is explored with all of `SEARCHES`.
const PROGRAMS: u64 = if cfg!(debug_assertions) { 5 } else { 50 };

/// The settings that decide which executions are run.
const SEARCHES: [&[(&str, &str)]; 16] = [
    &[("strategy", "dfs"), ("reduction", "none")],
    &[("strategy", "dfs"), ("reduction", "caching")],
    &[("strategy", "dfs"), ("reduction", "dpor")],
    &[("strategy", "dfs"), ("reduction", "dpor"), ("jobs", "2")],
    &[("strategy", "dfs"), ("reduction", "none"), ("preemptions", "1")],
    &[("strategy", "dfs"), ("data_points", "races")],
    &[("strategy", "dfs(delays=none)")],
    &[("strategy", "best-first")],
    &[("strategy", "ranked"), ("preemptions", "2")],
    &[("strategy", "maple")],
    &[("strategy", "auto")],
    &[("strategy", "auto"), ("keep_going", "false"), ("minimise", "100")],
    &[("strategy", "random")],
    &[("strategy", "pct(3)")],
    &[("strategy", "portfolio(surw,pos)")],
    &[("strategy", "auto"), ("executions", "1000")],
];

/// The counts of the comparison, and the errors.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    executions: u64,
    /// The executions that could continue from the previous one, and those with a report.
    went_on: u64,
    reporting: u64,
    wrong: Vec<String>,
}

/// The state of the engine after a number of visible operations. Reports are collected.
struct Then<'a, 'b>(Overheard<'a, 'b>, usize);

impl Host for Then<'_, '_> {
    fn report(&mut self, report: MonitorFinding) {
        self.0.report(report);
    }
    fn task_name(&self, task: TaskId) -> String {
        self.0.task_name(task)
    }
    fn var_name(&self, var: SyncVar) -> String {
        self.0.var_name(var)
    }
    fn location_name(&self, location: Location) -> String {
        self.0.location_name(location)
    }
    fn site_name(&self, site: SiteId) -> String {
        self.0.site_name(site)
    }
    fn accesses(&self) -> &[SyncVarAccess] {
        &self.0.accesses()[..self.1]
    }
    fn enabled(&self) -> Vec<TaskId> {
        self.0.enabled()
    }
    fn disabled(&self) -> Vec<TaskId> {
        self.0.disabled()
    }
    fn enabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.0.enabled_at(step)
    }
    fn disabled_at(&self, step: usize) -> Option<Vec<TaskId>> {
        self.0.disabled_at(step)
    }
    fn happens_before(&mut self, a: EventId, b: EventId) -> bool {
        self.0.happens_before(a, b)
    }
    fn clock(&mut self, event: EventId) -> Option<&VectorClock> {
        self.0.clock(event)
    }
}

/// A monitor that continues, and for each execution one that starts over and one that receives each access separately.
struct Three<M> {
    make: fn() -> M,
    going_on: M,
    afresh: M,
    one_by_one: M,
    /// The reports of the monitor that continues, and of the others.
    reports: [Vec<MonitorFinding>; 3],
    /// The previous execution, and the memory events of the current one.
    before: (Vec<MemoryEvent>, Vec<SyncVarAccess>),
    told: Vec<MemoryEvent>,
    /// The number of calls, and `true` if the last was divided.
    executions: usize,
    was_cut: bool,
    seen: Arc<Mutex<Seen>>,
}

impl<M: Monitor> Three<M> {
    fn new(make: fn() -> M, seen: Arc<Mutex<Seen>>) -> Three<M> {
        Three {
            make,
            going_on: make(),
            afresh: make(),
            one_by_one: make(),
            reports: Default::default(),
            before: Default::default(),
            told: Vec::new(),
            executions: 0,
            was_cut: false,
            seen,
        }
    }

    /// Passes memory events to the third monitor.
    fn tell_one_by_one(&mut self, memory: &[MemoryEvent], cx: &mut Context<'_>) {
        for event in memory {
            let mut then = Then(Overheard(cx, &mut self.reports[2]), event.events);
            let cx = &mut Context::new(&mut then);
            match &event.what {
                MemoryDeed::Access(access) => self.one_by_one.on_data_var_access(access, cx),
                MemoryDeed::Allocation(allocation) => self.one_by_one.on_allocation(allocation, cx),
                MemoryDeed::Release(release) => self.one_by_one.on_release(release, cx),
            }
        }
    }
}

impl<M: Monitor> Monitor for Three<M> {
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
        (self.afresh, self.one_by_one) = ((self.make)(), (self.make)());
        self.told.clear();
        for monitor in [&mut self.going_on, &mut self.afresh, &mut self.one_by_one] {
            monitor.on_execution_begin(execution);
        }
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
        let [going_on, afresh, _] = &mut self.reports;
        self.executions += 1;
        // Sometimes in two calls, as if there were more events than fit into one.
        let cut = self.executions * 7 % (memory.len() + 1);
        let same = if std::mem::take(&mut self.was_cut) {
            0
        } else {
            same
        };
        self.was_cut = self.executions.is_multiple_of(4);
        let pieces = match self.was_cut {
            true => vec![(&memory[..cut], same.min(cut)), (&memory[cut..], 0)],
            false => vec![(memory, same)],
        };
        for (memory, same) in pieces {
            let goes_on = &mut Overheard(cx, going_on);
            self.going_on
                .on_memory_again(memory, same, &mut Context::new(goes_on));
        }
        for memory in [&memory[..cut], &memory[cut..]] {
            self.afresh
                .on_memory(memory, &mut Context::new(&mut Overheard(cx, afresh)));
        }
        self.tell_one_by_one(memory, cx);
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let all = [&mut self.going_on, &mut self.afresh, &mut self.one_by_one];
        for (monitor, reports) in all.into_iter().zip(&mut self.reports) {
            monitor.on_execution_end(execution, &mut Context::new(&mut Overheard(cx, reports)));
        }
        self.before = (std::mem::take(&mut self.told), execution.accesses.to_vec());
        let [going_on, afresh, one_by_one] = std::mem::take(&mut self.reports);
        let mut seen = self.seen.lock().unwrap();
        seen.executions += 1;
        seen.reporting += u64::from(!afresh.is_empty());
        if going_on != one_by_one || afresh != one_by_one {
            seen.wrong.push(format!(
                "it reported {going_on:#?} going on, and {afresh:#?} afresh, and should have {one_by_one:#?}"
            ));
        }
        going_on.into_iter().for_each(|report| cx.report(report));
    }
}

/// Explores a program with all searches.
fn compare(seen: &Arc<Mutex<Seen>>, program: Arc<dyn Fn() + Send + Sync>) {
    compare_in(&SEARCHES, seen, program);
}

/// Explores a program with these searches.
pub(crate) fn compare_in(
    searches: &[&[(&str, &str)]],
    seen: &Arc<Mutex<Seen>>,
    program: Arc<dyn Fn() + Send + Sync>,
) {
    for search in searches {
        let mut settings = Settings::default();
        let defaults = [
            ("executions", "60"),
            ("keep_going", "true"),
            ("minimise", "0"),
            ("monitors", "none"),
        ];
        for (key, value) in defaults.iter().chain(*search) {
            settings.set(key, value).unwrap();
        }
        let explorer = |executions: Option<u64>| {
            let mut settings = settings.clone();
            settings.executions = executions.or(settings.executions);
            let (races, leaks) = (seen.clone(), seen.clone());
            let explorer = Explorer::with_settings(settings).program("again");
            let explorer = explorer.monitor_with(move || Three::new(DataRaces::new, races.clone()));
            explorer.monitor_with(move || Three::new(Leaks::new, leaks.clone()))
        };
        let report = explorer(None).explore(|| program());
        if let Some(finding) = report.findings().first() {
            explorer(None)
                .replay(finding.schedule.clone())
                .explore(|| program());
        }
        let thread = std::thread::current().id();
        let file = std::env::temp_dir().join(format!("again-{}-{thread:?}", std::process::id()));
        let most = settings.executions.map_or(60, |most| most.min(60));
        for executions in [most / 3, most] {
            let explorer = explorer(Some(executions)).checkpoint(&file);
            // Not every search can be saved.
            let _report = explorer.try_explore(|| program());
        }
        let _nothing_there = std::fs::remove_file(&file);
        let wrong = std::mem::take(&mut seen.lock().unwrap().wrong);
        assert!(wrong.is_empty(), "{search:?}: {wrong:#?}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the harness shows it when asked to")]
fn monitors_that_continue_report_the_same() {
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
