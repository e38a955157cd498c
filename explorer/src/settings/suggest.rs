//! Names like the one that there is not.

/// Most names to suggest: a line's worth.
const SUGGESTIONS_MAX: usize = 3;

/// `did you mean `counter`? `, with a space behind it, or nothing.
pub fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
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
            let errors = strsim::levenshtein(wanted, name);
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
}
