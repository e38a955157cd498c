//! Who happened before whom: the trace of the execution that runs.

/// The happens-before relation of an execution, kept as it runs.
#[derive(Default)]
pub struct Trace {}
