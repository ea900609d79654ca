//! Code objects inside a program, put there by its build script (`amdinst-build`).

use std::path::PathBuf;
use std::sync::Arc;

use amdgpu_object::CodeObject;
use amdinst_core::analysis::early::Suspects;
use amdinst_core::instrument::{Home, KernelProbes, ProbeMap, check_pair};
use amdinst_format::interface::{CounterChoice, Embedded, EmbeddedCodeObject};

use crate::artifact_error::{ArtifactError, broken};
use crate::built::{Built, InstrumentedForm, code_for};
use crate::source;

/// The code object of a package for `cpu`, and `profile` if one is asked for.
pub(crate) fn code_object<'a>(
    embedded: &'a Embedded,
    cpu: &str,
    profile: Option<&str>,
) -> Option<&'a EmbeddedCodeObject> {
    code_for(cpu, |cpu| {
        let fits = |object: &&EmbeddedCodeObject| {
            object.cpu == cpu && profile.is_none_or(|profile| object.profile == profile)
        };
        embedded.code_objects.iter().find(fits)
    })
}

/// What the caches of the devices call it: a name instead of a path.
pub(crate) fn path(object: &EmbeddedCodeObject, package: &str) -> PathBuf {
    PathBuf::from(format!("{package} for {} ({}), embedded", object.cpu, object.profile))
}

/// Reads it. Its counters are where the build script wanted them, so no home may be asked for that it has
/// not.
pub(crate) fn read(
    embedded: &EmbeddedCodeObject,
    package: &str,
    counters: CounterChoice,
) -> Result<Arc<Built>, ArtifactError> {
    let path = path(embedded, package);
    let object = |bytes: &[u8]| CodeObject::parse(bytes.to_vec()).map_err(|error| broken(&path, error));
    let original = object(embedded.original)?;
    let home = counters.home();
    let (instrumented, probes) = match &embedded.instrumented {
        Some(form) if counters != CounterChoice::None => {
            let mut probes = ProbeMap::from_json(form.probes).map_err(|error| broken(&path, error))?;
            let other =
                |kernel: &KernelProbes| home.is_some() && kernel.home.is_some() && kernel.home != home;
            if probes.kernels.iter().any(other) {
                let home = home.map_or("auto", Home::name);
                return Err(ArtifactError::EmbeddedOtherwise { package: package.to_owned(), home });
            }
            let map_file = form.probes;
            let form = form.code_object.map(object).transpose()?;
            check_pair(&probes, map_file, Some(&original.bytes), form.as_ref())
                .map_err(|error| broken(&path, error))?;
            source::place(&mut probes);
            let path = path.with_extension("instrumented");
            (form.map(|object| InstrumentedForm { object, path }), probes)
        }
        _ => return Ok(Arc::new(Built::as_compiled(package, embedded.profile, original, path))),
    };
    Ok(Arc::new(Built {
        package: package.to_owned(),
        profile: embedded.profile.to_owned(),
        original,
        original_path: path,
        instrumented,
        probes,
        early: Suspects::default(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: EmbeddedCodeObject =
        EmbeddedCodeObject { cpu: "gfx90a", profile: "release", original: b"no ELF", instrumented: None };

    #[test]
    fn processor_and_profile_choose() {
        let embedded = Embedded { package: "k", code_objects: &[OBJECT] };
        assert!(code_object(&embedded, "gfx90a", None).is_some());
        assert!(code_object(&embedded, "gfx90a", Some("release")).is_some());
        assert!(code_object(&embedded, "gfx90a", Some("dev")).is_none());
        assert!(code_object(&embedded, "gfx942", None).is_none());
    }

    #[test]
    fn what_is_broken_is_named() {
        let error = read(&OBJECT, "k", CounterChoice::Auto).unwrap_err().to_string();
        assert!(error.starts_with("k for gfx90a (release), embedded: "), "{error}");
    }
}
