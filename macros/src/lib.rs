//! The `#[intermezzo::test]` attribute, and the `#[global_allocator]` of unmodified code.
//!
//! Works on tokens, without a parser for the whole language, so it has no dependencies: every program that uses the
//! facade builds this crate, too. The compiler checks the parts that are copied.

mod allocator;
mod arguments;
mod cases;
mod function;
mod items;
mod number;

use arguments::Arguments;
use cases::Case;
use function::Function;
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

/// See `intermezzo::test`.
#[proc_macro_attribute]
pub fn test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    // An editor needs the function to complete names in it, whatever is wrong with it or with its attribute.
    expanded(attribute, item.clone())
        .unwrap_or_else(|refusal| [item, refusal.into_compile_error()].into_iter().collect())
}

/// Replaces std's attribute in unmodified code: the program's allocator is called by ours.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn global_allocator(_: TokenStream, item: TokenStream) -> TokenStream {
    allocator::called_by_ours(item)
}

/// Derives nothing. Builds without serde use it in place of serde's derive, so that types keep their attributes.
#[doc(hidden)]
#[proc_macro_derive(Serialize, attributes(serde))]
pub fn derive_no_serialize(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Derives nothing, as above.
#[doc(hidden)]
#[proc_macro_derive(Deserialize, attributes(serde))]
pub fn derive_no_deserialize(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Source that cannot be expanded, and the reason.
struct Refusal {
    span: Span,
    reason: String,
}

impl Refusal {
    fn new(span: Span, reason: impl Into<String>) -> Refusal {
        let reason = reason.into();
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

/// The compiler's information about a test, except for its code.
const SOURCE: &str = "package: ::core::option_env!(\"CARGO_MANIFEST_DIR\"),
    package_name: ::core::option_env!(\"CARGO_PKG_NAME\"),
    binary: ::core::option_env!(\"CARGO_BIN_NAME\"),
    is_in_suite: ::core::option_env!(\"CARGO_TARGET_TMPDIR\").is_some(),
    file: ::core::file!(),
    should_panic:";

/// Returns the argument of `#[should_panic]`: the expected text, empty if it has none. `None` without that attribute.
fn should_panic(attributes: &TokenStream) -> Option<Literal> {
    let is_it =
        |token: &TokenTree| matches!(token, TokenTree::Ident(name) if name.to_string() == "should_panic");
    let found = attributes.clone().into_iter().find_map(|token| {
        let TokenTree::Group(attribute) = token else {
            return None;
        };
        let mut inner = attribute.stream().into_iter();
        inner.next().filter(is_it).map(|_| inner.collect::<Vec<_>>())
    });
    let mut given = found?;
    if let [TokenTree::Group(list)] = given.as_slice() {
        // `(expected = "text")`
        given = list.stream().into_iter().collect();
    }
    match given.pop() {
        Some(TokenTree::Literal(text)) => Some(text),
        _ => Some(Literal::string("")),
    }
}

/// Returns an `Option<&str>`.
fn option(text: Option<Literal>) -> TokenStream {
    let Some(text) = text else {
        return tokens("::core::option::Option::None");
    };
    let text = group(Delimiter::Parenthesis, TokenTree::from(text).into());
    [tokens("::core::option::Option::Some"), text]
        .into_iter()
        .collect()
}

/// Expands the test, or its cases.
fn expanded(attribute: TokenStream, item: TokenStream) -> Result<TokenStream, Refusal> {
    let arguments = Arguments::parse(attribute)?;
    let function = Function::parse(item)?;
    let cases = cases::combine(&function.parameters, &arguments.choices, &arguments.contexts)?;
    let should_panic = should_panic(&function.attributes);
    if !arguments.growth.is_empty() {
        let reason = match (arguments.choices.as_slice(), arguments.contexts.as_slice()) {
            _ if should_panic.is_some() || !arguments.expected.is_empty() || arguments.deterministic => {
                Some("`growth` is for tests that pass, and expect nothing else")
            }
            ([choices], []) if choices.are_numbers() => None,
            _ => Some(
                "`growth` compares the values of one argument, as in `args(tasks = 2..=4)`, in one context",
            ),
        };
        if let Some(reason) = reason {
            return Err(Refusal::new(Span::call_site(), reason));
        }
    }
    if let (Some(_), true) = (&should_panic, arguments.expects_finding) {
        let reason = "a test has either `#[should_panic]` or an expected finding";
        return Err(Refusal::new(Span::call_site(), reason));
    }
    let test = Test {
        arguments,
        should_panic: option(should_panic),
    };
    match cases.as_slice() {
        [case] if case.name.is_empty() => Ok(expand(&test, function, case)),
        cases => Ok(expand_cases(&test, function, cases)),
    }
}

/// The part of a test that all its cases share.
struct Test {
    arguments: Arguments,
    /// An `Option<&str>`.
    should_panic: TokenStream,
}

fn group(delimiter: Delimiter, inner: TokenStream) -> TokenStream {
    TokenTree::from(Group::new(delimiter, inner)).into()
}

/// Expands a test without cases. Its body becomes a closure: it could call a function of a name of ours by mistake.
fn expand(test: &Test, function: Function, case: &Case) -> TokenStream {
    let body = [tokens("||"), output(&function), function.body.into()];
    let body = body.into_iter().collect();
    let name = function.name.into();
    function_of_test(test, function.attributes, function.visibility, name, case, body)
}

/// Expands a test with cases: the function stays as it is, and a module of its name has a test for each case.
fn expand_cases(test: &Test, function: Function, cases: &[Case]) -> TokenStream {
    let name = TokenStream::from(function.name.clone());
    let (span, attributes) = (function.name.span(), function.attributes.clone());
    let case = |case: &Case| {
        let arguments = group(Delimiter::Parenthesis, case.values.clone());
        let body = [tokens("|| super::"), name.clone(), arguments]
            .into_iter()
            .collect();
        let mut ident: TokenStream = tokens(&case.name);
        ident = ident
            .into_iter()
            .map(|mut token| {
                token.set_span(span);
                token
            })
            .collect();
        function_of_test(test, attributes.clone(), tokens("pub(super)"), ident, case, body)
    };
    let growth = match test.arguments.growth.is_empty() {
        true => TokenStream::new(),
        false => growth(test, &function, cases),
    };
    let tests: TokenStream = [tokens("#[allow(unused_imports)] use super::*;")]
        .into_iter()
        .chain(cases.iter().map(case))
        .chain([growth])
        .collect();
    let output = output(&function);
    let parts = [
        // Nothing else calls it.
        tokens("#[cfg(test)]"),
        without_those_of_tests(function.attributes),
        function.visibility,
        tokens("fn"),
        name.clone(),
        group(Delimiter::Parenthesis, function.inputs),
        output,
        function.body.into(),
        tokens("#[cfg(test)] mod"),
        name,
        group(Delimiter::Brace, tests),
    ];
    parts.into_iter().collect()
}

/// Returns the test that compares the cases, in the module that has them.
fn growth(test: &Test, function: &Function, cases: &[Case]) -> TokenStream {
    let Arguments {
        settings,
        growth,
        choices,
        facade,
        ..
    } = &test.arguments;
    let join = |parts: &[TokenStream]| parts.iter().cloned().collect::<TokenStream>();
    let path = |name: &str| tokens(&format!("::core::concat!(::core::module_path!(), \"::{name}\")"));
    let case = |case: &Case| {
        let arguments = group(Delimiter::Parenthesis, case.values.clone());
        let body = join(&[tokens("|| super::"), function.name.clone().into(), arguments]);
        let checked = join(&[
            tokens("||"),
            facade.clone(),
            tokens("::check_outcome"),
            group(Delimiter::Parenthesis, body),
        ]);
        // The value is a number, with a comma after it.
        let parts = join(&[case.values.clone(), path(&case.name), tokens(","), checked]);
        join(&[group(Delimiter::Parenthesis, parts), tokens(",")])
    };
    let source = join(&[
        tokens(SOURCE),
        test.should_panic.clone(),
        tokens(", expected: &[], expects_finding: false"),
    ]);
    let arguments = join(&[
        path("growth"),
        tokens(", &"),
        group(Delimiter::Bracket, settings.clone()),
        tokens(","),
        facade.clone(),
        tokens("::Source"),
        group(Delimiter::Brace, source),
        tokens(&format!(", {:?}, &", choices[0].name())),
        group(Delimiter::Bracket, growth.clone()),
        tokens(", &"),
        group(Delimiter::Bracket, cases.iter().map(case).collect()),
    ]);
    let call = join(&[
        facade.clone(),
        tokens("::run_growth_test"),
        group(Delimiter::Parenthesis, arguments),
        tokens(";"),
    ]);
    join(&[
        function.attributes.clone(),
        tokens("#[::core::prelude::v1::test] pub(super) fn growth()"),
        group(Delimiter::Brace, call),
    ])
}

/// Returns attributes without those that only a test may have.
fn without_those_of_tests(attributes: TokenStream) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut rest = attributes.into_iter();
    while let (Some(hash), Some(attribute)) = (rest.next(), rest.next()) {
        let name = match &attribute {
            TokenTree::Group(group) => group.stream().into_iter().next(),
            _ => None,
        };
        let name = name.map_or_else(String::new, |name| name.to_string());
        if !["should_panic", "ignore"].contains(&name.as_str()) {
            kept.extend([hash, attribute]);
        }
    }
    kept
}

fn output(function: &Function) -> TokenStream {
    match function.output.is_empty() {
        true => tokens("-> ()"),
        false => function.output.clone(),
    }
}

/// Returns a closure that returns what `body` does, unless that is an error. Which of the two checks it calls depends on
/// the type, which only the compiler knows.
fn returning(facade: &TokenStream, body: TokenStream) -> TokenStream {
    let join = |parts: &[TokenStream]| parts.iter().cloned().collect::<TokenStream>();
    let check = join(&[
        tokens("#[allow(unused_imports)] use"),
        facade.clone(),
        tokens("::NoError as _;"),
        facade.clone(),
        tokens("::Returned(&returned).check();"),
    ]);
    let statements = join(&[
        tokens("let returned = "),
        group(Delimiter::Parenthesis, body),
        tokens("();"),
        group(Delimiter::Brace, check),
        tokens("returned"),
    ]);
    join(&[tokens("||"), group(Delimiter::Brace, statements)])
}

/// Returns the function that the test harness calls. `body` is a closure.
fn function_of_test(
    test: &Test,
    attributes: TokenStream,
    visibility: TokenStream,
    name: TokenStream,
    case: &Case,
    body: TokenStream,
) -> TokenStream {
    let Arguments {
        settings,
        expected,
        expects_finding,
        deterministic,
        facade,
        ..
    } = &test.arguments;
    let join = |parts: &[TokenStream]| parts.iter().cloned().collect::<TokenStream>();
    let path = join(&[
        tokens("::core::module_path!(), \"::\", ::core::stringify!"),
        group(Delimiter::Parenthesis, name.clone()),
    ]);
    let source = join(&[
        tokens(SOURCE),
        test.should_panic.clone(),
        tokens(", expected: &"),
        group(Delimiter::Bracket, expected.clone()),
        tokens(&format!(", expects_finding: {expects_finding}")),
    ]);
    let (run, test) = match deterministic {
        false => (
            "::run_test",
            join(&[
                tokens("||"),
                facade.clone(),
                tokens("::check_outcome"),
                group(Delimiter::Parenthesis, body),
            ]),
        ),
        true => ("::run_deterministic_test", returning(facade, body)),
    };
    let call = join(&[
        facade.clone(),
        tokens(run),
        group(
            Delimiter::Parenthesis,
            join(&[
                tokens("::core::concat!"),
                group(Delimiter::Parenthesis, path),
                tokens(", &"),
                group(
                    Delimiter::Bracket,
                    join(&[settings.clone(), case.settings.clone()]),
                ),
                tokens(","),
                facade.clone(),
                tokens("::Source"),
                group(Delimiter::Brace, source),
                tokens(","),
                test,
            ]),
        ),
        tokens(";"),
    ]);
    join(&[
        attributes,
        tokens("#[::core::prelude::v1::test]"),
        visibility,
        tokens("fn"),
        name,
        tokens("()"),
        group(Delimiter::Brace, call),
    ])
}
