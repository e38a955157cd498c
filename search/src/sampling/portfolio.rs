//! Several policies that draw executions in turns.
//!
//! They learn from the same first executions. In a round, each has as many turns as its weight, so the number of an
//! execution determines its policy. The weights may change from some execution on, because bugs that are not found
//! early need other policies.

use super::{Draw, Drawn, Generator, Policy, Profile};
use intermezzo_engine::strategy::ChoicePoint;

/// Several policies, in turns.
pub(crate) struct Portfolio {
    members: Vec<Member>,
    /// The number of the execution from which the later weights are used.
    later_from: u64,
    /// The policy of the current execution.
    running: usize,
}

struct Member {
    policy: Box<dyn Policy>,
    /// The number of its executions in a round, at least 1.
    weight: u64,
    /// The same for later rounds.
    later: u64,
}

impl Portfolio {
    /// Returns these policies, each with its number of executions in a round.
    ///
    /// # Panics
    /// There are none.
    pub(crate) fn new(members: Vec<(Box<dyn Policy>, u64)>) -> Portfolio {
        assert!(!members.is_empty(), "a portfolio has members");
        let member = |(policy, weight): (_, u64)| Member {
            policy,
            weight: weight.max(1),
            later: weight.max(1),
        };
        Portfolio {
            members: members.into_iter().map(member).collect(),
            later_from: u64::MAX,
            running: 0,
        }
    }

    /// Gives the last member `weight` executions in each round that follows the first `after` executions.
    #[must_use]
    pub(crate) fn later(mut self, after: u64, weight: u64) -> Portfolio {
        let last = self.members.last_mut().expect("a portfolio has members");
        last.later = weight.max(1);
        self.later_from = after;
        self
    }

    /// Returns for each member the number of its executions before the execution with this number.
    fn drawn_before(&self, number: u64) -> impl Iterator<Item = u64> {
        let early = number.min(self.later_from);
        let late = self.turns(number - early, |member| member.later);
        let early = self.turns(early, |member| member.weight);
        early.zip(late).map(|(early, late)| early + late)
    }

    /// Returns for each member the number of its executions among the first `number`, with these weights.
    fn turns(&self, number: u64, weight: impl Fn(&Member) -> u64) -> impl Iterator<Item = u64> {
        let round: u64 = self.members.iter().map(&weight).sum();
        let (rounds, mut rest) = (number / round, number % round);
        self.members.iter().map(move |member| {
            let weight = weight(member);
            let begun = rest.min(weight);
            rest -= begun;
            rounds * weight + begun
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

    fn begin(&mut self, draw: Draw, known: &Profile, random: &mut Generator) {
        let before: Vec<u64> = self.drawn_before(draw.number).collect();
        let after = self.drawn_before(draw.number + 1);
        let own = before
            .iter()
            .zip(after)
            .position(|(&before, after)| before < after);
        self.running = own.expect("each execution is somebody's");
        let member = &mut self.members[self.running];
        let own = Draw {
            number: before[self.running],
            ..draw
        };
        member.policy.begin(own, known, random);
    }

    fn choose(&mut self, point: &ChoicePoint<'_>, known: &Profile, random: &mut Generator) -> u32 {
        self.members[self.running].policy.choose(point, known, random)
    }

    fn may_pass_clones(&self) -> bool {
        self.members[self.running].policy.may_pass_clones()
    }

    fn passed(&mut self, point: &ChoicePoint<'_>) {
        self.members[self.running].policy.passed(point);
    }

    fn member(&self) -> Option<String> {
        Some(self.members[self.running].policy.name())
    }

    fn shares(&self, executions: u64) -> Vec<(String, u64)> {
        let names = self.members.iter().map(|member| member.policy.name());
        names.zip(self.drawn_before(executions)).collect()
    }

    fn notes(&self, drawn: &Drawn<'_>) -> Vec<String> {
        // No member can be complete, because each runs only some of the executions.
        let members = self.members.iter();
        members.flat_map(|member| member.policy.notes(drawn)).collect()
    }

    fn fork(&self) -> Box<dyn Policy> {
        let members = self.members.iter();
        let forks = members.map(|member| Member {
            policy: member.policy.fork(),
            ..*member
        });
        Box::new(Portfolio {
            members: forks.collect(),
            ..*self
        })
    }
}
