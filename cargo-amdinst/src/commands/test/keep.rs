//! What `cargo amdinst report` reads: the document of the last run ([`amdinst_core::report::run`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amdgpu_isa::Arch;
use amdgpu_object::{CodeObject, Kernel};
use amdgpu_object::{Resources, occupancy};
use amdinst_core::instrument::{Cost, Home, KernelProbes, Occupancy, ProbeMap, moved_lds};
use amdinst_core::report::run::{
    FILE_NAME, KernelFacts, MovedLds, Program, Run, SCHEMA, SourceStamp, Test, UnlaunchedKernel, content_hash,
};
use amdinst_core::report::{Location, own_lines};
use amdinst_report::Sources;

use super::matrix;
use crate::build::BuiltPackage;
use crate::exit::{CommandResult, Exit, OrExit as _};

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// There is a run.
    Run,
    /// The programs ended without running a test: no filter named one.
    NoTest,
    /// No program began.
    NoProgram,
}

/// Writes a run beside the package's manifest, as the last one.
///
/// # Errors
/// A document that cannot be written.
pub(super) fn keep(package: &BuiltPackage, run: &Run) -> CommandResult<()> {
    let directory = package.package.output_directory();
    matrix::forget(&directory)?;
    matrix::write(&directory.join(FILE_NAME), run)
}

/// Puts together what the test programs of a package wrote, each into the directory of its processor. Where
/// there is nothing to keep, the run is none.
///
/// # Errors
/// Artifacts that cannot be read.
pub(super) fn gather(
    package: &BuiltPackage,
    home: Option<Home>,
    directories: &[(String, PathBuf)],
    chosen_by: &[String],
) -> CommandResult<(Kept, Option<Run>)> {
    let mut run = Run {
        schema: SCHEMA,
        package: package.package.name.clone(),
        profile: package.package.profile.clone(),
        chosen_by: chosen_by.to_vec(),
        ..Run::default()
    };
    for (cpu, directory) in directories {
        run.programs.extend(programs(directory, cpu).or_exit_with(Exit::BadInput, || "the saved run")?);
    }
    if run.programs.is_empty() {
        return Ok((Kept::NoProgram, None));
    }
    if run.programs.iter().all(|program| program.finished && program.tests.is_empty()) {
        return Ok((Kept::NoTest, None));
    }
    let root = &package.package.workspace_root;
    add_kernels(&mut run, package, home)?;
    relative_to(&mut run, root);
    run.sources = sources(&run, root);
    run.sort();
    Ok((Kept::Run, Some(run)))
}

/// The programs that wrote into a directory, by the names of their files.
fn programs(directory: &Path, cpu: &str) -> std::io::Result<Vec<Program>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
    let paths: BTreeSet<PathBuf> = entries.collect::<std::io::Result<_>>()?;
    let mut programs = Vec::new();
    for path in paths {
        // A line that was cut off in the middle of a character is not whole either.
        let bytes = fs::read(path)?;
        programs.extend(Program::from_lines(&String::from_utf8_lossy(&bytes), cpu));
    }
    Ok(programs)
}

/// Adds what the probe maps say of the kernels that were launched, and what those take that were not
/// selected.
fn add_kernels(run: &mut Run, package: &BuiltPackage, home: Option<Home>) -> CommandResult<()> {
    let mut launched = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (program, test) in
        run.programs.iter().flat_map(|program| program.tests.iter().map(move |test| (program, test)))
    {
        let kernels = launched.entry(&program.cpu).or_default();
        kernels.extend(test.launches.iter().map(|report| report.kernel.as_str()));
        kernels.extend(test.faults.iter().map(|fault| fault.kernel.as_str()));
    }
    let directory = package.package.output_directory();
    let sources = Sources::new(&package.package.workspace_root, &[]);
    let (mut facts, mut unlaunched) = (Vec::new(), Vec::new());
    for artifact in &package.manifest.code_objects {
        let Some(kernels) = launched.get(artifact.cpu.as_str()) else { continue };
        let Some(form) = artifact.instrumented(home) else { continue };
        let read = |name: &str| {
            let path = directory.join(name);
            fs::read(&path).or_exit_with(Exit::BadInput, || format!("cannot read {}", path.display()))
        };
        let original = read(&artifact.original)?;
        let hash = content_hash(&original);
        let object = CodeObject::parse(original)
            .or_exit_with(Exit::BadInput, || directory.join(&artifact.original).display().to_string())?;
        let mut map = ProbeMap::from_json(&read(&form.probes)?)
            .or_exit_with(Exit::BadInput, || directory.join(&form.probes).display().to_string())?;
        map.kernels.iter_mut().for_each(|kernel| sources.place(kernel));
        let (of_run, others): (Vec<&KernelProbes>, Vec<_>) =
            map.kernels.iter().partition(|kernel| kernels.contains(kernel.name.as_str()));
        let cost = |kernel: &Kernel| without_probes(object.target.arch, kernel);
        let not_selected = object
            .kernels
            .iter()
            .filter(|kernel| kernels.contains(kernel.name.as_str()) && map.kernel(&kernel.name).is_none());
        let others = others.into_iter().filter(|probes| !probes.blocks.is_empty());
        unlaunched.extend(others.map(|probes| UnlaunchedKernel {
            name: probes.name.clone(),
            cpu: artifact.cpu.clone(),
            lines: own_lines(
                probes.blocks.iter().flat_map(|block| block.lines.iter().chain(&block.scalar_lines)),
            ),
        }));
        let known = facts.len();
        facts.extend(of_run.into_iter().map(|probes| {
            let mut facts = KernelFacts::new(probes, &artifact.cpu, &artifact.original, &hash);
            if facts.cost.is_none() {
                facts.cost = object.kernel(&probes.name).map(cost);
            }
            facts
        }));
        facts.extend(not_selected.map(|kernel| KernelFacts {
            name: kernel.name.clone(),
            cpu: artifact.cpu.clone(),
            code_object: artifact.original.clone(),
            code_object_hash: hash.clone(),
            cost: Some(cost(kernel)),
            workgroup: None,
            moved_lds: None,
            sites: Vec::new(),
        }));
        for facts in &mut facts[known..] {
            let blocks = launched_blocks(run, &facts.name, &facts.cpu);
            if let Some(kernel) = object.kernel(&facts.name) {
                add_occupancy(facts, &object, kernel, &blocks);
            }
        }
    }
    (run.kernels, run.unlaunched) = (facts, unlaunched);
    Ok(())
}

/// The sizes of the workgroups that a kernel was launched with.
fn launched_blocks(run: &Run, kernel: &str, cpu: &str) -> BTreeSet<u32> {
    let tests = run.tests().filter(|(program, _)| program.cpu == cpu);
    let launches = tests.flat_map(|(_, test)| &test.launches).filter(|launch| launch.kernel == kernel);
    launches.map(|launch| launch.block.iter().product()).collect()
}

/// The occupancy of a kernel as it was launched, and what LLVM did to it for a larger workgroup.
fn add_occupancy(facts: &mut KernelFacts, object: &CodeObject, kernel: &Kernel, blocks: &BTreeSet<u32>) {
    let (arch, metadata) = (object.target.arch, &kernel.metadata);
    let declared = Resources::of(arch, metadata);
    let moved = moved_lds(object, kernel);
    let workgroup = declared.workgroup_size;
    facts.moved_lds = (moved > 0).then_some(MovedLds { bytes: moved, workgroup });
    let Some(cost) = &mut facts.cost else { return };
    let of_form = |form: usize, workgroup_size: u32| {
        let (sgprs, vgprs, lds_bytes) = (cost.sgprs[form], cost.vgprs[form], cost.lds[form]);
        occupancy(arch, &Resources { sgprs, vgprs, lds_bytes, workgroup_size, ..declared })
    };
    let fewest = blocks.iter().copied().min_by_key(|&block| (of_form(0, block).waves_per_simd, block));
    let Some(block) = fewest else { return };
    let (before, after) = (of_form(0, block), of_form(1, block));
    let launched = Occupancy {
        before: before.waves_per_simd,
        after: after.waves_per_simd,
        limiter_before: amdinst_core::limiter(before.limiter),
        limiter_after: amdinst_core::limiter(after.limiter),
    };
    facts.workgroup = (launched != cost.occupancy).then_some(block);
    cost.occupancy = launched;
}

/// What a kernel takes that was not instrumented.
fn without_probes(arch: Arch, kernel: &Kernel) -> Cost {
    let metadata = &kernel.metadata;
    let fits = occupancy(arch, &Resources::of(arch, metadata));
    let (waves, limiter) = (fits.waves_per_simd, amdinst_core::limiter(fits.limiter));
    Cost {
        sgprs: [metadata.sgpr_count; 2],
        vgprs: [metadata.vgpr_count; 2],
        scratch: [metadata.private_segment_fixed_size; 2],
        lds: [metadata.group_segment_fixed_size; 2],
        occupancy: Occupancy { before: waves, after: waves, limiter_before: limiter, limiter_after: limiter },
        ..Cost::default()
    }
}

/// Names files from the workspace's directory, as the harness does in its reports.
fn relative_to(run: &mut Run, root: &Path) {
    let frames =
        run.kernels.iter_mut().flat_map(|kernel| &mut kernel.sites).flat_map(|site| &mut site.frames);
    let tests = run.programs.iter_mut().flat_map(|program| &mut program.tests);
    let rest = |file: &str| Some(Path::new(file).strip_prefix(root).ok()?.to_string_lossy().into_owned());
    let lines =
        run.unlaunched.iter_mut().flat_map(|kernel| &mut kernel.lines).map(|of_file| &mut of_file.file);
    for file in frames.filter_map(|frame| frame.file.as_mut()).chain(lines) {
        *file = rest(file).map_or_else(|| Arc::clone(file), Arc::from);
    }
    for file in tests.flat_map(files_of) {
        *file = rest(file).unwrap_or_else(|| file.clone());
    }
}

/// The files that a test's figures by instruction name.
fn files_of(test: &mut Test) -> impl Iterator<Item = &mut String> {
    let modelled = test.modelled.iter_mut().flat_map(|launch| &mut launch.instructions);
    let modelled = modelled.filter_map(|instruction| instruction.file.as_mut());
    let memory = test.memory.iter_mut().flat_map(|launch| &mut launch.instructions);
    modelled.chain(memory.filter_map(|instruction| instruction.file.as_mut()))
}

/// The state of every source file that a site, a probe or a frame names, as far as it can be read.
fn sources(run: &Run, root: &Path) -> Vec<SourceStamp> {
    let mut locations: Vec<&Location> = Vec::new();
    for (_, test) in run.tests() {
        for report in &test.launches {
            locations.extend(report.sites.iter().map(|site| &site.location));
            locations.extend(report.probes.iter().map(|probe| &probe.location));
            locations.extend(report.uniform.iter().map(|branch| &branch.location));
            locations.extend(report.sites_not_selected.iter().map(|site| &site.location));
            locations.extend(report.blocks.iter().map(|block| &block.location));
        }
        let told = test.faults.iter().chain(&test.doubts);
        locations.extend(told.clone().map(|fault| &fault.location));
        locations.extend(told.filter_map(|fault| Some(&fault.earlier.as_ref()?.location)));
    }
    let mut files: BTreeSet<&str> =
        locations.into_iter().filter_map(|location| location.file.as_deref()).collect();
    let frames = run.kernels.iter().flat_map(|kernel| &kernel.sites).flat_map(|site| &site.frames);
    files.extend(frames.filter_map(|frame| frame.file.as_deref()));
    let blocks = run.tests().flat_map(|(_, test)| &test.launches).flat_map(|report| &report.blocks);
    let lines = blocks.flat_map(|block| block.lines.iter().chain(&block.scalar_lines));
    let lines = lines.chain(run.unlaunched.iter().flat_map(|kernel| &kernel.lines));
    files.extend(lines.map(|of_file| &*of_file.file));
    let modelled = run.tests().flat_map(|(_, test)| &test.modelled).flat_map(|launch| &launch.instructions);
    files.extend(modelled.filter_map(|instruction| instruction.file.as_deref()));
    let memory = run.tests().flat_map(|(_, test)| &test.memory).flat_map(|launch| &launch.instructions);
    files.extend(memory.filter_map(|instruction| instruction.file.as_deref()));
    let stamp = |file: &str| {
        let bytes = fs::read(root.join(file)).ok()?;
        Some(SourceStamp { file: file.to_owned(), hash: content_hash(&bytes) })
    };
    files.into_iter().filter_map(stamp).collect()
}
