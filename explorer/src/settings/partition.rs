//! The share of a search that this process explores, as a setting: `3/8`, or what a scheduler of jobs says.

use intermezzo_engine::strategy::Partition;
use std::env;

/// The values of the setting, for people.
pub(super) const VALUES: &str = "`3/8` for the third of eight; `3/8.1/4` for the first quarter of that; `auto` for CI_NODE_INDEX and CI_NODE_TOTAL (GitLab); `auto/8` \
                                 for the JOB_COMPLETION_INDEX of eight (Kubernetes); or `none`";

/// The index of an indexed job of Kubernetes, from 0. Nothing says how many there are.
const COMPLETION_INDEX: &str = "JOB_COMPLETION_INDEX";

/// The index of a parallel job of GitLab, from 1, and the number of these jobs: 1 for a job that is not parallel, which
/// has no index.
const NODE_INDEX: &str = "CI_NODE_INDEX";
const NODE_TOTAL: &str = "CI_NODE_TOTAL";

/// Parses a share.
///
/// # Errors
/// If it is not a share, or the environment does not say which share it is. The text says what would be valid.
pub(super) fn parse(text: &str) -> Result<Option<Partition>, String> {
    parse_with(text, &|name| {
        env::var(name).ok().filter(|value| !value.is_empty())
    })
}

fn parse_with(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Partition>, String> {
    match text.strip_prefix("auto") {
        _ if text == "none" => Ok(None),
        Some("") => automatic(None, variable).map(Some),
        Some(total) if total.starts_with('/') => {
            let total = total[1..].parse();
            let total =
                total.map_err(|_| format!("`{text}` is not a share: give a number, as in `auto/8`"))?;
            automatic(Some(total), variable).map(Some)
        }
        _ => text.parse().map(Some),
    }
}

/// Returns the share that the environment names, of `total` shares if that is given.
fn automatic(total: Option<u32>, variable: &dyn Fn(&str) -> Option<String>) -> Result<Partition, String> {
    let number = |name: &str| match variable(name) {
        None => Ok(None),
        Some(value) => match value.parse::<u32>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!(
                "the variable {name} is {value:?}, which is not a number: give the share, as in `3/8`"
            )),
        },
    };
    let (completion, index, jobs) = (
        number(COMPLETION_INDEX)?,
        number(NODE_INDEX)?,
        number(NODE_TOTAL)?,
    );
    let of_job = match (index, jobs) {
        (Some(index), Some(jobs)) => Some((index, jobs)),
        // A job that is not parallel.
        (None, Some(1)) => Some((1, 1)),
        _ => None,
    };
    match (completion, of_job, total) {
        (Some(_), Some((_, 2..)), _) => Err(format!(
            "both {COMPLETION_INDEX} and {NODE_INDEX} are set, and each may name the share: give it, as in `3/8`"
        )),
        (Some(index), _, Some(total)) => Partition::new(index.saturating_add(1), total),
        (Some(_), _, None) => Err(format!(
            "{COMPLETION_INDEX} says which share this is, and nothing says of how many: give the number, as in `auto/8`"
        )),
        (None, Some((_, jobs)), Some(total)) if jobs != total => Err(format!(
            "{NODE_TOTAL} says that there are {jobs} jobs, and not {total}: give `auto`"
        )),
        (None, Some((index, jobs)), _) => Partition::new(index, jobs),
        (None, None, _) => Err(format!(
            "nothing says which share this is: {NODE_INDEX} and {NODE_TOTAL} are not both set, and neither is \
             {COMPLETION_INDEX}; give it, as in `3/8`"
        )),
    }
}

/// Returns the share as text that [`parse`] takes.
pub(super) fn show(partition: Option<Partition>) -> String {
    partition.map_or_else(|| "none".into(), |partition| partition.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variable = |name: &str| {
            let set = variables.iter().find(|(known, _)| *known == name);
            set.map(|(_, value)| (*value).to_owned())
        };
        parse_with(text, &variable).map(show)
    }

    #[test]
    fn shares_are_named_by_number_or_by_the_environment() {
        let (k8s, gitlab) = ([(COMPLETION_INDEX, "2")], [(NODE_INDEX, "3"), (NODE_TOTAL, "8")]);
        assert_eq!(parsed("3/8", &[]), Ok("3/8".into()));
        assert_eq!(parsed("none", &gitlab), Ok("none".into()));
        // Kubernetes counts from 0, and GitLab from 1.
        assert_eq!(parsed("auto/8", &k8s), Ok("3/8".into()));
        assert_eq!(parsed("auto", &gitlab), Ok("3/8".into()));
        assert_eq!(parsed("auto/8", &gitlab), Ok("3/8".into()));
        // A job of GitLab that is not parallel.
        assert_eq!(parsed("auto", &[(NODE_TOTAL, "1")]), Ok("1/1".into()));
        // In a runner's pod.
        assert_eq!(
            parsed("auto/8", &[(NODE_TOTAL, "1"), (COMPLETION_INDEX, "2")]),
            Ok("3/8".into())
        );
    }

    #[test]
    fn what_names_no_share_says_why() {
        let both = [(NODE_INDEX, "3"), (NODE_TOTAL, "8"), (COMPLETION_INDEX, "2")];
        for (text, variables, says) in [
            ("auto", &[][..], "give it, as in `3/8`"),
            (
                "auto",
                &[(COMPLETION_INDEX, "2")],
                "give the number, as in `auto/8`",
            ),
            ("auto", &[(NODE_INDEX, "3")], "are not both set"),
            (
                "auto",
                &both,
                "both JOB_COMPLETION_INDEX and CI_NODE_INDEX are set",
            ),
            ("auto/4", &both[..2], "there are 8 jobs, and not 4"),
            ("auto/8", &[(COMPLETION_INDEX, "8")], "there is no share 9 of 8"),
            (
                "auto",
                &[(NODE_INDEX, "x"), (NODE_TOTAL, "8")],
                "CI_NODE_INDEX is \"x\"",
            ),
            ("auto/x", &both, "as in `auto/8`"),
            ("automatic", &both, "is not a share"),
            ("4/3", &[], "numbered from 1 to 3"),
        ] {
            let problem = parsed(text, variables).unwrap_err();
            assert!(problem.contains(says), "{text}: {problem}");
        }
    }
}
