//! A search that a checkpoint can save.

use super::Plan;

/// The remaining work of a search, as text. Another process continues it, with any number of workers.
#[derive(Clone, Debug, Default)]
pub struct SearchState {
    /// The state that the workers share: see [`Resumable::save_shared`].
    pub shared: String,
    /// The remaining work of each worker: see [`Resumable::save`].
    pub hands: Vec<String>,
}

/// A search that a checkpoint can save.
pub trait Resumable {
    /// Returns `true` if the next execution must be prepared before `save`, because the search processes the last
    /// execution only then. If there is no next one, `next` is called again when the worker continues.
    fn prepares_before_save(&self) -> bool {
        false
    }

    /// Returns this worker's remaining work as one line of text, after an execution that made the choices in `plan`.
    /// Returns `None` if the worker has no work of its own.
    fn save(&mut self, plan: &Plan) -> Option<String>;

    /// Returns the result of [`save`](Resumable::save) for the case that the execution prepared with the choices in
    /// `plan` has not run.
    fn save_prepared(&mut self, plan: &Plan) -> Option<String>;

    /// Returns the state that the workers share, as one line of text. No worker runs in the meantime.
    fn save_shared(&mut self) -> Option<String>;

    /// Continues a search with the same parameters. Called before the first `next`, and before
    /// [`Parallel::split`](super::Parallel::split). Returns `false` if the state is not one of this search.
    fn restore(&mut self, state: &SearchState) -> bool;
}
