//! The monitor by which a session observes executions: it analyses each when it has ended, and costs nothing before.

use super::access::Access;
use super::session::Session;
use super::slots::slot;
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarOp};

/// A monitor that passes executions to a session.
pub(super) struct Observer {
    session: Session,
    /// The numbers of places, by the engine's number of the site and by operation.
    places: Vec<[Known; SyncVarOp::ALL.len()]>,
}

/// An operation at a site.
#[derive(Clone, Copy)]
enum Known {
    NotYet,
    /// It is no access.
    Nothing,
    /// It is an access at the place with this number.
    Place(u32),
}

impl Observer {
    pub(super) fn new(session: Session) -> Observer {
        Observer {
            session,
            places: Vec::new(),
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
            let sites = slot(&mut self.places, event.site.0, || {
                [Known::NotYet; SyncVarOp::ALL.len()]
            });
            let known = &mut sites[event.op as usize];
            if let Known::NotYet = known {
                let place = session.place(event.op, cx.site_name(event.site));
                *known = place.map_or(Known::Nothing, Known::Place);
            }
            match *known {
                Known::Place(place) => session.add(event, &Access::of(event, place)),
                Known::NotYet | Known::Nothing => session.add(event, &[]),
            }
        }
        session.end();
    }
}
