//! A search that a checkpoint can keep.

use super::Plan;

/// The remaining work of a search, as text: another process continues it, with any number of workers.
#[derive(Clone, Debug, Default)]
pub struct SearchState {
    /// What the workers share: see [`Resumable::save_shared`].
    pub shared: String,
    /// What each worker had left: see [`Resumable::save`].
    pub hands: Vec<String>,
}

/// A search that a checkpoint can keep.
pub trait Resumable {
    /// Returns `true` if the next execution is to be prepared before `save`, because only then the search knows what the last
    /// one showed. If there is no next one, `next` is called again when the worker continues.
    fn prepares_before_save(&self) -> bool {
        false
    }

    /// Returns this worker's remaining work, after an execution that made the choices in `plan`, as one line of text. `None`
    /// if it has none of its own.
    fn save(&mut self, plan: &Plan) -> Option<String>;

    /// Returns what [`save`](Resumable::save) does if the execution that was prepared with the choices in `plan` has not run.
    fn save_prepared(&mut self, plan: &Plan) -> Option<String>;

    /// Returns what the workers share, as one line of text. No worker runs meanwhile.
    fn save_shared(&mut self) -> Option<String>;

    /// Continues a search of the same parameters. Called before the first `next`, and before [`Parallel::split`]
    /// (super::Parallel::split). Returns `false` if the state is not one of this search.
    fn restore(&mut self, state: &SearchState) -> bool;
}
