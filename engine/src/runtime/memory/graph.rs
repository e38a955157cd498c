//! The execution graph of the current execution.

use super::{Memory, sync_var_access};
use crate::memory_model::{ExecutionGraph, Node};
use crate::record::Event;
use crate::runtime::naming::site_name;
use intermezzo_sdk::SiteId;
use std::collections::BTreeMap;

impl Memory {
    /// Returns the execution graph of these events, with the program's own orderings; `None` without a model.
    pub(in crate::runtime) fn graph(&self, events: &[Event]) -> Option<ExecutionGraph> {
        self.model.as_ref()?;
        let mut graph = ExecutionGraph {
            values: self.vars.iter().map(|var| var.values.clone()).collect(),
            ..ExecutionGraph::default()
        };
        let mut sites: BTreeMap<usize, u32> = BTreeMap::new();
        let mut overwrites = self.overwrites.iter().peekable();
        for (at, (event, store)) in events.iter().zip(&self.event_stores).enumerate() {
            while let Some((_, var)) = overwrites.next_if(|(before, _)| *before <= at) {
                graph.nodes.push(Node::Overwrite(*var));
            }
            let site = *sites.entry(event.site.word()).or_insert_with(|| {
                graph.places.push(site_name(event.site));
                graph.places.len() as u32 - 1
            });
            let mut access = sync_var_access(event, SiteId(site), store.number);
            access.order = self.raised.own(access.event, event.op).unwrap_or(access.order);
            graph.nodes.push(Node::Event(access, store.performed));
        }
        Some(graph)
    }
}
