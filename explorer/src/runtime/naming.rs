//! Names of tasks, variables and places, for people. They depend on nothing but the execution.

use super::var::NOBODY;
use super::{Runtime, Site};

/// `main`, or the name its creator gave it, or `task 2`; a task of a task is `task 2.1`.
pub(super) fn task_name(rt: &Runtime, task: u32) -> String {
    if task == NOBODY || task >= rt.created {
        return "nobody".into();
    }
    let entry = &rt.tasks[task as usize];
    match &entry.name {
        Some(name) => name.to_string(),
        None if task == 0 => "main".into(),
        None => format!("task {}", lineage(rt, task)),
    }
}

/// Who created it and the how-manieth it was, all the way up: the first task's own tasks are `1`, `2`, ..
pub(super) fn lineage(rt: &Runtime, task: u32) -> String {
    let entry = &rt.tasks[task as usize];
    match (task, entry.parent) {
        (0, _) => "0".into(),
        (_, 0) => entry.ordinal.to_string(),
        (_, parent) => format!("{}.{}", lineage(rt, parent), entry.ordinal),
    }
}

/// The kind of the variable, who used it first, and the how-manieth it was: `mutex 0.2`. A task's own
/// variable has the task's name.
pub(super) fn var_name(rt: &Runtime, var: u32) -> String {
    if var as usize >= rt.vars.count() {
        return String::new();
    }
    let entry = &rt.vars[var];
    if let super::VarKind::Task = entry.kind {
        return task_name(rt, entry.first_user);
    }
    format!(
        "{} {}.{}",
        entry.kind.name(),
        lineage(rt, entry.first_user),
        entry.ordinal
    )
}

/// `file:line:column`
pub(super) fn site_name(site: Site) -> String {
    format!("{}:{}:{}", site.file(), site.line(), site.column())
}
