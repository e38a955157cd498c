//! A search as a value.

use crate::settings::{SettingError, StrategyKind};
use intermezzo_search::{self as search, Interesting};

/// A search, by value, for [`Explorer::strategy`](crate::Explorer::strategy).
pub struct Strategy(pub(super) Chosen);

pub(super) enum Chosen {
    Kind(StrategyKind),
    Custom(Box<dyn search::Strategy>),
}

impl From<StrategyKind> for Strategy {
    fn from(kind: StrategyKind) -> Strategy {
        Strategy(Chosen::Kind(kind))
    }
}

impl Strategy {
    /// Depth-first: every schedule; with a preemption bound, in order of preemptions.
    pub fn dfs() -> Strategy {
        StrategyKind::DFS.into()
    }

    /// Exhaustive search and samples, by turns: every trace with the strongest sound reduction, executions in order of
    /// preemptions, and executions drawn by several strategies. It ends when one of the exhaustive searches does. If the
    /// test passed, and has operations on atomics with orderings weaker than `SeqCst`, the same search runs again under the
    /// memory model of C++20, with one stale read at each place of a task; `Strategy::named("auto(stale_reads=0)")` leaves
    /// that out. This is the search of `#[intermezzo::test]`.
    pub fn auto() -> Strategy {
        StrategyKind::AUTO.into()
    }

    /// Random walk, with the explorer's seed.
    pub fn random() -> Strategy {
        StrategyKind::Random.into()
    }

    /// Random priorities of tasks that change `depth - 1` times, for bugs of this depth; less than 1 counts as 1.
    pub fn pct(depth: u32) -> Strategy {
        StrategyKind::Pct(depth.max(1)).into()
    }

    /// Random priorities of operations, drawn again for those that race with a step.
    pub fn pos() -> Strategy {
        StrategyKind::Pos.into()
    }

    /// Random priorities of places in the source: tasks that run the same code are treated alike.
    pub fn places() -> Strategy {
        StrategyKind::Places.into()
    }

    /// Random walks that are uniform over the orders of the interesting operations.
    pub fn surw(interesting: Interesting) -> Strategy {
        StrategyKind::Surw(interesting).into()
    }

    /// Returns the search of this name, as the setting `strategy` takes it.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Strategy;
    ///
    /// assert!(Strategy::named("portfolio(pct(3),pos,surw)").is_ok());
    /// assert!(Strategy::named("ranked(variables=1)").is_ok());
    /// assert!(Strategy::named("deepest").is_err());
    /// ```
    ///
    /// # Errors
    /// If there is none with this name; the error lists them.
    pub fn named(name: &str) -> Result<Strategy, SettingError> {
        let kind: Result<StrategyKind, String> = name.trim().parse();
        kind.map(Strategy::from)
            .map_err(|problem| SettingError::new("strategy", problem))
    }

    /// A search of your own. It keeps to bounds of its own: those of the explorer do not reach it. If it panics, or chooses
    /// an alternative that there is not, the exploration ends with a [`StrategyError`](crate::StrategyError).
    pub fn custom(strategy: impl search::Strategy + 'static) -> Strategy {
        Strategy(Chosen::Custom(Box::new(strategy)))
    }
}
