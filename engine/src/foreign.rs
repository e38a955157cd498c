//! What comes from outside: files, which may be anything, and their text, as messages have it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest file that is read as a whole: more than any of ours has, and a bound on what `/dev/zero` or a wrong path can cost.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Longest quotation of foreign text in a message, in characters: a line's worth.
const QUOTED_CHARS_MAX: usize = 80;

/// Returns the file's bytes.
///
/// # Errors
/// It cannot be read, or has more than 256 MiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let mebibytes = FILE_BYTES_MAX >> 20;
        return Err(io::Error::other(format!("it has more than {mebibytes} MiB")));
    }
    Ok(bytes)
}

/// `text` in quotation marks, escaped and cut: no message carries a terminal's escape sequence, or a page of a broken file.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

/// `text` without control characters, and cut: for reasons given by others, which quote the input.
pub fn printable(text: &str) -> String {
    let shown = text
        .chars()
        .map(|char| if char.is_control() { '\u{fffd}' } else { char });
    // Twice a quotation: the reason's own words need room too.
    shown.take(2 * QUOTED_CHARS_MAX).collect()
}
