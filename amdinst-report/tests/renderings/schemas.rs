//! The JSON that is written is what `schemas/` says, by a validator of the keywords that they use (JSON
//! Schema 2020-12).

use std::collections::BTreeSet;
use std::path::Path;

use amdinst_core::report::run::Run;
use amdinst_report::{Diff, Summary};
use serde::Serialize;
use serde_json::Value;

use super::{coverage, model, raced};

pub(crate) struct Schema {
    document: Value,
}

impl Schema {
    pub(crate) fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas").join(name);
        let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        Self { document }
    }

    /// Refuses a document that is not as the schema says.
    pub(crate) fn assert(&self, document: &Value) {
        let errors = self.errors(document);
        assert!(errors.is_empty(), "{errors:#?}");
    }

    fn errors(&self, document: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        self.validate(&self.document, document, "", &mut errors);
        errors
    }

    /// Adds what is wrong with `value`, which stands at `path`, by `schema`.
    fn validate(&self, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
        let fails = |errors: &mut Vec<String>, what: String| errors.push(format!("{path}: {what}"));
        for (keyword, rule) in schema.as_object().unwrap() {
            match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" => {}
                "$ref" => {
                    let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    self.validate(self.document.pointer(pointer).unwrap(), value, path, errors);
                }
                "allOf" => {
                    rule.as_array().unwrap().iter().for_each(|part| self.validate(part, value, path, errors))
                }
                "anyOf" => {
                    let of_forms = rule.as_array().unwrap().iter().map(|part| {
                        let mut errors = Vec::new();
                        self.validate(part, value, path, &mut errors);
                        errors
                    });
                    // The least that any of them finds.
                    errors.extend(of_forms.min_by_key(Vec::len).unwrap_or_default());
                }
                "const" if value != rule => fails(errors, format!("{value} is not {rule}")),
                "enum" if !rule.as_array().unwrap().contains(value) => {
                    fails(errors, format!("{value} is none of {rule}"))
                }
                "const" | "enum" => {}
                "type" => {
                    let is = |name: &Value| match name.as_str().unwrap() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "null" => value.is_null(),
                        "number" => value.is_number(),
                        "integer" => value.is_i64() || value.is_u64(),
                        other => panic!("no type: {other}"),
                    };
                    let names = rule.as_array().map_or_else(|| vec![rule], |names| names.iter().collect());
                    if !names.into_iter().any(is) {
                        fails(errors, format!("{value} is no {rule}"));
                    }
                }
                "properties" => {
                    for (name, part) in rule.as_object().unwrap() {
                        if let Some(value) = value.get(name) {
                            self.validate(part, value, &format!("{path}/{name}"), errors);
                        }
                    }
                }
                "required" => {
                    for name in rule.as_array().unwrap() {
                        if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
                            fails(errors, format!("{name} is missing"));
                        }
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.validate(rule, item, &format!("{path}/{index}"), errors);
                    }
                }
                "minItems" | "maxItems" => {
                    let (count, limit) = (value.as_array().map(Vec::len), rule.as_u64().unwrap() as usize);
                    let kept =
                        count.is_none_or(
                            |count| if keyword == "minItems" { count >= limit } else { count <= limit },
                        );
                    if !kept {
                        fails(errors, format!("{keyword} {rule}"));
                    }
                }
                "minimum" | "maximum" => {
                    let (number, limit) = (value.as_f64(), rule.as_f64().unwrap());
                    let kept = number.is_none_or(|number| {
                        if keyword == "minimum" { number >= limit } else { number <= limit }
                    });
                    if !kept {
                        fails(errors, format!("{value}: {keyword} {rule}"));
                    }
                }
                // The only one: a hash.
                "pattern" => {
                    assert_eq!(rule, "^fnv1a:[0-9a-f]{16}$");
                    let digits =
                        value.as_str().and_then(|text| text.strip_prefix("fnv1a:")).unwrap_or_default();
                    if digits.len() != 16 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                        fails(errors, format!("{value} is no hash"));
                    }
                }
                other => panic!("a keyword that is not checked: {other}"),
            }
        }
    }

    /// The document is valid, and has no field that the schema does not name.
    fn check(&self, document: &impl Serialize) {
        let document = serde_json::to_value(document).unwrap();
        let errors = self.errors(&document);
        assert!(errors.is_empty(), "{errors:#?}");
        let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
        properties(&self.document, &mut known);
        keys(&document, &mut used);
        let unknown: Vec<_> = used.difference(&known).collect();
        assert!(unknown.is_empty(), "fields without a description: {unknown:?}");
    }

    fn refuses(&self, document: &impl Serialize, pointer: &str, value: Value) {
        let mut document = serde_json::to_value(document).unwrap();
        *document.pointer_mut(pointer).unwrap() = value;
        assert!(!self.errors(&document).is_empty(), "{pointer}");
    }
}

/// The names under every `properties` of a schema.
fn properties<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                names.extend(properties.keys().map(String::as_str));
            }
            fields.values().for_each(|field| properties(field, names));
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, names)),
        _ => {}
    }
}

/// The names of every object of a document, but for what a kernel costs, which is the probe map's.
fn keys<'a>(document: &'a Value, names: &mut BTreeSet<&'a str>) {
    match document {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            names.insert(name);
            if name != "cost" {
                keys(value, names);
            }
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, names)),
        _ => {}
    }
}

#[test]
fn runs_and_launches() {
    let (run, launch) = (Schema::read("run.v1.json"), Schema::read("launch.v1.json"));
    let document = model::run();
    run.check(&document);
    run.check(&Run { schema: 1, ..Run::default() });
    let raced = raced();
    run.check(&raced);
    run.refuses(&raced, "/programs/0/tests/0/faults/0/earlier/line", "five".into());
    run.refuses(&raced, "/programs/0/tests/0/faults/0/earlier/pc", (-1).into());
    run.refuses(&document, "/schema", 2.into());
    run.refuses(&document, "/programs/0/tests/0/ending", "lost".into());
    run.refuses(&document, "/programs/0/tests/1/launches/0/sites/0/executions", (-1).into());
    run.refuses(&document, "/programs/0/tests/0/faults/0/line", "six".into());
    let dependent = model::with_a_dependency();
    run.check(&dependent);
    launch.check(&dependent.programs[0].tests[1].launches[0]);
    run.refuses(&dependent, "/programs/0/tests/1/launches/0/sites/3/caller/line", "six".into());
    run.refuses(&dependent, "/programs/0/tests/0/launches/0/sites/0/expected", "yes".into());
    run.refuses(&document, "/programs/0/tests/1/modeled/0/spans/0", serde_json::json!([0, 0, 0, 1]));
    let report = &document.programs[0].tests[1].launches[0];
    launch.check(report);
    let measured = coverage();
    run.check(&measured);
    run.refuses(&measured, "/unlaunched/0/lines/0/lines/0", (-1).into());
    launch.check(&measured.programs[0].tests[0].launches[0]);
    run.refuses(&measured, "/programs/0/tests/0/launches/0/blocks/0/executions", "three".into());
    launch.refuses(report, "/sites/0/kind", "switch".into());
    launch.refuses(report, "/sites/0/waves/0/workgroup", serde_json::json!([0, 0]));
}

#[test]
fn summaries_and_comparisons() {
    let (report, diff) = (Schema::read("report.v1.json"), Schema::read("diff.v1.json"));
    let summary = Summary::new(&model::run());
    report.check(&summary);
    report.check(&Summary::new(&coverage()));
    report.check(&Summary::new(&model::with_a_dependency()));
    report.refuses(&summary, "/kernels/0/branches/0/lost/certainty", "perhaps".into());
    report.refuses(&summary, "/kernels/0/branches/0/diverged_percent", 101.into());
    report.refuses(&summary, "/kernels/0/resources/sgprs", serde_json::json!([1]));
    report.refuses(&summary, "/faults/0/expected", Value::Null);
    let raced = Summary::new(&raced());
    report.check(&raced);
    report.refuses(&raced, "/faults/0/earlier/instruction", Value::Null);
    let mut before = summary.clone();
    before.kernels.remove(0);
    let compared = Diff::new(&before, &summary);
    assert!(!compared.changes.is_empty());
    diff.check(&compared);
    diff.refuses(&compared, "/changes/0/verdict", "odd".into());
}
