//! Faults, and limits that were passed, as SARIF 2.1.0: what code scanning and editors read.

use std::collections::BTreeMap;

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::Location;
use amdinst_core::report::run::{EarlierReport, FaultReport};
use serde::Serialize;

use crate::gate::Violation;
use crate::summary::Summary;

/// The schema that the document names.
pub const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A document.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: Vec<RunObject>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunObject {
    tool: Tool,
    original_uri_base_ids: BTreeMap<&'static str, UriBase>,
    column_kind: &'static str,
    results: Vec<ResultObject>,
}

#[derive(Clone, Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: String,
    short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Message>,
}

/// Where relative paths begin: not said, for it is another directory on each machine.
#[derive(Clone, Debug, Serialize)]
struct UriBase {
    description: Message,
}

#[derive(Clone, Debug, Serialize)]
struct Message {
    text: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultObject {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: Vec<LocationObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<LocationObject>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<Stack>,
    partial_fingerprints: BTreeMap<&'static str, String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LocationObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    physical_location: Option<PhysicalLocation>,
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
struct LogicalLocation {
    name: String,
    kind: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct Stack {
    frames: Vec<StackFrame>,
}

#[derive(Clone, Debug, Serialize)]
struct StackFrame {
    location: LocationObject,
}

const ROOT: &str = "WORKSPACE";

/// The document of a run.
pub fn log(summary: &Summary, violations: &[Violation]) -> Log {
    let mut rules = Vec::<Rule>::new();
    let mut rule = |id: String, text: &str, help: Option<&String>| {
        rules.iter().position(|rule| rule.id == id).unwrap_or_else(|| {
            let help = help.map(|help| Message { text: help.clone() });
            rules.push(Rule { id, short_description: Message { text: text.to_owned() }, help });
            rules.len() - 1
        })
    };
    let mut results = Vec::new();
    let faults = summary.unexpected_faults().map(|fault| (fault, "error"));
    for (fault, level) in faults.chain(summary.doubts.iter().map(|doubt| (doubt, "warning"))) {
        let id = format!("fault/{}", fault.fault.kind);
        let fault_report = &fault.fault;
        let lane = fault_report.lane.map(|lane| format!(", lane {lane}")).unwrap_or_default();
        let [x, y, z] = fault_report.wave.workgroup;
        let text = format!(
            "kernel `{}` on {}: {} (test `{}`, workgroup ({x}, {y}, {z}), wave {}{lane})",
            fault_report.kernel, fault.cpu, fault_report.message, fault.test, fault_report.wave.wave
        );
        let frames: Vec<_> = fault_report.frames.iter().map(frame).collect();
        results.push(ResultObject {
            rule_index: rule(
                id.clone(),
                match level {
                    "error" => "A kernel did something that it may not do",
                    _ => "A kernel may have done something that it may not do",
                },
                fault_report.help.first(),
            ),
            level,
            message: Message { text },
            locations: vec![location(&fault_report.location, &fault_report.kernel)],
            related_locations: fault_report
                .earlier
                .iter()
                .map(|earlier| related(earlier, fault_report))
                .collect(),
            stacks: if frames.is_empty() { Vec::new() } else { vec![Stack { frames }] },
            partial_fingerprints: fingerprint(&[
                &id,
                &fault_report.kernel,
                &fault_report.location.to_string(),
            ]),
            rule_id: id,
        });
    }
    for violation in violations {
        let id = format!("limit/{}", violation.gate);
        let place = violation.location.clone().unwrap_or_default();
        results.push(ResultObject {
            rule_index: rule(id.clone(), "A limit of --fail-on was not kept", None),
            level: "error",
            message: Message { text: violation.message.clone() },
            locations: vec![location(&place, &violation.kernel)],
            related_locations: Vec::new(),
            stacks: Vec::new(),
            partial_fingerprints: fingerprint(&[&id, &violation.kernel, &place.to_string()]),
            rule_id: id,
        });
    }
    let description =
        Message { text: "The directory of the cargo workspace, where the repository is".to_owned() };
    Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: vec![RunObject {
            tool: Tool {
                driver: Driver {
                    name: "cargo-amdinst",
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules,
                },
            },
            original_uri_base_ids: BTreeMap::from([(ROOT, UriBase { description })]),
            column_kind: "unicodeCodePoints",
            results,
        }],
    }
}

fn location(place: &Location, kernel: &str) -> LocationObject {
    let physical = place.file.as_ref().map(|file| PhysicalLocation {
        artifact_location: ArtifactLocation {
            uri: uri(file),
            uri_base_id: (!file.starts_with('/')).then_some(ROOT),
        },
        region: place.line.map(|start_line| Region { start_line, start_column: place.column }),
    });
    LocationObject {
        physical_location: physical,
        logical_locations: vec![LogicalLocation { name: kernel.to_owned(), kind: "function" }],
        message: None,
    }
}

/// The other place of a race.
fn related(earlier: &EarlierReport, fault: &FaultReport) -> LocationObject {
    let text = format!("the earlier access: `{}`", earlier.instruction);
    LocationObject { message: Some(Message { text }), ..location(&earlier.location, &fault.kernel) }
}

fn frame(frame: &SiteFrame) -> StackFrame {
    StackFrame { location: location(&frame.into(), frame.function.as_deref().unwrap_or("<unknown>")) }
}

/// What makes a result the same one in another run.
fn fingerprint(parts: &[&str]) -> BTreeMap<&'static str, String> {
    let text = parts.join("\n");
    BTreeMap::from([("amdinst/v1", amdinst_core::report::run::content_hash(text.as_bytes()))])
}

/// A path as a URI reference (RFC 3986): everything that is not unreserved, or a slash, as %XX.
fn uri(path: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let path: String = path.bytes().map(escaped).collect();
    if path.starts_with('/') { format!("file://{path}") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(uri("src/a b.rs"), "src/a%20b.rs");
        assert_eq!(uri("/é.rs"), "file:///%C3%A9.rs");
    }
}
