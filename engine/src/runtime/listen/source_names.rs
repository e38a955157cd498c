//! The names of variables in the source, for monitors that ask.
//!
//! A variable's name depends on the places where it was used so far. They are collected when a monitor first asks for a
//! name in an execution, and each later request adds the new ones. Nothing is done for monitors that do not ask.

use super::super::Runtime;
use super::super::naming::site_name;
use super::record::Record;
use intermezzo_sdk::{SiteId, SyncVar};
use std::cell::RefCell;
use std::collections::HashMap;

/// The name of a variable in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceName {
    /// The name; empty if there is none.
    pub name: String,
    /// The place where the variable is made, as `file:line:column`, if that is known.
    pub made_at: Option<String>,
}

/// A reader of the source, which finds the names of variables.
pub trait SourceNames {
    /// Returns the name of a variable of this kind that is used at these places, each `file:line:column`.
    fn name(&mut self, kind: &str, sites: &[String]) -> SourceName;

    /// Returns the modules, the type and the function around a place, `file:line:column`, in its file: the outermost
    /// first. Empty if they are not known.
    fn items(&mut self, site: &str) -> Vec<String>;
}

/// The names that monitors have asked for.
#[derive(Default)]
pub(super) struct AskedNames {
    reader: Option<Box<dyn SourceNames + Send>>,
    /// The execution to which the other fields belong.
    epoch: u64,
    /// The number of accesses whose places are known.
    accesses: usize,
    /// The variables' places, each once, in order.
    sites: HashMap<SyncVar, Vec<SiteId>>,
    /// The names found, each with the number of places that it was found from.
    found: HashMap<SyncVar, (usize, SourceName)>,
}

impl AskedNames {
    /// Adds the places of the accesses since the last request.
    fn catch_up(&mut self, epoch: u64, record: &Record) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.accesses = 0;
            self.sites.clear();
            self.found.clear();
        }
        let accesses = record.accesses();
        for access in &accesses[self.accesses.min(accesses.len())..] {
            let sites = self.sites.entry(access.var).or_default();
            if !sites.contains(&access.site) {
                sites.push(access.site);
            }
        }
        self.accesses = accesses.len();
    }
}

/// Returns the name of a variable in the source, as far as the accesses so far show it.
pub(super) fn of(rt: &Runtime, record: &Record, asked: &RefCell<AskedNames>, var: SyncVar) -> SourceName {
    if var.index() >= rt.objects.vars.count() {
        return SourceName::default();
    }
    let mut asked = asked.borrow_mut();
    if asked.reader.is_none() {
        return SourceName::default();
    }
    asked.catch_up(rt.objects.epoch(), record);
    let known = &rt.objects.vars[var.0];
    let at: &[SiteId] = asked.sites.get(&var).map_or(&[], Vec::as_slice);
    if let Some((places, name)) = asked.found.get(&var)
        && *places == at.len()
    {
        return name.clone();
    }
    let places = at.len();
    let mut sites: Vec<String> = at
        .iter()
        .filter_map(|&site| record.site(site))
        .map(site_name)
        .collect();
    // The first use may be an operation that has only been announced.
    let first = known.first_site.map(site_name);
    if let Some(first) = first.filter(|first| !sites.contains(first)) {
        sites.insert(0, first);
    }
    let kind = known.kind.name();
    let reader = asked.reader.as_mut().expect("it is there");
    let name = reader.name(kind, &sites);
    asked.found.insert(var, (places, name.clone()));
    name
}

impl super::Listeners {
    /// Sets the reader of the source for monitors that ask for names.
    pub fn read_names_by(&mut self, reader: Box<dyn SourceNames + Send>) {
        self.asked_names.get_mut().reader = Some(reader);
    }
}
