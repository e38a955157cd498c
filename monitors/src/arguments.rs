//! Arguments of monitors: `key=value,key=value`.

/// One argument that a monitor takes.
pub(crate) struct Argument<M> {
    pub(crate) name: &'static str,
    /// The values that it may have, in words: `true or false`.
    pub(crate) values: &'static str,
    /// Sets the value; `None` if it is none of the allowed ones.
    pub(crate) set: fn(&mut M, &str) -> Option<()>,
}

/// Returns the monitor with these arguments. An empty text has none.
///
/// # Errors
/// If there is no such argument, or it cannot have that value.
pub(crate) fn with<M>(
    mut monitor: M,
    name: &str,
    known: &[Argument<M>],
    arguments: &str,
) -> Result<M, String> {
    for argument in arguments
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let Some((key, value)) = argument.split_once('=') else {
            return Err(format!(
                "{name}: `{argument}` is not an argument: give `name=value`, with commas between; {}",
                there_are(known)
            ));
        };
        let (key, value) = (key.trim(), value.trim());
        let Some(argument) = known.iter().find(|argument| argument.name == key) else {
            return Err(format!(
                "{name}: there is no argument `{key}`; {}",
                there_are(known)
            ));
        };
        if (argument.set)(&mut monitor, value).is_none() {
            return Err(format!("{name}: {key}={value}: give {}", argument.values));
        }
    }
    Ok(monitor)
}

fn there_are<M>(known: &[Argument<M>]) -> String {
    match known {
        [] => "it takes none".into(),
        _ => {
            let each = known
                .iter()
                .map(|argument| format!("{} ({})", argument.name, argument.values));
            format!("there are: {}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The values of a switch, in words.
pub(crate) const SWITCH: &str = "true or false";

/// Sets a switch.
pub(crate) fn switch(to: &mut bool, value: &str) -> Option<()> {
    *to = value.parse().ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &str) -> Result<(bool, u32), String> {
        let known = [
            Argument {
                name: "loud",
                values: SWITCH,
                set: |to: &mut (bool, u32), value| switch(&mut to.0, value),
            },
            Argument {
                name: "lines",
                values: "a number",
                set: |to, value| value.parse().ok().map(|lines| to.1 = lines),
            },
        ];
        with((false, 1), "sample", &known, arguments)
    }

    #[test]
    fn arguments_are_taken_or_refused_with_what_there_is() {
        assert_eq!(read(""), Ok((false, 1)));
        assert_eq!(read(" lines = 3 ,loud=true,"), Ok((true, 3)));
        let refused = |arguments| read(arguments).unwrap_err();
        assert_eq!(
            refused("line=3"),
            "sample: there is no argument `line`; there are: loud (true or false), lines (a number)"
        );
        assert_eq!(refused("loud=yes"), "sample: loud=yes: give true or false");
        assert_eq!(
            refused("loud"),
            "sample: `loud` is not an argument: give `name=value`, with commas between; there are: loud (true or false), \
             lines (a number)"
        );
        assert_eq!(
            with((), "sample", &[], "a=b"),
            Err("sample: there is no argument `a`; it takes none".into())
        );
    }
}
