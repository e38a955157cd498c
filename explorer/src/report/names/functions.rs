//! The functions that tasks run, by the places where the tasks are created: `producer` for `spawn(move || producer(&q))`.
//!
//! Only a function of the same file, a local closure, or a function of a module is named, and only if it is all that the
//! task runs. Misses: methods of other files, and tasks that a library creates.

use super::binding::Binding;
use super::source_files::SourceFiles;
use super::tokens::Tokens;
use crate::report::Finding;
use crate::report::recording::Recording;
use std::collections::BTreeMap;
use std::ops::Range;

/// Modules of the standard library: their functions say nothing about a task.
const OF_STD: &[&str] = &["alloc", "core", "hint", "mem", "process", "ptr", "std", "thread"];

/// Returns the functions that the finding's tasks run, by the tasks' names. A task whose thread has a name is left out.
pub(in crate::report) fn functions(finding: &Finding, files: &mut SourceFiles) -> BTreeMap<String, String> {
    let spawns = finding.events.iter().filter(|event| event.op == "spawn");
    of_spawns(spawns.map(|event| (&*event.var, &*event.site)), files)
}

/// Gives the tasks of an execution the functions that they run.
pub(in crate::report) fn of_recorded(recording: &mut Recording, files: &mut SourceFiles) {
    let events = recording.events.iter().filter(|event| event.op == "spawn");
    let spawns = events.filter_map(|event| {
        let (var, site) = (recording.vars.get(event.var?)?, recording.sites.get(event.site?)?);
        Some((&*var.name, &**site))
    });
    let functions = of_spawns(spawns, files);
    for task in &mut recording.tasks {
        task.function = functions.get(&task.name).cloned();
    }
}

/// Returns the functions of the tasks that are created at these places, by the tasks' names.
fn of_spawns<'a>(
    spawns: impl Iterator<Item = (&'a str, &'a str)>,
    files: &mut SourceFiles,
) -> BTreeMap<String, String> {
    let unnamed = spawns.filter(|(task, _)| {
        let number = task.strip_prefix("task ");
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    });
    let named = unnamed.filter_map(|(task, site)| {
        let (tokens, at) = files.token(site)?;
        Some((task.to_owned(), tokens.function_spawned(at)?))
    });
    named.collect()
}

impl Tokens {
    /// Returns the name of the function that the task runs which is created at this token.
    fn function_spawned(&self, at: usize) -> Option<String> {
        let mut last = at;
        while self.text(last + 1) == "::" && self.is_name(last + 2) {
            last += 2;
        }
        let open = last + 1;
        if !self.text(last).starts_with("spawn") || self.text(open) != "(" {
            return None;
        }
        let arguments = self.parts(open);
        let [run] = &arguments[..] else { return None };
        self.function_of(run.clone())
    }

    /// Returns the name of the function that is called by a closure, or that this is.
    fn function_of(&self, run: Range<usize>) -> Option<String> {
        let last = run.end.checked_sub(1)?;
        match self.text(run.start) {
            // The closure at the end of a block.
            "{" if self.partner(run.start) == last => {
                let mut begin = run.start + 1;
                let mut at = begin;
                while at < last {
                    at = match self.text(at) {
                        ";" => {
                            begin = at + 1;
                            begin
                        }
                        "(" | "[" | "{" => self.partner(at) + 1,
                        _ => at + 1,
                    };
                }
                self.function_of(begin..last)
            }
            "move" => self.function_of(run.start + 1..run.end),
            "||" => self.function_called(run.start + 1..run.end),
            "|" => {
                let close = (run.start + 1..run.end).find(|&at| self.text(at) == "|")?;
                self.function_called(close + 1..run.end)
            }
            _ => self.function_at(run.start, last),
        }
    }

    /// Returns the name of the function that is all that the body of a closure calls.
    fn function_called(&self, body: Range<usize>) -> Option<String> {
        let mut body = body;
        let last = body.end.checked_sub(1).filter(|last| *last >= body.start)?;
        if self.text(body.start) == "{" && self.partner(body.start) == last {
            body = body.start + 1..last - usize::from(self.before(last) == ";");
        }
        let close = body.end.checked_sub(1).filter(|close| *close > body.start)?;
        if self.text(close) != ")" {
            return None;
        }
        let open = self.partner(close);
        let name = open.checked_sub(1).filter(|name| *name >= body.start)?;
        if self.before(name) != "." {
            return self.function_at(body.start, name);
        }
        let receiver = self.path_within(body.start, name.checked_sub(2)?);
        (receiver.is_some() && self.declares(self.text(name))).then(|| self.text(name).to_owned())
    }

    /// Returns the name of the function whose path these tokens are.
    fn function_at(&self, first: usize, last: usize) -> Option<String> {
        let name = self.text(last);
        let mut path = first..last;
        let is_path = (last - first).is_multiple_of(2)
            && path.all(|at| match (at - first).is_multiple_of(2) {
                true => self.is_name(at) || matches!(self.text(at), "self" | "super" | "crate" | "Self"),
                false => self.text(at) == "::",
            });
        if !is_path || !self.is_name(last) || name.starts_with(char::is_uppercase) {
            return None;
        }
        let is_known = match first == last {
            true => self.declares(name) || self.is_closure(name, last),
            false => !OF_STD.contains(&self.text(first)),
        };
        is_known.then(|| name.to_owned())
    }

    /// `true` if the local name of this token is a closure's. The name of a parameter says nothing about it.
    fn is_closure(&self, name: &str, used: usize) -> bool {
        let value = match self.binding(name, used) {
            Some(Binding::Let(value)) => value,
            _ => return false,
        };
        matches!(self.text(value.start), "move" | "|" | "||")
    }

    fn declares(&self, function: &str) -> bool {
        (1..self.count()).any(|at| self.text(at) == function && self.before(at) == "fn")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the function that the task runs which is created at the `@`.
    fn function(body: &str) -> Option<String> {
        let text =
            format!("fn producer(q: &Q) {{}} impl Q {{ fn consume(&self) {{}} }} fn test() {{ {body} }}");
        let at = text.find('@').unwrap() + 1;
        let tokens = Tokens::read(text.replace('@', "")).unwrap();
        tokens.function_spawned(tokens.at(1, at).unwrap())
    }

    #[test]
    fn a_task_has_the_name_of_the_only_function_that_it_runs() {
        for (body, expected) in [
            ("@thread::spawn(producer);", Some("producer")),
            ("@thread::spawn(roles::reader);", Some("reader")),
            ("@thread::spawn(move || producer(&q));", Some("producer")),
            ("@spawn(|| { producer(&q); });", Some("producer")),
            ("s.@spawn(|_| producer(&q));", Some("producer")),
            ("s.@spawn(|| q.consume());", Some("consume")),
            ("s.@spawn(move || shared.queue.consume());", Some("consume")),
            ("s.@spawn(|| roles::reader(1, f(2)));", Some("reader")),
            (
                "@thread::spawn({ let q = q.clone(); move || producer(&q) });",
                Some("producer"),
            ),
            ("let work = || 1; s.@spawn(work);", Some("work")),
            ("let work = || 1; s.@spawn(|| work());", Some("work")),
            ("let run = |body: fn()| s.@spawn(body);", None),
            ("let work = make(); s.@spawn(work);", None),
            (
                "Builder::new().name(n).@spawn(|| producer(&q)).unwrap();",
                Some("producer"),
            ),
            // More than one call, or none that says something.
            ("s.@spawn(|| { producer(&q); producer(&q); });", None),
            ("s.@spawn(|| producer(&q) + 1);", None),
            ("s.@spawn(|| x.store(1, SeqCst));", None),
            ("s.@spawn(|| drop(x));", None),
            ("s.@spawn(|| mem::drop(x));", None),
            ("s.@spawn(|| producer(&q).unwrap());", None),
            ("s.@spawn(|| assert!(producer(&q)));", None),
            ("s.@spawn(|| loop { producer(&q) });", None),
            ("s.@spawn(|| if a { producer(&q) });", None),
            ("s.@spawn(|| Q::consume(&q));", Some("consume")),
            ("s.@spawn(unknown);", None),
            ("s.@spawn(make(1));", None),
            ("s.@spawn(|| Some(1));", None),
            ("s.@spawn(|| {});", None),
            ("s.@run(|| producer(&q));", None),
        ] {
            assert_eq!(function(body).as_deref(), expected, "{body}");
        }
    }
}
