//! The outcomes of small programs under the memory model of C++20, which is Rust's, by brute force.
//!
//! The order of what is `SeqCst` is that of the standard, [atomics.order]. All else is as in Lahav, Vafeiadis, Kang, Hur and
//! Dreyer, "Repairing Sequential Consistency in C/C++11" (PLDI 2017). `cpp20` has it in that paper's notation, evaluated
//! from nothing for each candidate execution. It is meant to be read next to them, not to be fast.
//!
//! Differs from the paper in three ways:
//!
//! - A release sequence is a store, continued by read-modify-writes only. The paper's also has later stores of the same
//!   thread (`sb|loc?`).
//! - `SeqCst` operations are ordered by all of `eco`, where the paper has single steps of `mo` and `rb`.
//! - A read-modify-write is one event that reads and writes. The paper has two events, ordered by `rmw`.
//!   See `is_atomic` for the axiom.
//!
//! Differs from the standard: executions with a cycle in `sb ∪ rf` are forbidden, as in the paper.
//!
//! Misses: non-atomic accesses and their races, branches, and weak compare-exchanges.

use std::collections::BTreeSet;
use std::ops::{BitAnd, BitOr, Sub};

/// A memory ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// An atomic operation, with an ordering that Rust allows for it. Variables are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Load(usize, Order),
    Store(usize, u32, Order),
    /// `fetch_add`, which wraps around. It reads the value before.
    Add(usize, u32, Order),
    /// `compare_exchange`, which never fails spuriously. It reads the value before.
    Exchange {
        var: usize,
        expected: u32,
        new: u32,
        success: Order,
        failure: Order,
    },
    Fence(Order),
}

/// The operations of each thread. All variables are 0 before the threads begin.
pub(super) type Program = Vec<Vec<Op>>;

/// The result of one execution.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Outcome {
    /// The values read by each thread, in program order.
    pub(super) reads: Vec<Vec<u32>>,
    /// The value of each variable's last store in modification order.
    pub(super) last: Vec<u32>,
}

/// A memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Model {
    /// Sequential consistency: the interleavings of the threads.
    Sc,
    /// That of C++20.
    Cpp20,
}

/// Returns every outcome that the model allows. It panics if there are more than 32 operations and variables.
pub(super) fn outcomes(program: &Program, variables: usize, model: Model) -> BTreeSet<Outcome> {
    match model {
        Model::Sc => interleavings(program, variables),
        Model::Cpp20 => outcomes_by(program, variables, cpp20),
    }
}

/// Returns the outcomes of the candidate executions that `allows` accepts.
pub(super) fn outcomes_by(
    program: &Program,
    variables: usize,
    allows: fn(&Execution) -> bool,
) -> BTreeSet<Outcome> {
    let mut found = BTreeSet::new();
    candidates(program, variables, &mut |execution| {
        if allows(execution) {
            found.insert(execution.outcome(program.len(), variables));
        }
    });
    found
}

impl Op {
    /// Returns the variable that the operation accesses. A fence accesses none.
    pub(super) fn var(self) -> Option<usize> {
        match self {
            Op::Load(var, _) | Op::Store(var, ..) | Op::Add(var, ..) | Op::Exchange { var, .. } => Some(var),
            Op::Fence(_) => None,
        }
    }

    /// Returns the value read and the value written, if the variable has the value `before`.
    fn effect(self, before: u32) -> (Option<u32>, Option<u32>) {
        match self {
            Op::Load(..) => (Some(before), None),
            Op::Store(_, value, _) => (None, Some(value)),
            Op::Add(_, added, _) => (Some(before), Some(before.wrapping_add(added))),
            Op::Exchange { expected, new, .. } => (Some(before), (before == expected).then_some(new)),
            Op::Fence(_) => (None, None),
        }
    }
}

/// Returns the outcomes of all interleavings of the threads. Orderings make no difference.
fn interleavings(program: &Program, variables: usize) -> BTreeSet<Outcome> {
    let (reads, last) = (vec![Vec::new(); program.len()], vec![0; variables]);
    // A state is the index of each thread's next operation, and the outcome so far.
    let start = (vec![0; program.len()], Outcome { reads, last });
    let (mut seen, mut found) = (BTreeSet::from([start.clone()]), BTreeSet::new());
    let mut waiting = vec![start];
    while let Some(state) = waiting.pop() {
        let unfinished = (0..program.len()).filter(|&thread| state.0[thread] < program[thread].len());
        for thread in unfinished.clone() {
            let (mut next, mut outcome) = state.clone();
            let op = program[thread][next[thread]];
            next[thread] += 1;
            if let Some(var) = op.var() {
                let (read, written) = op.effect(outcome.last[var]);
                outcome.reads[thread].extend(read);
                outcome.last[var] = written.unwrap_or(outcome.last[var]);
            }
            if seen.insert((next.clone(), outcome.clone())) {
                waiting.push((next, outcome));
            }
        }
        if unfinished.count() == 0 {
            found.insert(state.1);
        }
    }
    found
}

/// The most events of an execution: the number of bits in a row of a relation.
const EVENTS_MAX: usize = 32;

/// A relation on events: bit `b` of row `a` is set if `a` is related to `b`.
///
/// `|`, `&` and `-` are those of sets of pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Relation([u32; EVENTS_MAX]);

impl Relation {
    /// Returns the pairs of the first `count` events that `has` accepts.
    fn new(count: usize, has: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |a| (0..count).filter(|&b| has(a, b)).fold(0, |row, b| row | 1 << b);
        Relation(std::array::from_fn(|a| if a < count { row(a) } else { 0 }))
    }

    fn has(self, a: usize, b: usize) -> bool {
        self.0[a] & (1 << b) != 0
    }

    /// Returns the composition, which the paper writes `self; other`.
    fn then(self, other: Relation) -> Relation {
        let bits = |row: u32| (0..EVENTS_MAX).filter(move |b| row & (1 << b) != 0);
        Relation(self.0.map(|row| bits(row).fold(0, |found, b| found | other.0[b])))
    }

    /// Returns `self⁻¹`.
    fn inverse(self) -> Relation {
        Relation::new(EVENTS_MAX, |a, b| self.has(b, a))
    }

    /// Returns `self?`.
    fn optional(self) -> Relation {
        Relation(std::array::from_fn(|a| self.0[a] | 1 << a))
    }

    /// Returns `self⁺`.
    fn plus(self) -> Relation {
        let longer = self | self.then(self);
        if longer == self { self } else { longer.plus() }
    }

    fn is_irreflexive(self) -> bool {
        (0..EVENTS_MAX).all(|a| !self.has(a, a))
    }

    pub(super) fn is_acyclic(self) -> bool {
        self.plus().is_irreflexive()
    }
}

impl BitOr for Relation {
    type Output = Relation;
    fn bitor(self, other: Relation) -> Relation {
        Relation(std::array::from_fn(|a| self.0[a] | other.0[a]))
    }
}

impl BitAnd for Relation {
    type Output = Relation;
    fn bitand(self, other: Relation) -> Relation {
        Relation(std::array::from_fn(|a| self.0[a] & other.0[a]))
    }
}

impl Sub for Relation {
    type Output = Relation;
    fn sub(self, other: Relation) -> Relation {
        Relation(std::array::from_fn(|a| self.0[a] & !other.0[a]))
    }
}

/// A load, a store, a read-modify-write or a fence of an execution.
///
/// A compare-exchange that fails is a load. The initial stores are of no thread.
#[derive(Clone, Copy)]
struct Event {
    thread: Option<usize>,
    op: Op,
    read: Option<u32>,
    written: Option<u32>,
}

impl Event {
    fn new(thread: Option<usize>, op: Op) -> Event {
        Event {
            thread,
            op,
            read: None,
            written: None,
        }
    }

    /// Returns the ordering. An initial store is not atomic, and counts as relaxed.
    fn order(&self) -> Order {
        match self.op {
            Op::Load(_, order) | Op::Store(_, _, order) | Op::Add(_, _, order) | Op::Fence(order) => order,
            Op::Exchange { success, .. } if self.is_write() => success,
            Op::Exchange { failure, .. } => failure,
        }
    }

    fn is_read(&self) -> bool {
        self.read.is_some()
    }

    fn is_write(&self) -> bool {
        self.written.is_some()
    }

    fn is_rmw(&self) -> bool {
        self.is_read() && self.is_write()
    }

    fn is_fence(&self) -> bool {
        matches!(self.op, Op::Fence(_))
    }

    fn is_sc(&self) -> bool {
        self.order() == Order::SeqCst
    }

    /// `true` if the event is in `E ⊒ rel`. The write of an `Acquire` read-modify-write is relaxed.
    fn is_release(&self) -> bool {
        !matches!(self.order(), Order::Relaxed | Order::Acquire) && (self.is_write() || self.is_fence())
    }

    /// `true` if the event is in `E ⊒ acq`. The read of a `Release` read-modify-write is relaxed.
    fn is_acquire(&self) -> bool {
        !matches!(self.order(), Order::Relaxed | Order::Release) && (self.is_read() || self.is_fence())
    }
}

/// A candidate execution: events, and the relations that all others are made of.
pub(super) struct Execution {
    events: Vec<Event>,
    /// Pairs of accesses to the same variable.
    same_loc: Relation,
    /// Sequenced before: the program order. The initial stores come before all other events.
    pub(super) sb: Relation,
    /// Reads from: pairs of a store and a read of its value.
    pub(super) rf: Relation,
    /// Modification order, which is total on the stores of a variable.
    pub(super) mo: Relation,
}

impl Execution {
    /// Returns `[A]`, the identity on a set of events.
    fn on(&self, contains: impl Fn(&Event) -> bool) -> Relation {
        Relation::new(self.events.len(), |a, b| a == b && contains(&self.events[a]))
    }

    /// Returns reads-before: pairs of a read and a store that follows the one it reads from.
    pub(super) fn rb(&self) -> Relation {
        // A read-modify-write does not read before itself.
        self.rf.inverse().then(self.mo) - self.on(|_| true)
    }

    fn eco(&self) -> Relation {
        (self.rf | self.mo | self.rb()).plus()
    }

    /// Returns happens-before: `(sb ∪ sw)⁺`.
    fn hb(&self) -> Relation {
        (self.sb | self.sw()).plus()
    }

    /// Returns synchronizes-with.
    fn sw(&self) -> Relation {
        let (fence, rmw) = (self.on(Event::is_fence), self.on(Event::is_rmw));
        let (release, acquire) = (self.on(Event::is_release), self.on(Event::is_acquire));
        // rs = [W]; [W ⊒ rlx]; (rf; rmw)*
        let atomic_write = self.on(|event| event.is_write() && event.thread.is_some());
        let rs = atomic_write.then(self.rf.then(rmw).plus().optional());
        // sw = [E ⊒ rel]; ([F]; sb)?; rs; rf; [R ⊒ rlx]; (sb; [F])?; [E ⊒ acq]
        let from = release.then(fence.then(self.sb).optional());
        let to = self.sb.then(fence).optional().then(acquire);
        from.then(rs).then(self.rf).then(self.on(Event::is_read)).then(to)
    }

    fn outcome(&self, threads: usize, variables: usize) -> Outcome {
        let (mut reads, mut last) = (vec![Vec::new(); threads], vec![0; variables]);
        for (index, event) in self.events.iter().enumerate() {
            if let (Some(thread), Some(value)) = (event.thread, event.read) {
                reads[thread].push(value);
            }
            if let (Some(var), Some(value), 0) = (event.op.var(), event.written, self.mo.0[index]) {
                last[var] = value;
            }
        }
        Outcome { reads, last }
    }
}

/// `true` if C++20 allows the execution.
pub(super) fn cpp20(execution: &Execution) -> bool {
    let hb = execution.hb();
    is_not_thin_air(execution) && is_coherent(execution, hb) && is_atomic(execution) && is_sc(execution, hb)
}

/// NO-THIN-AIR: `sb ∪ rf` is acyclic.
fn is_not_thin_air(execution: &Execution) -> bool {
    (execution.sb | execution.rf).is_acyclic()
}

/// COHERENCE: `hb; eco?` is irreflexive.
fn is_coherent(execution: &Execution, hb: Relation) -> bool {
    hb.then(execution.eco().optional()).is_irreflexive()
}

/// ATOMICITY: a read-modify-write directly follows the store that it reads from in modification order.
///
/// The paper has `rmw ∩ (rb; mo) = ∅`: no store is between the two. By its COHERENCE the store is the earlier
/// one, because the read is sequenced before the write. With one event for both, the axiom has to say so.
pub(super) fn is_atomic(execution: &Execution) -> bool {
    let directly_follows = execution.mo - execution.mo.then(execution.mo);
    let updates = execution.rf.then(execution.on(Event::is_rmw));
    updates & directly_follows == updates
}

/// All `SeqCst` events have one order that keeps two relations: an event comes after those that strongly happen before it,
/// and of two accesses to a variable the one that is coherence-ordered before the other comes first. A fence that happens
/// before the first access, or after the second, takes its place.
fn is_sc(execution: &Execution, hb: Relation) -> bool {
    let sb = execution.sb;
    let sc = execution.on(Event::is_sc);
    let fence = execution.on(|event| event.is_sc() && event.is_fence());
    let strongly = (sb | sb.then(hb).then(sb) | sc.then(execution.sw()).then(sc)).plus();
    let access = sc - fence;
    let (first, second) = (access | fence.then(hb), access | hb.then(fence));
    let coherence = first.then(execution.eco()).then(second);
    (sc.then(strongly).then(sc) | coherence).is_acyclic()
}

/// Calls `visit` with each candidate execution: every `rf`, and every `mo` in which initial stores come first.
///
/// Those that neither model allows are left out as soon as it shows: out of thin air, not atomic, or with `mo`
/// against `hb`. Otherwise, six read-modify-writes of one variable would have 12 million candidates.
pub(super) fn candidates(program: &Program, variables: usize, visit: &mut impl FnMut(&Execution)) {
    let initial = (0..variables).map(|var| Event::new(None, Op::Store(var, 0, Order::Relaxed)));
    let mut events: Vec<Event> = initial.collect();
    for (thread, ops) in program.iter().enumerate() {
        events.extend(ops.iter().map(|&op| Event::new(Some(thread), op)));
    }
    let count = events.len();
    assert!(count <= EVENTS_MAX, "{count} events are more than {EVENTS_MAX}");
    let sources: Vec<Vec<Option<usize>>> = (0..count).map(|event| sources_of(&events, event)).collect();
    each_choice(&sources, &mut Vec::new(), &mut |sources| {
        let Some(mut execution) = with_values(&events, sources).filter(is_not_thin_air) else {
            return;
        };
        let hb = execution.hb();
        let fits = |placed: &[usize], write: usize| {
            let is_coherent = placed.iter().all(|&earlier| !hb.has(write, earlier));
            let is_atomic = !execution.events[write].is_rmw() || sources[write] == placed.last().copied();
            is_coherent && is_atomic
        };
        let orders_of = |var| {
            // The event with the variable's number is its initial store.
            let events = execution.events.iter().enumerate().skip(var + 1);
            let stores = events.filter(|(_, event)| event.is_write() && event.op.var() == Some(var));
            orders(&[var], &stores.map(|(index, _)| index).collect::<Vec<_>>(), &fits)
        };
        let orders: Vec<Vec<Vec<usize>>> = (0..variables).map(orders_of).collect();
        each_choice(&orders, &mut Vec::new(), &mut |orders| {
            let index = |order: &[usize], event| order.iter().position(|&write| write == event);
            let is_before =
                |order: &[usize], a, b| index(order, a).is_some_and(|a| order[a + 1..].contains(&b));
            execution.mo = Relation::new(count, |a, b| orders.iter().any(|order| is_before(order, a, b)));
            visit(&execution);
        });
    });
}

/// Calls `visit` with each way to choose one element of every list.
fn each_choice<T: Clone>(lists: &[Vec<T>], chosen: &mut Vec<T>, visit: &mut dyn FnMut(&[T])) {
    let Some(list) = lists.get(chosen.len()) else {
        return visit(chosen);
    };
    for element in list {
        chosen.push(element.clone());
        each_choice(lists, chosen, visit);
        chosen.pop();
    }
}

/// Returns all permutations of `left` after `placed` in which each element fits those before it.
fn orders(placed: &[usize], left: &[usize], fits: &dyn Fn(&[usize], usize) -> bool) -> Vec<Vec<usize>> {
    let mut found = Vec::from_iter(left.is_empty().then(|| placed.to_vec()));
    for &write in left.iter().filter(|&&write| fits(placed, write)) {
        let rest: Vec<usize> = left.iter().copied().filter(|&other| other != write).collect();
        found.extend(orders(&[placed, &[write]].concat(), &rest, fits));
    }
    found
}

/// Returns the stores from which an event may read. An event that does not read has the source `None`.
fn sources_of(events: &[Event], event: usize) -> Vec<Option<usize>> {
    if matches!(events[event].op, Op::Store(..) | Op::Fence(_)) {
        return vec![None];
    }
    let is_load = |other: usize| matches!(events[other].op, Op::Load(..));
    let is_same_loc = |other: usize| events[other].op.var() == events[event].op.var();
    let is_source = |&other: &usize| other != event && is_same_loc(other) && !is_load(other);
    (0..events.len()).filter(is_source).map(Some).collect()
}

/// Returns an execution without `mo`, if the sources give each read a value.
///
/// They do not if read-modify-writes read from each other in a circle, or if a source is a compare-exchange
/// that fails.
fn with_values(events: &[Event], sources: &[Option<usize>]) -> Option<Execution> {
    let (mut events, count) = (events.to_vec(), events.len());
    // A value passes through each event at most once.
    for _ in 0..count {
        for event in 0..count {
            if let Some(before) = sources[event].map_or(Some(0), |source| events[source].written) {
                (events[event].read, events[event].written) = events[event].op.effect(before);
            }
        }
    }
    let var = |event: usize| events[event].op.var();
    let is_before = |a: &Event, b: &Event| b.thread.is_some() && (a.thread.is_none() || a.thread == b.thread);
    let has_value = |event: usize| sources[event].is_none() || events[event].is_read();
    (0..count).all(has_value).then(|| Execution {
        same_loc: Relation::new(count, |a, b| var(a).is_some() && var(a) == var(b)),
        sb: Relation::new(count, |a, b| a < b && is_before(&events[a], &events[b])),
        rf: Relation::new(count, |a, b| sources[b] == Some(a)),
        mo: Relation::new(0, |_, _| false),
        events: events.clone(),
    })
}

/// Returns a random program. `random(n)` returns a number below `n`.
pub(super) fn random_program(
    random: &mut impl FnMut(u32) -> u32,
    threads: usize,
    ops: usize,
    variables: usize,
) -> Program {
    use Order::*;
    // Of all orderings, mostly relaxed, only relaxed and `SeqCst`, or mostly `SeqCst`.
    let flavour = random(4);
    let mut op = || {
        let var = random(variables as u32) as usize;
        // Values are few, so that compare-exchanges succeed.
        let (kind, expected, new) = (random(10), random(3), 1 + random(3));
        let mut pick = |orders: &[Order]| match (flavour, random(orders.len() as u32) as usize) {
            (1, _) if random(3) > 0 => orders[0],
            (2, at) => orders[at % 2 * (orders.len() - 1)],
            (3, _) if random(3) > 0 => orders[orders.len() - 1],
            (_, at) => orders[at],
        };
        let failure = pick(&[Relaxed, Acquire, SeqCst]);
        let success = pick(&[Relaxed, Acquire, Release, AcqRel, SeqCst]);
        match kind {
            0..3 => Op::Load(var, failure),
            3..6 => Op::Store(var, new, pick(&[Relaxed, Release, SeqCst])),
            6 => Op::Add(var, new, success),
            7 => Op::Exchange {
                var,
                expected,
                new,
                success,
                failure,
            },
            _ => Op::Fence(pick(&[Acquire, Release, AcqRel, SeqCst])),
        }
    };
    (0..threads).map(|_| (0..ops).map(|_| op()).collect()).collect()
}
