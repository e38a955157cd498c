//! The iRoots that an execution exposes, computed from the definitions: every pair of accesses, every pair of
//! dependencies.

use super::Recorded;
use intermezzo_sdk::SyncVarOp;
use std::collections::BTreeSet;

/// An access. Positions are in the order of the execution.
struct Access {
    task: u32,
    index: u32,
    var: u32,
    name: String,
    kind: Kind,
}

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Take,
    Release,
    TakeShare,
    ReleaseShare,
}

fn kind(op: SyncVarOp) -> Option<(Kind, &'static str)> {
    use SyncVarOp::*;
    Some(match op {
        AtomicLoad => (Kind::Read, "load"),
        AtomicStore => (Kind::Write, "store"),
        AtomicRmw => (Kind::Write, "update"),
        AtomicRmwFailed => (Kind::Read, "update"),
        LockAcquire => (Kind::Take, "lock"),
        LockTryAcquire => (Kind::Take, "try"),
        LockTryFailed => (Kind::Read, "try"),
        LockRelease => (Kind::Release, "unlock"),
        SharedAcquire => (Kind::TakeShare, "lock"),
        SharedRelease => (Kind::ReleaseShare, "unlock"),
        NotifyOne => (Kind::Write, "notify"),
        _ => return None,
    })
}

impl Kind {
    fn commutes(self, other: Kind) -> bool {
        use Kind::*;
        let shares = |kind| matches!(kind, TakeShare | ReleaseShare);
        self == Read && other == Read || shares(self) && shares(other)
    }

    fn is_of_lock(self) -> bool {
        !matches!(self, Kind::Read | Kind::Write)
    }

    fn releases(self) -> bool {
        matches!(self, Kind::Release | Kind::ReleaseShare)
    }
}

/// Returns the names of the exposed iRoots of all idioms.
pub(super) fn exposed(recorded: &Recorded, window: u32) -> BTreeSet<String> {
    let mut accesses = Vec::new();
    for (event, site) in &recorded.events {
        if let Some((kind, word)) = kind(event.op) {
            accesses.push(Access {
                task: event.event.task.0,
                index: event.event.index,
                var: event.var.0,
                name: format!("{site} {word}"),
                kind,
            });
        }
    }
    let dependent = |i: usize, j: usize| {
        accesses[i].var == accesses[j].var && !accesses[i].kind.commutes(accesses[j].kind)
    };
    let right_way = |i: usize, j: usize| {
        let (first, second) = (accesses[i].kind, accesses[j].kind);
        !(first.is_of_lock() && second.is_of_lock()) || first.releases() && !second.releases()
    };
    let immediate = |i: usize, j: usize| {
        accesses[i].task != accesses[j].task
            && dependent(i, j)
            && right_way(i, j)
            && !(i + 1..j).any(|k| dependent(i, k) && dependent(k, j))
    };
    let positions = 0..accesses.len();
    let dependencies: Vec<(usize, usize)> = positions
        .clone()
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .filter(|&(i, j)| immediate(i, j))
        .collect();
    let task = |i: usize| accesses[i].task;
    let var = |i: usize| accesses[i].var;
    // `second` comes after `first` in its task, and not too late.
    let pair = |first: usize, second: usize| {
        task(first) == task(second)
            && accesses[first].index < accesses[second].index
            && accesses[second].index - accesses[first].index <= window
    };
    let untouched = |first: usize, second: usize| {
        (first + 1..second)
            .filter(|&k| task(k) == task(first))
            .all(|k| var(k) != var(first) && var(k) != var(second))
    };
    let name = |i: usize| accesses[i].name.as_str();
    let mut found = BTreeSet::new();
    for &(a, b) in &dependencies {
        found.insert(format!("1: {} => {}", name(a), name(b)));
        for &(c, d) in &dependencies {
            let one_variable = var(a) == var(c);
            let back = pair(a, d) && untouched(a, d);
            if b == c && back {
                found.insert(format!("2: {} => {} => {}", name(a), name(b), name(d)));
            }
            let four = |idiom: u8| format!("{idiom}: {} => {}, {} => {}", name(a), name(b), name(c), name(d));
            if pair(b, c) && back {
                found.insert(four(if one_variable { 3 } else { 4 }));
            }
            // Of its two tasks, the one whose names sort first comes first.
            let in_order = (name(a), name(b)) <= (name(c), name(d));
            if !one_variable && back && pair(c, b) && untouched(c, b) && in_order {
                found.insert(four(5));
            }
            if !one_variable && pair(a, c) && pair(b, d) {
                found.insert(four(6));
            }
        }
    }
    found
}
