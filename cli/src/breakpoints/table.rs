//! The table of a program's pairs.

use super::{Counts, Program};
use crate::output;

/// Returns a line for each order of each pair.
pub(super) fn of(program: &Program) -> String {
    let Program {
        program: name,
        unarmed,
        orders,
        left_out,
    } = program;
    let mut text = format!(
        "{name}: {} at random for each line; in each order, the left place goes first\n",
        output::count(unarmed.executions, "execution")
    );
    let title = ["FAILS", "HIT", "UNMET", "HOW", "ORDER"]
        .map(str::to_owned)
        .to_vec();
    let mut rows = vec![title, row(unarmed, None)];
    rows.extend(orders.iter().map(|order| row(&order.counts, Some(&order.armed))));
    text.push_str(&output::table(&rows));
    if orders.is_empty() {
        text.push_str("no two places contend in these executions\n");
    }
    if *left_out > 0 {
        text.push_str(&format!(
            "{} more not tried: raise --pairs\n",
            output::count(*left_out as u64, "pair")
        ));
    }
    text
}

/// Returns the line of executions in which this order was armed, or nothing.
fn row(counts: &Counts, armed: Option<&str>) -> Vec<String> {
    let percent = |count: u64| match counts.executions {
        0 => "-".to_owned(),
        all => format!("{:.0} %", 100.0 * count as f64 / all as f64),
    };
    let hit = match armed {
        Some(_) => percent(counts.hit),
        None => "-".into(),
    };
    let kinds: Vec<&str> = counts.kinds.iter().map(String::as_str).collect();
    vec![
        percent(counts.failures),
        hit,
        counts.in_vain.to_string(),
        if kinds.is_empty() {
            "-".into()
        } else {
            kinds.join(", ")
        },
        armed.unwrap_or("(nothing armed)").to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Order;
    use super::*;

    #[test]
    fn a_line_for_each_order() {
        let counts = |failures, hit, kind: &str| Counts {
            executions: 200,
            failures,
            hit,
            kinds: [kind.to_owned()].into(),
            ..Counts::default()
        };
        let program = Program {
            program: "p".into(),
            unarmed: counts(3, 0, "deadlock"),
            orders: vec![Order {
                armed: "a.rs:1:2 before b.rs:3:4".into(),
                counts: counts(200, 199, "deadlock"),
            }],
            left_out: 2,
        };
        let expected = "\
p: 200 executions at random for each line; in each order, the left place goes first
FAILS  HIT    UNMET  HOW       ORDER
2 %    -      0      deadlock  (nothing armed)
100 %  100 %  0      deadlock  a.rs:1:2 before b.rs:3:4
2 pairs more not tried: raise --pairs
";
        assert_eq!(of(&program), expected);
    }
}
