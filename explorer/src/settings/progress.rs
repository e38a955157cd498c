//! The lines about the progress of a search, as a setting: how often there is one, and from which execution on.

use super::value::duration;
use std::fmt;
use std::time::Duration;

/// The values of the setting, for people.
pub(super) const VALUES: &str =
    "seconds between two lines, or `none`; `5,from=1000` begins after 1000 executions";

/// A word before the number of executions.
const FROM: &str = "from=";

/// The lines about the progress of a search on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressLines {
    /// The time between two lines; `None` for no lines.
    pub every: Option<Duration>,
    /// The number of executions from which on there are lines.
    pub from: u64,
}

impl ProgressLines {
    /// Parses the setting.
    ///
    /// # Errors
    /// It is none; the text says what would be right.
    pub(super) fn parse(text: &str) -> Result<ProgressLines, String> {
        if text == "none" {
            return Ok(ProgressLines::default());
        }
        let (every, from) = match text.split_once(',') {
            None => (text, 0),
            Some((every, from)) => {
                let number = from.trim().strip_prefix(FROM);
                let number = number.and_then(|number| number.replace('_', "").parse().ok());
                let wrong = || {
                    format!(
                        "`{}` is no number of executions: give it as in `{},from=1000`",
                        from.trim(),
                        every.trim()
                    )
                };
                (every, number.ok_or_else(wrong)?)
            }
        };
        let every = Some(duration(every.trim())?);
        Ok(ProgressLines { every, from })
    }
}

impl fmt::Display for ProgressLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.every {
            None => f.write_str("none"),
            Some(every) if self.from == 0 => write!(f, "{}", every.as_secs_f64()),
            Some(every) => write!(f, "{},{FROM}{}", every.as_secs_f64(), self.from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_often_is_read_and_shown() {
        for text in ["none", "5", "0.5", "5,from=1000"] {
            assert_eq!(ProgressLines::parse(text).unwrap().to_string(), text);
        }
        for (wrong, says) in [
            ("soon", "give seconds"),
            ("5,1000", "`5,from=1000`"),
            ("5,from=x", "`5,from=1000`"),
        ] {
            assert!(ProgressLines::parse(wrong).unwrap_err().contains(says), "{wrong}");
        }
    }
}
