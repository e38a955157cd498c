//! Searches as settings name them: `dfs`, `pct(3)`, `portfolio(pct(3),2*pos,surw)`.

use super::suggest::give_instead;
use crate::search::sampling::{self, Interesting};
use std::fmt;

/// What the setting `strategy` may be, for people.
pub(super) const VALUES: &str = "`auto`, `dfs`, `delays`, `best-first`, `ranked`, `coverage`, `random`, `pct(DEPTH)`, `pct-all(DEPTH)`, \
                                 `pctvb(DEPTH,VARIABLES)`, `pos`, `places`, `surw(one)`, `surw(all)`, `surw(PLACE)`, or a \
                                 `portfolio(..)` of those from `random` on";

/// The depth of bugs that priorities are changed for unless it is given: what the paper's own tests were run with.
const DEPTH: u32 = 3;

/// Greatest depth: more changes than executions have choices.
const DEPTH_MAX: u32 = 1000;

/// Greatest weight of a portfolio's member.
const WEIGHT_MAX: u32 = 1_000_000;

/// Which search to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StrategyKind {
    /// Depth first: every schedule; with a preemption bound, in order of preemptions.
    #[default]
    DepthFirst,
    /// As [`StrategyKind::DepthFirst`], in order of preemptions, until it has had its part of the executions; then a
    /// portfolio of those from [`StrategyKind::Random`] on.
    Auto,
    /// Depth first, in order of delays.
    Delays,
    /// The unexplored prefix that ranks first, by priority functions.
    BestFirst,
    /// In order of preemptions, variables and tasks concerned.
    Ranked,
    /// Exposes iRoots, one after the other.
    Coverage,
    /// Random walk.
    Random,
    /// Random priorities of tasks, for bugs of this depth, at least 1.
    Pct(u32),
    /// All that priorities of tasks can do, for bugs of this depth, at least 1.
    PctAll(u32),
    /// Random priorities of tasks that change at few variables only.
    PctVars {
        /// The depth of the bugs, at least 1.
        depth: u32,
        /// At how many variables, at least 1.
        variables: u32,
    },
    /// Random priorities of operations.
    Pos,
    /// Random priorities of places in the source.
    Places,
    /// Random walks that are uniform over the orders of interesting steps.
    Surw(Interesting),
    /// Several of those from random walk on, each with its weight, at least 1: they share the executions, by turns.
    Portfolio(Vec<(u32, StrategyKind)>),
}

impl StrategyKind {
    /// The name in settings, and the strategy that is meant by it without parameters, of all that need none.
    pub const ALL: [(&'static str, StrategyKind); 14] = [
        ("dfs", StrategyKind::DepthFirst),
        ("auto", StrategyKind::Auto),
        ("delays", StrategyKind::Delays),
        ("best-first", StrategyKind::BestFirst),
        ("ranked", StrategyKind::Ranked),
        ("coverage", StrategyKind::Coverage),
        ("maple", StrategyKind::Coverage),
        ("random", StrategyKind::Random),
        ("pct", StrategyKind::Pct(DEPTH)),
        ("pct-all", StrategyKind::PctAll(DEPTH)),
        (
            "pctvb",
            StrategyKind::PctVars {
                depth: DEPTH,
                variables: 1,
            },
        ),
        ("pos", StrategyKind::Pos),
        ("places", StrategyKind::Places),
        ("surw", StrategyKind::Surw(Interesting::OneVariable)),
    ];

    /// Whether executions are drawn, so that the search is of as many as it is let.
    pub fn is_sampler(&self) -> bool {
        !matches!(
            self,
            StrategyKind::DepthFirst
                | StrategyKind::Auto
                | StrategyKind::Delays
                | StrategyKind::BestFirst
                | StrategyKind::Ranked
                | StrategyKind::Coverage
        )
    }

    /// How many of its first executions it learns from, if it draws executions: they are the same for all that learn.
    pub fn learned_from(&self) -> u64 {
        if self.is_sampler() {
            sampling::learned_from(self)
        } else {
            0
        }
    }

    /// Whether it is depth first, at first or to the end.
    pub fn is_depth_first(&self) -> bool {
        matches!(self, StrategyKind::DepthFirst | StrategyKind::Auto)
    }

    /// Reads a strategy.
    ///
    /// # Errors
    /// It is none; the text says what would be.
    pub(super) fn parse(text: &str) -> Result<StrategyKind, String> {
        let (name, parameters) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(parameters) => (name.trim_end(), Some(parameters.trim())),
                None => return Err(format!("`{text}` has no `)` at its end")),
            },
        };
        let Some(parameters) = parameters else {
            let known = StrategyKind::ALL.into_iter().find(|(known, _)| *known == name);
            return known.map(|(_, strategy)| strategy).ok_or_else(|| none(text));
        };
        match name {
            "pct" => depth(parameters).map(StrategyKind::Pct),
            "pct-all" => depth(parameters).map(StrategyKind::PctAll),
            "pctvb" => {
                let (first, second) = parameters.split_once(',').unwrap_or((parameters, "1"));
                Ok(StrategyKind::PctVars {
                    depth: depth(first)?,
                    variables: number(second, "variables", DEPTH_MAX)?,
                })
            }
            "surw" => Ok(StrategyKind::Surw(match parameters {
                "" => return Err("nothing is interesting to `surw()`: give `one`, `all` or a place".into()),
                "one" => Interesting::OneVariable,
                "all" => Interesting::All,
                place => Interesting::At(place.into()),
            })),
            "portfolio" => members(parameters).map(StrategyKind::Portfolio),
            _ => match StrategyKind::ALL.iter().any(|(known, _)| *known == name) {
                true => Err(format!("`{name}` takes no parameters: give just `{name}`")),
                false => Err(none(text)),
            },
        }
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrategyKind::DepthFirst => f.write_str("dfs"),
            StrategyKind::Auto => f.write_str("auto"),
            StrategyKind::Delays => f.write_str("delays"),
            StrategyKind::BestFirst => f.write_str("best-first"),
            StrategyKind::Ranked => f.write_str("ranked"),
            StrategyKind::Coverage => f.write_str("coverage"),
            StrategyKind::Random => f.write_str("random"),
            StrategyKind::Pct(depth) => write!(f, "pct({depth})"),
            StrategyKind::PctAll(depth) => write!(f, "pct-all({depth})"),
            StrategyKind::PctVars { depth, variables } => write!(f, "pctvb({depth},{variables})"),
            StrategyKind::Pos => f.write_str("pos"),
            StrategyKind::Places => f.write_str("places"),
            StrategyKind::Surw(interesting) => write!(f, "surw({interesting})"),
            StrategyKind::Portfolio(members) => {
                let name = |(weight, member): &(u32, StrategyKind)| match weight {
                    1 => member.to_string(),
                    weight => format!("{weight}*{member}"),
                };
                let names: Vec<String> = members.iter().map(name).collect();
                write!(f, "portfolio({})", names.join(","))
            }
        }
    }
}

fn none(text: &str) -> String {
    let name = text.split('(').next().unwrap_or_default();
    let known = StrategyKind::ALL.iter().map(|(known, _)| *known);
    let instead = give_instead(name, known.chain(["portfolio"]), VALUES);
    format!("`{text}` is no strategy: {instead}")
}

fn depth(text: &str) -> Result<u32, String> {
    number(text, "depth", DEPTH_MAX)
}

fn number(text: &str, what: &str, most: u32) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!(
            "{what} `{}`: give a number from 1 to {most}",
            text.trim()
        )),
    }
}

/// The members of a portfolio: a list with commas between, each with its weight before it, as in `2*pos`.
fn members(list: &str) -> Result<Vec<(u32, StrategyKind)>, String> {
    let (mut depth, mut begin) = (0_usize, 0);
    let mut parts = Vec::new();
    for (at, sign) in list.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[begin..]);
    parts.into_iter().map(|part| member(part.trim())).collect()
}

fn member(text: &str) -> Result<(u32, StrategyKind), String> {
    let (weight, name) = match text.split_once('*') {
        Some((weight, name)) if !weight.contains('(') => (number(weight, "weight", WEIGHT_MAX)?, name.trim()),
        _ => (1, text),
    };
    let strategy = StrategyKind::parse(name)?;
    if !strategy.is_sampler() || matches!(strategy, StrategyKind::Portfolio(_)) {
        return Err(format!(
            "`{name}` cannot be in a portfolio: its members draw executions one by one, as `random`, `pct`, `pctvb`, \
             `pos`, `places` and `surw` do"
        ));
    }
    Ok((weight, strategy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_are_read_as_they_are_written() {
        for (text, written) in [
            ("dfs", "dfs"),
            ("random", "random"),
            ("pct", "pct(3)"),
            ("pct( 5 )", "pct(5)"),
            ("pct-all(2)", "pct-all(2)"),
            ("pctvb", "pctvb(3,1)"),
            ("pctvb(2)", "pctvb(2,1)"),
            ("pctvb(2, 3)", "pctvb(2,3)"),
            ("pos", "pos"),
            ("places", "places"),
            ("surw", "surw(one)"),
            ("surw(all)", "surw(all)"),
            ("surw(queue/ring.rs:12)", "surw(queue/ring.rs:12)"),
            (
                "portfolio(pct(3), 2*pctvb(2,1),surw)",
                "portfolio(pct(3),2*pctvb(2,1),surw(one))",
            ),
        ] {
            let strategy = StrategyKind::parse(text).unwrap();
            assert_eq!(strategy.to_string(), written);
            assert_eq!(StrategyKind::parse(written), Ok(strategy));
        }
    }

    #[test]
    fn what_is_no_strategy_says_what_would_be() {
        for (text, says) in [
            ("deepest", "`deepest` is no strategy: give `auto`, `dfs`"),
            ("bfs", "did you mean `dfs`? There is `auto`"),
            ("portfolo(pos)", "did you mean `portfolio`? "),
            ("bfs(3)", "is no strategy"),
            ("pct(0)", "depth `0`: give a number from 1"),
            ("pct(many)", "depth `many`"),
            ("pct(3", "no `)` at its end"),
            ("pctvb(3,0)", "variables `0`"),
            ("pos(3)", "takes no parameters"),
            ("surw()", "nothing is interesting"),
            ("portfolio()", "is no strategy"),
            ("portfolio(pos,)", "is no strategy"),
            ("portfolio(0*pos)", "weight `0`"),
            ("portfolio(dfs)", "`dfs` cannot be in a portfolio"),
            ("portfolio(portfolio(pos))", "cannot be in a portfolio"),
        ] {
            let error = StrategyKind::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
