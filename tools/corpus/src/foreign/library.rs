//! Kernels of installed libraries, found by what they are called in C++.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use amdgpu_object::CodeObject;
use anyhow::{Result, anyhow, bail};
use cargo_amdinst::cli::FileArgs;
use cargo_amdinst::commands::input::{File, Input};

/// Where Debian puts libraries.
const DIRECTORY: &str = "/usr/lib/x86_64-linux-gnu";

/// A library that is installed.
pub(crate) struct Library {
    args: FileArgs,
    file: File,
}

impl Library {
    /// Opens `name`, which Debian's `package` brings.
    ///
    /// # Errors
    /// When it is not installed; the error says how to get it.
    pub(crate) fn open(name: &str, package: &str) -> Result<Self> {
        let path = Path::new(DIRECTORY).join(name);
        if !path.exists() {
            bail!("{} is not there (apt-get install {package})", path.display());
        }
        let file = File::open(&path).map_err(|failure| anyhow!("{failure}"))?;
        Ok(Self { args: FileArgs { file: path, target_cpu: None, object: None }, file })
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.args.file
    }

    /// Shows each code object for `target` to `visit`.
    pub(crate) fn for_each(
        &self,
        target: &str,
        mut visit: impl FnMut(&CodeObject) -> Result<()>,
    ) -> Result<()> {
        let args = FileArgs { target_cpu: Some(target.to_owned()), ..self.args.clone() };
        let input = Input::new(&args, &self.file).map_err(|failure| anyhow!("{failure}"))?;
        let mut result = Ok(());
        let skipped = input
            .for_each(|found| {
                result = visit(&found.object);
                Ok(if result.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })
            .map_err(|failure| anyhow!("{failure}"))?;
        result?;
        match skipped.first() {
            Some(one) => bail!("{} for {}: {}", self.path().display(), one.target, one.reason),
            None => Ok(()),
        }
    }
}

/// Kernels of a code object by what they are called in C++, without return type and parameter names:
/// `generate_kernel<float, uniform_distribution<float>>(xorwow_engine*, …)`. Namespaces are left out.
#[derive(Debug)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// Reads the names.
    pub(crate) fn of(object: &CodeObject) -> Self {
        let names = object.kernels.iter().map(|kernel| (readable(&kernel.name), kernel.name.clone()));
        Self(names.collect())
    }

    /// The one kernel whose name begins so.
    pub(crate) fn beginning(&self, start: &str) -> Option<&str> {
        let mut fitting = self.0.range(start.to_owned()..).take_while(|(name, _)| name.starts_with(start));
        match (fitting.next(), fitting.next()) {
            (Some((_, symbol)), None) => Some(symbol),
            _ => None,
        }
    }
}

/// A symbol as a person writes it in C++.
pub(crate) fn readable(symbol: &str) -> String {
    let demangled = cpp_demangle::Symbol::new(symbol)
        .ok()
        .and_then(|symbol| symbol.demangle(&cpp_demangle::DemangleOptions::default()).ok())
        .unwrap_or_else(|| symbol.to_owned());
    let mut name = demangled.strip_prefix("void ").unwrap_or(&demangled).replace("> >", ">>");
    // Once more: three that close in a row.
    name = name.replace("> >", ">>");
    for namespace in ["rocrand_host::detail::", "rocrand_device::"] {
        name = name.replace(namespace, "");
    }
    // `256u` and `256`, as compilers print them.
    for (cast, suffix) in [("(unsigned int)", "u"), ("(int)", "")] {
        let mut parts = name.split(cast);
        let mut plain = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            // Without a number behind it, it is a list of parameters.
            let (before, after) = if digits == 0 { (cast, "") } else { ("", suffix) };
            plain = format!("{plain}{before}{}{after}{}", &part[..digits], &part[digits..]);
        }
        name = plain;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let symbol = "_ZN12rocrand_host6detailL15generate_kernelIf20uniform_distributionIfEEEvPN14rocrand_device13xorwow_engineEjPT_mT0_";
        let name = readable(symbol);
        assert!(
            name.starts_with(
                "generate_kernel<float, uniform_distribution<float>>(xorwow_engine*, unsigned int"
            ),
            "{name}"
        );
        assert_eq!(readable("plain"), "plain");
    }
}
