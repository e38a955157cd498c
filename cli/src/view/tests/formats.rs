//! Checks each format against the rules of the tools that read it.

use super::{both, deadlock, shown};
use crate::args::Format;
use crate::view::export::{annotations, dot, junit, perfetto, sarif, shiviz};
use crate::view::{check_order_is_known, page, render, source};
use intermezzo::Effect;
use quick_xml::events::Event;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// Trace Event Format: every event has a name, a phase, a process, a thread and a time; slices have a duration and lie
/// within each other or apart; arrows begin before they end; threads have names.
#[test]
fn traces_can_be_read_by_chrome_and_perfetto() {
    let trace: Value = serde_json::from_str(&perfetto::trace(&both())).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let mut arrows: BTreeMap<u64, Vec<(&str, u64)>> = BTreeMap::new();
    let mut named = Vec::new();
    for event in events {
        let number = |field: &str| {
            event[field]
                .as_u64()
                .unwrap_or_else(|| panic!("{field}: {event}"))
        };
        let (place, ts) = ((number("pid"), number("tid")), number("ts"));
        assert!(event["name"].is_string(), "{event}");
        match event["ph"].as_str().unwrap() {
            "X" => slices.entry(place).or_default().push((ts, ts + number("dur"))),
            "M" if event["name"] == "thread_name" => named.push(place),
            "M" => assert_eq!(event["name"], "process_name"),
            "i" => assert_eq!(event["s"], "t"),
            phase @ ("s" | "f") => {
                assert_eq!(event["bp"].as_str(), (phase == "f").then_some("e"));
                arrows.entry(number("id")).or_default().push((phase, ts));
            }
            phase => panic!("{phase}"),
        }
    }
    assert!(!arrows.is_empty() && events.iter().any(|event| event["cat"] == "preemption"));
    for ends in arrows.values() {
        assert!(
            matches!(ends[..], [("s", from), ("f", to)] if from < to),
            "{ends:?}"
        );
    }
    for (thread, slices) in slices {
        assert!(named.contains(&thread));
        for (at, (from, to)) in slices.iter().enumerate() {
            let crosses = |(start, end): &(u64, u64)| from < start && start < to && to < end;
            assert!(!slices[at + 1..].iter().any(crosses));
        }
    }
}

/// ShiViz: each event is found by the expression of the first line; a host's own entry counts its events from 1;
/// every other event that a clock knows has happened, and so has everything that it knew.
#[test]
fn clocks_of_shiviz_are_consistent() {
    let log = shiviz::log(&both());
    let mut lines = log.lines();
    assert_eq!(
        (lines.next(), lines.next()),
        (Some(shiviz::EVENTS), Some(shiviz::EXECUTIONS))
    );
    let mut known: BTreeMap<(String, u64), BTreeMap<String, u64>> = BTreeMap::new();
    let (mut executions, mut events) = (0, 0);
    while let Some(line) = lines.next() {
        if line.starts_with("=== ") {
            assert!(line.ends_with(" ==="), "{line}");
            known.clear();
            executions += 1;
            continue;
        }
        let (host, clock) = lines.next().unwrap().split_once(' ').unwrap();
        let clock: BTreeMap<String, u64> = serde_json::from_str(clock).unwrap();
        let own = clock[host];
        assert!(
            own == 1 || known.contains_key(&(host.to_owned(), own - 1)),
            "{line}"
        );
        for (other, &index) in clock.iter().filter(|(other, _)| *other != host) {
            let theirs = &known[&(other.clone(), index)];
            assert!(theirs.iter().all(|(task, at)| clock[task] >= *at), "{line}");
        }
        known.insert((host.to_owned(), own), clock);
        events += 1;
    }
    assert_eq!(executions, 4);
    assert!(events > 30);
}

/// The SARIF 2.1.0 schema of the objects used here: the properties that each may have (none of them allows others),
/// and those that it must have.
const SARIF: &[(&str, &[&str], &[&str])] = &[
    ("log", &["$schema", "version", "runs"], &["version", "runs"]),
    ("run", &["tool", "results", "columnKind"], &["tool"]),
    ("tool", &["driver"], &["driver"]),
    ("driver", &["name", "version", "rules"], &["name"]),
    ("rule", &["id"], &["id"]),
    (
        "result",
        &[
            "ruleId",
            "ruleIndex",
            "level",
            "message",
            "locations",
            "relatedLocations",
            "codeFlows",
            "partialFingerprints",
            "properties",
        ],
        &["message"],
    ),
    ("message", &["text"], &["text"]),
    (
        "location",
        &["physicalLocation", "logicalLocations", "message"],
        &[],
    ),
    ("physicalLocation", &["artifactLocation", "region"], &[]),
    ("artifactLocation", &["uri"], &[]),
    ("region", &["startLine"], &[]),
    ("logicalLocation", &["fullyQualifiedName", "kind"], &[]),
    ("codeFlow", &["message", "threadFlows"], &["threadFlows"]),
    ("threadFlow", &["id", "locations"], &["locations"]),
    (
        "threadFlowLocation",
        &["location", "executionOrder", "importance"],
        &[],
    ),
];

/// Returns the kind of the object in a property of another.
fn sarif_kind(of: &str, property: &str) -> Option<&'static str> {
    Some(match (of, property) {
        (_, "runs") => "run",
        (_, "tool") => "tool",
        (_, "driver") => "driver",
        (_, "rules") => "rule",
        (_, "results") => "result",
        (_, "message") => "message",
        ("threadFlow", "locations") => "threadFlowLocation",
        (_, "locations" | "relatedLocations" | "location") => "location",
        (_, "physicalLocation") => "physicalLocation",
        (_, "artifactLocation") => "artifactLocation",
        (_, "region") => "region",
        (_, "logicalLocations") => "logicalLocation",
        (_, "codeFlows") => "codeFlow",
        (_, "threadFlows") => "threadFlow",
        _ => return None,
    })
}

fn check_sarif(kind: &str, value: &Value) {
    let (_, may, must) = SARIF.iter().find(|(name, ..)| *name == kind).unwrap();
    let object = value.as_object().unwrap_or_else(|| panic!("{kind}: {value}"));
    for property in *must {
        assert!(object.contains_key(*property), "{kind} without {property}");
    }
    for (property, value) in object {
        assert!(may.contains(&property.as_str()), "{kind}.{property}");
        let Some(inner) = sarif_kind(kind, property) else {
            continue;
        };
        match value.as_array() {
            Some(list) => list.iter().for_each(|one| check_sarif(inner, one)),
            None => check_sarif(inner, value),
        }
    }
}

#[test]
fn sarif_follows_its_schema() {
    let log: Value = serde_json::from_str(&sarif::log(&both())).unwrap();
    check_sarif("log", &log);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!((rules.len(), results.len()), (2, 2));
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(result["level"], "error");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "cli/src/view/tests.rs");
        assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
        let threads = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
        let mut orders: Vec<u64> = threads
            .iter()
            .flat_map(|thread| thread["locations"].as_array().unwrap())
            .map(|step| step["executionOrder"].as_u64().unwrap())
            .collect();
        orders.sort_unstable();
        assert_eq!(orders, (1..=orders.len() as u64).collect::<Vec<_>>());
    }
    let deadlock = results
        .iter()
        .find(|result| result["ruleId"] == "deadlock")
        .unwrap();
    assert_eq!(deadlock["relatedLocations"].as_array().unwrap().len(), 4);
}

/// The elements and attributes of the XML, in order, as a reader finds them.
fn elements(xml: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut all = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return all,
            Event::Start(start) | Event::Empty(start) => {
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.unwrap();
                    let value = quick_xml::escape::unescape(&attribute.value).unwrap();
                    (attribute.key.as_ref().to_owned(), value.into_owned())
                });
                all.push((start.name().as_ref().to_owned(), attributes.collect()));
            }
            _ => {}
        }
    }
}

#[test]
fn junit_can_be_read_by_ci_servers() {
    let xml = junit::suites(&both(), &[]).unwrap();
    assert!(!xml.contains('\u{1}'), "no XML may hold that");
    let elements = elements(&xml);
    let names: Vec<&str> = elements.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "testsuites",
            "testsuite",
            "testcase",
            "failure",
            "system-out",
            "testcase",
            "failure",
            "system-out",
            "testcase",
            "system-out"
        ]
    );
    for suites in &elements[..2] {
        let counted = |name: &str| suites.1[name].as_str();
        assert_eq!(
            (counted("tests"), counted("failures"), counted("errors")),
            ("3", "2", "0")
        );
    }
    let case = &elements[2].1;
    assert_eq!(
        (case["classname"].as_str(), case["name"].as_str()),
        ("store::tests", "two <locks> & \"one\" cycle")
    );
    assert_eq!(elements[3].1["type"], "deadlock");
    assert!(
        elements[6].1["message"].contains("]]> \u{FFFD} <lost>"),
        "{:?}",
        elements[6]
    );
}

/// Graphviz itself reads the graph, if it is installed.
#[test]
fn graphs_can_be_read_by_graphviz() {
    let graph = dot::graph(&both());
    assert_eq!(graph.matches("subgraph").count(), 4);
    assert_eq!(graph.matches('{').count(), graph.matches('}').count());
    let spawned = Command::new("dot")
        .arg("-Tplain")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut graphviz) = spawned else {
        let _ = writeln!(std::io::stderr(), "not read by Graphviz: there is no `dot` here");
        return;
    };
    let mut input = graphviz.stdin.take().unwrap();
    input.write_all(graph.as_bytes()).unwrap();
    drop(input);
    let output = graphviz.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plain = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        plain.lines().filter(|line| line.starts_with("node ")).count(),
        graph.matches("[label=").count()
    );
}

#[test]
fn an_unknown_order_is_refused() {
    let partial = shown(&[deadlock(false)]);
    for format in [Format::Shiviz, Format::Dot] {
        let error = render(&partial, format, None).unwrap_err().to_string();
        assert!(error.contains("INTERMEZZO_RECORD=1"), "{error}");
    }
    for format in [Format::Html, Format::Perfetto, Format::Sarif, Format::Junit] {
        render(&partial, format, None).unwrap();
    }
    check_order_is_known(&both()).unwrap();
}

/// A page is one file: it fetches nothing, and nothing in a report ends an element.
#[test]
fn pages_are_self_contained() {
    let page = page::page(&both(), &source::Finder::new(None));
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("default-src 'none'") && !page.contains("{{contents"));
    // A message has a control character, which a browser would not show.
    assert!(page.contains("\\\\u{1}") && !page.contains("\\u0001"));
    for fetched in [" src=", "@import", "url(", "<link"] {
        assert!(!page.contains(fetched), "{fetched}");
    }
    assert!(page.contains("<title>reports – intermezzo"));
    let one = page::page(&shown(&[deadlock(true)]), &source::Finder::new(None));
    assert!(one.contains("<title>store::tests::two &lt;locks&gt; &amp; &quot;one&quot;"));
    // The source of this very crate is found from its directory up.
    assert!(page.contains("let _second = locks.1.lock();"));
}

/// A report has identifiers of effects, and the page has the same words for them as the text.
#[test]
fn pages_call_effects_as_texts_do() {
    let page = page::page(&both(), &source::Finder::new(None));
    let words = Effect::ALL.map(|effect| {
        let name = serde_json::to_value(effect).unwrap();
        format!("{}: \"{effect}\"", name.as_str().unwrap())
    });
    let table = format!("const EFFECTS = {{ {} }};", words.join(", "));
    assert!(page.contains(&table), "{table}");
}

/// A page has the executions of all findings, each with its tables, and what opens a view of any of them. `tests/view`
/// uses it in a browser.
#[test]
fn views_of_all_findings_can_be_opened() {
    let page = page::page(&both(), &source::Finder::new(None));
    let (_, rest) = page.split_once("id=\"contents\">").unwrap();
    let contents: serde_json::Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let reports = contents["reports"].as_array().unwrap();
    let findings = reports
        .iter()
        .flat_map(|report| report["findings"].as_array().unwrap());
    let passes: Vec<Vec<bool>> = findings
        .map(|finding| {
            let executions = finding["executions"].as_array().unwrap();
            let passes = |one: &serde_json::Value| one["passes"].as_bool().unwrap();
            executions.iter().map(passes).collect()
        })
        .collect();
    assert_eq!(passes, [[false, true], [false, true]]);
    for part in [
        "Add a view",
        "menu-views",
        "Close this view",
        "\"Operations\", \"kinds\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Filters are a view's, not the page's.
    assert!(!page.contains("app.filters"));
}

/// The command that replays a program's finding has the arguments that it needs, and that of an object's names the test.
#[test]
fn exports_have_the_whole_command() {
    let report = deadlock(false);
    let with = |from: &str, to: &str| report.replacen(from, to, 1);
    let program = with(
        "\"verdict\"",
        "\"replay_with\": [\"--set-up='mkdir a'\", \"--\", \"b\"], \"verdict\"",
    );
    let object = with("\"verdict\"", "\"test\": \"store::is_one\", \"verdict\"");
    let name = "store::tests::two <locks> & \\\"one\\\" cycle";
    let unknown = with(name, "store");
    for (report, ends) in [
        (report.clone(), Some("")),
        (program, Some(" --set-up='mkdir a' -- b")),
        (object, Some(" -- store::is_one -- --exact")),
        (unknown, None),
    ] {
        let shown = shown(&[report]);
        let said = &shown.reports[0].findings[0].said.schedule;
        let junit = junit::suites(&shown, &[]).unwrap();
        let annotations = annotations::lines(&shown, &[]);
        match ends {
            Some(ends) => {
                let command = format!("cargo intermezzo replay {said}{ends}\n");
                assert!(junit.replace("&apos;", "'").contains(&command), "{junit}");
                assert!(annotations.ends_with(&format!("%0A{command}")), "{annotations}");
            }
            None => assert!(!(junit + &annotations).contains("cargo intermezzo")),
        }
    }
}
