//! The prescribed choices of the next execution, and how many of them it shares with the last one.

use crate::schedule::{Choice, ChoiceKind};

/// The choices of the last execution, which a search changes into those that the next one must make first.
///
/// It counts the choices that stay the same. The engine's knowledge about that part of the last execution also holds
/// for the next one.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    choices: Vec<Choice>,
    /// The number of choices, from the first, that are the last execution's.
    kept: usize,
    /// The number of choices that are not about tasks.
    values: usize,
    /// `true` if nothing is known of the last execution, not even the part before its first choice.
    forgotten: bool,
}

impl Plan {
    /// Returns the choices, in order.
    #[inline(always)]
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// Returns the choices if one of them is not about tasks, and an empty slice otherwise. So callers that need only
    /// such choices can skip the search.
    #[inline(always)]
    pub fn choices_with_values(&self) -> &[Choice] {
        match self.values {
            0 => &[],
            _ => &self.choices,
        }
    }

    /// Returns the number of choices, from the first, that are those of the last execution.
    #[inline(always)]
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Drops all choices and everything known of the last execution, because it belonged to another search.
    pub fn forget(&mut self) {
        self.truncate(0);
        self.forgotten = true;
    }

    /// Returns `true` if nothing is known of the last execution, and resets the mark. Called once for each execution.
    pub(crate) fn take_forgotten(&mut self) -> bool {
        std::mem::take(&mut self.forgotten)
    }

    /// Drops all choices but the first `length`.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        if self.values > 0 {
            self.values -= count_values(self.choices.get(length..).unwrap_or_default());
        }
        self.choices.truncate(length);
        self.kept = self.kept.min(self.choices.len());
    }

    /// Takes another alternative at one choice.
    ///
    /// # Panics
    /// If there is no such choice or alternative.
    #[inline]
    pub fn take(&mut self, at: usize, alternative: u32) {
        let choice = &mut self.choices[at];
        assert!(
            alternative < choice.alternatives,
            "a plan takes one of the alternatives"
        );
        if choice.taken != alternative {
            choice.taken = alternative;
            self.kept = self.kept.min(at);
        }
    }

    /// Prescribes these choices instead.
    pub fn replace(&mut self, choices: &[Choice]) {
        let same = self.choices.iter().zip(choices).take_while(|(a, b)| a == b);
        self.kept = self.kept.min(same.count());
        self.choices.clear();
        self.choices.extend_from_slice(choices);
        self.values = count_values(choices);
    }

    /// Marks all choices as those of the last execution, which has just ended.
    pub fn settle(&mut self) {
        self.kept = self.choices.len();
    }

    /// Records a choice that the execution made.
    #[inline(always)]
    pub fn push(&mut self, choice: Choice) {
        self.values += usize::from(is_value(&choice));
        self.choices.push(choice);
    }
}

#[inline(always)]
fn is_value(choice: &Choice) -> bool {
    choice.kind != ChoiceKind::Task
}

fn count_values(choices: &[Choice]) -> usize {
    choices.iter().filter(|choice| is_value(choice)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(taken: u32) -> Choice {
        Choice {
            kind: ChoiceKind::Task,
            preempts: false,
            alternatives: 3,
            taken,
        }
    }

    #[test]
    fn a_plan_knows_what_stays() {
        let mut plan = Plan::default();
        for taken in [0, 1, 2, 0] {
            plan.push(choice(taken));
        }
        plan.settle();
        plan.truncate(3);
        assert_eq!(plan.kept(), 3);
        plan.take(2, 2);
        assert_eq!(plan.kept(), 3, "the same alternative changes nothing");
        plan.take(1, 2);
        assert_eq!(plan.kept(), 1);
        plan.settle();
        plan.replace(&[choice(0), choice(2), choice(1), choice(0)]);
        assert_eq!((plan.kept(), plan.choices().len()), (2, 4));
    }

    #[test]
    fn a_plan_knows_if_it_chooses_values() {
        let value = Choice {
            kind: ChoiceKind::Value,
            ..choice(1)
        };
        let mut plan = Plan::default();
        plan.push(choice(0));
        assert!(plan.choices_with_values().is_empty());
        [value, choice(2), value]
            .into_iter()
            .for_each(|choice| plan.push(choice));
        for length in [4, 3, 2] {
            plan.truncate(length);
            assert_eq!(plan.choices_with_values(), plan.choices());
        }
        plan.truncate(1);
        assert!(plan.choices_with_values().is_empty());
        plan.replace(&[value, choice(0)]);
        assert_eq!(plan.choices_with_values().len(), 2);
        plan.replace(&[choice(0)]);
        assert!(plan.choices_with_values().is_empty());
        plan.push(value);
        plan.forget();
        plan.push(choice(1));
        assert!(plan.choices_with_values().is_empty());
    }
}
