//! The call stacks of an execution's events: noted as addresses while it runs, and named when it is over.

use super::{RecordedFunction, Recording};
use hashbrown::HashMap;
use intermezzo_engine::call_stack;

/// The distinct call stacks of an execution, as return addresses.
#[derive(Default)]
pub(super) struct Stacks {
    places: HashMap<Vec<usize>, usize>,
    /// The one that was noted last.
    last: Vec<usize>,
}

impl Stacks {
    /// Notes the stack of the current task, and returns its index; `None` if stacks are not known here.
    pub(super) fn note(&mut self) -> Option<usize> {
        call_stack::note(&mut self.last);
        if self.last.is_empty() {
            return None;
        }
        if let Some(&place) = self.places.get(&self.last) {
            return Some(place);
        }
        let place = self.places.len();
        self.places.insert(self.last.clone(), place);
        Some(place)
    }

    /// Gives the recording the names and places of the functions on its stacks. Its events and accesses refer to stacks
    /// by the index that `note` returned. One whose stack has no function of the program gets none.
    pub(super) fn add_to(self, recording: &mut Recording) {
        let mut stacks: Vec<(Vec<usize>, usize)> = self.places.into_iter().collect();
        stacks.sort_unstable_by_key(|&(_, place)| place);
        let mut named: Vec<Option<Option<usize>>> = vec![None; stacks.len()];
        let mut functions = Functions::new(&mut recording.sites);
        let mut indices: HashMap<Vec<usize>, usize> = HashMap::new();
        let of_events = recording.events.iter_mut().map(|event| &mut event.stack);
        let of_accesses = recording.data.iter_mut().map(|access| &mut access.stack);
        for stack in of_events.chain(of_accesses) {
            let Some(place) = *stack else { continue };
            *stack = *named[place].get_or_insert_with(|| {
                let names = functions.named(&stacks[place].0);
                let next = indices.len();
                (!names.is_empty()).then(|| *indices.entry(names).or_insert(next))
            });
        }
        recording.functions = functions.list;
        let mut all: Vec<(Vec<usize>, usize)> = indices.into_iter().collect();
        all.sort_unstable_by_key(|&(_, index)| index);
        recording.stacks = all.into_iter().map(|(names, _)| names).collect();
    }
}

/// The functions of a recording, and its places in the source.
struct Functions<'a> {
    list: Vec<RecordedFunction>,
    sites: &'a mut Vec<String>,
    /// The indices of both.
    places: HashMap<String, usize>,
    indices: HashMap<(String, usize), usize>,
    /// The functions at each return address, innermost first.
    by_address: HashMap<usize, Vec<usize>>,
}

impl Functions<'_> {
    fn new(sites: &mut Vec<String>) -> Functions<'_> {
        Functions {
            list: Vec::new(),
            places: sites.iter().cloned().zip(0..).collect(),
            sites,
            indices: HashMap::new(),
            by_address: HashMap::new(),
        }
    }

    /// Returns the functions of the program on a stack, innermost first.
    fn named(&mut self, stack: &[usize]) -> Vec<usize> {
        let mut all = Vec::new();
        for &address in stack {
            if !self.by_address.contains_key(&address) {
                let functions = call_stack::functions_at(address).into_iter();
                let functions = functions.map(|function| self.index_of(function)).collect();
                self.by_address.insert(address, functions);
            }
            all.extend(&self.by_address[&address]);
        }
        all
    }

    fn index_of(&mut self, function: call_stack::Function) -> usize {
        let site = *self.places.entry(function.place).or_insert_with_key(|place| {
            self.sites.push(place.clone());
            self.sites.len() - 1
        });
        let key = (function.name, site);
        *self.indices.entry(key).or_insert_with_key(|(name, site)| {
            self.list.push(RecordedFunction {
                name: name.clone(),
                site: *site,
            });
            self.list.len() - 1
        })
    }
}
