//! The GPU of a new package: asked for, or this machine's.

use std::path::Path;

use crate::build::package::{DEFAULT_CPU, target};
use crate::exit::CommandResult;
use crate::gpus;

/// The processors of a new package, and why these.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) struct ProcessorChoice {
    pub(in crate::commands) cpus: Vec<String>,
    pub(in crate::commands) why: Why,
}

/// Why a package is for some processors.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) enum Why {
    /// The command line names them.
    Asked,
    /// It is the GPU with the most SIMDs that this machine has, of those that kernels are built for.
    Here,
    /// There is none here.
    Default,
}

impl ProcessorChoice {
    /// The processors `asked` for, else that of the GPU below `root`, else the default.
    ///
    /// # Errors
    /// One that kernels are not built for.
    pub(in crate::commands) fn new(asked: &[String], root: &Path) -> CommandResult<Self> {
        if !asked.is_empty() {
            for cpu in asked {
                target(cpu)?;
            }
            let mut cpus = asked.to_vec();
            let mut seen = std::collections::BTreeSet::new();
            cpus.retain(|cpu| seen.insert(cpu.clone()));
            return Ok(Self { cpus, why: Why::Asked });
        }
        let mut here = gpus::found(root);
        here.retain(|gpu| target(&gpu.processor).is_ok());
        // A processor with graphics in it is a GPU, too, beside the card. Of equals the first.
        let largest = here.into_iter().rev().max_by_key(|gpu| gpu.simds);
        Ok(match largest {
            Some(gpu) => Self { cpus: vec![gpu.processor], why: Why::Here },
            None => Self { cpus: vec![DEFAULT_CPU.to_owned()], why: Why::Default },
        })
    }

    /// The key of `Cargo.toml`, with its table.
    pub(in crate::commands) fn settings(&self) -> String {
        let cpus: Vec<String> = self.cpus.iter().map(|cpu| format!("\"{cpu}\"")).collect();
        format!(
            "# The GPUs that kernels are built for: gfx1100 is a Radeon RX 7900, gfx1201 an RX 9070, gfx90a an Instinct MI200.\n\
             [package.metadata.amdinst]\ntarget-cpus = [{}]\n",
            cpus.join(", ")
        )
    }

    /// What is told of it.
    pub(in crate::commands) fn told(&self) -> String {
        let cpus = self.cpus.join(", ");
        match self.why {
            Why::Asked => cpus,
            Why::Here => format!("{cpus}, this machine's GPU"),
            Why::Default => format!("{cpus}: no GPU here; `target-cpus` in Cargo.toml chooses another"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(nodes: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (number, properties) in nodes.iter().enumerate() {
            let node = root.path().join(format!("sys/class/kfd/kfd/topology/nodes/{number}"));
            std::fs::create_dir_all(&node).unwrap();
            std::fs::write(node.join("properties"), properties).unwrap();
        }
        root
    }

    #[test]
    fn the_card_before_the_graphics_in_the_processor() {
        let root = machine(&[
            "gfx_target_version 0\n",
            "simd_count 4\ngfx_target_version 100306\n",
            "simd_count 192\ngfx_target_version 110000\n",
            "simd_count 300\ngfx_target_version 70001\n",
        ]);
        let choice = ProcessorChoice::new(&[], root.path()).unwrap();
        assert_eq!(choice, ProcessorChoice { cpus: vec!["gfx1100".to_owned()], why: Why::Here });
        assert!(choice.settings().ends_with("target-cpus = [\"gfx1100\"]\n"));
        let asked = ["gfx1201", "gfx90a", "gfx1201"].map(str::to_owned);
        let choice = ProcessorChoice::new(&asked, root.path()).unwrap();
        assert_eq!(choice.told(), "gfx1201, gfx90a");
    }

    #[test]
    fn without_a_gpu_it_is_the_default_and_a_wrong_name_is_an_error() {
        let root = machine(&["gfx_target_version 0\n"]);
        assert_eq!(ProcessorChoice::new(&[], root.path()).unwrap().why, Why::Default);
        let error = ProcessorChoice::new(&["gfx110".to_owned()], root.path()).unwrap_err().to_string();
        assert!(error.contains("gfx110"), "{error}");
    }
}
