//! Names like the one that there is not.

/// Most names to suggest: a line's worth.
const SUGGESTIONS_MAX: usize = 3;

/// `did you mean `counter`? `, with a space behind it, or nothing.
pub(crate) fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let near: Vec<String> = near(wanted, names)
        .iter()
        .map(|name| format!("`{name}`"))
        .collect();
    if near.is_empty() {
        String::new()
    } else {
        format!("did you mean {}? ", near.join(" or "))
    }
}

/// The names nearest to `wanted`, nearest first: those that are a few typing errors away, or contain it.
fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // A third of the letters wrong is still a typing error; more is another word.
    let typing_errors_max = (wanted.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let errors = edits(wanted, name);
            let contains = wanted.chars().count() > 2 && name.contains(wanted);
            (errors <= typing_errors_max || contains).then_some((errors, name))
        })
        .collect();
    near.sort();
    near.into_iter()
        .map(|(_, name)| name)
        .take(SUGGESTIONS_MAX)
        .collect()
}

/// Insertions, deletions and replacements that turn one into the other (Levenshtein's distance).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (done, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = done + 1;
        for (at, &other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["counter", "work_stealing_queue", "work_stealing_queue_fixed"];

    #[test]
    fn near_names_are_suggested() {
        for (wanted, suggested) in [
            ("conter", vec!["counter"]),
            ("work-stealing-queue", vec!["work_stealing_queue"]),
            (
                "stealing",
                vec!["work_stealing_queue", "work_stealing_queue_fixed"],
            ),
            ("deadlock", vec![]),
            ("", vec![]),
            ("c", vec![]),
        ] {
            assert_eq!(near(wanted, NAMES.into_iter()), suggested, "{wanted}");
        }
        assert_eq!(
            did_you_mean("conter", NAMES.into_iter()),
            "did you mean `counter`? "
        );
        assert_eq!(did_you_mean("zebra", NAMES.into_iter()), "");
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(
            [edits("", "abc"), edits("kitten", "sitting"), edits("ab", "ab")],
            [3, 3, 0]
        );
    }
}
