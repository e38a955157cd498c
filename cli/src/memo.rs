//! `memo`: shows, merges and edits memos of iRoots.

use crate::args::{MemoForgetArgs, MemoMergeArgs, MemoShowArgs};
use crate::exit::Exit;
use crate::output;
use crate::problem::Problem;
use intermezzo::{MemoError, StoredIRoot, StoredMemo};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The memo in JSON.
#[derive(Serialize)]
struct Shown<'a> {
    file: &'a Path,
    iroots: Vec<ShownIRoot<'a>>,
    tests: BTreeMap<&'a str, ShownTest>,
}

#[derive(Serialize)]
struct ShownIRoot<'a> {
    id: String,
    name: &'a str,
    exposed: bool,
    attempts: u32,
}

#[derive(Serialize)]
struct ShownTest {
    explorations: u64,
    executions: u64,
    attempts: u64,
}

fn refused(error: MemoError) -> Problem {
    Problem::usage(error.to_string())
}

/// Lists the iRoots of a memo.
pub(crate) fn show(args: &MemoShowArgs) -> Result<Exit, Problem> {
    let memo = StoredMemo::read(&args.file).map_err(refused)?;
    match args.json {
        true => output::json(&shown(&args.file, &memo))?,
        false => output::text(&text(&memo))?,
    }
    Ok(Exit::Pass)
}

fn shown<'a>(file: &'a Path, memo: &'a StoredMemo) -> Shown<'a> {
    let iroot = |iroot: &'a StoredIRoot| ShownIRoot {
        id: iroot.id.to_string(),
        name: &iroot.name,
        exposed: iroot.exposed,
        attempts: iroot.attempts,
    };
    let tests = memo.tests.iter().map(|(name, test)| {
        let test = ShownTest {
            explorations: test.explorations,
            executions: test.executions,
            attempts: test.attempts,
        };
        (name.as_str(), test)
    });
    Shown {
        file,
        iroots: memo.iroots.iter().map(iroot).collect(),
        tests: tests.collect(),
    }
}

/// Returns a line for each iRoot, and the totals.
fn text(memo: &StoredMemo) -> String {
    let mut text = String::new();
    for iroot in &memo.iroots {
        let result = match iroot.exposed {
            true => "exposed".to_owned(),
            false => format!("tried {}", iroot.attempts),
        };
        writeln!(text, "{}  {result:<8}  {}", iroot.id, iroot.name).expect("a string takes everything");
    }
    let exposed = memo.iroots.iter().filter(|iroot| iroot.exposed).count();
    let executions: u64 = memo.tests.values().map(|test| test.executions).sum();
    writeln!(
        text,
        "iRoots: {exposed} exposed, {} tried without success; tests: {}, executions: {executions}",
        memo.iroots.len() - exposed,
        memo.tests.len()
    )
    .expect("a string takes everything");
    text
}

/// Adds memos to another memo.
pub(crate) fn merge(args: &MemoMergeArgs) -> Result<Exit, Problem> {
    let merged = StoredMemo::merge(&args.into, &args.files).map_err(refused)?;
    for file in &merged.left_out {
        output::complain(&format!(
            "note: the memos were made with different versions of {file}: the later memo's iRoots in it are left out"
        ));
    }
    output::text(&format!("{}: iRoots: {}\n", args.into.display(), merged.iroots))?;
    Ok(Exit::Pass)
}

/// Removes iRoots from a memo.
pub(crate) fn forget(args: &MemoForgetArgs) -> Result<Exit, Problem> {
    let memo = StoredMemo::read(&args.file).map_err(refused)?;
    if let Some(unknown) = args
        .iroots
        .iter()
        .find(|id| !memo.iroots.iter().any(|iroot| iroot.id == **id))
    {
        return Err(Problem::usage(format!(
            "{:?} has no iRoot {unknown}: `cargo intermezzo memo show` lists those that it has",
            args.file
        )));
    }
    let forgotten = StoredMemo::forget(&args.file, |iroot| {
        args.iroots.contains(&iroot.id)
            || args.tried && !iroot.exposed
            || args
                .source
                .as_deref()
                .is_some_and(|source| has_place_in(iroot, source))
    });
    let forgotten = forgotten.map_err(refused)?;
    output::text(&format!("{}: iRoots removed: {forgotten}\n", args.file.display()))?;
    Ok(Exit::Pass)
}

/// `true` if one of the places of an iRoot is in this source file. A place in its name is `src/ring.rs:12:9 load`.
fn has_place_in(iroot: &StoredIRoot, source: &Path) -> bool {
    let source = source.strip_prefix(".").unwrap_or(source);
    let places = iroot.name.split([' ', ',']).filter(|word| word.contains(".rs:"));
    let mut files = places.filter_map(|place| place.rsplitn(3, ':').nth(2));
    files.any(|file| Path::new(file).ends_with(source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_files() {
        let iroot = StoredIRoot {
            id: intermezzo::IRootId(0),
            name: "4: src/ring.rs:12:9 store => src/ring.rs:20:9 load, src/slot.rs:3:5 load => src/ring.rs:1:1 store".into(),
            exposed: true,
            attempts: 0,
        };
        for (source, is) in [
            ("ring.rs", true),
            ("src/slot.rs", true),
            ("ing.rs", false),
            ("b/slot.rs", false),
        ] {
            assert_eq!(has_place_in(&iroot, Path::new(source)), is, "{source}");
        }
    }
}
