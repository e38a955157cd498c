//! Several policies that share the executions, by turns.
//!
//! They learn from the same first executions. Each has as many turns in a round as its weight says, so it depends on the number
//! of an execution alone whose it is.

use super::{Drawn, Generator, Policy, Profile};
use crate::search::ChoicePoint;

/// Several policies, by turns.
pub(crate) struct Portfolio {
    members: Vec<Member>,
    /// Whose execution runs.
    running: usize,
}

struct Member {
    policy: Box<dyn Policy>,
    /// How many executions of a round are its own: at least one.
    weight: u64,
}

impl Portfolio {
    /// These policies, each with how many executions of a round are its own.
    ///
    /// # Panics
    /// There are none.
    pub(crate) fn new(members: Vec<(Box<dyn Policy>, u64)>) -> Portfolio {
        assert!(!members.is_empty(), "a portfolio has members");
        let member = |(policy, weight): (_, u64)| Member {
            policy,
            weight: weight.max(1),
        };
        Portfolio {
            members: members.into_iter().map(member).collect(),
            running: 0,
        }
    }

    fn round(&self) -> u64 {
        self.members.iter().map(|member| member.weight).sum()
    }

    /// For each member, how many of the executions before this one are its own.
    fn drawn_before(&self, number: u64) -> impl Iterator<Item = u64> {
        let (rounds, mut rest) = (number / self.round(), number % self.round());
        self.members.iter().map(move |member| {
            let begun = rest.min(member.weight);
            rest -= begun;
            rounds * member.weight + begun
        })
    }
}

impl Policy for Portfolio {
    fn name(&self) -> String {
        let name = |member: &Member| match member.weight {
            1 => member.policy.name(),
            weight => format!("{weight}*{}", member.policy.name()),
        };
        let names: Vec<String> = self.members.iter().map(name).collect();
        format!("portfolio({})", names.join(","))
    }

    fn learns(&self) -> bool {
        self.members.iter().any(|member| member.policy.learns())
    }

    fn begin(&mut self, number: u64, known: &Profile, random: &mut Generator) {
        let before: Vec<u64> = self.drawn_before(number).collect();
        let after = self.drawn_before(number + 1);
        let own = before
            .iter()
            .zip(after)
            .position(|(&before, after)| before < after);
        self.running = own.expect("each execution is somebody's");
        let member = &mut self.members[self.running];
        member.policy.begin(before[self.running], known, random);
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, known: &Profile, random: &mut Generator) -> u32 {
        self.members[self.running].policy.choose(point, known, random)
    }

    fn member(&self) -> Option<String> {
        Some(self.members[self.running].policy.name())
    }

    fn shares(&self, executions: u64) -> Vec<(String, u64)> {
        let names = self.members.iter().map(|member| member.policy.name());
        names.zip(self.drawn_before(executions)).collect()
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        // None of them runs all the executions there are.
        let members = self.members.iter();
        members.flat_map(|member| member.policy.notes(drawn)).collect()
    }

    fn fork(&self) -> Box<dyn Policy> {
        let members = self.members.iter();
        let forks = members.map(|member| (member.policy.fork(), member.weight));
        Box::new(Portfolio::new(forks.collect()))
    }
}
