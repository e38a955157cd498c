//! Limits: what a search did not explore, by name.
//!
//! Coverage describes how much of the stated environment was run. A limit is something that this environment does not
//! contain, or that the search left out. A limit is listed only if an execution reached it. This module has the words for
//! all limits.

#[cfg(feature = "files")]
use super::more_yields::is_none;
use super::{Coverage, WeakMemory};
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::fmt;

/// Something that no execution of a search explored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Limit {
    /// Behaviours that only a weaker memory model than this one has.
    Memory {
        /// The name of the model: `sc`, sequential consistency, or `cpp20`, that of C++20.
        model: String,
    },
    /// The order that the system gives all tasks when the test asks for it, as by Linux's `membarrier`: no memory model knows
    /// it. Without a model, the default search leaves weak memory out for this reason.
    Barriers {
        /// The name of the model, as for `Memory`.
        model: String,
    },
    /// Under a memory model: processors other than x86, on which a compiler fence right after a read-modify-write is no
    /// fence.
    CompilerFences,
    /// Accesses of inline assembly to memory, while there are several tasks: they are no steps.
    Assembly,
    /// The test created no task.
    OneTask,
    /// The orders in which tasks access what they share: no two tasks used one object that intermezzo sees.
    NothingShared,
    /// Waits with a time-out that ends early, beyond this many in a task.
    Timeouts {
        /// The bound `timeouts` of the environment.
        most: u32,
        /// The number of executions of a search with a higher bound, which did not end; 0 if there was none.
        #[serde(default, skip_serializing_if = "is_none")]
        beyond: u64,
    },
    /// Spurious wake-ups of waits, beyond this many in a task.
    SpuriousWakeups {
        /// The bound `spurious_wakeups` of the environment.
        most: u32,
    },
    /// Weak compare-exchanges that fail spuriously, beyond this many in a task.
    WeakFailures {
        /// The bound `weak_failures` of the environment.
        most: u32,
        /// The number of executions of a search with a higher bound, which did not end; 0 if there was none.
        #[serde(default, skip_serializing_if = "is_none")]
        beyond: u64,
    },
    /// A `try_lock` of a free lock that fails, beyond this many in a task.
    TryLockFailures {
        /// The bound `try_lock_failures` of the environment, if that is not 0.
        most: u32,
    },
    /// Allocations that get the address of freed memory, beyond this many in a task.
    AddressReuse {
        /// The bound `address_reuse` of the environment.
        most: u32,
        /// The number of executions of a search with a higher bound, which did not end; 0 if there was none.
        #[serde(default, skip_serializing_if = "is_none")]
        beyond: u64,
    },
    /// Several actions of the environment in one execution, each of which was explored without the others.
    Combined {
        /// The names of their bounds in the environment, at least two.
        actions: Vec<String>,
    },
    /// Reads of a store to an atomic at one place of a task after a newer one was there, beyond this many.
    StaleReads {
        /// The bound `stale_reads` of the environment, if that is not 0.
        most: u32,
    },
    /// `notify_one` waking a waiter other than the first.
    NotifyAny,
    /// A writer that waits for a reader-writer lock, and so keeps out a reader: one that reads already, or that only tries.
    WaitingWriters,
    /// Tasks that the test leaves when it returns, in code that was not written for intermezzo: what they do after this many
    /// yields, sleeps and time-outs of each.
    LeftOver {
        /// The number of rounds after which the execution ends.
        rounds: u32,
    },
    /// Another task that drops the payload of a panic, of a task that no other one joined.
    Payloads,
    /// Executions that differ only in which task of a symmetric group is which.
    Symmetry {
        /// `true` if these may differ in more: a task of a group, or one that it created, asked which it is or drew random
        /// numbers; its first operation is another one; or the test dropped a handle on its result.
        differ: bool,
    },
    /// Reference counts as schedule points.
    ArcCounts,
    /// The order of accesses to plain memory, which no monitor watched for data races.
    PlainMemory {
        /// The number of accesses, in all executions together.
        accesses: u64,
    },
    /// The order of what is no schedule point in code that was not written for intermezzo: accesses to files and environment
    /// variables (and the current directory), panics before a panic hook is set and, unless they are watched, accesses to
    /// plain memory.
    Unmodified {
        /// `true` if statics that are no look-alikes keep their values from one execution to the next.
        statics_stay: bool,
        /// `true` if accesses to plain memory were watched for data races.
        #[serde(default)]
        watched: bool,
    },
    /// Behaviours that depend on addresses of memory, which are not the same in each execution.
    Addresses {
        /// The reason.
        because: String,
    },
    /// The order of racing accesses, in a search that continued after the race.
    Races,
    /// Loops that end because of memory that is not compared.
    Awaits {
        /// `true` if one did, so that its effects before that are missing.
        seen: bool,
    },
    /// Schedules that fair scheduling left out.
    Fairness {
        /// The interval of the yields that count: `fair_yields` of the setting `spin_loops`.
        every: u32,
    },
    /// Threads that are not controlled, and may have used objects of executions.
    OtherThreads {
        /// Their names.
        threads: Vec<String>,
    },
    /// Executions that departed from their schedules.
    Departures {
        /// The number of such executions.
        executions: u64,
        /// The number of prescribed executions for which every attempt departed.
        lost: u64,
    },
}

impl Limit {
    /// Returns `true` if a weaker memory model could show more.
    pub(crate) fn is_memory(&self) -> bool {
        matches!(self, Limit::Memory { .. })
    }

    /// Returns `true` if schedules of the stated environment are missing. Coverage is not exhaustive then.
    pub fn narrows(&self) -> bool {
        matches!(
            self,
            Limit::Awaits { seen: true }
                | Limit::Symmetry { differ: true }
                | Limit::Races
                | Limit::Fairness { .. }
                | Limit::Assembly
                | Limit::LeftOver { .. }
                | Limit::OtherThreads { .. }
                | Limit::Departures { .. }
        )
    }
}

/// The limit in words: what was not explored. For a limit that narrows the coverage, a sentence that gives the reason.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut beyond = |most: u32, one: &str, several: &str| match most {
            0 => f.write_str(several),
            1 => write!(f, "more than 1 {one} in a task"),
            most => write!(f, "more than {most} {several} in a task"),
        };
        match self {
            Limit::Timeouts { most: 0, beyond: 1.. } => f.write_str("most early time-outs"),
            Limit::Timeouts { most, .. } => beyond(*most, "early time-out", "early time-outs"),
            Limit::SpuriousWakeups { most } => beyond(*most, "spurious wake-up", "spurious wake-ups"),
            Limit::WeakFailures { most: 0, beyond: 1.. } => f.write_str("most failures of weak exchanges"),
            Limit::WeakFailures { most, .. } => beyond(*most, "failure of a weak exchange", "failures of weak exchanges"),
            Limit::TryLockFailures { most } => beyond(
                *most,
                "failure of `try_lock` of a free lock",
                "failures of `try_lock` of free locks",
            ),
            Limit::AddressReuse { most: 0, beyond: 1.. } => f.write_str("most reuses of freed memory"),
            Limit::AddressReuse { most, .. } => beyond(*most, "reuse of freed memory", "reuses of freed memory"),
            Limit::Combined { actions } => {
                let named: Vec<String> = actions.iter().map(|action| format!("`{action}`")).collect();
                write!(f, "{} in one execution", named.join(" with "))
            }
            Limit::Memory { model } if model == "sc" => f.write_str("weak memory"),
            Limit::Memory { model } if model == "cpp20" => f.write_str("loads that read later stores (load buffering)"),
            Limit::Memory { model } => write!(f, "memory weaker than {model}"),
            Limit::Barriers { model } if model == "sc" => f.write_str(
                "weak memory, because the test calls `membarrier`, which the memory model does not know",
            ),
            Limit::Barriers { .. } => f.write_str(
                "the order that `membarrier` gives: the memory model does not know it, so a reported stale read may be \
                 impossible",
            ),
            Limit::StaleReads { most: 1 } => f.write_str("more than 1 stale read of a store at a place in a task"),
            Limit::StaleReads { most } => write!(f, "more than {most} stale reads of a store at a place in a task"),
            Limit::CompilerFences => f.write_str(
                "processors other than x86, on which a `compiler_fence` after a read-modify-write is not a fence",
            ),
            Limit::Assembly => f.write_str("accesses of inline assembly to memory are not seen"),
            Limit::OneTask => f.write_str("other tasks (the test created none)"),
            Limit::NothingShared => f.write_str(
                "accesses to what tasks share (they share nothing of intermezzo, and objects of std are not seen)",
            ),
            Limit::NotifyAny => f.write_str("`notify_one` waking a waiter other than the first"),
            Limit::WaitingWriters => f.write_str("readers that a waiting writer keeps out"),
            Limit::LeftOver { rounds } => write!(
                f,
                "threads that still ran when the test had returned were ended after {rounds} yields, sleeps and time-outs of each"
            ),
            Limit::Payloads => f.write_str("another task that drops the payload of a panic"),
            Limit::Symmetry { differ: false } => f.write_str("symmetric tasks in other orders"),
            Limit::Symmetry { differ: true } => f.write_str(
                "tasks that the test declares to be symmetric may differ: one asked for its identity or a random number, its \
                 first operation is another one, or the test dropped a handle on its result",
            ),
            Limit::ArcCounts => f.write_str("the order of reference counts"),
            Limit::PlainMemory { accesses: 1 } => {
                f.write_str("the order of 1 access to plain memory, which was not watched for data races")
            }
            Limit::PlainMemory { accesses } => write!(
                f,
                "the order of {accesses} accesses to plain memory, which were not watched for data races"
            ),
            Limit::Unmodified {
                statics_stay,
                watched,
            } => {
                f.write_str(match watched {
                    true => "the order of accesses to files and environment variables, and of panics without a hook, in unmodified code",
                    false => {
                        "the order of accesses to plain memory, files and environment variables, and of panics without a \
                         hook, in unmodified code"
                    }
                })?;
                match statics_stay {
                    true => f.write_str(
                        ". Plain memory in statics keeps its value from one execution to the next",
                    ),
                    false => Ok(()),
                }
            }
            Limit::Addresses { because } => {
                write!(
                    f,
                    "what depends on addresses of memory, which differ between executions: {because}"
                )
            }
            Limit::OtherThreads { threads } => {
                write!(
                    f,
                    "{} may have used objects of executions, at times that are not controlled",
                    threads.join(" and ")
                )
            }
            Limit::Races => f.write_str("accesses that race were not tried in other orders"),
            Limit::Awaits { seen: false } => f.write_str("loops that count outside their stack"),
            Limit::Awaits { seen: true } => {
                f.write_str("a loop that seemed to wait ended because of memory that is not compared")
            }
            Limit::Fairness { every } => write!(
                f,
                "fair scheduling left out schedules in which a task that yields goes on while others wait \
                 (`spin_loops` has `fair_yields={every}`: a larger number leaves out fewer schedules)"
            ),
            Limit::Departures { lost: 1, .. } => {
                f.write_str("1 execution always departed from its schedule, so all that begin like it were left out")
            }
            Limit::Departures { lost, .. } if *lost > 0 => write!(
                f,
                "{lost} executions always departed from their schedules, so all that begin like one of them were left out"
            ),
            Limit::Departures { executions: 1, .. } => {
                f.write_str("1 execution departed from its schedule, as the test does not always do the same")
            }
            Limit::Departures { executions, .. } => write!(
                f,
                "{executions} executions departed from their schedules, as the test does not always do the same"
            ),
        }
    }
}

/// Returns the coverage of a search that would be `coverage` if no limit had narrowed it.
pub(crate) fn narrowed(coverage: Coverage, limits: &[Limit]) -> Coverage {
    let narrowing = limits.iter().filter(|limit| limit.narrows());
    narrowing.fold(coverage, |coverage, limit| {
        let words = limit.to_string();
        match (coverage, limit) {
            (Coverage::Bounded { reason, .. }, Limit::Departures { .. }) => {
                let before = reason.map(|reason| format!("{reason}; "));
                Coverage::unbounded(before.unwrap_or_default() + &words)
            }
            (coverage, _) => coverage.because(&words),
        }
    })
}

/// Returns the coverage in words, as [`Coverage::with_findings`], and that of executions under a memory model that followed.
/// For a pass, adds what was not explored.
pub fn covered(
    coverage: &Coverage,
    weak_memory: Option<&WeakMemory>,
    limits: &[Limit],
    any_findings: bool,
    passes: bool,
) -> String {
    let mut words = coverage.with_findings(any_findings);
    if let Some(part) = weak_memory {
        words.push_str(&format!("; {part}"));
    }
    if passes && !matches!(coverage, Coverage::Replayed { .. }) {
        words.push_str(&unexplored(limits));
    }
    words
}

/// Returns what was not explored, in words that follow the coverage: `; not explored: weak memory`. Limits that
/// narrow the coverage are not repeated. Empty if there is nothing to say.
pub fn unexplored(limits: &[Limit]) -> String {
    let named = limits.iter().filter(|limit| !limit.narrows());
    let named: Vec<String> = named.map(Limit::to_string).collect();
    if named.is_empty() {
        return String::new();
    }
    format!("; not explored: {}", named.join(", "))
}
