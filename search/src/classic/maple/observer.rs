//! The listener that a session has on executions: it looks at each when it is over, and costs nothing before.

use super::access::{Access, word};
use super::session::Session;
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SiteId};
use std::collections::HashMap;

/// Tells a session what executions did.
pub(super) struct Observer {
    session: Session,
    /// Numbers of places, by what the engine calls them.
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

    /// Returns an iRoot is there in all executions of a trace, or in none.
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
