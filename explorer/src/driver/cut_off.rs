//! The executions that were cut off at the end of an exploration, because its time was over or the user interrupted it.

use crate::report::count;

/// The largest number of failures that a note about executions that were cut off names.
const SHOWN: usize = 3;

/// The executions that were cut off: at most one for each worker.
#[derive(Debug, Default)]
pub(super) struct CutOffExecutions {
    executions: u64,
    /// The largest number of steps that one of them had taken.
    steps: u64,
    /// The descriptions of their failures, each once.
    shown: Vec<String>,
}

impl CutOffExecutions {
    /// Adds an execution that was cut off after this many steps, with the failures that it had shown.
    pub(super) fn add(&mut self, steps: u64, shown: &[String]) {
        self.executions += 1;
        self.steps = self.steps.max(steps);
        for failure in shown {
            let failure = failure.lines().next().unwrap_or_default();
            if !self.shown.iter().any(|known| known == failure) {
                self.shown.push(failure.to_owned());
            }
        }
    }

    /// `true` if one of them had shown a failure.
    pub(super) fn has_shown(&self) -> bool {
        !self.shown.is_empty()
    }

    /// Returns the place of the end, to follow the reason for it: ` within an execution of 5000 steps so far`.
    pub(super) fn within(&self) -> String {
        let steps = count(self.steps, "step");
        match self.executions {
            0 => String::new(),
            1 => format!(" within an execution of {steps} so far"),
            executions => format!(" within {executions} executions of up to {steps} so far"),
        }
    }

    /// Returns a note for the reader of the report, if there are any.
    pub(super) fn note(&self) -> Option<String> {
        let steps = count(self.steps, "step");
        let (what, which, its) = match self.executions {
            0 => return None,
            1 => (format!("an execution was cut off after {steps}"), "it is", "it"),
            executions => (
                format!("{executions} executions were cut off after up to {steps} each"),
                "they are",
                "they",
            ),
        };
        let mut note = format!("{what}, and {which} not counted: raise `time` to see the end");
        if !self.shown.is_empty() {
            let shown = &self.shown[..self.shown.len().min(SHOWN)];
            note.push_str(&format!(
                "; by then {its} had shown a failure, which is not a finding without an end: {}",
                shown.join("; ")
            ));
        }
        Some(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_where_nothing_was_cut_off() {
        let none = CutOffExecutions::default();
        assert_eq!(
            (none.within(), none.note(), none.has_shown()),
            (String::new(), None, false)
        );
    }

    #[test]
    fn what_was_cut_off_is_said_with_its_failures() {
        let mut cut_off = CutOffExecutions::default();
        cut_off.add(1, &[]);
        assert_eq!(cut_off.within(), " within an execution of 1 step so far");
        assert_eq!(
            cut_off.note().unwrap(),
            "an execution was cut off after 1 step, and it is not counted: raise `time` to see the end"
        );
        let race = "data-race: x\ny".to_owned();
        cut_off.add(7, &[race.clone(), race]);
        assert_eq!(cut_off.within(), " within 2 executions of up to 7 steps so far");
        let note = cut_off.note().unwrap();
        assert!(
            note.ends_with(
                "by then they had shown a failure, which is not a finding without an end: data-race: x"
            ),
            "{note}"
        );
        assert!(cut_off.has_shown());
    }
}
