//! Numbers as they are written in source code.

/// Returns the number in decimal digits, without separators and without a suffix; `None` if it is no number.
pub(crate) fn plain(literal: &str) -> Option<String> {
    let literal = literal.replace('_', "");
    if !literal.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = literal.strip_prefix(prefix) {
            let digits = without_suffix(digits, &INTEGERS);
            return u128::from_str_radix(digits, radix)
                .ok()
                .map(|number| number.to_string());
        }
    }
    let digits = without_suffix(without_suffix(&literal, &INTEGERS), &FLOATS);
    digits.parse::<f64>().is_ok().then(|| digits.to_owned())
}

const INTEGERS: [&str; 12] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
];

const FLOATS: [&str; 2] = ["f32", "f64"];

fn without_suffix<'a>(number: &'a str, suffixes: &[&str]) -> &'a str {
    suffixes
        .iter()
        .find_map(|suffix| number.strip_suffix(suffix))
        .unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn numbers_are_read_as_the_compiler_reads_them() {
        for (literal, expected) in [
            ("10_000", Some("10000")),
            ("7u32", Some("7")),
            ("0xff", Some("255")),
            ("0b1_01u8", Some("5")),
            ("0o17", Some("15")),
            ("0.05", Some("0.05")),
            ("1e-3f64", Some("1e-3")),
            ("2f32", Some("2")),
            ("'a'", None),
            ("b\"x\"", None),
        ] {
            assert_eq!(plain(literal).as_deref(), expected, "{literal}");
        }
    }
}
