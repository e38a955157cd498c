//! Suggestions of names similar to an unknown one.

/// The maximum number of names to suggest: about a line.
const SUGGESTIONS_MAX: usize = 3;

/// Returns the question `` did you mean `counter`? ``, followed by a space, or nothing.
pub fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    // Kept small, because generic code is compiled again for each caller.
    question(&near(wanted, names.collect()))
}

/// Returns the question for these names, followed by a space, or nothing.
fn question(near: &[&str]) -> String {
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    if near.is_empty() {
        String::new()
    } else {
        format!("did you mean {}? ", near.join(" or "))
    }
}

/// Returns what to give instead of an unknown name: similar names, if there are any, and then all names.
pub fn give_instead<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, all: &str) -> String {
    match did_you_mean(wanted, names) {
        none if none.is_empty() => format!("give {all}"),
        near => format!("{near}There is {all}"),
    }
}

/// Returns the names nearest to `wanted`, nearest first: those that are a few typing errors away, or contain it. If
/// there are none, returns those with a word that is a few typing errors away.
fn near<'a>(wanted: &str, names: Vec<&'a str>) -> Vec<&'a str> {
    let letters = wanted.chars().count();
    // A third of the letters wrong is still a typing error; more is another word.
    let typing_errors_max = (letters / 3).max(1);
    // Two letters in the wrong order are one error.
    let is_near = |name: &str| distance(wanted, name) <= typing_errors_max;
    // One or two letters occur in too many names.
    let is_word = letters > 2;
    let is_in = |name: &str| is_near(name) || is_word && name.contains(wanted);
    let has_near = |name: &str| is_word && name.split(['-', '_']).any(is_near);
    let (mut near, others): (Vec<&str>, Vec<&str>) = names.into_iter().partition(|name| is_in(name));
    if near.is_empty() {
        near = others.into_iter().filter(|name| has_near(name)).collect();
    }
    near.sort_by_key(|name| (distance(wanted, name), *name));
    near.truncate(SUGGESTIONS_MAX);
    near
}

/// Returns the number of typing errors between two names: letters that are missing, too many or wrong, and neighbours
/// in the wrong order (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    // The distances of all beginnings, a row for each of `a`.
    let mut all: Vec<usize> = (0..(a.len() + 1) * width)
        .map(|at| at / width + at % width)
        .collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let wrong = usize::from(a[i - 1] != b[j - 1]);
            let here = i * width + j;
            let mut least = all[here - width] + 1;
            least = least.min(all[here - 1] + 1);
            least = least.min(all[here - width - 1] + wrong);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(all[here - 2 * width - 2] + 1);
            }
            all[here] = least;
        }
    }
    all[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["counter", "work_stealing_queue", "work_stealing_queue_fixed"];

    #[test]
    fn errors_are_counted() {
        for (a, b, errors) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("abc", "acb", 1),
            ("ca", "abc", 3),
            ("kitten", "sitting", 3),
            ("damerau", "aderua", 3),
            ("ö", "o", 1),
        ] {
            assert_eq!(distance(a, b), errors, "{a} {b}");
            assert_eq!(distance(b, a), errors, "{b} {a}");
        }
    }

    #[test]
    fn near_names_are_suggested() {
        for (wanted, suggested) in [
            ("conter", vec!["counter"]),
            ("work-stealing-queue", vec!["work_stealing_queue"]),
            (
                "stealing",
                vec!["work_stealing_queue", "work_stealing_queue_fixed"],
            ),
            ("cuonter", vec!["counter"]),
            ("qeuue", vec!["work_stealing_queue", "work_stealing_queue_fixed"]),
            ("deadlock", vec![]),
            ("", vec![]),
            ("c", vec![]),
        ] {
            assert_eq!(near(wanted, NAMES.to_vec()), suggested, "{wanted}");
        }
        assert_eq!(
            did_you_mean("conter", NAMES.into_iter()),
            "did you mean `counter`? "
        );
        assert_eq!(did_you_mean("zebra", NAMES.into_iter()), "");
        assert_eq!(
            give_instead("conter", NAMES.into_iter(), "`counter` or none"),
            "did you mean `counter`? There is `counter` or none"
        );
        assert_eq!(give_instead("zebra", NAMES.into_iter(), "one"), "give one");
    }
}
