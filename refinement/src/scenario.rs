//! Scenarios: the operations of each task.

use crate::operation::Argument;
use rand::{Rng, RngExt};
use std::fmt;

/// An operation to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The index of the operation in the test description, from 0.
    pub operation: usize,
    /// Its argument.
    pub argument: Argument,
}

/// Operations before the tasks, in them, and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// The operations before there are other tasks.
    pub init: Vec<Step>,
    /// The operations of each task.
    pub tasks: Vec<Vec<Step>>,
    /// The operations after the tasks have ended.
    pub post: Vec<Step>,
}

/// The place of an operation in a scenario: all of `init`, then each task's, then all of `post`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

impl Place {
    /// Returns the place as an index into a table with a row per operation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Before there are tasks.
    Before,
    /// In the tasks.
    Tasks,
    /// After the tasks have ended.
    After,
}

impl Scenario {
    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.init.len() + self.tasks.iter().map(Vec::len).sum::<usize>() + self.post.len()
    }

    /// `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of orders of its operations, one at a time, where each task's keep theirs; `u64::MAX` for
    /// more than that.
    pub fn orders(&self) -> u64 {
        let mut orders: u128 = 1;
        let mut before: u128 = 0;
        for task in &self.tasks {
            // The number of ways to insert this task's operations among those of the tasks before it.
            for (number, _) in (1..).zip(task) {
                before += 1;
                orders = orders * before / number;
                if orders > u128::from(u64::MAX) {
                    return u64::MAX;
                }
            }
        }
        orders as u64
    }

    /// Returns one of the orders of its operations.
    pub(crate) fn random_order(&self, random: &mut impl Rng) -> Vec<Place> {
        let mut next = self.first_places();
        let mut left: Vec<usize> = self.tasks.iter().map(Vec::len).collect();
        let mut order: Vec<Place> = (0..next[0]).map(Place).collect();
        let mut all: usize = left.iter().sum();
        while all > 0 {
            // Tasks with more left are more likely next: so all orders are equally likely.
            let mut drawn = random.random_range(0..all);
            let task = left.iter().position(|&left| {
                let here = drawn < left;
                drawn = drawn.wrapping_sub(left);
                here
            });
            let task = task.expect("fewer were drawn than there are");
            order.push(Place(next[task]));
            (next[task], left[task], all) = (next[task] + 1, left[task] - 1, all - 1);
        }
        order.extend((next[self.tasks.len()]..self.len() as u32).map(Place));
        order
    }

    /// Returns the operations in the order of their places.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let tasks = self.tasks.iter().flatten();
        self.init.iter().chain(tasks).chain(&self.post)
    }

    /// Returns the place of the first operation of each task, and of `post`.
    pub(crate) fn first_places(&self) -> Vec<u32> {
        let mut next = self.init.len() as u32;
        let mut first = vec![next];
        for task in &self.tasks {
            next += task.len() as u32;
            first.push(next);
        }
        first
    }

    /// Returns the part of the scenario to which the operation at this place belongs.
    pub(crate) fn phase(&self, place: usize) -> Phase {
        match place {
            _ if place < self.init.len() => Phase::Before,
            _ if place < self.len() - self.post.len() => Phase::Tasks,
            _ => Phase::After,
        }
    }

    /// Returns the performer of each operation: a task's number from 1; 0 for operations before and after the tasks.
    pub fn performers(&self) -> Vec<u32> {
        let mut performers = vec![0; self.init.len()];
        for (task, number) in self.tasks.iter().zip(1..) {
            performers.extend(std::iter::repeat_n(number, task.len()));
        }
        performers.extend(std::iter::repeat_n(0, self.post.len()));
        performers
    }

    /// Returns the scenario in words, given the names of the operations.
    pub fn describe(&self, names: &[String]) -> Description {
        let list = |steps: &[Step]| -> Vec<String> {
            let call = |step: &Step| format!("{}({})", names[step.operation], step.argument.text());
            steps.iter().map(call).collect()
        };
        Description {
            init: list(&self.init),
            tasks: self.tasks.iter().map(|task| list(task)).collect(),
            post: list(&self.post),
        }
    }
}

/// A scenario in words: each operation as `push(1)`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Description {
    /// The operations before there are other tasks.
    pub init: Vec<String>,
    /// The operations of each task.
    pub tasks: Vec<Vec<String>>,
    /// The operations after the tasks have ended.
    pub post: Vec<String>,
}

impl Description {
    /// Returns the scenario in one line.
    pub fn one_line(&self) -> String {
        self.to_string().trim_end().replace('\n', " | ")
    }

    /// Returns the same, with each long operation cut: for people.
    pub(crate) fn shortened(&self) -> Description {
        let shorten = |calls: &[String]| calls.iter().map(|call| shortened(call)).collect();
        Description {
            init: shorten(&self.init),
            tasks: self.tasks.iter().map(|task| shorten(task)).collect(),
            post: shorten(&self.post),
        }
    }

    /// Returns the operations in the order of their places.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        let tasks = self.tasks.iter().flatten();
        self.init
            .iter()
            .chain(tasks)
            .chain(&self.post)
            .map(String::as_str)
    }
}

/// Maximum length of an operation or a value in a report for people, and the part of a longer one that is shown.
const SHOWN_MAX: usize = 80;
const SHOWN_OF_LONGER: usize = 40;

/// Returns the text, cut if it is long.
pub(crate) fn shortened(text: &str) -> String {
    let length = text.chars().count();
    match length > SHOWN_MAX {
        true => {
            let shown: String = text.chars().take(SHOWN_OF_LONGER).collect();
            format!("{shown}.. ({length} characters)")
        }
        false => text.to_owned(),
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.init.is_empty() {
            writeln!(f, "before  {}", self.init.join("; "))?;
        }
        for (task, number) in self.tasks.iter().zip(1..) {
            writeln!(f, "task {number}  {}", task.join("; "))?;
        }
        if !self.post.is_empty() {
            writeln!(f, "after   {}", self.post.join("; "))?;
        }
        Ok(())
    }
}
