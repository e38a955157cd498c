//! Names of tasks, variables and places, for people. They depend only on the execution.

use super::Runtime;
use crate::record::{NO_TASK, Task, VarKind, Vars};
use crate::site::Site;

/// Returns `main`, or the name that the creator gave the task, or `task 2`; a task of a task is `task 2.1`.
pub(super) fn task_name(rt: &Runtime, task: u32) -> String {
    if task == NO_TASK || task >= rt.tasks.created() {
        return "nobody".into();
    }
    known_task_name(rt.tasks.with_earlier(), task)
}

/// Returns the name of one of these tasks: `main`, or the name that the creator gave it, or `task 2`.
pub fn known_task_name(tasks: &[Task], task: u32) -> String {
    match &tasks[task as usize].name {
        Some(name) => name.to_string(),
        None if task == 0 => "main".into(),
        None => format!("task {}", lineage(tasks, task)),
    }
}

/// The maximum number of levels of creation for which a task's name has one number per level.
const LEVELS_PLAIN: usize = 8;

/// Returns the numbers of a task and of its creators, from the top, each among its creator's tasks. The first task's
/// own tasks are `1`, `2`, .. For a task that is created more than 8 levels deep, equal numbers in a row are counted:
/// `1^30.2`.
pub(super) fn lineage(tasks: &[Task], task: u32) -> String {
    if task == 0 {
        return "0".into();
    }
    let up = |&task: &u32| Some(tasks[task as usize].parent).filter(|&parent| parent != 0);
    let mut ordinals: Vec<u32> = std::iter::successors(Some(task), up)
        .map(|task| tasks[task as usize].ordinal)
        .collect();
    ordinals.reverse();
    let runs: Vec<String> = if ordinals.len() <= LEVELS_PLAIN {
        ordinals.iter().map(u32::to_string).collect()
    } else {
        let run = |run: &[u32]| match run.len() {
            1 => run[0].to_string(),
            length => format!("{}^{length}", run[0]),
        };
        ordinals.chunk_by(|a, b| a == b).map(run).collect()
    };
    runs.join(".")
}

/// Returns the kind of the variable, its first user, and its index among that task's variables: `mutex 0.2`. A task's
/// own variable has the task's name.
pub(super) fn var_name(rt: &Runtime, var: u32) -> String {
    if var as usize >= rt.objects.vars.count() {
        return String::new();
    }
    match rt.objects.vars[var].kind {
        VarKind::Task => known_task_name(rt.tasks.with_earlier(), rt.objects.vars[var].first_user),
        _ => var_identity(&rt.objects.vars, rt.tasks.with_earlier(), var),
    }
}

/// Returns the identity of a variable in its execution: its name, except for a task's own, since tasks may have equal
/// names.
pub fn var_identity(vars: &Vars, tasks: &[Task], var: u32) -> String {
    let entry = &vars[var];
    let user = lineage(tasks, entry.first_user);
    match entry.kind {
        VarKind::Task => format!("task {user}"),
        VarKind::Clock => "the clock".into(),
        kind => format!("{} {user}.{}", kind.name(), entry.ordinal),
    }
}

/// Returns `file:line:column`; nothing if the place is not known.
pub fn site_name(site: Site) -> String {
    if site.is_same_word(Site::NOWHERE) {
        return String::new();
    }
    site.to_string()
}
