//! The level of detail of a failing test, as a setting.

use intermezzo_search::value::Named;

/// The level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// The first line of each finding, and the verdict.
    Quiet,
    /// As much as it takes to understand a finding and to continue from there.
    #[default]
    Normal,
    /// Every event of a finding's execution, and the settings of the search.
    Verbose,
}

impl Named for Verbosity {
    const WHAT: &'static str = "detail";
    const NAMES: &'static [(&'static str, Verbosity)] = &[
        ("quiet", Verbosity::Quiet),
        ("normal", Verbosity::Normal),
        ("verbose", Verbosity::Verbose),
    ];
}
