//! Searches as settings name them: `dfs(delays=2)`, `pct(3)`, `portfolio(pct(3),2*pos,surw)`.

use super::value;
use intermezzo_engine::strategy::{Arrays, Epsilon};
use intermezzo_engine::suggest::give_instead;
use intermezzo_search::Interesting;
use intermezzo_search::classic::PrioritySpec;
use intermezzo_search::kinds::{
    AutoOptions, BestFirstOptions, DepthFirstBounds, IRootOptions, RankedOptions, Reduction, StrategyKind,
    VariableSets,
};
use std::num::NonZero;

/// The values of the setting `strategy`, for people.
pub(super) const VALUES: &str = "`auto`, `dfs`, `random`, `pct(DEPTH)`, `pos`, `surw(one)`, `surw(all)`, `surw(PLACE)`, `places`, \
                                 or a `portfolio(..)` of those from `random` on; others: `dfs(delays=N,depth=N,step=N)`, \
                                 `pct-all(DEPTH)`, `pctvb(DEPTH,VARIABLES)`, `random-delays(N)`, \
                                 `best-first(PRIORITIES,prefixes=N)`, `auto(stale_reads=N,weak_executions=N)`, \
                                 `ranked(variables=N,threads=N,epsilon=P,sets=dynamic,arrays=whole,per_place=N)`, \
                                 `maple(window=N,attempts=N,target=IROOT,memo=FILE)`";

/// The greatest depth: more changes than executions have choices.
const DEPTH_MAX: u32 = 1000;

/// The greatest weight of a member of a portfolio.
const WEIGHT_MAX: u32 = 1_000_000;

/// Parses a strategy.
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
        "auto" => auto(parameters).map(StrategyKind::Auto),
        "dfs" => depth_first(parameters).map(StrategyKind::DepthFirst),
        "best-first" => best_first(parameters).map(StrategyKind::BestFirst),
        "ranked" => ranked(parameters).map(StrategyKind::Ranked),
        "maple" => maple(parameters).map(StrategyKind::Maple),
        "pct" => depth(parameters).map(StrategyKind::Pct),
        "pct-all" => depth(parameters).map(StrategyKind::PctAll),
        "pctvb" => {
            let (first, second) = parameters.split_once(',').unwrap_or((parameters, "1"));
            Ok(StrategyKind::PctVars {
                depth: depth(first)?,
                variables: number(second, "variables", DEPTH_MAX)?,
            })
        }
        "random-delays" => number(parameters, "delays", DEPTH_MAX).map(StrategyKind::RandomDelays),
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

fn none(text: &str) -> String {
    let name = text.split('(').next().unwrap_or_default();
    match name {
        "delays" => {
            return "there is no strategy `delays`: give `dfs(delays=2)`, `dfs(delays=none)`, or `random-delays`"
                .into();
        }
        _ if StrategyKind::ALL
            .iter()
            .any(|(known, _)| *known == name.to_lowercase()) =>
        {
            return format!("`{text}` is no strategy: give `{}`", text.to_lowercase());
        }
        _ if Reduction::ALL.iter().any(|(known, _)| *known == name) => {
            return format!("`{text}` is a reduction, not a strategy: give `reduction={name}`");
        }
        "coverage" => return "there is no strategy `coverage` any more: give `maple`".into(),
        _ => {}
    }
    let known = StrategyKind::ALL.iter().map(|(known, _)| *known);
    let instead = give_instead(name, known.chain(["portfolio"]), VALUES);
    format!("`{text}` is no strategy: {instead}")
}

/// The parameters of a strategy, as in `delays=2, depth=8`, of which a parser takes those that it knows.
struct Parameters<'t> {
    of: &'static str,
    /// A parameter without `=` has no name.
    left: Vec<(Option<&'t str>, &'t str)>,
}

impl<'t> Parameters<'t> {
    /// Splits a list at its commas. A memo takes the rest of the list, because a path may have commas in it.
    ///
    /// # Errors
    /// A name is there twice.
    fn new(of: &'static str, list: &'t str) -> Result<Parameters<'t>, String> {
        let mut left: Vec<(Option<&str>, &str)> = Vec::new();
        let mut rest = list.trim();
        while !rest.is_empty() {
            let to_comma = rest.split(',').next().expect("a text has a part");
            let (name, entry) = match to_comma.split_once('=') {
                None => (None, to_comma),
                Some((name, _)) if name.trim() == "memo" => (Some("memo"), rest),
                Some((name, _)) => (Some(name.trim()), to_comma),
            };
            if name.is_some() && left.iter().any(|(known, _)| *known == name) {
                return Err(format!(
                    "`{}` is given twice: give it once",
                    name.unwrap_or_default()
                ));
            }
            let value = entry.split_once('=').map_or(entry, |(_, value)| value);
            left.push((name, value.trim()));
            rest = rest[entry.len()..].trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Ok(Parameters { of, left })
    }

    /// Takes the parameter of this name, if it is given.
    fn take<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let at = self.left.iter().position(|(known, _)| *known == Some(name));
        at.map(|at| parse(self.left.remove(at).1)).transpose()
    }

    /// Checks that all are taken.
    ///
    /// # Errors
    /// One is not; the text says which there are.
    fn end(self, usage: &str) -> Result<(), String> {
        let Some((name, value)) = self.left.first() else {
            return Ok(());
        };
        let given = name.map_or_else(|| (*value).to_owned(), |name| format!("{name}={value}"));
        Err(format!(
            "`{given}` is no parameter of `{}`: give {usage}",
            self.of
        ))
    }
}

fn auto(list: &str) -> Result<AutoOptions, String> {
    let mut given = Parameters::new("auto", list)?;
    let stale_reads = given.take("stale_reads", value::number)?;
    let weak_executions = given.take("weak_executions", value::number)?;
    given.end("`stale_reads=N` or `weak_executions=N`")?;
    Ok(AutoOptions {
        stale_reads: stale_reads.unwrap_or(AutoOptions::DEFAULT.stale_reads),
        weak_executions,
    })
}

fn depth_first(list: &str) -> Result<DepthFirstBounds, String> {
    let mut given = Parameters::new("dfs", list)?;
    let bounds = DepthFirstBounds {
        delays: given.take("delays", |value| match value {
            "none" => Ok(u32::MAX),
            _ => value::number(value),
        })?,
        depth: given.take("depth", value::number)?,
        step: given.take("step", value::number)?,
    };
    given.end("`delays=N`, `depth=N` or `step=N`; a bound on preemptions is the setting `preemptions`")?;
    Ok(bounds)
}

fn best_first(list: &str) -> Result<BestFirstOptions, String> {
    let mut options = BestFirstOptions::DEFAULT;
    let mut given = Parameters::new("best-first", list)?;
    options.prefixes = given.take("prefixes", value::number)?.unwrap_or(options.prefixes);
    let priorities = given.left.extract_if(.., |(name, _)| name.is_none());
    let priorities: Vec<&str> = priorities.map(|(_, priority)| priority).collect();
    given.end("priorities, as in `preemptions,2*rare`, or `prefixes=N`")?;
    if !priorities.is_empty() {
        options.priority = Some(PrioritySpec::parse(&priorities.join(","))?);
    }
    Ok(options)
}

fn ranked(list: &str) -> Result<RankedOptions, String> {
    let default = RankedOptions::DEFAULT;
    let mut given = Parameters::new("ranked", list)?;
    let sets = |value: &str| value::one_of(&VariableSets::ALL, "way to take sets", value);
    let arrays = |value: &str| value::one_of(&Arrays::ALL, "way to count arrays", value);
    let options = RankedOptions {
        variables: given.take("variables", value::number)?,
        threads: given.take("threads", threads)?,
        epsilon: given.take("epsilon", epsilon)?.unwrap_or(default.epsilon),
        sets: given.take("sets", sets)?.unwrap_or(default.sets),
        arrays: given.take("arrays", arrays)?.unwrap_or(default.arrays),
        per_place: given.take("per_place", value::number)?,
    };
    given.end("`variables=N`, `threads=N`, `epsilon=P`, `sets=dynamic`, `arrays=whole` or `per_place=N`")?;
    if options.epsilon != Epsilon::DEFAULT && options.threads.is_none() {
        return Err("no order is missed without `threads`: give `ranked(threads=N,epsilon=P)`".into());
    }
    Ok(options)
}

fn epsilon(text: &str) -> Result<Epsilon, String> {
    let number = text.parse().ok().and_then(Epsilon::new);
    number.ok_or_else(|| format!("`{text}` is no probability: give one between 0 and 1, as in 0.01"))
}

fn threads(text: &str) -> Result<u32, String> {
    match value::number(text)? {
        threads @ 2.. => Ok(threads),
        threads => Err(format!("{threads} tasks have one order: give 2 or more")),
    }
}

fn maple(list: &str) -> Result<IRootOptions, String> {
    let mut given = Parameters::new("maple", list)?;
    let attempts = given.take("attempts", value::number)?;
    let target = given.take("target", str::parse)?;
    let mut options = measured(&mut given)?;
    options.attempts = attempts.unwrap_or(options.attempts);
    options.target = target;
    given.end("`window=N`, `attempts=N`, `target=IROOT`, or `memo=FILE` as the last")?;
    Ok(options)
}

/// Takes the parameters of measuring iRoots.
fn measured(given: &mut Parameters<'_>) -> Result<IRootOptions, String> {
    let default = IRootOptions::DEFAULT;
    Ok(IRootOptions {
        window: given.take("window", value::number)?.unwrap_or(default.window),
        memo: given.take("memo", value::path)?.flatten(),
        ..default
    })
}

/// Parses the setting `iroots`: `true`, `false`, or parameters.
pub(super) fn iroots(text: &str) -> Result<Option<IRootOptions>, String> {
    match value::truth(text) {
        Ok(measured) => Ok(measured.then_some(IRootOptions::DEFAULT)),
        Err(problem) if text.is_empty() => Err(problem),
        Err(_) => {
            let mut given = Parameters::new("iroots", text)?;
            let options = measured(&mut given)?;
            given.end("`window=N`, or `memo=FILE` as the last")?;
            Ok(Some(options))
        }
    }
}

/// Returns that setting as text.
pub(super) fn show_iroots(options: Option<&IRootOptions>) -> String {
    match options {
        None => "false".into(),
        Some(options) if *options == IRootOptions::DEFAULT => "true".into(),
        Some(options) => options.to_string(),
    }
}

/// Parses a seed, and the number of the first execution if one is given: `7`, `7/123`.
pub(super) fn seed(text: &str) -> Result<(u64, Option<u64>), String> {
    match text.split_once('/') {
        None => Ok((value::number(text)?, None)),
        Some((seed, first)) => {
            let parts = (
                value::number(seed.trim()),
                value::number::<NonZero<u64>>(first.trim()),
            );
            match parts {
                (Ok(seed), Ok(first)) => Ok((seed, Some(first.get()))),
                _ => Err(format!(
                    "`{text}` is no seed: give a number, or `SEED/FIRST` as in `7/123`"
                )),
            }
        }
    }
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

/// Parses the members of a portfolio, separated by commas, each after its weight, as in `2*pos`.
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
    let strategy = parse(name)?;
    if !strategy.is_sampler() || matches!(strategy, StrategyKind::Portfolio(_)) {
        return Err(format!(
            "`{name}` cannot be in a portfolio: its members draw executions one by one, as `random`, `pct`, `pctvb`, \
             `random-delays`, `pos`, `places` and `surw` do"
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
            ("dfs(delays=2)", "dfs(delays=2)"),
            ("dfs( step=4, depth = 1_0 )", "dfs(depth=10,step=4)"),
            ("dfs(delays=none)", "dfs(delays=none)"),
            ("dfs()", "dfs"),
            ("best-first", "best-first"),
            ("best-first(rare, 2*deepest)", "best-first(rare,2*deepest)"),
            ("best-first(prefixes=10,rare)", "best-first(rare,prefixes=10)"),
            ("ranked", "ranked"),
            (
                "ranked(per_place=2,variables=1)",
                "ranked(variables=1,per_place=2)",
            ),
            (
                "ranked(arrays=whole,sets=dynamic,epsilon=0.25,threads=2,variables=1)",
                "ranked(variables=1,threads=2,epsilon=0.25,sets=dynamic,arrays=whole)",
            ),
            ("maple(memo=a/b.json)", "maple(memo=a/b.json)"),
            (
                "maple(window=7,memo=a,b/(c).json)",
                "maple(window=7,memo=a,b/(c).json)",
            ),
            ("maple(window=7,attempts=2)", "maple(window=7)"),
            ("auto()", "auto"),
            (
                "auto(weak_executions=1_0,stale_reads=2)",
                "auto(stale_reads=2,weak_executions=10)",
            ),
            ("random", "random"),
            ("pct", "pct(3)"),
            ("pct( 5 )", "pct(5)"),
            ("pct-all(2)", "pct-all(2)"),
            ("pctvb", "pctvb(3,1)"),
            ("pctvb(2)", "pctvb(2,1)"),
            ("pctvb(2, 3)", "pctvb(2,3)"),
            ("random-delays", "random-delays(3)"),
            ("random-delays(7)", "random-delays(7)"),
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
            let strategy = parse(text).unwrap();
            assert_eq!(strategy.to_string(), written);
            assert_eq!(parse(written), Ok(strategy));
        }
    }

    #[test]
    fn what_is_no_strategy_says_what_would_be() {
        for (text, says) in [
            ("deepest", "`deepest` is no strategy: give `auto`, `dfs`"),
            ("bfs", "did you mean `dfs`? There is `auto`"),
            ("portfolo(pos)", "did you mean `portfolio`? "),
            ("bfs(3)", "is no strategy"),
            ("delays", "give `dfs(delays=2)`"),
            (
                "dpor",
                "`dpor` is a reduction, not a strategy: give `reduction=dpor`",
            ),
            ("coverage", "give `maple`"),
            ("dfs(2)", "is no parameter of `dfs`: give `delays=N`"),
            ("dfs(delay=2)", "`delay=2` is no parameter"),
            ("dfs(delays=1,delays=2)", "`delays` is given twice"),
            ("best-first(rare,,deepest)", "`` is no priority"),
            ("ranked(epsilon=0.1)", "no order is missed without `threads`"),
            ("dfs(step=0)", "no number in range"),
            ("best-first(rarest)", "`rarest` is no priority"),
            ("ranked(threads=1)", "1 tasks have one order"),
            ("ranked(epsilon=1)", "no probability"),
            ("ranked(sets=all)", "no way to take sets"),
            ("maple(memo=)", "no file is given"),
            ("pct(0)", "depth `0`: give a number from 1"),
            ("pct(many)", "depth `many`"),
            ("pct(3", "no `)` at its end"),
            ("pctvb(3,0)", "variables `0`"),
            ("random-delays(0)", "delays `0`"),
            ("pos(3)", "takes no parameters"),
            ("surw()", "nothing is interesting"),
            ("portfolio()", "is no strategy"),
            ("portfolio(pos,)", "is no strategy"),
            ("portfolio(0*pos)", "weight `0`"),
            ("portfolio(dfs)", "`dfs` cannot be in a portfolio"),
            ("portfolio(portfolio(pos))", "cannot be in a portfolio"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn probabilities_are_between_0_and_1() {
        for (text, shown) in [("0.01", "0.01"), ("1e-6", "0.000001"), ("0.9999994", "0.999999")] {
            assert_eq!(epsilon(text).unwrap().to_string(), shown);
        }
        for wrong in ["0", "1", "-0.1", "1e-7", "NaN", "inf", "x", ""] {
            assert!(epsilon(wrong).unwrap_err().contains("no probability"), "{wrong}");
        }
        let epsilon = Epsilon::default();
        assert_eq!(
            (epsilon.complement(), Epsilon::of_complement(0.99)),
            (0.99, Some(epsilon))
        );
    }

    #[test]
    fn seeds_may_name_the_first_execution() {
        assert_eq!(seed("7"), Ok((7, None)));
        assert_eq!(seed("7/123"), Ok((7, Some(123))));
        assert!(seed("7/0").is_err() && seed("/3").is_err() && seed("7/").is_err());
    }
}
