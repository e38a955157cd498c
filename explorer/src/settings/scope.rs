//! Lists of places as settings: where tasks are preempted, and which accesses to plain memory are schedule points.

use intermezzo_engine::scope::Scope;
use intermezzo_engine::sites::Sites;

/// The scope without limits.
const EVERYWHERE: &str = "everywhere";

/// The accesses of data races, in a list of places.
const RACES: &str = "races";

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

/// Parses a list in which `!` stands before places to leave out. Returns the places where tasks are preempted, empty for
/// everywhere, and those where they are not.
pub(super) fn parse(text: &str) -> Result<(Scope, Scope), String> {
    if text == EVERYWHERE {
        return Ok(Default::default());
    }
    let (not_in, only_in): (Vec<&str>, Vec<&str>) = entries(text).partition(|entry| entry.starts_with('!'));
    let not_in: Vec<&str> = not_in.iter().map(|entry| entry[1..].trim()).collect();
    if let Some(word) = only_in.iter().find(|entry| [EVERYWHERE, "none"].contains(*entry)) {
        return Err(format!(
            "`{word}` is not a place: give `{EVERYWHERE}` alone, or only places after a `!`, as in `!slots.rs`"
        ));
    }
    if not_in.contains(&"") {
        return Err("`!` stands before a place: give `!slots.rs`".into());
    }
    Ok((
        Scope::parse(&only_in.join(","))?,
        Scope::parse(&not_in.join(","))?,
    ))
}

/// Returns such a list as text.
pub(super) fn show(only_in: &Scope, not_in: &Scope) -> String {
    let only_in = (0..only_in.len()).map(|at| only_in.entry(at).to_string());
    let not_in = (0..not_in.len()).map(|at| format!("!{}", not_in.entry(at)));
    let all: Vec<String> = only_in.chain(not_in).collect();
    match all.as_slice() {
        [] => EVERYWHERE.into(),
        // A module of that name.
        [one] if one == EVERYWHERE => format!("crate::{EVERYWHERE}"),
        all => all.join(", "),
    }
}

/// Parses places in the source, among which `races` may be.
pub(super) fn parse_data_points(text: &str) -> Result<(Sites, bool), String> {
    if text == "none" {
        return Ok((Sites::default(), false));
    }
    let (races, places): (Vec<&str>, Vec<&str>) = entries(text).partition(|entry| *entry == RACES);
    Ok((Sites::parse(&places.join(","))?, !races.is_empty()))
}

/// Returns such a list as text.
pub(super) fn show_data_points(sites: &Sites, races: bool) -> String {
    let races = if races { RACES } else { "" };
    match (sites.is_empty(), races) {
        (true, "") => "none".into(),
        (true, races) => races.into(),
        (false, "") => sites.to_string(),
        (false, races) => format!("{sites}, {races}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_shown_as_they_are_read() {
        for (text, shown) in [
            ("", "everywhere"),
            ("everywhere", "everywhere"),
            ("a::b, ! slots.rs,atomic 0.2", "a::b, atomic 0.2, !slots.rs"),
            ("!ring.rs", "!ring.rs"),
            ("crate::everywhere", "crate::everywhere"),
        ] {
            let (only_in, not_in) = parse(text).unwrap();
            assert_eq!(show(&only_in, &not_in), shown);
            assert_eq!(parse(shown).unwrap(), (only_in, not_in));
        }
        for (text, shown) in [
            ("none", "none"),
            ("", "none"),
            ("races", "races"),
            ("races,ring.rs:12", "ring.rs:12, races"),
            ("a/ring.rs:12:5", "a/ring.rs:12:5"),
        ] {
            let (sites, races) = parse_data_points(text).unwrap();
            assert_eq!(show_data_points(&sites, races), shown);
            assert_eq!(parse_data_points(shown).unwrap(), (sites, races));
        }
        for wrong in ["!", "none", "everywhere,!ring.rs"] {
            assert!(parse(wrong).unwrap_err().contains("!slots.rs"), "{wrong}");
        }
        assert!(parse("!a b").unwrap_err().contains("not a path"));
        assert!(
            parse_data_points("ring.rs")
                .unwrap_err()
                .contains("give file and line")
        );
    }
}
