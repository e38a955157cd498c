//! Random programs on published crates, as `programs.rs` has them on std's types. Each is about one crate.
//!
//! No operation waits for more than a moment, so a program ends on real threads, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A generator of random numbers (xorshift).
struct Rng(u64);

impl Rng {
    fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x0123_4567)
    }
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 20
    }
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// An operation: its kind, of which each family takes as many as it has, and a value.
type Op = (u8, u8);

/// A program: its family, and the operations of each task.
pub type Program = (usize, Vec<Vec<Op>>);

/// Runs the operations of each task, and returns what they saw, and the final state. On real threads there are pauses of
/// random length, unless the last argument is 0.
type Family = fn(&[Vec<Op>], u64) -> Vec<u8>;

const FAMILIES: &[Family] = &[
    mutex,
    rw_lock,
    condvar,
    array_queue,
    seg_queue,
    channel,
    rendezvous,
    deque,
    arc_swap,
    dash_map,
    once_cell,
    flume,
    concurrent_queue,
    spin,
    kanal,
];

/// Returns the program of this seed.
pub fn generate(seed: u64) -> Program {
    let mut draw = Rng::new(seed + 1);
    for _ in 0..5 {
        draw.next();
    }
    let tasks = if draw.below(4) == 0 { 3 } else { 2 };
    let operations = (0..tasks).map(|_| {
        let number = 1 + draw.below(if tasks == 2 { 3 } else { 2 });
        (0..number)
            .map(|_| (draw.below(64) as u8, 1 + draw.below(3) as u8))
            .collect()
    });
    (seed as usize % FAMILIES.len(), operations.collect())
}

/// Runs a program once.
pub fn run((family, program): &Program, jitter: u64) -> Vec<u8> {
    FAMILIES[*family](program, jitter)
}

/// The limit of waits.
const MOMENT: Duration = Duration::from_micros(200);

/// Runs the tasks on what they share. `op` performs an operation with the task's own state, and `end` reads the final state.
fn go<S: Send + Sync + 'static, L: Default + 'static>(
    shared: S,
    program: &[Vec<Op>],
    jitter: u64,
    op: fn(&S, &mut L, u8, u8) -> u8,
    end: fn(&S) -> Vec<u8>,
) -> Vec<u8> {
    let shared = Arc::new(shared);
    let tasks: Vec<_> = (0..)
        .zip(program)
        .map(|(number, ops)| {
            let (shared, ops) = (shared.clone(), ops.clone());
            thread::spawn(move || {
                let mut draw = Rng::new(jitter + 1000 * number);
                let mut own = L::default();
                let mut seen = Vec::new();
                for (kind, value) in ops {
                    if jitter != 0 {
                        pause(&mut draw);
                    }
                    seen.push(op(&shared, &mut own, kind, value));
                }
                seen
            })
        })
        .collect();
    let mut seen = Vec::new();
    for task in tasks {
        seen.extend(task.join().unwrap());
        seen.push(255);
    }
    seen.extend(end(&shared));
    seen
}

/// Pauses for a random time.
fn pause(draw: &mut Rng) {
    let rounds = match draw.below(6) {
        0 => 0,
        1 => {
            thread::yield_now();
            0
        }
        2 => draw.below(2000),
        _ => draw.below(60),
    };
    for _ in 0..rounds {
        std::hint::black_box(rounds);
    }
}

/// Returns the value, or 100 for none.
fn or_none(value: Option<u8>) -> u8 {
    value.unwrap_or(100)
}

fn mutex(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use parking_lot::Mutex;
    go::<_, ()>(
        (Mutex::new(0u8), Mutex::new(0u8)),
        program,
        jitter,
        |s, _, k, x| match k % 6 {
            0 | 1 => {
                let mut g = s.0.lock();
                let v = *g;
                *g = v.wrapping_mul(2).wrapping_add(x);
                v
            }
            2 => s.0.try_lock().map_or(100, |mut g| {
                *g += 1;
                *g
            }),
            3 => {
                let a = s.0.lock();
                let b = s.1.try_lock();
                *a * 2 + b.is_some() as u8
            }
            4 => {
                let mut b = s.1.lock();
                *b += x;
                *b + 10 * s.0.is_locked() as u8
            }
            _ => {
                let g = s.0.lock();
                parking_lot::MutexGuard::unlock_fair(g);
                0
            }
        },
        |s| vec![*s.0.lock(), *s.1.lock()],
    )
}

fn rw_lock(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use parking_lot::*;
    go::<_, ()>(
        RwLock::new(0u8),
        program,
        jitter,
        |s, _, k, x| match k % 8 {
            0 | 1 => *s.read(),
            2 => {
                let mut g = s.write();
                let v = *g;
                *g = v.wrapping_mul(2).wrapping_add(x);
                v
            }
            3 => s.try_read().map_or(100, |g| *g),
            4 => s.try_write().map_or(100, |mut g| {
                *g += 1;
                *g
            }),
            5 => {
                let g = s.upgradable_read();
                let v = *g;
                let mut w = RwLockUpgradableReadGuard::upgrade(g);
                *w += x;
                v * 16 + *w
            }
            6 => {
                let mut g = s.write();
                *g += x;
                let r = RwLockWriteGuard::downgrade(g);
                *r
            }
            _ => s.try_upgradable_read().map_or(100, |g| {
                RwLockUpgradableReadGuard::try_upgrade(g).map_or(101, |mut w| {
                    *w += 1;
                    *w
                })
            }),
        },
        |s| vec![*s.read()],
    )
}

fn condvar(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use parking_lot::*;
    go::<_, bool>(
        (Mutex::new(0u8), Condvar::new(), Once::new()),
        program,
        jitter,
        |s, l, k, x| match k % 6 {
            0 => {
                s.1.notify_one();
                0
            }
            1 => {
                s.1.notify_all();
                0
            }
            2 | 3 if !*l => {
                *l = true;
                let mut g = s.0.lock();
                let t = s.1.wait_for(&mut g, MOMENT).timed_out();
                *g * 2 + t as u8
            }
            4 => {
                s.2.call_once(|| *s.0.lock() += 8);
                s.0.lock().wrapping_add(s.2.state().done() as u8)
            }
            _ => {
                *s.0.lock() += x;
                0
            }
        },
        |s| vec![*s.0.lock()],
    )
}

fn array_queue(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use crossbeam_queue::*;
    go::<_, ()>(
        (ArrayQueue::new(1), ArrayQueue::new(2)),
        program,
        jitter,
        |s, _, k, x| match k % 8 {
            0 => s.0.push(x).is_ok() as u8,
            1 => or_none(s.0.pop()),
            2 => or_none(s.0.force_push(x)),
            3 => s.0.len() as u8 + 8 * s.0.is_full() as u8,
            4 => s.1.push(x).is_ok() as u8,
            5 => or_none(s.1.pop()),
            6 => or_none(s.1.force_push(x)),
            _ => s.1.len() as u8,
        },
        |s| vec![or_none(s.0.pop()), or_none(s.1.pop()), or_none(s.1.pop())],
    )
}

fn seg_queue(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use crossbeam_queue::*;
    go::<_, ()>(
        SegQueue::new(),
        program,
        jitter,
        |s, _, k, x| match k % 4 {
            0 | 1 => {
                s.push(x);
                0
            }
            2 => or_none(s.pop()),
            _ => s.len() as u8 + 8 * s.is_empty() as u8,
        },
        |s| {
            let mut v = vec![];
            while let Some(x) = s.pop() {
                v.push(x)
            }
            v
        },
    )
}

fn channel(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use crossbeam_channel::*;
    go::<_, bool>(
        (bounded::<u8>(1), unbounded::<u8>()),
        program,
        jitter,
        |s, l, k, x| match k % 8 {
            0 | 1 => s.0.0.try_send(x).is_ok() as u8,
            2 => or_none(s.0.1.try_recv().ok()),
            3 => s.0.1.len() as u8,
            4 if !*l => {
                *l = true;
                or_none(s.0.1.recv_timeout(MOMENT).ok())
            }
            5 if !*l => {
                *l = true;
                s.0.0.send_timeout(x, MOMENT).is_ok() as u8
            }
            6 => s.1.0.send(x).is_ok() as u8,
            _ => or_none(s.1.1.try_recv().ok()),
        },
        |s| vec![or_none(s.0.1.try_recv().ok()), or_none(s.1.1.try_recv().ok())],
    )
}

fn rendezvous(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use crossbeam_channel::*;
    go::<_, bool>(
        (bounded::<u8>(0), bounded::<u8>(1)),
        program,
        jitter,
        |s, l, k, x| match k % 7 {
            0 => s.0.0.try_send(x).is_ok() as u8,
            1 => or_none(s.0.1.try_recv().ok()),
            2 if !*l => {
                *l = true;
                or_none(s.0.1.recv_timeout(MOMENT).ok())
            }
            3 if !*l => {
                *l = true;
                s.0.0.send_timeout(x, MOMENT).is_ok() as u8
            }
            4 => s.1.0.try_send(x).is_ok() as u8,
            5 if !*l => {
                *l = true;
                select! { recv(s.0.1) -> m => or_none(m.ok()), recv(s.1.1) -> m => 50 + or_none(m.ok()), default(MOMENT) => 99 }
            }
            _ => {
                select! { recv(s.0.1) -> m => or_none(m.ok()), recv(s.1.1) -> m => 50 + or_none(m.ok()), default => 99 }
            }
        },
        |s| vec![or_none(s.1.1.try_recv().ok())],
    )
}

fn deque(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use crossbeam_deque::*;
    fn st(x: Steal<u8>) -> u8 {
        match x {
            Steal::Success(x) => x,
            Steal::Empty => 100,
            Steal::Retry => 101,
        }
    }
    struct S(std::sync::Mutex<Vec<Worker<u8>>>, Vec<Stealer<u8>>, Injector<u8>);
    let w: Vec<_> = (0..program.len())
        .map(|i| {
            if i == 1 {
                Worker::new_fifo()
            } else {
                Worker::new_lifo()
            }
        })
        .collect();
    for (i, w) in w.iter().enumerate() {
        w.push(10 + i as u8);
    }
    let st0 = w.iter().map(|w| w.stealer()).collect();
    go::<_, Option<Worker<u8>>>(
        S(std::sync::Mutex::new(w), st0, Injector::new()),
        program,
        jitter,
        |s, l, k, x| {
            let w = l.get_or_insert_with(|| s.0.lock().unwrap().pop().unwrap());
            match k % 8 {
                0 | 1 => {
                    w.push(x);
                    0
                }
                2 | 3 => or_none(w.pop()),
                4 => st(s.1[x as usize % s.1.len()].steal()),
                5 => {
                    s.2.push(x);
                    0
                }
                6 => st(s.2.steal()),
                _ => st(s.1[x as usize % s.1.len()].steal_batch_and_pop(w)),
            }
        },
        |s| s.1.iter().map(|s| s.len() as u8).collect(),
    )
}

fn arc_swap(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use arc_swap::*;
    go::<_, Option<Arc<u8>>>(
        (ArcSwap::from_pointee(0u8), ArcSwapOption::<u8>::empty()),
        program,
        jitter,
        |s, l, k, x| match k % 8 {
            0 => **s.0.load(),
            1 => {
                s.0.store(Arc::new(x));
                0
            }
            2 => *s.0.swap(Arc::new(x)),
            3 => *s.0.rcu(|v| **v + x),
            4 => {
                let a = s.0.load_full();
                let c = Arc::strong_count(&a) as u8;
                *l = Some(a);
                c
            }
            5 => {
                let a = s.0.load();
                **s.0.compare_and_swap(&a, Arc::new(x + 10))
            }
            6 => {
                s.1.store(Some(Arc::new(x)));
                0
            }
            _ => s.1.load().as_ref().map_or(100, |a| **a),
        },
        |s| vec![**s.0.load(), s.1.load().as_ref().map_or(100, |a| **a)],
    )
}

fn dash_map(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use dashmap::DashMap;
    go::<_, ()>(
        DashMap::<u8, u8>::with_shard_amount(2),
        program,
        jitter,
        |s, _, k, x| match k % 9 {
            0 | 1 => or_none(s.insert(x, k)),
            2 => s.get(&x).map_or(100, |v| *v),
            3 => s.remove(&x).map_or(100, |v| v.1),
            4 => s.len() as u8,
            5 => {
                let mut e = s.entry(x).or_insert(0);
                *e += 1;
                *e
            }
            6 => s.get_mut(&x).map_or(100, |mut v| {
                *v += 1;
                *v
            }),
            7 => s.contains_key(&x) as u8,
            _ => s.iter().fold(0u8, |a, e| a.wrapping_add(*e.key())),
        },
        |s| {
            let mut v: Vec<u8> = s.iter().flat_map(|e| [*e.key() * 64 + *e.value()]).collect();
            v.sort();
            v
        },
    )
}

fn once_cell(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use once_cell::sync::*;
    go::<_, ()>(
        (OnceCell::<u8>::new(), AtomicUsize::new(0)),
        program,
        jitter,
        |s, _, k, x| match k % 6 {
            0 => s.0.set(x).is_ok() as u8,
            1 => or_none(s.0.get().copied()),
            2 => *s.0.get_or_init(|| s.1.fetch_add(1, Relaxed) as u8 * 8 + x),
            3 => {
                s.0.get_or_try_init(|| if s.1.load(Relaxed) == 0 { Err(()) } else { Ok(x) })
                    .map_or(100, |x| *x)
            }
            4 => s.1.fetch_add(1, Relaxed) as u8,
            _ => s.0.try_insert(x).is_ok() as u8,
        },
        |s| vec![or_none(s.0.get().copied()), s.1.load(Relaxed) as u8],
    )
}

fn flume(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use flume::*;
    go::<_, (bool, Option<Sender<u8>>)>(
        (bounded::<u8>(1), bounded::<u8>(0)),
        program,
        jitter,
        |s, l, k, x| match k % 8 {
            0 | 1 => s.0.0.try_send(x).is_ok() as u8,
            2 => or_none(s.0.1.try_recv().ok()),
            3 => s.0.1.len() as u8,
            4 if !l.0 => {
                l.0 = true;
                or_none(s.1.1.recv_timeout(MOMENT).ok())
            }
            5 if !l.0 => {
                l.0 = true;
                s.0.0.send_timeout(x, MOMENT).is_ok() as u8
            }
            6 => {
                l.1 = Some(s.0.0.clone());
                s.0.1.sender_count() as u8
            }
            _ => s.1.0.try_send(x).is_ok() as u8,
        },
        |s| vec![or_none(s.0.1.try_recv().ok())],
    )
}

fn concurrent_queue(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use concurrent_queue::*;
    go::<_, ()>(
        (ConcurrentQueue::bounded(1), ConcurrentQueue::unbounded()),
        program,
        jitter,
        |s, _, k, x| match k % 8 {
            0 => s.0.push(x).is_ok() as u8,
            1 => or_none(s.0.pop().ok()),
            2 => s.0.len() as u8,
            3 => s.0.close() as u8,
            4 => s.1.push(x).is_ok() as u8,
            5 => or_none(s.1.pop().ok()),
            6 => s.1.close() as u8,
            _ => s.0.force_push(x).map_or(101, |v| or_none(v)),
        },
        |s| {
            vec![
                or_none(s.0.pop().ok()),
                or_none(s.1.pop().ok()),
                or_none(s.1.pop().ok()),
            ]
        },
    )
}

fn spin(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    use spin::*;
    go::<_, ()>(
        (Mutex::<u8>::new(0), RwLock::<u8>::new(0), Once::<u8>::new()),
        program,
        jitter,
        |s, _, k, x| match k % 8 {
            0 => {
                let mut g = s.0.lock();
                let v = *g;
                *g = v.wrapping_mul(2).wrapping_add(x);
                v
            }
            1 => s.0.try_lock().map_or(100, |mut g| {
                *g += 1;
                *g
            }),
            2 => *s.1.read(),
            3 => {
                let mut g = s.1.write();
                *g += x;
                *g
            }
            4 => s.1.try_write().map_or(100, |mut g| {
                *g += 1;
                *g
            }),
            5 => *s.2.call_once(|| x),
            6 => or_none(s.2.get().copied()),
            _ => s.0.is_locked() as u8,
        },
        |s| vec![*s.0.lock(), *s.1.read()],
    )
}

fn kanal(program: &[Vec<Op>], jitter: u64) -> Vec<u8> {
    go::<_, bool>(
        (kanal::bounded::<u8>(1), thingbuf::ThingBuf::<u8>::new(2)),
        program,
        jitter,
        |s, l, k, x| match k % 7 {
            0 => s.0.0.try_send(x).map_or(100, |b| b as u8),
            1 => or_none(s.0.1.try_recv().ok().flatten()),
            2 => s.0.1.len() as u8,
            3 if !*l => {
                *l = true;
                or_none(s.0.1.recv_timeout(MOMENT).ok())
            }
            4 => s.1.push(x).is_ok() as u8,
            5 => or_none(s.1.pop()),
            _ => s.1.len() as u8,
        },
        |s| vec![or_none(s.1.pop()), or_none(s.1.pop())],
    )
}
