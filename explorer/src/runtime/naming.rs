//! Names of tasks, variables and places, for people. They depend on nothing but the execution.

use super::var::{NOBODY, VarKind, Vars};
use super::{Runtime, Site, Task};

/// `main`, or the name its creator gave it, or `task 2`; a task of a task is `task 2.1`.
pub(super) fn task_name(rt: &Runtime, task: u32) -> String {
    if task == NOBODY || task >= rt.created {
        return "nobody".into();
    }
    known_task_name(&rt.tasks, task)
}

fn known_task_name(tasks: &[Task], task: u32) -> String {
    match &tasks[task as usize].name {
        Some(name) => name.to_string(),
        None if task == 0 => "main".into(),
        None => format!("task {}", lineage(tasks, task)),
    }
}

/// Who created it and the how-manieth it was, all the way up: the first task's own tasks are `1`, `2`, ..
pub(super) fn lineage(tasks: &[Task], task: u32) -> String {
    let entry = &tasks[task as usize];
    match (task, entry.parent) {
        (0, _) => "0".into(),
        (_, 0) => entry.ordinal.to_string(),
        (_, parent) => format!("{}.{}", lineage(tasks, parent), entry.ordinal),
    }
}

/// The kind of the variable, who used it first, and the how-manieth it was: `mutex 0.2`. A task's own
/// variable has the task's name.
pub(super) fn var_name(rt: &Runtime, var: u32) -> String {
    if var as usize >= rt.vars.count() {
        return String::new();
    }
    match rt.vars[var].kind {
        VarKind::Task => known_task_name(&rt.tasks, rt.vars[var].first_user),
        _ => var_identity(&rt.vars, &rt.tasks, var),
    }
}

/// What tells a variable from all others of its execution: its name, but for a task's own, whose names may equal.
pub(crate) fn var_identity(vars: &Vars, tasks: &[Task], var: u32) -> String {
    let entry = &vars[var];
    let user = lineage(tasks, entry.first_user);
    match entry.kind {
        VarKind::Task => format!("task {user}"),
        kind => format!("{} {user}.{}", kind.name(), entry.ordinal),
    }
}

/// `file:line:column`
pub(crate) fn site_name(site: Site) -> String {
    format!("{}:{}:{}", site.file(), site.line(), site.column())
}
