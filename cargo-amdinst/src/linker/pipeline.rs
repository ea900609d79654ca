//! The tools, one after the other.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use tempfile::TempDir;

use amdgpu_isa::{Arch, Target};
use amdgpu_object::CodeObject;
use amdinst_core::{heap, panics, printed};

use super::records::Records;
use super::refused::Refused;
use super::{
    Fault, LinkArguments, LinkError, Undefined, Verdict, declared_lds, device_libraries, entries, formatting,
    hidden, hoists, library_calls, places, refused, stack_slots, support, used,
};

/// The buffer of what kernels print, which whoever launches them looks for.
const PRINTED: [&str; 1] = [printed::SYMBOL];
/// That of their panics, and what these do then.
const PANICS: [&str; 2] = [panics::SYMBOL, panics::ENDS];
/// The memory that kernels allocate from, which whoever launches them empties.
const HEAP: [&str; 1] = [heap::SYMBOL];
/// Symbols of ours that are read and then dropped.
const OUR_PREFIX: &str = "__amdinst_";

/// Writes `arguments.output`, all of it or nothing.
pub(super) fn link(arguments: &LinkArguments) -> Result<(), LinkError> {
    for input in &arguments.inputs {
        check_bitcode(input)?;
    }
    let directory = work_directory(&arguments.output)?;
    thread::scope(|scope| {
        let hoists = scope.spawn(|| {
            hoists::are_there(&arguments.options.tools, &arguments.processor(), arguments.opt_level)
        });
        let found = scope.spawn(|| off_switches(arguments, ""));
        let step = Step { arguments, directory: directory.path() };
        let program = step.program()?;
        let mut found = found.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if !found.iter().all(|(fault, switch)| fault.leaves(switch, &program.intrinsics)) {
            found = off_switches(arguments, &program.intrinsics)?;
        }
        let switches: Vec<&str> = found.into_iter().map(|(_, switch)| switch).collect();
        let optimised = step.optimise(&program, &switches)?;
        let hoists = hoists.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let object = step.compile(&program, &optimised, &switches, hoists)?;
        step.link_object(&object)
    })
}

/// The options that keep LLVM from making wrong code of `program`, LLVM IR, if this LLVM needs them, and against which faults.
fn off_switches(
    arguments: &LinkArguments,
    program: &str,
) -> Result<Vec<(&'static Fault, &'static str)>, LinkError> {
    let opt_level = &arguments.opt_level;
    let tools = &arguments.options.tools;
    let mut switches = Vec::new();
    for fault in Fault::ALL {
        match fault.verdict(tools, &arguments.processor(), *opt_level, program)? {
            Verdict::Sound => {}
            Verdict::KeptOff(switch) => switches.push((fault, switch)),
            Verdict::Wrong => {
                let version = tools.version.clone();
                let (opt_level, safe_level) = (*opt_level, fault.safe_level);
                return Err(LinkError::Miscompiles { version, opt_level, what: fault.what, safe_level });
            }
        }
    }
    Ok(switches)
}

/// An empty directory for what the steps leave, beside the output and named after it. Cargo links an output once at a time, so
/// what is there was left by a link that was killed.
fn work_directory(output: &Path) -> Result<TempDir, LinkError> {
    let beside = output.parent().unwrap_or(Path::new(""));
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".link");
    let path = beside.join(&name);
    let made = match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(beside),
    };
    made.map_err(|source| LinkError::Io { path, source })
}

fn check_bitcode(path: &Path) -> Result<(), LinkError> {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.map_err(|source| LinkError::Io { path: path.to_owned(), source })?;
    // Raw bitcode, and the wrapper that Darwin's tools put around it.
    if magic == *b"BC\xc0\xde" || magic == *b"\xde\xc0\x17\x0b" {
        Ok(())
    } else {
        Err(LinkError::NotBitcode(path.to_owned()))
    }
}

/// The whole program, not optimised.
struct Program {
    path: PathBuf,
    records: Records,
    /// The names of the kernels that records tell of.
    names: Vec<String>,
    /// The declarations of the target's intrinsics.
    intrinsics: String,
}

struct Step<'a> {
    arguments: &'a LinkArguments,
    directory: &'a Path,
}

impl Step<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn tool(&self, name: &'static str) -> Command {
        Command::new(self.arguments.options.tools.path(name))
    }

    /// All that the exports reach and what our records ask for, as one module that is not optimised.
    fn program(&self) -> Result<Program, LinkError> {
        let inputs = self.readable_inputs()?;
        let everything = match &inputs[..] {
            [only] => only.clone(),
            several => self.llvm_link(several, "everything.bc")?,
        };
        let reached = self.drop_unreached(&everything, &self.arguments.exports, "reached.bc")?;
        let ir = self.disassemble(&reached)?;
        let records = Records::read(&ir)?;
        let names = entries::names(&records.entries)?;
        let program = self.path("reached.ll");
        let text = entries::rewrite(&ir, &records.entries, &names)?;
        let text = formatting::outlined(&stack_slots::aligned(&text));
        let text = library_calls::defined(places::marked(&hidden::without_queues(&text)));
        fs::write(&program, text).map_err(|source| LinkError::Io { path: program.clone(), source })?;

        let support = self.path("support.ll");
        let module =
            support::module(&records, self.target(), self.arguments.options.heap, self.arguments.opt_level);
        fs::write(&support, module).map_err(|source| LinkError::Io { path: support.clone(), source })?;
        let path = self.llvm_link(&[program, support], "program.bc")?;
        let path = self.with_libraries(path, &device_libraries::undefined(&ir))?;
        let is_intrinsic = |line: &&str| line.starts_with("declare ") && line.contains("@llvm.amdgcn.");
        let intrinsics = ir.lines().filter(is_intrinsic).collect::<Vec<_>>().join("\n");
        Ok(Program { path, records, names, intrinsics })
    }

    /// The inputs. Those with `#[used]` statics that LLVM does not read are mended.
    fn readable_inputs(&self) -> Result<Vec<PathBuf>, LinkError> {
        let mut inputs = self.arguments.inputs.clone();
        for (number, input) in inputs.iter_mut().enumerate() {
            let bitcode =
                fs::read(&*input).map_err(|source| LinkError::Io { path: input.clone(), source })?;
            if used::are_in(&bitcode)
                && self.disassemble(input).is_err()
                && let Some(mended) = used::mended(&bitcode)
            {
                *input = self.path(&format!("used-{number}.bc"));
                fs::write(&*input, mended).map_err(|source| LinkError::Io { path: input.clone(), source })?;
            }
        }
        Ok(inputs)
    }

    /// `program` with what it needs of libraries: those that build scripts name, and AMD's.
    fn with_libraries(&self, program: PathBuf, undefined: &BTreeSet<String>) -> Result<PathBuf, LinkError> {
        if undefined.is_empty() {
            return Ok(program);
        }
        // Those that are not there may not be needed.
        let mut libraries: Vec<_> =
            self.arguments.libraries.iter().filter(|path| path.is_file()).cloned().collect();
        if let Some((symbol, files)) = device_libraries::needed(undefined) {
            let directory = device_libraries::directory();
            let is_there = |file: &&str| directory.join(file).is_file();
            if let Some(missing) = files.iter().find(|file| !is_there(file))
                && !libraries.iter().any(|library| library.ends_with(missing))
            {
                return Err(LinkError::NoDeviceLibraries {
                    symbol: symbol.to_owned(),
                    file: missing,
                    directory,
                });
            }
            libraries.extend(files.into_iter().filter(is_there).map(|file| directory.join(file)));
        }
        if libraries.is_empty() {
            return Ok(program);
        }
        if let Some(target) = self.target() {
            let variables = self.path("variables.ll");
            let text = device_libraries::variables(target, self.arguments.options.code_object_version);
            fs::write(&variables, text)
                .map_err(|source| LinkError::Io { path: variables.clone(), source })?;
            libraries.push(variables);
        }
        let output = self.path("with-libraries.bc");
        let mut command = self.tool("llvm-link");
        command.args(["--suppress-warnings", "--only-needed"]).arg(program).args(libraries);
        command.arg("-o").arg(&output);
        run("llvm-link", &mut command)?;
        Ok(output)
    }

    /// What is compiled for, if the processor is a known one.
    fn target(&self) -> Option<Target> {
        let arch = Arch::from_name(&self.arguments.cpu)?;
        let wave = self.arguments.options.wave_size.unwrap_or(arch.default_wave());
        Some(Target { arch, wave })
    }

    fn llvm_link(&self, inputs: &[PathBuf], output: &str) -> Result<PathBuf, LinkError> {
        let output = self.path(output);
        let mut command = self.tool("llvm-link");
        // A module without a data layout (the support module) takes the program's, which LLVM remarks on.
        command.arg("--suppress-warnings").args(inputs).arg("-o").arg(&output);
        run("llvm-link", &mut command)?;
        Ok(output)
    }

    /// Makes everything local but `exports`, and drops what they do not reach.
    fn drop_unreached(&self, input: &Path, exports: &[String], output: &str) -> Result<PathBuf, LinkError> {
        let output = self.path(output);
        let mut command = self.tool("opt");
        command
            .arg("-passes=internalize,globaldce")
            .arg(self.export_list(exports.iter().map(String::as_str))?);
        command.arg(input).arg("-o").arg(&output);
        run("opt", &mut command)?;
        Ok(output)
    }

    fn export_list<'e>(&self, exports: impl Iterator<Item = &'e str>) -> Result<String, LinkError> {
        let path = self.path("exports");
        let text: String = exports.flat_map(|name| [as_pattern(name), "\n".to_owned()]).collect();
        fs::write(&path, text).map_err(|source| LinkError::Io { path: path.clone(), source })?;
        Ok(format!("-internalize-public-api-file={}", path.display()))
    }

    fn disassemble(&self, input: &Path) -> Result<String, LinkError> {
        let mut command = self.tool("llvm-dis");
        command.arg(input).arg("-o").arg("-");
        run("llvm-dis", &mut command)
    }

    fn optimise(&self, program: &Program, switches: &[&str]) -> Result<PathBuf, LinkError> {
        let output = self.path("optimised.bc");
        let mut command = self.tool("opt");
        let level = self.arguments.opt_level;
        let passes = match level {
            // What is marked `#[inline(always)]` is inlined: without it nothing reaches LDS.
            0 => "forceattrs,always-inline,internalize,globaldce".to_owned(),
            _ => format!("forceattrs,internalize,globaldce,default<O{level}>"),
        };
        command.arg(format!("-passes={passes}"));
        command.args(self.arguments.processor()).args(switches);
        let Records { prints, panics, allocates, .. } = program.records;
        let variables = [(prints, &PRINTED[..]), (panics, &PANICS), (allocates, &HEAP)];
        let variables = variables.into_iter().filter(|(is_there, _)| *is_there).flat_map(|(_, names)| names);
        let exports = self.arguments.exports.iter().map(String::as_str);
        let exports = exports.filter(|name| !name.starts_with(OUR_PREFIX));
        let names = program.names.iter().map(String::as_str);
        command.arg(self.export_list(exports.chain(names).chain(variables.copied()))?);
        let outlined = &program.records.outlined;
        command.args(outlined.iter().map(|symbol| format!("-force-attribute={symbol}:noinline")));
        command.arg(&program.path).arg("-o").arg(&output);
        run("opt", &mut command)?;
        Ok(output)
    }

    /// The object of an optimised program. Functions that LLVM has no code for are left out, and the others compiled again.
    fn compile(
        &self,
        program: &Program,
        optimised: &Path,
        switches: &[&str],
        hoists: bool,
    ) -> Result<PathBuf, LinkError> {
        let emitted = |optimised: PathBuf| {
            let sections = self.sections(&optimised, switches)?;
            self.emit(&self.with_sections(optimised, &sections)?, switches, hoists)
        };
        let mut output = match emitted(optimised.to_owned()) {
            Err(LinkError::Tool { tool: "llc", output }) => output,
            other => return other,
        };
        let ir = self.disassemble(optimised)?;
        let about = refused::About {
            llvm: &self.arguments.options.tools.version,
            cpu: &self.arguments.cpu,
            shared: &program.records.shared,
        };
        let mut all = Vec::new();
        loop {
            let mut more = refused::of(&output, &ir, about);
            more.retain(|one| !all.contains(one));
            if more.is_empty() {
                let output = refused::without_stack(&output);
                return Err(LinkError::Tool { tool: "llc", output });
            }
            all.extend(more);
            match emitted(self.without_refused(&ir, &all, about)?) {
                Err(LinkError::Tool { tool: "llc", output: next }) => output = next,
                other => return other,
            }
        }
    }

    /// A program without the bodies of these functions.
    fn without_refused(
        &self,
        ir: &str,
        all: &[Refused],
        about: refused::About<'_>,
    ) -> Result<PathBuf, LinkError> {
        let files =
            [("without.ll", refused::without(ir, all)), ("refused.ll", refused::module(all, ir, about))];
        let mut paths = Vec::new();
        for (name, text) in files {
            let path = self.path(name);
            fs::write(&path, text).map_err(|source| LinkError::Io { path: path.clone(), source })?;
            paths.push(path);
        }
        self.llvm_link(&paths, "without.bc")
    }

    /// Sections for the code object, in textual IR: what is to be told of places where LLVM is wrong whatever is done, and how much
    /// LDS kernels declare.
    fn sections(&self, optimised: &Path, switches: &[&str]) -> Result<String, LinkError> {
        let program = self.disassemble(optimised)?;
        let how = places::Compiled {
            tools: &self.arguments.options.tools,
            processor: &self.arguments.processor(),
            opt_level: self.arguments.opt_level,
            switches,
        };
        let mut warnings = places::of_optimised(how, &program);
        if places::may_be_in(&program) {
            let mut command = self.llc(switches);
            command.arg(places::STOP).arg(optimised).args(["-o", "-"]);
            warnings.extend(places::of_selected(how, &run("llc", &mut command)?));
        }
        Ok(places::section(&warnings) + &declared_lds::section(&program))
    }

    /// The program with sections.
    fn with_sections(&self, program: PathBuf, sections: &str) -> Result<PathBuf, LinkError> {
        if sections.is_empty() {
            return Ok(program);
        }
        let module = self.path("sections.ll");
        fs::write(&module, format!("target triple = \"amdgcn-amd-amdhsa\"\n{sections}"))
            .map_err(|source| LinkError::Io { path: module.clone(), source })?;
        self.llvm_link(&[program, module], "sections.bc")
    }

    /// The compiler, with all that it takes beside files.
    fn llc(&self, switches: &[&str]) -> Command {
        let mut command = self.tool("llc");
        command.arg("--relocation-model=pic");
        command.arg(format!("-O{}", self.arguments.opt_level)).args(self.arguments.processor());
        command.args(switches);
        if let Some(version) = self.arguments.options.code_object_version {
            command.arg(format!("--amdhsa-code-object-version={version}"));
        }
        command
    }

    /// The program as it is ahead of the pass that moves values, with what keeps it from that, if it could.
    fn without_hoists(&self, optimised: &Path, switches: &[&str]) -> Result<Option<PathBuf>, LinkError> {
        let mut command = self.llc(switches);
        command.arg(hoists::STOP).arg(optimised).args(["-o", "-"]);
        let program = places::of_machine_ir(&run("llc", &mut command)?);
        let Some(program) = hoists::padded(&program) else { return Ok(None) };
        let path = self.path("half-way.ll");
        fs::write(&path, program).map_err(|source| LinkError::Io { path: path.clone(), source })?;
        Ok(Some(path))
    }

    fn emit(&self, input: &Path, switches: &[&str], hoists: bool) -> Result<PathBuf, LinkError> {
        let output = self.path("program.o");
        let half_way = if hoists { self.without_hoists(input, switches)? } else { None };
        let mut command = self.llc(switches);
        command.args(half_way.is_some().then_some(hoists::START));
        command.arg("-filetype=obj").arg(half_way.as_deref().unwrap_or(input)).arg("-o").arg(&output);
        run("llc", &mut command)?;
        Ok(output)
    }

    fn link_object(&self, object: &Path) -> Result<(), LinkError> {
        let output = self.path("program.elf");
        let mut command = Command::new(&self.arguments.options.tools.lld);
        // `rust-lld` is every flavour of lld in one; the others know theirs by name.
        if self.arguments.options.tools.lld.file_stem() == Some(OsStr::new("rust-lld")) {
            command.args(["-flavor", "gnu"]);
        }
        command.args(["-shared", "--gc-sections", "--no-undefined", "--build-id=none", "-O1"]);
        command.arg(object).arg("-o").arg(&output);
        match run("ld.lld", &mut command) {
            Ok(_) => {}
            Err(LinkError::Tool { output, .. }) if output.contains("undefined symbol:") => {
                let libraries = self.arguments.libraries.iter();
                let missing = libraries.filter(|path| !path.is_file()).cloned().collect();
                return Err(LinkError::Undefined { symbols: undefined(&output), missing });
            }
            Err(error) => return Err(error),
        }
        self.check_wave_size(&output)?;
        self.install(&output)
    }

    /// Checks that all kernels have the size of waves that was asked for: definitions of ours are for that one.
    fn check_wave_size(&self, output: &Path) -> Result<(), LinkError> {
        let Some(Target { arch, wave }) = self.target() else { return Ok(()) };
        let bytes = fs::read(output).map_err(|source| LinkError::Io { path: output.to_owned(), source })?;
        let object = CodeObject::parse(bytes).map_err(|error| LinkError::Unreadable(error.to_string()))?;
        for kernel in &object.kernels {
            let found = kernel.descriptor.wave_size(arch);
            if found != wave {
                let (kernel, found, wanted) = (kernel.name.clone(), found.lanes(), wave.lanes());
                return Err(LinkError::WaveSize { kernel, found, wanted });
            }
        }
        Ok(())
    }

    /// Puts the finished file in its place in one step.
    fn install(&self, finished: &Path) -> Result<(), LinkError> {
        let target = &self.arguments.output;
        fs::rename(finished, target).map_err(|source| LinkError::Io { path: target.clone(), source })
    }
}

/// A symbol as the list of exports has it, which is one of patterns: `fill<[u8;4]>` has brackets.
fn as_pattern(symbol: &str) -> String {
    let escaped = |character| ("[]{}*?\\".contains(character).then_some('\\'), character);
    symbol
        .chars()
        .map(escaped)
        .flat_map(|(escape, character)| escape.into_iter().chain([character]))
        .collect()
}

/// Runs a tool and gives what it printed on stdout.
fn run(tool: &'static str, command: &mut Command) -> Result<String, LinkError> {
    let output = command
        .output()
        .map_err(|source| LinkError::Start { tool: PathBuf::from(command.get_program()), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let mut text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if text.is_empty() {
        text = output.status.to_string();
    }
    Err(LinkError::Tool { tool, output: text })
}

/// Reads lld's complaint: a line a symbol, then `>>> referenced by` and, indented, the function it stands in.
fn undefined(text: &str) -> Vec<Undefined> {
    let mut symbols: Vec<Undefined> = Vec::new();
    for line in text.lines() {
        if let Some((_, symbol)) = line.split_once("undefined symbol: ") {
            symbols.push(Undefined { symbol: symbol.to_owned(), users: Vec::new() });
        } else if let Some(rest) = line.strip_prefix(">>>")
            && let Some(Undefined { users, .. }) = symbols.last_mut()
        {
            let rest = rest.trim();
            if let Some(user) = rest.strip_prefix("referenced by ") {
                // The object's path is a temporary one; the function it names is what helps.
                users.push(function_in(user).unwrap_or(user).to_owned());
            } else if let (Some(function), Some(last)) = (function_in(rest), users.last_mut()) {
                *last = format!("{function} at {}", path_in(last).unwrap_or(last));
            }
        }
    }
    for Undefined { users, .. } in &mut symbols {
        users.dedup();
    }
    symbols
}

/// `src/lib.rs:12` of `lib.rs:12 (src/lib.rs:12)`.
fn path_in(text: &str) -> Option<&str> {
    text.split_once(" (").and_then(|(_, rest)| rest.strip_suffix(')'))
}

/// `saxpy` of `/tmp/program.o:(saxpy)`.
fn function_in(text: &str) -> Option<&str> {
    text.split_once(".o:(").and_then(|(_, rest)| rest.strip_suffix(')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_link_left_is_gone() {
        let target = tempfile::tempdir().unwrap();
        let output = target.path().join("kernels.elf");
        let left = target.path().join("kernels.elf.link");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("everything.bc"), "half").unwrap();
        let directory = work_directory(&output).unwrap();
        assert_eq!((directory.path(), fs::read_dir(&left).unwrap().count()), (&*left, 0));
        drop(directory);
        assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
        let nowhere = work_directory(&left.join("kernels.elf")).unwrap_err().to_string();
        assert!(nowhere.contains("kernels.elf.link/kernels.elf.link"), "{nowhere}");
    }

    #[test]
    fn lld_complaint_is_read() {
        let text = "ld.lld: error: undefined symbol: sinf\n\
                    >>> referenced by lib.rs:12 (src/lib.rs:12)\n\
                    >>>               /tmp/x/program.o:(wave)\n\
                    >>> referenced by lib.rs:12 (src/lib.rs:12)\n\
                    >>>               /tmp/x/program.o:(wave)\n\
                    ld.lld: error: undefined symbol: cosf\n\
                    >>> referenced by /tmp/x/program.o:(wave)\n";
        assert_eq!(
            undefined(text),
            [
                Undefined { symbol: "sinf".to_owned(), users: vec!["wave at src/lib.rs:12".to_owned()] },
                Undefined { symbol: "cosf".to_owned(), users: vec!["wave".to_owned()] },
            ]
        );
    }
}
