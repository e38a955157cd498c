//! Random programs with std's types. An outcome has the result of each operation, and the state at the end.
//!
//! No operation waits for long, so a program also ends with real threads.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock, Weak};
use std::thread;
use std::time::Duration;

/// A generator of random numbers (xorshift).
pub struct Rng(u64);

impl Rng {
    pub fn new(s: u64) -> Rng {
        Rng(s.wrapping_mul(0x9E3779B97F4A7C15) ^ 0x1234567)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545F4914F6CDD1D) >> 20
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// An operation. The numbers are variables, orderings and values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Load(u8, u8),
    Store(u8, u8, u8),
    Add(u8, u8),
    Swap(u8, u8, u8),
    Cas(u8, u8, u8, u8),
    CasWeakLoop(u8, u8),
    Update(u8),
    Fence(u8),
    Lock(u8),
    TryLock,
    LockPanic,
    IsPoisoned,
    ClearPoison,
    Read,
    Write(u8),
    TryRead,
    TryWrite,
    Send(u8),
    TryRecv,
    RecvTimeout,
    SyncTrySend(u8),
    SyncTryRecv,
    DropSender,
    NotifyOne,
    NotifyAll,
    WaitTimeout,
    SetOnce(u8),
    GetOnce,
    GetOrInit(u8),
    StrongCount,
    Upgrade,
    GetMutArc,
    TryUnwrap,
    DropArc,
    CloneArc,
    WeakCount,
    SpawnNested(u8),
    IsFinished,
    JoinNested,
    ParkTimeout,
    UnparkMain,
    Yield,
    Sleep,
    Local(u8),
    StaticAdd,
    StaticLoad,
    Bool,
    Lazy,
}
use Op::*;

/// Returns the operations of each task of a program.
pub fn generate(seed: u64) -> Vec<Vec<Op>> {
    let mut r = Rng::new(seed + 1);
    for _ in 0..5 {
        r.next();
    }
    let tasks = 2 + r.below(2) as usize;
    let theme = r.below(8);
    let mut timed = vec![false; tasks];
    (0..tasks)
        .map(|t| {
            let n = 2 + r.below(if tasks == 2 { 4 } else { 2 });
            (0..n)
                .map(|_| {
                    let wild = r.below(4) == 0;
                    let k = if wild { r.below(8) } else { theme };
                    let v = r.below(2) as u8;
                    let o = r.below(3) as u8;
                    let x = 1 + r.below(3) as u8;
                    match k {
                        0 => match r.below(8) {
                            0 | 1 => Load(v, o),
                            2 | 3 => Store(v, x, o),
                            4 => Add(v, o),
                            5 => Swap(v, x, o),
                            6 => Cas(v, r.below(3) as u8, x, o),
                            _ => {
                                if r.below(2) == 0 {
                                    CasWeakLoop(v, o)
                                } else {
                                    Fence(o)
                                }
                            }
                        },
                        1 => match r.below(8) {
                            0 | 1 | 2 => Lock(x),
                            3 => TryLock,
                            4 => LockPanic,
                            5 => IsPoisoned,
                            6 => ClearPoison,
                            _ => Update(v),
                        },
                        2 => match r.below(6) {
                            0 | 1 => Read,
                            2 | 3 => Write(x),
                            4 => TryRead,
                            _ => TryWrite,
                        },
                        3 => match r.below(8) {
                            0 | 1 => Send(x),
                            2 | 3 => TryRecv,
                            4 => {
                                if timed[t] {
                                    TryRecv
                                } else {
                                    timed[t] = true;
                                    RecvTimeout
                                }
                            }
                            5 => SyncTrySend(x),
                            6 => SyncTryRecv,
                            _ => DropSender,
                        },
                        4 => match r.below(5) {
                            0 => NotifyOne,
                            1 => NotifyAll,
                            2 | 3 => {
                                if timed[t] {
                                    NotifyOne
                                } else {
                                    timed[t] = true;
                                    WaitTimeout
                                }
                            }
                            _ => Lock(x),
                        },
                        5 => match r.below(6) {
                            0 => SetOnce(x),
                            1 | 2 => GetOnce,
                            3 => GetOrInit(x),
                            4 => Bool,
                            _ => Lazy,
                        },
                        6 => match r.below(8) {
                            0 => StrongCount,
                            1 => Upgrade,
                            2 => GetMutArc,
                            3 => TryUnwrap,
                            4 => DropArc,
                            5 => CloneArc,
                            6 => WeakCount,
                            _ => Load(v, o),
                        },
                        _ => match r.below(9) {
                            0 => SpawnNested(v),
                            1 => IsFinished,
                            2 => JoinNested,
                            3 => {
                                if timed[t] {
                                    Yield
                                } else {
                                    timed[t] = true;
                                    ParkTimeout
                                }
                            }
                            4 => UnparkMain,
                            5 => Yield,
                            6 => Local(x),
                            7 => StaticAdd,
                            _ => StaticLoad,
                        },
                    }
                })
                .collect()
        })
        .collect()
}

/// Statics, which are restored for each execution.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static LAZY: std::sync::LazyLock<Mutex<usize>> = std::sync::LazyLock::new(|| Mutex::new(7));
/// A value whose destructor has an effect that other tasks can see.
struct InDrop(Cell<u8>, Arc<AtomicUsize>);
impl Drop for InDrop {
    fn drop(&mut self) {
        self.1.fetch_add(self.0.get() as usize, Ordering::Relaxed);
    }
}
thread_local! { static LOCAL: std::cell::RefCell<Option<InDrop>> = const { std::cell::RefCell::new(None) }; }

/// The variables that the tasks share.
struct Shared {
    a: [AtomicUsize; 2],
    flag: AtomicBool,
    m: Mutex<usize>,
    rw: RwLock<usize>,
    cv: Condvar,
    rx: Mutex<Receiver<u8>>,
    srx: Mutex<Receiver<u8>>,
    once: OnceLock<u8>,
    dropped: Arc<AtomicUsize>,
    main: thread::Thread,
}

fn load_order(o: u8) -> Ordering {
    [Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst][o as usize]
}
fn store_order(o: u8) -> Ordering {
    [Ordering::Relaxed, Ordering::Release, Ordering::SeqCst][o as usize]
}
fn rmw_order(o: u8) -> Ordering {
    [Ordering::Relaxed, Ordering::AcqRel, Ordering::SeqCst][o as usize]
}

/// Runs the operations of a task, and returns their results. With real threads there are pauses of random length, unless
/// `jitter` is 0.
fn run_task(
    ops: &[Op],
    s: &Shared,
    tx: Sender<u8>,
    stx: SyncSender<u8>,
    arc: Arc<u8>,
    weak: Weak<u8>,
    jitter: u64,
) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut tx, mut arc) = (Some(tx), Some(arc));
    let mut more: Vec<Arc<u8>> = Vec::new();
    let mut nested: Option<thread::JoinHandle<u8>> = None;
    let mut j = Rng::new(jitter);
    for op in ops {
        if jitter != 0 {
            let spins = match j.below(6) {
                0 => 0,
                1 => {
                    thread::yield_now();
                    0
                }
                2 => j.below(2000),
                _ => j.below(60),
            };
            for _ in 0..spins {
                std::hint::black_box(spins);
            }
        }
        let saw: u8 = match *op {
            Load(v, o) => s.a[v as usize].load(load_order(o)) as u8,
            Store(v, x, o) => {
                s.a[v as usize].store(x as usize, store_order(o));
                0
            }
            Add(v, o) => s.a[v as usize].fetch_add(1, rmw_order(o)) as u8,
            Swap(v, x, o) => s.a[v as usize].swap(x as usize, rmw_order(o)) as u8,
            Cas(v, e, x, o) => {
                match s.a[v as usize].compare_exchange(e as usize, x as usize, rmw_order(o), load_order(o)) {
                    Ok(x) => x as u8,
                    Err(x) => 100 + x as u8,
                }
            }
            CasWeakLoop(v, o) => {
                let mut now = s.a[v as usize].load(Ordering::Relaxed);
                loop {
                    match s.a[v as usize].compare_exchange_weak(now, now + 1, rmw_order(o), Ordering::Relaxed)
                    {
                        Ok(x) => break x as u8,
                        Err(x) => now = x,
                    }
                }
            }
            Update(v) => match s.a[v as usize]
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |x| (x < 3).then_some(x + 2))
            {
                Ok(x) => x as u8,
                Err(x) => 100 + x as u8,
            },
            Fence(o) => {
                fence([Ordering::Acquire, Ordering::Release, Ordering::SeqCst][o as usize]);
                0
            }
            Lock(x) => match s.m.lock() {
                Ok(mut g) => {
                    let old = *g;
                    *g += x as usize;
                    old as u8
                }
                Err(e) => {
                    let mut g = e.into_inner();
                    let old = *g;
                    *g += x as usize;
                    100 + old as u8
                }
            },
            TryLock => match s.m.try_lock() {
                Ok(mut g) => {
                    *g += 1;
                    *g as u8
                }
                Err(std::sync::TryLockError::WouldBlock) => 200,
                Err(std::sync::TryLockError::Poisoned(e)) => 100 + *e.into_inner() as u8,
            },
            LockPanic => std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _g = s.m.lock();
                std::panic::resume_unwind(Box::new(1u8));
            }))
            .is_err() as u8,
            IsPoisoned => s.m.is_poisoned() as u8,
            ClearPoison => {
                s.m.clear_poison();
                0
            }
            Read => *s.rw.read().unwrap() as u8,
            Write(x) => {
                let mut g = s.rw.write().unwrap();
                let old = *g;
                *g = old * 2 + x as usize;
                old as u8
            }
            TryRead => s.rw.try_read().map_or(200, |g| *g as u8),
            TryWrite => s.rw.try_write().map_or(200, |mut g| {
                *g += 1;
                *g as u8
            }),
            Send(x) => tx.as_ref().map_or(9, |tx| tx.send(x).is_err() as u8),
            TryRecv => match s.rx.lock().unwrap().try_recv() {
                Ok(x) => x,
                Err(TryRecvError::Empty) => 100,
                Err(TryRecvError::Disconnected) => 101,
            },
            RecvTimeout => match s.rx.lock().unwrap().recv_timeout(Duration::from_micros(300)) {
                Ok(x) => x,
                Err(RecvTimeoutError::Timeout) => 100,
                Err(RecvTimeoutError::Disconnected) => 101,
            },
            SyncTrySend(x) => match stx.try_send(x) {
                Ok(()) => 0,
                Err(TrySendError::Full(_)) => 1,
                Err(TrySendError::Disconnected(_)) => 2,
            },
            SyncTryRecv => match s.srx.lock().unwrap().try_recv() {
                Ok(x) => x,
                Err(TryRecvError::Empty) => 100,
                Err(TryRecvError::Disconnected) => 101,
            },
            DropSender => {
                tx = None;
                0
            }
            NotifyOne => {
                s.cv.notify_one();
                0
            }
            NotifyAll => {
                s.cv.notify_all();
                0
            }
            WaitTimeout => {
                let g = s.m.lock().unwrap_or_else(|e| e.into_inner());
                let (g, t) =
                    s.cv.wait_timeout(g, Duration::from_micros(300))
                        .unwrap_or_else(|e| e.into_inner());
                *g as u8 * 2 + t.timed_out() as u8
            }
            SetOnce(x) => s.once.set(x).is_ok() as u8,
            GetOnce => s.once.get().copied().unwrap_or(100),
            GetOrInit(x) => *s
                .once
                .get_or_init(|| s.a[0].load(Ordering::Relaxed) as u8 * 4 + x),
            StrongCount => arc.as_ref().map_or(99, |a| Arc::strong_count(a) as u8),
            Upgrade => match weak.upgrade() {
                Some(_) => 1,
                None => 0,
            },
            GetMutArc => arc.as_mut().map_or(99, |a| Arc::get_mut(a).is_some() as u8),
            TryUnwrap => match arc.take() {
                Some(a) => match Arc::try_unwrap(a) {
                    Ok(_) => 1,
                    Err(a) => {
                        arc = Some(a);
                        0
                    }
                },
                None => 99,
            },
            DropArc => {
                arc = None;
                0
            }
            CloneArc => {
                if let Some(a) = &arc {
                    more.push(a.clone());
                }
                0
            }
            WeakCount => arc.as_ref().map_or(99, |a| Arc::weak_count(a) as u8),
            SpawnNested(v) => {
                let d = s.dropped.clone();
                if nested.is_none() {
                    nested = Some(thread::spawn(move || {
                        let x = d.fetch_add(1 + v as usize, Ordering::Relaxed) as u8;
                        LOCAL.with(|l| *l.borrow_mut() = Some(InDrop(Cell::new(16), d)));
                        x
                    }));
                }
                0
            }
            IsFinished => nested.as_ref().map_or(9, |h| h.is_finished() as u8),
            JoinNested => nested.take().map_or(99, |h| h.join().unwrap()),
            ParkTimeout => {
                thread::park_timeout(Duration::from_micros(200));
                0
            }
            UnparkMain => {
                s.main.unpark();
                0
            }
            Yield => {
                thread::yield_now();
                0
            }
            Sleep => {
                thread::sleep(Duration::from_micros(50));
                0
            }
            Local(x) => LOCAL.with(|l| {
                let mut l = l.borrow_mut();
                match &*l {
                    Some(v) => {
                        let old = v.0.get();
                        v.0.set(x);
                        old
                    }
                    None => {
                        *l = Some(InDrop(Cell::new(x), s.dropped.clone()));
                        99
                    }
                }
            }),
            StaticAdd => COUNT.fetch_add(1, Ordering::Relaxed) as u8,
            StaticLoad => COUNT.load(Ordering::Acquire) as u8,
            Bool => s.flag.fetch_xor(true, Ordering::AcqRel) as u8,
            Lazy => {
                let mut g = LAZY.lock().unwrap();
                *g += 1;
                *g as u8
            }
        };
        out.push(saw);
    }
    if let Some(h) = nested {
        out.push(h.join().unwrap());
    }
    out
}

/// Runs a program once, and returns the result of each operation, and the final state.
pub fn run(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    COUNT.store(0, Ordering::Relaxed);
    if program.iter().flatten().any(|op| *op == Lazy) {
        *LAZY.lock().unwrap() = 7;
    }
    let (tx, rx) = channel();
    let (stx, srx) = sync_channel(1);
    let shared = Arc::new(Shared {
        a: Default::default(),
        flag: AtomicBool::new(false),
        m: Mutex::new(0),
        rw: RwLock::new(0),
        cv: Condvar::new(),
        rx: Mutex::new(rx),
        srx: Mutex::new(srx),
        once: OnceLock::new(),
        dropped: Arc::default(),
        main: thread::current(),
    });
    let arc = Arc::new(1u8);
    let weak = Arc::downgrade(&arc);
    let mut tasks = Vec::new();
    for (i, ops) in program.iter().enumerate() {
        let (ops, s, tx, stx, arc, weak) = (
            ops.clone(),
            shared.clone(),
            tx.clone(),
            stx.clone(),
            arc.clone(),
            weak.clone(),
        );
        let jitter = if jitter == 0 { 0 } else { jitter + 1000 * i as u64 };
        tasks.push(thread::spawn(move || {
            run_task(&ops, &s, tx, stx, arc, weak, jitter)
        }));
    }
    drop((tx, stx, arc));
    let mut out = Vec::new();
    for t in tasks {
        out.extend(t.join().unwrap());
        out.push(255);
    }
    out.push(shared.a[0].load(Ordering::Relaxed) as u8);
    out.push(shared.a[1].load(Ordering::Relaxed) as u8);
    out.push(shared.m.is_poisoned() as u8);
    out.push(*shared.rw.read().unwrap() as u8);
    out.push(shared.dropped.load(Ordering::Relaxed) as u8);
    out.push(weak.upgrade().is_some() as u8);
    out
}
