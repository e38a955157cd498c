//! Programs whose tasks share a value by `Arc` and `Weak`: the outcomes and traces of every reduction are those of a
//! search without reduction.
//!
//! Handles are given up in any order, but the last one runs the destructor. So an operation on a count acts differently
//! if other handles are left.

use crate::agreement::{Random, agree};
use crate::variable;
use intermezzo_explorer::sync::atomic::{AtomicU64, Ordering::SeqCst};
use intermezzo_explorer::sync::{Arc, Mutex, Weak};
use intermezzo_explorer::thread;

/// The default number of random programs; `EXPLORED_COUNTED` changes it.
const PROGRAMS: u64 = 200;

/// An operation. It does nothing if the task does not have the handle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Clone,
    Drop,
    StrongCount,
    WeakCount,
    GetMut,
    TryUnwrap,
    IntoInner,
    Downgrade,
    Upgrade,
    /// Keeps the handle, if the task has no other.
    KeepUpgraded,
    DropWeak,
    CountsOfWeak,
    Load,
    Add,
    Exchange,
}

impl Op {
    const ALL: [Op; 15] = [
        Op::Clone,
        Op::Drop,
        Op::StrongCount,
        Op::WeakCount,
        Op::GetMut,
        Op::TryUnwrap,
        Op::IntoInner,
        Op::Downgrade,
        Op::Upgrade,
        Op::KeepUpgraded,
        Op::DropWeak,
        Op::CountsOfWeak,
        Op::Load,
        Op::Add,
        Op::Exchange,
    ];

    fn is_of_weak(self) -> bool {
        use Op::{CountsOfWeak, DropWeak, KeepUpgraded, Upgrade};
        matches!(self, Upgrade | KeepUpgraded | DropWeak | CountsOfWeak)
    }

    fn is_count(self) -> bool {
        !matches!(self, Op::Load | Op::Add | Op::Exchange)
    }
}

/// The action of the value's destructor.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Adds,
    Locks,
    Nothing,
}

#[derive(Clone, Debug)]
struct Program {
    ending: Ending,
    tasks: Vec<Vec<Op>>,
}

fn draw(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let ending = [Ending::Adds, Ending::Locks, Ending::Nothing][random.below(3)];
    let (tasks, most) = [(3, 1), (3, 2), (2, 3)][random.below(3)];
    let ops = |random: &mut Random| {
        let count = 1 + random.below(most);
        (0..count).map(|_| Op::ALL[random.below(15)]).collect()
    };
    let tasks = (0..tasks).map(|_| ops(&mut random)).collect();
    Program { ending, tasks }
}

/// The observations of a task.
type Seen = Vec<u64>;

#[derive(Default)]
struct Shared {
    word: AtomicU64,
    lock: Mutex<u64>,
}

struct Value<'a> {
    ending: Ending,
    shared: &'a Shared,
}

impl Drop for Value<'_> {
    fn drop(&mut self) {
        match self.ending {
            Ending::Adds => _ = self.shared.word.fetch_add(10, SeqCst),
            Ending::Locks => *self.shared.lock.lock().unwrap() += 1,
            Ending::Nothing => {}
        }
    }
}

/// The handles of a task.
struct Own<'a> {
    arc: Option<Arc<Value<'a>>>,
    weak: Option<Weak<Value<'a>>>,
}

fn run(program: &Program) -> Vec<Seen> {
    let shared = Shared::default();
    let shared = &shared;
    let ending = program.ending;
    let first = Arc::new(Value { ending, shared });
    let own = program.tasks.iter().map(|ops| Own {
        arc: ops.iter().any(|op| op.is_count()).then(|| first.clone()),
        weak: (ops.iter().any(|op| op.is_of_weak())).then(|| Arc::downgrade(&first)),
    });
    let own: Vec<Own<'_>> = own.collect();
    drop(first);
    thread::scope(|scope| {
        let mut tasks = program.tasks.iter().zip(own);
        let (ops, main) = tasks.next().expect("the test's own body");
        let begun = tasks.map(|(ops, own)| scope.spawn(move || act(ops, shared, own)));
        let begun: Vec<_> = begun.collect();
        let mut seen = vec![act(ops, shared, main)];
        seen.extend(begun.into_iter().map(|handle| handle.join().unwrap()));
        seen.push(vec![shared.word.load(SeqCst), *shared.lock.lock().unwrap()]);
        seen
    })
}

fn act<'a>(ops: &[Op], shared: &Shared, mut own: Own<'a>) -> Seen {
    let mut seen = Seen::new();
    for &op in ops {
        match op {
            Op::Load => seen.push(shared.word.load(SeqCst)),
            Op::Add => seen.push(shared.word.fetch_add(1, SeqCst)),
            Op::Exchange => {
                let done = shared.word.compare_exchange(10, 2, SeqCst, SeqCst);
                seen.push(done.unwrap_or_else(|was| was));
            }
            op if op.is_of_weak() => seen.extend(act_on_weak(op, &mut own)),
            op => seen.extend(act_on_arc(op, &mut own)),
        }
    }
    seen
}

fn act_on_weak(op: Op, own: &mut Own<'_>) -> Option<u64> {
    let weak = own.weak.as_ref()?;
    match op {
        Op::DropWeak => own.weak = None,
        Op::CountsOfWeak => return Some((weak.strong_count() + 8 * weak.weak_count()) as u64),
        _ => {
            let upgraded = weak.upgrade();
            let is_alive = upgraded.is_some();
            if op == Op::KeepUpgraded && own.arc.is_none() {
                own.arc = upgraded;
            }
            return Some(is_alive.into());
        }
    }
    None
}

fn act_on_arc(op: Op, own: &mut Own<'_>) -> Option<u64> {
    let arc = own.arc.take()?;
    let (kept, seen) = match op {
        Op::Clone => {
            let more = arc.clone();
            drop(more);
            (arc, None)
        }
        Op::Drop => return None,
        Op::StrongCount => count(arc, |arc| Arc::strong_count(arc)),
        Op::WeakCount => count(arc, |arc| Arc::weak_count(arc)),
        Op::GetMut => count(arc, |arc| usize::from(Arc::get_mut(arc).is_some())),
        Op::TryUnwrap => match Arc::try_unwrap(arc) {
            Ok(_) => return Some(1),
            Err(arc) => (arc, Some(0)),
        },
        Op::IntoInner => return Some(Arc::into_inner(arc).is_some().into()),
        _ => {
            own.weak = Some(Arc::downgrade(&arc));
            (arc, None)
        }
    };
    own.arc = Some(kept);
    seen
}

fn count<'a>(
    mut arc: Arc<Value<'a>>,
    of: impl FnOnce(&mut Arc<Value<'a>>) -> usize,
) -> (Arc<Value<'a>>, Option<u64>) {
    let count = of(&mut arc) as u64;
    (arc, Some(count))
}

/// Compares the reductions on a program. Returns `false` if it is too large.
fn compare(program: &Program) -> bool {
    agree(program, &[("environment", "calm"), ("spin_loops", "run")], || {
        run(program)
    })
    .is_ok()
}

#[test]
fn random_programs_with_counts_agree() {
    let programs = variable("EXPLORED_COUNTED").unwrap_or(PROGRAMS);
    let compared = (1..=programs).filter(|&seed| compare(&draw(seed))).count() as u64;
    assert!(compared * 2 >= programs, "too few programs are small enough");
}

/// A handle that is the last one is still the last before a change of a weak handle. An operation that takes the value only
/// with the last handle depends on the counts in any case.
#[test]
fn last_handles_before_other_changes() {
    use Op::*;
    for ending in [Ending::Adds, Ending::Locks, Ending::Nothing] {
        for tasks in [
            vec![vec![Downgrade], vec![Drop], vec![Clone]],
            vec![vec![StrongCount], vec![DropWeak], vec![Downgrade]],
            vec![vec![Drop], vec![TryUnwrap], vec![CountsOfWeak]],
            vec![vec![Downgrade], vec![TryUnwrap], vec![IntoInner]],
            vec![vec![IntoInner], vec![KeepUpgraded], vec![TryUnwrap]],
        ] {
            assert!(compare(&Program { ending, tasks }));
        }
    }
}
