//! The `#[intermezzo::test]` attribute.
//!
//! Works on tokens, without a parser for the whole language, so it has no dependencies: every program that uses the
//! facade builds this crate, too. The compiler checks the parts that are copied.

mod number;

use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use std::iter::Peekable;

/// See `intermezzo::test`.
#[proc_macro_attribute]
pub fn test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = Arguments::parse(attribute)
        .and_then(|arguments| Function::parse(item).map(|function| expand(arguments, function)));
    expanded.unwrap_or_else(Refusal::into_compile_error)
}

/// Source that cannot be expanded, and the reason.
struct Refusal {
    span: Span,
    reason: &'static str,
}

impl Refusal {
    fn new(span: Span, reason: &'static str) -> Refusal {
        Refusal { span, reason }
    }

    fn into_compile_error(self) -> TokenStream {
        let error = tokens(&format!("::core::compile_error!({:?});", self.reason));
        error
            .into_iter()
            .map(|mut token| {
                token.set_span(self.span);
                token
            })
            .collect()
    }
}

/// Returns tokens of our own.
fn tokens(source: &str) -> TokenStream {
    source.parse().expect("what we write ourselves is Rust")
}

/// Returns the token that `token` holds if it is a group without brackets, as a macro's fragment is, of one token.
fn bare(token: TokenTree) -> TokenTree {
    if let TokenTree::Group(group) = &token
        && group.delimiter() == Delimiter::None
    {
        let mut inner = group.stream().into_iter();
        if let (Some(only), None) = (inner.next(), inner.next()) {
            return bare(only);
        }
    }
    token
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// The arguments of the attribute.
struct Arguments {
    /// Pairs of name and value, as tokens.
    settings: TokenStream,
    /// The path of the facade.
    facade: TokenStream,
}

impl Arguments {
    fn parse(attribute: TokenStream) -> Result<Arguments, Refusal> {
        let mut arguments = Arguments {
            settings: TokenStream::new(),
            facade: tokens("::intermezzo"),
        };
        let mut rest = attribute.into_iter().peekable();
        while let Some(name) = rest.next() {
            let TokenTree::Ident(name) = bare(name) else {
                return Err(Refusal::new(
                    Span::call_site(),
                    "write settings as `name = value`",
                ));
            };
            match rest.next() {
                Some(token) if is_punct(&token, '=') => {}
                _ => return Err(Refusal::new(name.span(), "a setting is written `name = value`")),
            }
            let mut value = Vec::new();
            while let Some(token) = rest.next_if(|token| !is_punct(token, ',')) {
                value.push(bare(token));
            }
            rest.next();
            match name.to_string().as_str() {
                "crate" => arguments.facade = path(name.span(), value)?,
                _ => arguments
                    .settings
                    .extend(setting(&name.to_string(), name.span(), &value)?),
            }
        }
        Ok(arguments)
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
fn setting(name: &str, span: Span, value: &[TokenTree]) -> Result<TokenStream, Refusal> {
    let value = match value {
        [TokenTree::Literal(literal)] => text_of(literal),
        [TokenTree::Ident(truth)] if ["true", "false"].contains(&truth.to_string().as_str()) => {
            Some(Literal::string(&truth.to_string()))
        }
        _ => None,
    };
    let Some(value) = value else {
        return Err(Refusal::new(
            span,
            "a setting is a number, a text, `true` or `false`",
        ));
    };
    let mut pair = TokenStream::from(TokenTree::from(Literal::string(name)));
    pair.extend(tokens(","));
    pair.extend([TokenTree::from(value)]);
    let mut pair = TokenStream::from(TokenTree::from(Group::new(Delimiter::Parenthesis, pair)));
    pair.extend(tokens(","));
    Ok(pair)
}

/// Returns a literal's value as a string literal; `None` for characters and bytes.
fn text_of(literal: &Literal) -> Option<Literal> {
    let text = literal.to_string();
    if text.starts_with('"') || text.starts_with("r\"") || text.starts_with("r#") {
        return Some(literal.clone());
    }
    number::plain(&text).map(|number| Literal::string(&number))
}

/// A test function, cut into the parts that the expansion needs.
struct Function {
    attributes: TokenStream,
    visibility: TokenStream,
    name: TokenTree,
    output: TokenStream,
    body: TokenTree,
}

impl Function {
    fn parse(item: TokenStream) -> Result<Function, Refusal> {
        let mut rest = item.into_iter().peekable();
        let attributes = attributes(&mut rest);
        let visibility = visibility(&mut rest)?;
        let no_function = || Refusal::new(Span::call_site(), "only a function can be a test");
        let name = rest.next().map(bare).ok_or_else(no_function)?;
        match rest.next().map(bare) {
            Some(TokenTree::Group(inputs)) if inputs.delimiter() == Delimiter::Parenthesis => {
                if !inputs.stream().is_empty() {
                    return Err(Refusal::new(inputs.span(), "a test takes no arguments"));
                }
            }
            Some(token) if is_punct(&token, '<') => {
                return Err(Refusal::new(
                    token.span(),
                    "a test has no parameters of types or lifetimes",
                ));
            }
            _ => return Err(no_function()),
        }
        let mut output: Vec<TokenTree> = rest.collect();
        let body = output.pop().ok_or_else(no_function)?;
        Ok(Function {
            attributes,
            visibility,
            name,
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

/// The compiler's information about a test, except for its code.
const SOURCE: &str = "package: ::core::option_env!(\"CARGO_MANIFEST_DIR\"),
    package_name: ::core::option_env!(\"CARGO_PKG_NAME\"),
    binary: ::core::option_env!(\"CARGO_BIN_NAME\"),
    is_in_suite: ::core::option_env!(\"CARGO_TARGET_TMPDIR\").is_some(),
    file: ::core::file!(),
    should_panic:";

/// Returns the argument of `#[should_panic]`, as an `Option<&str>`: the expected text, empty if it has none.
fn should_panic(attributes: &TokenStream) -> TokenStream {
    let is_it =
        |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name.to_string() == "should_panic");
    let found = attributes.clone().into_iter().find_map(|token| {
        let TokenTree::Group(attribute) = token else {
            return None;
        };
        let mut inner = attribute.stream().into_iter();
        inner.next().filter(is_it).map(|_| inner.collect::<Vec<_>>())
    });
    let Some(mut given) = found else {
        return tokens("::core::option::Option::None");
    };
    if let [TokenTree::Group(list)] = given.as_slice() {
        // `(expected = "text")`
        given = list.stream().into_iter().collect();
    }
    let text = match given.last() {
        Some(TokenTree::Literal(text)) => text.clone(),
        _ => Literal::string(""),
    };
    let text = TokenStream::from(TokenTree::from(text));
    let mut some = tokens("::core::option::Option::Some");
    some.extend([TokenTree::from(Group::new(Delimiter::Parenthesis, text))]);
    some
}

/// Expands the test. Its body becomes a closure: it could call a function of a name of ours by mistake.
fn expand(arguments: Arguments, function: Function) -> TokenStream {
    let Arguments { settings, facade } = arguments;
    let Function {
        attributes,
        visibility,
        name,
        output,
        body,
    } = function;
    let should_panic = should_panic(&attributes);
    let output = if output.is_empty() {
        tokens("-> ()")
    } else {
        output
    };
    let group =
        |delimiter, inner: TokenStream| TokenStream::from(TokenTree::from(Group::new(delimiter, inner)));
    let name = TokenStream::from(name);
    let call = [
        facade.clone(),
        tokens("::run_test"),
        group(
            Delimiter::Parenthesis,
            [
                tokens("::core::concat!"),
                group(
                    Delimiter::Parenthesis,
                    [
                        tokens("::core::module_path!(), \"::\", ::core::stringify!"),
                        group(Delimiter::Parenthesis, name.clone()),
                    ]
                    .into_iter()
                    .collect(),
                ),
                tokens(", &"),
                group(Delimiter::Bracket, settings),
                tokens(","),
                facade.clone(),
                tokens("::Source"),
                group(
                    Delimiter::Brace,
                    [tokens(SOURCE), should_panic].into_iter().collect(),
                ),
                tokens(","),
                tokens("||"),
                facade,
                tokens("::check_outcome"),
                group(
                    Delimiter::Parenthesis,
                    [tokens("||"), output, body.into()].into_iter().collect(),
                ),
            ]
            .into_iter()
            .collect(),
        ),
        tokens(";"),
    ];
    [
        attributes,
        tokens("#[::core::prelude::v1::test]"),
        visibility,
        tokens("fn"),
        name,
        tokens("()"),
        group(Delimiter::Brace, call.into_iter().collect()),
    ]
    .into_iter()
    .collect()
}
