//! The values that a step chose, and the fates of operations that the environment may let fail.

use intermezzo_engine::schedule::{Choice, ChoiceKind};
use intermezzo_engine::trace::{Class, Trace};
use smallvec::SmallVec;

/// The values that a step chose, in order: mostly none. If the first one is the fate of its operation, it is the fate's
/// [value](Fate::value).
pub(super) type Values = SmallVec<[u32; 2]>;

/// Returns the values among these choices.
pub(super) fn values(choices: &[Choice]) -> Values {
    let mut values = Values::new();
    for choice in choices.iter().filter(|choice| is_value(choice)) {
        let fate = Fate::of(choice).filter(|_| values.is_empty());
        values.push(fate.map_or(choice.taken, Fate::value));
    }
    values
}

/// The fate of an operation that the environment may let fail: a weak compare-exchange, or a `try_lock`.
///
/// The environment may do so only if the operation could succeed, and as often as its own task allows. So a task whose
/// next operation has a choice of fates has it until another task changes what the operation accesses.
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

    /// Returns the fate that was chosen, if the choice is of one.
    #[inline(always)]
    pub(super) fn of(choice: &Choice) -> Option<Fate> {
        choice.kind.is_failure().then_some(match choice.taken {
            0 => Fate::Succeeds,
            _ => Fate::Fails,
        })
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

/// A set of fates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fates {
    /// A bit for each fate.
    bits: u32,
}

impl Fates {
    pub(super) const NONE: Fates = Fates { bits: 0 };
    pub(super) const ALL: Fates = Fates { bits: 3 };

    /// Adds a fate.
    pub(super) fn with(self, fate: Fate) -> Fates {
        Fates {
            bits: self.bits | 1 << fate.alternative(),
        }
    }

    /// Returns `true` if a fate is among them.
    pub(super) fn has(self, fate: Fate) -> bool {
        self.bits & 1 << fate.alternative() != 0
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
/// which it races: that step does not change the variable of the operation.
#[inline(never)]
pub(super) fn keeps_choice(trace: &Trace, earlier: usize, later: usize) -> bool {
    let footprint = trace.footprint(later);
    footprint.first().is_some_and(|own| {
        let mut theirs = trace.footprint(earlier).iter();
        theirs.all(|access| access.key != own.key || access.class == Class::Read)
    })
}
