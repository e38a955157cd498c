//! Searches as text, as in settings: `dfs(delays=2)`, `pct(3)`, `portfolio(pct(3),2*pos,surw)`.

use super::{
    AutoOptions, BestFirstOptions, DepthFirstBounds, IRootOptions, RankedOptions, Reduction, StrategyKind,
    VariableSets,
};
use crate::classic::PrioritySpec;
use crate::classic::maple::IRootId;
use crate::sampling::Interesting;
use crate::value::{Named, Value, given, truth, values};
use intermezzo_engine::strategy::{Arrays, Epsilon};
use intermezzo_engine::suggest::give_instead;
use std::fmt;
use std::str::FromStr;

/// The maximum depth: few executions have as many choices.
const DEPTH_MAX: u32 = 1000;

/// The maximum weight of a member of a portfolio.
const WEIGHT_MAX: u32 = 1_000_000;

/// A parameter: its name, and the function that returns its field.
type Parameter<O> = (&'static str, fn(&mut O) -> &mut dyn Value);

/// The options of a search.
trait Options: Clone + Sized + 'static {
    /// The name of the search.
    const OF: &'static str;
    /// The options of a search that is named without parameters.
    const USUAL: Self;
    /// The parameters, in the order in which they are written.
    const PARAMETERS: &'static [Parameter<Self>];
}

/// Implements [`Options`]: the name of the search, the default value, and the fields, whose names are those of the
/// parameters.
macro_rules! options {
    ($($type:ident of $of:literal, $usual:ident: $($field:ident)*;)*) => {$(
        impl Options for $type {
            const OF: &'static str = $of;
            const USUAL: Self = $type::$usual;
            const PARAMETERS: &'static [Parameter<Self>] = &[$((stringify!($field), |o| &mut o.$field)),*];
        }
    )*};
}

options! {
    AutoOptions of "auto", DEFAULT: stale_reads weak_executions fair_yields weak_failures address_reuse timeouts;
    DepthFirstBounds of "dfs", NONE: delays depth step;
    BestFirstOptions of "best-first", DEFAULT: priority prefixes;
    RankedOptions of "ranked", DEFAULT: variables threads epsilon sets arrays per_place;
    IRootOptions of "maple", DEFAULT: window attempts target memo;
}

/// The parameter whose value is written without its name.
const UNNAMED: &str = "priority";

/// The parameter whose value is the rest of the list, because a path may contain commas.
const MEMO: &str = "memo";

values! {
    Option<IRootId>: |text| text.parse().map(Some), |value| given(value, IRootId::to_string);
    Option<PrioritySpec>: |text| PrioritySpec::parse(text).map(Some), |value| given(value, PrioritySpec::to_string);
    Option<IRootOptions>: measured, |options| match options {
        None => "false".into(),
        Some(options) if *options == IRootOptions::DEFAULT => "true".into(),
        Some(options) => shown(options),
    };
    StrategyKind: str::parse, StrategyKind::to_string;
}

impl Named for VariableSets {
    const WHAT: &'static str = "way to take sets";
    const NAMES: &'static [(&'static str, VariableSets)] = &VariableSets::ALL;
}

impl Named for Reduction {
    const WHAT: &'static str = "reduction";
    const NAMES: &'static [(&'static str, Reduction)] = &Reduction::ALL;
}

/// Reads a list of parameters, as in `delays=2, depth=8`.
///
/// # Errors
/// There is no such parameter, a parameter is given twice, or a value is not valid.
fn read<O: Options>(list: &str) -> Result<O, String> {
    let mut entries: Vec<(&str, String)> = Vec::new();
    let mut rest = list.trim();
    while !rest.is_empty() {
        let to_comma = rest.split(',').next().expect("a text has a part");
        let (name, entry) = match to_comma.split_once('=').map(|(name, _)| name.trim()) {
            None => (UNNAMED, to_comma),
            Some(MEMO) => (MEMO, rest),
            Some(name) => (name, to_comma),
        };
        let value = entry.split_once('=').map_or(entry, |(_, value)| value).trim();
        match entries.iter_mut().find(|(known, _)| *known == name) {
            None => entries.push((name, value.to_owned())),
            Some((_, all)) if name == UNNAMED => *all += &format!(",{value}"),
            Some(_) => return Err(format!("`{name}` is given twice: give it once")),
        }
        rest = rest[entry.len()..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    let mut options = O::USUAL;
    for (name, value) in entries {
        let Some((_, field)) = O::PARAMETERS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown::<O>(name, &value));
        };
        field(&mut options).read(&value)?;
    }
    Ok(options)
}

fn unknown<O: Options>(name: &str, value: &str) -> String {
    let given = match name {
        UNNAMED => value.to_owned(),
        name => format!("{name}={value}"),
    };
    let known = O::PARAMETERS.iter().map(|(known, _)| match *known {
        UNNAMED => "priorities, as in `preemptions,2*rare`".to_owned(),
        MEMO => format!("`{MEMO}` as the last"),
        known => format!("`{known}`"),
    });
    let known: Vec<String> = known.collect();
    let bound = match O::OF {
        "dfs" => "; a bound on preemptions is the setting `preemptions`",
        _ => "",
    };
    format!(
        "`{given}` is not a parameter of `{}`: give {}{bound}",
        O::OF,
        known.join(", ")
    )
}

/// Returns the parameters that differ from the default, as in `delays=2,depth=8`.
fn shown<O: Options>(options: &O) -> String {
    let (mut options, mut default) = (options.clone(), O::USUAL);
    let shown = O::PARAMETERS.iter().filter_map(|(name, field)| {
        let (value, usual) = (field(&mut options).show(), field(&mut default).show());
        (value != usual).then(|| match *name {
            UNNAMED => value,
            name => format!("{name}={value}"),
        })
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Returns a search with these options as text: `dfs(depth=8,step=4)`, or just the name if all have their default
/// values.
fn call<O: Options>(options: &O) -> String {
    match shown(options) {
        none if none.is_empty() => O::OF.into(),
        parameters => format!("{}({parameters})", O::OF),
    }
}

/// Parses the value of the setting `iroots`: `true`, `false`, or parameters.
fn measured(text: &str) -> Result<Option<IRootOptions>, String> {
    match truth(text) {
        Ok(measured) => Ok(measured.then_some(IRootOptions::DEFAULT)),
        Err(problem) if text.is_empty() => Err(problem),
        Err(_) => match read::<IRootOptions>(text)? {
            options if options.attempts == IRootOptions::DEFAULT.attempts && options.target.is_none() => {
                Ok(Some(options))
            }
            _ => Err(
                "`attempts` and `target` are not parameters of `iroots`: give `window`, or `memo` as the last"
                    .into(),
            ),
        },
    }
}

impl fmt::Display for StrategyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StrategyKind::DepthFirst(bounds) => f.write_str(&call(bounds)),
            StrategyKind::Auto(options) => f.write_str(&call(options)),
            StrategyKind::BestFirst(options) => f.write_str(&call(options)),
            StrategyKind::Ranked(options) => f.write_str(&call(options)),
            StrategyKind::Maple(options) => f.write_str(&call(options)),
            StrategyKind::Random => f.write_str("random"),
            StrategyKind::Pct(depth) => write!(f, "pct({depth})"),
            StrategyKind::PctAll(depth) => write!(f, "pct-all({depth})"),
            StrategyKind::PctVars { depth, variables } => write!(f, "pctvb({depth},{variables})"),
            StrategyKind::RandomDelays(delays) => write!(f, "random-delays({delays})"),
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

impl StrategyKind {
    /// A description of its values, for messages.
    pub const VALUES: &str = "`auto`, `dfs`, `random`, `pct(DEPTH)`, `pos`, `surw(one)`, `surw(all)`, `surw(PLACE)`, `places`, \
                              or a `portfolio(..)` of those from `random` on; others: `dfs(delays=N,depth=N,step=N)`, \
                              `pct-all(DEPTH)`, `pctvb(DEPTH,VARIABLES)`, `random-delays(N)`, \
                              `best-first(PRIORITIES,prefixes=N)`, \
                              `auto(stale_reads=N,weak_executions=N,fair_yields=N,weak_failures=N,address_reuse=N,timeouts=N)`, \
                              `ranked(variables=N,threads=N,epsilon=P,sets=dynamic,arrays=whole,per_place=N)`, \
                              `maple(window=N,attempts=N,target=IROOT,memo=FILE)`";

    /// Checks that its options can be combined.
    ///
    /// # Errors
    /// They cannot. The text says why.
    pub fn check(&self) -> Result<(), &'static str> {
        let StrategyKind::Ranked(options) = self else {
            return Ok(());
        };
        Err(match (options.threads, options.per_place) {
            (Some(0 | 1), _) => "fewer than 2 tasks have one order: give 2 or more `threads`",
            (None, _) if options.epsilon != Epsilon::DEFAULT => {
                "no order is missed without `threads`: give `ranked(threads=N,epsilon=P)`"
            }
            (_, Some(0)) => "with `per_place=0` no preemption after an access would be left: give 1 or more",
            (_, Some(_)) if options.arrays == Arrays::Whole => {
                "`arrays=whole` counts all variables of a place as one, so `per_place` would bound nothing: give one of \
                 the two"
            }
            (Some(_), Some(_)) => "`per_place` is not supported together with `threads`: give one of the two",
            _ => return Ok(()),
        })
    }
}

impl FromStr for StrategyKind {
    type Err = String;

    /// Parses a strategy. The error says what to give instead.
    fn from_str(text: &str) -> Result<StrategyKind, String> {
        let (name, parameters) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(parameters) => (name.trim_end(), Some(parameters.trim())),
                None => return Err(format!("`{text}` has no `)` at its end")),
            },
        };
        let known = StrategyKind::ALL.into_iter().find(|(known, _)| *known == name);
        let Some(parameters) = parameters else {
            return known.map(|(_, strategy)| strategy).ok_or_else(|| none(text));
        };
        match name {
            "auto" => read(parameters).map(StrategyKind::Auto),
            "dfs" => read(parameters).map(StrategyKind::DepthFirst),
            "best-first" => read(parameters).map(StrategyKind::BestFirst),
            "ranked" => {
                let ranked = StrategyKind::Ranked(read(parameters)?);
                ranked.check()?;
                Ok(ranked)
            }
            "maple" => read(parameters).map(StrategyKind::Maple),
            "pct" => number(parameters, "depth", DEPTH_MAX).map(StrategyKind::Pct),
            "pct-all" => number(parameters, "depth", DEPTH_MAX).map(StrategyKind::PctAll),
            "pctvb" => {
                let (depth, variables) = parameters.split_once(',').unwrap_or((parameters, "1"));
                Ok(StrategyKind::PctVars {
                    depth: number(depth, "depth", DEPTH_MAX)?,
                    variables: number(variables, "variables", DEPTH_MAX)?,
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
            _ if known.is_some() => Err(format!("`{name}` takes no parameters: give just `{name}`")),
            _ => Err(none(text)),
        }
    }
}

fn none(text: &str) -> String {
    let name = text.split('(').next().unwrap_or_default();
    let lower = text.to_lowercase();
    let is_known = |name: &str| StrategyKind::ALL.iter().any(|(known, _)| *known == name);
    match name {
        "delays" => {
            "there is no strategy `delays`: give `dfs(delays=2)`, `dfs(delays=none)`, or `random-delays`"
                .into()
        }
        "coverage" => "there is no strategy `coverage` any more: give `maple`".into(),
        _ if is_known(&name.to_lowercase()) => format!("`{text}` is not a strategy: give `{lower}`"),
        _ if Reduction::ALL.iter().any(|(known, _)| *known == name) => {
            format!(
                "`{text}` is a reduction, not a strategy: give the setting `reduction={name}`, or `--reduction {name}`"
            )
        }
        _ => {
            let known = StrategyKind::ALL.iter().map(|(known, _)| *known);
            let instead = give_instead(name, known.chain(["portfolio"]), StrategyKind::VALUES);
            format!("`{text}` is not a strategy: {instead}")
        }
    }
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

/// Parses the members of a portfolio, which are separated by commas. Each may follow its weight, as in `2*pos`.
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
    let strategy: StrategyKind = name.parse()?;
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
                "auto(fair_yields=1,weak_executions=1_0,stale_reads=2)",
                "auto(stale_reads=2,weak_executions=10,fair_yields=1)",
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
            let strategy: StrategyKind = text.parse().unwrap();
            assert_eq!(strategy.to_string(), written);
            assert_eq!(written.parse(), Ok(strategy));
        }
    }

    #[test]
    fn what_is_no_strategy_says_what_would_be() {
        for (text, says) in [
            ("deepest", "`deepest` is not a strategy: give `auto`, `dfs`"),
            ("bfs", "did you mean `dfs`? There is `auto`"),
            ("portfolo(pos)", "did you mean `portfolio`? "),
            ("bfs(3)", "is not a strategy"),
            ("delays", "give `dfs(delays=2)`"),
            ("auto(fair_yields=0)", "`0` is too few: give 1 or more"),
            (
                "dpor",
                "`dpor` is a reduction, not a strategy: give the setting `reduction=dpor`, or `--reduction dpor`",
            ),
            ("coverage", "give `maple`"),
            (
                "dfs(2)",
                "`2` is not a parameter of `dfs`: give `delays`, `depth`, `step`; a bound",
            ),
            ("dfs(delay=2)", "`delay=2` is not a parameter"),
            ("dfs(delays=1,delays=2)", "`delays` is given twice"),
            ("best-first(rare,,deepest)", "`` is not a priority"),
            ("ranked(epsilon=0.1)", "no order is missed without `threads`"),
            ("dfs(step=0)", "not a number in range"),
            ("best-first(rarest)", "`rarest` is not a priority"),
            ("ranked(threads=1)", "fewer than 2 tasks have one order"),
            ("ranked(epsilon=1)", "not a probability"),
            ("ranked(per_place=0)", "give 1 or more"),
            ("ranked(per_place=1,arrays=whole)", "would bound nothing"),
            ("ranked(per_place=1,threads=2)", "not supported together"),
            ("ranked(sets=all)", "not a way to take sets"),
            ("maple(memo=)", "no file is given"),
            ("pct(0)", "depth `0`: give a number from 1"),
            ("pct(many)", "depth `many`"),
            ("pct(3", "no `)` at its end"),
            ("pctvb(3,0)", "variables `0`"),
            ("random-delays(0)", "delays `0`"),
            ("pos(3)", "takes no parameters"),
            ("surw()", "nothing is interesting"),
            ("portfolio()", "is not a strategy"),
            ("portfolio(pos,)", "is not a strategy"),
            ("portfolio(0*pos)", "weight `0`"),
            ("portfolio(dfs)", "`dfs` cannot be in a portfolio"),
            ("portfolio(portfolio(pos))", "cannot be in a portfolio"),
        ] {
            let error = text.parse::<StrategyKind>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
