//! Documents that say which version of their shape they have.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a document whose `schema` should be of one version; if it is of another, that is returned in its
/// place.
///
/// # Errors
/// It is damaged, or something else.
pub fn read<T: DeserializeOwned>(bytes: &[u8], version: u32) -> serde_json::Result<Result<T, u32>> {
    let Version(schema) = serde_json::from_slice(bytes)?;
    if schema != version {
        return Ok(Err(schema));
    }
    serde_json::from_slice(bytes).map(Ok)
}

/// The number `schema` of an object. (What serde derives would take an array as well, and tell people the
/// name of a type.)
struct Version(u32);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Version;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object with a number `schema`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Version, A::Error> {
        let mut schema = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == "schema" {
                schema = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        schema.map(Version).ok_or_else(|| A::Error::missing_field("schema"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Document {
        schema: u32,
        name: String,
    }

    #[test]
    fn what_is_no_such_document_is_told_without_the_names_of_types() {
        let document = Document { schema: 2, name: "a".to_owned() };
        assert_eq!(read(br#"{"name":"a","schema":2}"#, 2).unwrap(), Ok(document));
        assert_eq!(read::<Document>(br#"{"schema":1,"other":[]}"#, 2).unwrap(), Err(1));
        for (text, told) in [
            ("[]", "invalid type: sequence, expected a JSON object with a number `schema`"),
            ("[2, \"a\"]", "invalid type: sequence, expected a JSON object with a number `schema`"),
            ("7", "invalid type: integer `7`, expected a JSON object with a number `schema`"),
            ("{}", "missing field `schema`"),
            (r#"{"schema":"2"}"#, "invalid type: string \"2\", expected u32"),
            (r#"{"schema":2}"#, "missing field `name`"),
            ("", "EOF while parsing"),
        ] {
            let error = read::<Document>(text.as_bytes(), 2).unwrap_err().to_string();
            assert!(error.starts_with(told), "{text}: {error}");
        }
    }
}
