//! Documents that say which version of their shape they have.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Reads a document whose `schema` should be of one version; if it is of another, that is returned in its place.
///
/// # Errors
/// It is damaged, or something else.
pub fn read<T: DeserializeOwned>(bytes: &[u8], version: u32) -> serde_json::Result<Result<T, u32>> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let Version { schema } = serde_json::from_slice(bytes)?;
    if schema != version {
        return Ok(Err(schema));
    }
    serde_json::from_slice(bytes).map(Ok)
}
