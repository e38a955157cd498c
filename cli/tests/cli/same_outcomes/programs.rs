//! Programs that are drawn from a seed. `STD` stands for the crate with the threads, locks and atomics that they use.

use STD::sync::atomic::{AtomicUsize, Ordering, Ordering::*, fence};
use STD::sync::{Arc, Mutex, Weak};
use STD::thread;
use std::io::Write as _;

/// Xorshift, because a program must be the same wherever it is drawn.
struct Random(u64);

impl Random {
    fn of(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..10).for_each(|_| _ = random.below(2));
        random
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn one_of<T: Copy, const N: usize>(&mut self, all: [T; N]) -> T {
        all[self.below(N)]
    }
}

#[derive(Clone, Copy)]
enum Step {
    Load(usize, Ordering),
    Store(usize, usize, Ordering),
    Add(usize, Ordering),
    Exchange(usize, usize, usize, Ordering, Ordering),
    Fence(Ordering),
    Locked(usize),
    DropHandles,
    GetMut,
    Upgrade,
    Clone,
}

fn step(random: &mut Random) -> Step {
    let var = random.below(2);
    let load = random.one_of([Relaxed, Relaxed, Acquire, SeqCst]);
    let modify = random.one_of([Relaxed, Acquire, Release, AcqRel, SeqCst]);
    match random.below(16) {
        0..=3 => Step::Load(var, load),
        4..=6 => {
            let order = random.one_of([Relaxed, Relaxed, Release, SeqCst]);
            Step::Store(var, 1 + random.below(2), order)
        }
        7 => Step::Add(var, modify),
        8 => Step::Exchange(var, random.below(2), 1 + random.below(2), modify, load),
        9 => Step::Fence(random.one_of([Acquire, Release, AcqRel, SeqCst])),
        10 => Step::Locked(var),
        11 | 12 => Step::DropHandles,
        13 => Step::GetMut,
        14 => Step::Upgrade,
        _ => Step::Clone,
    }
}

fn program(seed: u64) -> Vec<Vec<Step>> {
    let mut random = Random::of(seed);
    let (tasks, steps) = random.one_of([(2, 3), (2, 3), (2, 3), (3, 2)]);
    let task = |_| (0..steps).map(|_| step(&mut random)).collect();
    (0..tasks).map(task).collect()
}

/// The variables that all tasks share until the end.
#[derive(Default)]
struct Vars {
    values: [AtomicUsize; 2],
    lock: Mutex<usize>,
}

/// Variables that tasks may drop before the end, and a log of their values when they were dropped.
struct Owned {
    values: [AtomicUsize; 2],
    log: Arc<Mutex<Vec<usize>>>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        let [one, two] = [0, 1].map(|at| self.values[at].load(Relaxed));
        self.log.lock().unwrap().push(one * 10 + two);
    }
}

/// Runs the steps of a task, and returns their results.
fn task(steps: &[Step], vars: Arc<Vars>, owned: Arc<Owned>, weak: Weak<Owned>) -> Vec<usize> {
    let mut seen = Vec::new();
    let mut handles = vec![owned];
    for step in steps {
        match *step {
            Step::Load(var, order) => {
                seen.push(vars.values[var].load(order));
                seen.extend(handles.first().map(|owned| owned.values[var].load(order)));
            }
            Step::Store(var, value, order) => {
                vars.values[var].store(value, order);
                if let Some(owned) = handles.first() {
                    owned.values[var].store(value, order);
                }
            }
            Step::Add(var, order) => seen.push(vars.values[var].fetch_add(1, order)),
            Step::Exchange(var, current, new, success, failure) => {
                let exchanged = vars.values[var].compare_exchange(current, new, success, failure);
                seen.push(exchanged.unwrap_or_else(|found| 10 + found));
            }
            Step::Fence(order) => fence(order),
            Step::Locked(var) => {
                let mut times = vars.lock.lock().unwrap();
                *times += 1;
                let value = vars.values[var].load(Relaxed);
                vars.values[var].store(value + 1, Relaxed);
                seen.extend([*times, value]);
            }
            Step::DropHandles => handles.clear(),
            Step::GetMut => match handles.first_mut().map(Arc::get_mut) {
                Some(Some(owned)) => {
                    seen.push(50 + owned.values[0].load(Relaxed));
                    *owned.values[1].get_mut() = 7;
                    seen.push(owned.values[1].load(Relaxed));
                }
                Some(None) => seen.push(49),
                None => {}
            },
            Step::Upgrade => match weak.upgrade() {
                Some(owned) => seen.push(60 + owned.values[0].load(Relaxed)),
                None => seen.extend([59, vars.values[0].load(Relaxed)]),
            },
            Step::Clone => handles.extend(handles.first().cloned()),
        }
    }
    seen
}

/// Runs the program of this seed, and adds its outcome to the file of that name in the directory `OUTCOMES`.
pub fn run(seed: u64) {
    let steps = program(seed);
    let log = Arc::new(Mutex::new(Vec::new()));
    let vars = Arc::new(Vars::default());
    let owned = Arc::new(Owned {
        values: Default::default(),
        log: log.clone(),
    });
    let weak = Arc::downgrade(&owned);
    let others: Vec<_> = steps[1..]
        .iter()
        .map(|steps| {
            let (steps, vars, owned, weak) = (steps.clone(), vars.clone(), owned.clone(), weak.clone());
            thread::spawn(move || task(&steps, vars, owned, weak))
        })
        .collect();
    let mut seen = vec![task(&steps[0], vars.clone(), owned, weak)];
    seen.extend(others.into_iter().map(|other| other.join().unwrap()));
    let last = Arc::try_unwrap(vars).map_or_else(
        |vars| vec![90 + vars.values[0].load(Relaxed)],
        |vars| vars.values.iter().map(|value| value.load(Relaxed)).collect(),
    );
    let outcome = format!("{seen:?} {last:?} {:?}\n", log.lock().unwrap());
    let path = format!("{}/{seed}", std::env::var("OUTCOMES").unwrap());
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(outcome.as_bytes()).unwrap();
}
