//! Writers that are killed, are not alone, or have no room. What they write may be the old or the new, and
//! nothing is left behind. `cargo xtask drill` has more of it.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use amdinst_format::interface::{self, BUILT_FILE, VARIABLE};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_cargo-amdinst");

/// How often, unless `AMDINST_DRILL` says otherwise.
pub(crate) fn times(usual: u32) -> u32 {
    std::env::var("AMDINST_DRILL").ok().and_then(|times| times.parse().ok()).unwrap_or(usual)
}

/// Says how far a long drill has come.
pub(crate) fn tell_turn(what: &str, turn: u32, times: u32) {
    if turn > 0 && turn.is_multiple_of(100) {
        eprintln!("{what}: {turn} of {times}");
    }
}

/// What is in a directory.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Kills it at a moment that each turn has another one of. Whether it had ended before.
pub(crate) fn killed(mut command: Command, whole: Duration, turn: u32, times: u32) -> bool {
    let mut writer = command.spawn().unwrap();
    std::thread::sleep(whole * (turn * 37 % times) / times * 11 / 10);
    let ended = writer.try_wait().unwrap().is_some();
    let _ = writer.kill();
    writer.wait().unwrap();
    ended
}

/// Runs it with files of so many blocks at most.
pub(crate) fn without_room(command: &Command, blocks: usize) -> Output {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        limited.current_dir(directory);
    }
    limited.output().unwrap()
}

/// This workspace, with a target directory and a program of its own: no cargo of somebody else waits for it,
/// nor does it wait for one; and the program stays as it is.
pub(crate) struct Own {
    target: PathBuf,
    program: TempDir,
}

impl Own {
    /// With its target directory there.
    pub(crate) fn new(target: &Path) -> Self {
        let program = tempfile::tempdir().unwrap();
        let built = Path::new(PROGRAM).parent().unwrap();
        let runtime = interface::places(built).into_iter().find(|place| place.is_file()).unwrap();
        for (from, name) in [(Path::new(PROGRAM), "cargo-amdinst"), (&*runtime, BUILT_FILE)] {
            let to = program.path().join(name);
            fs::hard_link(from, &to).or_else(|_| fs::copy(from, &to).map(drop)).unwrap();
        }
        Self { target: target.to_owned(), program }
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.program.path().join("cargo-amdinst"));
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
        command.env("CARGO_TARGET_DIR", &self.target).env("NO_COLOR", "1");
        command.env(VARIABLE, self.program.path().join(BUILT_FILE));
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs it, and says what it told if it did not end well.
    pub(crate) fn run(&self, words: &[&str]) {
        let ended = self.command(words).stderr(Stdio::piped()).output().unwrap();
        assert!(ended.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }

    /// Where artifacts are.
    pub(crate) fn artifacts(&self) -> PathBuf {
        self.target.join("amdinst")
    }
}

/// A small disk, which can be filled.
pub(crate) struct Disk {
    path: PathBuf,
}

/// Where it is mounted, in a process that has one.
const VARIABLE_OF_DISK: &str = "AMDINST_SMALL_DISK";
/// How a process ends that may not mount one.
const NOT_MOUNTED: i32 = 97;

impl Disk {
    /// Bytes of a block.
    pub(crate) const BLOCK: u64 = 4096;

    /// Runs the test of that name once more, where there is a disk of that size. There, this is the disk;
    /// else there is nothing more to do.
    pub(crate) fn of_test(name: &str, size: &str) -> Option<Self> {
        if let Some(path) = std::env::var_os(VARIABLE_OF_DISK) {
            return Some(Self { path: path.into() });
        }
        let place = tempfile::tempdir().unwrap();
        // A user who is not root is it in a namespace of his own.
        let script =
            format!("mount -t tmpfs -o size={size},mode=700 tmpfs \"$0\" || exit {NOT_MOUNTED}; exec \"$@\"");
        let ended = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .arg(place.path())
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture", "--include-ignored", "--test-threads", "1"])
            .env(VARIABLE_OF_DISK, place.path())
            .output();
        match ended {
            Ok(ended) if ended.status.success() => {
                eprint!("{}", String::from_utf8_lossy(&ended.stderr));
                assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"), "{ended:?}");
            }
            Ok(ended) if ended.status.code() == Some(101) => {
                panic!(
                    "{}\n{}",
                    String::from_utf8_lossy(&ended.stdout),
                    String::from_utf8_lossy(&ended.stderr)
                )
            }
            // A container, for one, may have no namespaces.
            _ => eprintln!("{name}: not done, for no disk may be mounted here"),
        }
        None
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Fills the disk up to so many blocks, until what this gives is dropped.
    pub(crate) fn fill(&self, left: u64) -> Filler {
        let path = self.path.join("filler");
        let mut file = File::create(&path).unwrap();
        let mut bytes = vec![1; 1 << 20];
        let mut length = 0;
        while bytes.len() as u64 >= Self::BLOCK {
            match file.write(&bytes) {
                Ok(written) => length += written as u64,
                Err(_) => bytes.truncate(bytes.len() / 2),
            }
        }
        file.set_len(length.saturating_sub(left * Self::BLOCK)).unwrap();
        Filler(path)
    }
}

pub(crate) struct Filler(PathBuf);

impl Drop for Filler {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
