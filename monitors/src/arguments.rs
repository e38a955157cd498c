//! Options of monitors as text: `key=value,key=value`.

/// Hands each option of the text to `set`, which is told key and value and answers what is wrong with the value, or
/// `None` where there is no such key.
///
/// # Errors
/// An entry is not of that form, its key is not one of `known`, or `set` objects to its value.
pub(crate) fn parse(
    arguments: &str,
    known: &[&str],
    mut set: impl FnMut(&str, &str) -> Option<Result<(), String>>,
) -> Result<(), String> {
    let entries = arguments.split(',').map(str::trim);
    for entry in entries.filter(|entry| !entry.is_empty()) {
        let (key, value) = entry
            .split_once('=')
            .ok_or_else(|| format!("`{entry}` sets nothing: write key=value"))?;
        match set(key.trim(), value.trim()) {
            Some(done) => done.map_err(|problem| format!("{entry}: {problem}"))?,
            None => {
                return Err(format!(
                    "there is no option `{}`: there is {}",
                    key.trim(),
                    known.join(", ")
                ));
            }
        }
    }
    Ok(())
}

/// Something that is so or not.
///
/// # Errors
/// It is neither `true` nor `false`.
pub(crate) fn yes_or_no(value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| "give `true` or `false`".into())
}
