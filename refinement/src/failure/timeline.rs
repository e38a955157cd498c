//! Operations as intervals, one line a task.

use super::Words;
use crate::history::{Brackets, Outcome};
use crate::run::record::Mark;
use crate::scenario::Place;
use std::fmt::Write;

/// Draws a history: time runs to the right, and overlapping operations ran concurrently.
pub(super) fn draw(words: &Words<'_>, marks: &[Mark]) -> String {
    let (_, outcomes) = Brackets::of(marks, words.scenario.len());
    let performers = words.scenario.performers();
    let lines = words.scenario.tasks.len() + 1;
    let mut columns = Columns {
        next: 0,
        rows: vec![String::new(); lines],
    };
    let label = |place: u32| {
        let outcome: Outcome = outcomes[place as usize];
        words.done(Place(place), outcome)
    };
    let mut begun: Vec<(u32, usize)> = Vec::new();
    for mark in marks {
        match mark {
            Mark::Call(place) => {
                let row = performers[place.index()] as usize;
                let at = columns.open(row);
                begun.push((place.0, at));
            }
            Mark::Return(place, _) => {
                let row = performers[place.index()] as usize;
                let at = begun
                    .iter()
                    .position(|(other, _)| *other == place.0)
                    .expect("it was called");
                let (_, from) = begun.swap_remove(at);
                columns.close(row, from, &label(place.0), true);
            }
        }
    }
    begun.sort_unstable();
    for (place, from) in begun {
        let row = performers[place as usize] as usize;
        columns.close(row, from, &label(place), false);
    }
    let mut text = String::new();
    for (row, number) in columns.rows.iter().zip(0..) {
        if !row.is_empty() {
            let name = match number {
                0 => "main  ".to_owned(),
                task => format!("task {task}"),
            };
            writeln!(text, "{name}  {}", row.trim_end()).expect("a string takes everything");
        }
    }
    text
}

struct Columns {
    /// The column of the next mark, at least.
    next: usize,
    rows: Vec<String>,
}

impl Columns {
    fn open(&mut self, row: usize) -> usize {
        let at = self.next.max(self.rows[row].chars().count() + 1);
        self.next = at + 1;
        let row = &mut self.rows[row];
        let gap = at - row.chars().count();
        row.extend(std::iter::repeat_n(' ', gap));
        row.push('|');
        at
    }

    fn close(&mut self, row: usize, from: usize, label: &str, ends: bool) {
        let width = label.chars().count() + 2;
        let at = self.next.max(from + width + 1);
        self.next = at + 1;
        let row = &mut self.rows[row];
        let room = at - from - 1;
        let left = (room - label.chars().count()) / 2;
        row.extend(std::iter::repeat_n('-', left));
        row.push_str(label);
        row.extend(std::iter::repeat_n('-', room - left - label.chars().count()));
        row.push(if ends { '|' } else { '>' });
    }
}
