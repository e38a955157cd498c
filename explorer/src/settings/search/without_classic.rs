//! The usual searches only: without the feature `all-searches` the check of the settings refuses the others.

use super::super::Settings;
use intermezzo_engine::strategy::Strategy;
use intermezzo_search::NOT_ALL;
use intermezzo_search::classic::maple::Options;
use intermezzo_search::kinds::{BestFirstOptions, DepthFirstBounds, RankedOptions};

/// Returns no options: no iRoots are measured.
pub(crate) fn iroots(_: &Settings) -> Option<Options> {
    None
}

/// Not called.
pub(super) fn depth_first(_: Option<u32>, _: &DepthFirstBounds) -> Box<dyn Strategy> {
    unreachable!("{NOT_ALL}")
}

/// Not called.
pub(super) fn best_first(_: &Settings, _: &BestFirstOptions) -> Box<dyn Strategy> {
    unreachable!("{NOT_ALL}")
}

/// Not called.
pub(super) fn ranked(_: &Settings, _: &RankedOptions, _: Option<usize>) -> Box<dyn Strategy> {
    unreachable!("{NOT_ALL}")
}
