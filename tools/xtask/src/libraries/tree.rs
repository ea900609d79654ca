//! Packages of Debian 13, unpacked into a directory, with an apt that knows nothing of this machine's
//! packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Where Debian's packages come from. The key is in the package debian-archive-keyring.
const SOURCE: &str = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n";

/// The runtime, by which `exec` knows what processors there may be.
const RUNTIME: &str = "libhsa-runtime64.so.1";

/// The tree.
#[derive(Debug)]
pub(super) struct Tree {
    directory: PathBuf,
}

impl Tree {
    /// Downloads and unpacks the packages, and all that they need, unless that was done before.
    pub(super) fn prepare(directory: &Path, packages: &[&str]) -> Result<Self> {
        for part in [
            "etc/apt.conf.d",
            "etc/preferences.d",
            "state/lists/partial",
            "cache/archives/partial",
            "root",
            "runtime",
        ] {
            std::fs::create_dir_all(directory.join(part))?;
        }
        let directory = directory.canonicalize()?;
        let tree = Self { directory };
        std::fs::write(tree.directory.join("etc/sources.list"), SOURCE)?;
        std::fs::write(tree.directory.join("status"), "")?;
        let unpacked = tree.directory.join("unpacked");
        let done = std::fs::read_to_string(&unpacked).unwrap_or_default();
        let done: Vec<&str> = done.lines().collect();
        let missing: Vec<&str> = packages.iter().copied().filter(|package| !done.contains(package)).collect();
        if !missing.is_empty() {
            println!("downloading {}", missing.join(", "));
            tree.unpack(&missing)?;
            std::fs::write(&unpacked, [done, missing].concat().join("\n") + "\n")?;
        }
        let link = tree.runtime().join(RUNTIME);
        if !link.exists() {
            let library = tree.root().join("usr/lib/x86_64-linux-gnu").join(RUNTIME);
            ensure!(library.exists(), "no package has {RUNTIME}");
            std::os::unix::fs::symlink(library, link)?;
        }
        Ok(tree)
    }

    /// Puts links to the data of a library's tests beside the loader: programs look for them below `/usr`,
    /// and where the file of their process is.
    pub(super) fn link_data(&self, library: &str) -> Result<()> {
        let loader = self.root().join("usr/lib64/ld-linux-x86-64.so.2").canonicalize()?;
        let beside = loader.parent().context("the loader is in no directory")?;
        let mut open = vec![self.root().join("usr/share").join(library.to_lowercase())];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                let entries = std::fs::read_dir(&path)?;
                open.extend(entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?);
            } else if path.extension().is_some_and(|extension| extension == "data")
                && let Some(name) = path.file_name()
                && !beside.join(name).exists()
            {
                std::os::unix::fs::symlink(&path, beside.join(name))?;
            }
        }
        Ok(())
    }

    fn unpack(&self, packages: &[&str]) -> Result<()> {
        finish(self.apt().arg("update"))?;
        finish(
            self.apt()
                .args(["install", "--download-only", "--no-install-recommends", "--yes"])
                .args(packages),
        )?;
        for entry in std::fs::read_dir(self.directory.join("cache/archives"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                finish(Command::new("dpkg-deb").arg("--extract").arg(&path).arg(self.root()))?;
                std::fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// `apt-get` with directories of its own.
    fn apt(&self) -> Command {
        let mut command = Command::new("apt-get");
        for (option, place) in [
            ("Dir::Etc", "etc"),
            ("Dir::State", "state"),
            ("Dir::State::status", "status"),
            ("Dir::Cache", "cache"),
        ] {
            command.arg("-o").arg(format!("{option}={}", self.directory.join(place).display()));
        }
        command.args(["-o", "APT::Sandbox::User=root", "-qq"]);
        command
    }

    /// Where the packages' files are.
    pub(super) fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    /// A directory with the runtime and nothing else, which this machine's programs may look into.
    pub(super) fn runtime(&self) -> PathBuf {
        self.directory.join("runtime")
    }

    /// The file for the options of the program that runs.
    pub(super) fn filter(&self) -> PathBuf {
        self.directory.join(format!("filter-{}", std::process::id()))
    }

    /// The test programs of a package, in the order of their names.
    pub(super) fn programs(&self, package: &str) -> Result<Vec<PathBuf>> {
        let directory = self.root().join("usr/libexec/rocm").join(package);
        let entries = std::fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
        let mut programs = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        programs.retain(|path| is_program(path));
        programs.sort();
        ensure!(!programs.is_empty(), "{} has no test program", directory.display());
        Ok(programs)
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{:?}", command.get_program()))?;
    ensure!(status.success(), "{:?} ended with {status}", command.get_program());
    Ok(())
}
