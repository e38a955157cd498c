//! Numbers with their nouns, for messages.

/// Returns a number with its noun: `1 execution`, `2 executions`, `2 switches`.
pub fn count(number: u64, word: &str) -> String {
    format!("{number} {}", plural(number, word))
}

/// Returns a duration: `1 second`, `0.5 seconds`.
pub fn seconds(duration: std::time::Duration) -> String {
    let seconds = duration.as_secs_f64();
    let noun = plural(u64::from(seconds != 1.0) + 1, "second");
    format!("{seconds} {noun}")
}

/// Returns the noun that goes with this number: `execution`, `executions`, `switches`.
pub fn plural(count: u64, word: &str) -> String {
    match word {
        _ if count == 1 => word.to_owned(),
        word if word.ends_with("ch") => format!("{word}es"),
        word => format!("{word}s"),
    }
}
