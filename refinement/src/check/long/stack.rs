//! Long histories of stacks: value by value, the lowest first.
//!
//! A value without critical interval can be pushed, looked at and popped at one moment: it does not count. One of the
//! others is the lowest: its push, its pop and each look at it need a gap in which no other must be there. Such a
//! value is set aside, and the next of the others is the lowest, until none is left, or none can be the lowest.
//!
//! That is exact: assume that the values that are left can be pushed and popped such that in each gap in which none
//! must be there, for a moment none is. Push the value that was set aside at such a moment in the last such gap in
//! which it may be, and pop it in the first. It is below all others, and is there, outside of its critical interval,
//! only while others must be there.

use super::container::{Container, Step, Value};
use super::cover;
use super::gaps::{Coverage, Coverers, Waiting};
use super::shrink::shrink;
use super::time::{Moment, NEVER, Placed};
use super::{CheckLong, Long, Violation};
use crate::history::History;
use crate::specs::stack::{Call, Return, Stack};
use std::hash::Hash;

/// Returns whether a stack's history is linearizable, in n log n.
pub fn check<V: Clone + Eq + Hash>(_stack: &Stack<V>, history: &History<Call<V>, Return<V>>) -> Long {
    match Container::read(history, step) {
        Ok(container) => {
            container.decide(|container| cover::never_empty(container).or_else(|| stuck(container)))
        }
        Err(decided) => decided,
    }
}

impl<V: Clone + Eq + Hash> CheckLong for Stack<V> {
    fn check_long(&self, history: &History<Call<V>, Return<V>>) -> Long {
        check(self, history)
    }
}

fn step<V: Clone>(call: &Call<V>, returned: Option<&Return<V>>) -> Step<V> {
    match (call, returned) {
        (Call::Push(value), None | Some(Return::Done)) => Step::Put(value.clone()),
        (Call::Pop, Some(Return::Top(top))) => Step::Take(top.clone()),
        (Call::Top, Some(Return::Top(top))) => Step::Look(top.clone()),
        (Call::Pop, None) => Step::PendingTake,
        (Call::Top, None) => Step::Nothing,
        _ => Step::Misfit,
    }
}

/// Finds values of which none can be the lowest.
fn stuck<V>(container: &Container<V>) -> Option<Violation> {
    let critical = container.values.iter().filter(|value| value.is_critical());
    let values: Vec<Tower<'_>> = critical.map(|value| Tower::new(container, value)).collect();
    let left = left_over(&values, container.moments);
    if left.is_empty() {
        return None;
    }
    let left: Vec<Tower<'_>> = left.into_iter().map(|at| values[at].clone()).collect();
    // The whole is linear in the values that are left. The rest is for small sets, which should become minimal.
    let budget = 8 * left.len() + 20_000;
    let core = shrink(left, budget, |towers| {
        let (towers, moments) = renumbered(towers);
        !left_over(&towers, moments).is_empty()
    });
    const TOLD: usize = 6;
    let mut puts: Vec<String> = core
        .iter()
        .take(TOLD)
        .map(|tower| format!("#{}", tower.value.put.id))
        .collect();
    if core.len() > TOLD {
        puts.push(format!("and {} more", core.len() - TOLD));
    }
    Some(Violation::new(
        format!(
            "last in, first out: of the values pushed by {} one would have to be the lowest, and each has an operation \
             at every moment of which another must be there",
            puts.join(", ")
        ),
        core.iter().flat_map(|tower| {
            let looks = tower.operations.iter().map(|operation| operation.id);
            tower.value.operations().chain(looks)
        }),
    ))
}

/// A value with its operations, each with the time in which it can be the lowest: the push before the critical
/// interval, the pop after it.
#[derive(Clone)]
struct Tower<'a> {
    value: &'a Value,
    there: Moment,
    until: Moment,
    /// In the order of their calls.
    operations: Vec<Placed>,
}

impl<'a> Tower<'a> {
    fn new<V>(container: &Container<V>, value: &'a Value) -> Tower<'a> {
        let push = Placed {
            ret: value.there,
            ..value.put
        };
        let pop = value.taken.map(|taken| Placed {
            call: value.until,
            ..taken
        });
        let mut operations: Vec<Placed> = vec![push];
        operations.extend(container.looks(value));
        operations.extend(pop);
        operations.sort_by_key(|operation| operation.call);
        Tower {
            value,
            there: value.there,
            until: value.until,
            operations,
        }
    }
}

/// Returns the same values with moments numbered without gaps, and the number of moments.
fn renumbered<'a>(towers: &[Tower<'a>]) -> (Vec<Tower<'a>>, Moment) {
    let mut moments: Vec<Moment> = towers
        .iter()
        .flat_map(|tower| {
            let all = tower.operations.iter().flat_map(|at| [at.call, at.ret]);
            all.chain([tower.there, tower.until])
        })
        .filter(|&moment| moment != NEVER)
        .collect();
    moments.sort_unstable();
    moments.dedup();
    let number = |moment: Moment| match moments.binary_search(&moment) {
        Ok(at) => at as Moment,
        Err(_) => NEVER,
    };
    let towers = towers.iter().map(|tower| Tower {
        value: tower.value,
        there: number(tower.there),
        until: number(tower.until),
        operations: tower
            .operations
            .iter()
            .map(|at| Placed {
                id: at.id,
                call: number(at.call),
                ret: number(at.ret),
            })
            .collect(),
    });
    (towers.collect(), moments.len() as Moment)
}

/// Returns the values that remain when those that can be the lowest of the others have been set aside.
fn left_over(towers: &[Tower<'_>], moments: Moment) -> Vec<usize> {
    let mut state = State::new(towers, moments);
    state.run();
    (0..towers.len()).filter(|&at| state.waiting_of[at] > 0).collect()
}

/// The state while values are set aside.
struct State<'a> {
    towers: &'a [Tower<'a>],
    moments: Moment,
    coverage: Coverage,
    coverers: Coverers,
    /// All operations, in the order of their calls, with their values.
    waiting: Waiting,
    of_all: Vec<u32>,
    /// The same operations, value by value, and the place of each among all.
    waiting_by_value: Waiting,
    among_all: Vec<u32>,
    /// The index at which each value's operations begin.
    begins: Vec<usize>,
    /// The number of waiting operations of each value.
    waiting_of: Vec<u32>,
    /// The gaps that each value alone covers: the first, and for each gap the next. `NEVER` ends the list.
    alone: Vec<Moment>,
    next_alone: Vec<Moment>,
    /// Values none of whose operations wait, to be set aside.
    free: Vec<usize>,
}

impl<'a> State<'a> {
    fn new(towers: &'a [Tower<'a>], moments: Moment) -> State<'a> {
        let mut changes = vec![0; moments as usize + 1];
        let mut coverers = Coverers::new(moments);
        for (tower, number) in towers.iter().zip(0..) {
            let until = tower.until.min(moments);
            changes[tower.there as usize] += 1;
            changes[until as usize] -= 1;
            coverers.toggle(number, tower.there, until);
        }
        let counts = changes.iter().take(moments as usize).scan(0, |count, change| {
            *count += change;
            Some(*count)
        });
        let mut begins = vec![0];
        let mut operations: Vec<(Placed, u32)> = Vec::new();
        for (tower, number) in towers.iter().zip(0..) {
            operations.extend(tower.operations.iter().map(|&at| (at, number)));
            begins.push(operations.len());
        }
        let mut order: Vec<u32> = (0..operations.len() as u32).collect();
        order.sort_by_key(|&at| operations[at as usize].0.call);
        let mut among_all = vec![0; operations.len()];
        for (&at, place) in order.iter().zip(0..) {
            among_all[at as usize] = place;
        }
        State {
            towers,
            moments,
            coverage: Coverage::new(counts, moments),
            coverers,
            waiting: Waiting::new(order.iter().map(|&at| operations[at as usize].0)),
            of_all: order,
            waiting_by_value: Waiting::new(operations.iter().map(|&(at, _)| at)),
            among_all,
            begins,
            waiting_of: towers.iter().map(|tower| tower.operations.len() as u32).collect(),
            alone: vec![NEVER; towers.len()],
            next_alone: vec![NEVER; moments as usize],
            free: Vec::new(),
        }
    }

    fn run(&mut self) {
        self.look_around();
        while let Some(value) = self.free.pop() {
            let tower = &self.towers[value];
            let until = tower.until.min(self.moments);
            self.coverage.uncover(tower.there, until);
            self.coverers.toggle(value as u32, tower.there, until);
            let mut gap = std::mem::replace(&mut self.alone[value], NEVER);
            while gap != NEVER {
                self.empty(gap);
                gap = self.next_alone[gap as usize];
            }
            self.look_around();
        }
    }

    /// Finds the gaps that one value or none covers by now.
    fn look_around(&mut self) {
        while let Some((gap, count)) = self.coverage.find() {
            if count == 0 {
                self.empty(gap);
                continue;
            }
            let value = self.coverers.only(gap) as usize;
            self.next_alone[gap as usize] = std::mem::replace(&mut self.alone[value], gap);
            let own = self.begins[value]..self.begins[value + 1];
            while let Some(operation) = self.waiting_by_value.overlapping(own.clone(), gap) {
                self.waiting.remove(self.among_all[operation] as usize);
                self.placed(value);
            }
        }
    }

    /// Handles a gap in which nothing must be there: every operation that overlaps it has its place.
    fn empty(&mut self, gap: Moment) {
        while let Some(place) = self.waiting.overlapping(0..self.of_all.len(), gap) {
            let operation = self.of_all[place] as usize;
            self.waiting_by_value.remove(operation);
            self.placed(self.begins.partition_point(|&begin| begin <= operation) - 1);
        }
    }

    fn placed(&mut self, value: usize) {
        self.waiting_of[value] -= 1;
        if self.waiting_of[value] == 0 {
            self.free.push(value);
        }
    }
}
