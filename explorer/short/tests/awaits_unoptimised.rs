//! Random programs with waiting loops, as among the explorer's own tests. Here their loops are not optimised, and leave other
//! values on their stacks.

#[path = "../../tests/awaits_model.rs"]
mod awaits_model;
