//! Memory of random executions against the definitions: blocks that are never given back, or twice, and uses that
//! nothing orders before the release.
//!
//! The oracle knows the entries of an execution, and the pairs of them that are ordered at once. It closes that relation
//! by brute force, and looks at all pairs of a use and a release.

use intermezzo_monitors::Leaks;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{BlockKind, Location, MemoryOrder, SyncVar, TaskId};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SEED: u64 = 0x1eaf;
const EXECUTIONS: u32 = 10_000;
const BLOCKS: usize = 3;
const ATOMICS: usize = 2;

const NAMES: [&str; BLOCKS] = ["first", "second", "third"];

/// An entry that matters to the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Load(usize),
    Store(usize),
    Use(usize),
    Release(usize),
    /// The creation of a task, or the join of one, with its place among the tasks.
    Fork(usize),
    Join(usize),
}

/// An execution, as a script and as entries in their order, each with its task.
#[derive(Debug)]
struct Made {
    script: Script,
    entries: Vec<(usize, Entry)>,
    blocks: [Location; BLOCKS],
    atomics: [SyncVar; ATOMICS],
    tasks: Vec<TaskId>,
}

impl Made {
    fn add(&mut self, at: usize, entry: Entry, writes: bool) {
        let task = self.tasks[at];
        let order = MemoryOrder::SeqCst;
        match entry {
            Entry::Load(atomic) => _ = self.script.load(task, self.atomics[atomic], order, 0),
            Entry::Store(atomic) => _ = self.script.store(task, self.atomics[atomic], order, 0),
            Entry::Use(block) if writes => _ = self.script.write(task, self.blocks[block]),
            Entry::Use(block) => _ = self.script.read(task, self.blocks[block]),
            Entry::Release(block) => _ = self.script.release(task, self.blocks[block]),
            Entry::Fork(_) => {
                let child = self.script.fork(task);
                self.tasks.push(child);
            }
            Entry::Join(child) => _ = self.script.join(task, self.tasks[child]),
        }
        self.entries.push((at, entry));
    }

    /// The numbers of the findings that are wanted: blocks that are never given back, blocks given back twice, and blocks
    /// used when that is not ordered before a release.
    #[expect(clippy::needless_range_loop, reason = "the indices are of a matrix")]
    fn wanted(&self) -> [Vec<usize>; 3] {
        let all = self.entries.len();
        let mut before = vec![vec![false; all]; all];
        for later in 0..all {
            for earlier in 0..later {
                let ((one, first), (other, second)) = (self.entries[earlier], self.entries[later]);
                let in_conflict = match (first, second) {
                    (Entry::Store(a), Entry::Store(b) | Entry::Load(b))
                    | (Entry::Load(a), Entry::Store(b)) => a == b,
                    (Entry::Fork(child), _) => child == other,
                    (_, Entry::Join(child)) => child == one,
                    _ => false,
                };
                before[earlier][later] = one == other || in_conflict;
            }
        }
        for middle in 0..all {
            for earlier in 0..middle {
                for later in middle + 1..all {
                    before[earlier][later] |= before[earlier][middle] && before[middle][later];
                }
            }
        }
        let mut wanted = [const { Vec::new() }; 3];
        for block in 0..BLOCKS {
            let places = |what: Entry| (0..all).filter(move |&at| self.entries[at].1 == what);
            let releases: Vec<usize> = places(Entry::Release(block)).collect();
            if releases.is_empty() {
                wanted[0].push(block);
            }
            if releases.len() > 1 {
                wanted[1].push(block);
            }
            let mut uses = places(Entry::Use(block));
            if uses.any(|at| releases.iter().any(|&release| !before[at][release])) {
                wanted[2].push(block);
            }
        }
        wanted
    }

    fn found(&self) -> [Vec<usize>; 3] {
        let mut found = [const { Vec::new() }; 3];
        for report in self.script.play(&mut Leaks::new()) {
            let message = &report.message;
            let kind = match message {
                message if message.contains("never freed") => 0,
                message if message.starts_with("double free") => 1,
                message if message.starts_with("use after free") => 2,
                message => panic!("{message}"),
            };
            let is_about = |name: &&str| message.split([' ', ',']).any(|word| word == *name);
            let block = NAMES.iter().position(is_about).expect("a block");
            if !found[kind].contains(&block) {
                found[kind].push(block);
            }
        }
        found.iter_mut().for_each(|blocks| blocks.sort_unstable());
        found
    }
}

/// Draws an execution: main allocates, creates tasks, and joins some of them while it goes on.
fn draw(random: &mut Xoshiro256PlusPlus) -> Made {
    let mut script = Script::new();
    let blocks = NAMES.map(|name| script.allocate(Script::MAIN, name, BlockKind::Heap, 8));
    let atomics = ["x", "y"].map(|name| script.var(name));
    let mut made = Made {
        script,
        entries: Vec::new(),
        blocks,
        atomics,
        tasks: vec![Script::MAIN],
    };
    let mut live = vec![0];
    let children = random.random_range(1..=2);
    for _ in 0..random.random_range(4..=14) {
        let at = live[random.random_range(0..live.len())];
        let (block, atomic) = (random.random_range(0..BLOCKS), random.random_range(0..ATOMICS));
        let entry = match random.random_range(0..12) {
            0 | 1 if made.tasks.len() <= children && at == 0 => {
                live.push(made.tasks.len());
                Entry::Fork(made.tasks.len())
            }
            2 if at == 0 && live.len() > 1 => Entry::Join(live.pop().expect("one besides main")),
            3..6 => Entry::Load(atomic),
            6..9 => Entry::Store(atomic),
            9 => Entry::Release(block),
            _ => Entry::Use(block),
        };
        made.add(at, entry, random.random_bool(0.5));
    }
    made
}

#[test]
fn memory_is_judged_as_the_definitions_say() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut counts = [0; 3];
    let mut spared = 0;
    for number in 0..EXECUTIONS {
        let made = draw(&mut random);
        let wanted = made.wanted();
        assert_eq!(
            made.found(),
            wanted,
            "execution {number} of seed {SEED:#x}: {:?}",
            made.entries
        );
        for (count, blocks) in counts.iter_mut().zip(&wanted) {
            *count += blocks.len();
        }
        // Blocks that are used and given back, as they should.
        let is_used = |block: &usize| made.entries.iter().any(|(_, entry)| *entry == Entry::Use(*block));
        let is_fine = |block: &usize| wanted.iter().all(|blocks| !blocks.contains(block));
        spared += (0..BLOCKS).filter(is_used).filter(is_fine).count();
    }
    assert!(
        counts.iter().all(|&count| count > 500) && spared > 500,
        "{counts:?} {spared}"
    );
}
