//! The place of a task, by samples of its stack: the innermost function of the program that is in all of them.
//!
//! Samples of a loop differ in the position in it, and in the functions that it is calling. They have the function with
//! the loop in common. So the same hang gets the same name each time.

use crate::call_stack::program::{Frame, resolve, shown};

/// Returns the name of the innermost function that these stacks have in common, with the line if it is the same in all
/// of them. Code addresses come innermost first.
pub(super) fn common(stacks: &[Vec<usize>]) -> Option<String> {
    let stacks: Vec<Vec<Frame>> = stacks.iter().map(|stack| resolve(stack)).collect();
    let (first, others) = stacks.split_first()?;
    let alike = |at: usize| {
        let same = |other: &Vec<Frame>| other.get(at).is_some_and(|frame| frame.name == first[at].name);
        others.iter().all(same)
    };
    let common = (0..first.len()).take_while(|&at| alike(at)).count();
    let at = (0..common).rev().find(|&at| first[at].is_programs())?;
    let frame = &first[at];
    let name = match frame.name.as_str() {
        // A closure's own name is a number.
        closure if closure.starts_with("{closure") => "a closure".to_owned(),
        name => format!("`{name}`"),
    };
    let line = |frame: &Frame| frame.file.as_ref().map(|(file, line, _)| (file.clone(), *line));
    let everywhere = others.iter().all(|other| line(&other[at]) == line(frame));
    let file = frame.file.as_ref().map(|(file, line, _)| {
        let file = shown(file).display().to_string();
        if everywhere {
            format!("{file}:{line}")
        } else {
            file
        }
    });
    Some(match file {
        Some(file) => format!("{name} at {file}"),
        None => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_in_common_with_nothing() {
        assert_eq!(common(&[]), None);
        assert_eq!(common(&[vec![], vec![1]]), None);
    }
}
