//! Code objects inside this program, put there by its build script (`amdinst-build`).

use std::path::PathBuf;
use std::sync::Arc;

use amdinst_core::instrument::{AddressMap, Home, KernelProbes, ProbeMap, SCHEMA};
use amdinst_core::object::CodeObject;

use crate::artifacts::{ArtifactError, Built, InstrumentedForm, broken};

/// The code objects of a kernel package, inside this program: what [`embedded!`](crate::embedded!) gives, and
/// [`Settings::embedded`](crate::Settings::embedded) takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embedded {
    /// The kernel package.
    pub package: &'static str,
    /// Its code objects, one a processor. Empty if the program was built without (`AMDINST_SKIP_BUILD`).
    pub code_objects: &'static [EmbeddedCodeObject],
}

/// A code object inside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedCodeObject {
    /// The processor that it was built for (`gfx90a`).
    pub cpu: &'static str,
    /// The cargo profile that it was built with (`release`).
    pub profile: &'static str,
    /// The code object, as it was compiled.
    pub original: &'static [u8],
    /// Its instrumented form. Without it launches run the original, and reports have no branches.
    pub instrumented: Option<EmbeddedForm>,
}

/// An instrumented form inside this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedForm {
    /// The code object; `None` if nothing in it could or had to be instrumented.
    pub code_object: Option<&'static [u8]>,
    /// Its probe map, JSON.
    pub probes: &'static [u8],
}

/// The code objects of a kernel package that the build script of this package has embedded, as an [`Embedded`]:
/// `static KERNELS: harness::Embedded = harness::embedded!("my-kernels");`
#[macro_export]
macro_rules! embedded {
    ($package:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/amdinst/", $package, ".rs"))
    };
}

impl Embedded {
    /// The code object for `cpu`, and `profile` if one is asked for.
    pub(crate) fn code_object(&self, cpu: &str, profile: Option<&str>) -> Option<&EmbeddedCodeObject> {
        self.code_objects
            .iter()
            .find(|object| object.cpu == cpu && profile.is_none_or(|profile| object.profile == profile))
    }
}

impl EmbeddedCodeObject {
    /// What the caches of the devices call it: a name instead of a path.
    pub(crate) fn path(&self, package: &str) -> PathBuf {
        PathBuf::from(format!("{package} for {} ({}), embedded", self.cpu, self.profile))
    }

    /// Reads it. Its counters are where the build script wanted them, so no home may be asked for that it has not.
    pub(crate) fn read(&self, package: &str, home: Option<Home>) -> Result<Arc<Built>, ArtifactError> {
        let path = self.path(package);
        let object = |bytes: &[u8]| CodeObject::parse(bytes.to_vec()).map_err(|error| broken(&path, error));
        let original = object(self.original)?;
        let (instrumented, probes) = match &self.instrumented {
            None => {
                let target = original.target.to_string();
                (
                    None,
                    ProbeMap {
                        schema: SCHEMA,
                        target,
                        kernels: Vec::new(),
                        addresses: AddressMap::default(),
                    },
                )
            }
            Some(form) => {
                let probes = ProbeMap::from_json(form.probes).map_err(|error| broken(&path, error))?;
                let other =
                    |kernel: &KernelProbes| home.is_some() && kernel.home.is_some() && kernel.home != home;
                if probes.kernels.iter().any(other) {
                    let home = home.map_or("auto", Home::name);
                    return Err(ArtifactError::EmbeddedOtherwise { package: package.to_owned(), home });
                }
                let form = form.code_object.map(object).transpose()?;
                let path = path.with_extension("instrumented");
                (form.map(|object| InstrumentedForm { object, path }), probes)
            }
        };
        Ok(Arc::new(Built {
            package: package.to_owned(),
            profile: self.profile.to_owned(),
            original,
            original_path: path,
            instrumented,
            probes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: EmbeddedCodeObject =
        EmbeddedCodeObject { cpu: "gfx90a", profile: "release", original: b"no ELF", instrumented: None };

    #[test]
    fn processor_and_profile_choose() {
        let embedded = Embedded { package: "k", code_objects: &[OBJECT] };
        assert!(embedded.code_object("gfx90a", None).is_some());
        assert!(embedded.code_object("gfx90a", Some("release")).is_some());
        assert!(embedded.code_object("gfx90a", Some("dev")).is_none());
        assert!(embedded.code_object("gfx942", None).is_none());
    }

    #[test]
    fn what_is_broken_is_named() {
        let error = OBJECT.read("k", None).unwrap_err().to_string();
        assert!(error.starts_with("k for gfx90a (release), embedded: "), "{error}");
    }
}
