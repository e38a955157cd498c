//! The orderings of atomics that would fix a finding, in the form of reports.

use intermezzo_engine::serial::Serialize;

/// The orderings that fix a finding under a memory model (`stale_reads`), or the fact that none does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OrderingAdvice {
    /// The finding, by its index in the report's list, from 0.
    pub finding: usize,
    /// The orderings that have to be stronger. With all of them the failure does not occur any more. Empty if it occurs even
    /// if every operation on an atomic and every fence is `SeqCst`.
    pub raise: Vec<StrongerOrdering>,
    /// The number of executions in which that was checked: all executions of the test with these orderings. 1 if there are
    /// none, because one execution shows that no ordering helps.
    pub executions: u64,
}

/// A stronger ordering for the operations at one place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrongerOrdering {
    /// The operation: `load`, `store`. The failure ordering of a compare-exchange is that of `failed compare-exchange`.
    pub op: String,
    /// The variable that is accessed there; empty for a fence, and if there are several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub var: String,
    /// `file:line:column`.
    pub site: String,
    /// The ordering that it has: the weakest, if it has several.
    pub now: String,
    /// The ordering that it needs.
    pub needs: String,
}

impl OrderingAdvice {
    /// Returns the advice in words.
    pub(crate) fn words(&self) -> String {
        if self.raise.is_empty() {
            return "no ordering fixes it: it also occurs with `SeqCst` for every operation on an atomic and every fence"
                .to_owned();
        }
        let one = |raise: &StrongerOrdering| {
            let StrongerOrdering {
                op,
                var,
                site,
                now,
                needs,
            } = raise;
            let what = match op.as_str() {
                "failed compare-exchange" => "a failure of the compare-exchange".to_owned(),
                op => format!("the {op}"),
            };
            let of = if var.is_empty() {
                String::new()
            } else {
                format!(" of {var}")
            };
            format!("`{needs}` for {what}{of} at {site} (now `{now}`)")
        };
        let raise: Vec<String> = self.raise.iter().map(one).collect();
        format!("the failure does not occur with {}", raise.join(", and "))
    }
}
