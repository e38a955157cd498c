//! The elements of arrays by their indices: `slots[2].seq`, where the source has `self.slots[i].seq`.
//!
//! The index is read from memory: the elements of an array lie in order. It is given only if the source shows the length
//! of the array, and that its elements are in it and not behind pointers, and
//!
//! - all elements were used, and lie as those of one array do; or
//! - the source has the index of one of them as a number, or as an expression whose value the execution shows, and the
//!   others are whole elements away from it.
//!
//! Otherwise an element has a number in the order of appearance: `slots#1`. An array whose elements the file moves, or
//! that it replaces, has no indices. Misses: arrays that grow, arrays whose length is computed, and moves in other files.

use super::binding::Binding;
use super::declared::Array;
use super::path::{Index, Step};
use super::prose::kind_of;
use super::tokens::Tokens;
use super::values::Moment;
use super::{Followed, Found, Trust};
use intermezzo_engine::runtime::{Layout, Place};
use std::collections::BTreeMap;

/// The array that a variable is in, as the source declares it.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    /// The token of the declaration.
    declared: usize,
    length: usize,
    /// `true` if the elements are the variables, and no other array lies next to this one.
    is_dense: bool,
    /// The names of variables of which there is one in each object that has such an array. Nothing if there is one array
    /// anyway; `None` if there may be several.
    siblings: Option<Vec<String>>,
    /// The name, with `[_]` for the element.
    pub(super) pattern: String,
    /// The index, if the source has a number, or an expression whose value is known.
    index: Option<usize>,
    /// The index in the source.
    expression: Index,
}

impl Elements {
    /// Returns the same with this name for its elements.
    pub(super) fn with_pattern(self, pattern: String) -> Elements {
        Elements { pattern, ..self }
    }

    /// Finds out the index by which the variable is used at this event.
    pub(super) fn evaluate(&mut self, tokens: &Tokens, moment: &Moment<'_>) {
        if self.index.is_none()
            && let Index {
                tokens: Some(of),
                call,
                ..
            } = &self.expression
        {
            let value = tokens.value(of.clone(), call.clone(), moment);
            let index = value.and_then(|value| usize::try_from(value).ok());
            self.index = index.filter(|index| *index < self.length);
        }
    }
}

/// A variable with the array that it is in.
pub(super) struct Element<'v> {
    pub(super) var: &'v str,
    pub(super) kind: &'v str,
    pub(super) file: String,
    pub(super) elements: Elements,
}

impl<'v> Element<'v> {
    /// Returns the element that a variable with this name is, by what its places say. The index may be a number at some
    /// of them. `None` if it is no element, or if they disagree.
    pub(super) fn of(var: &'v str, name: &str, found: &[(Found, &str)]) -> Option<Element<'v>> {
        let places = found
            .iter()
            .filter_map(|(found, file)| Some((found, found.elements.as_ref()?, file)));
        let (_, of, file) = places.clone().find(|(found, ..)| found.name == name)?;
        let same = places.filter(|(_, other, at)| {
            (other.declared, &other.pattern, *at) == (of.declared, &of.pattern, file)
        });
        let mut index = None;
        for known in same.filter_map(|(_, other, _)| other.index) {
            if *index.get_or_insert(known) != known {
                return None;
            }
        }
        let elements = Elements { index, ..of.clone() };
        Some(Element {
            var,
            kind: kind_of(var)?,
            file: (*file).to_owned(),
            elements,
        })
    }
}

/// The most calls through which it is followed that an object is made once.
const CALLS_MAX: usize = 4;

/// Methods that move the elements of an array, or change their number.
const MOVING: &[&str] = &[
    "append",
    "clear",
    "drain",
    "extend",
    "insert",
    "pop",
    "push",
    "remove",
    "resize_with",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "select_nth_unstable_by_key",
    "sort_by",
    "sort_by_key",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "splice",
    "split_off",
    "swap",
    "swap_remove",
    "swap_with_slice",
    "truncate",
];

impl Tokens {
    /// Returns the array that the variable of a path is an element of. `None` if it is in none, or too little is known.
    pub(super) fn elements(&self, followed: &Followed, used: usize) -> Option<Elements> {
        let Followed { root, steps, made } = followed;
        let is_element = |step: &Step| matches!(step, Step::Element(_));
        let at = steps.iter().position(is_element)?;
        let after = &steps[at + 1..];
        if after.len() > 1 || after.iter().any(is_element) {
            return None;
        }
        let Step::Element(expression) = &steps[at] else {
            return None;
        };
        let index = match &expression.number {
            Some(number) => Some(number.parse().ok()?),
            None => None,
        };
        let (declared, array, siblings, has_gap) = match at.checked_sub(1).map(|before| &steps[before]) {
            Some(Step::Field(field)) => {
                let of_self = at == 1 && root.is_none();
                self.array_in_field(field, of_self, used, after)?
            }
            _ => {
                let (name, trust) = root.as_ref()?;
                let made = (*made)?;
                match trust {
                    Trust::Static => {
                        let kind = self.until(made + 2, "=").filter(|_| self.text(made + 1) == ":")?;
                        (made, self.array_of_type(kind, after)?, Some(Vec::new()), true)
                    }
                    Trust::Made if !self.is_in_loop(made) => {
                        let array = self.array_in_let(made, after)?;
                        if self.is_moved(name, false) {
                            return None;
                        }
                        let siblings = self.is_run_once(made).then(Vec::new);
                        (made, array, siblings, true)
                    }
                    _ => return None,
                }
            }
        };
        let (length, is_dense) = (array.length?, array.is_dense?);
        Some(Elements {
            declared,
            length,
            is_dense: is_dense && has_gap,
            siblings,
            pattern: String::new(),
            index,
            expression: expression.clone(),
        })
    }

    /// Returns the tokens from here to the next sign of this kind.
    fn until(&self, first: usize, sign: &str) -> Option<std::ops::Range<usize>> {
        let mut at = first;
        loop {
            match self.text(at) {
                "" => return None,
                text if text == sign => return Some(first..at),
                "(" | "[" | "{" => at = self.partner(at) + 1,
                _ => at += 1,
            }
        }
    }

    /// Returns the array that a `let` makes whose initial value begins here.
    fn array_in_let(&self, value: usize, after: &[Step]) -> Option<Array> {
        let is_whole = self.before(value) == "=";
        let end = match is_whole {
            true => self.until(value, ";")?.end,
            // A part of a tuple.
            false => {
                let mut at = value;
                while !matches!(self.text(at), "," | ")" | "]") {
                    at = match self.text(at) {
                        "" => return None,
                        "(" | "[" | "{" => self.partner(at) + 1,
                        _ => at + 1,
                    };
                }
                at
            }
        };
        let made = self.array_of_value(value..end, after)?;
        let mut begin = value;
        while is_whole && begin > 0 && !matches!(self.text(begin), "let" | ";" | "{" | "}") {
            begin = match self.text(begin - 1) {
                ")" | "]" => self.partner(begin - 1),
                _ => begin - 1,
            };
        }
        let colon = begin + 2 + usize::from(self.text(begin + 1) == "mut");
        let kind = (self.text(begin) == "let" && self.text(colon) == ":").then(|| colon + 1..value - 1);
        let declared = kind.and_then(|kind| self.array_of_type(kind, after));
        joined(declared.unwrap_or_default(), made)
    }

    /// Returns the declaration of a field that is an array, the array, the fields of the struct that are variables, and
    /// `true` if the struct has more than the array.
    fn array_in_field(
        &self,
        field: &str,
        of_self: bool,
        used: usize,
        after: &[Step],
    ) -> Option<(usize, Array, Option<Vec<String>>, bool)> {
        let of = self.struct_with(field, of_self.then_some(used))?;
        let owner = self.text(of.name);
        if !of_self {
            let function = self.function_around(used)?;
            let body = self.until(function, "{")?.end;
            (function..self.partner(body)).find(|&at| self.text(at) == owner)?;
        }
        if self.is_moved(field, true) {
            return None;
        }
        let (declared, kind) = of.fields.iter().find(|(at, _)| self.text(*at) == field)?.clone();
        let mut array = self.array_of_type(kind, after)?;
        if array.length.is_none() {
            array = joined(array, self.array_of_value(self.initial(owner, field)?, after)?)?;
        }
        let others: Vec<_> = of.fields.iter().filter(|(at, _)| *at != declared).collect();
        let siblings = others.iter().filter(|(_, kind)| {
            let name = kind.clone().find(|&at| self.text(at + 1) != "::");
            name.is_some_and(|at| super::declared::is_variable(self.text(at)))
        });
        let siblings: Vec<String> = siblings.map(|(at, _)| self.text(*at).to_owned()).collect();
        let is_only = siblings.is_empty() && self.is_made_once(owner);
        let takes_room = |kind: &std::ops::Range<usize>| {
            let mut names = kind.clone();
            !names.any(|at| self.text(at) == "PhantomData") && self.text(kind.start) != "("
        };
        let has_gap = others.iter().any(|(_, kind)| takes_room(kind));
        Some((
            declared,
            array,
            (!siblings.is_empty() || is_only).then_some(siblings),
            has_gap || is_only,
        ))
    }

    /// Returns the value that a struct's field gets, if the file makes the struct at one place.
    fn initial(&self, owner: &str, field: &str) -> Option<std::ops::Range<usize>> {
        let made = (2..self.count()).filter(|&at| {
            let name = self.before(at);
            let is_owner = name == owner || name == "Self" && self.type_around(at) == Some(owner);
            self.text(at) == "{"
                && is_owner
                && !matches!(self.before(at - 1), "struct" | "impl" | "for" | "->")
        });
        let parts = made.flat_map(|open| self.parts(open));
        let mut values = parts.filter(|part| self.text(part.start) == field);
        let (part, None) = (values.next()?, values.next()) else {
            return None;
        };
        (self.text(part.start + 1) == ":").then(|| part.start + 2..part.end)
    }

    /// `true` if the file moves the elements of the array with this name, or replaces the array.
    fn is_moved(&self, name: &str, is_field: bool) -> bool {
        (0..self.count()).filter(|&at| self.text(at) == name).any(|at| {
            let before = self.before(at);
            let moves = self.text(at + 1) == "."
                && MOVING.contains(&self.text(at + 2))
                && (!is_field || before == "." || self.may_be_field(name, at));
            let replaces = self.text(at + 1) == "="
                && match is_field {
                    true => before == ".",
                    false => !matches!(before, "let" | "mut"),
                };
            moves || replaces
        }) || (0..self.count()).any(|at| {
            let of_mem = self.before(at) == "::" && self.before(at - 1) == "mem";
            let swaps = of_mem && matches!(self.text(at), "swap" | "replace" | "take");
            swaps
                && self.text(at + 1) == "("
                && (at + 2..self.partner(at + 1)).any(|at| self.text(at) == name)
        })
    }

    /// `true` if the local name of this token may be a reference to the field with this name.
    fn may_be_field(&self, name: &str, at: usize) -> bool {
        match self.binding(name, at) {
            Some(Binding::Let(mut value)) => value.any(|at| self.text(at) == name && self.before(at) == "."),
            _ => true,
        }
    }

    /// `true` if the file makes at most one object of this struct.
    fn is_made_once(&self, owner: &str) -> bool {
        let derives = (1..self.count()).filter(|&at| self.before(at) == "struct" && self.text(at) == owner);
        let has_default = |mut at: usize| {
            while !matches!(self.before(at), "]" | ";" | "}" | "") {
                at -= 1;
            }
            self.before(at) == "]" && (self.partner(at - 1)..at).any(|at| self.text(at) == "Default")
        };
        if derives.clone().count() != 1 || derives.clone().any(has_default) {
            return false;
        }
        let mut made = (2..self.count()).filter(|&at| {
            let name = self.before(at);
            let is_owner = name == owner || name == "Self" && self.type_around(at) == Some(owner);
            self.text(at) == "{"
                && is_owner
                && !matches!(self.before(at - 1), "struct" | "impl" | "for" | "->")
        });
        match (made.next(), made.next()) {
            (Some(open), None) => self.is_reached_once(open, 0),
            _ => false,
        }
    }

    /// `true` if an execution reaches this token at most once, as far as the file shows: it is in no loop and no closure,
    /// and its function is called at one place of which the same is true, or at none.
    fn is_reached_once(&self, at: usize, depth: usize) -> bool {
        let Some(function) = self.function_around(at) else {
            return false;
        };
        let Some(body) = self.until(function, "{") else {
            return false;
        };
        if depth > CALLS_MAX || self.is_in_loop(at) || !self.closures_around(at).is_empty() {
            return false;
        }
        let (name, own) = (self.text(function + 1), function..self.partner(body.end));
        let of_type = self.type_around(function);
        let is_call = |at: &usize| {
            let named = self.text(*at) == name && *at != function + 1;
            let is_path = self.before(*at) == "::" && *at >= 2;
            let of_other =
                |of: &str| is_path && !matches!(self.text(*at - 2), "Self") && self.text(*at - 2) != of;
            named && !of_type.is_some_and(of_other)
        };
        let mut calls = (1..self.count()).filter(is_call);
        match (calls.next(), calls.next()) {
            // The body of a test.
            (None, _) => of_type.is_none() && self.text(function + 3) == ")",
            (Some(call), None) => !own.contains(&call) && self.is_reached_once(call, depth + 1),
            _ => false,
        }
    }

    /// `true` if the function around this token is called at most once in the file, and in no loop.
    fn is_run_once(&self, at: usize) -> bool {
        let Some(function) = self.function_around(at) else {
            return false;
        };
        let Some(body) = self.until(function, "{") else {
            return false;
        };
        let own = function..self.partner(body.end);
        let name = self.text(function + 1);
        let calls = (1..self.count())
            .filter(|&at| self.text(at) == name && self.text(at + 1) == "(" && self.before(at) != "fn");
        let calls: Vec<usize> = calls.collect();
        calls.len() <= 1 && calls.iter().all(|at| !own.contains(at) && !self.is_in_loop(*at))
    }
}

/// Returns what a type and an initial value say together. `None` if they disagree.
fn joined(declared: Array, made: Array) -> Option<Array> {
    let disagree = matches!((declared.length, made.length), (Some(one), Some(other)) if one != other);
    (!disagree).then(|| Array {
        length: declared.length.or(made.length),
        is_dense: declared.is_dense.or(made.is_dense),
    })
}

/// Returns the names of elements by their variables. `count_of` returns the number of variables with a name.
pub(super) fn numbered(
    elements: Vec<Element<'_>>,
    layout: &Layout,
    count_of: impl Fn(&str) -> usize,
) -> BTreeMap<String, String> {
    let mut arrays: BTreeMap<(String, usize, String, &str), Vec<Element<'_>>> = BTreeMap::new();
    for element in elements {
        let of = &element.elements;
        let key = (
            element.file.clone(),
            of.declared,
            of.pattern.clone(),
            element.kind,
        );
        arrays.entry(key).or_default().push(element);
    }
    let mut names = BTreeMap::new();
    // The distance of the elements of an array, by its declaration and its region of memory.
    let mut steps: BTreeMap<(String, usize, usize), usize> = BTreeMap::new();
    let mut left = Vec::new();
    for ((file, declared, pattern, _), used) in arrays {
        let places: Option<Vec<Place>> = used.iter().map(|each| layout.place(each.var)).collect();
        let known: Vec<Option<usize>> = used.iter().map(|each| each.elements.index).collect();
        let of = &used[0].elements;
        let is_only = of.siblings.as_ref().is_some_and(|siblings| {
            let counts: Vec<usize> = siblings.iter().map(|name| count_of(name)).collect();
            siblings.is_empty() || counts.iter().all(|count| *count <= 1) && counts.contains(&1)
        });
        let found = places
            .as_ref()
            .and_then(|places| indices(places, &known, of.length, (of.is_dense, is_only), None));
        if let (Some(places), Some(found)) = (&places, &found)
            && let (Some(place), Some(step)) = (places.first(), step_between(places, found))
        {
            steps.insert((file.clone(), declared, place.region), step);
        }
        left.push((file, declared, pattern, used, places, known, found));
    }
    for (file, declared, pattern, used, places, known, found) in left {
        let of = &used[0].elements;
        // The other fields of the elements have the same distance.
        let by_others = || {
            let places = places.as_ref()?;
            let step = steps.get(&(file, declared, places.first()?.region))?;
            indices(places, &known, of.length, (false, false), Some(*step))
        };
        let found = found.or_else(by_others);
        for (at, each) in used.iter().enumerate() {
            let index = found.as_ref().map(|found| found[at]).or(known[at]);
            if let Some(index) = index {
                let name = pattern.replacen("[_]", &format!("[{index}]"), 1);
                names.insert(each.var.to_owned(), name);
            }
        }
    }
    names
}

/// Returns the distance of elements next to each other, if two of these have different indices.
fn step_between(places: &[Place], found: &[usize]) -> Option<usize> {
    let (first, index) = (places.first()?, found.first()?);
    let mut others = places.iter().zip(found).filter(|(_, other)| *other != index);
    let (place, other) = others.next()?;
    Some(place.offset.abs_diff(first.offset) / other.abs_diff(*index))
}

/// Returns the indices of elements at these places, of which some are known, in an array of this length. `step` is the
/// distance of its elements, if that is known otherwise.
pub(super) fn indices(
    places: &[Place],
    known: &[Option<usize>],
    length: usize,
    (is_dense, is_only): (bool, bool),
    step: Option<usize>,
) -> Option<Vec<usize>> {
    let (region, size) = (places[0].region, places[0].size);
    if places
        .iter()
        .any(|place| place.region != region || place.size != size)
    {
        return None;
    }
    let mut offsets: Vec<usize> = places.iter().map(|place| place.offset).collect();
    offsets.sort_unstable();
    let all = offsets.len() == length;
    let between = |pair: &[usize]| pair[1] - pair[0];
    let first_step = offsets.windows(2).map(between).next();
    let is_even = offsets.windows(2).all(|pair| Some(between(pair)) == first_step);
    let indexed = places
        .iter()
        .zip(known)
        .filter_map(|(place, index)| Some((place.offset, (*index)?)));
    let indexed: Vec<(usize, usize)> = indexed.collect();
    let step = match (is_dense, step, &indexed[..]) {
        (true, ..) => size,
        (false, Some(step), _) => step,
        (false, None, _) if all && is_only && is_even => first_step.unwrap_or(size),
        (false, None, [(offset, index), .., (other, second)]) if index != second => {
            offset.abs_diff(*other) / index.abs_diff(*second)
        }
        _ => return None,
    };
    let base = match indexed.first() {
        // The first of the region need not be the first of the array.
        Some((offset, index)) => *offset as isize - (index * step) as isize,
        None if all && (is_dense || is_only) => offsets[0] as isize,
        None => return None,
    };
    let mut found = Vec::new();
    for (place, known) in places.iter().zip(known) {
        let distance = usize::try_from(place.offset as isize - base).ok()?;
        let index = distance.checked_div(step)?;
        let fits = index * step == distance && index < length && known.is_none_or(|known| known == index);
        if !fits || found.contains(&index) {
            return None;
        }
        found.push(index);
    }
    Some(found)
}
