//! Tests of iRoots.
