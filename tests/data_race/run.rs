//! Runs the programs under the engine, with the monitor.

use crate::cells::{Racy, Shared, slot_of};
use crate::model::{BARRIER, Outcomes, Pair, Races};
use crate::noting::{Notes, Noting};
use crate::program::{ATOMICS, Access, CELLS, Hold, Program, Step};
use intermezzo::monitors::DataRaces;
use intermezzo::sdk::FindingKind;
use intermezzo::sync::atomic::fence;
use intermezzo::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use intermezzo::sync::{Arc, Barrier, Mutex, MutexGuard, Once, RwLock, RwLockReadGuard, RwLockWriteGuard};
use intermezzo::thread::{self, Thread};
use intermezzo::{Environment, Explorer, Reduction, Settings};
use std::sync::Mutex as Plain;

/// The shared state of the tasks.
struct World {
    cells: [Shared; CELLS],
    atomics: [Racy; ATOMICS],
    mutex: Mutex<()>,
    lock: RwLock<()>,
    barrier: Barrier,
    once: Once,
    /// The tasks that were created so far.
    threads: Plain<Vec<Thread>>,
}

impl World {
    fn access(&self, access: Access) {
        if let Some(variable) = access.atomic() {
            let atomic = &self.atomics[variable];
            return match access.is_write {
                true => atomic.write_plainly(access.slot),
                false => atomic.read_plainly(access.slot),
            };
        }
        let cell = &self.cells[access.cell];
        match (access.is_write, access.by_pointer) {
            (true, false) => cell.write(access.slot),
            (true, true) => cell.write_by_pointer(access.slot),
            (false, false) => cell.read(access.slot),
            (false, true) => cell.read_by_pointer(access.slot),
        }
    }
}

enum Sending {
    Any(Sender<()>),
    Rendezvous(SyncSender<()>),
}

enum Guard<'a> {
    Mutex(MutexGuard<'a, ()>),
    Shared(RwLockReadGuard<'a, ()>),
    Exclusive(RwLockWriteGuard<'a, ()>),
}

/// The objects of a single task.
#[derive(Default)]
struct Own {
    sender: Option<Sending>,
    receiver: Option<Receiver<()>>,
    handle: Option<Arc<()>>,
    succeeded: bool,
}

impl Own {
    fn run(mut self, world: &World, steps: &[Step]) {
        let (mut guards, mut at) = (Vec::new(), 0);
        while let Some(&step) = steps.get(at) {
            at += match step {
                Step::Unless(steps) if !self.succeeded => 1 + steps,
                _ => 1,
            };
            self.take(world, &mut guards, step);
        }
    }

    fn take<'a>(&mut self, world: &'a World, guards: &mut Vec<Guard<'a>>, step: Step) {
        use Hold::{Exclusive, Mutex, Shared};
        use std::sync::atomic::Ordering::Relaxed;
        match step {
            Step::Plain(access) => world.access(access),
            Step::Load(variable, order) => self.succeeded = world.atomics[variable].load(order) != 0,
            Step::Store(variable, order, value) => world.atomics[variable].store(value, order),
            Step::Add(variable, order) => self.succeeded = world.atomics[variable].add(order) != 0,
            Step::Exchange(variable, success, failure) => {
                let exchanged = world.atomics[variable].exchange(success, failure);
                self.succeeded = exchanged.is_ok();
            }
            Step::Fence(order) => {
                assert_ne!(order, Relaxed, "no such fence");
                fence(order);
            }
            Step::Lock(hold) => guards.push(match hold {
                Mutex => Guard::Mutex(world.mutex.lock().unwrap()),
                Shared => Guard::Shared(world.lock.read().unwrap()),
                Exclusive => Guard::Exclusive(world.lock.write().unwrap()),
            }),
            Step::TryLock(hold) => {
                let guard = match hold {
                    Mutex => world.mutex.try_lock().ok().map(Guard::Mutex),
                    Shared => world.lock.try_read().ok().map(Guard::Shared),
                    Exclusive => world.lock.try_write().ok().map(Guard::Exclusive),
                };
                self.succeeded = guard.is_some();
                guards.extend(guard);
            }
            Step::Unlock(_) => match guards.pop().expect("it is held") {
                Guard::Mutex(guard) => drop(guard),
                Guard::Shared(guard) => drop(guard),
                Guard::Exclusive(guard) => drop(guard),
            },
            Step::Send => {
                self.succeeded = match self.sender.as_ref().expect("it has not left") {
                    Sending::Any(sender) => sender.send(()).is_ok(),
                    Sending::Rendezvous(sender) => sender.send(()).is_ok(),
                }
            }
            Step::Receive => {
                self.succeeded = self.receiver.as_ref().expect("it has not left").recv().is_ok();
            }
            Step::TryReceive => {
                self.succeeded = self
                    .receiver
                    .as_ref()
                    .expect("it has not left")
                    .try_recv()
                    .is_ok();
            }
            Step::CloseSender => self.sender = None,
            Step::CloseReceiver => self.receiver = None,
            Step::Park => thread::park(),
            Step::Unpark(task) => {
                let thread = world.threads.lock().unwrap()[task].clone();
                thread.unpark();
            }
            Step::Barrier => {
                world.barrier.wait();
            }
            Step::Once(access) => world.once.call_once(|| world.access(access)),
            Step::IsComplete => self.succeeded = world.once.is_completed(),
            Step::DropHandle => {
                let handle = self.handle.take().expect("it is dropped once");
                self.succeeded = Arc::into_inner(handle).is_some();
            }
            Step::Unless(_) => {}
        }
    }
}

/// Runs one execution of the program.
pub(crate) fn execute(program: &Program) {
    let world = World {
        cells: Default::default(),
        atomics: Default::default(),
        mutex: Mutex::default(),
        lock: RwLock::default(),
        barrier: Barrier::new(BARRIER),
        once: Once::new(),
        threads: Plain::default(),
    };
    let owned = possessions(program);
    program.before.iter().for_each(|access| world.access(*access));
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for (own, steps) in owned.into_iter().zip(&program.tasks) {
            let world = &world;
            let handle = scope.spawn(move || own.run(world, steps));
            world.threads.lock().unwrap().push(handle.thread().clone());
            handles.push(handle);
        }
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    });
    program.after.iter().for_each(|access| world.access(*access));
}

/// Returns the objects of each task, which the task drops during the program.
fn possessions(program: &Program) -> Vec<Own> {
    let (any, rendezvous, receiver) = if program.rendezvous {
        let (sender, receiver) = sync_channel(0);
        (None, Some(sender), receiver)
    } else {
        let (sender, receiver) = channel();
        (Some(sender), None, receiver)
    };
    let mut receiver = Some(receiver);
    let handle = Arc::new(());
    let own = |steps: &Vec<Step>| Own {
        sender: steps
            .contains(&Step::CloseSender)
            .then(|| match (&any, &rendezvous) {
                (Some(sender), _) => Sending::Any(sender.clone()),
                (_, Some(sender)) => Sending::Rendezvous(sender.clone()),
                _ => unreachable!("one of the two was made"),
            }),
        receiver: receiver.take_if(|_| steps.contains(&Step::CloseReceiver)),
        handle: steps.contains(&Step::DropHandle).then(|| handle.clone()),
        ..Own::default()
    };
    program.tasks.iter().map(own).collect()
}

/// Returns an explorer of every execution of the program, except those that the reduction leaves out.
fn explorer(reduction: Reduction) -> Explorer {
    let settings = Settings {
        environment: Environment::calm(),
        keep_going: true,
        minimise: 0,
        reduction,
        ..Settings::default()
    };
    Explorer::with_settings(settings)
        .program("data race")
        .monitors("none")
}

/// Returns the races that the monitor reports to the engine.
pub(crate) fn found(program: &Program, reduction: Reduction) -> Races {
    let report = explorer(reduction)
        .monitor(DataRaces::new())
        .explore(|| execute(program));
    let races = report
        .findings()
        .iter()
        .filter(|finding| finding.kind == FindingKind::DataRace);
    races.map(|finding| places(&finding.message)).collect()
}

/// Returns the races that the monitor would report, by execution.
pub(crate) fn noted(program: &Program, reduction: Reduction) -> Outcomes {
    let notes = Notes::default();
    let monitor = Noting::new(DataRaces::new(), notes.clone());
    let report = explorer(reduction).monitor(monitor).explore(|| execute(program));
    let unexpected = report
        .findings()
        .iter()
        .find(|finding| finding.kind != FindingKind::Deadlock);
    assert!(unexpected.is_none(), "{report}");
    let mut outcomes = Outcomes::default();
    for (complete, messages) in notes.lock().unwrap().iter() {
        let races = messages.iter().map(|message| places(message)).collect();
        match complete {
            true => outcomes.complete.insert(races),
            false => outcomes.stuck.insert(races),
        };
    }
    outcomes
}

/// Returns the slots of the two places that a message names.
fn places(message: &str) -> Pair {
    let mut slots = message.split("cells.rs:").skip(1).map(|rest| {
        let line: String = rest.chars().take_while(char::is_ascii_digit).collect();
        slot_of(line.parse().expect("a line"))
    });
    let (Some(one), Some(other), None) = (slots.next(), slots.next(), slots.next()) else {
        panic!("two places: {message}")
    };
    (one.min(other), one.max(other))
}
