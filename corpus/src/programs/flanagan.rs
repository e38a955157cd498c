//! The two benchmarks of Flanagan and Godefroid (POPL 2005), in the sizes that CHESS ran.

use super::scaffold::number;
use super::support::{CALM_2, CALM_3};
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;

/// Tasks that insert into one hash table and never meet.
pub(super) const INDEXER: Program = Program {
    name: "cp-hash",
    about: "2 tasks insert 4 messages each into a hash table of 128: no conflicts (Flanagan and \
            Godefroid's indexer)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| {
        const SIZE: usize = 128;
        let table = &[const { AtomicUsize::new(0) }; SIZE];
        thread::scope(|scope| {
            for task in 0..2 {
                scope.spawn(move || {
                    for message in 1..=4 {
                        let word = message * 11 + task;
                        let mut at = (word * 7) % SIZE;
                        while table[at].compare_exchange(0, word, SeqCst, SeqCst).is_err() {
                            at = (at + 1) % SIZE;
                        }
                    }
                });
            }
        });
    },
};

/// Tasks of which two want the same block.
pub(super) const FILE_SYSTEM: Program = Program {
    name: "cp-fs",
    about: "3 tasks allocate a block for an inode each; 4 inodes, 4 blocks (Flanagan and Godefroid's file \
            system)",
    parameters: &[],
    settings: CALM_3,
    expected: Expected::Pass,
    body: |_| allocate::<4, 4>(3),
};

/// The file system in its published size, with a task too many.
pub(super) const FSBENCH_BAD: Program = Program {
    name: "fsbench_bad",
    about: "27 tasks, 32 inodes, but 26 locks: the last task always violates the array's bound (SCTBench \
            CS.fsbench_bad)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| allocate::<26, 26>(27),
};

/// Its twin, with a lock for each inode, which is explored to its end: two tasks that want one block are 13 apart.
pub(super) const FSBENCH_FIXED: Program = Program {
    name: "fsbench_fixed",
    about: "fsbench_bad, with 32 locks for its 32 inodes",
    parameters: &[number("tasks", 15, (1, 27), "tasks that allocate")],
    settings: &[("reduction", "dpor")],
    expected: Expected::Pass,
    body: |values| allocate::<32, 26>(values[0] as usize),
};

/// Allocates a block in each task, found by trying, for the inode of its number.
fn allocate<const INODES: usize, const BLOCKS: usize>(tasks: usize) {
    let inodes = &[const { Mutex::new(0) }; INODES];
    let busy = &[const { Mutex::new(false) }; BLOCKS];
    let work = |task: usize| {
        let mut inode = inodes[task].lock().unwrap();
        if *inode != 0 {
            return;
        }
        let mut block = task * 2 % BLOCKS;
        for _ in 0..BLOCKS / 2 {
            let mut busy = busy[block].lock().unwrap();
            if !*busy {
                *busy = true;
                *inode = block + 1;
                break;
            }
            block = (block + 1) % BLOCKS;
        }
    };
    thread::scope(|scope| {
        for task in 0..tasks {
            scope.spawn(move || work(task));
        }
    });
}
