//! A checkpoint: a file from which a stopped search continues.
//!
//! The contents are lines of JSON. The partial file stays locked while the search runs, so that two searches do not use
//! the same checkpoint.

mod contents;
mod error;

pub(super) use contents::{Contents, Ending, Identity};
pub use error::{CheckpointError, CheckpointProblem};

use intermezzo_engine::store::{Format, Problem, Writer};
use intermezzo_engine::strategy::SearchState;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FORMAT: Format = Format::new("intermezzo-checkpoint", 6);

/// The pause between two checkpoints, as a multiple of the time that writing one took. Writing takes at most a
/// twentieth of the time.
const PAUSES: u32 = 20;

/// The checkpoint of a running search.
pub(super) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    writer: Writer,
}

/// A search as saved in the checkpoint.
pub(super) struct Restored {
    pub(super) contents: Contents,
    pub(super) state: SearchState,
}

impl Checkpoint {
    /// Opens the checkpoint in this file. Returns it with the saved search, if the file exists.
    ///
    /// # Errors
    /// If the file belongs to another search, or cannot be read or written.
    pub(super) fn open(
        path: &Path,
        every: Duration,
        identity: &Identity,
    ) -> Result<(Checkpoint, Option<Restored>), CheckpointError> {
        let in_file = |problem| CheckpointError {
            path: path.to_owned(),
            problem,
        };
        let of_file = |problem: Problem| in_file(CheckpointProblem::of_file(problem));
        // The file is read again under the lock, since another search that held the lock may have written it meanwhile.
        FORMAT.read(path).map_err(of_file)?;
        let mut writer = FORMAT.writer(path).map_err(of_file)?;
        writer.hold().map_err(of_file)?;
        let restored = match FORMAT.read(path).map_err(of_file)? {
            None => None,
            Some(text) => Some(contents::parse(&text, identity).map_err(in_file)?),
        };
        let checkpoint = Checkpoint {
            path: path.to_owned(),
            every,
            writer,
        };
        Ok((checkpoint, restored))
    }

    /// Returns an error with the path of the file.
    pub(super) fn refused(&self, problem: CheckpointProblem) -> CheckpointError {
        CheckpointError {
            path: self.path.clone(),
            problem,
        }
    }

    /// Writes the search. Returns the time until the next write, and the error if this one failed.
    pub(super) fn write(
        &mut self,
        contents: &Contents,
        state: &SearchState,
    ) -> (Duration, Option<CheckpointError>) {
        let began = Instant::now();
        let written = self.writer.write(&contents::text(contents, state));
        if written.is_ok() {
            // Locked again at once, so that the lock is released only for a moment. If this fails, the next write
            // reports it.
            let _ = self.writer.hold();
        }
        let pause = self.every.max(began.elapsed() * PAUSES);
        let problem = written.err().map(CheckpointProblem::of_file);
        (pause, problem.map(|problem| self.refused(problem)))
    }

    /// Returns the time until the first write.
    pub(super) fn every(&self) -> Duration {
        self.every
    }
}
