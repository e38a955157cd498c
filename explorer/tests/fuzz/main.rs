//! Random programs over the look-alikes: every search against depth first search with every operation a schedule point.

mod reference;
