//! Values of settings as text.

use intermezzo_engine::suggest::give_instead;
use std::path::{Path, PathBuf};
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
    named.map(|&(_, one)| one).ok_or_else(|| {
        let names = all.each_ref().map(|(name, _)| format!("`{name}`")).join(", ");
        let instead = give_instead(name, all.iter().map(|(known, _)| *known), &names);
        format!("`{name}` is no {what}: {instead}")
    })
}

/// Returns the name of this value.
pub(super) fn name_of<T: Copy + PartialEq, const N: usize>(all: &[(&str, T); N], one: T) -> String {
    let named = all.iter().find(|(_, known)| *known == one);
    named.expect("all of them have names").0.to_owned()
}

pub(super) fn number<N: std::str::FromStr>(value: &str) -> Result<N, String> {
    value
        .replace('_', "")
        .parse()
        .map_err(|_| format!("`{value}` is no number in range: give digits, as in 10_000"))
}

pub(super) fn duration(value: &str) -> Result<Duration, String> {
    let seconds = value.strip_suffix('s').unwrap_or(value);
    let problem = || format!("`{value}` is no time: give seconds, as in 2.5");
    Duration::try_from_secs_f64(seconds.replace('_', "").parse().map_err(|_| problem())?)
        .map_err(|_| problem())
}

/// Parses a limit of time; the result is `None` for `auto`.
pub(super) fn time(value: &str) -> Result<Option<Duration>, String> {
    match value {
        "auto" => Ok(None),
        NONE => Ok(Some(Duration::MAX)),
        _ => duration(value).map(Some),
    }
}

pub(super) fn truth(value: &str) -> Result<bool, String> {
    match value {
        "true" | "1" | "on" | "yes" => Ok(true),
        "false" | "0" | "off" | "no" => Ok(false),
        _ => Err(format!("`{value}` is neither `true` nor `false`")),
    }
}

pub(super) fn optional<T>(value: &str, parse: fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == NONE {
        Ok(None)
    } else {
        parse(value).map(Some)
    }
}

pub(super) fn given(value: Option<impl ToString>) -> String {
    value.map_or_else(|| NONE.into(), |value| value.to_string())
}

pub(super) fn file(path: Option<&Path>) -> String {
    given(path.map(Path::display))
}

/// Parses a file, or `none`.
pub(super) fn path(value: &str) -> Result<Option<PathBuf>, String> {
    match value {
        "" => Err("no file is given: give a path, or `none`".into()),
        NONE => Ok(None),
        path => Ok(Some(path.into())),
    }
}
