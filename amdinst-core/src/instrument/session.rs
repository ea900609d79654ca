//! What is learnt of one code object that helps with the next.
//!
//! The code objects of a library are made of the same templates, and more than half of the distinct instructions of one stand in
//! those before it (rocSPARSE for gfx90a).

use super::options::Options;
use super::own::Touches;
use super::plan::{Plan, plan_with};
use super::recall::Recall;
use super::refusal::InstrumentError;
use crate::Arch;
use crate::analysis::program::Forms;
use crate::object::CodeObject;

/// Plans code objects one after the other. Each plan is what [`plan`](super::plan()) makes of its code object alone.
#[derive(Debug, Default)]
pub struct Session {
    /// By processor.
    known: Vec<(Arch, Known)>,
}

/// What is known of a processor's code.
#[derive(Debug)]
pub(super) struct Known {
    /// Those that were decoded.
    pub(super) forms: Forms,
    /// What these do.
    pub(super) touches: Touches,
    /// Functions.
    pub(super) recall: Recall,
}

/// Distinct instructions that are remembered: about ten times as many as most code objects have, in about 25 MB.
const MOST_FORMS: usize = 1 << 16;

impl Known {
    fn new(arch: Arch) -> Self {
        Self { forms: Forms::new(arch), touches: Touches::default(), recall: Recall::default() }
    }
}

impl Session {
    /// Finds the sites of every kernel asked for, and plans their counters.
    ///
    /// # Errors
    /// As of [`plan`](super::plan()).
    pub fn plan(&mut self, object: &CodeObject, options: &Options) -> Result<Plan, InstrumentError> {
        let arch = object.target.arch;
        let place = self.known.iter().position(|(of, _)| *of == arch);
        let known = place.map(|place| self.known.swap_remove(place).1);
        let known = known.filter(|known| known.forms.len() <= MOST_FORMS);
        let (plan, known) = plan_with(object, options, known.unwrap_or_else(|| Known::new(arch)))?;
        self.known.push((arch, known));
        Ok(plan)
    }
}
