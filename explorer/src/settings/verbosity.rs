//! The level of detail of a failing test, as a setting.

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

impl Verbosity {
    /// Every level, by name.
    pub const ALL: [(&str, Verbosity); 3] = [
        ("quiet", Verbosity::Quiet),
        ("normal", Verbosity::Normal),
        ("verbose", Verbosity::Verbose),
    ];
}
