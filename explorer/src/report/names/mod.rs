//! The names that the source gives the variables of a finding: `tail` for `atomic 0.1`.
//!
//! A variable's name is read from the expressions in front of its operations, at the places that the finding's events
//! have. A local name that only leads to another one is followed: to the `let` that made the variable, to a field, to a
//! static. Where the places disagree, a name by which the variable was made counts more than a field, and a field more
//! than a parameter; then the number of places counts. Where the source is not found, or does not have that operation
//! at the place, there is no name. Misses: names behind macros, and behind calls that are not known.

mod binding;
mod loops;
mod path;
mod source_files;
#[cfg(test)]
mod tests;
mod tokens;

pub(in crate::report) use source_files::SourceFiles;

use super::recording::Recording;
use super::{Finding, FindingDetail};
use binding::Binding;
use path::{Path, Root, Step};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use tokens::Tokens;

/// Names of variables, by their identities.
pub type VarNames = BTreeMap<String, String>;

/// The longest name that is shown.
const LENGTH_MAX: usize = 32;

/// The number of bindings through which a name is followed.
const FOLLOWED_MAX: usize = 12;

/// The trust in a name, from the least.
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

/// Returns the names of the finding's variables, as far as the source has some.
pub(super) fn of(finding: &Finding, files: &mut SourceFiles) -> VarNames {
    of_uses(uses(finding), files)
}

/// Gives the variables of an execution the names that the source has for them.
pub(super) fn name_recording(recording: &mut Recording, files: &mut SourceFiles) {
    let events = recording.events.iter();
    let uses = events.filter_map(|event| {
        let (var, site) = (recording.vars.get(event.var?)?, recording.sites.get(event.site?)?);
        Some((&*var.name, &**site))
    });
    let names = of_uses(uses.collect(), files);
    for var in &mut recording.vars {
        var.source_name = names.get(&var.name).cloned();
    }
}

/// Returns the names of variables that are used at these places.
fn of_uses(uses: Vec<(&str, &str)>, files: &mut SourceFiles) -> VarNames {
    // Each variable in the order of appearance, and each of its places once.
    let mut vars: Vec<(&str, Vec<(String, Trust)>)> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for (var, site) in uses {
        if !seen.insert((var, site)) {
            continue;
        }
        let Some(kind) = kind_of(var) else { continue };
        let at = *known.entry(var).or_insert_with(|| {
            vars.push((var, Vec::new()));
            vars.len() - 1
        });
        if let Some((tokens, at_token)) = files.token(site) {
            vars[at].1.extend(name_at(tokens, at_token, kind));
        }
    }
    let named = vars
        .into_iter()
        .filter_map(|(var, names)| Some((var, most_trusted(names)?)));
    distinct(named.collect())
}

/// Returns the variables that the finding has, and the places where they are used.
fn uses(finding: &Finding) -> Vec<(&str, &str)> {
    let mut uses: Vec<(&str, &str)> = Vec::new();
    uses.extend(finding.events.iter().map(|event| (&*event.var, &*event.site)));
    for deed in &finding.deeds {
        uses.extend(identities(&deed.what).map(|(at, _)| (&deed.what[at], &*deed.site)));
    }
    match &finding.detail {
        FindingDetail::Blocked { waiting, .. } => {
            for task in waiting {
                uses.push((&task.var, &task.site));
                uses.extend(task.held_since.iter().map(|site| (&*task.var, &**site)));
                uses.extend(task.awaited.iter().map(|awaited| (&*awaited.var, &*awaited.site)));
            }
        }
        FindingDetail::Endless { loops, .. } => {
            let steps = loops.iter().flat_map(|each| &each.steps);
            uses.extend(steps.map(|step| (&*step.var, &*step.site)));
        }
        _ => {}
    }
    uses
}

/// Kinds of variables, and the methods and functions by which tests use them.
const METHODS: &[(&[&str], &[&str])] = &[
    (
        &["atomic", "pointer"],
        &[
            "load",
            "store",
            "swap",
            "compare_exchange",
            "compare_exchange_weak",
            "compare_and_swap",
            "fetch_update",
            "try_update",
            "update",
            "fetch_add",
            "fetch_sub",
            "fetch_max",
            "fetch_min",
            "fetch_and",
            "fetch_nand",
            "fetch_or",
            "fetch_xor",
            "fetch_not",
            "fetch_ptr_add",
            "fetch_ptr_sub",
            "fetch_byte_add",
            "fetch_byte_sub",
            "get_mut",
            "into_inner",
            "unsync_load",
            "with_mut",
        ],
    ),
    (
        &["mutex"],
        &[
            "lock",
            "try_lock",
            "is_poisoned",
            "clear_poison",
            "get_mut",
            "into_inner",
        ],
    ),
    (
        &["rwlock"],
        &[
            "read",
            "write",
            "try_read",
            "try_write",
            "is_poisoned",
            "clear_poison",
            "get_mut",
            "into_inner",
        ],
    ),
    (
        &["condvar"],
        &[
            "wait",
            "wait_while",
            "wait_timeout",
            "wait_timeout_ms",
            "wait_timeout_while",
            "notify_one",
            "notify_all",
        ],
    ),
    (
        &["once"],
        &[
            "call_once",
            "call_once_force",
            "is_completed",
            "wait",
            "wait_force",
            "get",
            "set",
            "get_or_init",
            "take",
            "force",
            "try_insert",
        ],
    ),
    (&["barrier"], &["wait"]),
    (
        &["channel"],
        &["send", "try_send", "recv", "try_recv", "recv_timeout"],
    ),
    (
        &["count", "arc"],
        &[
            "clone",
            "upgrade",
            "downgrade",
            "strong_count",
            "weak_count",
            "try_unwrap",
            "into_inner",
            "get_mut",
            "make_mut",
            "unwrap_or_clone",
        ],
    ),
    // `swap` is a use of two cells.
    (
        &["cell"],
        &[
            "get",
            "set",
            "replace",
            "take",
            "update",
            "with",
            "with_mut",
            "get_mut",
            "as_ptr",
            "into_inner",
        ],
    ),
];

/// Types whose `new` makes a variable.
const MADE: &[&str] = &[
    "Mutex",
    "RwLock",
    "Condvar",
    "Once",
    "OnceLock",
    "LazyLock",
    "Barrier",
    "Cell",
    "UnsafeCell",
];

/// Types whose `new` puts a value into a box.
const BOXES: &[&str] = &["Arc", "Rc", "Box", "Pin", "CachePadded"];

/// Fields whose names say nothing.
const PLAIN_FIELDS: &[&str] = &["inner", "value", "data", "ptr", "raw"];

/// Returns the kind of a variable with this identity; `None` for a task, or if it is no identity.
fn kind_of(var: &str) -> Option<&str> {
    let (at, kind) = identities(var).next()?;
    (at == (0..var.len())).then_some(kind)
}

/// Returns the places of variables' identities in a text, and their kinds: `mutex 0.2`.
pub(super) fn identities(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let part = |c: char| c.is_ascii_digit() || c == '.' || c == '^';
    text.match_indices(' ').filter_map(move |(at, _)| {
        let numbers = &text[at + 1..];
        let numbers = &numbers[..numbers.find(|c| !part(c)).unwrap_or(numbers.len())];
        // The end of a sentence.
        let numbers = numbers.trim_end_matches('.');
        let letters = text[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_lowercase)
            .count();
        let begin = at - letters;
        let kind = &text[begin..at];
        let is_known = METHODS.iter().any(|(kinds, _)| kinds.contains(&kind));
        let (user, ordinal) = numbers.rsplit_once('.')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_lineage = user.split(['.', '^']).all(is_number);
        (is_known && is_number(ordinal) && is_lineage).then_some((begin..at + 1 + numbers.len(), kind))
    })
}

/// Returns prose with the identities of variables replaced by their names.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::report::{VarNames, names};
///
/// let named = VarNames::from([("mutex 0.1".into(), "journal".into())]);
/// assert_eq!(names::in_text("main waits to lock mutex 0.1", &named), "main waits to lock `journal`");
/// ```
pub fn in_text(text: &str, names: &VarNames) -> String {
    replaced(text, names, quoted)
}

/// Returns the text of a table's row with the identities of variables replaced by their names.
pub fn in_row(text: &str, names: &VarNames) -> String {
    replaced(text, names, str::to_owned)
}

fn replaced(text: &str, names: &VarNames, shown: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in identities(text) {
        let var = &text[at.clone()];
        if let Some(name) = names.get(&*counts_of(var)) {
            out.push_str(&text[done..at.start]);
            out.push_str(&shown(name));
            done = at.end;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// Returns the identity of the counts of an `Arc`. The monitor for leaks writes `arc 0.1` for the variable `count 0.1`.
pub(super) fn counts_of(var: &str) -> Cow<'_, str> {
    match var.strip_prefix("arc ") {
        Some(numbers) => format!("count {numbers}").into(),
        None => var.into(),
    }
}

/// Returns a name without the number that distinguishes it from equal ones.
pub(super) fn without_number(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

/// Returns the name as prose shows it.
pub(super) fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Returns the name that the source at this token has for a variable of this kind.
fn name_at(tokens: &Tokens, at: usize, kind: &str) -> Option<(String, Trust)> {
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
    makes.then(|| made_at(tokens, at)).flatten()
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
}

fn name_of(tokens: &Tokens, path: Path, kind: &str) -> Option<(String, Trust)> {
    let used = path.first;
    let Followed { root, mut steps } = follow(tokens, path, kind, 0)?;
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
    for step in steps.drain(begin..) {
        match step {
            Step::Field(field) if name.is_empty() => name = field,
            Step::Field(field) => name.extend([".", &field]),
            Step::Element(index) => name.extend(["[", index.as_deref().unwrap_or("_"), "]"]),
        }
    }
    (name.chars().count() <= LENGTH_MAX).then_some((name, trust))
}

/// Follows the local name at the beginning of a path. `None` if its meaning is not found.
fn follow(tokens: &Tokens, path: Path, kind: &str, depth: usize) -> Option<Followed> {
    let Path { root, steps, .. } = path;
    let (name, used) = match root {
        Root::Receiver => return Some(Followed { root: None, steps }),
        Root::Item(name) => {
            let root = Some((name, Trust::Static));
            return Some(Followed { root, steps });
        }
        Root::Call(name) => {
            let root = Some((name, Trust::Alias));
            return Some(Followed { root, steps });
        }
        Root::Method(name) => return follow_method(tokens, &name, steps),
        Root::Local(name, used) => (name, used),
    };
    let own = |trust: Trust| {
        let root = Some((name.clone(), trust));
        Some(Followed {
            root,
            steps: steps.clone(),
        })
    };
    let through = |value: &Range<usize>, element: bool| {
        let last = value.end.checked_sub(1).filter(|_| depth < FOLLOWED_MAX)?;
        let path = tokens.path_within(value.start, last)?;
        if matches!(path.root, Root::Call(_) | Root::Method(_)) {
            return None;
        }
        let mut followed = follow(tokens, path, kind, depth + 1)?;
        followed.steps.extend(element.then_some(Step::Element(None)));
        followed.steps.extend(steps.iter().cloned());
        Some(followed)
    };
    let Some(binding) = tokens.binding(&name, used) else {
        // A field has its name wherever its owner comes from.
        let has_field = steps.iter().any(|step| matches!(step, Step::Field(_)));
        return has_field.then(|| own(Trust::Alias)).flatten();
    };
    match binding {
        Binding::Let(value) if makes(tokens, &value, kind) => own(Trust::Made),
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
                    Some(Followed { root, steps })
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
            })
        }
        Binding::Element(value) => through(&value, true).or_else(|| own(Trust::Alias)),
        Binding::Same(value) => through(&value, false).or_else(|| own(Trust::Alias)),
        Binding::Own => own(Trust::Alias),
    }
}

/// Follows a method of `self` to the field that it returns, or else takes its name.
fn follow_method(tokens: &Tokens, name: &str, mut steps: Vec<Step>) -> Option<Followed> {
    let returned = tokens.body_of(name).and_then(|body| {
        let path = tokens.path_within(body.start, body.end.checked_sub(1)?)?;
        (path.root == Root::Receiver && !path.steps.is_empty()).then_some(path.steps)
    });
    let root = match returned {
        Some(mut fields) => {
            fields.append(&mut steps);
            steps = fields;
            None
        }
        None => Some((format!("{name}()"), Trust::Alias)),
    };
    Some(Followed { root, steps })
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
            text = format!("{text}#{number}");
        }
        names.insert(var.to_owned(), text);
    }
    names
}
