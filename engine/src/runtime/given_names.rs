//! The names that a test gives its variables by `intermezzo::name`.
//!
//! A name does not change the search: naming an unused object does not make it a variable. Until the object is used,
//! the name is found by a number, which is in the object's identity and moves with it. Statics, and objects that are
//! identified by their addresses, do not move, and their names are found by address.

/// The names that a test has given in this execution.
#[derive(Default)]
pub(super) struct GivenNames {
    /// Names of variables, in the order in which they were given: of several, the last one counts.
    of_vars: Vec<(u32, Box<str>)>,
    /// Names of objects that were not used yet, by number.
    kept: Vec<Box<str>>,
    /// Names of objects that were not used yet, by address.
    by_address: Vec<(usize, Box<str>)>,
}

impl GivenNames {
    /// Forgets all names.
    pub(super) fn clear(&mut self) {
        // Most tests give none.
        if self.is_empty() {
            return;
        }
        self.of_vars.clear();
        self.kept.clear();
        self.by_address.clear();
    }

    fn is_empty(&self) -> bool {
        self.of_vars.is_empty() && self.kept.is_empty() && self.by_address.is_empty()
    }

    /// Gives a variable a name.
    pub(super) fn give(&mut self, var: u32, name: &str) {
        self.of_vars.push((var, name.into()));
    }

    /// Keeps a name for an object that is not used yet. Returns the name's number.
    pub(super) fn keep(&mut self, name: &str) -> usize {
        self.kept.push(name.into());
        self.kept.len() - 1
    }

    /// Gives a variable the name with this number.
    pub(super) fn give_kept(&mut self, var: u32, number: usize) {
        if let Some(name) = self.kept.get(number) {
            self.of_vars.push((var, name.clone()));
        }
    }

    /// Keeps a name for the object at this address, which is not used yet.
    pub(super) fn give_later(&mut self, address: usize, name: &str) {
        self.by_address.push((address, name.into()));
    }

    /// Gives the variable of the object at this address its name, if it has one.
    pub(super) fn give_by_address(&mut self, var: u32, address: usize) {
        if let Some(at) = self.by_address.iter().rposition(|(known, _)| *known == address) {
            let (_, name) = self.by_address.swap_remove(at);
            self.of_vars.push((var, name));
        }
    }

    /// Returns the name of a variable.
    pub(super) fn of(&self, var: u32) -> Option<&str> {
        let given = self.of_vars.iter().rfind(|(known, _)| *known == var);
        given.map(|(_, name)| &**name)
    }

    /// Returns the variables that have names, with their names. A variable may occur several times; the last name is
    /// the one that counts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.of_vars.iter().map(|(var, name)| (*var, &**name))
    }
}
