//! Scenarios: which operations each task performs.

use crate::operation::Argument;
use rand::{Rng, RngExt};
use std::fmt;

/// An operation to perform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which operation of the test description, from 0.
    pub operation: usize,
    /// What it is called with.
    pub argument: Argument,
}

/// Operations before, beside each other, and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    /// What is done before there are other tasks.
    pub init: Vec<Step>,
    /// What each task does.
    pub tasks: Vec<Vec<Step>>,
    /// What is done when they have ended.
    pub post: Vec<Step>,
}

/// The place of an operation in a scenario: all of `init`, then each task's, then all of `post`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

impl Place {
    /// The place as an index into a table with a row per operation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Scenario {
    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.init.len() + self.tasks.iter().map(Vec::len).sum::<usize>() + self.post.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many orders its operations have, one at a time, if each task's come in theirs; `u64::MAX` for more than that.
    pub fn orders(&self) -> u64 {
        let mut orders: u128 = 1;
        let mut before: u128 = 0;
        for task in &self.tasks {
            // So many ways to put this task's operations among those of the tasks before it.
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

    /// One of the orders of its operations.
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

    /// The operations in the order of their places.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let tasks = self.tasks.iter().flatten();
        self.init.iter().chain(tasks).chain(&self.post)
    }

    /// The place of the first operation of each task, and of `post`.
    pub(crate) fn first_places(&self) -> Vec<u32> {
        let mut next = self.init.len() as u32;
        let mut first = vec![next];
        for task in &self.tasks {
            next += task.len() as u32;
            first.push(next);
        }
        first
    }

    /// Who performs each operation: a task's number from 1; 0 for what is done before and after.
    pub fn performers(&self) -> Vec<u32> {
        let mut performers = vec![0; self.init.len()];
        for (task, number) in self.tasks.iter().zip(1..) {
            performers.extend(std::iter::repeat_n(number, task.len()));
        }
        performers.extend(std::iter::repeat_n(0, self.post.len()));
        performers
    }

    /// The scenario in words, given the names of the operations.
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
    /// What is done before there are other tasks.
    pub init: Vec<String>,
    /// What each task does.
    pub tasks: Vec<Vec<String>>,
    /// What is done when they have ended.
    pub post: Vec<String>,
}

impl Description {
    /// The scenario in one line.
    pub fn one_line(&self) -> String {
        self.to_string().trim_end().replace('\n', " | ")
    }

    /// The same, each operation cut where it is long: for people.
    pub(crate) fn shortened(&self) -> Description {
        let shorten = |calls: &[String]| calls.iter().map(|call| shortened(call)).collect();
        Description {
            init: shorten(&self.init),
            tasks: self.tasks.iter().map(|task| shorten(task)).collect(),
            post: shorten(&self.post),
        }
    }

    /// The operations in the order of their places.
    pub fn calls(&self) -> impl Iterator<Item = &str> {
        let tasks = self.tasks.iter().flatten();
        self.init
            .iter()
            .chain(tasks)
            .chain(&self.post)
            .map(String::as_str)
    }
}

/// Most characters of an operation or a value in a report for people, and how many are shown of a longer one.
const SHOWN_MAX: usize = 80;
const SHOWN_OF_LONGER: usize = 40;

/// The text, cut if it is long.
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
