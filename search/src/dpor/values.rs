//! The values that a step chose, and the fates of operations that the environment may let fail.

use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::trace::{Class, Key, StepAccess, Trace};
use smallvec::SmallVec;

/// The values that a step chose, in order; usually there are none. If the first one is the fate of its operation, it is
/// the fate's [value](Fate::value).
pub(super) type Values = SmallVec<[u32; 2]>;

/// Returns the values among these choices.
pub(super) fn values(choices: &[Choice]) -> Values {
    let mut values = Values::new();
    for choice in choices.iter().filter(|choice| is_value(choice)) {
        let value = next_value(&values, choice.kind, choice.taken);
        values.push(value);
    }
    values
}

/// Returns the value of an alternative of a choice of this kind. `values` are the values that the step has chosen
/// before.
#[inline(always)]
pub(super) fn next_value(values: &[u32], kind: ChoiceKind, alternative: u32) -> u32 {
    if values.is_empty() && kind.is_failure() {
        alternative | Fate::MARK
    } else {
        alternative
    }
}

/// The fate of an operation that the environment may let fail: a weak compare-exchange, or a `try_lock`.
///
/// The environment may do so only if the operation could succeed, and only within the bound for its task. So if a
/// task's next operation has a choice of fates, it keeps the choice until another task changes the variable of the
/// operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Succeeds,
    Fails,
}

impl Fate {
    /// Both, in the order in which they are explored.
    pub(super) const BOTH: [Fate; 2] = [Fate::Succeeds, Fate::Fails];

    /// The mark of fates among values.
    const MARK: u32 = 1 << 31;

    /// Returns the fate that was chosen, if this is a choice of a fate.
    #[inline(always)]
    pub(super) fn of(choice: &Choice) -> Option<Fate> {
        choice.kind.is_failure().then_some(match choice.taken {
            0 => Fate::Succeeds,
            _ => Fate::Fails,
        })
    }

    /// Returns the other fate.
    pub(super) fn other(self) -> Fate {
        match self {
            Fate::Succeeds => Fate::Fails,
            Fate::Fails => Fate::Succeeds,
        }
    }

    /// Returns the access of an operation on this key that has the fate.
    pub(super) fn access(self, key: Key) -> StepAccess {
        let class = match self {
            Fate::Succeeds => Class::Write,
            Fate::Fails => Class::Read,
        };
        StepAccess { key, class }
    }

    /// Returns the alternative of the choice.
    pub(super) fn alternative(self) -> u32 {
        match self {
            Fate::Succeeds => 0,
            Fate::Fails => 1,
        }
    }

    /// Returns the fate's value, which differs from those of other choices.
    pub(super) fn value(self) -> u32 {
        self.alternative() | Fate::MARK
    }

    /// Returns the fate with this value, if there is one.
    #[inline(always)]
    pub(super) fn of_value(value: u32) -> Option<Fate> {
        Fate::BOTH.into_iter().find(|fate| fate.value() == value)
    }

    /// Returns the fate among these values of a step, if there is one.
    #[inline(always)]
    pub(super) fn among(values: &[u32]) -> Option<Fate> {
        values.first().and_then(|&first| Fate::of_value(first))
    }
}

/// The values with which a step must be explored: those that begin with one of these beginnings, or all if there are
/// none.
///
/// For example, if only the failure of a step is planned, the step is explored with the values `[failure]`, or with
/// `[failure, 0]` and `[failure, 1]` if it makes another choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    beginnings: SmallVec<[Values; 1]>,
}

impl Wanted {
    /// Returns the values with these beginnings; all values, if there are none, or one of them is empty.
    pub(super) fn beginning_with<'a>(beginnings: impl Iterator<Item = &'a [u32]>) -> Wanted {
        let mut wanted = Wanted::default();
        for beginning in beginnings {
            if beginning.is_empty() {
                return Wanted::default();
            }
            wanted.beginnings.push(Values::from_slice(beginning));
        }
        wanted
    }

    /// Returns `true` if the step must be explored with all values.
    #[inline(always)]
    pub(super) fn are_all(&self) -> bool {
        self.beginnings.is_empty()
    }

    /// Returns the beginnings of the values.
    pub(super) fn beginnings(&self) -> &[Values] {
        &self.beginnings
    }

    /// Returns `true` if the step must be explored with some values that begin with these.
    pub(super) fn have(&self, values: &[u32]) -> bool {
        self.are_all()
            || self
                .beginnings
                .iter()
                .any(|beginning| beginning.starts_with(values) || values.starts_with(beginning))
    }

    /// Returns the beginning of these values with which the step sleeps after they were explored. It is the same for
    /// all values that are explored together, except that each fate sleeps separately. Returns `None` if the values
    /// need not be explored.
    pub(super) fn explored_as<'a>(&self, values: &'a [u32]) -> Option<&'a [u32]> {
        let beginning = match self.are_all() {
            true => 0,
            false => {
                let begun = self
                    .beginnings
                    .iter()
                    .filter(|beginning| values.starts_with(beginning));
                begun.map(|beginning| beginning.len()).min()?
            }
        };
        Some(&values[..beginning.max(usize::from(Fate::among(values).is_some()))])
    }
}

/// Returns the fate of the operation with which a step of the last execution began, if it had a choice of fates.
/// `choices` are those of the execution, or none if it chose no values.
#[inline(always)]
pub(super) fn fate_of(trace: &Trace, choices: &[Choice], step: usize) -> Option<Fate> {
    if choices.is_empty() {
        return None;
    }
    let begin = step
        .checked_sub(1)
        .map_or(0, |before| trace.steps()[before].choices_end);
    let made = choices.get(begin..trace.steps()[step].choices_end)?;
    made.iter().find(|choice| is_value(choice)).and_then(Fate::of)
}

fn is_value(choice: &Choice) -> bool {
    choice.kind != ChoiceKind::Task
}

/// Returns these choices if there is a value among them. Otherwise returns none, so that the steps' own choices need
/// not be looked up.
pub(super) fn with_values(choices: &[Choice]) -> &[Choice] {
    if choices.iter().any(is_value) {
        choices
    } else {
        &[]
    }
}

/// Returns `true` if the operation of the step `later` has the same choice of fates without the step `earlier`, with
/// which it races, because that step does not change the operation's variable.
#[inline(never)]
pub(super) fn keeps_choice(trace: &Trace, earlier: usize, later: usize) -> bool {
    let footprint = trace.footprint(later);
    footprint.first().is_some_and(|own| {
        let mut theirs = trace.footprint(earlier).iter();
        theirs.all(|access| access.key != own.key || access.class == Class::Read)
    })
}
