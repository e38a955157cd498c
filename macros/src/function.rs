//! The test function.

use crate::{Refusal, bare, is_punct};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// A test function, cut into the parts that the expansion needs.
pub(crate) struct Function {
    pub(crate) attributes: TokenStream,
    pub(crate) visibility: TokenStream,
    pub(crate) name: TokenTree,
    /// The tokens between the parentheses.
    pub(crate) inputs: TokenStream,
    /// The names of the arguments.
    pub(crate) parameters: Vec<(String, Span)>,
    pub(crate) output: TokenStream,
    pub(crate) body: TokenTree,
}

impl Function {
    pub(crate) fn parse(item: TokenStream) -> Result<Function, Refusal> {
        let mut rest = item.into_iter().peekable();
        let attributes = attributes(&mut rest);
        let visibility = visibility(&mut rest)?;
        let no_function = || Refusal::new(Span::call_site(), "only a function can be a test");
        let name = rest.next().map(bare).ok_or_else(no_function)?;
        let inputs = match rest.next().map(bare) {
            Some(TokenTree::Group(inputs)) if inputs.delimiter() == Delimiter::Parenthesis => inputs.stream(),
            Some(token) if is_punct(&token, '<') => {
                return Err(Refusal::new(
                    token.span(),
                    "a test has no parameters of types or lifetimes",
                ));
            }
            _ => return Err(no_function()),
        };
        let parameters = parameters(inputs.clone())?;
        let mut output: Vec<TokenTree> = rest.collect();
        let body = output.pop().ok_or_else(no_function)?;
        // While it is written, a function may end with its type.
        let may_be_body = |group: &Group| matches!(group.delimiter(), Delimiter::Brace | Delimiter::None);
        if !matches!(&body, TokenTree::Group(group) if may_be_body(group)) {
            return Err(Refusal::new(body.span(), "a test needs a body"));
        }
        Ok(Function {
            attributes,
            visibility,
            name,
            inputs,
            parameters,
            output: output.into_iter().collect(),
            body,
        })
    }
}

/// Takes the attributes before the item.
fn attributes(rest: &mut Peekable<impl Iterator<Item = TokenTree>>) -> TokenStream {
    let mut attributes = TokenStream::new();
    while let Some(hash) = rest.next_if(|token| is_punct(token, '#')) {
        attributes.extend([hash].into_iter().chain(rest.next()));
    }
    attributes
}

/// Takes everything up to `fn`, and that as well: the function's visibility.
fn visibility(rest: &mut Peekable<impl Iterator<Item = TokenTree>>) -> Result<TokenStream, Refusal> {
    let mut visibility = TokenStream::new();
    for token in rest {
        if let TokenTree::Ident(word) = &token {
            match word.to_string().as_str() {
                "fn" => return Ok(visibility),
                "async" => {
                    let reason =
                        "an async test: call `intermezzo::future::block_on(async { .. })` inside a plain one";
                    return Err(Refusal::new(word.span(), reason));
                }
                "pub" => {}
                _ => return Err(Refusal::new(word.span(), "only a plain function can be a test")),
            }
        }
        visibility.extend([token]);
    }
    Err(Refusal::new(Span::call_site(), "only a function can be a test"))
}

/// Returns the names of the arguments: of each, what is before the colon.
fn parameters(inputs: TokenStream) -> Result<Vec<(String, Span)>, Refusal> {
    let mut parameters = Vec::new();
    let mut rest = inputs.into_iter().peekable();
    while rest.peek().is_some() {
        attributes(&mut rest);
        rest.next_if(|token| matches!(token, TokenTree::Ident(word) if word.to_string() == "mut"));
        let name = rest.next().map(bare);
        let colon = rest.next();
        match (name, colon) {
            (Some(TokenTree::Ident(name)), Some(colon)) if is_punct(&colon, ':') => {
                parameters.push((name.to_string(), name.span()));
            }
            (name, _) => {
                let span = name.map_or_else(Span::call_site, |name| name.span());
                return Err(Refusal::new(
                    span,
                    "an argument of a test is written `name: Type`",
                ));
            }
        }
        skip_type(&mut rest);
    }
    Ok(parameters)
}

/// Takes a type, and the comma after it. Commas between angle brackets are the type's own.
fn skip_type(rest: &mut impl Iterator<Item = TokenTree>) {
    let (mut depth, mut is_arrow) = (0, false);
    for token in rest {
        match &token {
            token if is_punct(token, '<') => depth += 1,
            token if is_punct(token, '>') && !is_arrow => depth -= 1,
            token if is_punct(token, ',') && depth == 0 => return,
            _ => {}
        }
        is_arrow = is_punct(&token, '-');
    }
}
