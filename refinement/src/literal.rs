//! Values as source code, from their `Debug` text and the name of their type: for lines to paste into a test.
//!
//! Numbers get their type, texts become `String`s where they are, and so on through tuples, `Option`, `Result` and
//! `Vec`. For other types, the `Debug` text is often the source code; where it is not, the compiler says so.

/// Returns the value as source code.
pub(crate) fn literal(text: &str, type_name: &str) -> String {
    let text = text.trim();
    if is_number(type_name) {
        return number(text, type_name);
    }
    let (outer, inner) = match type_name.split_once('<').filter(|_| type_name.ends_with('>')) {
        Some((outer, inner)) => (outer, &inner[..inner.len() - 1]),
        None => (type_name, ""),
    };
    let inner = parts(inner);
    match (outer.rsplit("::").next().unwrap_or(outer), &inner[..]) {
        ("String", []) => format!("{text}.to_owned()"),
        ("Option", [some]) => wrapped(text, "Some", some).unwrap_or_else(|| text.to_owned()),
        ("Result", [ok, error]) => wrapped(text, "Ok", ok)
            .or_else(|| wrapped(text, "Err", error))
            .unwrap_or_else(|| text.to_owned()),
        ("Vec", [item, ..]) => match within(text, '[', ']') {
            Some(items) => {
                let items: Vec<String> = parts(items).iter().map(|text| literal(text, item)).collect();
                format!("vec![{}]", items.join(", "))
            }
            None => text.to_owned(),
        },
        _ => tuple(text, type_name).unwrap_or_else(|| text.to_owned()),
    }
}

fn is_number(type_name: &str) -> bool {
    let bits = type_name.strip_prefix(['u', 'i', 'f']).unwrap_or("");
    matches!(bits, "8" | "16" | "32" | "64" | "128" | "size")
}

fn number(text: &str, type_name: &str) -> String {
    match text {
        "NaN" => format!("{type_name}::NAN"),
        "inf" => format!("{type_name}::INFINITY"),
        "-inf" => format!("{type_name}::NEG_INFINITY"),
        _ => format!("{text}{type_name}"),
    }
}

/// Returns the text in the brackets with which the text begins and ends.
fn within(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn wrapped(text: &str, name: &str, type_name: &str) -> Option<String> {
    let inner = within(text.strip_prefix(name)?, '(', ')')?;
    Some(format!("{name}({})", literal(inner, type_name)))
}

fn tuple(text: &str, type_name: &str) -> Option<String> {
    let (texts, types) = (
        parts(within(text, '(', ')')?),
        parts(within(type_name, '(', ')')?),
    );
    if texts.len() != types.len() {
        return None;
    }
    let all: Vec<String> = texts
        .iter()
        .zip(&types)
        .map(|(text, name)| literal(text, name))
        .collect();
    Some(match &all[..] {
        [only] => format!("({only},)"),
        all => format!("({})", all.join(", ")),
    })
}

/// Returns the parts of a list that commas divide, except for commas in brackets and in quotes.
fn parts(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    let mut chars = text.char_indices();
    while let Some((at, sign)) = chars.next() {
        match sign {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            '"' | '\'' => {
                while let Some((_, inner)) = chars.next() {
                    match inner {
                        '\\' => _ = chars.next(),
                        end if end == sign => break,
                        _ => {}
                    }
                }
            }
            ',' if depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = text[from..].trim();
    if !last.is_empty() {
        found.push(last);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::literal;
    use std::any::type_name;
    use std::fmt::Debug;

    fn of<T: Debug>(value: T) -> String {
        literal(&format!("{value:?}"), type_name::<T>())
    }

    #[test]
    fn values_can_be_pasted() {
        assert_eq!(of(7u8), "7u8");
        assert_eq!(of(-1.5f64), "-1.5f64");
        assert_eq!(of(f32::NAN), "f32::NAN");
        assert_eq!(of("a, b"), "\"a, b\"");
        assert_eq!(of(String::from("a, (\"b")), "\"a, (\\\"b\".to_owned()");
        assert_eq!(of(("x".to_owned(), 1u16)), "(\"x\".to_owned(), 1u16)");
        assert_eq!(of((1i32,)), "(1i32,)");
        assert_eq!(of(Some((1u8, ','))), "Some((1u8, ','))");
        assert_eq!(of(None::<u8>), "None");
        assert_eq!(of(Err::<(), String>("no".into())), "Err(\"no\".to_owned())");
        assert_eq!(of(vec![vec![1u8], vec![]]), "vec![vec![1u8], vec![]]");
        assert_eq!(of(((1u8, true), 'x')), "((1u8, true), 'x')");
    }
}
