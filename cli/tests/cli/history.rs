//! `history check`: verdicts, explanations of histories that are not linearizable, and errors for files that are not
//! histories.

use crate::{Ran, run};

/// Writes the file and checks it.
fn check(name: &str, text: &str, flags: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let path = path.to_str().expect("a path of letters");
    run(&[&["history", "check", path], flags].concat())
}

const QUEUE: &str = "\
# @object queue
[1] call enqueue(a)
[1] return
[2] call enqueue(b)
[2] return
[3] call dequeue
[3] return b
[4] call dequeue
[4] return a
";

#[test]
fn a_linearizable_history() {
    let ran = check(
        "queue.log",
        &QUEUE.replace("return a", "return empty").replace("[1] ", "[9] "),
        &[],
    );
    assert_eq!(
        ran.ends_with(1).stdout.lines().next(),
        Some("not linearizable: 4 operations of a queue")
    );
    let fine = "[1] call push(1)\n[2] call pop\n[2] return 1\n";
    let ran = check("stack.log", fine, &["--spec", "stack"]).ends_with(0);
    assert_eq!(ran.stdout, "linearizable: 2 operations of a stack\n");
    let ran = check("stack.log", fine, &["--spec", "stack", "--json"]).ends_with(0);
    let json = ran.json();
    assert_eq!(json["verdict"], "linearizable");
    assert_eq!(json["format"], "calls");
    assert_eq!(json["checker"], "fast");
    assert!(json.get("longest").is_none());
}

#[test]
fn a_history_that_is_not_linearizable() {
    let ran = check("queue.log", QUEUE, &[]).ends_with(1);
    insta::assert_snapshot!(ran.stdout, @r#"
    not linearizable: 4 operations of a queue

    first in, first out: the value of #1 is before that of #0, as #2 finds it at the front and returns before #3 is called, which finds the latter; the value of #0 is before that of #1, as it is there by the return of #0, before #1 is called; none can be the first

    The longest order:
      #0  process 1  enqueue("a") -> nil  line 2 to line 3
      #1  process 2  enqueue("b") -> nil  line 4 to line 5

    One of these would have to come next, and none of them can:
      #2  process 3  dequeue() -> "b"  line 6 to line 7

    The others:
      #3  process 4  dequeue() -> "a"  line 8 to line 9

    When they ran, time to the right:
      #0  |-|
      #1      |-|
      #2          |-|
      #3              |-|
    "#);
    let json = check("queue.log", QUEUE, &["--json"]).ends_with(1).json();
    assert_eq!(json["verdict"], "not_linearizable");
    assert_eq!(json["stuck"][0]["call"], "dequeue()");
    assert_eq!(json["stuck"][0]["called_in"], "line 6");
}

#[test]
fn a_refutation_of_the_general_checker() {
    let text = "\
INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - 0\t:ok\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:cas\t[1 2]
INFO  jepsen.util - 1\t:ok\t:cas\t[1 2]
INFO  jepsen.util - 2\t:invoke\t:write\t3
INFO  jepsen.util - 2\t:info\t:write\t:timed-out
INFO  jepsen.util - 0\t:invoke\t:read\tnil
INFO  jepsen.util - 0\t:ok\t:read\t1
";
    let ran = check("etcd.log", text, &["--spec", "cas-register"]).ends_with(1);
    insta::assert_snapshot!(ran.stdout, @"
    not linearizable: 4 operations of a register

    The longest order:
      #0  process 0  write(1) -> 1          line 1 to line 2
      #1  process 1  cas([1, 2]) -> [1, 2]  line 3 to line 4
      #2  process 2  write(3) -> unknown    line 5

    One of these would have to come next, and none of them can:
      #3  process 0  read() -> 1  line 7 to line 8

    When they ran, time to the right:
      #0  |-|
      #1      |-|
      #2          |----->
      #3            |-|
    ");
}

#[test]
fn a_search_that_is_given_up() {
    // Values that repeat need the general checker. Every order of the pushes ends with the wrong value on top.
    let pushes: String = (0..12)
        .map(|at| format!("[{at}] call push({})\n", at % 11))
        .collect();
    let returns: String = (0..12).map(|at| format!("[{at}] return\n")).collect();
    let text = format!("{pushes}{returns}[12] call pop\n[12] return 99\n");
    let ran = check("stack.log", &text, &["--spec", "stack", "--states", "1000"]).ends_with(3);
    assert!(
        ran.stdout
            .starts_with("inconclusive: 13 operations of a stack\nThe check gave up after 10"),
        "{}",
        ran.stdout
    );
}

/// Twenty-four concurrent writes, of values that repeat: no checker for long histories decides it, and the general one
/// would take hours.
#[test]
fn a_search_that_takes_too_long_is_given_up() {
    let writes: String = (0..24)
        .map(|at| format!("[{at}] call write({})\n", at % 5))
        .collect();
    let returns: String = (0..24).map(|at| format!("[{at}] return\n")).collect();
    let text = format!("{writes}{returns}[24] call read\n[24] return 99\n");
    let ran = check("register.log", &text, &["--spec", "register", "--time", "0"]).ends_with(3);
    assert_eq!(
        ran.stdout,
        "inconclusive: 25 operations of a register\nThe check gave up after 0 seconds: --time allows more, and a \
         shorter part of the history needs less\n"
    );
    check("register.log", &text, &["--spec", "register", "--time", "soon"])
        .refused(&["soon", "give seconds"]);
}

#[test]
fn histories_that_cannot_be_checked() {
    check("queue.log", "[1] call enqueue(1)\n", &[]).refused(&["does not name the object", "--spec"]);
    check("queue.log", QUEUE, &["--spec", "quue"]).refused(&["quue", "did you mean `queue`?"]);
    check("queue.log", QUEUE, &["--format", "jsn"]).refused(&["jsn", "did you mean `json`?"]);
    check("queue.log", "[1] return 3\n", &["--spec", "queue"]).refused(&[
        "line 1",
        "found",
        "expected",
        "taken for calls",
    ]);
    run(&["history", "check", "nowhere.log", "--spec", "queue"]).refused(&["nowhere.log"]);
}
