//! The stacks of an execution's events: noted as addresses while it runs, and named when it is over.

use super::{RecordedFunction, Recording};
use hashbrown::HashMap;
use intermezzo_engine::stack;
use intermezzo_sdk::{EventId, TaskId};

/// Stacks as return addresses, each once, and which event has which.
#[derive(Default)]
pub(super) struct Stacks {
    list: Vec<Vec<usize>>,
    places: HashMap<Vec<usize>, usize>,
    of: HashMap<EventId, usize>,
}

impl Stacks {
    /// Notes the stack of the current task, which has just made this event.
    pub(super) fn note(&mut self, event: EventId) {
        let stack = stack::here();
        if stack.is_empty() {
            return;
        }
        let place = *self.places.entry(stack).or_insert_with_key(|stack| {
            self.list.push(stack.clone());
            self.list.len() - 1
        });
        self.of.insert(event, place);
    }

    /// Puts the stacks into the recording of the execution, with the names and places of their functions. Events on
    /// whose stack is no function of the program get none.
    pub(super) fn add_to(&self, recording: &mut Recording) {
        let mut functions = Functions::new(recording);
        let mut ids: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut named: Vec<Option<usize>> = vec![None; self.list.len()];
        let mut is_named = vec![false; self.list.len()];
        for at in 0..functions.recording.events.len() {
            let event = &functions.recording.events[at];
            let id = EventId {
                task: TaskId(event.task as u32),
                index: event.index,
            };
            let Some(&place) = self.of.get(&id) else { continue };
            if !is_named[place] {
                is_named[place] = true;
                let stack = functions.named(&self.list[place]);
                if !stack.is_empty() {
                    named[place] = Some(*ids.entry(stack).or_insert_with_key(|stack| {
                        functions.recording.stacks.push(stack.clone());
                        functions.recording.stacks.len() - 1
                    }));
                }
            }
            functions.recording.events[at].stack = named[place];
        }
    }
}

/// The functions and places of a recording, with the index of each.
struct Functions<'a> {
    recording: &'a mut Recording,
    sites: HashMap<String, usize>,
    functions: HashMap<(String, usize), usize>,
    /// The functions that a return address is in, innermost first.
    at: HashMap<usize, Vec<usize>>,
}

impl Functions<'_> {
    fn new(recording: &mut Recording) -> Functions<'_> {
        let sites = recording.sites.iter().cloned().zip(0..).collect();
        Functions {
            recording,
            sites,
            functions: HashMap::new(),
            at: HashMap::new(),
        }
    }

    /// Returns a stack of functions, innermost first.
    fn named(&mut self, stack: &[usize]) -> Vec<usize> {
        let mut all = Vec::new();
        for &address in stack {
            if !self.at.contains_key(&address) {
                let callers = stack::callers(address);
                let functions = callers.into_iter().map(|caller| self.function(caller)).collect();
                self.at.insert(address, functions);
            }
            all.extend(&self.at[&address]);
        }
        all
    }

    fn function(&mut self, caller: stack::Caller) -> usize {
        let Recording { sites, functions, .. } = &mut *self.recording;
        let site = *self.sites.entry(caller.place).or_insert_with_key(|place| {
            sites.push(place.clone());
            sites.len() - 1
        });
        let key = (caller.function, site);
        *self.functions.entry(key).or_insert_with_key(|(name, site)| {
            functions.push(RecordedFunction {
                name: name.clone(),
                site: *site,
            });
            functions.len() - 1
        })
    }
}
