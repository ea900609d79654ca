//! `inspect`'s text for people.

use std::fmt::{self, Display, Formatter};

use amdinst_core::names;
use amdinst_core::report::{Location, refusal_text};
use amdinst_text::count;

use super::super::input::counted;
use super::view::{FileView, GenericView, KernelView, ObjectView, WavesView};
use crate::output::short_path;

/// Prints a [`FileView`] for people.
#[derive(Debug)]
pub struct Human<'a>(pub &'a FileView);

impl Display for Human<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(file) = self;
        for (index, object) in file.code_objects.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write_object(f, object)?;
        }
        for (which, reason) in counted(file.skipped.iter().map(|one| (&*one.target, &*one.reason))) {
            writeln!(f, "{which}: not read: {reason}")?;
        }
        Ok(())
    }
}

fn write_object(f: &mut Formatter<'_>, object: &ObjectView) -> fmt::Result {
    let ObjectView { target, version, generic, offset, object: number, size, kernels } = object;
    write!(f, "{target}: code object V{version}, {}, {size} bytes", count(kernels.len(), "kernel"))?;
    if *offset > 0 {
        write!(f, " at {offset:#x}, object {number}")?;
    }
    writeln!(f)?;
    if let Some(GenericView { version, processors }) = generic {
        let processors = processors.join(", ");
        writeln!(f, "generic version {version}, for {processors}; limits are the least of these")?;
    }
    kernels.iter().try_for_each(|kernel| write_kernel(f, kernel))
}

fn write_kernel(f: &mut Formatter<'_>, kernel: &KernelView) -> fmt::Result {
    match names::in_source(&kernel.name) {
        name if name == kernel.name => writeln!(f, "\n{name}")?,
        name => writeln!(f, "\n{name} (symbol {})", kernel.name)?,
    }
    match kernel.code_bytes {
        0 => writeln!(f, "  code        none: it must not be launched")?,
        bytes => writeln!(f, "  code        {bytes} bytes at {:#x}", kernel.address)?,
    }
    write!(f, "  registers   {} SGPRs, {} VGPRs", kernel.sgprs, kernel.vgprs)?;
    if kernel.agprs > 0 {
        write!(f, ", {} AGPRs", kernel.agprs)?;
    }
    match (kernel.sgpr_spills, kernel.vgpr_spills) {
        (Some(0), Some(0)) => {}
        (Some(sgprs), Some(vgprs)) => write!(f, "; spilled {sgprs} SGPRs, {vgprs} VGPRs")?,
        _ => f.write_str("; what was spilled is not told")?,
    }
    writeln!(f)?;
    if let Some(WavesView { lanes, workgroup_processor_mode }) = kernel.waves {
        let unit = if workgroup_processor_mode { "work-group processor" } else { "compute unit" };
        writeln!(f, "  waves       {lanes} lanes; those of a workgroup share a {unit}")?;
    }
    let grows = if kernel.dynamic_stack { ", and more at run time" } else { "" };
    writeln!(
        f,
        "  memory      {} bytes of LDS a workgroup, {} bytes of scratch a work-item{grows}",
        kernel.lds_bytes, kernel.scratch_bytes
    )?;
    match kernel.required_workgroup_size {
        Some([x, y, z]) => writeln!(f, "  workgroup   must be {x} x {y} x {z} work-items")?,
        None => writeln!(f, "  workgroup   at most {} work-items", kernel.max_workgroup_size)?,
    }
    let occupancy = &kernel.occupancy;
    writeln!(
        f,
        "  occupancy   {} of {} waves a SIMD, limited by {}",
        occupancy.waves_per_simd,
        occupancy.max_waves_per_simd,
        amdinst_core::limiter(occupancy.limiter).name()
    )?;
    write_limits(f, kernel)?;
    let hidden = kernel.args.iter().filter(|arg| arg.kind.starts_with("hidden_")).count();
    let arguments = kernel.args.len() - hidden;
    writeln!(
        f,
        "  kernarg     {} bytes: {}, {hidden} hidden",
        kernel.kernarg_bytes,
        count(arguments, "argument")
    )?;
    // As `run` and kernel tests count them.
    for (number, arg) in (1..).zip(kernel.args.iter().filter(|arg| !arg.kind.starts_with("hidden_"))) {
        let name = arg.name.as_deref().unwrap_or("-");
        let space = arg.address_space.as_deref().map_or(String::new(), |space| format!(", {space}"));
        writeln!(f, "    {number:>3}  {name:<20} {} bytes at {}, {}{space}", arg.size, arg.offset, arg.kind)?;
    }
    if kernel.branches_unknown {
        writeln!(f, "  sites       not known")?;
    } else {
        writeln!(f, "  sites       {}, {} uniform", kernel.sites.len(), kernel.uniform.len())?;
    }
    for site in &kernel.sites {
        let name = site.name.as_deref().map_or(String::new(), |name| format!("  `{name}`"));
        writeln!(
            f,
            "    {:>3}  {:<10} {:#08x}  {:<28} {}{name}",
            site.id,
            site.kind.name(),
            site.pc,
            place(&site.location),
            site.instruction
        )?;
    }
    for branch in &kernel.uniform {
        writeln!(
            f,
            "      -  uniform    {:#08x}  {:<28} {}",
            branch.pc,
            place(&branch.location),
            branch.instruction
        )?;
    }
    for missing in &kernel.missing_waits {
        writeln!(f, "  waits       {missing}")?;
    }
    kernel.refusals.iter().try_for_each(|refusal| writeln!(f, "  refused     {}", refusal_text(refusal)))
}

/// What each resource alone would allow, up to which amount, and what instrumentation changes.
fn write_limits(f: &mut Formatter<'_>, kernel: &KernelView) -> fmt::Result {
    let tables = &kernel.occupancy_tables;
    let uses = [
        ("VGPRs", kernel.vgprs, &tables.vgprs),
        ("SGPRs", kernel.sgprs, &tables.sgprs),
        ("LDS", kernel.lds_bytes, &tables.lds),
    ];
    let is_joined = kernel.waves.is_some_and(|waves| waves.workgroup_processor_mode);
    let unit = if is_joined { "work-group processor" } else { "compute unit" };
    for (name, used, table) in uses {
        let Some(step) = table.iter().find(|step| used <= step.most) else { continue };
        write!(f, "    {name:<9} {} waves a {unit} up to {}", step.waves_per_cu, step.most)?;
        if name == "LDS" {
            f.write_str(" bytes a workgroup")?;
        }
        match table.iter().find(|next| next.most > step.most) {
            Some(next) => writeln!(f, ", {} up to {}", next.waves_per_cu, next.most)?,
            None => writeln!(f)?,
        }
    }
    if let Some(instrumented) = &kernel.instrumented {
        let occupancy = instrumented.occupancy;
        writeln!(
            f,
            "    counting  {} waves a SIMD, limited by {} (counters in `{}`)",
            occupancy.after,
            occupancy.limiter_after.name(),
            instrumented.counter_storage.name()
        )?;
    }
    Ok(())
}

/// Where a branch stands in the source, `-` without debug information.
pub fn place(location: &Location) -> String {
    let Some(file) = &location.file else { return "-".to_owned() };
    Location { file: Some(short_path(file).into_owned()), ..location.clone() }.to_string()
}
