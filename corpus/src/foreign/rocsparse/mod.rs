//! rocSPARSE 5.3.0: what its kernels compute, written anew from what their names and the library's manual say.

mod conversions;
mod data;
mod products;
mod vectors;

use std::collections::BTreeSet;

use amdgpu_isa::Arch;
use anyhow::{Context as _, Result};

use self::data::Real;
use super::Source;
use super::case::{Arg, Case};
use super::library::{Library, readable};
use super::session::{Loaded, Origin, Session};

/// Targets whose kernels run.
const TARGETS: [&str; 5] = ["gfx900:xnack-", "gfx906:xnack-", "gfx908:xnack-", "gfx90a:xnack-", "gfx1030"];

/// Launches every kernel that we know for every target.
pub(super) fn run(session: &mut Session) -> Result<()> {
    let library = Library::open("librocsparse.so.0", "librocsparse0")?;
    for target in TARGETS {
        let cpu = target.split(':').next().unwrap_or(target);
        if !session.options().takes_cpu(cpu) {
            continue;
        }
        let arch = Arch::from_name(cpu).with_context(|| format!("{cpu} is no processor"))?;
        let lanes = arch.default_wave().lanes() as usize;
        // Several code objects have the same kernel.
        let mut launched = BTreeSet::new();
        let origin = Origin { source: Source::Rocsparse, file: library.path(), target, variant: "" };
        library.for_each(target, |object| {
            let mut loaded = None;
            // The mangled name has the families' names as they are, and demangling takes its time.
            for kernel in object.kernels.iter().filter(|kernel| is_known(&kernel.name)) {
                let name = readable(&kernel.name);
                let case = Kernel::of(&name, lanes).and_then(|kernel| kernel.case());
                if let Some(case) = case.filter(|case| session.wants(case) && launched.insert(name.clone())) {
                    if loaded.is_none() {
                        loaded = Some(Loaded::new(object, session.options())?);
                    }
                    if let Some(loaded) = &loaded {
                        session.run(origin, loaded, &kernel.name, &case)?;
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether a mangled name has that of a kernel we know in it.
fn is_known(symbol: &str) -> bool {
    let families = [vectors::FAMILIES, products::FAMILIES, conversions::FAMILIES];
    // Complex numbers are left out.
    !symbol.contains("complex") && families.into_iter().flatten().any(|family| symbol.contains(family))
}

/// A kernel's name, taken apart.
#[derive(Clone, Debug)]
struct Kernel<'a> {
    /// All of it.
    name: &'a str,
    /// The template's name.
    family: &'a str,
    /// The template's arguments.
    args: Vec<&'a str>,
    /// The types of its parameters, with what stands between them.
    parameters: &'a str,
    /// Lanes of a wave.
    lanes: usize,
}

impl<'a> Kernel<'a> {
    fn of(name: &'a str, lanes: usize) -> Option<Self> {
        let (family, rest) = match name.split_once('<') {
            Some((family, rest)) if !family.contains('(') => (family, rest),
            _ => {
                let (family, parameters) = name.split_once('(')?;
                return Some(Self {
                    name,
                    family,
                    args: Vec::new(),
                    parameters: parameters.strip_suffix(')')?,
                    lanes,
                });
            }
        };
        let (args, parameters) = rest.split_once(">(")?;
        Some(Self {
            name,
            family,
            args: args.split(", ").collect(),
            parameters: parameters.strip_suffix(')')?,
            lanes,
        })
    }

    /// Its launch, if we know what it computes.
    fn case(&self) -> Option<Case> {
        vectors::case(self).or_else(|| products::case(self)).or_else(|| conversions::case(self))
    }

    /// The template's argument as a number; 0 if it is none.
    fn number(&self, at: usize) -> usize {
        self.args.get(at).and_then(|arg| arg.trim_end_matches('u').parse().ok()).unwrap_or(0)
    }

    /// The template's argument as a type of real numbers.
    fn real(&self, at: usize) -> Option<Real> {
        self.args.get(at).and_then(|arg| Real::named(arg))
    }

    /// The template's argument is a pointer: the factor lies in memory.
    fn is_pointer(&self, at: usize) -> bool {
        self.args.get(at).is_some_and(|arg| arg.ends_with('*'))
    }

    /// The base of indices, 0 or 1: half of the kernels get each.
    fn base(&self) -> usize {
        self.name.bytes().map(usize::from).sum::<usize>() % 2
    }

    /// A launch of as many workgroups of the size that the template's first argument tells as `count` work-items need.
    fn launch(&self, count: usize, args: Vec<Arg>) -> Case {
        self.launch_sized(count.div_ceil(self.number(0).max(1)), self.number(0), args)
    }

    /// A launch of workgroups of a size. Arguments are made for indices of 32 bits; where the kernel takes 64, they are
    /// widened.
    fn launch_sized(&self, groups: usize, block: usize, args: Vec<Arg>) -> Case {
        let types = self.parameters.split(", ").chain(std::iter::repeat(""));
        let widen = |(arg, kind): (Arg, &str)| if kind.starts_with("long") { arg.widened() } else { arg };
        let args = args.into_iter().zip(types).map(widen).collect();
        Case::new(self.name, groups as u32, block as u32, args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let name = "axpyi_kernel<256u, int, double, double const*>(int, double const*, double*)";
        let kernel = Kernel::of(name, 64).unwrap();
        assert_eq!((kernel.family, kernel.number(0), kernel.args.len()), ("axpyi_kernel", 256, 4));
        assert!(kernel.is_pointer(3) && !kernel.is_pointer(2));
        assert_eq!(kernel.real(2), Some(Real::Double));
        assert_eq!(kernel.parameters, "int, double const*, double*");
        assert_eq!(Kernel::of("plain(int)", 64).unwrap().family, "plain");
    }
}
