//! The arguments of the attribute.

use crate::cases::{self, Choices, Context};
use crate::{Refusal, bare, is_punct, number, tokens};
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// The arguments of the attribute.
pub(crate) struct Arguments {
    /// Pairs of name and value, as tokens.
    pub(crate) settings: TokenStream,
    /// What the test expects of its exploration: pairs of name and value, as tokens.
    pub(crate) expected: TokenStream,
    /// `true` if one of these is a finding.
    pub(crate) expects_finding: bool,
    /// The values of each argument of the function.
    pub(crate) choices: Vec<Choices>,
    /// The settings of each context.
    pub(crate) contexts: Vec<Context>,
    /// The path of the facade.
    pub(crate) facade: TokenStream,
}

/// What `expect` says of the figures of an exploration. Anything else is the kind of a finding.
const FIGURES: [&str; 4] = ["executions", "traces", "steps", "tasks"];

/// An argument of an attribute, or of one of its groups.
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) value: Value,
}

/// The right side of an argument.
pub(crate) enum Value {
    /// `name`
    None,
    /// `name = value`
    Tokens(Vec<TokenTree>),
    /// `name(..)`
    Group(TokenStream),
}

/// Splits arguments at their commas.
pub(crate) fn items(stream: TokenStream) -> Result<Vec<Item>, Refusal> {
    let mut items = Vec::new();
    let mut rest = stream.into_iter().peekable();
    while let Some(name) = rest.next() {
        let TokenTree::Ident(name) = bare(name) else {
            return Err(Refusal::new(
                Span::call_site(),
                "write settings as `name = value`",
            ));
        };
        items.push(Item {
            name: name.to_string(),
            span: name.span(),
            value: value(&mut rest, name.span())?,
        });
    }
    Ok(items)
}

/// Takes the right side of an argument, and the comma after it.
fn value(rest: &mut Peekable<impl Iterator<Item = TokenTree>>, span: Span) -> Result<Value, Refusal> {
    let value = match rest.next() {
        None => return Ok(Value::None),
        Some(token) if is_punct(&token, ',') => return Ok(Value::None),
        Some(token) if is_punct(&token, '=') => {
            let mut value = Vec::new();
            while let Some(token) = rest.next_if(|token| !is_punct(token, ',')) {
                value.push(bare(token));
            }
            Value::Tokens(value)
        }
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            Value::Group(group.stream())
        }
        Some(_) => return Err(Refusal::new(span, "a setting is written `name = value`")),
    };
    match rest.next() {
        None => Ok(value),
        Some(token) if is_punct(&token, ',') => Ok(value),
        Some(token) => Err(Refusal::new(token.span(), "a comma is missing before this")),
    }
}

impl Arguments {
    pub(crate) fn parse(attribute: TokenStream) -> Result<Arguments, Refusal> {
        let mut arguments = Arguments {
            settings: TokenStream::new(),
            expected: TokenStream::new(),
            expects_finding: false,
            choices: Vec::new(),
            contexts: Vec::new(),
            facade: tokens("::intermezzo"),
        };
        for Item { name, span, value } in items(attribute)? {
            match (name.as_str(), value) {
                ("crate", Value::Tokens(value)) => arguments.facade = path(span, value)?,
                ("args", Value::Group(list)) => arguments.choices.extend(cases::choices(list)?),
                ("contexts", Value::Group(list)) => arguments.contexts.extend(cases::contexts(list)?),
                ("expect", Value::Group(list)) => {
                    for item in items(list)? {
                        arguments.expects_finding |= !FIGURES.contains(&item.name.as_str());
                        arguments.expected.extend(expectation(&item)?);
                    }
                }
                ("args" | "contexts" | "expect", _) => {
                    let reason = format!("write `{name}` with parentheses, as in {}", example(&name));
                    return Err(Refusal::new(span, reason));
                }
                (_, value) => arguments.settings.extend(setting(&Item { name, span, value })?),
            }
        }
        Ok(arguments)
    }
}

fn example(name: &str) -> &'static str {
    match name {
        "args" => "`args(tasks = 2..=4)`",
        "contexts" => "`contexts(few(preemptions = 1), random(strategy = \"random\"))`",
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

/// Returns a setting as a pair of strings.
pub(crate) fn setting(item: &Item) -> Result<TokenStream, Refusal> {
    let value = match &item.value {
        Value::Tokens(value) => match value.as_slice() {
            [TokenTree::Literal(literal)] => text_of(literal),
            [TokenTree::Ident(truth)] if ["true", "false"].contains(&truth.to_string().as_str()) => {
                Some(Literal::string(&truth.to_string()))
            }
            _ => None,
        },
        Value::None | Value::Group(_) => {
            return Err(Refusal::new(item.span, "a setting is written `name = value`"));
        }
    };
    let refusal = || Refusal::new(item.span, "a setting is a number, a text, `true` or `false`");
    value.map(|value| pair(&item.name, value)).ok_or_else(refusal)
}

/// Returns what is expected as a pair of strings: a figure and its value, or a kind of finding and a part of its message.
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

/// Returns `("name", value),`.
fn pair(name: &str, value: Literal) -> TokenStream {
    let mut pair = TokenStream::from(TokenTree::from(Literal::string(name)));
    pair.extend(tokens(","));
    pair.extend([TokenTree::from(value)]);
    let mut pair = TokenStream::from(TokenTree::from(Group::new(Delimiter::Parenthesis, pair)));
    pair.extend(tokens(","));
    pair
}

/// Returns a literal's value as a string literal; `None` for characters and bytes.
fn text_of(literal: &Literal) -> Option<Literal> {
    let text = literal.to_string();
    if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") {
        return Some(literal.clone());
    }
    number::plain(&text).map(|number| Literal::string(&number))
}
