//! Kernels written by hand, as no compiler writes them: each file in `assembly` is one code object.
//!
//! Its text stands behind `prelude.inc` and `gfx9.inc` or `rdna.inc` (and on GFX10 and GFX12 `gfx10.inc` or
//! `gfx12.inc`), whose macros it uses, and before the descriptors. On RDNA, what depends on the size of waves
//! is written in braces (`rdna.inc`). Its first lines are comments, which may say
//!
//! * `// kernels: test other`: the kernels, if there are others than `test`;
//! * `// cpus: gfx900 gfx90a`: the processors, if it is not for all of GFX9; `gfx1100:wave64` is one in waves
//!   of 64 lanes;
//! * `// wave64: other`: kernels whose waves have 64 lanes, whatever the others have;
//! * `// sgprs: 102`, `// vgprs: 256`, `// lds: 1024`: what its kernels are allotted;
//! * `// descriptor: .amdhsa_tg_split 1`: a further directive of their descriptors;
//! * `// flags: -mcode-object-version=6`: of the assembler;
//! * `// refused: reason: text`: something is refused for that reason, in all ways or in some; the text is a
//!   part of what is told. There may be several of these;
//! * `// counted: auto global`: homes in which nothing is refused, whatever is in others.
//!
//! What is not refused must count right in each way, and change nothing.

use std::fmt::Write;
use std::path::Path;

use amdgpu_isa::{Arch, Feature, Generation, LAST_BY_NUMBER, Target, WaveSize};
use amdgpu_object::CodeObject;
use amdinst_core::instrument::{Counters, Options, Probe, Reason, plan};

use super::proof::{Geometry, Totals, Ways, prove_object};
use crate::support::{WAVE64, build, processor};

/// A file.
pub(crate) struct Assembly {
    pub(crate) name: String,
    text: String,
    kernels: Vec<String>,
    cpus: Vec<String>,
    wave64: Vec<String>,
    sgprs: u32,
    vgprs: u32,
    lds: u32,
    descriptor: String,
    flags: Vec<String>,
    /// Reasons, each with a part of the detail.
    refused: Vec<(String, String)>,
    /// Homes in which nothing is.
    counted: Vec<String>,
}

impl Assembly {
    /// All files, in order of name.
    pub(crate) fn all() -> Vec<Self> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transparency/assembly");
        let entries = std::fs::read_dir(&directory).expect("the directory with assembly");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "s"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Self {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Self::of(&name, &std::fs::read_to_string(path).expect("reading"))
    }

    /// The program of this text.
    pub(crate) fn of(name: &str, text: &str) -> Self {
        let directives = |key: &'static str| {
            let head = text.lines().take_while(|line| line.starts_with("//"));
            head.filter_map(move |line| line.strip_prefix("// ")?.strip_prefix(key)?.strip_prefix(": "))
        };
        let directive = |key| directives(key).next();
        let words = |key, default: &str| {
            directive(key).unwrap_or(default).split_whitespace().map(str::to_owned).collect()
        };
        let number = |key, default| directive(key).map_or(default, |text| text.parse().expect("a number"));
        let refused = directives("refused").map(|text| {
            let (reason, detail) = text.split_once(": ").expect("a reason and a text");
            (reason.to_owned(), detail.to_owned())
        });
        let refused = refused.collect();
        Self {
            kernels: words("kernels", "test"),
            cpus: words("cpus", "gfx900 gfx90a gfx942"),
            wave64: words("wave64", ""),
            sgprs: number("sgprs", 48),
            vgprs: number("vgprs", 12),
            lds: number("lds", 0),
            descriptor: directive("descriptor").unwrap_or_default().to_owned(),
            flags: words("flags", ""),
            refused,
            counted: words("counted", ""),
            name: name.to_owned(),
            text: text.to_owned(),
        }
    }

    /// The processors that it is for.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = &str> {
        self.cpus.iter().map(String::as_str)
    }

    /// Whether its kernels have waves of both sizes.
    pub(crate) fn has_two_wave_sizes(&self) -> bool {
        !self.wave64.is_empty()
    }

    /// What is meant by one of them.
    pub(crate) fn target(cpu: &str) -> Target {
        let arch = Arch::from_name(cpu.split(':').next().unwrap_or_default()).expect("a processor");
        if cpu.ends_with(WAVE64) { Target { arch, wave: WaveSize::Wave64 } } else { arch.into() }
    }

    /// Assembles and links it.
    pub(crate) fn object(&self, cpu: &str) -> CodeObject {
        let target = Self::target(cpu);
        let arch = target.arch;
        let macros = match arch.generation() {
            Generation::Gfx8 | Generation::Gfx9 => include_str!("assembly/gfx9.inc"),
            Generation::Gfx10 => {
                concat!(include_str!("assembly/gfx10.inc"), include_str!("assembly/rdna.inc"))
            }
            Generation::Gfx11 => include_str!("assembly/rdna.inc"),
            Generation::Gfx12 => {
                concat!(include_str!("assembly/gfx12.inc"), include_str!("assembly/rdna.inc"))
            }
        };
        let mut source = format!("{}{macros}{}\n", include_str!("assembly/prelude.inc"), self.text);
        if arch.generation().wave_sizes().len() > 1 {
            source = in_waves(&source, target.wave);
        }
        let mut notes = String::new();
        for kernel in &self.kernels {
            write!(
                source,
                ".rodata\n.p2align 6\n.amdhsa_kernel {kernel}\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\
                 .amdhsa_kernarg_size 24\n.amdhsa_next_free_sgpr {}\n.amdhsa_next_free_vgpr {}\n\
                 .amdhsa_group_segment_fixed_size {}\n{}\n",
                self.sgprs, self.vgprs, self.lds, self.descriptor
            )
            .expect("a string");
            let is_other = self.wave64.contains(kernel);
            let lanes = if is_other { WaveSize::Wave64 } else { target.wave }.lanes();
            if is_other {
                source.push_str(".amdhsa_wavefront_size32 0\n");
            }
            if arch.has(Feature::UnifiedRegisterFile) {
                writeln!(source, ".amdhsa_accum_offset {}", self.vgprs.next_multiple_of(4))
                    .expect("a string");
            }
            source.push_str(".end_amdhsa_kernel\n");
            write!(
                notes,
                "  - .name: {kernel}
    .symbol: {kernel}.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {}
    .private_segment_fixed_size: 0
    .wavefront_size: {lanes}
    .sgpr_count: {}
    .vgpr_count: {}
    .max_flat_workgroup_size: 256
    .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .offset: 16, .size: 4, .value_kind: by_value }}
",
                self.lds, self.sgprs, self.vgprs
            )
            .expect("a string");
        }
        write!(
            source,
            ".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.kernels:\n{notes}...\n.end_amdgpu_metadata\n"
        )
        .expect("a string");
        let options = processor(cpu).into_iter().chain(self.flags.iter().cloned()).collect::<Vec<_>>();
        let options = options.iter().map(String::as_str);
        CodeObject::parse(build("kernel.s", &source, options)).expect("a code object")
    }

    /// Proves what is not refused, and that what is runs as it did.
    pub(crate) fn prove(&self, cpu: &str, object: &CodeObject, geometry: Geometry, ways: Ways) -> Totals {
        prove_object(&format!("{} {cpu}", self.name), object, geometry, ways)
    }

    /// Checks that what is refused is what its file says, and why. True if some way refuses it.
    pub(crate) fn check_refusals(&self, cpu: &str, object: &CodeObject) -> bool {
        let homes = [Counters::Auto, Counters::Register, Counters::Lds, Counters::Global];
        let ways = [Probe::Branches, Probe::Blocks]
            .into_iter()
            .flat_map(|probe| homes.map(|counters| (probe, counters)));
        let mut told: Vec<(Reason, String)> = Vec::new();
        for (probe, counters) in ways {
            let options = Options { probe, counters, ..Options::default() };
            let plan =
                plan(object, &options).unwrap_or_else(|error| panic!("{} on {cpu}: {error}", self.name));
            let refusals: Vec<_> = plan.kernels().iter().flat_map(|kernel| &kernel.refusals).collect();
            let is_counted = self.counted.iter().any(|home| *home == format!("{counters:?}").to_lowercase());
            assert!(!is_counted || refusals.is_empty(), "{} on {cpu}, {counters:?}: {refusals:?}", self.name);
            told.extend(refusals.iter().map(|refusal| (refusal.reason, refusal.detail.clone())));
        }
        let is = |(reason, detail): &(Reason, String), (kind, text): &(String, String)| {
            serde_json::to_value(reason).expect("a name") == kind.as_str() && detail.contains(text)
        };
        for refusal in &told {
            let said = self.refused.iter().any(|said| is(refusal, said));
            assert!(said, "{} on {cpu}: {refusal:?}", self.name);
        }
        for said in &self.refused {
            assert!(told.iter().any(|refusal| is(refusal, said)), "{} on {cpu}: not {said:?}", self.name);
        }
        !told.is_empty()
    }
}

/// A text in which what depends on the size of waves stands in braces.
fn in_waves(text: &str, wave: WaveSize) -> String {
    let names = ["{wave}", "{exec}", "{vcc}", "{size}"];
    let values = match wave {
        WaveSize::Wave32 => ["b32", "exec_lo", "vcc_lo", "u32"],
        WaveSize::Wave64 => ["b64", "exec", "vcc", "u64"],
    };
    let text =
        names.iter().zip(values).fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
    (0..LAST_BY_NUMBER).fold(text, |text, first| {
        let mask = match wave {
            WaveSize::Wave32 => format!("s{first}"),
            WaveSize::Wave64 => format!("s[{first}:{}]", first + 1),
        };
        text.replace(&format!("{{{first}}}"), &mask)
    })
}
