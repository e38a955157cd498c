//! Depth-first search below prefixes of choices, for one worker or several: the common part of exhaustive searches.
//!
//! The choices of the last execution are the whole state of a worker: the search takes the next alternative at the
//! deepest choice that has one left, and forgets the choices after it. If another worker waits, the worker gives away
//! the alternatives left at the shallowest such choice: the largest part of the tree that it has not begun, and the
//! last one in its order.

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

/// The number of items for the next round that a worker collects before it publishes them.
const LATER_MAX: usize = 256;

/// A part of the tree: everything that depth-first search reaches after these choices, without changing the first
/// `floor` of them.
///
/// If there are exactly `floor` choices, nothing of the part has been run; if there are more, they are those of the
/// last execution that was run.
#[derive(Clone)]
pub(crate) struct Item {
    branch: Branch,
    floor: u32,
}

impl Item {
    /// Returns everything below the first choices of an execution, with another alternative taken at the last of them.
    fn beside(path: Arc<[Choice]>, length: usize, taken: u32) -> Item {
        Item {
            branch: Branch::beside(path, length, taken),
            floor: length as u32,
        }
    }

    /// Returns everything after these choices, without changing the first `floor` of them.
    fn after(choices: &[Choice], floor: usize) -> Item {
        Item {
            branch: Branch::along(choices),
            floor: floor as u32,
        }
    }

    fn choices(&self) -> Vec<Choice> {
        self.branch.choices()
    }

    /// Compares items of a round in search order: the order in which a single worker would put them aside.
    fn order(&self, other: &Item) -> Ordering {
        self.branch.order(&other.branch)
    }
}

/// The share of one worker in the search of a tree of choices.
pub(super) struct Tree {
    hand: WorkHandle<Item>,
    /// The items that were taken but not begun.
    run: VecDeque<Item>,
    /// The number of fixed choices of the current item; `None` if there is no item.
    floor: Option<usize>,
    later: Vec<Item>,
    /// The choices that are shared by the items put aside in the current call.
    path: Option<Arc<[Choice]>>,
    /// The position at which the last share taken begins, until it is queried.
    span: Option<SearchPosition>,
    /// The share of the tree that this process explores; `None` for the whole tree.
    partition: Option<Partition>,
}

impl Tree {
    /// Returns the search of a whole tree.
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

    /// Returns the share to which all executions with these first choices belong. With `all`, they are all the choices
    /// of an execution.
    pub(super) fn belongs(&self, choices: &[Choice], all: bool, branching: &impl Branching) -> Belongs {
        match self.partition {
            Some(partition) => belongs(partition, choices, all, branching),
            None => Belongs::Here,
        }
    }

    /// Returns the share of another worker in the same search.
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

    /// Prepares the next execution. Returns `false` if there is no work at the moment.
    pub(crate) fn next(&mut self, plan: &mut Plan, branching: &impl Branching) -> bool {
        self.path = None;
        if self.hand.has_idle_workers() {
            self.give(plan, branching);
        }
        loop {
            if let Some(floor) = self.floor {
                // If the prefix belongs to this share, so does everything below it.
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

    /// Takes a part of the available work, and returns its first item.
    fn take(&mut self) -> Option<Item> {
        self.hand.publish_later(&mut self.later);
        self.run = self.hand.take()?;
        let first = self.run.pop_front()?;
        self.span = Some(SearchPosition::of_choices(self.hand.round(), &first.choices()));
        Some(first)
    }

    /// Puts aside the alternatives of the last of these choices that belong to the next round. With `mixed`, some of
    /// them may belong to other shares.
    fn leave(&mut self, choices: &[Choice], mixed: bool, branching: &impl Branching) {
        let Some(last) = choices.last() else {
            return;
        };
        let aside = branching.aside(last, self.hand.round());
        if aside.is_empty() {
            return;
        }
        // This is done for the deepest choice first, so its path includes those of the others.
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

    /// Gives the last part of the worker's own work to a waiting worker.
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
        // The worker stays below this choice, and will not return to those above.
        for left in floor..at {
            self.leave(&choices[..=left], false, branching);
        }
        self.floor = Some(at + 1);
    }

    /// Waits until there is work. Returns `false` if the search is over.
    pub(crate) fn wait(&mut self) -> bool {
        self.hand.wait()
    }

    /// Returns whether there is work, without waiting for it.
    pub(super) fn idle(&mut self) -> Idle {
        self.hand.idle()
    }

    /// Discards the rest of the worker's own work.
    pub(crate) fn skip(&mut self) {
        self.floor = None;
        self.run.clear();
        self.hand.cut();
    }

    /// Returns the position at which the share begins that was taken since the last call, if any.
    pub(crate) fn span(&mut self) -> Option<SearchPosition> {
        self.span.take()
    }

    /// Returns the round to which the worker's own work belongs.
    pub(crate) fn round(&self) -> u32 {
        self.hand.round()
    }

    /// Returns the round of the whole search.
    pub(super) fn search_round(&self) -> u32 {
        self.hand.search_round()
    }

    /// Returns the number of fixed choices of the current item.
    pub(super) fn floor(&self) -> usize {
        self.floor.unwrap_or(0)
    }

    /// Returns the number of items that were taken but not begun.
    pub(super) fn items_left(&self) -> usize {
        self.run.len()
    }

    /// Returns the number of items for the next round that are known so far.
    pub(super) fn items_later(&self) -> usize {
        self.later.len() + self.hand.later()
    }

    /// Stops handing out work to any worker.
    pub(crate) fn stop(&self) {
        self.hand.stop();
    }

    /// Returns the remaining work of this worker after the execution that made these choices.
    pub(crate) fn save(&self, plan: &Plan) -> String {
        self.saved(plan, Vec::new())
    }

    /// Returns the remaining work of this worker before the execution that has to make these choices first.
    pub(super) fn save_prepared(&self, plan: &Plan) -> String {
        let below = self
            .floor
            .map(|_| Item::after(plan.choices(), plan.choices().len()));
        self.saved(plan, below.into_iter().collect())
    }

    /// Returns these items and the remaining work after an execution that made these choices.
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

    /// Returns the remaining work that workers have not taken.
    pub(crate) fn save_shared(&self) -> SavedTree {
        let left = self.hand.left();
        SavedTree {
            round: left.round,
            runs: left.runs.iter().map(|run| packed(run)).collect(),
            later: packed(&left.later),
            cut: left.cut,
        }
    }

    /// Restores a saved tree. Returns `None` if it is malformed.
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

/// The saved work of a tree that workers have not taken.
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

/// Returns items as text, each as its difference from the one before: `kept.floor.others`, where `kept` is the number
/// of first choices that both have.
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
