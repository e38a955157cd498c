//! Random small objects of atomics, each compared with brute force.
//!
//! All executions of a scenario are run without a reduction. Happens-before is worked out as the standard defines it, by
//! graph search, from the stores that operations read. Each history is judged by trying every order of its operations on a
//! plain array. With each reduction, the harness must give the same verdict and count the same histories.
//!
//! `MODELLED_PROGRAMS` sets the number of programs, `MODELLED_SEED` the first seed.

use crate::weak;
use intermezzo_explorer::sync::atomic::{AtomicU8, Ordering, Ordering::*, fence};
use intermezzo_explorer::{Explorer, Reduction, Verdict, event, thread};
use intermezzo_refinement::{Refinement, RefinementReport, Same, refine};
use intermezzo_sdk::{
    Context, EventId, Execution, Interests, MemoryOrder, Monitor, SyncVarAccess, SyncVarOp, UserEvent,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

type Random = Xoshiro256PlusPlus;

/// Variables of an object.
const VARS: usize = 2;

/// The most executions of a scenario; a program that has more is left out.
const EXECUTIONS: u64 = 6_000;

/// A step of an operation.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(usize, Ordering),
    Store(usize, u8, Ordering),
    /// Stores one more than was read last.
    StoreNext(usize, Ordering),
    Add(usize, Ordering),
    Exchange(usize, u8, u8, Ordering, Ordering),
    Fence(Ordering),
    /// Leaves the rest out if 0 was read last.
    EndIfZero,
}

/// The steps of an operation, which returns what it read.
type Code = Vec<Step>;

/// The memory on which operations run.
trait Memory {
    fn load(&mut self, var: usize, order: Ordering) -> u8;
    fn store(&mut self, var: usize, value: u8, order: Ordering);
    fn add(&mut self, var: usize, order: Ordering) -> u8;
    fn exchange(&mut self, var: usize, old: u8, new: u8, orders: (Ordering, Ordering)) -> u8;
    fn fence(&mut self, order: Ordering);
}

fn run(code: &[Step], memory: &mut impl Memory) -> Vec<u8> {
    let mut read = Vec::new();
    for step in code {
        match *step {
            Step::Load(var, order) => read.push(memory.load(var, order)),
            Step::Store(var, value, order) => memory.store(var, value, order),
            Step::StoreNext(var, order) => {
                let value = read.last().map_or(1, |last| last + 1);
                memory.store(var, value, order);
            }
            Step::Add(var, order) => read.push(memory.add(var, order)),
            Step::Exchange(var, old, new, success, failure) => {
                read.push(memory.exchange(var, old, new, (success, failure)));
            }
            Step::Fence(order) => memory.fence(order),
            Step::EndIfZero if read.last() == Some(&0) => break,
            Step::EndIfZero => {}
        }
    }
    read
}

struct Atomics([AtomicU8; VARS]);

impl Memory for &Atomics {
    fn load(&mut self, var: usize, order: Ordering) -> u8 {
        self.0[var].load(order)
    }
    fn store(&mut self, var: usize, value: u8, order: Ordering) {
        self.0[var].store(value, order);
    }
    fn add(&mut self, var: usize, order: Ordering) -> u8 {
        self.0[var].fetch_add(1, order)
    }
    fn exchange(&mut self, var: usize, old: u8, new: u8, orders: (Ordering, Ordering)) -> u8 {
        let exchanged = self.0[var].compare_exchange(old, new, orders.0, orders.1);
        exchanged.unwrap_or_else(|found| found)
    }
    fn fence(&mut self, order: Ordering) {
        fence(order);
    }
}

/// The model's state.
type Plain = [u8; VARS];

impl Memory for Plain {
    fn load(&mut self, var: usize, _: Ordering) -> u8 {
        self[var]
    }
    fn store(&mut self, var: usize, value: u8, _: Ordering) {
        self[var] = value;
    }
    fn add(&mut self, var: usize, _: Ordering) -> u8 {
        self[var] += 1;
        self[var] - 1
    }
    fn exchange(&mut self, var: usize, old: u8, new: u8, _: (Ordering, Ordering)) -> u8 {
        let found = self[var];
        if found == old {
            self[var] = new;
        }
        found
    }
    fn fence(&mut self, _: Ordering) {}
}

/// An object's operations, and those of a scenario, by number.
#[derive(Clone, Debug)]
struct Program {
    codes: Vec<Code>,
    init: Vec<usize>,
    tasks: Vec<Vec<usize>>,
    post: Vec<usize>,
}

fn random_step(random: &mut Random, strong: bool) -> Step {
    let var = random.random_range(0..VARS);
    let mut pick = |weak: Ordering, middle: Ordering| match random.random_range(0..6) {
        0 => SeqCst,
        1 | 2 if !strong => weak,
        _ => middle,
    };
    let (load, store, change) = (
        pick(Relaxed, Acquire),
        pick(Relaxed, Release),
        pick(Relaxed, AcqRel),
    );
    match random.random_range(0..12) {
        0..4 => Step::Load(var, load),
        4..6 => Step::Store(var, random.random_range(1..3), store),
        6 => Step::StoreNext(var, store),
        7 | 8 => Step::Add(var, change),
        9 => Step::Exchange(
            var,
            random.random_range(0..2),
            random.random_range(1..4),
            change,
            load,
        ),
        10 => Step::Fence([Acquire, Release, AcqRel, SeqCst][random.random_range(0..4)]),
        _ => Step::EndIfZero,
    }
}

impl Program {
    fn random(random: &mut Random) -> Program {
        let strong = random.random_bool(0.3);
        let codes: Vec<Code> = (0..3)
            .map(|_| {
                let length = random.random_range(1..=3);
                (0..length).map(|_| random_step(random, strong)).collect()
            })
            .collect();
        let some = |most: usize, random: &mut Random| -> Vec<usize> {
            let count = random.random_range(0..=most);
            (0..count).map(|_| random.random_range(0..codes.len())).collect()
        };
        let init = some(1, random);
        let post = some(1, random);
        let tasks = match random.random_range(0..4) {
            0 => (0..3).map(|_| vec![random.random_range(0..3)]).collect(),
            _ => (0..2)
                .map(|_| {
                    let count = random.random_range(1..=2);
                    (0..count).map(|_| random.random_range(0..3)).collect()
                })
                .collect(),
        };
        Program {
            codes,
            init,
            tasks,
            post,
        }
    }

    /// Returns the operation at each place, its task from 1, and the phase.
    fn places(&self) -> Vec<(usize, usize, u8)> {
        let init = self.init.iter().map(|&code| (code, 0, 0));
        let tasks = self.tasks.iter().zip(1..);
        let tasks = tasks.flat_map(|(codes, task)| codes.iter().map(move |&code| (code, task, 1)));
        let post = self.post.iter().map(|&code| (code, 0, 2));
        init.chain(tasks).chain(post).collect()
    }

    /// Runs the scenario, and says when each operation begins and ends.
    fn perform(&self) {
        let object = Atomics(std::array::from_fn(|_| AtomicU8::new(0)));
        let perform = |place: usize, code: usize| {
            event(&format!("call {place}"));
            let returned = run(&self.codes[code], &mut &object);
            let returned: Vec<String> = returned.iter().map(u8::to_string).collect();
            event(&format!("return {place} {}", returned.join(" ")));
        };
        let mut place = 0;
        for &code in &self.init {
            perform(place, code);
            place += 1;
        }
        thread::scope(|scope| {
            for codes in &self.tasks {
                let (first, perform) = (place, &perform);
                scope.spawn(move || {
                    (first..)
                        .zip(codes)
                        .for_each(|(place, &code)| perform(place, code))
                });
                place += codes.len();
            }
        });
        for &code in &self.post {
            perform(place, code);
            place += 1;
        }
    }
}

/// The events around an operation, and its result.
#[derive(Clone, Default)]
struct Operation {
    called_after: Option<EventId>,
    returned_after: Option<EventId>,
    returned: Vec<u8>,
}

/// The results of operations by place, and whether one returns before another is called.
type History = (Vec<Vec<u8>>, Vec<Vec<bool>>);

/// Collects the histories of all complete executions.
struct Collector {
    operations: Vec<Operation>,
    histories: Arc<Mutex<BTreeSet<History>>>,
}

impl Monitor for Collector {
    fn name(&self) -> &str {
        "collector"
    }
    fn interests(&self) -> Interests {
        Interests::USER_EVENTS
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn follows_stale_reads(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.operations.fill(Operation::default());
    }
    fn on_user_event(&mut self, event: &UserEvent<'_>, _: &mut Context<'_>) {
        let mut words = event.text.split_whitespace();
        let what = words.next();
        let mut numbers = words.map(|word| word.parse::<usize>().unwrap());
        let operation = &mut self.operations[numbers.next().unwrap()];
        match what {
            Some("call") => operation.called_after = Some(event.after),
            _ => {
                operation.returned_after = Some(event.after);
                operation.returned = numbers.map(|number| number as u8).collect();
            }
        }
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, _: &mut Context<'_>) {
        if !execution.complete {
            return;
        }
        let known = Known::of(execution.accesses);
        let returned = self.operations.iter().map(|operation| operation.returned.clone());
        let places = 0..self.operations.len();
        let precedes = |a: usize, b: usize| {
            let (end, begin) = (self.operations[a].returned_after, self.operations[b].called_after);
            let (Some(end), Some(begin)) = (end, begin) else {
                return false;
            };
            match end.task == begin.task {
                // There may be no event in between, or none at all.
                true => a < b && end.index <= begin.index,
                // Something after the return is known at the call.
                false => known.last(begin, end.task.0) > end.index,
            }
        };
        let row = |a| places.clone().map(|b| precedes(a, b)).collect();
        let order = places.clone().map(row).collect();
        self.histories.lock().unwrap().insert((returned.collect(), order));
    }
}

/// The events that happen before each.
struct Known {
    numbers: BTreeMap<EventId, usize>,
    /// For each event those before it and itself.
    sets: Vec<BTreeSet<EventId>>,
}

fn releases(order: MemoryOrder) -> bool {
    matches!(
        order,
        MemoryOrder::Release | MemoryOrder::AcqRel | MemoryOrder::SeqCst
    )
}

fn acquires(order: MemoryOrder) -> bool {
    matches!(
        order,
        MemoryOrder::Acquire | MemoryOrder::AcqRel | MemoryOrder::SeqCst
    )
}

impl Known {
    fn of(accesses: &[SyncVarAccess]) -> Known {
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); accesses.len()];
        let all = || accesses.iter().enumerate();
        let in_task = |task: u32| all().filter(move |(_, access)| access.event.task.0 == task);
        let stores = |var| {
            let writes = [SyncVarOp::AtomicStore, SyncVarOp::AtomicRmw];
            all().filter(move |(_, access)| access.var == var && writes.contains(&access.op))
        };
        for (at, access) in all() {
            // Program order.
            let before = in_task(access.event.task.0).rfind(|(earlier, _)| *earlier < at);
            edges[at].extend(before.map(|(earlier, _)| earlier));
            match access.op {
                SyncVarOp::TaskFork => {
                    let first = in_task(access.read as u32).next();
                    edges[first.unwrap().0].push(at);
                }
                SyncVarOp::TaskJoin => {
                    let last = in_task(access.read as u32).next_back();
                    edges[at].push(last.unwrap().0);
                }
                SyncVarOp::AtomicLoad | SyncVarOp::AtomicRmw | SyncVarOp::AtomicRmwFailed => {
                    // The heads of the release sequences that the store is in: itself, and what a read-modify-write read.
                    let mut sources = Vec::new();
                    let mut store = access.store;
                    while store > 1 {
                        let (head, written) = stores(access.var).nth(store as usize - 2).unwrap();
                        let fences = in_task(written.event.task.0)
                            .filter(|(fence, _)| *fence < head)
                            .filter(|(_, access)| access.op == SyncVarOp::Fence && releases(access.order));
                        sources.extend(fences.map(|(fence, _)| fence));
                        if releases(written.order) {
                            sources.push(head);
                        }
                        store = match written.op {
                            SyncVarOp::AtomicRmw => written.store,
                            _ => 0,
                        };
                    }
                    let fences = in_task(access.event.task.0)
                        .filter(|(fence, _)| *fence > at)
                        .filter(|(_, access)| access.op == SyncVarOp::Fence && acquires(access.order));
                    let targets = fences.map(|(fence, _)| fence);
                    let itself = acquires(access.order).then_some(at);
                    for target in targets.chain(itself) {
                        edges[target].extend(&sources);
                    }
                }
                _ => {}
            }
        }
        let mut sets: Vec<BTreeSet<EventId>> = Vec::new();
        for (at, access) in all() {
            let mut set = BTreeSet::from([access.event]);
            edges[at].iter().for_each(|&before| set.extend(&sets[before]));
            sets.push(set);
        }
        Known {
            numbers: all().map(|(at, access)| (access.event, at)).collect(),
            sets,
        }
    }

    /// Returns the index of the last event of a task that happens before this one.
    fn last(&self, event: EventId, task: u32) -> u32 {
        let known = self.sets[self.numbers[&event]].iter();
        let indexes = known
            .filter(|known| known.task.0 == task)
            .map(|known| known.index);
        indexes.max().unwrap_or(0)
    }
}

/// The object's standard in a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Itself,
    OnDemand,
    Model,
    /// A model, and the first operation may be late.
    LateModel,
}

/// Returns the histories of a program; `None` if it has too many executions.
fn histories(program: &Program) -> Option<BTreeSet<History>> {
    let histories = Arc::new(Mutex::new(BTreeSet::new()));
    let collector = Collector {
        operations: vec![Operation::default(); program.places().len()],
        histories: Arc::clone(&histories),
    };
    let report = weak(2)(Explorer::new())
        .executions(EXECUTIONS)
        .monitors("none")
        .monitor(collector)
        .explore(|| program.perform());
    assert!(report.findings().is_empty(), "{report}");
    let histories = std::mem::take(&mut *histories.lock().unwrap());
    (report.executions() < EXECUTIONS).then_some(histories)
}

/// `true` if some order of the operations explains a history.
fn is_explained(program: &Program, (returned, precedes): &History, same: Same, by: By) -> bool {
    let places = program.places();
    let in_program = |a: usize, b: usize| {
        let ((_, first, phase), (_, second, later)) = (places[a], places[b]);
        phase < later || phase == later && first == second && a < b
    };
    // Some set of operations with `a` and without `b` comes before all others.
    let is_apart = |a: usize, b: usize| {
        (0u32..1 << places.len()).any(|first| {
            let is_first = |place: usize| first >> place & 1 == 1;
            let all = || 0..places.len();
            let is_side = all().all(|d| !is_first(d) || all().all(|u| is_first(u) || precedes[d][u]));
            is_first(a) && !is_first(b) && is_side
        })
    };
    let is_late = |place: usize| by == By::LateModel && places[place].0 == 0;
    let is_model = matches!(by, By::Model | By::LateModel);
    let comes_before = |a: usize, b: usize| {
        let has_to = match same {
            Same::Linearizable => precedes[a][b] || in_program(a, b),
            Same::Sequential => in_program(a, b),
            Same::Quiescent if is_model => is_apart(a, b),
            Same::Quiescent => is_apart(a, b) || in_program(a, b),
        };
        a != b && has_to && !is_late(a)
    };
    fn follows(
        program: &Program,
        comes_before: &dyn Fn(usize, usize) -> bool,
        returned: &[Vec<u8>],
        left: &[usize],
        state: Plain,
    ) -> bool {
        left.is_empty()
            || left.iter().any(|&next| {
                if left.iter().any(|&other| comes_before(other, next)) {
                    return false;
                }
                let mut state = state;
                let code = &program.codes[program.places()[next].0];
                let left: Vec<usize> = left.iter().copied().filter(|&other| other != next).collect();
                run(code, &mut state) == returned[next]
                    && follows(program, comes_before, returned, &left, state)
            })
    }
    let all: Vec<usize> = (0..places.len()).collect();
    follows(program, &comes_before, returned, &all, [0; VARS])
}

/// Describes the program to the harness.
fn described(program: &Program, same: Same, by: By, reduction: Reduction) -> Refinement<Atomics> {
    let mut test = refine(|| Atomics(std::array::from_fn(|_| AtomicU8::new(0))));
    for (code, number) in program.codes.iter().zip(0..) {
        let code = code.clone();
        test = test.op(&format!("op{number}"), (), move |mut object: &Atomics, ()| {
            run(&code, &mut object)
        });
    }
    let name = |code: usize| format!("op{code}");
    test.pin(|mut scenario| {
        for &code in &program.init {
            scenario = scenario.init(&name(code), ());
        }
        for codes in &program.tasks {
            scenario = scenario.task(|task| codes.iter().fold(task, |task, &code| task.op(&name(code), ())));
        }
        program
            .post
            .iter()
            .fold(scenario, |scenario, &code| scenario.post(&name(code), ()))
    })
    .scenarios(0)
    .same(same)
    .orders(if by == By::OnDemand { 0 } else { 10_000 })
    .executions(EXECUTIONS)
    .monitors("none")
    .explorer(move |explorer| {
        let explorer = weak(2)(explorer).reduction(reduction);
        explorer.keep_going(true).minimise(0)
    })
}

fn checked(program: &Program, same: Same, by: By, reduction: Reduction) -> RefinementReport {
    let test = described(program, same, by, reduction);
    if matches!(by, By::Itself | By::OnDemand) {
        return test.run();
    }
    let test = match by {
        By::LateModel => test.late("op0"),
        _ => test,
    };
    let mut test = test.spec(|| [0; VARS]);
    for (code, number) in program.codes.iter().zip(0..) {
        let code = code.clone();
        test = test.means(&format!("op{number}"), move |state: &mut Plain, (): &()| {
            run(&code, state)
        });
    }
    test.run()
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn every_reduction_judges_as_brute_force_does() {
    let seed = number("MODELLED_SEED", 1);
    let (mut passed, mut failed, mut most) = (0, 0, 0);
    let mut ordered = 0;
    for at in 0..number("MODELLED_PROGRAMS", 120) {
        let mut random = Random::seed_from_u64(seed * 1_000_000 + at);
        let program = Program::random(&mut random);
        let same = [Same::Linearizable, Same::Sequential, Same::Quiescent][random.random_range(0..3)];
        let by = [By::Itself, By::OnDemand, By::Model, By::LateModel][random.random_range(0..4)];
        let Some(histories) = histories(&program) else {
            continue;
        };
        most = most.max(histories.len());
        let across = |(_, order): &History| {
            let places = program.places();
            let pairs = (0..places.len()).flat_map(|a| (0..places.len()).map(move |b| (a, b)));
            let mut pairs = pairs.filter(|&(a, b)| places[a].1 > 0 && places[b].1 > 0);
            pairs.any(|(a, b)| places[a].1 != places[b].1 && order[a][b])
        };
        ordered += usize::from(histories.iter().any(across));
        let allowed = |history: &History| is_explained(&program, history, same, by);
        let verdict = match histories.iter().all(allowed) {
            true => Verdict::Pass,
            false => Verdict::Fail,
        };
        match verdict {
            Verdict::Pass => passed += 1,
            _ => failed += 1,
        }
        for reduction in [
            Reduction::None,
            Reduction::Caching,
            Reduction::SourceDpor,
            Reduction::Dpor,
        ] {
            let report = checked(&program, same, by, reduction);
            assert_eq!(
                (report.verdict(), report.histories),
                (verdict, histories.len() as u64),
                "seed {seed}, program {at}, {same:?}, {by:?}, {reduction:?}: {program:?}\n{report}"
            );
        }
    }
    assert!(
        passed > 20 && failed > 20 && ordered > 5,
        "{passed} passed, {failed} failed; {ordered} with an order across tasks; at most {most} histories"
    );
}
