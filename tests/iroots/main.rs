//! Interleaving coverage on the programs of the corpus.

mod against_searches;
mod inputs;
