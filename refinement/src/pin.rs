//! Scenarios that a test tries first.

use crate::operation::{Argument, Operation};
use crate::scenario::{Scenario, Step};
use std::fmt::{Debug, Write};

/// A scenario, written down: see [`Refinement::pin`](crate::Refinement::pin).
pub struct Pin<'a, T> {
    operations: &'a [Operation<T>],
    scenario: Scenario,
}

/// The operations of one task of a pinned scenario.
pub struct PinTask<'a, T> {
    operations: &'a [Operation<T>],
    steps: Vec<Step>,
}

impl<'a, T> Pin<'a, T> {
    pub(crate) fn new(operations: &'a [Operation<T>]) -> Pin<'a, T> {
        Pin {
            operations,
            scenario: Scenario::default(),
        }
    }

    /// Adds an operation before the tasks.
    ///
    /// # Panics
    /// If there is no operation of that name, or its argument is of another type.
    pub fn init<V: Clone + Debug + Send + Sync + 'static>(mut self, operation: &str, argument: V) -> Self {
        self.scenario
            .init
            .push(step(self.operations, operation, argument));
        self
    }

    /// Adds a task. A task without operations is left out.
    pub fn task(mut self, describe: impl FnOnce(PinTask<'a, T>) -> PinTask<'a, T>) -> Self {
        let task = describe(PinTask {
            operations: self.operations,
            steps: Vec::new(),
        });
        if !task.steps.is_empty() {
            self.scenario.tasks.push(task.steps);
        }
        self
    }

    /// Adds an operation after the tasks have ended.
    ///
    /// # Panics
    /// If there is no operation of that name, or its argument is of another type.
    pub fn post<V: Clone + Debug + Send + Sync + 'static>(mut self, operation: &str, argument: V) -> Self {
        self.scenario
            .post
            .push(step(self.operations, operation, argument));
        self
    }

    pub(crate) fn scenario(self) -> Scenario {
        self.scenario
    }
}

impl<T> PinTask<'_, T> {
    /// Adds the task's next operation.
    ///
    /// # Panics
    /// If there is no operation of that name, or its argument is of another type.
    pub fn op<V: Clone + Debug + Send + Sync + 'static>(mut self, operation: &str, argument: V) -> Self {
        self.steps.push(step(self.operations, operation, argument));
        self
    }
}

fn step<T, V: Clone + Debug + Send + Sync + 'static>(
    operations: &[Operation<T>],
    name: &str,
    argument: V,
) -> Step {
    let at = operations.iter().position(|operation| operation.name == name);
    let operation =
        at.unwrap_or_else(|| panic!("there is no operation `{name}`: it has to come before `pin`"));
    assert!(
        operations[operation].takes::<V>(),
        "the argument of `{name}` is of another type than {}: write it with its type, as in `1u8`",
        std::any::type_name::<V>()
    );
    Step {
        operation,
        argument: Argument::new(argument),
    }
}

/// Returns the lines that pin a scenario. Arguments are written as far as their `Debug` text allows.
pub(crate) fn lines(scenario: &Scenario, names: &[String]) -> String {
    let mut text = String::from(".pin(|s| s");
    let arguments = |step: &Step| match step.argument.text() {
        "" => format!("(\"{}\", ())", names[step.operation]),
        _ => format!("(\"{}\", {})", names[step.operation], step.argument.literal()),
    };
    let mut add = |part: String| text.write_str(&part).expect("a string takes everything");
    scenario
        .init
        .iter()
        .for_each(|step| add(format!("\n    .init{}", arguments(step))));
    for task in &scenario.tasks {
        let ops: String = task
            .iter()
            .map(|step| format!(".op{}", arguments(step)))
            .collect();
        add(format!("\n    .task(|t| t{ops})"));
    }
    scenario
        .post
        .iter()
        .for_each(|step| add(format!("\n    .post{}", arguments(step))));
    add(")".into());
    text
}
