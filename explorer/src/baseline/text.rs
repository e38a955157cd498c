//! The text of a baseline.

use super::{Baseline, FORMAT, KnownFinding};
use crate::settings::toml_text::{Reader, in_order};
use crate::settings::{ConfigError, did_you_mean};
use std::path::Path;
use toml::de::{DeTable, DeValue};

const WRITE_AGAIN: &str = "write the file again, with `--update-baseline`";

/// Parses a file's text.
///
/// # Errors
/// See [`Baseline::parse`].
pub(super) fn parse(path: &Path, text: &str) -> Result<Baseline, ConfigError> {
    let reader = Reader { path, text };
    let document = DeTable::parse(text).map_err(|error| {
        let problem = format!("{}: correct this line, or {WRITE_AGAIN}", error.message());
        reader.error(error.span().unwrap_or_default(), problem)
    })?;
    let (mut baseline, mut has_format) = (Baseline::default(), false);
    for (key, value) in in_order(document.get_ref()) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("format", DeValue::String(format)) if format == FORMAT => has_format = true,
            ("format", _) => {
                let problem = format!("the format is not {FORMAT:?}: {WRITE_AGAIN}");
                return Err(reader.error(value.span(), problem));
            }
            ("known", DeValue::Array(all)) => {
                for entry in all {
                    let DeValue::Table(table) = entry.get_ref() else {
                        let problem = "a finding is `{ test = \"..\", kind = \"..\", at = [..] }`";
                        return Err(reader.error(entry.span(), problem.into()));
                    };
                    let known = reader.known(table, entry.span())?;
                    baseline.known.insert(known);
                }
            }
            ("known", _) => {
                return Err(reader.error(value.span(), "`known` is a list of findings".into()));
            }
            (other, _) => {
                let hint = did_you_mean(other, ["format", "known"].into_iter());
                let problem =
                    format!("`{other}`: a baseline has no such key; {hint}there are: format, known");
                return Err(reader.error(key.span(), problem));
            }
        }
    }
    match has_format {
        true => Ok(baseline),
        false => {
            let problem =
                format!("this is not a baseline, as `format = {FORMAT:?}` is missing: {WRITE_AGAIN}");
            Err(reader.error(0..0, problem))
        }
    }
}

impl Reader<'_> {
    fn known(&self, table: &DeTable<'_>, whole: std::ops::Range<usize>) -> Result<KnownFinding, ConfigError> {
        const KEYS: [&str; 4] = ["test", "in", "kind", "at"];
        let (mut test, mut binary, mut kind, mut at) = (None, None, None, None);
        for (key, value) in in_order(table) {
            let name = key.get_ref().as_ref();
            let text = match value.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            };
            match (name, text, value.get_ref()) {
                ("test", Some(text), _) => test = Some(text),
                ("in", Some(text), _) => binary = Some(text),
                ("kind", Some(text), _) => kind = Some(text),
                ("at", _, DeValue::Array(places)) => {
                    let text = |place: &toml::Spanned<DeValue<'_>>| match place.get_ref() {
                        DeValue::String(text) => Ok(text.to_string()),
                        _ => Err(self.error(place.span(), "a place is a text".into())),
                    };
                    at = Some(places.iter().map(text).collect::<Result<_, _>>()?);
                }
                ("at", ..) => return Err(self.error(value.span(), "`at` is a list of texts".into())),
                (name, ..) if KEYS.contains(&name) => {
                    return Err(self.error(value.span(), format!("`{name}` is a text")));
                }
                (other, ..) => {
                    let hint = did_you_mean(other, KEYS.into_iter());
                    let problem = format!(
                        "`{other}`: a finding has no such key; {hint}there are: {}",
                        KEYS.join(", ")
                    );
                    return Err(self.error(key.span(), problem));
                }
            }
        }
        match (test, kind) {
            (Some(test), Some(kind)) => Ok(KnownFinding {
                test,
                binary: binary.unwrap_or_default(),
                kind,
                at: at.unwrap_or_default(),
            }),
            (None, _) => Err(self.error(whole, "a finding without its `test`".into())),
            (_, None) => Err(self.error(whole, "a finding without its `kind`".into())),
        }
    }
}
