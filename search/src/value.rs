//! Values as text: the values of settings and of the parameters of strategies.

use intermezzo_engine::strategy::{Arrays, Epsilon};
use intermezzo_engine::suggest::give_instead;
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The text for no value.
const NONE: &str = "none";

/// A value that can be read from text and shown as text.
pub trait Value {
    /// Sets the value from text. The error says what to give instead.
    fn read(&mut self, text: &str) -> Result<(), String>;

    /// Returns the value as text that [`Value::read`] accepts.
    fn show(&self) -> String;
}

/// The placeholder of a value in a usage line, and a description of the values.
pub type Form = (&'static str, &'static str);

/// The form of the values of a type.
pub trait HasForm {
    /// See [`Form`].
    const FORM: Form;
}

/// Implements [`Value`] for types by a function that parses and one that shows; and [`HasForm`], if a form is given.
macro_rules! values {
    ($($type:ty $([$form:expr])?: $parse:expr, $show:expr;)*) => {$(
        $(impl HasForm for $type {
            const FORM: Form = $form;
        })?

        impl Value for $type {
            fn read(&mut self, text: &str) -> Result<(), String> {
                let parse: fn(&str) -> Result<$type, String> = $parse;
                parse(text).map(|value| *self = value)
            }

            fn show(&self) -> String {
                let show: fn(&$type) -> String = $show;
                show(self)
            }
        }
    )*};
}

pub(crate) use values;

const NUMBER: Form = ("N", "a number");
const NUMBER_OR_NONE: Form = ("N", "a number, or `none`");

values! {
    u32 [NUMBER]: number, u32::to_string;
    u64 [NUMBER]: number, u64::to_string;
    usize [NUMBER]: number, usize::to_string;
    bool [("BOOL", "`true` or `false`")]: truth, bool::to_string;
    Duration [("SECONDS", "seconds")]: duration, seconds;
    Option<u32> [NUMBER_OR_NONE]: |text| optional(text, number), |value| given(value, u32::to_string);
    Option<u64> [NUMBER_OR_NONE]: |text| optional(text, number), |value| given(value, u64::to_string);
    Option<Duration> [("SECONDS", "seconds, or `none`")]: |text| optional(text, duration), |value| given(value, seconds);
    Option<PathBuf> [("FILE", "a file, or `none`")]: path, |value| given(value, |path: &PathBuf| path.display().to_string());
    // A bound or no limit on something that is not counted by default.
    Option<Option<u32>>: |text| optional(text, number).map(Some), |value| value.as_ref().map_or_else(String::new, Value::show);
    NonZero<u32>: positive, NonZero::to_string;
    Option<NonZero<u32>>: |text| optional(text, number), |value| given(value, NonZero::to_string);
    Option<NonZero<u64>>: |text| optional(text, number), |value| given(value, NonZero::to_string);
    Epsilon: probability, Epsilon::to_string;
}

/// A type each of whose values has a name.
pub trait Named: Copy + PartialEq + 'static {
    /// The word for a value in messages.
    const WHAT: &'static str;
    /// Each value with its name.
    const NAMES: &'static [(&'static str, Self)];
}

impl<T: Named> Value for T {
    fn read(&mut self, text: &str) -> Result<(), String> {
        one_of(T::NAMES, T::WHAT, text).map(|one| *self = one)
    }

    fn show(&self) -> String {
        let named = T::NAMES.iter().find(|(_, known)| known == self);
        named.expect("all of them have names").0.to_owned()
    }
}

impl Named for Arrays {
    const WHAT: &'static str = "way to count arrays";
    const NAMES: &'static [(&'static str, Arrays)] = &Arrays::ALL;
}

/// Returns the value of this name.
///
/// # Errors
/// There is no value of this name. The text says which names there are; the errors of the functions below do the same
/// for their values.
pub fn one_of<T: Copy>(all: &[(&str, T)], what: &str, name: &str) -> Result<T, String> {
    let named = all.iter().find(|(known, _)| *known == name);
    named.map(|(_, one)| *one).ok_or_else(|| {
        let known = || all.iter().map(|(known, _)| *known);
        let names: Vec<String> = known().map(|known| format!("`{known}`")).collect();
        let instead = give_instead(name, known(), &names.join(", "));
        let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("`{name}` is not {article} {what}: {instead}")
    })
}

/// Parses a number, which may contain `_`.
///
/// # Errors
/// It is not a number, or it is out of range.
pub fn number<N: FromStr>(value: &str) -> Result<N, String> {
    let problem = |_| match value {
        "" => "no number is given: give digits, as in 10_000".to_owned(),
        _ => format!("`{value}` is not a number in range: give digits, as in 10_000"),
    };
    value.replace('_', "").parse().map_err(problem)
}

/// The minimum and the maximum of the values of a setting.
pub type Range = (u64, u64);

/// Checks that a number is in the range, if there is one.
///
/// # Errors
/// It is not in the range.
pub fn within(range: Option<Range>, value: &str) -> Result<(), String> {
    match range {
        Some((least, most)) if !(least..=most).contains(&number(value)?) => Err(match most {
            u64::MAX => format!("`{value}` is too few: give {least} or more"),
            _ => format!("`{value}` is out of range: give {least} to {most}"),
        }),
        _ => Ok(()),
    }
}

/// Parses a number that is not 0.
fn positive<N: FromStr>(value: &str) -> Result<N, String> {
    within(Some((1, u64::MAX)), value)?;
    number(value)
}

/// Parses a time in seconds.
///
/// # Errors
/// It is not a time.
pub fn duration(value: &str) -> Result<Duration, String> {
    let seconds = value.strip_suffix('s').unwrap_or(value);
    let time = seconds.replace('_', "").parse().ok();
    let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| match value {
        "" => "no time is given: give seconds, as in 2.5".to_owned(),
        _ => format!("`{value}` is not a time: give seconds, as in 2.5"),
    })
}

/// Parses `true` or `false`.
///
/// # Errors
/// It is neither.
pub fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        "" => Err("nothing is given: give `true` or `false`".into()),
        _ => Err(format!("`{value}` is neither `true` nor `false`")),
    }
}

/// Parses a value, or `none`.
///
/// # Errors
/// It is neither.
pub fn optional<T>(text: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    match text {
        NONE => Ok(None),
        _ => parse(text)
            .map(Some)
            .map_err(|problem| format!("{problem}, or `{NONE}`")),
    }
}

/// Parses a file, or `none`.
fn path(value: &str) -> Result<Option<PathBuf>, String> {
    match value {
        "" => Err("no file is given: give a path, or `none`".into()),
        NONE => Ok(None),
        path => Ok(Some(path.into())),
    }
}

fn probability(text: &str) -> Result<Epsilon, String> {
    let number = text.parse().ok().and_then(Epsilon::new);
    number.ok_or_else(|| format!("`{text}` is not a probability: give one between 0 and 1, as in 0.01"))
}

/// Returns a value as text, or `none`.
pub fn given<T>(value: &Option<T>, show: fn(&T) -> String) -> String {
    value.as_ref().map_or_else(|| NONE.into(), show)
}

fn seconds(time: &Duration) -> String {
    time.as_secs_f64().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_between_0_and_1() {
        for (text, shown) in [("0.01", "0.01"), ("1e-6", "0.000001"), ("0.9999994", "0.999999")] {
            assert_eq!(probability(text).unwrap().to_string(), shown);
        }
        for wrong in ["0", "1", "-0.1", "1e-7", "NaN", "inf", "x", ""] {
            assert!(
                probability(wrong).unwrap_err().contains("not a probability"),
                "{wrong}"
            );
        }
        let epsilon = Epsilon::default();
        assert_eq!(
            (epsilon.complement(), Epsilon::of_complement(0.99)),
            (0.99, Some(epsilon))
        );
    }
}
