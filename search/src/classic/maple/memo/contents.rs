//! The text of a memo's file: JSON. Equal memos have equal texts.

use super::super::access::{Places, file};
use super::super::iroot::IRoot;
use super::Memo;
use super::error::MemoProblem;
use intermezzo_engine::serial::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The executions of a test that added to a memo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Test {
    pub(super) explorations: u64,
    pub(super) executions: u64,
    /// The number of executions that tried to expose an iRoot.
    pub(super) attempts: u64,
}

/// A memo as it is written. An iRoot is written as its idiom and the indices of its places in `places`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    files: BTreeMap<String, String>,
    places: Vec<String>,
    exposed: Vec<Vec<u32>>,
    tried: Vec<(Vec<u32>, u32)>,
    tests: BTreeMap<String, Test>,
}

fn damaged(reason: impl Into<String>) -> MemoProblem {
    MemoProblem::Damaged {
        reason: reason.into(),
    }
}

/// Parses the text of a memo. Returns an empty memo if there is no text.
///
/// # Errors
/// The text is malformed.
pub(super) fn parse(text: Option<&str>, places: &mut Places) -> Result<Memo, MemoProblem> {
    let Some(text) = text else {
        return Ok(Memo::default());
    };
    let Written {
        files,
        places: names,
        exposed,
        tried,
        tests,
    } = intermezzo_engine::serial::from_str(text).map_err(|error| damaged(error.to_string()))?;
    if let Some(name) = names.iter().find(|name| !files.contains_key(file(name))) {
        return Err(damaged(format!(
            "the source file of `{name}` is not among its files"
        )));
    }
    let numbers: Vec<u32> = names.into_iter().map(|name| places.number(name)).collect();
    let iroot = |written: &[u32]| {
        let (idiom, of) = written.split_first()?;
        let of: Option<Vec<u32>> = of.iter().map(|&at| numbers.get(at as usize).copied()).collect();
        IRoot::new(u8::try_from(*idiom).ok()?, &of?)
    };
    let no_iroot = |written: &[u32]| damaged(format!("{written:?} is not an iRoot"));
    let mut memo = Memo {
        files,
        tests,
        ..Memo::default()
    };
    for written in &exposed {
        memo.exposed
            .insert(iroot(written).ok_or_else(|| no_iroot(written))?);
    }
    for (written, times) in &tried {
        let iroot = iroot(written).ok_or_else(|| no_iroot(written))?;
        memo.tried.insert(iroot, *times);
    }
    Ok(memo)
}

/// Returns the text of this memo.
pub(super) fn text(memo: &Memo, places: &Places) -> String {
    let used = memo.exposed.iter().chain(memo.tried.keys());
    let names: BTreeSet<&str> = used
        .flat_map(|iroot| iroot.places())
        .map(|&place| places.name(place))
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    let number = |place: &u32| {
        let found = names.binary_search(&places.name(*place));
        found.expect("every place is among the names") as u32
    };
    let written = |iroot: &IRoot| {
        let own: Vec<u32> = iroot.places().iter().map(number).collect();
        // With these numbers, the tasks of idiom 5 may have to be exchanged.
        let own = IRoot::new(iroot.idiom, &own).expect("an iRoot has as many places as its idiom");
        let mut all = vec![u32::from(own.idiom)];
        all.extend_from_slice(own.places());
        all
    };
    let exposed: BTreeSet<Vec<u32>> = memo.exposed.iter().map(written).collect();
    let tried: BTreeSet<(Vec<u32>, u32)> = memo
        .tried
        .iter()
        .map(|(iroot, times)| (written(iroot), *times))
        .collect();
    let all = Written {
        files: memo.files.clone(),
        exposed: exposed.into_iter().collect(),
        tried: tried.into_iter().collect(),
        tests: memo.tests.clone(),
        places: names.iter().map(|&name| name.to_owned()).collect(),
    };
    let mut text = intermezzo_engine::serial::to_string(&all).expect("a memo has text for keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let mut places = Places::default();
        let numbers = ["b.rs:1:1 load", "a.rs:2:2 store", "a.rs:1:1 load"];
        let [b, a2, a1] = numbers.map(|name| places.number(name.into()));
        let mut memo = Memo::default();
        for name in ["a.rs", "b.rs"] {
            memo.files.insert(name.into(), "source 1 00000000".into());
        }
        memo.exposed.extend(IRoot::new(1, &[a2, a1]));
        memo.exposed.extend(IRoot::new(5, &[b, a1, a2, a1]));
        memo.tried.insert(IRoot::new(2, &[a2, b, a2]).unwrap(), 2);
        memo.tests.insert("a test".into(), Test::default());
        let written = text(&memo, &places);
        assert_eq!(parse(Some(&written), &mut places), Ok(memo.clone()));
        // The numbers of places are different in another exploration.
        let mut others = Places::default();
        let read = parse(Some(&written), &mut others).unwrap();
        assert_eq!(text(&read, &others), written);
        for (wrong, says) in [
            ("", "EOF"),
            ("{}", "missing field"),
            (&written.replace("[1,", "[9,"), "not an iRoot"),
            (&written.replace("[1,", "[1,77,"), "not an iRoot"),
            (
                &written.replace("\"b.rs\":\"source", "\"c.rs\":\"source"),
                "not among its files",
            ),
        ] {
            match parse(Some(wrong), &mut Places::default()) {
                Err(MemoProblem::Damaged { reason }) => assert!(reason.contains(says), "{reason}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
