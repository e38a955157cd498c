//! The tree of an exploration, cut as the shares of a pool cut it: the size of each share, and what it runs in addition.

use intermezzo::schedule::Choice;

/// The number of shares into which a share is divided.
pub(super) const SHARES: usize = 8;

/// The number of blocks into which an interval is divided: four for each share.
const BLOCKS: u64 = 4 * SHARES as u64;

/// The maximum number of nested divisions.
const LEVELS: usize = 8;

/// The node of a share; `None` if the share is empty.
pub(super) type Share = Option<usize>;

/// The shares of a search, as a tree whose root is the whole search.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The choices of the previous execution, and the shares to which its prefixes on a frontier belong.
    last: Vec<Choice>,
    path: Vec<OnFrontier>,
}

/// A share.
#[derive(Clone, Default)]
struct Node {
    /// The number of executions that belong to it.
    executions: u64,
    /// The number of prefixes on the frontier of its division that belong to it.
    prefixes: u64,
    /// The shares within it; 0 if there is none with this number.
    within: [usize; SHARES],
}

/// A prefix on a frontier.
#[derive(Clone, Copy)]
struct OnFrontier {
    /// The number of its choices.
    length: usize,
    share: usize,
}

impl Tree {
    /// The node of the whole search.
    pub(super) const WHOLE: usize = 0;

    pub(super) fn new() -> Tree {
        Tree {
            nodes: vec![Node::default()],
            last: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Adds an execution. Executions with a common beginning follow each other.
    pub(super) fn add(&mut self, choices: Vec<Choice>) {
        let common = self.last.iter().zip(&choices).take_while(|(a, b)| a == b).count();
        self.path.retain(|prefix| prefix.length <= common);
        let mut at = self.path.last().map_or(Tree::WHOLE, |prefix| prefix.share);
        let (mut begin, mut one_in) = (0, 1);
        let done = self.path.last().map_or(0, |prefix| prefix.length);
        for (index, choice) in choices.iter().enumerate().skip(done) {
            if self.path.len() == LEVELS {
                break;
            }
            let alternatives = u64::from(choice.alternatives.max(1));
            begin = begin * alternatives + u64::from(choice.taken);
            one_in *= alternatives;
            if one_in >= BLOCKS {
                at = self.share(at, begin, one_in);
                self.nodes[at].prefixes += 1;
                self.path.push(OnFrontier {
                    length: index + 1,
                    share: at,
                });
                (begin, one_in) = (0, 1);
            }
        }
        if one_in > 1 && self.path.len() < LEVELS {
            // The execution ends above the next frontier.
            at = self.share(at, begin, one_in);
            self.nodes[at].prefixes += 1;
        }
        let within = self.path.iter().map(|prefix| prefix.share);
        let ends_above = (self.path.last().map(|prefix| prefix.share) != Some(at)).then_some(at);
        for share in within.chain(ends_above).filter(|&share| share != Tree::WHOLE) {
            self.nodes[share].executions += 1;
        }
        self.nodes[Tree::WHOLE].executions += 1;
        self.last = choices;
    }

    /// Returns the share within this one that gets the block in which a prefix begins.
    fn share(&mut self, outer: usize, begin: u64, one_in: u64) -> usize {
        let block = u128::from(begin) * u128::from(BLOCKS) / u128::from(one_in);
        let (block, shares) = (block as usize, SHARES);
        // Each round begins one share later.
        let number = (block + block / shares) % shares;
        match self.nodes[outer].within[number] {
            0 => {
                self.nodes.push(Node::default());
                let new = self.nodes.len() - 1;
                self.nodes[outer].within[number] = new;
                new
            }
            known => known,
        }
    }

    /// Returns the number of executions of a share.
    pub(super) fn executions(&self, share: Share) -> u64 {
        share.map_or(0, |node| self.nodes[node].executions)
    }

    /// Returns the shares within this one, and for each how many prefixes of others it runs into. There are none if it
    /// cannot be divided.
    pub(super) fn divided(&self, share: Share) -> Vec<(Share, u64)> {
        let Some(node) = share.filter(|&node| self.nodes[node].within != [0; SHARES]) else {
            return Vec::new();
        };
        let within = self.nodes[node].within.map(|node| (node != 0).then_some(node));
        let prefixes = |share: Share| share.map_or(0, |node| self.nodes[node].prefixes);
        let all: u64 = within.into_iter().map(prefixes).sum();
        within.map(|share| (share, all - prefixes(share))).to_vec()
    }
}
