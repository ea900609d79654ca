//! What is learnt of one code object that helps with the next.
//!
//! The code objects of a library are instances of the same templates. In rocSPARSE for gfx90a a quarter of
//! the code stands in functions that an earlier code object has, byte for byte, and more than half of the
//! distinct instructions of a code object occur in earlier ones.
//!
//! [`Session::plan`] gives for each code object what [`plan`](super::plan()) gives for it alone; a test
//! compares them, with every option. Per processor it remembers:
//!
//! * decoded instructions with what they do, and instructions that were inserted;
//! * kernels that call nothing and have no address in them: what they are made of, their masks and their
//!   plans;
//! * masks by what they depend on, which is less than the code: control flow, and the steps that the data
//!   flow looks at.
//!
//! A plan is reused for another kernel only if all is equal that it depends on: code, descriptor, metadata,
//! processor and options, and XNACK where it matters. (With XNACK the metadata tells of more SGPRs, which
//! does not matter if as many waves fit.) Code is compared as a whole; a hash only finds it. What is
//! remembered is bounded, and the oldest is forgotten first. Each thread of `instrument --whole` has a
//! session.

use amdgpu_isa::Target;
use amdgpu_object::CodeObject;

use super::options::Options;
use super::plan::{Plan, ProcessorCache, plan_with};
use super::refusal::InstrumentError;

/// Plans code objects one after the other. Each plan is what [`plan`](super::plan()) makes of its code object
/// alone.
#[derive(Debug, Default)]
pub struct Session {
    /// By processor and size of waves, those planned for last at the end.
    known: Vec<(Target, ProcessorCache)>,
}

/// Distinct instructions that are remembered: about ten times as many as most code objects have, in about 25
/// MB.
const MOST_FORMS: usize = 1 << 16;

/// Bytes of code of the kernels that are remembered, which take about six times as much. Twice as many would
/// find hardly more.
const MOST_BYTES: usize = 4 << 20;

/// Both, of all processors but the one that is planned for: the code objects of a library are for each in
/// turn, or for one after the other.
const MOST_OTHERS: (usize, usize) = (MOST_FORMS, MOST_BYTES);

impl Session {
    /// Finds the sites of every kernel asked for, and plans their counters.
    ///
    /// # Errors
    /// As of [`plan`](super::plan()).
    pub fn plan(&mut self, object: &CodeObject, options: &Options) -> Result<Plan, InstrumentError> {
        object.target.arch.to_instrument()?;
        let target = object.code_target();
        let place = self.known.iter().position(|(of, _)| *of == target);
        let known = place.map(|place| self.known.remove(place).1);
        self.forget_others(MOST_OTHERS);
        let mut known = known.unwrap_or_else(|| ProcessorCache::new(target));
        if known.forms() > MOST_FORMS {
            known.clear(target);
        }
        known.forget_kernels(MOST_BYTES);
        let (plan, known) = plan_with(object, options, known)?;
        self.known.push((target, known));
        Ok(plan)
    }

    /// Forgets processors, those of long ago first, until the others have no more distinct instructions and
    /// bytes of code than that.
    fn forget_others(&mut self, (forms, bytes): (usize, usize)) {
        let (mut sum_forms, mut sum_bytes) = (0, 0);
        let kept = self.known.iter().rev().take_while(|(_, known)| {
            (sum_forms, sum_bytes) = (sum_forms + known.forms(), sum_bytes + known.bytes());
            sum_forms <= forms && sum_bytes <= bytes
        });
        let forgotten = self.known.len() - kept.count();
        self.known.drain(..forgotten);
    }
}

/// Finds the sites of every kernel asked for, and plans their counters.
///
/// # Errors
/// When a kernel asked for does not exist, or something in the `.text` of code object version 2 cannot be
/// moved. That a kernel or a site is refused is no error, but told in
/// [`KernelProbes::refusals`](super::KernelProbes::refusals).
pub fn plan(object: &CodeObject, options: &Options) -> Result<Plan, InstrumentError> {
    Session::default().plan(object, options)
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::Arch;

    use super::*;

    #[test]
    fn processors_of_long_ago_are_forgotten_first() {
        let fixture = include_bytes!("../../../cargo-amdinst/tests/fixtures/branches.elf");
        let object = CodeObject::parse(fixture.to_vec()).unwrap();
        let mut session = Session::default();
        session.plan(&object, &Options::default()).unwrap();
        let (forms, bytes) = (session.known[0].1.forms(), session.known[0].1.bytes());
        assert!(forms > 0 && bytes > 0);
        let fresh = |arch: Arch| (arch.into(), ProcessorCache::new(arch.into()));
        session.known.insert(0, fresh(Arch::Gfx900));
        session.known.push(fresh(Arch::Gfx942));
        session.forget_others((forms, bytes));
        assert_eq!(session.known.len(), 3);
        session.forget_others((forms, bytes - 1));
        assert_eq!(session.known.iter().map(|(of, _)| *of).collect::<Vec<_>>(), [Arch::Gfx942.into()]);
    }
}
