//! The time of day, for the JSON of a run. Explorations do not depend on it.

use std::time::{Duration, SystemTime};

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// Returns the time in UTC, to the second, as in RFC 3339: `2026-02-28T23:59:59Z`. A time before 1970 is taken for the
/// beginning of 1970.
pub(crate) fn in_utc(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.unwrap_or(Duration::ZERO).as_secs();
    let (year, month, day) = date(seconds / SECONDS_PER_DAY);
    let (minutes, second) = (seconds % SECONDS_PER_DAY / 60, seconds % 60);
    let (hour, minute) = (minutes / 60, minutes % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns the year, the month and the day that come this many days after 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    loop {
        let of_year = if is_leap(year) { 366 } else { 365 };
        if left < of_year {
            break;
        }
        (year, left) = (year + 1, left - of_year);
    }
    let february = if is_leap(year) { 29 } else { 28 };
    for (month, of_month) in (1..).zip([31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
        if left < of_month {
            return (year, month, left + 1);
        }
        left -= of_month;
    }
    unreachable!("a year has twelve months")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_calendars_have_them() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (68_169_599, "1972-02-28T23:59:59Z"),
            (68_169_600, "1972-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(in_utc(time), expected);
        }
        assert_eq!(
            in_utc(SystemTime::UNIX_EPOCH - Duration::from_secs(1)),
            "1970-01-01T00:00:00Z"
        );
    }
}
