//! The limits of real time of an execution, as a setting: `10`, or `10,execution=60`.

use super::value::{Value, duration};
use std::time::Duration;

/// The values of the setting, for people.
pub(super) const VALUES: &str =
    "seconds, or `none`; `10,execution=60` also ends an execution that takes longer than a minute";

/// A word before the limit of an execution.
const EXECUTION: &str = "execution=";

/// Parses the limit for a task without a visible operation, and the one for an execution.
///
/// # Errors
/// It is neither; the text says what would be right.
pub(super) fn parse(text: &str) -> Result<(Option<Duration>, Option<Duration>), String> {
    let limit = |text: &str| match text.trim() {
        "none" => Ok(None),
        seconds => duration(seconds).map(Some),
    };
    match text.split_once(',') {
        None => Ok((limit(text)?, None)),
        Some((hang, execution)) => match execution.trim().strip_prefix(EXECUTION) {
            Some(execution) => Ok((limit(hang)?, limit(execution)?)),
            None => Err(format!(
                "`{}` is no limit of an execution: give seconds, as in `{},execution=60`",
                execution.trim(),
                hang.trim()
            )),
        },
    }
}

/// Returns the setting as text that `parse` takes.
pub(super) fn show(hang: Option<Duration>, execution: Option<Duration>) -> String {
    match execution {
        None => hang.show(),
        Some(execution) => format!("{},{EXECUTION}{}", hang.show(), execution.show()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_are_read_and_shown() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (text, limits) in [
            ("10", (seconds(10), None)),
            ("none", (None, None)),
            ("10,execution=60", (seconds(10), seconds(60))),
            ("none,execution=60", (None, seconds(60))),
        ] {
            assert_eq!(parse(text), Ok(limits));
            assert_eq!(show(limits.0, limits.1), text);
        }
        assert_eq!(parse("10, execution=none"), Ok((seconds(10), None)));
        assert!(parse("10,60").unwrap_err().contains("`10,execution=60`"));
        assert!(parse("soon").unwrap_err().contains("give seconds"));
    }
}
