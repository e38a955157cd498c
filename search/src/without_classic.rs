//! The types of settings and reports about searches that are not in this build. Without the feature `all-searches` they
//! have no values.

use crate::NOT_ALL;
use std::convert::Infallible;
use std::fmt;

/// The order of a best-first search. It has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrioritySpec(Infallible);

impl PrioritySpec {
    /// Returns an error: the search is not in this build.
    ///
    /// # Errors
    /// Always.
    pub fn parse(_: &str) -> Result<PrioritySpec, String> {
        Err(NOT_ALL.into())
    }
}

impl fmt::Display for PrioritySpec {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

/// Interleaving coverage.
pub mod maple {
    use super::NOT_ALL;
    use intermezzo_engine::serial::Serialize;
    use intermezzo_engine::strategy::{Operation, Strategy};
    use intermezzo_sdk::Monitor;
    use std::convert::Infallible;
    use std::fmt;
    use std::str::FromStr;

    /// The identity of an iRoot. It has no value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct IRootId(Infallible);

    impl FromStr for IRootId {
        type Err = String;

        fn from_str(_: &str) -> Result<IRootId, String> {
            Err(NOT_ALL.into())
        }
    }

    impl fmt::Display for IRootId {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0 {}
        }
    }

    /// The coverage of an exploration. It has no value, because no coverage is measured.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct IRootCoverage {
        #[serde(skip)]
        none: Infallible,
    }

    impl IRootCoverage {
        /// Is never called: there is no coverage.
        pub fn name_variables(&mut self, _: impl FnMut(&str) -> Option<String>) {
            match self.none {}
        }
    }

    impl fmt::Display for IRootCoverage {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.none {}
        }
    }

    /// The reason why a memo cannot be used. It has no value, because no memo is opened.
    #[derive(Debug)]
    pub struct MemoError(Infallible);

    impl fmt::Display for MemoError {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0 {}
        }
    }

    impl std::error::Error for MemoError {}

    /// The options of measuring iRoots. It has no value.
    pub struct Options(Infallible);

    /// A session that measures iRoots. It has no value.
    #[derive(Clone)]
    pub struct Session(Infallible);

    impl Session {
        /// Is never called: there are no options.
        ///
        /// # Errors
        /// None.
        pub fn open(options: &Options, _: &str) -> Result<Session, MemoError> {
            match options.0 {}
        }

        /// Is never called: there is no session.
        pub fn observer(&self) -> Box<dyn Monitor> {
            match self.0 {}
        }

        /// Is never called: there is no session.
        pub fn strategy(&self, _: u64, _: u32) -> Box<dyn Strategy> {
            match self.0 {}
        }

        /// Is never called: there is no session.
        pub fn stuck(&self, _: &[Operation]) {
            match self.0 {}
        }

        /// Is never called: there is no session.
        pub fn failed(&self) {
            match self.0 {}
        }

        /// Is never called: there is no session.
        pub fn close(&self) -> (IRootCoverage, Option<MemoError>) {
            match self.0 {}
        }
    }
}
