//! The disassembly of a kernel with the source line of each instruction.

use amdgpu_isa::Arch;
use amdgpu_object::lines::SourceMap;
use amdgpu_object::{CodeObject, Kernel};
use amdgpu_object::{Limiter, OccupancyStep, OccupancyTables, Resources, occupancy};
use amdinst_core::listing::Listing;
use amdinst_core::report::run::KernelFacts;
use amdinst_core::report::{Origin, is_library_file};
use serde::Serialize;

/// The code of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelListing {
    /// The kernel.
    pub kernel: String,
    /// The processor.
    pub cpu: String,
    /// In order of address.
    pub instructions: Vec<Instruction>,
    /// How many waves fit, and what limits them.
    pub occupancy: Option<OccupancyPicture>,
}

/// How many waves of a kernel fit, with what each resource allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OccupancyPicture {
    /// Waves a compute unit that fit.
    pub waves: u32,
    /// Waves a compute unit has slots for.
    pub slots: u32,
    /// SIMDs of a compute unit.
    pub simds: u32,
    /// What limits them, for people.
    pub limiter: &'static str,
    /// Work-items of a workgroup that this holds for.
    pub workgroup: u32,
    /// What each resource allows.
    pub resources: Vec<ResourcePicture>,
}

/// Waves that one resource allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResourcePicture {
    /// Its name, as that of a limiter.
    pub name: &'static str,
    /// How much the kernel takes.
    pub have: u32,
    /// What that is counted in.
    pub unit: &'static str,
    /// Waves a compute unit that it alone allows.
    pub waves: u32,
    /// The most that the kernel may take for more waves, and how many these are; none if it allows all that
    /// there are slots for.
    pub next: Option<(u32, u32)>,
}

impl OccupancyPicture {
    /// Of a kernel of a processor in workgroups of a size; none is the largest that it takes.
    pub fn new(arch: Arch, kernel: &Kernel, workgroup: Option<u32>) -> Self {
        let mut resources = Resources::of(arch, &kernel.metadata);
        resources.workgroup_size = workgroup.unwrap_or(resources.workgroup_size);
        let found = occupancy(arch, &resources);
        let tables = OccupancyTables::new(arch, &resources);
        let of = |limiter: Limiter, have: u32, unit: &'static str, steps: &[OccupancyStep]| {
            let at = steps.iter().position(|step| have <= step.most).unwrap_or(steps.len().saturating_sub(1));
            let better = at.checked_sub(1).and_then(|index| steps.get(index));
            ResourcePicture {
                name: amdinst_core::limiter(limiter).name(),
                have,
                unit,
                waves: steps.get(at).map_or(0, |step| step.waves_per_cu),
                next: better.map(|step| (step.most, step.waves_per_cu)),
            }
        };
        Self {
            waves: found.waves_per_cu,
            slots: found.max_waves_per_simd * resources.simds(arch),
            simds: resources.simds(arch),
            limiter: amdinst_core::limiter(found.limiter).name(),
            workgroup: resources.workgroup_size,
            resources: vec![
                of(Limiter::Vgprs, resources.vgprs, "a wave", &tables.vgprs),
                of(Limiter::Sgprs, resources.sgprs, "a wave", &tables.sgprs),
                of(Limiter::Lds, resources.lds_bytes, "bytes a workgroup", &tables.lds),
            ],
        }
    }
}

/// A line of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub pc: u64,
    /// The instruction as LLVM writes it.
    pub text: String,
    /// The file that it was compiled from, and the line: of the user's nearest frame, else of a dependency's.
    pub source: Option<(String, u32)>,
}

impl KernelListing {
    /// Of a kernel of a code object, as it was launched; files are named from `root` if they are in there.
    pub fn new(
        object: &CodeObject,
        kernel: &Kernel,
        lines: &SourceMap,
        facts: &KernelFacts,
        root: &str,
    ) -> Self {
        let mut bytes = Vec::new();
        // A vector takes everything.
        let _ = Listing::new(object).write_range(kernel.code.clone(), &mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let instructions = text.lines().filter_map(|line| instruction(line, lines, root)).collect();
        let occupancy = Some(OccupancyPicture::new(object.target.arch, kernel, facts.workgroup));
        Self { kernel: kernel.name.clone(), cpu: facts.cpu.clone(), instructions, occupancy }
    }
}

/// `<tab>text // address: bytes` is an instruction; labels and headings are not.
fn instruction(line: &str, lines: &SourceMap, root: &str) -> Option<Instruction> {
    let (text, address) = line.rsplit_once("// ")?;
    let (address, _) = address.split_once(':')?;
    let pc = u64::from_str_radix(address, 16).ok()?;
    let frames = lines.frames(pc);
    let nearest = |is: fn(&str) -> bool| {
        frames.iter().find(|frame| !frame.file.is_empty() && is(&frame.file)).filter(|frame| frame.line != 0)
    };
    let frame = nearest(|file| Origin::of(file).is_own()).or_else(|| nearest(|file| !is_library_file(file)));
    let source = frame.map(|frame| {
        let file = frame.file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        (file.unwrap_or(&frame.file).to_owned(), frame.line)
    });
    Some(Instruction { pc, text: text.trim().to_owned(), source })
}
