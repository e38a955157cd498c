//! Foreign data: files, which may be anything, and their text in messages.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The size of the largest file that is read as a whole: larger than any that intermezzo writes, and a bound on the
/// cost of `/dev/zero` or a wrong path.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The longest quotation of foreign text in a message, in characters: about a line.
const QUOTED_CHARS_MAX: usize = 80;

/// Returns the file's bytes.
///
/// # Errors
/// If it cannot be read, or is larger than 256 MiB.
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

/// Returns `text` in quotation marks, escaped and cut: a message must not contain escape sequences for a terminal, or a
/// page of a broken file.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

/// Returns `text` without control characters, and cut: for error messages of libraries, which quote the input.
pub fn printable(text: &str) -> String {
    let shown = text
        .chars()
        .map(|char| if char.is_control() { '\u{fffd}' } else { char });
    // Twice the length of a quotation, because the library's own words need room, too.
    shown.take(2 * QUOTED_CHARS_MAX).collect()
}
