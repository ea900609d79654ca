//! LLVM as a link uses it: for which processor, and with what keeps its faults away (`faults`, `hoists`).
//! That is tried once for an LLVM and kept in the store.

use super::{Fault, Verdict, hoists};
use crate::arguments::{LinkArguments, STEP_VERSION};
use crate::error::LinkError;
use crate::store::{Key, Store, stamp};

/// What `opt` and `llc` are told beside files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    /// Which LLVM it is, which version of the link step, which processor and level: what else decides what
    /// comes out.
    identity: Vec<String>,
    /// The options that keep LLVM from making wrong code.
    pub(crate) switches: Vec<String>,
    /// Whether a pass moves values to where they are wrong, so that `llc` runs in two steps.
    pub(crate) hoists: bool,
}

impl Compiler {
    /// The LLVM of `arguments`, tried unless that was done before. `program`, LLVM IR, must not lose an
    /// instruction by a switch.
    pub(crate) fn tried(arguments: &LinkArguments, store: &Store, program: &str) -> Result<Self, LinkError> {
        let tools = &arguments.options.tools;
        let identity = [
            STEP_VERSION.to_string(),
            tools.pattern.clone(),
            stamp(&tools.path("opt")),
            stamp(&tools.path("llc")),
            tools.version.clone(),
            format!("-O{}", arguments.opt_level),
        ];
        let identity: Vec<String> = identity.into_iter().chain(arguments.processor()).collect();
        let key = Key::of(identity.iter().map(String::as_str).chain(["faults", program]));
        if let Some(found) = store.get(key).and_then(|bytes| String::from_utf8(bytes).ok())
            && let Some((hoists, switches)) = found.split_once('\n')
        {
            let switches = switches.lines().map(str::to_owned).collect();
            return Ok(Self { identity, switches, hoists: hoists == HOISTS });
        }
        let switches = off_switches(arguments, program)?;
        let hoists = hoists::are_there(tools, &arguments.processor(), arguments.opt_level)?;
        let found = [if hoists { HOISTS } else { "" }].into_iter().chain(switches.iter().map(String::as_str));
        store.put(key, found.collect::<Vec<_>>().join("\n").as_bytes());
        Ok(Self { identity, switches, hoists })
    }

    /// Whether all that `program`, LLVM IR, calls has its instruction.
    pub(crate) fn leaves(&self, program: &str) -> bool {
        self.switches.iter().all(|switch| Fault::ALL.iter().all(|fault| fault.leaves(switch, program)))
    }

    /// All that decides what it makes of a text.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let hoists = self.hoists.then_some(HOISTS);
        self.identity.iter().chain(&self.switches).map(String::as_str).chain(hoists)
    }
}

/// How an LLVM that moves values is written down.
const HOISTS: &str = "moves values";

/// The options that keep LLVM from making wrong code of `program`, LLVM IR, if this LLVM needs them.
fn off_switches(arguments: &LinkArguments, program: &str) -> Result<Vec<String>, LinkError> {
    let opt_level = &arguments.opt_level;
    let tools = &arguments.options.tools;
    let mut switches = Vec::new();
    for fault in Fault::ALL {
        match fault.verdict(tools, &arguments.processor(), *opt_level, program)? {
            Verdict::Sound => {}
            Verdict::KeptOff(switch) => switches.push(switch.to_owned()),
            Verdict::Wrong => {
                let version = tools.version.clone();
                let (opt_level, safe_level) = (*opt_level, fault.safe_level);
                return Err(LinkError::Miscompiles { version, opt_level, what: fault.what, safe_level });
            }
        }
    }
    Ok(switches)
}
