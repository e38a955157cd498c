//! The reasons why no order of the operations explains their results, in words and as data.

use super::Words;
use crate::history::Outcome;
use crate::scenario::{Place, shortened};
use crate::serial::search::{DeadEnd, Reasons};
use serde::Serialize;
use std::fmt::Write;

/// Most dead ends in the words of a report.
const IN_WORDS: usize = 12;

/// Most dead ends that are listed as data.
pub(super) const LISTED: usize = 200;

/// The ways in which the orders of a history's operations fail, one at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToldOrders {
    /// The largest number of operations that have an order in which each returns its result: places in the scenario.
    pub longest: Vec<u32>,
    /// Every way in which an order fails, in the order of a depth first search.
    pub dead_ends: Vec<ToldDeadEnd>,
    /// The number of further ones.
    pub more: usize,
    /// `true` if that is all: not every order may have been examined.
    pub complete: bool,
}

/// An order of some operations after which another does not have its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToldDeadEnd {
    /// The operations before, by place: each returns what it returned.
    pub order: Vec<u32>,
    /// The operation, by place.
    pub next: u32,
    /// The results that it may have then; nothing if it has to wait.
    pub would: Vec<String>,
}

impl ToldOrders {
    pub(super) fn new(reasons: &Reasons, words: &Words<'_>) -> ToldOrders {
        let numbers = |places: &[Place]| places.iter().map(|place| place.0).collect();
        let told = |dead_end: &DeadEnd| ToldDeadEnd {
            order: numbers(&dead_end.order),
            next: dead_end.next.0,
            would: dead_end
                .would
                .iter()
                .filter_map(|outcome| words.outcome(*outcome))
                .collect(),
        };
        ToldOrders {
            longest: numbers(&reasons.longest),
            dead_ends: reasons.dead_ends.iter().map(told).collect(),
            more: reasons.more,
            complete: !reasons.cut_short,
        }
    }
}

/// Describes how far an order gets, and where each fails. `outcomes` has the outcome of each operation, by place.
pub(super) fn in_words(reasons: &Reasons, words: &Words<'_>, outcomes: &[Outcome]) -> String {
    let done = |place: &Place| words.done(*place, outcomes[place.index()]);
    let list = |places: &[Place]| places.iter().map(done).collect::<Vec<_>>().join(", ");
    let mut text = match &reasons.longest[..] {
        [] => "no operation can come first:".to_owned(),
        longest => format!(
            "an order of the operations gets as far as {}; each fails:",
            list(longest)
        ),
    };
    for dead_end in reasons.dead_ends.iter().take(IN_WORDS) {
        let before = match &dead_end.order[..] {
            [] => "first ".to_owned(),
            order => format!("{}, then ", list(order)),
        };
        let would = dead_end
            .would
            .iter()
            .filter_map(|outcome| words.outcome(*outcome));
        let would: Vec<String> = would.map(|text| shortened(&text)).collect();
        let would = match would.is_empty() {
            true => "would wait".to_owned(),
            false => format!("would return {}", would.join(" or ")),
        };
        let did = match outcomes[dead_end.next.index()] {
            Outcome::Returned(text) => format!("returned {}", shortened(&words.texts.text(text))),
            _ => "waits".to_owned(),
        };
        write!(
            text,
            "\n  {before}{} {would}, but {did}",
            words.who(dead_end.next)
        )
        .expect("a string takes everything");
    }
    let more = reasons.more + reasons.dead_ends.len().saturating_sub(IN_WORDS);
    match (more, reasons.cut_short) {
        (0, false) => {}
        (more, false) => text += &format!("\n  and {more} more"),
        (more, true) => text += &format!("\n  and {more} more, at least: not every order was looked at"),
    }
    text
}
