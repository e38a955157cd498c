//! Random programs with groups of tasks that run the same operations.

/// The numbers of atomics and mutexes of a program.
pub(crate) const ATOMICS: usize = 2;
pub(crate) const MUTEXES: usize = 2;

/// An operation. It does nothing if the task does not have the guard that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Load(usize),
    Store(usize, u8),
    Add(usize),
    Swap(usize, u8),
    Exchange(usize, u8, u8),
    ExchangeWeak(usize, u8, u8),
    /// Loops, and yields, until the atomic has this value or a larger one.
    Await(usize, u8),
    Lock(usize),
    TryLock(usize),
    Unlock,
    Read,
    Write,
    Wait,
    WaitTimeout,
    NotifyOne,
    NotifyAll,
    Send(u8),
    Receive,
    TryReceive,
    CallOnce,
    Arrive,
    Park,
    UnparkMain,
    ParkTimeout,
    Yield,
    Sleep,
    CountOfArc,
    DropArc,
    Choose,
    /// Creates a task that adds to an atomic.
    Child(usize),
    /// Creates a group of two tasks that add to an atomic, and joins it or not.
    Nested(usize, bool),
    Panic,
    Quiesce,
    /// Skips the next operation unless the last value read was this one.
    OnlyIf(u8),
    /// Creates the group, or the task, with this number. Only in the test's own body.
    Spawn(usize),
}

/// A group of tasks that run the same operations: one task alone, or symmetric tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) tasks: usize,
    pub(crate) ops: Vec<Op>,
    /// `true` if the test joins the tasks at its end, and `false` if it never does.
    pub(crate) joined: bool,
    /// `true` if the results of the tasks have a destructor, which adds to an atomic.
    pub(crate) drops: bool,
}

/// A program: the operations of the test's own body, and groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) body: Vec<Op>,
    pub(crate) groups: Vec<Group>,
}

/// Random numbers (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// The maximum estimated number of orders of a program's steps.
const ORDERS_MAX: f64 = 3_000.0;

/// Draws the program with this number.
pub(crate) fn draw(seed: u64, number: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number);
    random.next();
    loop {
        let program = any(&mut random);
        if program.orders() <= ORDERS_MAX {
            return program;
        }
    }
}

fn any(random: &mut Random) -> Program {
    let themes = [random.below(THEMES), random.below(THEMES)];
    let groups = 1 + random.below(3);
    let symmetric = random.below(groups);
    let mut program = Program {
        body: operations(random, themes, 2, true),
        groups: Vec::new(),
    };
    for group in 0..groups {
        let several = group == symmetric || random.below(4) == 0;
        let tasks = if several { 2 + random.below(3) } else { 1 };
        let mut ops = operations(random, themes, 3, false);
        if ops.is_empty() {
            ops.push(Op::Add(0));
        }
        program.groups.push(Group {
            tasks,
            ops,
            joined: random.below(5) > 0,
            drops: random.below(12) == 0,
        });
        let at = if random.below(3) == 0 {
            random.below(program.body.len() + 1)
        } else {
            0
        };
        program.body.insert(at, Op::Spawn(group));
    }
    program
}

/// The number of groups of operations that are drawn together, so that they interact.
const THEMES: usize = 9;

fn operations(random: &mut Random, themes: [usize; 2], most: usize, is_body: bool) -> Vec<Op> {
    let count = random.below(most + 1);
    let mut ops = Vec::new();
    while ops.len() < count {
        let theme = match random.below(3) {
            0 => random.below(THEMES),
            _ => themes[random.below(2)],
        };
        operation(random, theme, is_body, &mut ops);
    }
    ops
}

fn operation(random: &mut Random, theme: usize, is_body: bool, ops: &mut Vec<Op>) {
    use Op::*;
    let mut below = |bound| random.below(bound);
    let (which, value) = (below(2), below(3) as u8);
    if !ops.is_empty() && below(6) == 0 {
        ops.push(OnlyIf(value));
    }
    match theme {
        0 | 1 => ops.push(match below(8) {
            0 | 1 => Load(which),
            2 => Store(which, value),
            3 => Swap(which, value),
            4 => Add(which),
            5 | 6 => ExchangeWeak(which, value, below(3) as u8),
            _ => Exchange(which, value, below(3) as u8),
        }),
        2 => match below(4) {
            0 => ops.push(TryLock(which)),
            1 => ops.push(Lock(which)),
            _ => ops.extend([Lock(which), Unlock]),
        },
        3 => match below(6) {
            0 => ops.push(NotifyOne),
            1 => ops.push(NotifyAll),
            2 => ops.extend([Lock(0), WaitTimeout]),
            3 => ops.extend([Lock(0), NotifyOne, Unlock]),
            _ => ops.extend([Lock(0), Wait]),
        },
        4 => ops.push([Send(value), Receive, TryReceive, Send(1)][below(4)]),
        5 => match below(4) {
            0 => ops.extend([Read, Unlock]),
            1 => ops.push(CallOnce),
            2 => ops.push(Arrive),
            _ => ops.extend([Write, Unlock]),
        },
        6 => ops.push(match below(6) {
            0 => Await(which, 1),
            1 => ParkTimeout,
            2 => Yield,
            3 => Sleep,
            _ if is_body => Park,
            _ => UnparkMain,
        }),
        7 => ops.push([CountOfArc, DropArc, DropArc, Await(which, 1), Add(which)][below(5)]),
        _ => match below(6) {
            0 => ops.push(Choose),
            1 if !is_body => ops.push(Child(which)),
            5 => ops.push(Nested(which, below(2) == 0)),
            2 => ops.extend([OnlyIf(value), Panic]),
            3 => ops.push(Quiesce),
            _ => ops.push(Await(which, 1)),
        },
    }
}

impl Program {
    /// Returns the product of the numbers of permutations of its groups.
    pub(crate) fn permutations(&self) -> u64 {
        let nested = |ops: &[Op]| ops.iter().filter(|op| matches!(op, Op::Nested(..))).count() as u32;
        let of = |group: &Group| {
            let own = (1..=group.tasks as u64).product::<u64>();
            own * 2_u64.pow(group.tasks as u32 * nested(&group.ops))
        };
        let of_groups: u64 = self.groups.iter().map(of).product();
        of_groups * 2_u64.pow(nested(&self.body))
    }

    /// `true` if the test gives up handles on results that have a destructor.
    pub(crate) fn tells_apart(&self) -> bool {
        let gives_up = |group: &Group| group.tasks > 1 && group.drops && !group.joined;
        let spawned = |number| self.body.contains(&Op::Spawn(number));
        (0..self.groups.len()).any(|number| spawned(number) && gives_up(&self.groups[number]))
    }

    /// `true` if an operation of the program satisfies the condition.
    pub(crate) fn any(&self, is: impl Fn(&Op) -> bool) -> bool {
        let of_groups = self.groups.iter().flat_map(|group| &group.ops);
        self.body.iter().chain(of_groups).any(is)
    }

    /// Estimates the number of orders of its steps, as if no task waited and all ran from the beginning.
    fn orders(&self) -> f64 {
        let steps = |ops: &Vec<Op>| -> usize {
            let of = |op: &Op| match op {
                Op::OnlyIf(_) | Op::Spawn(_) | Op::Panic => 0,
                Op::Lock(_) | Op::Read | Op::Write | Op::Receive | Op::Send(_) | Op::Sleep => 2,
                Op::ParkTimeout | Op::CallOnce | Op::Child(_) | Op::TryReceive | Op::Nested(..) => 2,
                Op::Wait | Op::WaitTimeout | Op::Await(..) => 3,
                _ => 1,
            };
            ops.iter().map(of).sum()
        };
        let tasks = self.groups.iter().flat_map(|group| {
            let own = steps(&group.ops) + usize::from(group.drops && !group.joined);
            std::iter::repeat_n(own, group.tasks)
        });
        let (mut placed, mut orders) = (0, 1.0);
        for own in tasks.chain([steps(&self.body)]) {
            for step in 1..=own {
                placed += 1;
                orders *= f64::from(placed) / step as f64;
            }
        }
        orders
    }

    /// Returns smaller programs.
    pub(crate) fn smaller(&self) -> Vec<Program> {
        let mut smaller = Vec::new();
        for group in 0..self.groups.len() {
            if self.groups[group].tasks > 2 {
                let mut fewer = self.clone();
                fewer.groups[group].tasks -= 1;
                smaller.push(fewer);
            }
            if !self.groups[group].joined {
                let mut simpler = self.clone();
                simpler.groups[group].joined = true;
                smaller.push(simpler);
            }
            for at in 0..self.groups[group].ops.len() {
                let mut fewer = self.clone();
                fewer.groups[group].ops.remove(at);
                smaller.push(fewer);
            }
        }
        for at in 0..self.body.len() {
            let mut fewer = self.clone();
            fewer.body.remove(at);
            smaller.push(fewer);
        }
        smaller
    }
}
