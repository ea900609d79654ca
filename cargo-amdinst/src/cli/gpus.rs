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

const fn narrow(arch: Arch) -> TestGpu {
    TestGpu { arch, wave: WaveSize::Wave32 }
}

const fn wide(arch: Arch) -> TestGpu {
    TestGpu { arch, wave: WaveSize::Wave64 }
}

const CDNA: [TestGpu; 2] = [wide(Arch::Gfx90a), wide(Arch::Gfx942)];
const RDNA_2: [TestGpu; 2] = [narrow(Arch::Gfx1030), wide(Arch::Gfx1030)];
const RDNA_3: [TestGpu; 3] = [narrow(Arch::Gfx1100), wide(Arch::Gfx1100), narrow(Arch::Gfx1151)];
const RDNA_4: [TestGpu; 1] = [narrow(Arch::Gfx1201)];

/// Families, with the GPUs that stand for them: one of each instruction set, in each size of waves that its
/// compilers use.
const FAMILIES: [(&str, &[&[TestGpu]]); 5] = [
    ("cdna", &[&CDNA]),
    ("rdna", &[&RDNA_2, &RDNA_3, &RDNA_4]),
    ("rdna2", &[&RDNA_2]),
    ("rdna3", &[&RDNA_3]),
    ("rdna4", &[&RDNA_4]),
];

/// A word of `--gpus`: a GPU, or a family's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestGpus(pub Vec<TestGpu>);

impl TestGpus {
    /// The GPUs of a family.
    fn of_family(name: &str) -> Option<Self> {
        let (_, groups) = FAMILIES.iter().find(|(family, _)| *family == name)?;
        Some(Self(groups.concat()))
    }

    /// Those of `--all-gpus`.
    pub fn all() -> Self {
        Self([&CDNA[..], &RDNA_2, &RDNA_3, &RDNA_4].concat())
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
        match Self::of_family(text) {
            Some(gpus) => Ok(gpus),
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

    /// The two large families are all; LLVM's default size of waves needs no word.
    #[test]
    fn all_gpus_are_those_of_the_families() {
        let of = |families: &[&str]| {
            families.iter().flat_map(|name| TestGpus::of_family(name).unwrap().0).collect()
        };
        let all: Vec<TestGpu> = of(&["cdna", "rdna"]);
        assert_eq!(TestGpus::all().0, all);
        assert_eq!(of(&["cdna", "rdna2", "rdna3", "rdna4"]), all);
        let names: Vec<String> = all.iter().map(TestGpu::to_string).collect();
        let told =
            ["gfx90a", "gfx942", "gfx1030", "gfx1030/64", "gfx1100", "gfx1100/64", "gfx1151", "gfx1201"];
        assert_eq!(names, told);
        for gpu in all {
            assert_eq!(gpu.to_string().parse(), Ok(gpu));
        }
    }
}
