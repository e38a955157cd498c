//! The environment as a setting: `calm`, or `spurious_wakeups=2,timeouts=0`.

use super::value::{number, truth};
use intermezzo_engine::environment::Environment;
use intermezzo_engine::suggest::give_instead;

/// The values of the setting `environment`, for people.
pub(super) const VALUES: &str = "`adversarial`, `calm`, or members to change: `spurious_wakeups=1`, `timeouts=1`, \
                                 `weak_failures=1`, `try_lock_failures=0`, `notify_any=true`, `arc_counts=true`, \
                                 `address_reuse=0`, `seed=0`";

/// The members, by name.
const MEMBERS: [&str; 8] = [
    "spurious_wakeups",
    "timeouts",
    "weak_failures",
    "try_lock_failures",
    "notify_any",
    "arc_counts",
    "address_reuse",
    "seed",
];

/// Changes the named members of an environment.
///
/// # Errors
/// There is no such member, or a value does not fit; the environment is as before.
pub(super) fn apply(text: &str, environment: &mut Environment) -> Result<(), String> {
    let mut changed = *environment;
    for entry in text.split(',').map(str::trim) {
        match entry
            .split_once('=')
            .map(|(name, value)| (name.trim(), value.trim()))
        {
            None if entry == "adversarial" => changed = with_seed(Environment::default(), changed.seed),
            None if entry == "calm" => changed = with_seed(Environment::calm(), changed.seed),
            Some(("spurious_wakeups", value)) => changed.spurious_wakeups = number(value)?,
            Some(("timeouts", value)) => changed.timeouts = number(value)?,
            Some(("weak_failures", value)) => changed.weak_failures = number(value)?,
            Some(("try_lock_failures", value)) => changed.try_lock_failures = number(value)?,
            Some(("notify_any", value)) => changed.notify_any = truth(value)?,
            Some(("arc_counts", value)) => changed.arc_counts = truth(value)?,
            Some(("address_reuse", value)) => changed.address_reuse = number(value)?,
            Some(("seed", value)) => changed.seed = number(value)?,
            _ => {
                let name = entry.split('=').next().unwrap_or_default().trim();
                let known = ["adversarial", "calm"].into_iter().chain(MEMBERS);
                return Err(format!(
                    "`{entry}` is no environment: {}",
                    give_instead(name, known, VALUES)
                ));
            }
        }
    }
    *environment = changed;
    Ok(())
}

/// Returns the environment with another seed: whether it is calm says nothing about a test's own random numbers.
fn with_seed(environment: Environment, seed: u64) -> Environment {
    Environment { seed, ..environment }
}

/// Returns an environment as text.
pub(super) fn show(environment: &Environment) -> String {
    let seed = environment.seed;
    for (name, named) in [
        ("adversarial", Environment::default()),
        ("calm", Environment::calm()),
    ] {
        if *environment == with_seed(named, seed) {
            return format!("{name},seed={seed}").trim_end_matches(",seed=0").into();
        }
    }
    let Environment {
        spurious_wakeups,
        timeouts,
        weak_failures,
        try_lock_failures,
        notify_any,
        arc_counts,
        address_reuse,
        seed,
    } = environment;
    format!(
        "spurious_wakeups={spurious_wakeups},timeouts={timeouts},weak_failures={weak_failures},\
         try_lock_failures={try_lock_failures},notify_any={notify_any},arc_counts={arc_counts},\
         address_reuse={address_reuse},seed={seed}"
    )
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
            ("timeouts=many", "no number in range"),
            ("timeouts=3,notify_any=maybe", "neither `true` nor `false`"),
        ] {
            let mut environment = Environment::default();
            let error = apply(text, &mut environment).unwrap_err();
            assert!(error.contains(says), "{error}");
            assert_eq!(environment, Environment::default());
        }
    }
}
