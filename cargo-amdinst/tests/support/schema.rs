//! Whether a document is what a schema says: the keywords of `schemas/`, and no property that the schema does
//! not have.

use std::path::Path;

use serde_json::Value;

/// What is wrong with a document by a schema of `schemas/`.
pub(crate) fn errors(schema: &str, document: &Value) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas").join(schema);
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut errors = Vec::new();
    check(&schema, &schema, document, "", &mut errors);
    errors
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
    if let Some(pointer) = schema["$ref"].as_str() {
        let target = root.pointer(pointer.strip_prefix('#').unwrap()).unwrap();
        return check(root, target, value, path, errors);
    }
    let one_of = |names: &Value| match names {
        Value::Array(names) => names.clone(),
        one => vec![one.clone()],
    };
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
    let is_allowed = schema.get("const").is_none_or(|wanted| wanted == value)
        && schema.get("enum").is_none_or(|words| words.as_array().unwrap().contains(value))
        && schema.get("type").is_none_or(|names| one_of(names).iter().any(is));
    if !is_allowed {
        errors.push(format!("{path}: {value}"));
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        let mut of_forms = forms.iter().map(|form| {
            let mut errors = Vec::new();
            check(root, form, value, path, &mut errors);
            errors
        });
        // The least that any of them finds.
        let least = of_forms.by_ref().min_by_key(Vec::len).unwrap_or_default();
        errors.extend(least);
    }
    let parts = parts(root, schema);
    for name in parts.iter().filter_map(|part| part["required"].as_array()).flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            errors.push(format!("{path}: no {name}"));
        }
    }
    let properties: Vec<_> = parts.iter().filter_map(|part| part["properties"].as_object()).collect();
    if let (false, Some(fields)) = (properties.is_empty(), value.as_object()) {
        for (name, field) in fields {
            match properties.iter().find_map(|properties| properties.get(name)) {
                Some(schema) => check(root, schema, field, &format!("{path}/{name}"), errors),
                None => errors.push(format!("{path}: {name} is not in the schema")),
            }
        }
    }
    if let (Some(items), Some(elements)) = (schema.get("items"), value.as_array()) {
        for (index, element) in elements.iter().enumerate() {
            check(root, items, element, &format!("{path}/{index}"), errors);
        }
    }
}

/// A schema, and those that it says it is besides (`allOf`): they share an object's properties.
fn parts<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut parts = vec![schema];
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let pointer = part["$ref"].as_str().and_then(|pointer| pointer.strip_prefix('#'));
        parts.extend(pointer.map_or(Some(part), |pointer| root.pointer(pointer)));
    }
    parts
}
