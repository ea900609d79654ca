//! `[package.metadata.amdinst]`: a package's defaults.

use amdgpu_isa::{Arch, UnknownArch, WaveSize};
use amdinst_core::instrument::Counters;
use serde_json::Value;

use crate::cli::{TestGpu, TestGpus};

/// What `[package.metadata.amdinst]` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `kernels`: `false` for a package that depends on `amdinst-device` and has no kernels.
    pub kernels: Option<bool>,
    /// `target-cpus`: processors to build for.
    pub target_cpus: Vec<String>,
    /// `wave-size`: lanes of a wave, 32 or 64, where a processor has both.
    pub wave_size: Option<WaveSize>,
    /// `gpus`: those of `test --all-gpus`.
    pub gpus: Vec<TestGpu>,
    /// `profile`: cargo profile of the kernels.
    pub profile: Option<String>,
    /// `features`: features to activate.
    pub features: Vec<String>,
    /// `default-features`: whether to activate those as well.
    pub default_features: Option<bool>,
    /// `counters`: where counters live, for `auto`.
    pub counters: Option<Counters>,
    /// `code-object-version`: 4 to 6.
    pub code_object_version: Option<u8>,
    /// `alloc`: whether kernels have `alloc`.
    pub alloc: Option<bool>,
    /// `heap`: bytes that kernels allocate from.
    pub heap: Option<u64>,
    /// `panic-messages`: whether panics say why, with their values.
    pub panic_messages: Option<bool>,
}

/// Every key.
pub const KEYS: [&str; 12] = [
    "kernels",
    "target-cpus",
    "wave-size",
    "gpus",
    "profile",
    "features",
    "default-features",
    "counters",
    "code-object-version",
    "alloc",
    "heap",
    "panic-messages",
];

/// A value in `[package.metadata.amdinst]` that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` in [package.metadata.amdinst] {problem}")]
pub struct SettingsError {
    /// The key.
    pub key: String,
    /// The problem of its value.
    pub problem: String,
}

impl Settings {
    /// Reads a package's `metadata` table; gives the settings, and a warning a key that means nothing.
    ///
    /// # Errors
    /// The first value of the wrong type or range.
    pub fn read(metadata: &Value) -> Result<(Self, Vec<String>), SettingsError> {
        let mut settings = Self::default();
        let mut warnings = Vec::new();
        let table = match metadata.get("amdinst") {
            None | Some(Value::Null) => return Ok((settings, warnings)),
            Some(Value::Object(table)) => table,
            Some(_) => return Err(wrong("amdinst", "is not a table")),
        };
        for (key, value) in table {
            match key.as_str() {
                "kernels" => settings.kernels = Some(boolean(key, value)?),
                "target-cpus" => settings.target_cpus = strings(key, value)?,
                "wave-size" => {
                    let lanes = value.as_u64().and_then(|lanes| u32::try_from(lanes).ok());
                    let size = lanes.and_then(WaveSize::from_lanes);
                    settings.wave_size = Some(size.ok_or_else(|| wrong(key, "is not 32 or 64"))?);
                }
                "gpus" => settings.gpus = gpus(key, &strings(key, value)?)?,
                "profile" => settings.profile = Some(string(key, value)?),
                "features" => settings.features = strings(key, value)?,
                "default-features" => settings.default_features = Some(boolean(key, value)?),
                "counters" => settings.counters = Some(counters(key, &string(key, value)?)?),
                "code-object-version" => {
                    let version = value.as_u64().and_then(|version| u8::try_from(version).ok());
                    settings.code_object_version = Some(
                        version
                            .filter(|version| (4..=6).contains(version))
                            .ok_or_else(|| wrong(key, "is not 4, 5 or 6"))?,
                    );
                }
                "alloc" => settings.alloc = Some(boolean(key, value)?),
                "heap" => settings.heap = Some(heap(key, value)?),
                "panic-messages" => settings.panic_messages = Some(boolean(key, value)?),
                unknown => warnings.push(unknown_key(unknown)),
            }
        }
        for cpu in &settings.target_cpus {
            // One that is known and not built for is told as one of the command line is.
            if let Err(error @ UnknownArch::Unknown(_)) = cpu.parse::<Arch>() {
                return Err(wrong("target-cpus", &format!("has a wrong entry: {error}")));
            }
        }
        Ok((settings, warnings))
    }
}

fn wrong(key: &str, problem: &str) -> SettingsError {
    SettingsError { key: key.to_owned(), problem: problem.to_owned() }
}

fn string(key: &str, value: &Value) -> Result<String, SettingsError> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "is not a string"))
}

fn boolean(key: &str, value: &Value) -> Result<bool, SettingsError> {
    value.as_bool().ok_or_else(|| wrong(key, "is not true or false"))
}

/// Bytes: a number, or a text that ends in `k`, `M` or `G`.
fn heap(key: &str, value: &Value) -> Result<u64, SettingsError> {
    let text = value.as_str().unwrap_or_default();
    let unit = |shift: u32, end| text.strip_suffix(end).map(|digits| (digits, shift));
    let sized = [(10, 'k'), (20, 'M'), (30, 'G')].into_iter().find_map(|(shift, end)| unit(shift, end));
    let from_text =
        sized.and_then(|(digits, shift)| digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift));
    let bytes = value.as_u64().or(from_text);
    // A code object is loaded as one piece, and its own addresses reach 2 GiB.
    bytes.filter(|bytes| (1 << 10..=1 << 30).contains(bytes)).ok_or_else(|| {
        wrong(key, "is not a size from \"1k\" to \"1G\": a number of bytes, or text that ends in k, M or G")
    })
}

/// A string or a list of strings.
fn strings(key: &str, value: &Value) -> Result<Vec<String>, SettingsError> {
    match value {
        Value::Array(values) => values.iter().map(|value| string(key, value)).collect(),
        other => Ok(vec![string(key, other).map_err(|_| wrong(key, "is not a list of strings"))?]),
    }
}

fn gpus(key: &str, words: &[String]) -> Result<Vec<TestGpu>, SettingsError> {
    let read = |word: &String| word.parse::<TestGpus>().map(|gpus| gpus.0);
    let gpus: Result<Vec<_>, _> = words.iter().map(read).collect();
    gpus.map(|gpus| gpus.concat()).map_err(|error| wrong(key, &format!("has a wrong entry: {error}")))
}

fn counters(key: &str, text: &str) -> Result<Counters, SettingsError> {
    match text {
        "auto" => Ok(Counters::Auto),
        "register" => Ok(Counters::Register),
        "lds" => Ok(Counters::Lds),
        "global" => Ok(Counters::Global),
        _ => Err(wrong(key, "is not `auto`, `register`, `lds` or `global`")),
    }
}

fn unknown_key(key: &str) -> String {
    let nearest = KEYS.into_iter().map(|known| (distance(key, known), known)).min();
    let hint = match nearest {
        Some((distance, known)) if distance <= 1 + key.len() / 3 => format!("did you mean `{known}`?"),
        _ => format!("known keys: {}", KEYS.join(", ")),
    };
    format!("unknown key `{key}` in [package.metadata.amdinst]; {hint}")
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key() {
        let metadata = json!({ "amdinst": {
            "target-cpus": ["gfx90a", "gfx942"], "wave-size": 64, "gpus": ["rdna4", "gfx90a"], "profile": "kernel-o2", "features": "f", "default-features": false,
            "counters": "register", "code-object-version": 5, "alloc": true, "heap": "64M",
            "panic-messages": true,
        }});
        let (settings, warnings) = Settings::read(&metadata).unwrap();
        assert_eq!(
            settings,
            Settings {
                kernels: None,
                target_cpus: vec!["gfx90a".to_owned(), "gfx942".to_owned()],
                wave_size: Some(WaveSize::Wave64),
                gpus: vec!["gfx1201".parse().unwrap(), "gfx90a".parse().unwrap()],
                profile: Some("kernel-o2".to_owned()),
                features: vec!["f".to_owned()],
                default_features: Some(false),
                counters: Some(Counters::Register),
                code_object_version: Some(5),
                alloc: Some(true),
                heap: Some(64 << 20),
                panic_messages: Some(true),
            }
        );
        assert!(warnings.is_empty());
        assert_eq!(Settings::read(&Value::Null).unwrap().0, Settings::default());
    }

    #[test]
    fn unknown_keys_are_warned_about_with_a_suggestion() {
        let (_, warnings) = Settings::read(&json!({ "amdinst": { "target-cpu": 1, "colour": 2 } })).unwrap();
        assert!(warnings[0].ends_with("did you mean `target-cpus`?"), "{warnings:?}");
        assert!(warnings[1].contains("known keys: kernels, target-cpus"), "{warnings:?}");
    }

    #[test]
    fn wrong_values_are_errors() {
        for (key, value) in [
            ("target-cpus", json!("gfx1300")),
            ("target-cpus", json!([1])),
            ("wave-size", json!(16)),
            ("wave-size", json!("64")),
            ("gpus", json!("gfx90a/32")),
            ("profile", json!(3)),
            ("counters", json!("memory")),
            ("code-object-version", json!(3)),
            ("default-features", json!("no")),
            ("alloc", json!(1)),
            ("heap", json!("2G")),
            ("heap", json!("64 MB")),
            ("heap", json!(16)),
            ("panic-messages", json!("yes")),
        ] {
            assert_eq!(Settings::read(&json!({ "amdinst": { key: value } })).unwrap_err().key, key);
        }
    }
}
