//! Names of fields of heap objects, with the number of the object: `Node#2.next`, where the source has `node.next`.
//!
//! The type is the only struct of the file with such a field, provided that the file puts a value of it into a box.
//! Objects are numbered in the order in which their variables are first used. Two fields have the same distance in memory
//! in all objects, and this distance shows which fields belong to one object. If no distance pairs the fields, or several
//! do, each field is numbered by itself: `next#2`. Misses: structs of other files.

use super::declared::is_variable;
use super::path::Step;
use super::tokens::Tokens;
use super::{Followed, Found};
use intermezzo_engine::runtime::{Layout, Place};
use std::collections::BTreeMap;

/// The largest distance between two fields of an object, in bytes.
const DISTANCE_MAX: isize = 512;

/// A field of a struct whose values are on the heap.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HeapField {
    /// The token of the struct's name in its declaration.
    declared: usize,
    owner: String,
    field: String,
}

/// A variable that is a field of an object on the heap.
pub(super) struct OnHeap<'v> {
    pub(super) var: &'v str,
    pub(super) file: String,
    pub(super) field: HeapField,
}

impl<'v> OnHeap<'v> {
    /// Returns the field that the places of a variable with this name show. `None` if they show none, or disagree.
    pub(super) fn of(var: &'v str, name: &str, found: &[(Found, &str)]) -> Option<OnHeap<'v>> {
        let mut places = found.iter().filter(|(found, _)| found.name == name);
        let (first, file) = places.next()?;
        let field = first.heap.clone().filter(|field| field.has_name(name))?;
        let is_same = places.all(|(other, at)| other.heap.as_ref() == Some(&field) && at == file);
        is_same.then(|| OnHeap {
            var,
            file: (*file).to_owned(),
            field,
        })
    }
}

impl HeapField {
    /// `true` if this is the name of such a field without a number.
    pub(super) fn has_name(&self, name: &str) -> bool {
        match name.strip_suffix(&*self.field) {
            Some("") => true,
            Some(owner) => owner.strip_suffix('.') == Some(&self.owner),
            None => false,
        }
    }
}

impl Tokens {
    /// Returns the field of a heap object to which a path leads. `None` if no known object has it.
    pub(super) fn heap_field(&self, followed: &Followed, used: usize) -> Option<HeapField> {
        let Step::Field(field) = followed.steps.last()? else {
            return None;
        };
        let of_self = followed.root.is_none() && followed.steps.len() == 1;
        let of = self.struct_with(field, of_self.then_some(used))?;
        let owner = self.text(of.name);
        let (_, kind) = of.fields.iter().find(|(at, _)| self.text(*at) == field)?;
        let name = kind.clone().find(|&at| self.text(at + 1) != "::")?;
        if !is_variable(self.text(name)) || !self.is_boxed(owner) || self.is_assigned(field) {
            return None;
        }
        Some(HeapField {
            declared: of.name,
            owner: owner.to_owned(),
            field: field.clone(),
        })
    }

    /// `true` if the file puts a value of this struct into a box.
    fn is_boxed(&self, owner: &str) -> bool {
        (2..self.count()).any(|at| {
            let is_new = self.text(at) == "new" && self.text(at + 1) == "(" && self.before(at) == "::";
            let makes = |name: usize| match self.text(name) {
                "Self" => self.type_around(name) == Some(owner),
                text => text == owner,
            };
            is_new
                && matches!(self.text(at - 2), "Box" | "Arc")
                && makes(at + 2)
                && matches!(self.text(at + 3), "{" | "::")
        })
    }

    /// `true` if the file replaces the variable in a field with this name.
    fn is_assigned(&self, field: &str) -> bool {
        (1..self.count())
            .any(|at| self.text(at) == field && self.before(at) == "." && self.text(at + 1) == "=")
    }
}

/// Returns the names of fields for these variables, which are in order of first use.
pub(super) fn numbered(fields: Vec<OnHeap<'_>>, layout: &Layout) -> BTreeMap<String, String> {
    // The variables of each field of each struct, by their order.
    type Fields<'v> = BTreeMap<String, Vec<(usize, &'v str)>>;
    let mut structs: BTreeMap<(String, usize, String), Fields<'_>> = BTreeMap::new();
    for (order, OnHeap { var, file, field }) in fields.into_iter().enumerate() {
        let of = structs.entry((file, field.declared, field.owner)).or_default();
        of.entry(field.field).or_default().push((order, var));
    }
    let mut names = BTreeMap::new();
    for ((_, _, owner), fields) in structs {
        if let Some(objects) = objects(&fields, layout).filter(|objects| objects.len() > 1) {
            for (number, of) in objects.into_iter().enumerate() {
                for (field, var) in of {
                    names.insert(var.to_owned(), format!("{owner}#{}.{field}", number + 1));
                }
            }
        }
    }
    names
}

/// Returns the objects that have these fields, each with its fields and their variables. `None` if that is not certain.
fn objects<'v>(
    fields: &BTreeMap<String, Vec<(usize, &'v str)>>,
    layout: &Layout,
) -> Option<Vec<Vec<(String, &'v str)>>> {
    // An object has at most one variable of a field.
    let (base, first) = fields.iter().max_by_key(|(_, vars)| vars.len())?;
    let mut objects: Vec<(usize, Vec<(String, &str)>)> = first
        .iter()
        .map(|(order, var)| (*order, vec![(base.clone(), *var)]))
        .collect();
    let places = |vars: &[(usize, &str)]| -> Option<Vec<Place>> {
        vars.iter().map(|(_, var)| layout.place(var)).collect()
    };
    for (field, vars) in fields.iter().filter(|(field, _)| *field != base) {
        let owners = pairs(&places(first)?, &places(vars)?)?;
        for ((order, var), owner) in vars.iter().zip(owners) {
            let object = &mut objects[owner];
            object.0 = object.0.min(*order);
            object.1.push((field.clone(), var));
        }
    }
    objects.sort_by_key(|(order, _)| *order);
    Some(objects.into_iter().map(|(_, fields)| fields).collect())
}

/// Returns for each of these fields the index of the other field of its object. `None` unless exactly one distance pairs
/// them all.
fn pairs(others: &[Place], fields: &[Place]) -> Option<Vec<usize>> {
    let distance = |from: &Place, to: &Place| {
        let distance = to.offset as isize - from.offset as isize;
        (from.region == to.region && distance.abs() <= DISTANCE_MAX).then_some(distance)
    };
    let paired = |wanted: isize| -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for field in fields {
            let mut owners = (0..others.len()).filter(|&at| distance(&others[at], field) == Some(wanted));
            // Memory that was freed and used again has two objects.
            let (owner, None) = (owners.next()?, owners.next()) else {
                return None;
            };
            if found.contains(&owner) {
                return None;
            }
            found.push(owner);
        }
        Some(found)
    };
    let first = fields.first()?;
    let mut candidates: Vec<isize> = others.iter().filter_map(|other| distance(other, first)).collect();
    candidates.sort_unstable();
    candidates.dedup();
    let mut all = candidates.into_iter().filter_map(paired);
    let only = all.next()?;
    all.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of variables of these fields, each with its address.
    fn names(vars: &[(&str, usize)]) -> String {
        let ids: Vec<String> = (0..vars.len()).map(|at| at.to_string()).collect();
        let layout = Layout::new(
            vars.iter()
                .zip(&ids)
                .map(|((_, address), id)| (id.clone(), 0x1000 + address, 16)),
        );
        let on_heap = vars.iter().zip(&ids).map(|((field, _), id)| OnHeap {
            var: id,
            file: "a.rs".into(),
            field: HeapField {
                declared: 1,
                owner: "Node".into(),
                field: (*field).into(),
            },
        });
        let names = numbered(on_heap.collect(), &layout);
        let name = |id| names.get(id).map_or("-", String::as_str);
        ids.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn fields_of_one_object_have_its_number() {
        for (vars, expected) in [
            (&[("next", 0)][..], "-"),
            (&[("next", 96), ("next", 0)], "Node#1.next Node#2.next"),
            // Both fields of three objects: 48 bytes apart, and `prev` behind `next`.
            (
                &[
                    ("next", 48),
                    ("prev", 16),
                    ("next", 0),
                    ("prev", 64),
                    ("prev", 112),
                    ("next", 96),
                ],
                "Node#1.next Node#2.prev Node#2.next Node#1.prev Node#3.prev Node#3.next",
            ),
            // It may be the one of either.
            (&[("next", 0), ("next", 48), ("prev", 16)], "- - -"),
            // It is near one only.
            (
                &[("next", 0), ("next", 2048), ("prev", 16)],
                "Node#1.next Node#2.next Node#1.prev",
            ),
            // Memory that was used again.
            (&[("next", 0), ("next", 0)], "Node#1.next Node#2.next"),
            (&[("next", 0), ("next", 0), ("prev", 16)], "- - -"),
            (&[("next", 0), ("prev", 16)], "-"),
        ] {
            let expected = match expected {
                "-" => vec!["-"; vars.len()].join(" "),
                expected => expected.to_owned(),
            };
            assert_eq!(names(vars), expected, "{vars:?}");
        }
    }
}
