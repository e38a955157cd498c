//! Searches as settings name them: `dfs`, `pct(3)`, `portfolio(pct(3),2*pos,surw)`.

use intermezzo_engine::suggest::give_instead;
use intermezzo_search::Interesting;
use intermezzo_search::kinds::StrategyKind;

/// What the setting `strategy` may be, for people.
pub(super) const VALUES: &str = "`auto`, `dfs`, `delays`, `best-first`, `ranked`, `coverage`, `random`, `pct(DEPTH)`, `pct-all(DEPTH)`, \
                                 `pctvb(DEPTH,VARIABLES)`, `pos`, `places`, `surw(one)`, `surw(all)`, `surw(PLACE)`, or a \
                                 `portfolio(..)` of those from `random` on";

/// Greatest depth: more changes than executions have choices.
const DEPTH_MAX: u32 = 1000;

/// Greatest weight of a portfolio's member.
const WEIGHT_MAX: u32 = 1_000_000;

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
    let strategy = parse(name)?;
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
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
