//! A checkpoint: a search that was stopped, by anything, and goes on.

mod contents;
mod error;
mod file;

pub(super) use contents::{Contents, Ending, Identity};
pub use error::{CheckpointError, CheckpointProblem};

use intermezzo_engine::strategy::SearchState;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// At least so many times what writing a checkpoint took passes until the next: a twentieth of the time goes into it.
const PAUSES: u32 = 20;

/// The checkpoint of a search that runs.
pub(super) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    writer: file::Writer,
}

/// A search as it was when the checkpoint was written.
pub(super) struct Restored {
    pub(super) contents: Contents,
    pub(super) state: SearchState,
}

impl Checkpoint {
    /// A checkpoint in that file, written now and then; and the search of it, if the file is there.
    ///
    /// # Errors
    /// The file is none of this search, or cannot be read or written.
    pub(super) fn open(
        path: &Path,
        every: Duration,
        identity: &Identity,
    ) -> Result<(Checkpoint, Option<Restored>), CheckpointError> {
        let in_file = |problem| CheckpointError {
            path: path.to_owned(),
            problem,
        };
        // First the lock: who holds it may be about to write.
        file::read(path).map_err(in_file)?;
        let writer = file::Writer::new(path).map_err(in_file)?;
        let restored = match file::read(path).map_err(in_file)? {
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

    /// The file's path, for errors.
    pub(super) fn refused(&self, problem: CheckpointProblem) -> CheckpointError {
        CheckpointError {
            path: self.path.clone(),
            problem,
        }
    }

    /// Writes the search as it is; says how long to wait until the next time, or why it could not be written.
    pub(super) fn write(
        &mut self,
        contents: &Contents,
        state: &SearchState,
    ) -> (Duration, Option<CheckpointError>) {
        let began = Instant::now();
        let written = self.writer.write(&contents::text(contents, state));
        let pause = self.every.max(began.elapsed() * PAUSES);
        (pause, written.err().map(|problem| self.refused(problem)))
    }

    /// How long to wait until the first time.
    pub(super) fn every(&self) -> Duration {
        self.every
    }
}
