//! The environment as a setting: `calm`, or `spurious_wakeups=2,timeouts=0`.

use super::value::Value;
use intermezzo_engine::environment::Environment;
use intermezzo_engine::suggest::give_instead;

/// The values of the setting `environment`, for people.
pub(super) const VALUES: &str = "`adversarial`, `calm`, or members to change: `spurious_wakeups=1`, `timeouts=1`, \
                                 `weak_failures=1`, `try_lock_failures=0`, `notify_any=true`, `arc_counts=true`, \
                                 `address_reuse=0`, `stale_reads=0`, `seed=0`";

/// A member, in an environment.
type Member = fn(&mut Environment) -> &mut dyn Value;

/// A function that makes an environment.
type Made = fn() -> Environment;

/// The members, by name.
const MEMBERS: [(&str, Member); 9] = [
    ("spurious_wakeups", |e| &mut e.spurious_wakeups),
    ("timeouts", |e| &mut e.timeouts),
    ("weak_failures", |e| &mut e.weak_failures),
    ("try_lock_failures", |e| &mut e.try_lock_failures),
    ("notify_any", |e| &mut e.notify_any),
    ("arc_counts", |e| &mut e.arc_counts),
    ("address_reuse", |e| &mut e.address_reuse),
    ("stale_reads", |e| &mut e.stale_reads),
    ("seed", |e| &mut e.seed),
];

/// Environments that have names. Their seed is 0: whether an environment is calm says nothing about a test's own random
/// numbers.
const NAMED: [(&str, Made); 2] = [("adversarial", Environment::default), ("calm", Environment::calm)];

/// Changes the named members of an environment.
///
/// # Errors
/// There is no such member, or a value does not fit; the environment is as before.
pub(super) fn apply(text: &str, environment: &mut Environment) -> Result<(), String> {
    let mut changed = *environment;
    for entry in text.split(',').map(str::trim) {
        let (name, value) = match entry.split_once('=') {
            None => (entry, None),
            Some((name, value)) => (name.trim(), Some(value.trim())),
        };
        let member = MEMBERS.iter().find(|(member, _)| *member == name);
        let named = NAMED.iter().find(|(named, _)| *named == name);
        match (value, member, named) {
            (Some(value), Some((_, member)), _) => member(&mut changed)
                .read(value)
                .map_err(|problem| format!("{name}: {problem}"))?,
            (None, _, Some((_, named))) => {
                changed = Environment {
                    seed: changed.seed,
                    ..named()
                }
            }
            _ => {
                let known = NAMED.iter().map(|(name, _)| *name);
                let known = known.chain(MEMBERS.map(|(name, _)| name));
                let instead = give_instead(name, known, VALUES);
                return Err(format!("`{entry}` is no environment: {instead}"));
            }
        }
    }
    *environment = changed;
    Ok(())
}

/// Returns an environment as text.
pub(super) fn show(environment: &Environment) -> String {
    let mut environment = *environment;
    let seed = environment.seed;
    let named = NAMED
        .iter()
        .find(|(_, named)| environment == Environment { seed, ..named() });
    match named {
        Some((name, _)) if seed == 0 => (*name).to_owned(),
        Some((name, _)) => format!("{name},seed={seed}"),
        None => {
            let shown = MEMBERS.map(|(name, member)| format!("{name}={}", member(&mut environment).show()));
            shown.join(",")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_changed_and_others_kept() {
        let mut environment = Environment::calm();
        apply("timeouts=2, notify_any = true", &mut environment).unwrap();
        let expected = Environment {
            timeouts: 2,
            notify_any: true,
            ..Environment::calm()
        };
        assert_eq!(environment, expected);
        let mut again = Environment::default();
        apply(&show(&environment), &mut again).unwrap();
        assert_eq!(again, environment);
        apply("seed=7,adversarial", &mut environment).unwrap();
        assert_eq!(
            environment,
            Environment {
                seed: 7,
                ..Environment::default()
            }
        );
    }

    #[test]
    fn wrong_members_say_which_there_are() {
        for (text, says) in [
            ("", "is no environment"),
            ("kalm", "did you mean `calm`"),
            ("timeout=1", "did you mean `timeouts`"),
            ("timeouts=many", "timeouts: `many` is no number in range"),
            ("timeouts=3,notify_any=maybe", "neither `true` nor `false`"),
        ] {
            let mut environment = Environment::default();
            let error = apply(text, &mut environment).unwrap_err();
            assert!(error.contains(says), "{error}");
            assert_eq!(environment, Environment::default());
        }
    }
}
