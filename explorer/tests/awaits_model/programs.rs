//! Programs with waiting loops, drawn at random, and a model of them that runs every round of every loop.
//!
//! `alike`, next to this module, has the atomics and the threads that the programs use: the look-alikes, or those of std
//! in a crate that is explored as it is.

use super::alike::{AtomicUsize, hint, thread};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::{self, SeqCst};

/// The number of variables of a program, all 0 at first.
pub(super) const VARS: usize = 2;

/// A line of a task. In a real program it is a statement, in the model a small state machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line {
    Store(usize, usize),
    Load(usize),
    Add(usize),
    /// `while x != v`
    Await(usize, usize),
    /// `while x != v && y != w`
    Either([usize; 2], [usize; 2]),
    /// `while compare_exchange(v, w) fails`
    Exchange(usize, usize, usize),
    /// `while swap(1) == 1`
    Swap(usize),
    /// Reads x, y and x again until x is the same both times. Its result is the value of y.
    Consistent(usize, usize),
    /// Checks at most twice if x is v. Its result is the number of checks.
    Twice(usize, usize),
    /// Adds 1 to y, not atomically, under a lock at x that is tested before it is set. Its result is y before.
    Locked(usize, usize),
    /// Checks twice if x is v, yields, and so on. Its result is 1 if the second check found it.
    InBursts(usize, usize),
    /// Counts up to 3 the rounds in which x is not v. Its result is the count.
    Counted(usize, usize),
    /// Waits until x is v, by functions that return a part of a value, or call another function.
    Helped(usize, usize),
}

pub(super) type Program = Vec<Vec<Line>>;
pub(super) type Outcome = Vec<Vec<usize>>;

/// The result of a step of the model.
enum Next {
    /// The line continues at this position with these values.
    Within(u8, [usize; 2]),
    /// The line is over.
    Over,
    /// The line is over, with this result for the task's record.
    Told(usize),
}

/// Performs one access to the variables.
fn step(line: Line, place: u8, held: [usize; 2], vars: &mut [usize; VARS]) -> Next {
    use Next::{Over, Told, Within};
    let again = Within(0, [0; 2]);
    match line {
        Line::Store(x, v) => {
            vars[x] = v;
            Over
        }
        Line::Load(x) => Told(vars[x]),
        Line::Add(x) => {
            vars[x] += 1;
            Told(vars[x] - 1)
        }
        Line::Await(x, v) if vars[x] == v => Over,
        Line::Await(..) => again,
        Line::Either(x, v) if vars[x[usize::from(place)]] == v[usize::from(place)] => Told(place.into()),
        Line::Either(..) if place == 0 => Within(1, held),
        Line::Either(..) => again,
        Line::Exchange(x, v, w) if vars[x] == v => {
            vars[x] = w;
            Over
        }
        Line::Exchange(..) => again,
        Line::Swap(x) if vars[x] == 1 => again,
        Line::Swap(x) => {
            vars[x] = 1;
            Over
        }
        Line::Consistent(x, y) => match place {
            0 => Within(1, [vars[x], 0]),
            1 => Within(2, [held[0], vars[y]]),
            _ if vars[x] == held[0] => Told(held[1]),
            _ => again,
        },
        Line::Twice(x, v) if vars[x] == v => Told(place.into()),
        Line::Twice(..) if place == 0 => Within(1, held),
        Line::Twice(..) => Told(2),
        Line::Locked(x, y) => match place {
            0 if vars[x] == 1 => Within(1, held),
            0 => {
                vars[x] = 1;
                Within(2, held)
            }
            1 if vars[x] == 1 => Within(1, held),
            1 => again,
            2 => Within(3, [vars[y], 0]),
            3 => {
                vars[y] = held[0] + 1;
                Within(4, held)
            }
            _ => {
                vars[x] = 0;
                Told(held[0])
            }
        },
        Line::InBursts(x, v) if vars[x] == v => Told(place.into()),
        Line::InBursts(..) => Within(1 - place, held),
        Line::Counted(x, v) if vars[x] == v => Told(place.into()),
        Line::Counted(..) => Within((place + 1).min(3), held),
        Line::Helped(x, v) if vars[x] == v => Over,
        Line::Helped(..) => again,
    }
}

/// The orderings of a program's loads, stores, and read-modify-writes.
#[derive(Clone, Copy)]
pub(super) struct Order {
    pub(super) loads: Ordering,
    pub(super) stores: Ordering,
    pub(super) both: Ordering,
}

pub(super) const STRONG: Order = Order {
    loads: SeqCst,
    stores: SeqCst,
    both: SeqCst,
};

/// Runs the line in a real program.
fn run(line: Line, vars: &[AtomicUsize; VARS], order: Order) -> Option<usize> {
    let Order { loads, stores, both } = order;
    let load = |x: usize| vars[x].load(loads);
    match line {
        Line::Store(x, v) => {
            vars[x].store(v, stores);
            None
        }
        Line::Load(x) => Some(load(x)),
        Line::Add(x) => Some(vars[x].fetch_add(1, both)),
        Line::Await(x, v) => {
            while load(x) != v {
                hint::spin_loop();
            }
            None
        }
        Line::Either(x, v) => loop {
            if load(x[0]) == v[0] {
                break Some(0);
            }
            if load(x[1]) == v[1] {
                break Some(1);
            }
            thread::yield_now();
        },
        Line::Exchange(x, v, w) => {
            while vars[x].compare_exchange(v, w, both, loads).is_err() {
                hint::spin_loop();
            }
            None
        }
        Line::Swap(x) => {
            while vars[x].swap(1, both) == 1 {
                thread::yield_now();
            }
            None
        }
        Line::Consistent(x, y) => loop {
            let before = load(x);
            let read = load(y);
            if load(x) == before {
                break Some(read);
            }
            hint::spin_loop();
        },
        Line::Twice(x, v) => {
            for round in 0..2 {
                if load(x) == v {
                    return Some(round);
                }
                hint::spin_loop();
            }
            Some(2)
        }
        Line::Locked(x, y) => {
            while vars[x].swap(1, both) == 1 {
                while load(x) == 1 {
                    hint::spin_loop();
                }
            }
            let before = load(y);
            vars[y].store(before + 1, stores);
            vars[x].store(0, stores);
            Some(before)
        }
        Line::InBursts(x, v) => loop {
            for look in 0..2 {
                if load(x) == v {
                    return Some(look);
                }
                hint::spin_loop();
            }
            thread::yield_now();
        },
        Line::Counted(x, v) => {
            let mut rounds = 0;
            while load(x) != v {
                rounds = (rounds + 1).min(3);
                hint::spin_loop();
            }
            Some(rounds)
        }
        Line::Helped(x, v) => {
            let look: &dyn Fn() -> Result<(u8, usize), u8> = &|| seen(&vars[x], v, loads).ok_or(1);
            while look() != Ok((1, v)) {
                hint::spin_loop();
            }
            None
        }
    }
}

/// Returns the value with a 1, if it is this one.
fn seen(var: &AtomicUsize, value: usize, order: Ordering) -> Option<(u8, usize)> {
    (var.load(order) == value).then_some((1, value))
}

/// Runs the program once. Returns the values of the variables at the end, and the results of each task.
pub(super) fn run_all(program: &Program, order: Order) -> Outcome {
    let vars: [AtomicUsize; VARS] = std::array::from_fn(|_| AtomicUsize::new(0));
    let vars = &vars;
    let told: Vec<Vec<usize>> = thread::scope(|scope| {
        let tasks: Vec<_> = program
            .iter()
            .map(|lines| {
                scope.spawn(move || {
                    let told = lines.iter().filter_map(|&line| run(line, vars, order));
                    told.collect::<Vec<usize>>()
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });
    let values: Vec<usize> = vars.iter().map(|var| var.load(SeqCst)).collect();
    outcome(&values, told.into_iter())
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    vars: [usize; VARS],
    /// For each task: its line, the position in it, the values it holds, and its results.
    tasks: Vec<(usize, u8, [usize; 2], Vec<usize>)>,
}

/// Returns all outcomes of a program, and `true` if it can reach a state from which no end can be reached.
pub(super) fn model(program: &Program) -> (BTreeSet<Outcome>, bool) {
    let first = State {
        vars: [0; VARS],
        tasks: vec![(0, 0, [0; 2], Vec::new()); program.len()],
    };
    let mut before: BTreeMap<State, Vec<State>> = BTreeMap::from([(first.clone(), Vec::new())]);
    let mut open = vec![first];
    let (mut ends, mut outcomes) = (Vec::new(), BTreeSet::new());
    while let Some(state) = open.pop() {
        let mut over = true;
        for (task, lines) in program.iter().enumerate() {
            let Some(&line) = lines.get(state.tasks[task].0) else {
                continue;
            };
            over = false;
            let mut next = state.clone();
            let (at, place, held, told) = &mut next.tasks[task];
            match step(line, *place, *held, &mut next.vars) {
                Next::Within(to, values) => (*place, *held) = (to, values),
                Next::Over => (*at, *place, *held) = (*at + 1, 0, [0; 2]),
                Next::Told(what) => {
                    (*at, *place, *held) = (*at + 1, 0, [0; 2]);
                    told.push(what);
                }
            }
            let new = !before.contains_key(&next);
            before.entry(next.clone()).or_default().push(state.clone());
            if new {
                open.push(next);
            }
        }
        if over {
            outcomes.insert(outcome(
                &state.vars,
                state.tasks.iter().map(|task| task.3.clone()),
            ));
            ends.push(state);
        }
    }
    let mut ending: BTreeSet<State> = BTreeSet::new();
    while let Some(state) = ends.pop() {
        if ending.insert(state.clone()) {
            ends.extend(before[&state].iter().cloned());
        }
    }
    (outcomes, ending.len() < before.len())
}

fn outcome(vars: &[usize], told: impl Iterator<Item = Vec<usize>>) -> Outcome {
    std::iter::once(vars.to_vec()).chain(told).collect()
}

/// A multiplication with carry: uniform enough, and the same everywhere.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// Returns the dice for the program with this number.
    pub(super) fn of(number: u64) -> Dice {
        let mut dice = Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..10).for_each(|_| _ = dice.below(2));
        dice
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 = (self.0 & 0xffff_ffff) * 4_294_957_665 + (self.0 >> 32);
        (self.0 & 0xffff_ffff) as usize % end
    }

    fn line(&mut self) -> Line {
        let (x, v, w) = (self.below(VARS), self.below(3), self.below(3));
        match self.below(13) {
            0..4 => Line::Store(x, v),
            4 => Line::Load(x),
            5 => Line::Add(x),
            6 => Line::Await(x, v),
            7 => Line::Either([x, 1 - x], [v, w]),
            8 => Line::Exchange(x, v, w),
            9 => Line::Swap(x),
            10 => Line::Consistent(x, 1 - x),
            _ => Line::Twice(x, v),
        }
    }

    /// Draws a line, often a loop of the kinds that ordinary code has. Most wait for 1, and most stores are of 1.
    fn ordinary_line(&mut self) -> Line {
        let (x, v) = (self.below(VARS), self.below(4).min(1));
        match self.below(20) {
            0..6 => Line::Store(x, v),
            6 => Line::Load(x),
            7 => Line::Add(x),
            8 => Line::Consistent(x, 1 - x),
            9 => Line::Twice(x, v),
            10..14 => Line::Locked(x, 1 - x),
            14..16 => Line::InBursts(x, v),
            16..18 => Line::Counted(x, v),
            _ => Line::Helped(x, v),
        }
    }

    /// Draws a program, of ordinary lines or of the others.
    pub(super) fn program(&mut self, ordinary: bool) -> Program {
        let tasks = 2 + self.below(2);
        let longest = if tasks == 2 { 3 } else { 2 };
        let mut lines = || {
            let length = 1 + self.below(longest);
            let line = |_| match ordinary {
                true => self.ordinary_line(),
                false => self.line(),
            };
            (0..length).map(line).collect()
        };
        (0..tasks).map(|_| lines()).collect()
    }
}
