//! Settings with members: `1000,time=60` is a number of executions, and a limit of time.
//!
//! A text changes only the parts that it names: `time=60` does not change the number of executions.

use super::Settings;
use intermezzo_engine::suggest::did_you_mean;
use intermezzo_search::value::{Range, Value, within};

/// A member of a setting, by which a text gives it: the `time` of `1000,time=60`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) field: fn(&mut Settings) -> &mut dyn Value,
    range: Option<Range>,
    /// `false` if a search can be continued from a checkpoint with another value of it.
    pub(super) in_checkpoints: bool,
}

impl Member {
    pub(super) const fn new(name: &'static str, field: fn(&mut Settings) -> &mut dyn Value) -> Member {
        Member {
            name,
            field,
            range: None,
            in_checkpoints: true,
        }
    }

    pub(super) const fn at_least(self, least: u64) -> Member {
        let range = Some((least, u64::MAX));
        Member { range, ..self }
    }

    pub(super) const fn not_in_checkpoints(self) -> Member {
        Member {
            in_checkpoints: false,
            ..self
        }
    }

    /// Sets it from text; the error says what would be valid.
    pub(super) fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        within(self.range, text)
            .and_then(|()| (self.field)(settings).read(text))
            .map_err(|problem| format!("{}: {problem}", self.name))
    }
}

/// A text, in its parts.
pub(super) struct Parts<'t> {
    /// The value before the members, if it is given.
    pub(super) head: Option<&'t str>,
    pub(super) members: Vec<(&'static Member, &'t str)>,
    /// The text of the members.
    pub(super) tail: &'t str,
}

impl<'t> Parts<'t> {
    /// Takes the members from the end of a text: before them a path may have commas in it.
    ///
    /// # Errors
    /// If a member is misspelled, or comes before the value.
    pub(super) fn of(text: &'t str, known: &'static [Member]) -> Result<Parts<'t>, String> {
        let mut members = Vec::new();
        let mut rest = Some(text);
        while let Some(text) = rest.filter(|_| !known.is_empty()) {
            let (before, last) = match text.rsplit_once(',') {
                Some((before, last)) => (Some(before), last),
                None => (None, text),
            };
            // No value of a member is a path.
            let Some((name, value)) = last.split_once('=').filter(|_| !last.contains(['/', '\\'])) else {
                break;
            };
            let name = name.trim();
            let Some(member) = known.iter().find(|member| member.name == name) else {
                match did_you_mean(name, known.iter().map(|member| member.name)) {
                    unlike if unlike.is_empty() => break,
                    question => {
                        return Err(format!("`{}` sets nothing; {}", last.trim(), question.trim_end()));
                    }
                }
            };
            members.push((member, value.trim()));
            rest = before;
        }
        members.reverse();
        if let Some((first, _)) = rest.and_then(|head| head.trim().split_once(','))
            && let Some((name, _)) = first.split_once('=')
            && known.iter().any(|member| member.name == name.trim())
        {
            return Err(format!(
                "`{}` has to follow the value, as in `VALUE,{0}`",
                first.trim()
            ));
        }
        Ok(Parts {
            head: rest.map(str::trim),
            members,
            tail: rest.map_or(text, |head| text[head.len()..].trim_start_matches(',')),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::declared;
    use std::time::Duration;

    fn set(settings: &mut Settings, name: &str, text: &str) -> Result<String, String> {
        settings.set(name, text).map_err(|error| error.problem)?;
        Ok(settings.value(name).expect("it is a setting"))
    }

    #[test]
    fn only_what_is_named_changes() {
        let mut settings = Settings::default();
        for (name, text, shown) in [
            ("hang", "10,execution=60", "10,execution=60"),
            ("hang", "none", "none,execution=60"),
            ("hang", "execution=none", "none"),
            ("progress", "5, from = 1_000", "5,from=1000"),
            ("progress", "none,from=0", "none"),
            ("minimise", "time=none", "1000,time=none"),
            ("minimise", "0", "0,time=none"),
            ("checkpoint", "every=60", "none,every=60"),
            // A path may have commas in it, and equals signs.
            ("checkpoint", "a,b/n=2,c.search", "a,b/n=2,c.search,every=60"),
            ("checkpoint", "every=5/x,every=10", "every=5/x"),
            ("checkpoint", "./every=5.search", "./every=5.search"),
            ("checkpoint", "n=2,every=10", "n=2"),
            ("stack", "tasks=10,forgotten=0", "2097152,tasks=10,forgotten=0"),
            ("stack", "65536,tasks=4096", "65536,forgotten=0"),
            ("spin_loops", "fair_yields=3", "park,fair_yields=3"),
            ("spin_loops", "run", "run,fair_yields=3"),
            ("environment", "timeouts=2", "adversarial,timeouts=2"),
            (
                "environment",
                "calm,timeouts=2, notify_any = true",
                "adversarial,spurious_wakeups=0,timeouts=2,weak_failures=0",
            ),
            ("environment", "calm", "calm"),
            ("environment", "seed=7", "calm,seed=7"),
            ("environment", "adversarial", "adversarial,seed=7"),
        ] {
            assert_eq!(
                set(&mut settings, name, text),
                Ok(shown.into()),
                "{name} = {text}"
            );
        }
        assert_eq!((settings.fair_yields, settings.tasks), (3, 4096));
        assert_eq!(settings.checkpoint_every, Duration::from_secs(10));
    }

    #[test]
    fn what_cannot_be_says_why() {
        for (name, text, says) in [
            ("hang", "10,60", "`60` is not a member: give one of `execution`"),
            ("minimise", "1,x=5", "`x=5` is not a member: give one of `time`"),
            (
                "minimise",
                "time=5,1000",
                "`time=5` has to follow the value, as in `VALUE,time=5`",
            ),
            ("checkpoint", "every=60,dir", "`every=60` has to follow the value"),
            ("hang", "soon", "`soon` is not a time: give seconds"),
            (
                "hang",
                "10,exection=60",
                "`exection=60` sets nothing; did you mean `execution`?",
            ),
            ("progress", "5,from=x", "from: `x` is not a number in range"),
            ("minimise", "1000,time=soon", "time: `soon` is not a time"),
            ("minimise", "", "no number is given"),
            ("checkpoint", "a.search,evry=5", "did you mean `every`?"),
            ("checkpoint", ",every=5", "no file is given"),
            ("stack", "5", "`5` is out of range: give 32768 to"),
            ("stack", "tasks=0", "tasks: `0` is too few: give 1 or more"),
            (
                "environment",
                "",
                "`` is not an environment: give `adversarial`, `calm`",
            ),
            ("environment", "kalm", "did you mean `calm`"),
            ("environment", "timeout=1", "did you mean `timeouts`"),
            (
                "environment",
                "timeouts=many",
                "timeouts: `many` is not a number in range",
            ),
            (
                "environment",
                "timeouts=3,notify_any=maybe",
                "notify_any: `maybe` is neither",
            ),
            ("environment", "seed=7,calm", "as in `VALUE,seed=7`"),
            ("spin_loops", "parc", "did you mean `park`?"),
            (
                "spin_loops",
                "park,yields=2",
                "`yields=2` sets nothing; did you mean `fair_yields`?",
            ),
        ] {
            let mut settings = Settings::default();
            let problem = set(&mut settings, name, text).unwrap_err();
            assert!(problem.contains(says), "{name} = {text}: {problem}");
            assert_eq!(settings, Settings::default());
        }
    }

    /// The search is the same if tasks are unwound sooner.
    #[test]
    fn a_checkpoint_does_not_compare_what_may_change() {
        let compared = |text: &str| {
            let mut settings = Settings::default();
            settings.set("stack", text).unwrap();
            settings.set("checkpoint", "every=5").unwrap();
            settings.in_checkpoints().collect::<Vec<_>>()
        };
        assert_eq!(compared("forgotten=0"), compared("2097152"));
        assert_ne!(compared("tasks=10"), compared("2097152"));
    }

    #[test]
    fn a_text_goes_over_another() {
        for (name, weaker, stronger, both) in [
            ("minimise", "1000,time=60", "500", "500,time=60"),
            ("minimise", "1000,time=60", "time=5", "1000,time=5"),
            ("minimise", "time=60", "500,time=5", "500,time=5"),
            ("minimise", "1000", "0", "0"),
            ("strategy", "pos", "dfs", "dfs"),
            ("environment", "timeouts=2,seed=7", "calm", "calm,seed=7"),
            ("environment", "calm", "timeouts=2", "calm,timeouts=2"),
        ] {
            let setting = declared::find(name).unwrap();
            let shown = set(&mut Settings::default(), name, &setting.over(weaker, stronger));
            assert_eq!(shown, Ok(both.into()), "{weaker} {stronger}");
        }
        let checkpoint = declared::find("checkpoint").unwrap();
        let both = checkpoint.over("a,every=60", "every=5");
        assert_eq!(
            checkpoint.head_and_members(&both),
            (Some("a"), "every=60,every=5".into())
        );
    }
}
