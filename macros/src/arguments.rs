//! The arguments of the attribute.

use crate::cases::{self, Choices, Context};
use crate::items::{Item, Value, items, pair, setting, text_of};
use crate::{Refusal, tokens};
use proc_macro::{Literal, Span, TokenStream, TokenTree};

/// The arguments of the attribute.
pub(crate) struct Arguments {
    /// Pairs of name and value, as tokens.
    pub(crate) settings: TokenStream,
    /// The expectations of the test's exploration: pairs of name and value, as tokens.
    pub(crate) expected: TokenStream,
    /// `true` if one of these is a finding.
    pub(crate) expects_finding: bool,
    /// `true` if the test must return the same value in every execution.
    pub(crate) deterministic: bool,
    /// The values of each argument of the function.
    pub(crate) choices: Vec<Choices>,
    /// The settings of each context.
    pub(crate) contexts: Vec<Context>,
    /// The figures that may grow, each with the largest exponent: pairs of name and value, as tokens. Empty if the cases
    /// are not compared.
    pub(crate) growth: TokenStream,
    /// The path of the facade.
    pub(crate) facade: TokenStream,
}

/// The names of figures in `expect`. Any other name is the kind of a finding.
const FIGURES: [&str; 4] = ["executions", "traces", "steps", "tasks"];

impl Arguments {
    pub(crate) fn parse(attribute: TokenStream) -> Result<Arguments, Refusal> {
        let mut arguments = Arguments {
            settings: TokenStream::new(),
            expected: TokenStream::new(),
            expects_finding: false,
            deterministic: false,
            choices: Vec::new(),
            contexts: Vec::new(),
            growth: TokenStream::new(),
            facade: tokens("::intermezzo"),
        };
        for Item { name, span, value } in items(attribute)? {
            match (name.as_str(), value) {
                ("args", Value::Group(_)) if !arguments.choices.is_empty() => return Err(twice(span, &name)),
                ("contexts", Value::Group(_)) if !arguments.contexts.is_empty() => {
                    return Err(twice(span, &name));
                }
                ("crate", Value::Tokens(value)) => arguments.facade = path(span, value)?,
                ("args", Value::Group(list)) => arguments.choices.extend(cases::choices(list)?),
                ("contexts", Value::Group(list)) => arguments.contexts.extend(cases::contexts(list)?),
                ("expect", Value::Group(list)) => {
                    for item in items(list)? {
                        arguments.expects_finding |= !FIGURES.contains(&item.name.as_str());
                        arguments.expected.extend(expectation(&item)?);
                    }
                }
                ("growth", Value::Group(list)) => {
                    for item in items(list)? {
                        arguments.growth.extend(exponent(&item)?);
                    }
                    if arguments.growth.is_empty() {
                        return Err(Refusal::new(
                            span,
                            format!("`growth` is empty: write {}", example(&name)),
                        ));
                    }
                }
                ("deterministic", Value::None) => arguments.deterministic = true,
                ("deterministic", _) => {
                    let reason = "`deterministic` has no value: `#[intermezzo::test(deterministic)]`";
                    return Err(Refusal::new(span, reason));
                }
                ("args" | "contexts" | "expect" | "growth", _) => {
                    let reason = format!("write `{name}` with parentheses, as in {}", example(&name));
                    return Err(Refusal::new(span, reason));
                }
                (_, value) => arguments.settings.extend(setting(&Item { name, span, value })?),
            }
        }
        Ok(arguments)
    }
}

/// Returns the error about a second list.
fn twice(span: Span, name: &str) -> Refusal {
    Refusal::new(
        span,
        format!("`{name}` is given twice: write one list, as in {}", example(name)),
    )
}

fn example(name: &str) -> &'static str {
    match name {
        "args" => "`args(tasks = 2..=4)`",
        "contexts" => "`contexts(few(preemptions = 1), random(strategy = \"random\"))`",
        "growth" => "`growth(steps = 1.2)`",
        _ => "`expect(deadlock)`",
    }
}

/// Returns the path of the facade, from tokens or from a text.
fn path(span: Span, value: Vec<TokenTree>) -> Result<TokenStream, Refusal> {
    let refusal = Refusal::new(
        span,
        "`crate` is the path of `intermezzo`, as in `crate = my_intermezzo`",
    );
    match value.as_slice() {
        [] => Err(refusal),
        [TokenTree::Literal(text)] => match text.to_string().trim_matches('"').parse::<TokenStream>() {
            Ok(path) if !path.is_empty() => Ok(path),
            _ => Err(refusal),
        },
        _ => Ok(value.into_iter().collect()),
    }
}

/// Returns a figure with its largest exponent as a pair of strings.
fn exponent(item: &Item) -> Result<TokenStream, Refusal> {
    let value = match &item.value {
        Value::Tokens(value) => match value.as_slice() {
            [TokenTree::Literal(literal)] => text_of(literal),
            _ => None,
        },
        _ => None,
    };
    let figures = FIGURES.join("`, `");
    let reason = || {
        format!("write a figure and its largest exponent, as in `growth(steps = 1.2)`: one of `{figures}`")
    };
    match value.filter(|_| FIGURES.contains(&item.name.as_str())) {
        Some(value) => Ok(pair(&item.name, value)),
        None => Err(Refusal::new(item.span, reason())),
    }
}

/// Returns an expectation as a pair of strings: a figure and its value, or a kind of finding and a part of its message.
fn expectation(item: &Item) -> Result<TokenStream, Refusal> {
    let is_figure = FIGURES.contains(&item.name.as_str());
    let value = match &item.value {
        Value::None if !is_figure => Some(Literal::string("")),
        Value::Tokens(value) => match value.as_slice() {
            [TokenTree::Literal(literal)] => text_of(literal),
            _ => None,
        },
        _ => None,
    };
    let refusal = || {
        let reason = match is_figure {
            true => "write the expected number, as in `expect(executions = 90)`",
            false => {
                "write the kind of finding, as in `expect(deadlock)`, or `expect(deadlock = \"part of its message\")`"
            }
        };
        Refusal::new(item.span, reason)
    };
    value.map(|value| pair(&item.name, value)).ok_or_else(refusal)
}
