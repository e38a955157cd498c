//! Depth-first search below prefixes of choices: the common part of exhaustive searches, for one worker or several.
//!
//! The choices of the last execution are a worker's whole state: the deepest one with an alternative left is advanced,
//! and everything after it forgotten. If another worker waits, the alternatives left at the shallowest such choice are
//! donated: the largest part of the tree that the worker has not begun, and the last in its order.

use super::branch::Branch;
use super::branching::Branching;
use super::frontier::{Remaining, WorkHandle};
use super::partition::{Belongs, belongs};
use intermezzo_engine::schedule::{Choice, pack, unpack};
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_engine::strategy::{Idle, Partition, Plan, SearchPosition, SearchState};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of items for the next round that are kept before they are published.
const LATER_MAX: usize = 256;

/// A part of the tree: everything that depth-first search reaches after its choices, down to `floor`.
///
/// If there are just `floor` choices, nothing of it was run yet; if there are more, they are the last execution run.
#[derive(Clone)]
pub(crate) struct Item {
    branch: Branch,
    floor: u32,
}

impl Item {
    /// Returns everything below these choices of an execution, but with another alternative taken at the last.
    fn beside(path: Arc<[Choice]>, length: usize, taken: u32) -> Item {
        Item {
            branch: Branch::beside(path, length, taken),
            floor: length as u32,
        }
    }

    /// Returns everything after these choices, down to `floor`.
    fn after(choices: &[Choice], floor: usize) -> Item {
        Item {
            branch: Branch::along(choices),
            floor: floor as u32,
        }
    }

    fn choices(&self) -> Vec<Choice> {
        self.branch.choices()
    }

    /// Compares items of one round in search order: the order in which a single worker puts them aside.
    fn order(&self, other: &Item) -> Ordering {
        self.branch.order(&other.branch)
    }
}

/// A worker's share of the search of a tree of choices.
pub(super) struct Tree {
    hand: WorkHandle<Item>,
    /// The items that were taken, and not begun.
    run: VecDeque<Item>,
    /// The number of fixed choices of the running item; `None` if there is no item.
    floor: Option<usize>,
    later: Vec<Item>,
    /// The choices that the items put aside by the running call share.
    path: Option<Arc<[Choice]>>,
    /// The position at which the share begins that was taken last, until it is asked for.
    span: Option<SearchPosition>,
    /// The share of the tree that this process explores; `None` for all of it.
    partition: Option<Partition>,
}

impl Tree {
    /// Returns a share of the whole tree.
    pub(crate) fn new() -> Tree {
        Tree::going_on(Remaining {
            round: 0,
            runs: vec![vec![Item::after(&[], 0)]],
            later: Vec::new(),
            cut: false,
        })
    }

    fn going_on(left: Remaining<Item>) -> Tree {
        Tree {
            hand: WorkHandle::new(left, Item::order),
            run: VecDeque::new(),
            floor: None,
            later: Vec::new(),
            path: None,
            span: None,
            partition: None,
        }
    }

    /// Restricts the search to this share of the tree.
    pub(super) fn keep_to(&mut self, partition: Partition) {
        self.partition = Some(partition);
    }

    /// Returns the share that all executions with these first choices belong to. With `all`, they are all choices of an
    /// execution.
    pub(super) fn belongs(&self, choices: &[Choice], all: bool, branching: &impl Branching) -> Belongs {
        match self.partition {
            Some(partition) => belongs(partition, choices, all, branching),
            None => Belongs::Here,
        }
    }

    /// Returns the share of another worker on the same tree.
    pub(crate) fn fork(&self) -> Tree {
        Tree {
            hand: self.hand.fork(),
            run: VecDeque::new(),
            floor: None,
            later: Vec::new(),
            path: None,
            span: None,
            partition: self.partition,
        }
    }

    /// Prepares the next execution. Returns `false` if there is nothing to do at the moment.
    pub(crate) fn next(&mut self, plan: &mut Plan, branching: &impl Branching) -> bool {
        self.path = None;
        if self.hand.has_idle_workers() {
            self.give(plan, branching);
        }
        loop {
            if let Some(floor) = self.floor {
                // Below a prefix of this share nothing belongs to another one.
                let mixed = self.belongs(&plan.choices()[..floor], false, branching) != Belongs::Here;
                while plan.choices().len() > floor {
                    let at = plan.choices().len() - 1;
                    let last = plan.choices()[at];
                    if branching.is_free(&last) {
                        for other in last.taken + 1..last.alternatives {
                            plan.take(at, other);
                            if !mixed || self.belongs(plan.choices(), false, branching) != Belongs::Elsewhere
                            {
                                return true;
                            }
                        }
                    }
                    self.leave(plan.choices(), mixed, branching);
                    plan.truncate(at);
                }
            }
            let Some(item) = self.run.pop_front().or_else(|| self.take()) else {
                self.floor = None;
                return false;
            };
            self.floor = Some(item.floor as usize);
            self.path = None;
            item.branch.prescribe(plan);
            if item.branch.length() == item.floor as usize {
                return true;
            }
        }
    }

    /// Takes a share of the available work, and returns its first item.
    fn take(&mut self) -> Option<Item> {
        self.hand.publish_later(&mut self.later);
        self.run = self.hand.take()?;
        let first = self.run.pop_front()?;
        self.span = Some(SearchPosition::of_choices(self.hand.round(), &first.choices()));
        Some(first)
    }

    /// Leaves the last of these choices behind. With `mixed`, others of its alternatives may belong to other shares.
    fn leave(&mut self, choices: &[Choice], mixed: bool, branching: &impl Branching) {
        let Some(last) = choices.last() else {
            return;
        };
        let aside = branching.aside(last, self.hand.round());
        if aside.is_empty() {
            return;
        }
        // The deepest choice is left first: the path that it shares with the others includes all of theirs.
        let path = self.path.get_or_insert_with(|| choices.into());
        let item = |taken| Item::beside(path.clone(), choices.len(), taken);
        match self.partition.filter(|_| mixed) {
            None => self.later.extend(aside.map(item)),
            Some(partition) => {
                self.later.extend(aside.map(item).filter(|item| {
                    belongs(partition, &item.choices(), false, branching) != Belongs::Elsewhere
                }))
            }
        }
        if self.later.len() >= LATER_MAX {
            self.hand.publish_later(&mut self.later);
        }
    }

    /// Donates the last part of the worker's own work to a waiting worker.
    #[cold]
    fn give(&mut self, plan: &Plan, branching: &impl Branching) {
        if !self.run.is_empty() {
            let tail = self.run.split_off(self.run.len() / 2);
            self.hand.publish(tail);
            return;
        }
        let Some(floor) = self.floor else {
            return;
        };
        let open = |choice: &Choice| branching.is_free(choice) && choice.taken + 1 < choice.alternatives;
        let choices = plan.choices();
        let Some(at) = (floor..choices.len()).find(|&at| open(&choices[at])) else {
            return;
        };
        let path: Arc<[Choice]> = choices.into();
        let others = choices[at].taken + 1..choices[at].alternatives;
        let other = |taken| Item::beside(path.clone(), at + 1, taken);
        self.hand.publish(others.map(other).collect());
        self.path = Some(path);
        // The worker stays below this choice: it will not return to those above.
        for left in floor..at {
            self.leave(&choices[..=left], false, branching);
        }
        self.floor = Some(at + 1);
    }

    /// Waits until there is something to do. Returns `false` if the search is over.
    pub(crate) fn wait(&mut self) -> bool {
        self.hand.wait()
    }

    /// Returns whether there is something to do, without waiting for it.
    pub(super) fn idle(&mut self) -> Idle {
        self.hand.idle()
    }

    /// Discards the rest of the worker's own work.
    pub(crate) fn skip(&mut self) {
        self.floor = None;
        self.run.clear();
        self.hand.cut();
    }

    /// Returns the position at which the share begins that was taken since this was last asked.
    pub(crate) fn span(&mut self) -> Option<SearchPosition> {
        self.span.take()
    }

    /// Returns the round of the worker's own work.
    pub(crate) fn round(&self) -> u32 {
        self.hand.round()
    }

    /// Returns the round of the whole search.
    pub(super) fn search_round(&self) -> u32 {
        self.hand.search_round()
    }

    /// Returns the number of fixed choices of the running item.
    pub(super) fn floor(&self) -> usize {
        self.floor.unwrap_or(0)
    }

    /// Returns the number of items that were taken and not begun.
    pub(super) fn items_left(&self) -> usize {
        self.run.len()
    }

    /// Returns the number of items for the next round so far.
    pub(super) fn items_later(&self) -> usize {
        self.later.len() + self.hand.later()
    }

    /// Stops handing out work to any worker.
    pub(crate) fn stop(&self) {
        self.hand.stop();
    }

    /// Returns this worker's remaining work, after the execution that made these choices.
    pub(crate) fn save(&self, plan: &Plan) -> String {
        self.saved(plan, Vec::new())
    }

    /// Returns this worker's remaining work, before the execution that must make these choices first.
    pub(super) fn save_prepared(&self, plan: &Plan) -> String {
        let below = self
            .floor
            .map(|_| Item::after(plan.choices(), plan.choices().len()));
        self.saved(plan, below.into_iter().collect())
    }

    /// Returns these items, and the remaining work after an execution that made these choices.
    fn saved(&self, plan: &Plan, mut items: Vec<Item>) -> String {
        if let Some(floor) = self.floor.filter(|&floor| floor < plan.choices().len()) {
            items.push(Item::after(plan.choices(), floor));
        }
        items.extend(self.run.iter().cloned());
        let saved = SavedHand {
            items: packed(&items),
            later: packed(&self.later),
        };
        intermezzo_engine::serial::to_string(&saved).expect("texts can be written")
    }

    /// Returns the remaining work, without the work that workers have taken.
    pub(crate) fn save_shared(&self) -> SavedTree {
        let left = self.hand.left();
        SavedTree {
            round: left.round,
            runs: left.runs.iter().map(|run| packed(run)).collect(),
            later: packed(&left.later),
            cut: left.cut,
        }
    }

    /// Restores a saved tree; `None` if it is malformed.
    pub(crate) fn restored(shared: &SavedTree, state: &SearchState) -> Option<Tree> {
        let mut runs = Vec::new();
        let mut later = unpacked(&shared.later)?;
        for hand in &state.hands {
            let hand: SavedHand = intermezzo_engine::serial::from_str(hand).ok()?;
            runs.push(unpacked(&hand.items)?);
            later.extend(unpacked(&hand.later)?);
        }
        for run in &shared.runs {
            runs.push(unpacked(run)?);
        }
        Some(Tree::going_on(Remaining {
            round: shared.round,
            runs,
            later,
            cut: shared.cut,
        }))
    }
}

/// A tree without the work that workers have taken.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedTree {
    round: u32,
    runs: Vec<Vec<String>>,
    later: Vec<String>,
    cut: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedHand {
    items: Vec<String>,
    later: Vec<String>,
}

/// Returns items as text, each by its difference from the one before: `kept.floor.others`.
fn packed(items: &[Item]) -> Vec<String> {
    let mut before = Vec::new();
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let choices = item.choices();
        let kept = choices.iter().zip(&before).take_while(|(a, b)| a == b).count();
        texts.push(format!("{kept}.{}.{}", item.floor, pack(&choices[kept..])));
        before = choices;
    }
    texts
}

fn unpacked(texts: &[String]) -> Option<Vec<Item>> {
    let mut items = Vec::with_capacity(texts.len());
    let mut choices: Vec<Choice> = Vec::new();
    for text in texts {
        let mut parts = text.splitn(3, '.');
        let kept: usize = parts.next()?.parse().ok()?;
        let floor: usize = parts.next()?.parse().ok()?;
        choices.get(..kept)?;
        choices.truncate(kept);
        choices.extend(unpack(parts.next()?)?);
        if floor > choices.len() {
            return None;
        }
        items.push(Item::after(&choices, floor));
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo_engine::schedule::ChoiceKind;

    #[test]
    fn items_are_packed_and_unpacked() {
        let choice = |alternatives, taken| Choice {
            kind: ChoiceKind::Task,
            preempts: taken == 0,
            alternatives,
            taken,
        };
        let path: Vec<Choice> = (0..40).map(|at| choice(2 + at % 3, at % 2)).collect();
        let shared: Arc<[Choice]> = path.as_slice().into();
        let items = [
            Item::after(&[], 0),
            Item::beside(shared.clone(), 20, path[19].taken),
            Item::beside(shared, 21, 1),
            Item::after(&path, 3),
        ];
        let told = |items: &[Item]| {
            items
                .iter()
                .map(|item| (item.choices(), item.floor))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&unpacked(&packed(&items)).unwrap()), told(&items));
        assert!(items[..3].is_sorted_by(|a, b| a.order(b).is_lt()));
        for wrong in ["", "1", "0.0", "7.0.", "0.9.", "-1.0.", "0.0.!"] {
            assert!(unpacked(&[wrong.to_owned()]).is_none(), "{wrong}");
        }
    }
}
