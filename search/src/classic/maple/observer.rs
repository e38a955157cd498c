//! The monitor by which a session observes executions: it analyses each when it has ended, and costs nothing before.

use super::access::{Access, word};
use super::session::Session;
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SiteId};
use std::collections::HashMap;

/// A monitor that passes executions to a session.
pub(super) struct Observer {
    session: Session,
    /// Numbers of places, by the engine's identities.
    places: HashMap<(SiteId, &'static str), u32>,
}

impl Observer {
    pub(super) fn new(session: Session) -> Observer {
        Observer {
            session,
            places: HashMap::new(),
        }
    }
}

impl Monitor for Observer {
    fn name(&self) -> &str {
        "iroots"
    }

    fn interests(&self) -> Interests {
        Interests::NONE
    }

    /// Returns `true`: all executions of a trace have an iRoot, or none.
    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let mut session = self.session.get();
        if !session.listens() {
            return;
        }
        session.begin();
        for event in execution.accesses {
            let accesses = match word(event.op) {
                None => Default::default(),
                Some(word) => {
                    let key = (event.site, word);
                    let place = *self.places.entry(key).or_insert_with(|| {
                        let site = cx.site_name(event.site);
                        session.place(format!("{site} {word}"))
                    });
                    Access::of(event, place)
                }
            };
            session.add(event, &accesses);
        }
        session.end();
    }
}
