//! The GPUs that `test --gpus` runs on: processors with a size of waves, by name or by family.

use std::fmt;
use std::str::FromStr;

use amdgpu_isa::{Arch, WaveSize};

/// A processor, in waves of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestGpu {
    /// The processor.
    pub arch: Arch,
    /// The size of its waves.
    pub wave: WaveSize,
}

/// One for each instruction set, in each size of waves that its compilers use.
pub const ALL: &[&str] =
    &["gfx90a", "gfx942", "gfx1030", "gfx1030/64", "gfx1100", "gfx1100/64", "gfx1151", "gfx1201"];

/// Families, with those of [`ALL`] that stand for them.
const FAMILIES: [(&str, &[&str]); 5] = [
    ("cdna", &["gfx90a", "gfx942"]),
    ("rdna", &["gfx1030", "gfx1030/64", "gfx1100", "gfx1100/64", "gfx1151", "gfx1201"]),
    ("rdna2", &["gfx1030", "gfx1030/64"]),
    ("rdna3", &["gfx1100", "gfx1100/64", "gfx1151"]),
    ("rdna4", &["gfx1201"]),
];

/// A word of `--gpus`: a GPU, or a family's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestGpus(pub Vec<TestGpu>);

impl TestGpus {
    /// Those of [`ALL`].
    ///
    /// # Errors
    /// None: they are known.
    pub fn all() -> Result<Self, String> {
        ALL.iter().map(|name| name.parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for TestGpu {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, lanes) = text.split_once('/').map_or((text, None), |(name, lanes)| (name, Some(lanes)));
        let arch: Arch = name.parse().map_err(|error: amdgpu_isa::UnknownArch| {
            let families = FAMILIES.map(|(family, _)| family).join(", ");
            format!("{error}; families are {families}")
        })?;
        let sizes = arch.generation().wave_sizes();
        let wave = match lanes {
            None => arch.default_wave(),
            Some(lanes) => {
                let size = lanes.parse().ok().and_then(WaveSize::from_lanes);
                let size = size.filter(|size| sizes.contains(size));
                size.ok_or_else(|| format!("{name} has no waves of `{lanes}` lanes"))?
            }
        };
        Ok(Self { arch, wave })
    }
}

impl FromStr for TestGpus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match FAMILIES.iter().find(|(family, _)| *family == text) {
            Some((_, gpus)) => gpus.iter().map(|name| name.parse()).collect::<Result<_, _>>().map(Self),
            None => Ok(Self(vec![text.parse()?])),
        }
    }
}

impl fmt::Display for TestGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.arch.name())?;
        if self.wave == self.arch.default_wave() { Ok(()) } else { write!(f, "/{}", self.wave.lanes()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_by_name_and_by_family() {
        let named =
            |text: &str| text.parse::<TestGpus>().map(|gpus| gpus.0.iter().map(TestGpu::to_string).collect());
        assert_eq!(named("gfx1100/64"), Ok(vec!["gfx1100/64".to_owned()]));
        assert_eq!(named("gfx1100/32"), Ok(vec!["gfx1100".to_owned()]));
        assert_eq!(named("rdna2"), Ok(vec!["gfx1030".to_owned(), "gfx1030/64".to_owned()]));
        for (text, why) in [
            ("gfx90a/32", "gfx90a has no waves of `32` lanes"),
            ("gfx1100/48", "gfx1100 has no waves of `48` lanes"),
            ("rdna9", "families are cdna, rdna"),
        ] {
            let error = named(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    /// The families have each of the default set once.
    #[test]
    fn families_are_of_the_default_set() {
        let mut of_families: Vec<&str> = FAMILIES[..2].iter().flat_map(|(_, gpus)| *gpus).copied().collect();
        assert_eq!(of_families, ALL);
        of_families.retain(|gpu| FAMILIES[2..].iter().any(|(_, gpus)| gpus.contains(gpu)));
        assert_eq!(of_families, FAMILIES[1].1);
        assert_eq!(TestGpus::all().unwrap().0.len(), ALL.len());
    }
}
