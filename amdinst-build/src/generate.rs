//! The Rust source that `harness::embedded!` includes, and the files beside it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::{Error, file};

/// A file's bytes.
pub(crate) type Bytes = Vec<u8>;

/// A code object to embed.
#[derive(Debug)]
pub(crate) struct EmbeddedCodeObject {
    pub(crate) cpu: String,
    pub(crate) profile: String,
    pub(crate) original: Bytes,
    pub(crate) form: Option<EmbeddedForm>,
}

/// Its instrumented form.
#[derive(Debug)]
pub(crate) struct EmbeddedForm {
    pub(crate) code_object: Option<Bytes>,
    pub(crate) probes: Bytes,
}

/// Writes `OUT/amdinst/PACKAGE.rs` and what it includes. The bytes are copies: the build's own files change
/// with the next build, whoever asks for it.
pub(crate) fn write(out: &Path, package: &str, code_objects: &[EmbeddedCodeObject]) -> Result<(), Error> {
    let directory = out.join("amdinst");
    fs::create_dir_all(&directory).map_err(file(&directory))?;
    let mut text = format!("::harness::Embedded {{ package: {package:?}, code_objects: &[");
    for EmbeddedCodeObject { cpu, profile, original, form } in code_objects {
        let include = |end: &str, bytes: &Bytes| {
            let path = directory.join(format!("{package}.{cpu}.{profile}.{end}"));
            update(&path, bytes)?;
            Ok(format!("include_bytes!({:?})", path.display().to_string()))
        };
        let original = include("elf", original)?;
        let form = match form {
            None => "None".to_owned(),
            Some(EmbeddedForm { code_object, probes }) => {
                let code_object = match code_object {
                    Some(bytes) => format!("Some({})", include("inst.elf", bytes)?),
                    None => "None".to_owned(),
                };
                let probes = include("probes.json", probes)?;
                format!("Some(::harness::EmbeddedForm {{ code_object: {code_object}, probes: {probes} }})")
            }
        };
        let _ = write!(
            text,
            "::harness::EmbeddedCodeObject {{ cpu: {cpu:?}, profile: {profile:?}, original: {original}, \
             instrumented: {form} }},"
        );
    }
    text.push_str("] }\n");
    update(&directory.join(format!("{package}.rs")), text.as_bytes())
}

/// Writes a file if it is to change, so that nothing is compiled again because of its time.
fn update(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).map_err(file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_included_stands_beside_it() {
        let out = tempfile::tempdir().unwrap();
        let form = EmbeddedForm { code_object: None, probes: b"{}".to_vec() };
        let object = EmbeddedCodeObject {
            cpu: "gfx90a".to_owned(),
            profile: "release".to_owned(),
            original: b"elf".to_vec(),
            form: Some(form),
        };
        write(out.path(), "my-kernels", &[object]).unwrap();
        let directory = out.path().join("amdinst");
        let text = fs::read_to_string(directory.join("my-kernels.rs")).unwrap();
        let probes = directory.join("my-kernels.gfx90a.release.probes.json");
        assert!(
            text.contains(&format!(
                "code_object: None, probes: include_bytes!({:?})",
                probes.display().to_string()
            )),
            "{text}"
        );
        assert_eq!(fs::read(probes).unwrap(), b"{}");
        assert_eq!(fs::read(directory.join("my-kernels.gfx90a.release.elf")).unwrap(), b"elf");
        // No kernels: there is nothing to include.
        write(out.path(), "my-kernels", &[]).unwrap();
        assert_eq!(
            fs::read_to_string(directory.join("my-kernels.rs")).unwrap(),
            "::harness::Embedded { package: \"my-kernels\", code_objects: &[] }\n"
        );
    }
}
