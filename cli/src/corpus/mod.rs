//! The commands about programs with known verdicts.

pub(crate) mod list;
pub(crate) mod run;

use crate::problem::Problem;
use crate::suggest;
use intermezzo_corpus::{Program, find, programs};

/// The program of that name.
pub(crate) fn program(name: &str) -> Result<&'static Program, Problem> {
    find(name).ok_or_else(|| {
        let near = suggest::did_you_mean(name, programs().iter().map(|program| program.name));
        Problem::usage(format!(
            "there is no program {name:?}: {near}`cargo intermezzo corpus list` lists all"
        ))
    })
}
