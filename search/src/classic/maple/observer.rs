//! The monitor through which a session observes executions. It analyses each execution when it has ended, and costs
//! nothing while it runs.

use super::access::Effect;
use super::session::Session;
use crate::classic::slots::slot;
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarAccess, SyncVarOp};

/// A monitor that passes executions to a session.
pub(super) struct Observer {
    session: Session,
    /// The effects of operations, by the engine's number of the site, and by operation.
    places: Vec<[Known; SyncVarOp::ALL.len()]>,
}

/// The known effect of an operation at a site.
#[derive(Clone, Copy)]
enum Known {
    NotYet,
    /// It is not an access.
    Nothing,
    Access(Effect),
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

    /// Returns `true`, because an iRoot is exposed by all executions of a trace or by none.
    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let mut session = self.session.get();
        if !session.listens() {
            return;
        }
        session.begin();
        // It is known which accesses matter when all have been noted.
        for event in execution.accesses {
            let sites = slot(&mut self.places, event.site.0, || {
                [Known::NotYet; SyncVarOp::ALL.len()]
            });
            let known = &mut sites[event.op as usize];
            if let Known::NotYet = known {
                let effect = session.effect(event.op, cx.site_name(event.site));
                *known = effect.map_or(Known::Nothing, Known::Access);
            }
            if let Known::Access(effect) = *known {
                session.note(event, effect);
            }
        }
        let effect = |event: &SyncVarAccess| match self.places[event.site.0 as usize][event.op as usize] {
            Known::Access(effect) => Some(effect),
            Known::NotYet | Known::Nothing => None,
        };
        for event in execution.accesses {
            if let Some(effect) = effect(event) {
                session.add(event, effect);
            }
        }
        if session.is_profiled() {
            for event in execution.accesses {
                session.profile(event, effect(event));
            }
            session.predict();
        }
        session.end();
    }
}
