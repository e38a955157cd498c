//! Random programs with semaphores and events, and their execution.

use crate::records::record;
use intermezzo::extras::{Event, Semaphore, WaitSet, Waitable};
use intermezzo::sync::Arc;
use intermezzo::thread;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::time::Duration;

/// The number of objects: a semaphore and two events by themselves, and the same in a set.
pub(crate) const OBJECTS: usize = 6;

/// The first object of the set.
pub(crate) const SET: usize = 3;

/// An operation on objects, by their numbers. For operations on several objects, the numbers are within the set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Wait(usize),
    Try(usize),
    Put(usize),
    Reset(usize),
    Look(usize),
    Any(Vec<usize>),
    All(Vec<usize>),
    WaitWithin(usize),
    AnyWithin(Vec<usize>),
    AllWithin(Vec<usize>),
}

/// The values with which the objects begin, and the operations of each task.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) begin: [u8; OBJECTS],
    pub(crate) tasks: Vec<Vec<Op>>,
}

impl Program {
    /// Returns the program with this number; with waits that have a limit, if `timed`.
    pub(crate) fn draw(number: u64, timed: bool) -> Program {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
        let begin = std::array::from_fn(|at| rng.random_range(0..if at % 3 == 0 { 3 } else { 2 }));
        let (low, high) = [(0, SET), (SET, OBJECTS), (0, OBJECTS)][rng.random_range(0..3)];
        let tasks = rng.random_range(2..=3);
        // Most programs are small, because these show as much in less time.
        let length = if tasks == 2 { 3 } else { 2 } + usize::from(number.is_multiple_of(16));
        let mut op = || {
            let at = rng.random_range(low..high);
            let mut some = || {
                let first = rng.random_range(SET..OBJECTS);
                let mut list = vec![first];
                if rng.random_range(0..4) > 0 {
                    let other = SET + (first - SET + rng.random_range(1..3)) % 3;
                    list.push(other);
                }
                list
            };
            let (any, all) = (some(), some());
            let last = match (timed, high) {
                (true, SET) => 7,
                (true, _) => 13,
                (false, SET) => 6,
                (false, _) => 10,
            };
            match rng.random_range(0..last) {
                0 | 1 => Op::Put(at),
                2 => Op::Reset(if at % 3 == 0 { at + 1 } else { at }),
                3 => Op::Try(at),
                4 => Op::Look(at),
                5 => Op::Wait(at),
                6 if timed => Op::WaitWithin(at),
                6 => Op::Any(any),
                7 => Op::All(all),
                8 => Op::Any(any),
                9 => Op::All(all),
                10 => Op::AnyWithin(any),
                _ => Op::AllWithin(all),
            }
        };
        let tasks = (0..tasks).map(|_| (0..length).map(|_| op()).collect());
        let tasks = tasks.collect();
        Program { begin, tasks }
    }
}

/// The objects of an execution.
struct Shared {
    set: WaitSet,
    semaphores: [Semaphore; 2],
    autos: [Event; 2],
    manuals: [Event; 2],
}

const LIMIT: Duration = Duration::from_millis(5);

impl Shared {
    fn new(begin: &[u8; OBJECTS]) -> Shared {
        let set = WaitSet::new();
        Shared {
            semaphores: [Semaphore::new(begin[0].into()), set.semaphore(begin[3].into())],
            autos: [Event::auto_reset(begin[1] > 0), set.auto_event(begin[4] > 0)],
            manuals: [Event::manual_reset(begin[2] > 0), set.manual_event(begin[5] > 0)],
            set,
        }
    }

    fn event(&self, at: usize) -> &Event {
        let of = if at % 3 == 1 { &self.autos } else { &self.manuals };
        &of[at / 3]
    }

    fn perform(&self, op: &Op) -> u8 {
        let semaphore = |at: usize| at.is_multiple_of(3).then(|| &self.semaphores[at / 3]);
        let several = |list: &[usize]| -> Vec<&dyn Waitable> {
            let one = |&at: &usize| semaphore(at).map_or(self.event(at) as &dyn Waitable, |it| it);
            list.iter().map(one).collect()
        };
        match op {
            Op::Wait(at) => match semaphore(*at) {
                Some(semaphore) => semaphore.acquire(),
                None => self.event(*at).wait(),
            },
            Op::Try(at) => {
                return u8::from(match semaphore(*at) {
                    Some(semaphore) => semaphore.try_acquire(),
                    None => self.event(*at).try_wait(),
                });
            }
            Op::Put(at) => match semaphore(*at) {
                Some(semaphore) => semaphore.release(),
                None => self.event(*at).set(),
            },
            Op::Reset(at) => self.event(*at).reset(),
            Op::Look(at) => {
                return match semaphore(*at) {
                    Some(semaphore) => semaphore.available() as u8,
                    None => self.event(*at).is_set().into(),
                };
            }
            Op::Any(list) => return self.set.wait_any(&several(list)) as u8,
            Op::All(list) => self.set.wait_all(&several(list)),
            Op::WaitWithin(at) => {
                return u8::from(match semaphore(*at) {
                    Some(semaphore) => semaphore.acquire_timeout(LIMIT),
                    None => self.event(*at).wait_timeout(LIMIT),
                });
            }
            Op::AnyWithin(list) => {
                let taken = self.set.wait_any_timeout(&several(list), LIMIT);
                return taken.map_or(9, |at| at as u8);
            }
            Op::AllWithin(list) => return self.set.wait_all_timeout(&several(list), LIMIT).into(),
        }
        1
    }
}

/// Runs the program, the first task in the caller.
pub(crate) fn execute(program: &Program) {
    let shared = Arc::new(Shared::new(&program.begin));
    let perform = |task: usize, shared: &Shared, ops: &[Op]| {
        for op in ops {
            record(task, shared.perform(op));
        }
    };
    let spawn = |task: usize| {
        let (shared, ops) = (shared.clone(), program.tasks[task].clone());
        thread::spawn(move || perform(task, &shared, &ops))
    };
    let others: Vec<_> = (1..program.tasks.len()).map(spawn).collect();
    perform(0, &shared, &program.tasks[0]);
    for task in others {
        task.join().unwrap();
    }
}
