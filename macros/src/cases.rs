//! The cases of a test with arguments or contexts: each combination is a separate test.

use crate::items::{Item, Value, items, setting};
use crate::{Refusal, is_punct, number, tokens};
use proc_macro::{Delimiter, Literal, Span, TokenStream, TokenTree};
use std::collections::HashMap;

/// The largest number of cases of a test.
const MOST: usize = 1_000;

/// The values of an argument.
pub(crate) struct Choices {
    name: String,
    span: Span,
    /// The expression of each value, and its part of the case's name.
    values: Vec<(TokenStream, String)>,
}

/// Settings with a name.
pub(crate) struct Context {
    name: String,
    /// Pairs of name and value, as tokens.
    settings: TokenStream,
}

/// A combination of a context and of a value for each argument.
pub(crate) struct Case {
    pub(crate) name: String,
    /// The values in the order of the function's arguments, with a comma after each.
    pub(crate) values: TokenStream,
    /// The settings of the context, as pairs.
    pub(crate) settings: TokenStream,
}

impl Choices {
    /// Returns the name of the argument.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns `true` if all values are integers, and not all are equal.
    pub(crate) fn are_numbers(&self) -> bool {
        let number = |value: &TokenStream| number::plain(&value.to_string())?.parse::<u64>().ok();
        let numbers: Option<Vec<u64>> = self.values.iter().map(|(value, _)| number(value)).collect();
        numbers.is_some_and(|numbers| numbers.iter().any(|number| *number != numbers[0]))
    }
}

/// Reads `tasks = 2..=4, queue = [Bounded, Unbounded]`.
pub(crate) fn choices(list: TokenStream) -> Result<Vec<Choices>, Refusal> {
    let mut all: Vec<Choices> = Vec::new();
    for Item { name, span, value } in items(list)? {
        if all.iter().any(|known| known.name == name) {
            return Err(Refusal::new(span, format!("`{name}` has its values already")));
        }
        let values = match &value {
            Value::Tokens(value) => values(value),
            Value::None | Value::Group(_) => None,
        };
        match values {
            Some(values) if values.is_empty() => {
                return Err(Refusal::new(
                    span,
                    format!("`{name}` has no value: there would be no case"),
                ));
            }
            Some(values) if values.len() > MOST => return Err(too_many(span)),
            Some(values) => all.push(Choices { name, span, values }),
            None => {
                let reason = format!("write the values of `{name}` as `{name} = [a, b]` or `{name} = 2..=4`");
                return Err(Refusal::new(span, reason));
            }
        }
    }
    Ok(all)
}

/// Reads `few(preemptions = 1), random(strategy = "random")`.
pub(crate) fn contexts(list: TokenStream) -> Result<Vec<Context>, Refusal> {
    let mut all: Vec<Context> = Vec::new();
    for Item { name, span, value } in items(list)? {
        let Value::Group(list) = value else {
            let reason =
                format!("write the settings of `{name}` in parentheses, as in `{name}(preemptions = 1)`");
            return Err(Refusal::new(span, reason));
        };
        if all.iter().any(|known| known.name == name) {
            return Err(Refusal::new(span, format!("there is a context `{name}` already")));
        }
        let settings = items(list)?.iter().map(setting).collect::<Result<_, _>>()?;
        all.push(Context { name, settings });
    }
    Ok(all)
}

fn too_many(span: Span) -> Refusal {
    Refusal::new(
        span,
        format!("that is more than {MOST} cases; each is a test of its own"),
    )
}

/// Returns the values of a list or of a range of integers.
fn values(value: &[TokenTree]) -> Option<Vec<(TokenStream, String)>> {
    if let [TokenTree::Group(list)] = value
        && list.delimiter() == Delimiter::Bracket
    {
        let mut values = vec![Vec::new()];
        for token in list.stream() {
            match is_punct(&token, ',') {
                true => values.push(Vec::new()),
                false => values.last_mut()?.push(token),
            }
        }
        if values.last().is_some_and(Vec::is_empty) {
            values.pop();
        }
        let named = |value: Vec<TokenTree>| {
            let value: TokenStream = value.into_iter().collect();
            let name = word(&value.to_string());
            (value, name)
        };
        return (!values.iter().any(Vec::is_empty)).then(|| values.into_iter().map(named).collect());
    }
    let [TokenTree::Literal(first), first_dot, second_dot, rest @ ..] = value else {
        return None;
    };
    if !is_punct(first_dot, '.') || !is_punct(second_dot, '.') {
        return None;
    }
    let (last, is_inclusive) = match rest {
        [equals, TokenTree::Literal(last)] if is_punct(equals, '=') => (last, true),
        [TokenTree::Literal(last)] => (last, false),
        _ => return None,
    };
    let integer = |literal: &Literal| number::plain(&literal.to_string())?.parse::<u64>().ok();
    let (first, last) = (integer(first)?, integer(last)?);
    let end = if is_inclusive { last.checked_add(1)? } else { last };
    // One more than there may be is enough to tell.
    let values = (first..end).take(MOST + 1);
    let value = |value: u64| {
        let literal = TokenStream::from(TokenTree::from(Literal::u64_unsuffixed(value)));
        (literal, value.to_string())
    };
    Some(values.map(value).collect())
}

/// Returns an expression as a part of an identifier: its letters and digits, with `_` for everything between them.
fn word(expression: &str) -> String {
    let (mut word, mut was_lowercase) = (String::new(), false);
    for (at, char) in expression.char_indices() {
        match char {
            _ if char.is_alphanumeric() => {
                if char.is_uppercase() && was_lowercase {
                    word.push('_');
                }
                word.extend(char.to_lowercase());
            }
            '-' if expression[at + 1..]
                .trim_start()
                .starts_with(|next: char| next.is_ascii_digit()) =>
            {
                word.push_str(if word.is_empty() || word.ends_with('_') {
                    "minus_"
                } else {
                    "_minus_"
                });
            }
            _ if word.ends_with('_') || word.is_empty() => {}
            _ => word.push('_'),
        }
        was_lowercase = char.is_lowercase();
    }
    word.trim_end_matches('_').to_owned()
}

/// Returns all combinations for a function with these arguments; one without a name if there is nothing to combine.
pub(crate) fn combine(
    parameters: &[(String, Span)],
    choices: &[Choices],
    contexts: &[Context],
) -> Result<Vec<Case>, Refusal> {
    for Choices { name, span, .. } in choices {
        if !parameters.iter().any(|(known, _)| known == name) {
            return Err(Refusal::new(*span, format!("the test has no argument `{name}`")));
        }
    }
    let mut cases = vec![Case {
        name: String::new(),
        values: TokenStream::new(),
        settings: TokenStream::new(),
    }];
    let add = |case: &Case, word: &str| match case.name.is_empty() {
        true => word.to_owned(),
        false => format!("{}_{word}", case.name),
    };
    if !contexts.is_empty() {
        let case = |Context { name, settings }: &Context| Case {
            name: name.clone(),
            values: TokenStream::new(),
            settings: settings.clone(),
        };
        cases = contexts.iter().map(case).collect();
    }
    for (name, span) in parameters {
        let Some(choices) = choices.iter().find(|choices| choices.name == *name) else {
            let reason = format!(
                "`{name}` has no values: write `#[intermezzo::test(args({name} = [a, b]))]`, or take no arguments"
            );
            return Err(Refusal::new(*span, reason));
        };
        if cases.len() * choices.values.len() > MOST {
            return Err(too_many(*span));
        }
        let with = |case: &Case, (value, word): &(TokenStream, String)| Case {
            name: add(case, format!("{name}_{word}").trim_end_matches('_')),
            values: [case.values.clone(), value.clone(), tokens(",")]
                .into_iter()
                .collect(),
            settings: case.settings.clone(),
        };
        cases = cases
            .iter()
            .flat_map(|case| choices.values.iter().map(move |value| with(case, value)))
            .collect();
    }
    number_equal_names(&mut cases);
    Ok(cases)
}

/// Numbers cases with equal names, whose values differ only in punctuation.
fn number_equal_names(cases: &mut [Case]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for case in cases.iter() {
        *uses.entry(case.name.clone()).or_default() += 1;
    }
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for case in cases {
        if uses[&case.name] > 1 {
            let number = numbers.entry(case.name.clone()).or_default();
            *number += 1;
            case.name = format!("{}_no_{number}", case.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn expressions_are_words() {
        for (expression, expected) in [
            ("Bounded", "bounded"),
            ("Kind :: Bounded(4)", "kind_bounded_4"),
            ("\"two words\"", "two_words"),
            ("- 1", "minus_1"),
            ("Of(-1)", "of_minus_1"),
            ("TwoLocks", "two_locks"),
            ("HTTP", "http"),
            ("BTreeMap :: new()", "btree_map_new"),
            ("'x'", "x"),
            ("()", ""),
        ] {
            assert_eq!(word(expression), expected, "{expression}");
        }
    }
}
