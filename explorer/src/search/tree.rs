//! Depth first below prefixes of choices: what exhaustive searches share, on one worker or several.
//!
//! The choices of the last execution are a hand's whole state: the deepest one with an alternative left is advanced,
//! and everything after it forgotten. Where another worker waits, the alternatives left at the shallowest such choice
//! are given away: the largest part of the tree that the hand has not begun, and the last in its order.

use super::frontier::{Hand, Left};
use super::{Plan, Rank, SearchState};
use crate::schedule::{Choice, pack, unpack};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Items for the next round that are kept before they are published.
const LATER_MAX: usize = 256;

/// Part of the tree: what depth first search comes to after `choices`, down to `floor`.
///
/// If there are just `floor` choices, nothing of it was run yet; if there are more, they are the last execution run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    choices: Box<[Choice]>,
    floor: usize,
}

impl Item {
    /// Everything below this prefix.
    pub(super) fn below(prefix: &[Choice]) -> Item {
        Item {
            choices: prefix.into(),
            floor: prefix.len(),
        }
    }

    /// Everything below this prefix, but with another alternative taken at its end.
    pub(super) fn beside(prefix: &[Choice], taken: u32) -> Item {
        let mut item = Item::below(prefix);
        if let Some(last) = item.choices.last_mut() {
            last.taken = taken;
        }
        item
    }
}

/// Which alternatives are explored below a prefix, and what becomes of the others.
pub(super) trait Branching {
    /// Whether other alternatives of this choice are explored in this round.
    fn is_free(&self, choice: &Choice) -> bool;

    /// The last of these choices is left behind in this round: its alternatives that are not free may be put aside.
    fn leave(&mut self, choices: &[Choice], round: u32, later: &mut Vec<Item>);
}

/// A hand on a tree of choices.
pub(super) struct Tree {
    hand: Hand<Item>,
    /// Taken, and not begun.
    run: VecDeque<Item>,
    /// How many of the running item's choices are fixed; `None` if there is no item.
    floor: Option<usize>,
    later: Vec<Item>,
    /// Where the share begins that was taken last, until somebody asks.
    span: Option<Rank>,
}

impl Tree {
    /// A hand on the whole tree.
    pub(super) fn new() -> Tree {
        Tree::going_on(Left {
            round: 0,
            runs: vec![vec![Item::below(&[])]],
            later: Vec::new(),
            cut: false,
        })
    }

    fn going_on(left: Left<Item>) -> Tree {
        // Executions of one round in the order of their alternatives: the order in which a single hand puts items aside.
        let order = |a: &Item, b: &Item| {
            let taken = |choice: &Choice| choice.taken;
            a.choices.iter().map(taken).cmp(b.choices.iter().map(taken))
        };
        Tree {
            hand: Hand::new(left, order),
            run: VecDeque::new(),
            floor: None,
            later: Vec::new(),
            span: None,
        }
    }

    /// Another hand on the same tree.
    pub(super) fn fork(&self) -> Tree {
        Tree {
            hand: self.hand.fork(),
            run: VecDeque::new(),
            floor: None,
            later: Vec::new(),
            span: None,
        }
    }

    /// Prepares the next execution; false if there is nothing to do at the moment.
    pub(super) fn next(&mut self, plan: &mut Plan, branching: &mut impl Branching) -> bool {
        if self.hand.hungry() {
            self.give(plan, branching);
        }
        loop {
            if let Some(floor) = self.floor {
                while plan.choices().len() > floor {
                    let at = plan.choices().len() - 1;
                    let last = plan.choices()[at];
                    if branching.is_free(&last) && last.taken + 1 < last.alternatives {
                        plan.take(at, last.taken + 1);
                        return true;
                    }
                    self.leave(plan.choices(), branching);
                    plan.truncate(at);
                }
            }
            let Some(item) = self.run.pop_front().or_else(|| self.take()) else {
                self.floor = None;
                return false;
            };
            self.floor = Some(item.floor);
            plan.replace(&item.choices);
            if item.choices.len() == item.floor {
                return true;
            }
        }
    }

    /// Takes a share of what there is, and the first item of it.
    fn take(&mut self) -> Option<Item> {
        self.hand.publish_later(&mut self.later);
        self.run = self.hand.take()?;
        let first = self.run.pop_front()?;
        self.span = Some(Rank::of_choices(self.hand.round(), &first.choices));
        Some(first)
    }

    fn leave(&mut self, choices: &[Choice], branching: &mut impl Branching) {
        branching.leave(choices, self.hand.round(), &mut self.later);
        if self.later.len() >= LATER_MAX {
            self.hand.publish_later(&mut self.later);
        }
    }

    /// Gives the last part of the work at hand to who waits for some.
    #[cold]
    fn give(&mut self, plan: &Plan, branching: &mut impl Branching) {
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
        let prefix = &choices[..=at];
        let others = choices[at].taken + 1..choices[at].alternatives;
        self.hand
            .publish(others.map(|taken| Item::beside(prefix, taken)).collect());
        // The hand stays below this choice: it will not come back to those above.
        for left in floor..at {
            self.leave(&choices[..=left], branching);
        }
        self.floor = Some(at + 1);
    }

    /// Waits until there is something to do; false if the search is over.
    pub(super) fn wait(&mut self) -> bool {
        self.hand.wait()
    }

    /// Leaves the rest of the work at hand out.
    pub(super) fn skip(&mut self) {
        self.floor = None;
        self.run.clear();
        self.hand.cut();
    }

    /// Where the share begins that was taken since this was last asked.
    pub(super) fn span(&mut self) -> Option<Rank> {
        self.span.take()
    }

    /// The round of the work at hand.
    pub(super) fn round(&self) -> u32 {
        self.hand.round()
    }

    /// The round that the whole search is in.
    pub(super) fn search_round(&self) -> u32 {
        self.hand.search_round()
    }

    /// Nothing more is handed out, to any hand.
    pub(super) fn stop(&self) {
        self.hand.stop();
    }

    /// What this hand has left to do, after the execution that made these choices.
    pub(super) fn save(&self, plan: &Plan) -> String {
        let mut items = Vec::with_capacity(self.run.len() + 1);
        if let Some(floor) = self.floor.filter(|&floor| floor < plan.choices().len()) {
            items.push(Item {
                choices: plan.choices().into(),
                floor,
            });
        }
        items.extend(self.run.iter().cloned());
        let saved = SavedHand {
            items: packed(&items),
            later: packed(&self.later),
        };
        serde_json::to_string(&saved).expect("texts can be written")
    }

    /// What is left beside what hands have taken.
    pub(super) fn save_shared(&self) -> SavedTree {
        let left = self.hand.left();
        SavedTree {
            round: left.round,
            runs: left.runs.iter().map(|run| packed(run)).collect(),
            later: packed(&left.later),
            cut: left.cut,
        }
    }

    /// The tree as it was saved. `None` if that cannot be.
    pub(super) fn restored(shared: &SavedTree, state: &SearchState) -> Option<Tree> {
        let mut runs = Vec::new();
        let mut later = unpacked(&shared.later)?;
        for hand in &state.hands {
            let hand: SavedHand = serde_json::from_str(hand).ok()?;
            runs.push(unpacked(&hand.items)?);
            later.extend(unpacked(&hand.later)?);
        }
        for run in &shared.runs {
            runs.push(unpacked(run)?);
        }
        Some(Tree::going_on(Left {
            round: shared.round,
            runs,
            later,
            cut: shared.cut,
        }))
    }
}

/// A tree without what hands have taken.
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

/// Items as text, each told by how it differs from the one before: `kept.floor.others`.
fn packed(items: &[Item]) -> Vec<String> {
    let mut before: &[Choice] = &[];
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let kept = item
            .choices
            .iter()
            .zip(before)
            .take_while(|(a, b)| a == b)
            .count();
        texts.push(format!("{kept}.{}.{}", item.floor, pack(&item.choices[kept..])));
        before = &item.choices;
    }
    texts
}

fn unpacked(texts: &[String]) -> Option<Vec<Item>> {
    let mut items: Vec<Item> = Vec::new();
    for text in texts {
        let mut parts = text.splitn(3, '.');
        let kept: usize = parts.next()?.parse().ok()?;
        let floor: usize = parts.next()?.parse().ok()?;
        let before = items.last().map_or(&[][..], |item| &item.choices);
        let mut choices = before.get(..kept)?.to_vec();
        choices.extend(unpack(parts.next()?)?);
        if floor > choices.len() {
            return None;
        }
        items.push(Item {
            choices: choices.into(),
            floor,
        });
    }
    Some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::ChoiceKind;

    #[test]
    fn items_are_packed_and_unpacked() {
        let choice = |alternatives, taken| Choice {
            kind: ChoiceKind::Task,
            preempts: taken == 0,
            alternatives,
            taken,
        };
        let path: Vec<Choice> = (0..40).map(|at| choice(2 + at % 3, at % 2)).collect();
        let items = [
            Item::below(&[]),
            Item::below(&path[..20]),
            Item::beside(&path[..21], 1),
            Item {
                choices: path.as_slice().into(),
                floor: 3,
            },
        ];
        let texts = packed(&items);
        assert_eq!(unpacked(&texts).unwrap(), items);
        for wrong in ["", "1", "0.0", "7.0.", "0.9.", "-1.0.", "0.0.!"] {
            assert_eq!(unpacked(&[wrong.to_owned()]), None, "{wrong}");
        }
    }
}
