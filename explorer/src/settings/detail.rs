//! How much a failing test tells, as a setting.

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The first line of each finding, and the verdict.
    Quiet,
    /// What it takes to understand a finding and to go on from there.
    #[default]
    Normal,
    /// Every event of a finding's execution, and how the search was set.
    Verbose,
}

impl Detail {
    /// Every one, by name.
    pub const ALL: [(&str, Detail); 3] = [
        ("quiet", Detail::Quiet),
        ("normal", Detail::Normal),
        ("verbose", Detail::Verbose),
    ];
}
