//! The tools, one after the other.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use rayon::prelude::*;
use tempfile::TempDir;

use amdgpu_isa::{Arch, Target};
use amdgpu_object::{CodeObject, join_metadata};

use crate::arguments::{LinkArguments, LinkOptions};
use crate::compile::compiler::Compiler;
use crate::compile::refused::{self, Refused};
use crate::compile::{hoists, places};
use crate::definitions::{declared_lds, device_libraries, library_calls, support};
use crate::error::{LinkError, Undefined};
use crate::ir::functions::of_machine_ir;
use crate::ir::text::escaped;
use crate::program::records::Records;
use crate::program::{entries, formatting, hidden, stack_slots, used};
use crate::store::{Key, Store};
use crate::units::{self, Unit};

/// The variable that refers to all exports, while it is found out what they reach.
const ROOTS: &str = "__amdinst_roots";
/// What an export is until its definition is found.
const UNKNOWN: &str = "external global i8";

/// Writes `arguments.output`, all of it or nothing.
pub(crate) fn link(arguments: &LinkArguments) -> Result<(), LinkError> {
    for input in &arguments.inputs {
        check_bitcode(input)?;
    }
    let directory = work_directory(&arguments.output)?;
    let store = Store::of(&arguments.output);
    let step = Step { arguments, directory: directory.path().to_owned() };
    thread::scope(|scope| {
        // Most programs have nothing that a switch would take away from them.
        let compiler = scope.spawn(|| Compiler::tried(arguments, &store, ""));
        let program = step.program()?;
        let mut compiler = compiler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        if !compiler.leaves(&program.intrinsics) {
            compiler = Compiler::tried(arguments, &store, &program.intrinsics)?;
        }
        let unit = |(number, unit)| step.within(number)?.object(&program, unit, &compiler, &store);
        let objects: Vec<PathBuf> =
            program.units.par_iter().enumerate().map(unit).collect::<Result<_, _>>()?;
        step.link_objects(&objects)
    })?;
    store.make_room();
    Ok(())
}

/// An empty directory for what the steps leave, beside the output and named after it. Cargo links an output
/// once at a time, so what is there was left by a link that was killed.
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
    records: Records,
    /// What is compiled by itself.
    units: Vec<Unit>,
    /// The declarations of the target's intrinsics.
    intrinsics: String,
}

struct Step<'a> {
    arguments: &'a LinkArguments,
    directory: PathBuf,
}

impl Step<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The step with a directory of its own.
    fn within(&self, number: usize) -> Result<Self, LinkError> {
        let directory = self.path(&number.to_string());
        fs::create_dir(&directory).map_err(|source| LinkError::Io { path: directory.clone(), source })?;
        Ok(Self { directory, ..*self })
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf, LinkError> {
        let path = self.path(name);
        match fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(LinkError::Io { path, source }),
        }
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
        let ir = self.reached(&everything)?;
        let records = Records::read(&ir)?;
        let names = entries::names(&records.entries)?;
        let text = entries::rewrite(&ir, &records.entries, &names)?;
        let text = formatting::outlined(&stack_slots::aligned(&text));
        let mut text = library_calls::defined(places::marked(&hidden::without_queues(&text)));
        let LinkOptions { heap, .. } = self.arguments.options;
        let mut support = support::module(&records, self.target(), heap, self.arguments.opt_level);
        if let Some(libraries) = self.libraries(&device_libraries::undefined(&ir))? {
            let program = [self.write("program.ll", text)?, self.write("support.ll", support)?];
            let program = self.llvm_link(&program, "program.bc")?;
            (text, support) = (self.with_libraries(&program, libraries)?, String::new());
        }
        let exports = self.arguments.exports.iter().chain(&names).map(String::as_str).collect();
        let units = units::divide(&text, &support, &exports);
        let is_intrinsic = |line: &&str| line.starts_with("declare ") && line.contains("@llvm.amdgcn.");
        let intrinsics = ir.lines().filter(is_intrinsic).collect::<Vec<_>>().join("\n");
        Ok(Program { records, units, intrinsics })
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

    /// The libraries that define these, if there are any: those that build scripts name, and AMD's.
    fn libraries(&self, undefined: &BTreeSet<String>) -> Result<Option<Vec<PathBuf>>, LinkError> {
        if undefined.is_empty() {
            return Ok(None);
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
                    variable: device_libraries::VARIABLE,
                });
            }
            libraries.extend(files.into_iter().filter(is_there).map(|file| directory.join(file)));
        }
        if libraries.is_empty() {
            return Ok(None);
        }
        if let Some(target) = self.target() {
            let text = device_libraries::variables(target, self.arguments.options.code_object_version);
            libraries.push(self.write("variables.ll", text)?);
        }
        Ok(Some(libraries))
    }

    /// The text of a program with what it needs of libraries.
    fn with_libraries(&self, program: &Path, libraries: Vec<PathBuf>) -> Result<String, LinkError> {
        let mut command = self.tool("llvm-link");
        command.args(["--suppress-warnings", "--only-needed", "-S"]).arg(program).args(libraries);
        command.args(["-o", "-"]);
        run("llvm-link", &mut command)
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

    /// The text of what the exports of a program reach. `llvm-link` reads no more of a program than what a
    /// module before it needs.
    fn reached(&self, input: &Path) -> Result<String, LinkError> {
        let exports = self.arguments.exports.iter().map(|name| format!("@\"{}\"", escaped(name)));
        let exports: Vec<String> = exports.collect();
        let mut roots: String = exports.iter().map(|export| format!("{export} = {UNKNOWN}\n")).collect();
        let places: Vec<String> = exports.iter().map(|export| format!("ptr {export}")).collect();
        let _ = writeln!(roots, "@{ROOTS} = constant [{} x ptr] [{}]", places.len(), places.join(", "));
        let roots = self.write("roots.ll", format!("target triple = \"amdgcn-amd-amdhsa\"\n{roots}"))?;
        let mut command = self.tool("llvm-link");
        command.args(["--suppress-warnings", "--only-needed", "-S"]).arg(roots).arg(input).args(["-o", "-"]);
        let text = run("llvm-link", &mut command)?;
        let is_ours =
            |line: &str| line.starts_with(&format!("@{ROOTS} = ")) || line.trim_end().ends_with(UNKNOWN);
        Ok(text.split_inclusive('\n').filter(|line| !(line.starts_with('@') && is_ours(line))).collect())
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

    /// The object of a unit, from the store if it was made before.
    fn object(
        &self,
        program: &Program,
        unit: &Unit,
        compiler: &Compiler,
        store: &Store,
    ) -> Result<PathBuf, LinkError> {
        let outlined: Vec<&str> = program
            .records
            .outlined
            .iter()
            .map(String::as_str)
            .filter(|symbol| unit.text.contains(symbol))
            .collect();
        let version = self.arguments.options.code_object_version.map(|version| version.to_string());
        let words =
            compiler.words().chain(version.as_deref()).chain(["outlined"]).chain(outlined.iter().copied());
        let exports = ["exports"].into_iter().chain(unit.exports.iter().map(String::as_str));
        let key = Key::of(words.chain(exports).chain([unit.text.as_str()]));
        if let Some(object) = store.get(key) {
            return self.write("unit.o", object);
        }
        let optimised = self.optimise(unit, &outlined, compiler)?;
        let (object, is_whole) = self.compile(program, &optimised, compiler)?;
        if is_whole {
            let bytes = fs::read(&object).map_err(|source| LinkError::Io { path: object.clone(), source })?;
            store.put(key, &bytes);
        }
        Ok(object)
    }

    /// The text of a unit after LLVM optimised it.
    fn optimise(&self, unit: &Unit, outlined: &[&str], compiler: &Compiler) -> Result<String, LinkError> {
        let mut command = self.tool("opt");
        let level = self.arguments.opt_level;
        let passes = match level {
            // What is marked `#[inline(always)]` is inlined: without it nothing reaches LDS.
            0 => "forceattrs,always-inline,internalize,globaldce".to_owned(),
            _ => format!("forceattrs,internalize,globaldce,default<O{level}>"),
        };
        command.args(["-S", &format!("-passes={passes}")]);
        command.args(self.arguments.processor()).args(&compiler.switches).args(self.code_object_version());
        command.arg(self.export_list(unit.exports.iter().map(String::as_str))?);
        command.args(outlined.iter().map(|symbol| format!("-force-attribute={symbol}:noinline")));
        command.arg(self.write("unit.ll", &unit.text)?).args(["-o", "-"]);
        run("opt", &mut command)
    }

    /// The object of an optimised unit, and whether it has all functions: those that LLVM has no code for are
    /// left out, and the others compiled again.
    fn compile(
        &self,
        program: &Program,
        optimised: &str,
        compiler: &Compiler,
    ) -> Result<(PathBuf, bool), LinkError> {
        let emitted = |optimised: &str| {
            let sections = self.sections(optimised, compiler)?;
            self.emit(&self.write("optimised.ll", [optimised, &sections].concat())?, compiler)
        };
        let mut output = match emitted(optimised) {
            Err(LinkError::Tool { tool: "llc", output }) => output,
            other => return Ok((other?, true)),
        };
        let about = refused::About {
            llvm: &self.arguments.options.tools.version,
            cpu: &self.arguments.cpu,
            shared: &program.records.shared,
        };
        let mut all = Vec::new();
        loop {
            let mut more = refused::of(&output, optimised, about);
            more.retain(|one| !all.contains(one));
            if more.is_empty() {
                let output = refused::without_stack(&output);
                return Err(LinkError::Tool { tool: "llc", output });
            }
            all.extend(more);
            match emitted(&self.without_refused(optimised, &all, about)?) {
                Err(LinkError::Tool { tool: "llc", output: next }) => output = next,
                other => return Ok((other?, false)),
            }
        }
    }

    /// The text of a unit without the bodies of these functions.
    fn without_refused(
        &self,
        ir: &str,
        all: &[Refused],
        about: refused::About<'_>,
    ) -> Result<String, LinkError> {
        let without = self.write("without.ll", refused::without(ir, all))?;
        let refused = self.write("refused.ll", refused::module(all, ir, about))?;
        let mut command = self.tool("llvm-link");
        command.args(["--suppress-warnings", "-S"]).args([without, refused]).args(["-o", "-"]);
        run("llvm-link", &mut command)
    }

    /// Sections for the code object, in textual IR: what is to be told of places where LLVM is wrong whatever
    /// is done, and how much LDS kernels declare.
    fn sections(&self, optimised: &str, compiler: &Compiler) -> Result<String, LinkError> {
        let how = places::Compiled {
            tools: &self.arguments.options.tools,
            processor: &self.arguments.processor(),
            opt_level: self.arguments.opt_level,
            switches: &compiler.switches,
        };
        let mut warnings = places::of_optimised(how, optimised);
        if places::may_be_in(optimised) {
            let mut command = self.llc(compiler);
            command.arg(places::STOP).arg(self.write("to-select.ll", optimised)?).args(["-o", "-"]);
            warnings.extend(places::of_selected(how, &run("llc", &mut command)?));
        }
        Ok(places::section(&warnings) + &declared_lds::section(optimised))
    }

    /// `llc`, with all that it takes beside files.
    fn llc(&self, compiler: &Compiler) -> Command {
        let mut command = self.tool("llc");
        command.arg("--relocation-model=pic");
        command.arg(format!("-O{}", self.arguments.opt_level)).args(self.arguments.processor());
        command.args(&compiler.switches);
        command.args(self.code_object_version());
        command
    }

    /// What tells `opt` and `llc` the code object version, if it is not their default. Either goes by it:
    /// `opt` finds out what a function needs of what its kernel was passed, and the versions pass that in
    /// other ways.
    fn code_object_version(&self) -> Option<String> {
        let version = self.arguments.options.code_object_version?;
        Some(format!("--amdhsa-code-object-version={version}"))
    }

    /// The unit as it is ahead of the pass that moves values, with what keeps it from that, if it could.
    fn without_hoists(&self, optimised: &Path, compiler: &Compiler) -> Result<Option<PathBuf>, LinkError> {
        let mut command = self.llc(compiler);
        command.arg(hoists::STOP).arg(optimised).args(["-o", "-"]);
        let program = of_machine_ir(&run("llc", &mut command)?);
        hoists::padded(&program).map(|padded| self.write("half-way.ll", padded)).transpose()
    }

    fn emit(&self, input: &Path, compiler: &Compiler) -> Result<PathBuf, LinkError> {
        let output = self.path("unit.o");
        let half_way = if compiler.hoists { self.without_hoists(input, compiler)? } else { None };
        let mut command = self.llc(compiler);
        command.args(half_way.is_some().then_some(hoists::START));
        command.arg("-filetype=obj").arg(half_way.as_deref().unwrap_or(input)).arg("-o").arg(&output);
        run("llc", &mut command)?;
        Ok(output)
    }

    fn link_objects(&self, objects: &[PathBuf]) -> Result<(), LinkError> {
        let output = self.path("program.elf");
        let mut command = Command::new(&self.arguments.options.tools.lld);
        // `rust-lld` is every flavour of lld in one; the others know theirs by name.
        if self.arguments.options.tools.lld.file_stem() == Some(OsStr::new("rust-lld")) {
            command.args(["-flavor", "gnu"]);
        }
        command.args(["-shared", "--gc-sections", "--no-undefined", "--build-id=none", "-O1"]);
        command.args(objects).arg("-o").arg(&output);
        match run("ld.lld", &mut command) {
            Ok(_) => {}
            Err(LinkError::Tool { output, .. }) if output.contains("undefined symbol:") => {
                let libraries = self.arguments.libraries.iter();
                let missing = libraries.filter(|path| !path.is_file()).cloned().collect();
                return Err(LinkError::Undefined { symbols: undefined(&output), missing });
            }
            Err(error) => return Err(error),
        }
        let failed = |source| LinkError::Io { path: output.clone(), source };
        let mut bytes = fs::read(&output).map_err(failed)?;
        if objects.len() > 1 {
            join_metadata(&mut bytes).map_err(|error| LinkError::Unreadable(error.to_string()))?;
            fs::write(&output, &bytes).map_err(failed)?;
        }
        self.check_wave_size(bytes)?;
        self.install(&output)
    }

    /// Checks that all kernels have the size of waves that was asked for: definitions of ours are for that
    /// one.
    fn check_wave_size(&self, bytes: Vec<u8>) -> Result<(), LinkError> {
        let Some(Target { arch, wave }) = self.target() else { return Ok(()) };
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
