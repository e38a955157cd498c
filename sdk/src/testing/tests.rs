//! Scripts, played to a monitor that records all that it receives.

use super::*;

/// A monitor that records what it receives, and asks about it.
#[derive(Default)]
struct Curious(Vec<String>);

impl Monitor for Curious {
    fn name(&self) -> &str {
        "curious"
    }
    fn interests(&self) -> Interests {
        Interests::ALL
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        self.0.push(format!("{} of {:?}", next.op, cx.enabled()));
    }
    fn on_aggregate_sync_var_access(&mut self, _: &SyncVarAccess, vars: &[SyncVar], cx: &mut Context<'_>) {
        self.0.push(
            vars.iter()
                .map(|var| cx.var_name(*var))
                .collect::<Vec<_>>()
                .join("+"),
        );
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.0.push(cx.location_name(access.location));
    }
    fn on_user_event(&mut self, event: &UserEvent<'_>, _: &mut Context<'_>) {
        self.0.push(event.text.into());
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        self.0.push(format!(
            "end {} {}",
            execution.accesses.len(),
            cx.accesses().len()
        ));
    }
    fn on_shutdown(&mut self, _: &mut Context<'_>) {
        self.0.push("shutdown".into());
    }
}

#[test]
fn a_script_is_played_like_an_execution() {
    let mut script = Script::new();
    let (mutex, condvar) = (script.var("mutex"), script.var("condvar"));
    let cell = script.location("cell");
    let child = script.fork(Script::MAIN);
    script.write(child, cell).say(child, "written");
    let released = u64::from(mutex.0);
    script.sync(
        child,
        SyncVarOp::CondvarWait,
        condvar,
        MemoryOrder::None,
        0,
        released,
    );
    script.join(Script::MAIN, child);
    let mut curious = Curious::default();
    assert!(script.play(&mut curious).is_empty());
    assert_eq!(
        curious.0,
        [
            "begin of [TaskId(0)]",
            "spawn of [TaskId(0)]",
            "begin of [TaskId(0), TaskId(1)]",
            "cell",
            "written",
            "wait of [TaskId(0), TaskId(1)]",
            "condvar+mutex",
            "end of [TaskId(0), TaskId(1)]",
            "join of [TaskId(0)]",
            "end 6 6",
            "shutdown",
        ]
    );
}

/// Two reads are not ordered. What a write comes before, and what comes before it, is ordered.
#[test]
fn the_order_is_that_of_conflicts() {
    let mut script = Script::new();
    let (main, relaxed) = (Script::MAIN, MemoryOrder::Relaxed);
    let x = script.var("x");
    let (a, b) = (script.fork(main), script.fork(main));
    let first = script.load(a, x, relaxed, 0);
    let second = script.load(b, x, relaxed, 0);
    let third = script.store(a, x, relaxed, 1);
    let joined = script.join(main, b);
    let mut order = HappensBefore::new();
    for event in script.events() {
        let Event::Sync(access) = event else {
            unreachable!("only visible operations were written down")
        };
        order.add(access);
    }
    assert!(!order.before(first, second) && !order.before(second, first));
    assert!(order.before(second, third) && !order.before(third, second));
    assert!(order.before(second, joined) && !order.before(third, joined));
    let unknown = EventId { task: b, index: 9 };
    assert!(!order.before(unknown, third) && !order.before(third, unknown));
    assert_eq!(order.clock(unknown), None);
}
