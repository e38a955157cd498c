//! Values of settings as text.

use intermezzo_engine::suggest::give_instead;
use std::path::PathBuf;
use std::time::Duration;

/// The value of a setting that has none.
const NONE: &str = "none";

/// Returns the value of this name.
pub(super) fn one_of<T: Copy, const N: usize>(
    all: &[(&str, T); N],
    what: &str,
    name: &str,
) -> Result<T, String> {
    let named = all.iter().find(|(known, _)| *known == name);
    let known = || all.each_ref().map(|(known, _)| *known);
    named
        .map(|&(_, one)| one)
        .ok_or_else(|| none_of(&known(), what, name))
}

/// Returns the problem of a name that is none of those known.
fn none_of(known: &[&str], what: &str, name: &str) -> String {
    let names: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
    let instead = give_instead(name, known.iter().copied(), &names.join(", "));
    format!("`{name}` is no {what}: {instead}")
}

/// Returns the name of this value.
pub(super) fn name_of<T: Copy + PartialEq, const N: usize>(all: &[(&str, T); N], one: T) -> String {
    let named = all.iter().find(|(_, known)| *known == one);
    named.expect("all of them have names").0.to_owned()
}

pub(super) fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    let problem = |_| match value {
        "" => "no number is given: give digits, as in 10_000".to_owned(),
        _ => format!("`{value}` is no number in range: give digits, as in 10_000"),
    };
    value.replace('_', "").parse().map_err(problem)
}

/// The least and the greatest number that a setting may be.
pub(super) type Range = (u64, u64);

/// Checks that a number is in its range, if it has one.
pub(super) fn within(range: Option<Range>, value: &str) -> Result<(), String> {
    match range {
        Some((least, most)) if !(least..=most).contains(&number(value)?) => Err(match most {
            u64::MAX => format!("`{value}` is too few: give {least} or more"),
            _ => format!("`{value}` is out of range: give {least} to {most}"),
        }),
        _ => Ok(()),
    }
}

pub(super) fn duration(value: &str) -> Result<Duration, String> {
    let seconds = value.strip_suffix('s').unwrap_or(value);
    let problem = || match value {
        "" => "no time is given: give seconds, as in 2.5".to_owned(),
        _ => format!("`{value}` is no time: give seconds, as in 2.5"),
    };
    Duration::try_from_secs_f64(seconds.replace('_', "").parse().map_err(|_| problem())?)
        .map_err(|_| problem())
}

pub(super) fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        "" => Err("nothing is given: give `true` or `false`".into()),
        _ => Err(format!("`{value}` is neither `true` nor `false`")),
    }
}

/// Parses a file, or `none`.
pub(super) fn path(value: &str) -> Result<Option<PathBuf>, String> {
    match value {
        "" => Err("no file is given: give a path, or `none`".into()),
        NONE => Ok(None),
        path => Ok(Some(path.into())),
    }
}

/// The placeholder of a value in a usage line, and the values in words.
pub(super) type Form = (&'static str, &'static str);

/// The value of a setting, or of a member of one, where its type says how it is written.
pub(super) trait Value {
    /// Takes the value from text; the error says what would be right.
    fn read(&mut self, text: &str) -> Result<(), String>;

    /// Returns it as text that [`Value::read`] takes.
    fn show(&self) -> String;
}

/// The form of the values of a type.
pub(super) trait HasForm {
    const FORM: Form;
}

/// Implements both for types, by their form, a function that parses, and one that shows.
macro_rules! values {
    ($($type:ty: $form:expr, $parse:expr, $show:expr;)*) => {$(
        impl HasForm for $type {
            const FORM: Form = $form;
        }

        impl Value for $type {
            fn read(&mut self, text: &str) -> Result<(), String> {
                $parse(text).map(|value| *self = value)
            }

            fn show(&self) -> String {
                $show(self)
            }
        }
    )*};
}

const NUMBER: Form = ("N", "a number");
const NUMBER_OR_NONE: Form = ("N", "a number, or `none`");

values! {
    u32: NUMBER, number, u32::to_string;
    u64: NUMBER, number, u64::to_string;
    usize: NUMBER, number, usize::to_string;
    bool: ("BOOL", "`true` or `false`"), truth, bool::to_string;
    Duration: ("SECONDS", "seconds"), duration, seconds;
    Option<u32>: NUMBER_OR_NONE, |text| optional(text, number), |value| given(value, u32::to_string);
    Option<u64>: NUMBER_OR_NONE, |text| optional(text, number), |value| given(value, u64::to_string);
    Option<Duration>: ("SECONDS", "seconds, or `none`"), |text| optional(text, duration), |value| given(value, seconds);
    Option<PathBuf>: ("FILE", "a file, or `none`"), path, |value| given(value, |path: &PathBuf| path.display().to_string());
}

fn seconds(time: &Duration) -> String {
    time.as_secs_f64().to_string()
}

pub(super) fn optional<T>(text: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    match text {
        NONE => Ok(None),
        _ => parse(text)
            .map(Some)
            .map_err(|problem| format!("{problem}, or `{NONE}`")),
    }
}

fn given<T>(value: &Option<T>, show: fn(&T) -> String) -> String {
    value.as_ref().map_or_else(|| NONE.into(), show)
}
