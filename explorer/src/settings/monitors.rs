//! Monitors as settings name them: `data-race;leak:rc=false;target/debug/libmine.so:key=value`.

use std::fmt;

/// A monitor to attach, as settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The name of a monitor that ships with intermezzo, or of a plugin; or a plugin's path.
    pub name: String,
    /// Its arguments, which it alone understands; empty for none.
    pub arguments: String,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.arguments.is_empty() {
            write!(f, ":{}", self.arguments)?;
        }
        Ok(())
    }
}

impl Wanted {
    /// Reads a list with `;` between. `none` is no monitor, and takes back those before it.
    ///
    /// # Errors
    /// A name is missing.
    pub(super) fn parse(list: &str) -> Result<Vec<Wanted>, String> {
        let mut all: Vec<Wanted> = Vec::new();
        for one in list.split(';').map(str::trim).filter(|one| !one.is_empty()) {
            let (name, arguments) = split(one);
            if name.is_empty() {
                return Err(format!("`{one}`: there is no name before the colon"));
            }
            if one == "none" {
                all.clear();
                continue;
            }
            all.push(Wanted {
                name: name.into(),
                arguments: arguments.into(),
            });
        }
        Ok(all)
    }
}

/// A list as it is read.
pub(super) fn list(all: &[Wanted]) -> String {
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    names.join(";")
}

/// Name and arguments. The colon of a drive (`C:\monitors\mine.dll`) is none.
fn split(one: &str) -> (&str, &str) {
    let bytes = one.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    let from = if drive { 2 } else { 0 };
    match one[from..].find(':') {
        Some(colon) => (one[..from + colon].trim(), one[from + colon + 1..].trim()),
        None => (one, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_shown() {
        let shown = |list| {
            let all = Wanted::parse(list)?;
            Ok::<_, String>(all.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        for (list, all) in [
            ("", &[][..]),
            ("none", &[]),
            ("a;none;b;b", &["b", "b"]),
            (" a ; b:c=d , e=f:g; ", &["a", "b:c=d , e=f:g"]),
            ("C:\\mine.dll:x=1;./lib.so:", &["C:\\mine.dll:x=1", "./lib.so"]),
        ] {
            assert_eq!(shown(list).unwrap(), all, "{list}");
        }
        assert!(shown(":x=1").unwrap_err().contains("no name"));
    }
}
