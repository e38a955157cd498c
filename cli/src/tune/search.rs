//! A search of the matrix: a strategy with a reduction, a bound and a budget, as settings.

use super::halving::DEFAULT;
use crate::problem::Problem;
use intermezzo::{Settings, StrategyKind};
use serde::{Deserialize, Serialize};

/// The default search, without its part under a memory model, which no other search has.
const AUTO: &str = "auto(stale_reads=0)";

/// A search, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Search {
    /// The strategy with its parameters: `pct(3)`, `dfs(2)`.
    pub(crate) strategy: String,
    pub(crate) reduction: String,
    pub(crate) preemptions: String,
    /// `None` for the default of searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_bytes: Option<String>,
}

impl Search {
    /// Checks that there is such a strategy.
    ///
    /// # Errors
    /// If there is none, or its argument does not fit.
    pub(crate) fn check_strategy(strategy: &str) -> Result<(), Problem> {
        for (name, value) in named(strategy) {
            Settings::default()
                .set(name, value)
                .map_err(|error| Problem::usage(format!("--strategies {strategy}: {}", error.problem)))?;
        }
        Ok(())
    }

    /// Returns the search's settings by name. Those in the strategy's name come last, so that they override the others.
    pub(crate) fn given(&self) -> Vec<(&str, String)> {
        let bytes = self
            .cache_bytes
            .iter()
            .map(|bytes| format!(",cache_bytes={bytes}"));
        let strategy = named(match self.strategy.as_str() {
            "auto" => AUTO,
            other => other,
        });
        let mut given = vec![
            ("reduction", self.reduction.clone() + &bytes.collect::<String>()),
            ("preemptions", self.preemptions.clone()),
        ];
        given.extend(strategy.into_iter().map(|(name, value)| (name, value.to_owned())));
        given
    }

    /// Returns these settings with those of the search.
    pub(crate) fn settings(&self, mut settings: Settings) -> Settings {
        for (name, value) in self.given() {
            settings.set(name, &value).expect("what is given was checked");
        }
        settings
    }

    /// `true` if the same settings with another seed would be another search.
    pub(crate) fn draws_at_random(&self) -> bool {
        let settings = self.settings(Settings::default());
        match settings.strategy {
            StrategyKind::BestFirst(options) => options.priority.is_some_and(|priority| priority.is_random()),
            // Parts of these searches are systematic, and parts are drawn.
            StrategyKind::Auto(_) | StrategyKind::Maple(_) => true,
            // This includes `pct-all`, which draws only the first of the executions that it learns from.
            ref other => other.is_sampler(),
        }
    }

    /// Returns how many of its first executions it learns from.
    pub(crate) fn learned_from(&self) -> u64 {
        self.settings(Settings::default()).strategy.learned_from()
    }

    /// `true` if it is the search of a test without settings.
    pub(crate) fn is_default(&self) -> bool {
        (self.strategy.as_str(), self.reduction.as_str()) == DEFAULT && self.preemptions == "none"
    }

    /// Returns the settings that a user writes for this search, by name: those that differ from a test's defaults.
    pub(crate) fn paste(&self) -> Vec<(&str, String)> {
        let mut given = self.given();
        given.retain(|(name, value)| match *name {
            "strategy" => value != AUTO,
            // Only `auto` chooses a reduction of its own.
            "reduction" => !matches!(value.as_str(), "none" | "auto"),
            _ => value != "none",
        });
        given.sort_by_key(|(name, _)| std::cmp::Reverse(*name == "strategy"));
        given
    }

    /// Returns the search in a line: `dfs dpor preemptions=2`.
    pub(crate) fn label(&self) -> String {
        let mut label = self.strategy.clone();
        if !matches!(self.reduction.as_str(), "none" | "auto") {
            label.push_str(&format!(" {}", self.reduction));
        }
        if self.preemptions != "none" {
            label.push_str(&format!(" preemptions={}", self.preemptions));
        }
        if let Some(bytes) = &self.cache_bytes {
            label.push_str(&format!(" cache_bytes={bytes}"));
        }
        label
    }
}

/// Returns the settings in a strategy's name: `dfs(2)` is `strategy=dfs preemptions=2`.
fn named(strategy: &str) -> Vec<(&str, &str)> {
    let bound = strategy
        .strip_prefix("dfs(")
        .and_then(|rest| rest.strip_suffix(')'));
    match bound.filter(|bound| bound.bytes().all(|byte| byte.is_ascii_digit())) {
        Some(bound) => vec![("strategy", "dfs"), ("preemptions", bound)],
        None => vec![("strategy", strategy)],
    }
}

/// Returns the strategies of a list, which commas outside of parentheses separate.
pub(crate) fn list(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let separates = |sign: char| {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        sign == ',' && depth == 0
    };
    text.split(separates).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(strategy: &str) -> Search {
        Search {
            strategy: strategy.into(),
            reduction: "none".into(),
            preemptions: "none".into(),
            cache_bytes: None,
        }
    }

    #[test]
    fn a_strategy_sets_its_own_bound() {
        let settings = search("dfs(delays=2)").settings(Settings::default());
        let shown = settings.strategy.to_string();
        assert_eq!((&*shown, settings.preemptions), ("dfs(delays=2)", None));
        let settings = search("dfs(1)").settings(Settings::default());
        assert_eq!(settings.preemptions, Some(1));
        for (strategy, says) in [
            ("bfs", "is not a strategy"),
            ("random(2)", "takes no parameters"),
            ("dfs(delays=2", "has no `)`"),
            ("dfs(two)", "not a parameter of `dfs`"),
            ("delays(2)", "give `dfs(delays=2)`"),
        ] {
            let error = Search::check_strategy(strategy).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn lists_are_split_outside_of_parentheses() {
        assert_eq!(
            list("dfs, pctvb(3,2),portfolio(pos,surw(one))"),
            ["dfs", "pctvb(3,2)", "portfolio(pos,surw(one))"]
        );
        assert_eq!(list("dfs"), ["dfs"]);
    }

    #[test]
    fn random_searches_are_known() {
        for (strategy, random) in [
            ("dfs", false),
            ("dfs(delays=none)", false),
            ("random", true),
            ("pct-all(2)", true),
            ("surw", true),
            ("auto", true),
            ("maple", true),
            ("ranked", false),
            ("best-first(rare)", false),
            ("best-first(random)", true),
        ] {
            assert_eq!(search(strategy).draws_at_random(), random, "{strategy}");
        }
    }

    #[test]
    fn labels_leave_out_defaults() {
        let mut search = search("dfs");
        assert_eq!(search.label(), "dfs");
        search.reduction = "dpor".into();
        search.preemptions = "2".into();
        search.cache_bytes = Some("1000".into());
        assert_eq!(search.label(), "dfs dpor preemptions=2 cache_bytes=1000");
    }
}
