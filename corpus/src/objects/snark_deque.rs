//! Snark, the deque of Detlefs et al. (DISC 2000): a doubly linked list whose ends are moved by double compare-and-swap.
//!
//! Doherty et al. (SPAA 2004) found two bugs in it when they tried to prove it. A pop reports that the deque is empty
//! because the node at its end, which it read before, has been popped from the other end, though other nodes have
//! been pushed. And two pops, one from each end, may return the same value. In the corrected version a pop looks at
//! the hat again before it reports that the deque is empty, and claims the value that it returns.
//!
//! All links are in one word here, because the instruction is not available.

use super::{Against, Object, refuted};
use intermezzo::refinement::{Refinement, RefinementReport, fresh, refine};
use intermezzo::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use intermezzo::{Explorer, Reduction};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// Looks again before it reports that there is nothing, and claims values.
    Correct,
    /// As published.
    Published,
    /// Without the first bug.
    LooksAgain,
}

/// An end of the deque.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

use Side::{Left, Right};

impl Side {
    fn other(self) -> Side {
        match self {
            Left => Right,
            Right => Left,
        }
    }
}

/// A link: its place in the word that has all of them.
#[derive(Clone, Copy)]
struct Link(u32);

/// Bits of a link: so there are 8 nodes, 0 the dummy.
const BITS: u32 = 3;
const NODES: usize = 1 << BITS;
const DUMMY: u64 = 0;

/// Returns the link to the node at this end.
fn hat(side: Side) -> Link {
    Link(side as u32)
}

/// Returns the node's link towards that end.
fn link(node: u64, side: Side) -> Link {
    Link(2 + 2 * node as u32 + side as u32)
}

impl Link {
    fn of(self, links: u64) -> u64 {
        links >> (BITS * self.0) & (NODES as u64 - 1)
    }

    fn set(self, links: u64, node: u64) -> u64 {
        links & !((NODES as u64 - 1) << (BITS * self.0)) | node << (BITS * self.0)
    }
}

struct Deque {
    links: AtomicU64,
    /// `true` for each node whose value was returned. The node of a value is the value's own.
    claimed: [AtomicBool; NODES],
    version: Version,
}

impl Deque {
    fn new(version: Version) -> Deque {
        // The dummy points to itself, and so do the hats to it.
        Deque {
            links: AtomicU64::new(0),
            claimed: [const { AtomicBool::new(false) }; NODES],
            version,
        }
    }

    fn read(&self, link: Link) -> u64 {
        link.of(self.links.load(SeqCst))
    }

    /// Changes links, all at once, if those of `expected` are unchanged.
    fn exchange(&self, expected: &[(Link, u64)], new: &[(Link, u64)]) -> bool {
        loop {
            let links = self.links.load(SeqCst);
            if expected.iter().any(|(link, node)| link.of(links) != *node) {
                return false;
            }
            let changed = new
                .iter()
                .fold(links, |links, (link, node)| link.set(links, *node));
            if self
                .links
                .compare_exchange(links, changed, SeqCst, SeqCst)
                .is_ok()
            {
                return true;
            }
        }
    }

    fn push(&self, side: Side, value: u8) {
        let node = u64::from(value);
        assert!(node < NODES as u64, "there are nodes for {NODES} values");
        let (mine, others) = (hat(side), hat(side.other()));
        loop {
            let end = self.read(mine);
            let beyond = self.read(link(end, side));
            // No task sees the node's own links before: they are set with the others.
            let outward = (link(node, side), DUMMY);
            let inward = link(node, side.other());
            let done = if beyond == end {
                let other_end = self.read(others);
                let new = [outward, (inward, DUMMY), (mine, node), (others, node)];
                self.exchange(&[(mine, end), (others, other_end)], &new)
            } else {
                let new = [outward, (inward, end), (mine, node), (link(end, side), node)];
                self.exchange(&[(mine, end), (link(end, side), beyond)], &new)
            };
            if done {
                return;
            }
        }
    }

    fn pop(&self, side: Side) -> Option<u8> {
        let (mine, others) = (hat(side), hat(side.other()));
        loop {
            let end = self.read(mine);
            let other_end = self.read(others);
            if self.read(link(end, side)) == end {
                if self.version == Version::Published || self.read(mine) == end {
                    return None;
                }
                continue;
            }
            let inward = link(end, side.other());
            if end == other_end {
                let new = [(mine, DUMMY), (others, DUMMY)];
                if !self.exchange(&[(mine, end), (others, other_end)], &new) {
                    continue;
                }
            } else {
                let before = self.read(inward);
                if !self.exchange(&[(mine, end), (inward, before)], &[(mine, before), (inward, end)]) {
                    continue;
                }
                // So that popped nodes keep nothing alive.
                self.exchange(&[], &[(link(end, side), DUMMY)]);
            }
            let claims = self.version == Version::Correct;
            if !claims || !self.claimed[end as usize].swap(true, SeqCst) {
                return Some(end as u8);
            }
        }
    }
}

fn test(version: Version) -> Refinement<Deque> {
    refine(move || Deque::new(version))
        .op("push_left", fresh::<u8>(), |deque: &Deque, value| {
            deque.push(Left, value)
        })
        .op("push_right", fresh::<u8>(), |deque, value| {
            deque.push(Right, value)
        })
        .op("pop_left", (), |deque, ()| deque.pop(Left))
        .op("pop_right", (), |deque, ()| deque.pop(Right))
        .threads(2..=2)
        .ops(1..=2)
        .init(0..=1)
        .post(0..=0)
}

/// Pins the scenario in which a node is popped from both ends: one pop waits while the node becomes the first and
/// another comes after it, the other while that one is removed. It takes three tasks, so it is not left to chance.
fn with_three_tasks(test: Refinement<Deque>) -> Refinement<Deque> {
    test.pin(|scenario| {
        scenario
            .init("push_right", 1u8)
            .init("push_right", 2u8)
            .task(|task| task.op("pop_right", ()))
            .task(|task| task.op("pop_left", ()).op("pop_left", ()))
            .task(|task| task.op("push_right", 3u8).op("pop_right", ()))
    })
}

fn two_preemptions(explorer: Explorer) -> Explorer {
    explorer.reduction(Reduction::None).preemptions(2)
}

fn run(test: Refinement<Deque>, against: Against) -> RefinementReport {
    match against {
        Against::Itself => test.run(),
        Against::Model => test
            .spec(VecDeque::new)
            .means("push_left", |deque: &mut VecDeque<u8>, value: &u8| {
                deque.push_front(*value);
            })
            .means("push_right", |deque, value: &u8| deque.push_back(*value))
            .means("pop_left", |deque, (): &()| deque.pop_front())
            .means("pop_right", |deque, (): &()| deque.pop_back())
            .run(),
    }
}

/// It is never empty, but a pop says so.
pub(super) const EMPTY: Object = Object {
    name: "snark_deque_empty",
    about: "the Snark deque as published, a pop of which may find a deque empty that is not",
    outcomes: &refuted(4),
    run: |against, effort| run(effort.of(60, test(Version::Published)), against),
};

/// Two pops return the same.
pub(super) const TWICE: Object = Object {
    name: "snark_deque_twice",
    about: "the Snark deque without its first bug, two pops of which may return the same value",
    outcomes: &refuted(7),
    run: |against, _| {
        let test = with_three_tasks(test(Version::LooksAgain)).scenarios(0);
        run(test.explorer(two_preemptions), against)
    },
};

/// Without both bugs.
pub(super) const CORRECT: Object = Object {
    name: "snark_deque_correct",
    about: "the Snark deque, corrected: a pop claims its value",
    outcomes: super::CORRECT,
    run: |against, effort| run(effort.of(60, test(Version::Correct)), against),
};
