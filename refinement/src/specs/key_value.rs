//! A store of texts by key: put, append, get. Each key is a part of its own; one that was never put has the empty
//! text.

use super::set::part_of;
use crate::specification::Sequential;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

/// An operation of a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call<K> {
    /// Reads a key's text.
    Get(K),
    /// Replaces a key's text.
    Put(K, String),
    /// Adds to the end of a key's text.
    Append(K, String),
}

impl<K> Call<K> {
    /// Returns the key of the operation.
    pub fn key(&self) -> &K {
        match self {
            Call::Get(key) | Call::Put(key, _) | Call::Append(key, _) => key,
        }
    }
}

/// The result of an operation of a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Return {
    /// The text was written.
    Done,
    /// The key's text.
    Text(String),
}

/// A store of texts.
#[derive(Clone, Copy, Debug)]
pub struct KeyValue<K>(PhantomData<fn() -> K>);

of_any_values!(KeyValue<K>);

impl<K: Clone + Ord + Hash> Sequential for KeyValue<K> {
    type Call = Call<K>;
    type Return = Return;
    /// Keys with texts that are not empty, in order. There is one, as a key is a part.
    type State = Vec<(K, Arc<str>)>;

    fn initial(&self) -> Self::State {
        Vec::new()
    }

    fn apply(&self, state: &mut Self::State, call: &Call<K>) -> Option<Return> {
        let found = state.binary_search_by(|(key, _)| key.cmp(call.key()));
        let text = found.map_or("", |at| &state[at].1);
        let after: Arc<str> = match call {
            Call::Get(_) => return Some(Return::Text(text.to_owned())),
            Call::Put(_, text) => text.as_str().into(),
            Call::Append(_, more) => format!("{text}{more}").into(),
        };
        match found {
            Ok(at) if after.is_empty() => {
                state.remove(at);
            }
            Ok(at) => state[at].1 = after,
            Err(_) if after.is_empty() => {}
            Err(at) => state.insert(at, (call.key().clone(), after)),
        }
        Some(Return::Done)
    }

    fn part(&self, call: &Call<K>) -> Option<u64> {
        Some(part_of(call.key()))
    }
}
