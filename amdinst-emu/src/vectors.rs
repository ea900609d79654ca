//! The host's vector extensions.

/// The host's vector extensions that lanes are computed with. Results are the same with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vectors {
    /// What every processor of the host's architecture has.
    Baseline,
    /// AVX2, FMA, F16C, BMI (x86-64-v3).
    Avx2,
    /// AVX-512 F, BW, DQ, VL (x86-64-v4).
    Avx512,
}

impl Vectors {
    /// All levels, the narrowest first.
    pub const ALL: [Self; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Whether this host has it.
    pub fn is_available(self) -> bool {
        self <= Self::detect()
    }

    /// The widest that this host has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::is_x86_feature_detected as has;
            let v3 = has!("avx2")
                && has!("fma")
                && has!("f16c")
                && has!("bmi1")
                && has!("bmi2")
                && has!("lzcnt")
                && has!("popcnt");
            let v4 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
            match (v3, v4) {
                (true, true) => return Self::Avx512,
                (true, false) => return Self::Avx2,
                _ => {}
            }
        }
        Self::Baseline
    }

    /// The level of a name that [`Vectors::name`] gives.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Its name, as options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}
