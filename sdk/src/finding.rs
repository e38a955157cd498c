//! The kinds of findings.

use std::fmt;

/// The kind of a finding. `as_str` is its name in reports.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// An `assert!` failed.
    Assertion,
    /// Any other panic.
    Panic,
    /// No task can continue.
    Deadlock,
    /// Tasks run in loops for ever although each gives way.
    Livelock,
    /// A loop that never yields.
    UnfairSpin,
    /// Two conflicting accesses, unordered.
    DataRace,
    /// A load that could return an older value on a machine with store buffers.
    StaleLoad,
    /// A block that is not serialisable.
    Atomicity,
    /// A cycle in the order in which locks are taken.
    LockOrder,
    /// Something never released.
    Leak,
    /// An implementation that does what its specification does not.
    Refinement,
    /// A specification with two outcomes for one call.
    NondeterministicSpec,
    /// A test that returns something else in another execution, and should not.
    Determinism,
    /// A signal: segmentation fault, abort, stack overflow.
    Crash,
    /// A replay that departed from its schedule.
    Divergence,
    /// An execution longer than its limit.
    StepLimit,
    /// A use of the tool that cannot work.
    Misuse,
    /// A task that runs for too long without a visible operation, or is blocked for too long by something
    /// uncontrolled.
    Hang,
    /// A plugin's own kind, by its name.
    Plugin(String),
}

impl FindingKind {
    /// Every kind but those of plugins.
    pub const ALL: [FindingKind; 18] = [
        FindingKind::Assertion,
        FindingKind::Panic,
        FindingKind::Deadlock,
        FindingKind::Livelock,
        FindingKind::UnfairSpin,
        FindingKind::DataRace,
        FindingKind::StaleLoad,
        FindingKind::Atomicity,
        FindingKind::LockOrder,
        FindingKind::Leak,
        FindingKind::Refinement,
        FindingKind::NondeterministicSpec,
        FindingKind::Determinism,
        FindingKind::Crash,
        FindingKind::Divergence,
        FindingKind::StepLimit,
        FindingKind::Misuse,
        FindingKind::Hang,
    ];

    /// Returns the kind of that name in reports; `None` if there is none.
    pub fn from_name(name: &str) -> Option<FindingKind> {
        match name.strip_prefix("plugin/") {
            Some(plugin) => Some(FindingKind::Plugin(plugin.to_owned())),
            None => FindingKind::ALL.into_iter().find(|kind| kind.as_str() == name),
        }
    }

    /// Returns the name in reports: `"deadlock"`, `"plugin/relaxed-store"`.
    pub fn as_str(&self) -> std::borrow::Cow<'static, str> {
        use FindingKind::*;
        match self {
            Assertion => "assertion",
            Panic => "panic",
            Deadlock => "deadlock",
            Livelock => "livelock",
            UnfairSpin => "unfair_spin",
            DataRace => "data_race",
            StaleLoad => "stale_load",
            Atomicity => "atomicity",
            LockOrder => "lock_order",
            Leak => "leak",
            Refinement => "refinement",
            NondeterministicSpec => "nondeterministic_spec",
            Determinism => "determinism",
            Crash => "crash",
            Divergence => "divergence",
            StepLimit => "step_limit",
            Misuse => "misuse",
            Hang => "hang",
            Plugin(name) => return format!("plugin/{name}").into(),
        }
        .into()
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names() {
        let plugin = FindingKind::Plugin("relaxed-store".into());
        for kind in FindingKind::ALL.into_iter().chain([plugin]) {
            // In full, so that a new kind is added to the list.
            match kind {
                FindingKind::Assertion
                | FindingKind::Panic
                | FindingKind::Deadlock
                | FindingKind::Livelock
                | FindingKind::UnfairSpin
                | FindingKind::DataRace
                | FindingKind::StaleLoad
                | FindingKind::Atomicity
                | FindingKind::LockOrder
                | FindingKind::Leak
                | FindingKind::Refinement
                | FindingKind::NondeterministicSpec
                | FindingKind::Determinism
                | FindingKind::Crash
                | FindingKind::Divergence
                | FindingKind::StepLimit
                | FindingKind::Misuse
                | FindingKind::Hang
                | FindingKind::Plugin(_) => {}
            }
            assert_eq!(FindingKind::from_name(&kind.as_str()), Some(kind));
        }
        assert_eq!(FindingKind::from_name("deadlocks"), None);
    }
}
