//! Operations drawn as intervals of time.

use crate::output;
use intermezzo::refinement::history::Operation;

/// Draws each operation as a line from its call `|` to its return `|`, or to `>` if it did not return. Each column is the
/// call or the return of one operation.
pub(super) fn drawn<C, R>(operations: &[(String, &Operation<C, R>)]) -> String {
    const WIDE: usize = 2;
    let mut moments: Vec<u64> = operations
        .iter()
        .flat_map(|(_, operation)| [operation.called_at, operation.returned_at])
        .collect();
    moments.sort_unstable();
    moments.dedup();
    let column = |moment: u64| WIDE * moments.partition_point(|&other| other < moment);
    let mut rows: Vec<(&String, &Operation<C, R>)> = operations
        .iter()
        .map(|(name, operation)| (name, *operation))
        .collect();
    rows.sort_by_key(|(_, operation)| operation.called_at);
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, operation)| {
            let (from, until) = (column(operation.called_at), column(operation.returned_at));
            let end = if operation.is_pending() { '>' } else { '|' };
            let line = format!("{}|{}{end}", " ".repeat(from), "-".repeat(until - from - 1));
            vec![format!("  {name}"), line]
        })
        .collect();
    output::table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_operations_share_columns() {
        let operation = |called_at, returned_at| Operation {
            process: 0,
            call: (),
            returned: (returned_at != Operation::<(), ()>::NEVER).then_some(()),
            called_at,
            returned_at,
        };
        let (one, other) = (operation(3, 9), operation(5, Operation::<(), ()>::NEVER));
        let drawn = drawn(&[("#1".to_owned(), &other), ("#0".to_owned(), &one)]);
        assert_eq!(drawn, "  #0  |---|\n  #1    |--->\n");
    }
}
