//! Random straight-line programs with the look-alikes, which can be printed as Rust code.

/// The maximum number of tasks of a program, including the test's own body.
pub(crate) const TASKS: usize = 4;

/// The numbers of atomics, mutexes and channels of a program.
pub(crate) const ATOMICS: usize = 2;
pub(crate) const MUTEXES: usize = 2;
/// The number of channels: unbounded, with room for one message, and a rendezvous.
pub(crate) const CHANNELS: usize = 3;

/// An operation. It does nothing if the task does not have the object: a guard, a handle, an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Load(usize),
    Store(usize, u8),
    Swap(usize, u8),
    Add(usize),
    Max(usize, u8),
    Exchange(usize, u8, u8),
    ExchangeWeak(usize, u8, u8),
    Update(usize),
    Toggle,
    Fence,
    Lock(usize),
    TryLock(usize),
    Unlock,
    PoisonMutex(usize),
    IsPoisoned(usize),
    ClearPoison(usize),
    Read,
    TryRead,
    Write,
    TryWrite,
    Downgrade,
    PoisonRwLock,
    Wait,
    WaitTimeout,
    NotifyOne,
    NotifyAll,
    Send(usize, u8),
    TrySend(usize, u8),
    Receive(usize),
    TryReceive(usize),
    ReceiveTimeout(usize),
    CloneSender(usize),
    CloseSender(usize),
    CloseReceiver(usize),
    CloneArc,
    DropArc,
    StrongCount,
    WeakCount,
    GetMut,
    TryUnwrap,
    IntoInner,
    Downgraded,
    Upgrade,
    CountOfWeak,
    DropWeak,
    CallOnce(bool),
    IsCompleted,
    SetOnce(u8),
    GetOnce,
    InitOnce(u8),
    Lazy,
    Static,
    StaticLazy,
    Arrive,
    Spawn(usize),
    Join(usize),
    IsFinished(usize),
    DropHandle(usize),
    Unpark(usize),
    Park,
    ParkTimeout,
    Yield,
    Sleep,
    Look,
    Scope(usize),
    ScopeAlone(usize),
    Panic,
    Catch(usize),
    Local(usize),
    Choose,
    AnyBool,
    Await(usize),
    Wake,
    SpawnFuture(usize),
    AwaitFuture,
    IsFutureFinished,
    Inspect(usize),
    Put(usize, u8),
    Take(usize, u8),
    TryTake(usize, u8),
    TakeTimeout(usize, u8),
    Unseen,
    Quiesce,
    OnlyIf(u8),
}

/// The operations of each task; the first task is the test's own body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program(pub(crate) Vec<Vec<Op>>);

/// Random numbers (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// The number of groups of operations that are drawn together, so that they interact.
const THEMES: usize = 15;

/// The maximum estimated number of orders of a program's steps. The reference runs each of them.
const ORDERS_MAX: f64 = 150.0;

/// Draws the program with this number.
pub(crate) fn draw(seed: u64, number: u64, theme: Option<usize>) -> Program {
    let mut random = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number);
    random.next();
    loop {
        let program = any(&mut random, theme);
        if program.orders() <= ORDERS_MAX {
            return program;
        }
    }
}

/// Draws a random program of any size. If a theme is given, its operations are frequent.
fn any(random: &mut Random, theme: Option<usize>) -> Program {
    let tasks = 2 + usize::from(random.below(3) == 0);
    // Operations that have a schedule point only in the reference multiply its executions.
    let most = if tasks == 2 { 3 } else { 1 + random.below(2) };
    let themes = [
        theme.unwrap_or_else(|| random.below(THEMES)),
        random.below(THEMES),
    ];
    let mut program: Vec<Vec<Op>> = Vec::new();
    for me in 0..tasks {
        let least = usize::from(me > 0);
        let count = least + random.below(most - least + 1);
        let mut ops = Vec::new();
        while ops.len() < count {
            let theme = match random.below(4) {
                0 => 0,
                1 => random.below(THEMES),
                _ => themes[random.below(2)],
            };
            operation(random, theme, me, tasks, &mut ops);
        }
        program.push(ops);
    }
    for task in (1..tasks).rev() {
        let creator = if random.below(5) == 0 {
            random.below(task)
        } else {
            0
        };
        let ops = &mut program[creator];
        let at = if random.below(4) == 0 {
            random.below(ops.len() + 1)
        } else {
            0
        };
        ops.insert(at, Op::Spawn(task));
        if random.below(3) == 0 {
            let after = at + 1 + random.below(ops.len() - at);
            ops.insert(
                after,
                [Op::Join(task), Op::IsFinished(task), Op::DropHandle(task)][random.below(3)],
            );
        }
    }
    Program(program)
}

fn operation(random: &mut Random, theme: usize, me: usize, tasks: usize, ops: &mut Vec<Op>) {
    use Op::*;
    let mut below = |bound| random.below(bound);
    let (which, value) = (below(2), below(3) as u8);
    let other = (me + 1 + below(tasks - 1)) % tasks;
    let channel = below(CHANNELS);
    if !ops.is_empty() && below(10) == 0 {
        ops.push(OnlyIf(value));
    }
    match theme {
        0 => ops.push(match below(11) {
            0 | 1 => Load(which),
            2 | 3 => Store(which, value),
            4 => Swap(which, value),
            5 => Add(which),
            6 => Max(which, value),
            7 => Exchange(which, value, below(3) as u8),
            8 => ExchangeWeak(which, value, below(3) as u8),
            9 => Update(which),
            _ => [Toggle, Fence][below(2)],
        }),
        1 => match below(8) {
            0 => ops.push(TryLock(which)),
            1 => ops.push(Unlock),
            2 => ops.push(PoisonMutex(which)),
            3 => ops.push(IsPoisoned(which)),
            4 => ops.push(ClearPoison(which)),
            _ => ops.extend([Lock(which), Unlock]),
        },
        2 => match below(7) {
            0 => ops.push(TryRead),
            1 => ops.push(TryWrite),
            2 => ops.extend([Read, Unlock]),
            3 => ops.extend([Write, Downgrade]),
            4 => ops.push(PoisonRwLock),
            5 => ops.push(Unlock),
            _ => ops.extend([Write, Unlock]),
        },
        3 => match below(5) {
            0 => ops.push(NotifyOne),
            1 => ops.push(NotifyAll),
            2 => ops.extend([Lock(0), WaitTimeout]),
            3 => ops.extend([Lock(0), NotifyOne, Unlock]),
            _ => ops.extend([Lock(0), Wait]),
        },
        4 => ops.push(match below(11) {
            0 => TrySend(channel, value),
            1 | 2 => Receive(channel),
            3 => TryReceive(channel),
            4 => ReceiveTimeout(channel),
            5 => CloneSender(channel),
            6 | 7 => CloseSender(channel),
            8 => CloseReceiver(channel),
            _ => Send(channel, value),
        }),
        5 => ops.push(match below(14) {
            0 => CloneArc,
            1..4 => DropArc,
            4 => StrongCount,
            5 => WeakCount,
            6 => GetMut,
            7 => TryUnwrap,
            8 => IntoInner,
            9 => Downgraded,
            10 => Upgrade,
            11 => CountOfWeak,
            _ => DropWeak,
        }),
        6 => ops.push(match below(8) {
            0 => CallOnce(below(3) == 0),
            1 => IsCompleted,
            2 => SetOnce(value),
            3 => GetOnce,
            4 => InitOnce(value),
            5 => Lazy,
            6 => Static,
            _ => StaticLazy,
        }),
        7 => ops.push(match below(6) {
            0 => Arrive,
            1 => Park,
            2 => ParkTimeout,
            3 => Yield,
            _ => Unpark(other),
        }),
        8 => ops.push([Sleep, Look, ParkTimeout, ReceiveTimeout(0), Yield, Arrive][below(6)]),
        9 => ops.push(match below(6) {
            0 => IsFinished(other),
            1 => Join(other),
            2 => DropHandle(other),
            3 => Scope(which),
            4 => ScopeAlone(which),
            _ => Local(which),
        }),
        10 => ops.push(match below(5) {
            0 => Panic,
            1 => Catch(which),
            2 => Choose,
            3 => AnyBool,
            _ => PoisonMutex(which),
        }),
        11 => ops.push(match below(7) {
            0 => Inspect(which),
            1 => Put(which, value),
            2 => TryTake(which, 1 << below(3)),
            3 => TakeTimeout(which, 1 << below(3)),
            4 => Take(which, 1 + below(7) as u8),
            5 => Quiesce,
            _ => Unseen,
        }),
        // Readers and writers that wait for something while they hold the lock.
        13 => match below(12) {
            0 => ops.push(Read),
            1 => ops.push(Write),
            2 => ops.extend([Read, Arrive, Unlock]),
            3 => ops.extend([Write, Downgrade, Arrive, Unlock]),
            4 => ops.extend([Read, Lock(which), Unlock, Unlock]),
            5 => ops.extend([Lock(which), Write, Unlock, Unlock]),
            6 => ops.extend([Read, Unpark(other), Park, Unlock]),
            7 => ops.extend([[TryRead, TryWrite][which], Unlock]),
            8 => ops.extend([Read, Add(which), Unlock]),
            9 => ops.extend([Read, Unlock]),
            10 => ops.push([Join(other), PoisonRwLock][which]),
            _ => ops.extend([Write, Unlock]),
        },
        // Waits with a limit for a message, and operations that may end them or come before their end.
        14 => match below(14) {
            0..4 => ops.push(ReceiveTimeout(channel)),
            4..6 => ops.push(Send(channel, value)),
            6 => ops.push(TrySend(channel, value)),
            7 => ops.push(TryReceive(channel)),
            8 | 9 => ops.push(CloseSender(channel)),
            10 => ops.push([Sleep, Look][which]),
            11 => ops.push([ParkTimeout, Unpark(other)][which]),
            12 => ops.push(Add(which)),
            _ => ops.extend([Lock(0), WaitTimeout]),
        },
        _ => ops.push(match below(6) {
            0 => Await(which),
            1 | 2 => Wake,
            3 => SpawnFuture(which),
            4 => AwaitFuture,
            _ => IsFutureFinished,
        }),
    }
}

impl Program {
    /// Estimates the number of orders of its steps with every operation a step, as if no task waited and all ran from
    /// the beginning.
    fn orders(&self) -> f64 {
        let steps = |ops: &Vec<Op>| -> usize {
            let of = |op: &Op| match op {
                Op::OnlyIf(_) | Op::Local(_) => 0,
                Op::Lock(_) | Op::Read | Op::Write | Op::Send(..) | Op::CloneArc => 2,
                Op::PoisonMutex(_) | Op::PoisonRwLock | Op::Catch(_) | Op::Wait | Op::WaitTimeout => 3,
                Op::Sleep | Op::ParkTimeout | Op::ReceiveTimeout(_) | Op::TakeTimeout(..) => 2,
                Op::Upgrade | Op::CallOnce(_) | Op::InitOnce(_) | Op::Lazy | Op::StaticLazy => 2,
                Op::Scope(_) => 7,
                Op::ScopeAlone(_) => 6,
                Op::Await(_) | Op::Wake | Op::SpawnFuture(_) | Op::AwaitFuture => 4,
                _ => 1,
            };
            ops.iter().map(of).sum()
        };
        let (mut placed, mut orders) = (0, 1.0);
        for (task, ops) in self.0.iter().enumerate() {
            // Each task has a beginning and an end. The first has begun already, and creates others before they run.
            let spawns = ops.iter().filter(|op| matches!(op, Op::Spawn(_))).count();
            let own = steps(ops) + if task == 0 { 1 - spawns.min(1) } else { 2 };
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
        let last = self.0.len() - 1;
        if last > 0 {
            let mut fewer = self.clone();
            fewer.0.pop();
            let names = |op: &Op| matches!(op, Op::Spawn(task) | Op::Join(task) | Op::IsFinished(task) | Op::DropHandle(task) | Op::Unpark(task) if *task == last);
            fewer.0.iter_mut().for_each(|ops| ops.retain(|op| !names(op)));
            smaller.push(fewer);
        }
        for (task, ops) in self.0.iter().enumerate() {
            for at in 0..ops.len() {
                let mut fewer = self.clone();
                fewer.0[task].remove(at);
                smaller.push(fewer);
            }
        }
        smaller
    }

    /// `true` if an operation of the program satisfies the condition.
    pub(crate) fn any(&self, is: impl Fn(&Op) -> bool) -> bool {
        self.0.iter().flatten().any(is)
    }
}

/// Returns the channel of which the operation uses a sender.
pub(crate) fn sends_to(op: &Op) -> Option<usize> {
    match *op {
        Op::Send(channel, _)
        | Op::TrySend(channel, _)
        | Op::CloneSender(channel)
        | Op::CloseSender(channel) => Some(channel),
        _ => None,
    }
}

/// Returns the channel of which the operation uses the receiver.
pub(crate) fn receives_from(op: &Op) -> Option<usize> {
    match *op {
        Op::Receive(channel)
        | Op::TryReceive(channel)
        | Op::ReceiveTimeout(channel)
        | Op::CloseReceiver(channel) => Some(channel),
        _ => None,
    }
}

/// `true` if the operation is on a weak handle.
pub(crate) fn is_weak(op: &Op) -> bool {
    matches!(op, Op::Upgrade | Op::CountOfWeak | Op::DropWeak)
}

/// `true` if the operation is on reference counts.
pub(crate) fn is_count(op: &Op) -> bool {
    use Op::*;
    is_weak(op)
        || matches!(
            op,
            CloneArc | DropArc | StrongCount | WeakCount | GetMut | TryUnwrap | IntoInner | Downgraded
        )
}
