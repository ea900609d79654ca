//! rustc for the crates of a kernel package: incrementally, where it can.
//!
//! Kernels' target asks for LTO. rustc, if it compiles incrementally or in several units, then reads the
//! bitcode that it has just written, and it cannot read that of `#[used]` statics, which `amdinst_llvm`
//! mends later. Such a crate is compiled once more as a whole. A file beside what rustc keeps says so to
//! later builds, until that is cleaned: macros write `#[used]` too, so that the source does not tell.
//!
//! Cargo calls this executable as `RUSTC_WORKSPACE_WRAPPER`: with rustc's path, then rustc's arguments. A
//! wrapper that the user has there is called in rustc's place, with the same words; one in `RUSTC_WRAPPER`
//! calls this executable.
//!
//! Each build of `core` begins with cargo asking twice about a target, and keeping no answer. Where nothing
//! is to be compiled, rustc's two starts would take a third of the build's time, so that it is asked once.

use std::collections::HashSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use amdinst_llvm::toolchain::answer;

use crate::output;
use crate::shell;

/// By which cargo is told of this executable, and of a user's wrapper.
const VARIABLE: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Another name that a user may have given cargo theirs by.
const CONFIGURED: &str = "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER";

/// By which this executable is told of the user's wrapper.
const USERS: &str = "AMDINST_USERS_WORKSPACE_WRAPPER";

/// Has cargo compile by this executable, and by the user's wrapper.
pub(crate) fn wrap(command: &mut Command, executable: &Path) {
    let given = [VARIABLE, CONFIGURED].into_iter().find_map(env::var_os);
    // In a build that another build of kernels has started, it is this executable, and theirs is known.
    match given.filter(|wrapper| *wrapper != *executable) {
        Some(wrapper) if !wrapper.is_empty() => drop(command.env(USERS, wrapper)),
        Some(_) => drop(command.env_remove(USERS)),
        None => {}
    }
    command.env(VARIABLE, executable);
}

/// What rustc says of bitcode that it cannot read.
const UNREADABLE: &str = "failed to load bitcode of module";

/// The argument with the directory of what rustc keeps, behind `-C`.
const INCREMENTAL: &str = "incremental=";

/// Runs rustc if `argv` is cargo's call of it.
pub(crate) fn run_if_called(argv: &[OsString]) -> Option<ExitCode> {
    let rustc = argv.get(1)?;
    env::var_os(VARIABLE)?;
    if env::var_os("RUSTC")? != *rustc {
        return None;
    }
    Some(compile(rustc, &argv[2..]).unwrap_or_else(|error| {
        shell::tell(&format!("cannot start {}: {error}\n", rustc.display()));
        ExitCode::FAILURE
    }))
}

/// What rustc prints of a target if that is all that it is asked for. A wrapper of the user may print
/// something else.
fn target_specification(rustc: &OsStr, arguments: &[OsString]) -> Option<String> {
    let arguments = arguments.iter().map(|argument| argument.to_str()).collect::<Option<Vec<_>>>()?;
    let asked = arguments.first() == Some(&"--print=target-spec-json") && env::var_os(USERS).is_none();
    // A failure has a text, which rustc shows itself.
    asked.then(|| answer(Path::new(rustc), &arguments).ok())?
}

/// Runs rustc with these arguments, and a second time if it cannot compile so.
fn compile(rustc: &OsStr, arguments: &[OsString]) -> io::Result<ExitCode> {
    if let Some(text) = target_specification(rustc, arguments) {
        return Ok(output::print(&text).err().map_or(ExitCode::SUCCESS, |failure| failure.exit.into()));
    }
    let mut told = HashSet::new();
    let ended = match whole(arguments) {
        None => run(rustc, arguments, &mut told)?,
        Some(whole) if whole.mark.as_ref().is_some_and(|mark| mark.is_file()) => {
            run(rustc, &whole.arguments, &mut told)?
        }
        Some(whole) => {
            let ended = run(rustc, arguments, &mut told)?;
            if ended.unreadable.is_empty() || ended.status.success() {
                ended
            } else {
                // Without it, the next build finds out again.
                let _ = whole.mark.as_ref().map(|mark| fs::write(mark, ""));
                run(rustc, &whole.arguments, &mut told)?
            }
        }
    };
    // What another compilation would not mend.
    shell::tell_rendered(&ended.unreadable);
    let code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// rustc, by the user's wrapper if there is one.
fn compiler(rustc: &OsStr) -> Command {
    let Some(wrapper) = env::var_os(USERS) else { return Command::new(rustc) };
    let mut command = Command::new(wrapper);
    command.arg(rustc);
    command
}

/// How rustc ended.
struct Ended {
    status: ExitStatus,
    /// What it said from when it could not read its bitcode, which has not been passed on.
    unreadable: String,
}

/// Runs rustc, and passes on to cargo at once what it says and is not in `told`.
fn run(rustc: &OsStr, arguments: &[OsString], told: &mut HashSet<String>) -> io::Result<Ended> {
    let mut child = compiler(rustc).args(arguments).stderr(Stdio::piped()).spawn()?;
    let mut unreadable = String::new();
    let mut said = HashSet::new();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned() + "\n";
            if !unreadable.is_empty() || line.contains(UNREADABLE) {
                unreadable += &line;
            } else if !told.contains(&line) {
                shell::tell_rendered(&line);
                said.insert(line);
            }
        }
    }
    told.extend(said);
    Ok(Ended { status: child.wait()?, unreadable })
}

/// How a crate is compiled as a whole.
struct Whole {
    arguments: Vec<OsString>,
    /// The file that says that it has to be, where rustc keeps anything.
    mark: Option<PathBuf>,
}

/// How the crate is compiled as a whole that arguments compile in another way.
fn whole(arguments: &[OsString]) -> Option<Whole> {
    let texts: Vec<_> = arguments.iter().map(|argument| argument.to_str()).collect();
    let name = (*texts.get(texts.iter().position(|text| *text == Some("--crate-name"))? + 1)?)?;
    let value = |text: &Option<&str>| text.is_some_and(|text| text.starts_with(INCREMENTAL));
    let at = texts.iter().position(value).filter(|at| *at > 0 && texts[at - 1] == Some("-C"));
    let kept = at.and_then(|at| texts[at]?.strip_prefix(INCREMENTAL));
    let mut whole = arguments.to_vec();
    if let Some(at) = at {
        whole.drain(at - 1..=at);
    }
    // Of several units, rustc reads the bitcode as well, to optimize across them.
    whole.extend(["-C", "codegen-units=1"].map(OsString::from));
    Some(Whole { arguments: whole, mark: kept.map(|kept| Path::new(kept).join(format!("{name}.whole"))) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &str) -> Vec<OsString> {
        words.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_crate_is_compiled_as_a_whole_in_one_unit() {
        let whole_of = |words| whole(&arguments(words));
        let whole =
            whole_of("--crate-name k src/lib.rs -C opt-level=3 -C incremental=/t/incremental -L d").unwrap();
        assert_eq!(
            whole.arguments,
            arguments("--crate-name k src/lib.rs -C opt-level=3 -L d -C codegen-units=1")
        );
        assert_eq!(whole.mark, Some(PathBuf::from("/t/incremental/k.whole")));
        let whole = whole_of("--crate-name k src/lib.rs -C opt-level=3").unwrap();
        assert_eq!(whole.arguments, arguments("--crate-name k src/lib.rs -C opt-level=3 -C codegen-units=1"));
        assert_eq!(whole.mark, None);
        assert!(whole_of("-vV").is_none());
    }
}
