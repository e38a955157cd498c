//! Random interleavings of blocks against brute force: a finding if and only if no serial order of the blocks has
//! every two conflicting operations in the order in which they happened.
//!
//! The oracle knows nothing of graphs: it tries every order of the blocks that keeps each task's own.

use intermezzo_monitors::Atomicity;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{MemoryOrder, SyncVarOp, UserEvent};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SEED: u64 = 0xa70;
const PROGRAMS: u32 = 10_000;
/// Atomics; and there is a lock of which shares are taken.
const VARIABLES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Load(usize),
    Store(usize),
    Add(usize),
    /// A share of the lock: commutes with shares.
    Share,
    /// The lock alone, by an attempt, so that no task waits.
    Alone,
}

impl Op {
    fn conflicts(self, other: Op) -> bool {
        use Op::*;
        match (self, other) {
            (Load(_), Load(_)) | (Share, Share) => false,
            (Load(a) | Store(a) | Add(a), Load(b) | Store(b) | Add(b)) => a == b,
            (Share | Alone, Share | Alone) => true,
            _ => false,
        }
    }
}

/// The operations of each task, block by block.
type Program = Vec<Vec<Vec<Op>>>;

fn op(random: &mut Xoshiro256PlusPlus) -> Op {
    let var = random.random_range(0..VARIABLES);
    match random.random_range(0..8) {
        0..3 => Op::Load(var),
        3..5 => Op::Store(var),
        5 => Op::Add(var),
        6 => Op::Share,
        _ => Op::Alone,
    }
}

fn program(random: &mut Xoshiro256PlusPlus) -> Program {
    let tasks = random.random_range(2..=3);
    let mut task = || {
        let blocks = random.random_range(1..=if tasks == 2 { 3 } else { 2 });
        let mut block = || {
            let ops = [1, 1, 2, 2, 3][random.random_range(0..5)];
            (0..ops).map(|_| op(random)).collect()
        };
        (0..blocks).map(|_| block()).collect()
    };
    (0..tasks).map(|_| task()).collect()
}

/// Returns task, block and operation of each step of a random interleaving.
fn interleaving(program: &Program, random: &mut Xoshiro256PlusPlus) -> Vec<(usize, usize, usize)> {
    let steps = |task: usize| -> Vec<(usize, usize, usize)> {
        let blocks = program[task].iter().enumerate();
        blocks
            .flat_map(|(block, ops)| (0..ops.len()).map(move |op| (task, block, op)))
            .collect()
    };
    let mut left: Vec<std::vec::IntoIter<_>> =
        (0..program.len()).map(|task| steps(task).into_iter()).collect();
    let mut order = Vec::new();
    loop {
        let open: Vec<usize> = (0..left.len()).filter(|task| left[*task].len() > 0).collect();
        if open.is_empty() {
            return order;
        }
        let task = open[random.random_range(0..open.len())];
        order.extend(left[task].next());
    }
}

/// `true` if some serial order of the blocks has every two conflicting operations in this order.
fn is_serialisable(program: &Program, order: &[(usize, usize, usize)]) -> bool {
    let op = |(task, block, op): (usize, usize, usize)| program[task][block][op];
    let mut constraints = Vec::new();
    for (at, earlier) in order.iter().enumerate() {
        for later in &order[at + 1..] {
            let blocks = ((earlier.0, earlier.1), (later.0, later.1));
            if blocks.0 != blocks.1 && op(*earlier).conflicts(op(*later)) {
                constraints.push(blocks);
            }
        }
    }
    let mut serial = Vec::new();
    some_serial_order(program, &mut vec![0; program.len()], &mut serial, &constraints)
}

type Block = (usize, usize);

fn some_serial_order(
    program: &Program,
    at: &mut Vec<usize>,
    serial: &mut Vec<Block>,
    constraints: &[(Block, Block)],
) -> bool {
    if at.iter().zip(program).all(|(at, blocks)| *at == blocks.len()) {
        let place = |block: &Block| serial.iter().position(|other| other == block);
        return constraints.iter().all(|(a, b)| place(a) < place(b));
    }
    for task in 0..program.len() {
        if at[task] < program[task].len() {
            serial.push((task, at[task]));
            at[task] += 1;
            let found = some_serial_order(program, at, serial, constraints);
            at[task] -= 1;
            serial.pop();
            if found {
                return true;
            }
        }
    }
    false
}

fn script(program: &Program, order: &[(usize, usize, usize)]) -> Script {
    let mut script = Script::new();
    let atomics = ["x", "y"].map(|name| script.var(name));
    let lock = script.var("lock");
    let tasks: Vec<_> = program.iter().map(|_| script.fork(Script::MAIN)).collect();
    for &(task, block, op) in order {
        let ops = &program[task][block];
        let id = tasks[task];
        // A single operation is a block with or without a mark.
        let marked = ops.len() > 1 || block % 2 == 0;
        if marked && op == 0 {
            script.say(id, &format!("{}block {block}", UserEvent::BLOCK_BEGINS));
        }
        match ops[op] {
            Op::Load(var) => script.load(id, atomics[var], MemoryOrder::Relaxed, 0),
            Op::Store(var) => script.store(id, atomics[var], MemoryOrder::Relaxed, 0),
            Op::Add(var) => script.rmw(id, atomics[var], MemoryOrder::Relaxed, 0, 0),
            Op::Share => script.operation(id, SyncVarOp::SharedTryAcquire, lock),
            Op::Alone => script.operation(id, SyncVarOp::LockTryAcquire, lock),
        };
        if marked && op == ops.len() - 1 {
            script.say(id, UserEvent::BLOCK_ENDS);
        }
    }
    script
}

#[test]
fn a_finding_if_and_only_if_no_serial_order_explains_it() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut broken = 0;
    for number in 0..PROGRAMS {
        let program = program(&mut random);
        let order = interleaving(&program, &mut random);
        let expected = is_serialisable(&program, &order);
        let reports = script(&program, &order).play(&mut Atomicity::new());
        assert_eq!(
            reports.is_empty(),
            expected,
            "program {number} of seed {SEED:#x}: {program:?} in the order {order:?}: {reports:#?}"
        );
        broken += u32::from(!expected);
    }
    // Both happen often.
    assert!(
        (PROGRAMS / 10..PROGRAMS / 2).contains(&broken),
        "{broken} of {PROGRAMS} interleavings are not serialisable"
    );
}
