//! Tasks that wait by calls of the system: on random programs with pipes and eventfds, every reduction finds a deadlock if the
//! search without one does, and otherwise shows the same outcomes. And other processes: a child may end a wait, but not if it
//! is older than what is awaited.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use intermezzo_explorer::{Environment, Explorer, Reduction, thread};
use intermezzo_lookalikes::c_io::left_open::{eventfd, pipe2};
use intermezzo_lookalikes::c_io::{close, poll, read, write};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of programs.
const PROGRAMS: u64 = 150;

/// The most executions without a reduction.
const EXECUTIONS: u64 = 20_000;

/// Held by each test: while one has a child, a wait in another could be ended by it.
static CHILDREN: Mutex<()> = Mutex::new(());

thread_local! {
    /// The descriptor to which a child writes before the next time that children are counted.
    static WRITTEN_BEFORE: Cell<Option<i32>> = const { Cell::new(None) };
}

/// The C library's function, with which children are counted. A child that writes, ends and is waited for before it is
/// called has left a byte, and is not there any more.
#[unsafe(no_mangle)]
extern "C" fn waitid(kind: libc::idtype_t, of: libc::id_t, info: *mut libc::siginfo_t, options: i32) -> i32 {
    if let Some(descriptor) = WRITTEN_BEFORE.take() {
        // SAFETY: the byte is there. A child's call would not be a step either.
        let written = unsafe { libc::syscall(libc::SYS_write, descriptor, b"7".as_ptr(), 1_usize) };
        assert_eq!(written, 1);
    }
    // SAFETY: as the caller says.
    unsafe { libc::syscall(libc::SYS_waitid, kind, of, info, options, 0_usize) as i32 }
}

#[derive(Clone, Copy, Debug)]
enum Call {
    /// Writes a number to a pipe.
    Send(usize),
    /// Reads one, and waits for it.
    Receive(usize),
    /// Looks whether there is one.
    Look(usize),
    /// Waits until one of both pipes has one, or for a millisecond.
    Await,
    /// Adds to the counter.
    Add,
    /// Takes the count, and waits until there is one.
    Take,
}

type Program = Vec<Vec<Call>>;

fn draw(seed: u64) -> Program {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let tasks = rng.random_range(2..=3);
    let calls = if tasks == 2 { 3 } else { 2 };
    let mut call = || match rng.random_range(0..9) {
        0..=2 => Call::Send(rng.random_range(0..2)),
        3 | 4 => Call::Receive(rng.random_range(0..2)),
        5 => Call::Look(rng.random_range(0..2)),
        6 => Call::Await,
        7 => Call::Add,
        _ => Call::Take,
    };
    (0..tasks).map(|_| (0..calls).map(|_| call()).collect()).collect()
}

struct Descriptors {
    pipes: [[i32; 2]; 2],
    counter: i32,
}

impl Descriptors {
    fn new() -> Descriptors {
        let mut pipes = [[0; 2]; 2];
        for pipe in &mut pipes {
            // SAFETY: there is room for both ends.
            assert_eq!(unsafe { pipe2(pipe.as_mut_ptr(), 0) }, 0);
        }
        // SAFETY: a plain call.
        let counter = unsafe { eventfd(0, 0) };
        assert!(counter >= 0);
        Descriptors { pipes, counter }
    }

    /// Makes a call of this task, and returns what it shows.
    fn make(&self, call: Call, task: usize) -> u64 {
        let read_from = |descriptor: i32, size: usize| {
            let mut value = 0_u64;
            // SAFETY: there is room for eight bytes.
            let read = unsafe { read(descriptor, (&raw mut value).cast(), size) };
            assert_eq!(read, size as isize);
            value
        };
        let write_to = |descriptor: i32, value: u64, size: usize| {
            // SAFETY: eight bytes are there.
            let written = unsafe { write(descriptor, (&raw const value).cast(), size) };
            assert_eq!(written, size as isize);
            0
        };
        let ready = |which: &[usize], limit: i32| {
            let mut entries: Vec<libc::pollfd> = which
                .iter()
                .map(|&which| libc::pollfd {
                    fd: self.pipes[which][0],
                    events: libc::POLLIN,
                    revents: 0,
                })
                .collect();
            // SAFETY: the entries are there.
            let ready = unsafe { poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, limit) };
            assert!(ready >= 0);
            entries
                .iter()
                .fold(0, |bits, entry| bits << 1 | u64::from(entry.revents != 0))
        };
        match call {
            Call::Send(which) => write_to(self.pipes[which][1], task as u64 + 1, 1),
            Call::Receive(which) => read_from(self.pipes[which][0], 1),
            Call::Look(which) => ready(&[which], 0),
            Call::Await => ready(&[0, 1], 1),
            Call::Add => write_to(self.counter, 1, 8),
            Call::Take => read_from(self.counter, 8),
        }
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        for descriptor in self.pipes.as_flattened().iter().chain([&self.counter]) {
            // SAFETY: nothing uses it any more.
            assert_eq!(unsafe { close(*descriptor) }, 0);
        }
    }
}

/// Returns the outcomes of a program, whether some execution deadlocks, and whether the search is complete.
fn outcomes(program: &Program, reduction: Reduction) -> (BTreeSet<Vec<Vec<u64>>>, bool, bool) {
    let seen = Mutex::new(BTreeSet::new());
    let report = Explorer::new()
        .environment(Environment::calm())
        .reduction(reduction)
        // Calls of C cannot be unwound from. Tests that were not written for intermezzo never are, but a deadlock here may be,
        // if there are many.
        .minimise(0)
        .executions(EXECUTIONS)
        .explore(|| {
            let descriptors = Arc::new(Descriptors::new());
            let tasks: Vec<_> = program
                .iter()
                .cloned()
                .enumerate()
                .map(|(task, calls)| {
                    let descriptors = descriptors.clone();
                    thread::spawn(move || {
                        let shown = calls.iter().map(|&call| descriptors.make(call, task));
                        shown.collect::<Vec<u64>>()
                    })
                })
                .collect();
            let outcome = tasks.into_iter().map(|task| task.join().unwrap()).collect();
            seen.lock().unwrap().insert(outcome);
        });
    let is_deadlock = report
        .findings()
        .iter()
        .map(|found| found.kind.as_str() == "deadlock");
    assert!(is_deadlock.clone().all(|is| is), "{program:?}\n{report}");
    let deadlocks = is_deadlock.count() > 0;
    let complete = report.executions() < EXECUTIONS;
    (seen.into_inner().unwrap(), deadlocks, complete)
}

#[test]
fn every_reduction_shows_what_the_search_without_one_does() {
    let _alone = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut compared, mut deadlocks, mut several) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let program = draw(seed);
        let all = outcomes(&program, Reduction::None);
        if !all.2 {
            continue;
        }
        for reduction in [Reduction::Caching, Reduction::SourceDpor, Reduction::Dpor] {
            let reduced = outcomes(&program, reduction);
            assert_eq!(reduced.1, all.1, "seed {seed}, {reduction:?}: {program:?}");
            // A search ends with the first deadlock.
            if !all.1 {
                assert_eq!(reduced, all, "seed {seed}, {reduction:?}: {program:?}");
            }
        }
        compared += 1;
        deadlocks += u32::from(all.1);
        several += u32::from(!all.1 && all.0.len() > 1);
    }
    assert!(
        compared > 100 && deadlocks > 20 && several > 10,
        "{compared} {deadlocks} {several}"
    );
}

/// An execution that is given up leaves its children.
#[test]
fn a_child_that_is_older_than_a_pipe_ends_no_wait_for_it() {
    let _alone = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    for ended in [false, true] {
        let mut child = Command::new("sleep")
            .arg(if ended { "0" } else { "600" })
            .spawn()
            .unwrap();
        let report = Explorer::new().minimise(0).set("hang", "3").explore(|| {
            let descriptors = Descriptors::new();
            let value = descriptors.make(Call::Await, 0) + descriptors.make(Call::Take, 0);
            unreachable!("{value}");
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(report.findings()[0].kind.as_str(), "deadlock", "{report}");
    }
}

#[test]
fn what_a_child_wrote_before_it_was_waited_for_is_read() {
    let _alone = CHILDREN.lock().unwrap_or_else(PoisonError::into_inner);
    let report = Explorer::new().minimise(0).explore(|| {
        let descriptors = Descriptors::new();
        WRITTEN_BEFORE.set(Some(descriptors.pipes[0][1]));
        assert_eq!(descriptors.make(Call::Receive(0), 0), u64::from(b'7'));
    });
    assert!(report.findings().is_empty(), "{report}");
}
