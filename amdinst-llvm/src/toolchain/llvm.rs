//! LLVM's tools: where they are, and whether they fit the compiler.

use std::path::{Path, PathBuf};

use super::answers::answer;

/// The tools of the link step.
const TOOLS: [&str; 4] = ["opt", "llc", "llvm-link", "llvm-dis"];

/// Where LLVM's tools are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmTools {
    /// Path of a tool, with `{}` for its name: `/usr/lib/llvm-22/bin/{}`, `/usr/bin/{}-22`.
    pub pattern: String,
    /// `ld.lld` or `rust-lld`.
    pub lld: PathBuf,
    /// What `llc` says its version is (`22.1.8`).
    pub version: String,
}

impl LlvmTools {
    /// The path of one tool.
    pub fn path(&self, tool: &str) -> PathBuf {
        PathBuf::from(self.pattern.replace("{}", tool))
    }

    /// Looks in the compiler's own directory (`own`), in the distribution's, then in `search`, for tools of
    /// LLVM `major`.
    ///
    /// # Errors
    /// One line a place, why the tools there will not do.
    pub(super) fn find(major: &str, own: &Path, search: &[PathBuf]) -> Result<Self, Vec<String>> {
        let mut patterns = vec![pattern(own, "{}"), format!("/usr/lib/llvm-{major}/bin/{{}}")];
        for directory in search {
            patterns.push(pattern(directory, &format!("{{}}-{major}")));
            patterns.push(pattern(directory, "{}"));
        }
        let mut reasons = Vec::new();
        for pattern in patterns {
            match missing(&pattern) {
                None => {}
                // A directory with none of the tools is not worth a word.
                Some(names) if names.len() == TOOLS.len() => continue,
                Some(names) => {
                    reasons.push(format!("{} lacks {}", pattern.replace("{}", "*"), names.join(", ")));
                    continue;
                }
            }
            let version = match check_version(&pattern, major) {
                Ok(version) => version,
                Err(reason) => {
                    reasons.push(reason);
                    continue;
                }
            };
            match find_lld(major, &pattern, own, search) {
                Some(lld) => return Ok(Self { pattern, lld, version }),
                None => reasons
                    .push(format!("{} has no ld.lld, and none is elsewhere", pattern.replace("{}", "*"))),
            }
        }
        if reasons.is_empty() {
            reasons.push(format!(
                "no LLVM {major} tools ({}) in {}, /usr/lib/llvm-{major}/bin or on PATH",
                TOOLS.join(", "),
                own.display()
            ));
        }
        Err(reasons)
    }
}

fn pattern(directory: &Path, name: &str) -> String {
    format!("{}/{name}", directory.display())
}

fn missing(pattern: &str) -> Option<Vec<&'static str>> {
    let names: Vec<_> =
        TOOLS.into_iter().filter(|tool| !Path::new(&pattern.replace("{}", tool)).is_file()).collect();
    (!names.is_empty()).then_some(names)
}

/// The tools' version, if they fit. Bitcode is read by its own major version and by later ones, but the code
/// they make of it differs; so the major versions must be equal.
fn check_version(pattern: &str, major: &str) -> Result<String, String> {
    let llc = pattern.replace("{}", "llc");
    let text = answer(Path::new(&llc), &["--version"]).map_err(|error| format!("{llc} {error}"))?;
    let version =
        text.split("LLVM version ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("?");
    if version.split('.').next() != Some(major) {
        return Err(format!("{llc} is of LLVM {version}, and the compiler's bitcode of LLVM {major}"));
    }
    if !text.contains("amdgcn") {
        return Err(format!("{llc} was built without the AMDGPU target"));
    }
    Ok(version.to_owned())
}

fn find_lld(major: &str, pattern_found: &str, own: &Path, search: &[PathBuf]) -> Option<PathBuf> {
    let mut candidates = vec![
        PathBuf::from(pattern_found.replace("{}", "ld.lld")),
        own.join("rust-lld"),
        PathBuf::from(format!("/usr/lib/llvm-{major}/bin/ld.lld")),
    ];
    for directory in search {
        candidates.push(directory.join(format!("ld.lld-{major}")));
        candidates.push(directory.join("ld.lld"));
    }
    candidates.into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn fake_tools(directory: &Path, version: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        for tool in TOOLS.into_iter().chain(["ld.lld"]) {
            let path = directory.join(tool);
            let text =
                format!("#!/bin/sh\necho '  LLVM version {version}'\necho '    amdgcn - AMD GCN GPUs'\n");
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn own_tools_come_first_and_versions_must_match() {
        let (own, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fake_tools(own.path(), "99.1.0-rust");
        let found = LlvmTools::find("99", own.path(), &[]).unwrap();
        assert_eq!(found.path("opt"), own.path().join("opt"));
        assert_eq!(found.lld, own.path().join("ld.lld"));

        fake_tools(other.path(), "98.0.0");
        let nowhere = other.path().join("nowhere");
        let reasons = LlvmTools::find("99", &nowhere, &[other.path().to_owned()]).unwrap_err();
        assert!(
            reasons[0].contains("is of LLVM 98.0.0, and the compiler's bitcode of LLVM 99"),
            "{reasons:?}"
        );

        std::fs::remove_file(other.path().join("opt")).unwrap();
        let reasons = LlvmTools::find("98", &nowhere, &[other.path().to_owned()]).unwrap_err();
        assert!(reasons[0].ends_with("lacks opt"), "{reasons:?}");
    }
}
