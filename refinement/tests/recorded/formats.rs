//! The formats: the same history in each of them, and the errors for files that are none.

use intermezzo_refinement::history::formats::{Format, Recorded, write_json};
use intermezzo_refinement::recorded::{Judgement, Object, Outcome, STATES_MAX, judge};
use std::path::Path;

fn judged(text: &str, format: Format, object: Object) -> Result<Judgement, String> {
    let (events, _) = format.read(text).map_err(|error| error.to_string())?;
    let recorded = Recorded::pair(events).map_err(|error| error.to_string())?;
    judge(&recorded, object, STATES_MAX, None).map_err(|error| error.to_string())
}

/// A write of 1, during which 1 is read and then nil again; and one whose result is unknown.
const JEPSEN: &str = "\
INFO  jepsen.util - 0\t:invoke\t:write\t1
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\t1
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 2\t:invoke\t:cas\t[3 4]
INFO  jepsen.util - 2\t:fail\t:cas\t[3 4]
INFO  jepsen.util - 3\t:invoke\t:write\t2
INFO  jepsen.util - 3\t:info\t:write\t:timed-out
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\tnil
INFO  jepsen.util - 0\t:ok\t:write\t1
";

const EDN: &str = "\
; The same.
[{:process 0, :type :invoke, :f :write, :value 1}
 {:process 1 :type :invoke :f :read :value nil :time 12}
 {:process 1 :type :ok :f :read :value 1}
 {:process :nemesis :type :info :f :start :value nil} #_ {:left :out}
 {:process 2 :type :invoke :f :cas :value [3 4]}
 {:process 2 :type :fail :f :cas :value [3 4]}
 {:process 3 :type :invoke :f :write :value 2}
 {:process 3 :type :info :f :write :value :timed-out}
 {:process 1 :type :invoke :f :read :value nil}
 {:process 1 :type :ok :f :read :value nil}
 {:process 0 :type :ok :f :write :value 1}]
";

const CALLS: &str = "\
# @object register
[0] call write(1)
  [1] call read
  [1] return 1
[2] call cas(3, 4)
[2] return false
[3] call write(2)
[1] call read()
[1] return
[0] return
";

#[test]
fn one_history_in_all_formats() {
    let expected = judged(JEPSEN, Format::Jepsen, Object::Register).expect("a history");
    let Outcome::NotLinearizable(refutation) = &expected.outcome else {
        panic!("the value is lost: {expected:?}")
    };
    assert_eq!(
        (&refutation.longest[..], &refutation.stuck[..]),
        (&[0, 1, 2, 3][..], &[4][..])
    );
    let (events, _) = Format::Jepsen.read(JEPSEN).expect("events");
    let json = write_json(&events, Some("register"));
    for (text, format) in [(EDN, Format::Edn), (CALLS, Format::Calls), (&json, Format::Json)] {
        assert_eq!(Format::guess(Path::new("history.txt"), text), format);
        let found = judged(text, format, Object::Register).expect("a history");
        assert_eq!(found.outcome, expected.outcome, "{format}");
    }
    assert_eq!(Format::guess(Path::new("etcd.log"), JEPSEN), Format::Jepsen);
    assert_eq!(
        Format::Calls.read(CALLS).expect("events").1.as_deref(),
        Some("register")
    );
}

#[test]
fn json_is_read_as_it_was_written() {
    let (mut events, _) = Format::Edn
        .read(r#"{:process 7 :type :invoke :f :put :key "a" :value ["b\n" true [nil -3]]}"#)
        .expect("events");
    let json = write_json(&events, None);
    assert_eq!(
        json,
        "{\"format\": \"intermezzo-history/1\", \"events\": [\n\
         {\"process\":7,\"kind\":\"invoke\",\"name\":\"put\",\"key\":\"a\",\"value\":[\"b\\n\",true,[null,-3]]}\n\
         ]}\n"
    );
    let (again, object) = Format::Json.read(&json).expect("events");
    // Places are those of the file.
    events[0].place = again[0].place;
    assert_eq!((again, object), (events, None));
}

#[test]
fn an_empty_file_is_a_history() {
    for format in [Format::Jepsen, Format::Edn, Format::Calls] {
        let found = judged("\n", format, Object::Queue).expect("a history");
        assert_eq!(found.outcome, Outcome::Linearizable);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let cases = [
        (
            Format::Jepsen,
            "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:okay\t:read\tnil\n",
            "line 2: found \":okay\", expected :invoke, :ok, :fail or :info",
        ),
        (
            Format::Jepsen,
            "0 :ok :read 4",
            "line 1: found a return of process 0 without a call, expected a call before each return",
        ),
        (
            Format::Jepsen,
            "0 :invoke :read nil\n0 :invoke :read nil",
            "line 2: found process 0 calls read while its read(), called in line 1, has not returned, expected one \
             operation of a process at a time",
        ),
        (
            Format::Jepsen,
            "0 :invoke :read nil\n\n0 :ok :write 3",
            "line 3: found process 0 returns from write, expected a return from read(), called in line 1",
        ),
        (
            Format::Edn,
            "{:process 0 :type :invoke :f :read :value [1\n2}",
            "line 2: found \"}\", expected a form",
        ),
        (
            Format::Edn,
            "{:process 0, :f :read}",
            "line 1: found no :type, expected :invoke, :ok, :fail or :info",
        ),
        (
            Format::Calls,
            "[1] call read\n[1] give 3",
            "line 2: found \"[1] give 3\", expected [number] call method(arguments), or [number] return value",
        ),
        (
            Format::Calls,
            "[1] call fetch_add(1)",
            "line 1: found \"fetch_add\", expected an operation of a register: read, write or cas",
        ),
        (
            Format::Calls,
            "[1] call cas(1)",
            "line 1: found cas(1), expected 2 arguments",
        ),
        (
            Format::Json,
            "{\"format\": \"intermezzo-history/2\", \"events\": []}",
            "line 1: found the format \"intermezzo-history/2\", expected \"intermezzo-history/1\": convert the file, \
             or use the version of intermezzo that wrote it",
        ),
        (
            Format::Json,
            "{\"format\": \"intermezzo-history/1\", \"events\": [{\"process\": 0, \"kind\": \"ok\"}]}",
            "event 1: found a return of process 0 without a call, expected a call before each return",
        ),
    ];
    for (format, text, expected) in cases {
        assert_eq!(judged(text, format, Object::Register), Err(expected.to_owned()));
    }
    let error = judged("[1] call add(1)\n[1] return 3", Format::Calls, Object::Set);
    let expected = "line 2: found 3 returned by add(1), expected true or false";
    assert_eq!(error, Err(expected.to_owned()));
}
