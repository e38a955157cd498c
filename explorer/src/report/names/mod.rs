//! The names that the source gives the variables of a finding: `tail` for `atomic 0.1`.
//!
//! A variable's name is read from the expressions in front of its operations, at the places that the finding's events
//! have. A local name that only leads to another one is followed: to the `let` that made the variable, to a field, to a
//! static. Where the places disagree, a name by which the variable was made counts more than a field, and a field more
//! than a parameter; then the number of places counts. Where the source is not found, or does not have that operation
//! at the place, there is no name. Misses: names behind macros, and behind calls that are not known.

mod binding;
mod declared;
mod elements;
#[cfg(test)]
mod elements_tests;
mod functions;
mod items;
mod kinds;
mod loops;
mod objects;
mod path;
mod prose;
mod reader;
mod source_files;
#[cfg(test)]
mod tests;
mod tokens;
mod values;

pub(in crate::report) use functions::{functions, of_recorded};
pub(in crate::report) use prose::{counts_of, identities, quoted, without_number};
pub use prose::{in_row, in_text};
pub(crate) use reader::Reader;
pub(in crate::report) use source_files::SourceFiles;

use super::recording::Recording;
use super::{Finding, FindingDetail};
use binding::Binding;
use elements::{Element, Elements};
use intermezzo_engine::runtime::Layout;
use kinds::{BOXES, MADE, METHODS, PLAIN_FIELDS};
use objects::{HeapField, OnHeap};
use path::{Call, Index, Path, Root, Step};
use prose::kind_of;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use tokens::Tokens;
use values::{Moment, Seen};

/// Names of variables, by their identities.
pub type VarNames = BTreeMap<String, String>;

/// The longest name that is shown.
const LENGTH_MAX: usize = 32;

/// The number of bindings through which a name is followed.
const FOLLOWED_MAX: usize = 12;

/// The trust in a name, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    /// A parameter, or a call.
    Alias,
    /// A local variable whose value is not understood, or an unnamed field of a type.
    Local,
    Field,
    /// A local variable in whose initial value the variable is made.
    Made,
    Static,
}

/// Returns the names of the finding's variables: those it has, which the test gave, and as far as the source has some.
pub(super) fn of(finding: &Finding, files: &mut SourceFiles) -> VarNames {
    let seen = finding.events.iter().map(|event| Seen {
        task: &event.task,
        site: &event.site,
        read: event.read,
    });
    let seen: Vec<Seen<'_>> = seen.collect();
    of_uses((uses(finding), &seen), &given(finding), &finding.layout, files)
}

/// Returns the names that the test gave the variables of the finding, in order of appearance.
fn given(finding: &Finding) -> Vec<(&str, String)> {
    if finding.names.is_empty() {
        return Vec::new();
    }
    let uses = uses(finding).into_iter().map(|(var, ..)| var);
    let places = identities(&finding.message).map(|(at, _)| &finding.message[at]);
    let mut seen = HashSet::new();
    let named = uses.chain(places).filter_map(|var| {
        let (var, name) = finding.names.get_key_value(&*counts_of(var))?;
        seen.insert(var).then(|| (var.as_str(), name.clone()))
    });
    named.collect()
}

/// Gives the variables of an execution the names that the source has for them.
pub(super) fn name_recording(recording: &mut Recording, files: &mut SourceFiles) {
    let events = recording.events.iter();
    let seen: Vec<Seen<'_>> = events
        .clone()
        .map(|event| Seen {
            task: recording.tasks.get(event.task).map_or("", |task| &task.name),
            site: event
                .site
                .and_then(|site| recording.sites.get(site))
                .map_or("", String::as_str),
            read: event.read,
        })
        .collect();
    let uses = events.enumerate().filter_map(|(at, event)| {
        let (var, site) = (recording.vars.get(event.var?)?, recording.sites.get(event.site?)?);
        Some((&*var.name, &**site, Some(at)))
    });
    let vars = recording.vars.iter();
    let given = vars.filter_map(|var| Some((&*var.name, var.source_name.clone()?)));
    let names = of_uses(
        (uses.collect(), &seen),
        &given.collect::<Vec<_>>(),
        &Layout::default(),
        files,
    );
    for var in &mut recording.vars {
        var.source_name = names.get(&var.name).cloned();
    }
}

/// Returns the names of variables that are used at these places. Some have given names, which the others do not get.
fn of_uses(
    (uses, seen): (Vec<Use<'_>>, &[Seen<'_>]),
    given: &[(&str, String)],
    layout: &Layout,
    files: &mut SourceFiles,
) -> VarNames {
    let mut names = distinct(given.to_vec());
    // Each variable in the order of appearance, and each of its places once.
    let mut vars: Vec<(&str, Vec<(Found, &str)>)> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut places: HashSet<(&str, &str)> = HashSet::new();
    for (var, site, event) in uses {
        if !places.insert((var, site)) {
            continue;
        }
        let Some(kind) = kind_of(var).filter(|_| !names.contains_key(var)) else {
            continue;
        };
        let at = *known.entry(var).or_insert_with(|| {
            vars.push((var, Vec::new()));
            vars.len() - 1
        });
        if let Some((tokens, at_token)) = files.token(site) {
            let file = site.rsplitn(3, ':').nth(2).unwrap_or_default();
            let mut found = found_at(tokens, at_token, kind);
            if let Some(elements) = found.as_mut().and_then(|found| found.elements.as_mut())
                && let Some(event) = event.filter(|event| *event < seen.len())
            {
                let moment = Moment {
                    before: &seen[..event],
                    task: seen[event].task,
                    file,
                };
                elements.evaluate(tokens, &moment);
            }
            vars[at].1.extend(found.map(|found| (found, file)));
        }
    }
    let named = in_memory(&vars, layout);
    let taken: HashSet<String> = names.values().cloned().collect();
    for (var, name) in distinct(named) {
        let alone = [
            name.clone(),
            format!("{name} ({})", kind_of(&var).unwrap_or_default()),
        ];
        let numbered = (2..).map(|number| with_number(&name, number));
        let free = alone
            .into_iter()
            .chain(numbered)
            .find(|name| !taken.contains(name));
        names.extend(free.map(|name| (var, name)));
    }
    names
}

/// Returns the names of variables that have these at the places of their uses. Elements have their indices, as far as the
/// layout shows them.
fn in_memory<'v>(vars: &[(&'v str, Vec<(Found, &str)>)], layout: &Layout) -> Vec<(&'v str, String)> {
    let mut named: Vec<(&str, String)> = Vec::new();
    let mut elements: Vec<Element<'_>> = Vec::new();
    let mut fields: Vec<OnHeap<'_>> = Vec::new();
    for (var, found) in vars {
        let names = found.iter().map(|(found, _)| (found.name.clone(), found.trust));
        let Some(name) = most_trusted(names.collect()) else {
            continue;
        };
        elements.extend(Element::of(var, &name, found));
        fields.extend(OnHeap::of(var, &name, found));
        named.push((var, name));
    }
    let mut count_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, name) in &named {
        *count_of.entry(name).or_default() += 1;
    }
    let mut numbered = elements::numbered(elements, layout, |name| count_of.get(name).copied().unwrap_or(0));
    numbered.extend(objects::numbered(fields, layout));
    let named = named.into_iter();
    let named = named.map(|(var, name)| (var, numbered.get(var).cloned().unwrap_or(name)));
    named.collect()
}

/// A use of a variable: its identity, the place, and the number of the event that it is, if it is one.
type Use<'a> = (&'a str, &'a str, Option<usize>);

/// Returns the variables that the finding has, and the places where they are used.
fn uses(finding: &Finding) -> Vec<Use<'_>> {
    let mut uses: Vec<Use<'_>> = Vec::new();
    let events = finding.events.iter().enumerate();
    uses.extend(events.map(|(at, event)| (&*event.var, &*event.site, Some(at))));
    for deed in &finding.deeds {
        uses.extend(identities(&deed.what).map(|(at, _)| (&deed.what[at], &*deed.site, None)));
    }
    match &finding.detail {
        FindingDetail::Blocked { waiting, .. } => {
            for task in waiting {
                uses.push((&task.var, &task.site, None));
                uses.extend(task.held_since.iter().map(|site| (&*task.var, &**site, None)));
                uses.extend(
                    task.awaited
                        .iter()
                        .map(|awaited| (&*awaited.var, &*awaited.site, None)),
                );
            }
        }
        FindingDetail::Endless { loops, .. } => {
            let steps = loops.iter().flat_map(|each| &each.steps);
            uses.extend(steps.map(|step| (&*step.var, &*step.site, None)));
        }
        _ => {}
    }
    uses
}

/// Returns the name that the source has for the variable of the operation at this place.
pub(in crate::report) fn at_place(site: &str, files: &mut SourceFiles) -> Option<String> {
    let (tokens, at) = files.token(site)?;
    let kinds = METHODS.iter().filter_map(|(kinds, _)| kinds.first());
    kinds
        .filter_map(|kind| found_at(tokens, at, kind))
        .map(|found| found.name)
        .next()
}

/// A name of a variable in the source.
struct Found {
    name: String,
    trust: Trust,
    /// The token at which the variable is made, if that is known.
    made: Option<usize>,
    /// The array that the variable is in, if it is in one that is known.
    elements: Option<Elements>,
    /// The field of an object on the heap that it is, if it is one.
    heap: Option<HeapField>,
}

/// Returns the name that the source at this token has for a variable of this kind.
fn found_at(tokens: &Tokens, at: usize, kind: &str) -> Option<Found> {
    let methods = METHODS.iter().find(|(kinds, _)| kinds.contains(&kind))?.1;
    if !tokens.is_name(at) {
        return None;
    }
    if tokens.before(at) == "." && at >= 2 {
        let called = matches!(tokens.text(at + 1), "(" | "::") && methods.contains(&tokens.text(at));
        let path = called.then(|| tokens.path_ending(at - 2)).flatten()?;
        return name_of(tokens, path, kind);
    }
    // A function of a type: `Arc::clone(&n)`.
    let mut last = at;
    while tokens.text(last + 1) == "::" {
        last = match tokens.text(last + 2) {
            "<" => (last + 3..tokens.count()).find(|&at| tokens.text(at) == ">")?,
            _ => last + 2,
        };
    }
    let function = match tokens.text(last) {
        ">" => tokens.name_of_call(last + 1)?,
        _ => last,
    };
    if tokens.text(last + 1) != "(" || last == at {
        return None;
    }
    if methods.contains(&tokens.text(function)) {
        let argument = tokens.parts(last + 1).first()?.clone();
        let path = tokens.path_within(argument.start, argument.end.checked_sub(1)?)?;
        return name_of(tokens, path, kind);
    }
    let makes = kind == "count" && matches!(tokens.text(function), "new" | "from" | "default" | "new_cyclic");
    let (name, trust) = makes.then(|| made_at(tokens, at)).flatten()?;
    let made = Some(at);
    Some(Found {
        name,
        trust,
        made,
        elements: None,
        heap: None,
    })
}

/// Returns the name of the variable that is made by the expression that begins at this token.
fn made_at(tokens: &Tokens, at: usize) -> Option<(String, Trust)> {
    let before = at.checked_sub(1)?;
    let named = |at: usize| tokens.is_name(at).then(|| tokens.text(at).to_owned());
    match tokens.text(before) {
        "=" => {
            let mut begin = before;
            while begin > 0 && !matches!(tokens.text(begin), "let" | ";" | "{" | "}") {
                begin -= 1;
            }
            let name = begin + 1 + usize::from(tokens.text(begin + 1) == "mut");
            let is_let = tokens.text(begin) == "let" && matches!(tokens.text(name + 1), ":" | "=");
            is_let
                .then(|| named(name))
                .flatten()
                .map(|name| (name, Trust::Made))
        }
        ":" if before >= 2 && matches!(tokens.text(before - 2), "{" | ",") => {
            Some((named(before - 1)?, Trust::Field))
        }
        _ => None,
    }
}

/// A path whose local names were followed.
struct Followed {
    /// The name at its beginning; nothing for `self` and for a field that a pattern took out.
    root: Option<(String, Trust)>,
    steps: Vec<Step>,
    /// The token at which the variable is made, or the value that has it.
    made: Option<usize>,
}

fn name_of(tokens: &Tokens, path: Path, kind: &str) -> Option<Found> {
    let used = path.first;
    let followed = follow(tokens, path, kind, 0)?;
    let elements = tokens.elements(&followed, used);
    let heap = tokens.heap_field(&followed, used);
    let Followed {
        root,
        mut steps,
        made,
    } = followed;
    let is_telling = |step: &Step| match step {
        Step::Field(name) => {
            !PLAIN_FIELDS.contains(&name.as_str()) && !name.starts_with(|c: char| c.is_ascii_digit())
        }
        Step::Element(_) => false,
    };
    let is_field = |step: &Step| matches!(step, Step::Field(_));
    let telling = steps.iter().rposition(is_telling);
    let mut begin = telling.unwrap_or(0);
    // An element is one of something.
    while begin > 0 && (!is_field(&steps[begin]) || !is_field(&steps[begin - 1])) {
        begin -= 1;
    }
    let from_field = telling.is_some() && is_field(&steps[begin]);
    let (mut name, trust) = match (from_field, root) {
        (true, _) => (String::new(), Trust::Field),
        (false, Some((name, trust))) => {
            let trust = match (steps.iter().any(is_field), trust) {
                (true, Trust::Made | Trust::Local) => Trust::Field,
                (_, trust) => trust,
            };
            (name, trust)
        }
        (false, None) if steps.iter().any(is_field) => (tokens.type_around(used)?.to_owned(), Trust::Local),
        (false, None) => return None,
    };
    let mut pattern = name.clone();
    for step in steps.drain(begin..) {
        match step {
            Step::Field(field) if name.is_empty() => {
                pattern.clone_from(&field);
                name = field;
            }
            Step::Field(field) => {
                pattern.extend([".", &field]);
                name.extend([".", &field]);
            }
            Step::Element(index) => {
                pattern.push_str("[_]");
                name.extend(["[", index.number.as_deref().unwrap_or("_"), "]"]);
            }
        }
    }
    let elements = elements.map(|elements| elements.with_pattern(pattern));
    let found = Found {
        name,
        trust,
        made,
        elements,
        heap,
    };
    (found.name.chars().count() <= LENGTH_MAX).then_some(found)
}

/// Follows the local name at the beginning of a path. `None` if its meaning is not found.
fn follow(tokens: &Tokens, path: Path, kind: &str, depth: usize) -> Option<Followed> {
    let Path { root, steps, .. } = path;
    let (name, used) = match root {
        Root::Receiver => {
            return Some(Followed {
                root: None,
                steps,
                made: None,
            });
        }
        Root::Item(name) => {
            let made = tokens.static_named(&name);
            let root = Some((name, Trust::Static));
            return Some(Followed { root, steps, made });
        }
        Root::Call(name) => {
            let root = Some((name, Trust::Alias));
            return Some(Followed {
                root,
                steps,
                made: None,
            });
        }
        Root::Method(call) => return follow_method(tokens, call, steps),
        Root::Local(name, used) => (name, used),
    };
    let own = |trust: Trust| {
        let root = Some((name.clone(), trust));
        Some(Followed {
            root,
            steps: steps.clone(),
            made: None,
        })
    };
    let through = |value: &Range<usize>, element: bool| {
        let last = value.end.checked_sub(1).filter(|_| depth < FOLLOWED_MAX)?;
        let path = tokens.path_within(value.start, last)?;
        if matches!(path.root, Root::Call(_) | Root::Method(_)) {
            return None;
        }
        let mut followed = follow(tokens, path, kind, depth + 1)?;
        followed
            .steps
            .extend(element.then(|| Step::Element(Index::default())));
        followed.steps.extend(steps.iter().cloned());
        Some(followed)
    };
    let Some(binding) = tokens.binding(&name, used) else {
        // A field has its name wherever its owner comes from.
        let has_field = steps.iter().any(|step| matches!(step, Step::Field(_)));
        return has_field.then(|| own(Trust::Alias)).flatten();
    };
    match binding {
        Binding::Let(value) if makes(tokens, &value, kind) || tokens.makes_array(&value) => own(Trust::Made)
            .map(|followed| Followed {
                made: Some(value.start),
                ..followed
            }),
        // `self` itself has no name.
        Binding::Let(value) if value.len() == 1 && tokens.text(value.start) == "self" && steps.is_empty() => {
            None
        }
        Binding::Let(value) => through(&value, false).or_else(|| own(Trust::Local)),
        Binding::PartOfLet(pattern, value) => {
            let names = tokens.parts(pattern.start);
            let ends: Vec<&str> = names.iter().map(|part| tokens.text(part.end - 1)).collect();
            match ends[..] {
                // A channel has two names.
                [sender, receiver] if kind == "channel" && makes_channel(tokens, &value) => {
                    let root = Some((format!("{sender}/{receiver}"), Trust::Made));
                    let made = Some(value.start);
                    Some(Followed { root, steps, made })
                }
                _ => own(Trust::Local),
            }
        }
        Binding::Field(field) => {
            let mut all = vec![Step::Field(field)];
            all.extend(steps);
            Some(Followed {
                root: None,
                steps: all,
                made: None,
            })
        }
        Binding::Element(value) => through(&value, true).or_else(|| own(Trust::Alias)),
        Binding::Same(value) => through(&value, false).or_else(|| own(Trust::Alias)),
        Binding::Own => own(Trust::Alias),
    }
}

/// Follows a method of `self` to the field that it returns, or else takes its name.
fn follow_method(tokens: &Tokens, call: Call, mut steps: Vec<Step>) -> Option<Followed> {
    let returned = tokens.body_of(&call.method).and_then(|body| {
        let path = tokens.path_within(body.start, body.end.checked_sub(1)?)?;
        (path.root == Root::Receiver && !path.steps.is_empty()).then_some(path.steps)
    });
    let root = match returned {
        Some(mut fields) => {
            for step in &mut fields {
                if let Step::Element(index) = step {
                    index.call = Some(call.clone());
                }
            }
            fields.append(&mut steps);
            steps = fields;
            None
        }
        None => Some((format!("{}()", call.method), Trust::Alias)),
    };
    Some(Followed {
        root,
        steps,
        made: None,
    })
}

/// `true` if a value of these tokens is a variable of its own, or an array of some, perhaps in a box.
fn makes(tokens: &Tokens, value: &Range<usize>, kind: &str) -> bool {
    let mut at = value.start;
    let is_type = |at: usize| {
        let name = tokens.text(at);
        tokens.is_name(at) && (MADE.contains(&name) || name.starts_with("Atomic"))
    };
    while at < value.end {
        match tokens.text(at) {
            "&" | "(" | "::" => at += 1,
            "[" => return (at..tokens.partner(at)).any(is_type),
            "vec" if tokens.text(at + 1) == "!" => at += 2,
            "<" => match (at..value.end).find(|&at| tokens.text(at) == ">") {
                Some(close) => at = close + 1,
                None => return false,
            },
            _ if is_type(at) => return tokens.text(at + 1) == "::",
            name if BOXES.contains(&name) && tokens.text(at + 1) == "::" => {
                if matches!(kind, "count" | "arc") && name == "Arc" {
                    return tokens.text(at + 2) != "clone";
                }
                if !matches!(tokens.text(at + 2), "new" | "leak" | "pin" | "from") {
                    return false;
                }
                at += 3;
            }
            // A path in front of the type.
            _ if tokens.text(at + 1) == "::" => at += 2,
            _ => return false,
        }
    }
    false
}

/// `true` if a value of these tokens is a new channel.
fn makes_channel(tokens: &Tokens, value: &Range<usize>) -> bool {
    let mut value = value.clone();
    value.any(|at| {
        matches!(tokens.text(at), "channel" | "sync_channel") && matches!(tokens.text(at + 1), "(" | "::")
    })
}

/// Returns the name that is trusted most; of several, the one that most places have, or else the first.
fn most_trusted(names: Vec<(String, Trust)>) -> Option<String> {
    let mut counted: Vec<(String, Trust, usize)> = Vec::new();
    for (name, trust) in names {
        match counted
            .iter_mut()
            .find(|(known, of, _)| *known == name && *of == trust)
        {
            Some((.., count)) => *count += 1,
            None => counted.push((name, trust, 1)),
        }
    }
    let rank = |(_, trust, count): &(String, Trust, usize)| (*trust, *count);
    // `max_by_key` would return the last one.
    let best = counted.iter().map(rank).max()?;
    counted
        .into_iter()
        .find(|each| rank(each) == best)
        .map(|(name, ..)| name)
}

/// Returns the names so that no two variables have the same: by the kind where that is enough, else by a number in
/// order of appearance.
fn distinct(named: Vec<(&str, String)>) -> VarNames {
    let kind = |var: &str| kind_of(var).unwrap_or_default().to_owned();
    // The number of variables by name and kind: a long execution has many of one name.
    let mut of_name: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (var, name) in &named {
        let kinds = of_name.entry(name.clone()).or_default();
        *kinds.entry(kind(var)).or_default() += 1;
    }
    let mut names = VarNames::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for (var, name) in named {
        let kinds = &of_name[&name];
        let own = kind(var);
        let same = kinds[&own];
        // The value in an `Arc` has the name; its counts are said to be counts.
        let others = kinds
            .keys()
            .any(|kind| *kind != own && (own == "count" || kind != "count"));
        let mut text = name;
        if others {
            text = format!("{text} ({own})");
        }
        if same > 1 {
            let number = numbers.entry(text.clone()).or_default();
            *number += 1;
            text = with_number(&text, *number);
        }
        names.insert(var.to_owned(), text);
    }
    names
}

/// Returns a name with the number that distinguishes it from equal ones. An element has it in the place of its index:
/// `slots#2.seq`.
fn with_number(name: &str, number: usize) -> String {
    match name.rsplit_once("[_]") {
        Some((array, rest)) => format!("{array}#{number}{rest}"),
        None => format!("{name}#{number}"),
    }
}
