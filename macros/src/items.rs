//! Items between commas: `name`, `name = value` or `name(..)`.

use crate::{Refusal, bare, is_punct, number, tokens};
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use std::iter::Peekable;

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

/// Returns `("name", value),`.
pub(crate) fn pair(name: &str, value: Literal) -> TokenStream {
    let mut pair = TokenStream::from(TokenTree::from(Literal::string(name)));
    pair.extend(tokens(","));
    pair.extend([TokenTree::from(value)]);
    let mut pair = TokenStream::from(TokenTree::from(Group::new(Delimiter::Parenthesis, pair)));
    pair.extend(tokens(","));
    pair
}

/// Returns a literal's value as a string literal; `None` for characters and bytes.
pub(crate) fn text_of(literal: &Literal) -> Option<Literal> {
    let text = literal.to_string();
    if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") {
        return Some(literal.clone());
    }
    number::plain(&text).map(|number| Literal::string(&number))
}
