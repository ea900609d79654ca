//! `cargo amdinst test`: Build, instrument and run kernel tests.
//!
//! The kernels are built as by `cargo amdinst build`; then cargo, the user's own, builds and runs the
//! package's test targets with `harness = false`, once for each processor. What they need to know goes
//! through the environment (see the harness's documentation), how they ended comes back through a status
//! file: cargo's exit code is the same for tests that failed and tests that did not compile.

mod columns;
mod events;
mod keep;
mod matrix;
mod one_shot;
mod partings;
mod results;
mod schedules;
mod scratch;
mod targets;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amdinst_core::instrument::Home;
use amdinst_core::report::run::FILE_NAME;
use amdinst_emu::timing::Model;
use amdinst_format::interface::Checks;
use amdinst_format::interface::VARIABLE;
use amdinst_report::matrix::Axis;
use amdinst_runtime::stopping;

use self::keep::Kept;
use self::matrix::Endings;
use crate::build::compiled::{self, Entry};
use crate::build::instrument::Forms;
use crate::build::package::KernelPackage;
use crate::build::{Built, BuiltPackage, build};
use crate::cli::{DeviceChoice, Format, TestArgs};
use crate::commands::instrument::options;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::interrupted;
use crate::parent::die_with;
use crate::shell::Verbosity;
use crate::together::removed;
use results::Results;
use scratch::Scratch;

/// Runs the command.
///
/// # Errors
/// Kernels or tests that do not build, no kernel tests, a device that is not there. If all tests pass,
/// functions that LLVM has no code for. Tests that fail are [`Exit::Mismatch`].
pub fn run(context: &mut Context, args: &TestArgs) -> CommandResult {
    let ended = run_as_asked(context, args);
    if args.package.message_format == Format::Json {
        events::end(ended.as_ref().map_or_else(|failure| failure.exit, |&exit| exit))?;
    }
    ended
}

fn run_as_asked(context: &mut Context, args: &TestArgs) -> CommandResult {
    let for_the_emulator =
        args.limits.checks.fill().is_some() || args.limits.checks.asked().is_some_and(Checks::any);
    let in_other_order = args.limits.schedule.is_some() || args.schedules.is_some();
    if args.device == DeviceChoice::Hip && in_other_order {
        let message = "`--schedule` and `--schedules` are for the emulator: not with `--device hip`";
        return Err(Failure::msg(Exit::Usage, message));
    }
    if args.device == DeviceChoice::Hip && for_the_emulator {
        let message = "`--check` and `--fill` are for the emulator: not with `--device hip`";
        return Err(Failure::msg(Exit::Usage, message));
    }
    // Told before minutes of building.
    crate::runtime::file()?;
    let junit = args.junit.as_deref().map(fresh_junit).transpose()?;
    if args.markdown.is_some() && !args.has_columns() {
        let message = "`--markdown` is for several GPUs or levels";
        let help = "as in `--all-gpus`; of one run, `cargo amdinst report --format markdown` is the summary";
        return Err(Failure::msg(Exit::Usage, message).help(help));
    }
    let of_file = args.one_shot.as_deref().map(|file| one_shot::prepare(args, file)).transpose()?;
    let args = of_file.as_ref().unwrap_or(args);
    if let Some(number) = args.schedules {
        return schedules::run(context, args, number, junit.as_deref());
    }
    let columns = columns::chosen(context, args)?;
    if !columns.is_empty() {
        return columns::run(context, args, &columns, junit.as_deref());
    }
    if args.profiles.is_empty() {
        return run_once(context, args, junit.as_deref(), &mut Endings::default());
    }
    let mut profiles: Vec<&String> = Vec::new();
    args.profiles.iter().for_each(|profile| {
        if !profiles.contains(&profile) {
            profiles.push(profile);
        }
    });
    if profiles.len() < 2 {
        let message = "`--profiles` compares two profiles or more";
        return Err(Failure::msg(Exit::Usage, message)
            .help("as in `--profiles release,dev`; for one there is `--profile`"));
    }
    let with = |profile: &String| {
        let mut args = args.clone();
        args.package.profile = Some(profile.clone());
        args
    };
    // Kernels that do not build are told before the first test runs.
    for profile in &profiles {
        let args = with(profile);
        build(context, &args.package, &forms_of(&args)?)?;
    }
    let (mut exit, mut endings) = (Exit::Success, Endings::of(Axis::Profiles));
    for profile in profiles {
        let args = with(profile);
        context.shell.status("Profile", profile);
        endings.matrix.begin(profile);
        let ended = run_once(context, &args, junit.as_deref(), &mut endings)?;
        if ended != Exit::Success {
            exit = ended;
        }
    }
    endings.tell(context, args)?;
    if endings.matrix.differ() {
        context.shell.help(
            "a kernel that is right with one profile and wrong with another: see \"Is it the compiler?\" in the guide",
        );
        return Ok(if exit == Exit::Success { Exit::Mismatch } else { exit });
    }
    Ok(exit)
}

/// The command that shows the run of a package. That of a file has no package that people know.
fn report_command(args: &TestArgs, name: &str, document: &Path) -> String {
    match &args.one_shot {
        None => format!("cargo amdinst report -p {name}"),
        Some(_) => format!("cargo amdinst report --run {}", document.display()),
    }
}

/// How the kernels are instrumented: with counters where these tests have them.
fn forms_of(args: &TestArgs) -> CommandResult<Forms> {
    let home = args.measuring.counters.unwrap_or_default().home();
    let homes = if args.no_instrument { Vec::new() } else { vec![home] };
    Ok(Forms::of(homes, options(&args.measuring)?, &args.kernel))
}

/// Builds the kernels with the profile of `args`, and runs the tests. How they ended goes to `endings`, too.
fn run_once(
    context: &mut Context,
    args: &TestArgs,
    junit: Option<&Path>,
    endings: &mut Endings,
) -> CommandResult {
    let built = build(context, &args.package, &forms_of(args)?)?;
    let manifests: Vec<PathBuf> =
        built.packages.iter().map(|package| package.manifest_path.clone()).collect();
    run_built(context, args, &built, &manifests, junit, endings)
}

/// Runs the tests with what was built, of which these are the manifests. How they ended goes to `endings`,
/// too.
fn run_built(
    context: &Context,
    args: &TestArgs,
    built: &Built,
    manifests: &[PathBuf],
    junit: Option<&Path>,
    endings: &mut Endings,
) -> CommandResult {
    let cpus = built.packages.iter().flat_map(|package| &package.package.cpus);
    if let Some(error) = args.timing.and_then(|device| no_target(device.model(), cpus)) {
        return Err(error);
    }
    let manifests =
        std::env::join_paths(manifests).or_exit_with(Exit::BuildFailed, || "the paths of the manifests")?;
    let runtime = crate::runtime::file()?;
    let status = Scratch::of(built)?.ok_or_else(no_tests)?;

    let mut exit = Exit::Success;
    let mut tested = false;
    let mut none_ran = Vec::new();
    for package in &built.packages {
        let mut tests = targets::kernel_tests(&package.package.manifest_path)?;
        if !args.which.test.is_empty() {
            tests.retain(|test| args.which.test.contains(test));
        }
        if tests.is_empty() {
            if args.package.package.len() > 1 {
                context.shell.warn(format_args!("`{}` has no kernel tests", package.package.name));
            }
            continue;
        }
        tested = true;
        let run = PackageRun {
            args,
            package,
            tests: &tests,
            manifests: &manifests,
            runtime: &runtime,
            junit,
            scratch: status.path(),
        };
        let kept;
        (exit, kept) = run.run(context, exit, endings)?;
        if kept == Kept::NoTest {
            none_ran.push(format!("`{}`", package.package.name));
        }
    }
    if !tested {
        return Err(args.which.test.first().map_or_else(no_tests, |name| no_target_of(name)));
    }
    if !none_ran.is_empty() && !args.which.list {
        context.shell.warn(format_args!(
            "no test of {} ran; the saved run is unchanged: `cargo amdinst test --list` shows the names",
            none_ran.join(", ")
        ));
    }
    whole(exit, args, built)
}

/// How tests end that ended in `exit`: no success is one without functions that have no code, which no test
/// can launch. Who chooses tests or kernels may do without those.
fn whole(exit: Exit, args: &TestArgs, built: &Built) -> CommandResult {
    let all = args.kernel.is_empty() && args.which.choosing(&args.filters).is_empty() && !args.which.list;
    if exit == Exit::Success && all {
        built.all_compiled()?;
    }
    Ok(exit)
}

/// Why no launch could be modelled, if none can: kernels are built for other processors than the device is.
fn no_target<'a>(device: Model, mut cpus: impl Iterator<Item = &'a String>) -> Option<Failure> {
    let (name, arch) = (device.parameters().name, device.arch().name());
    if cpus.any(|cpu| cpu == arch) {
        return None;
    }
    let message = format!("{name} is a {arch}, which no kernels are built for: nothing could be modeled");
    Some(Failure::msg(Exit::Usage, message).help(format!("add `--target-cpu {arch}`")))
}

/// No test target has the name asked for.
fn no_target_of(name: &str) -> Failure {
    Failure::msg(Exit::Usage, format!("no test target `{name}` with `harness = false`"))
        .help("`cargo amdinst test --list` shows the tests of each target")
}

fn no_tests() -> Failure {
    Failure::msg(Exit::BuildFailed, "no kernel tests: no test target has `harness = false`").help(
        "add to Cargo.toml: [[test]] name = \"kernels\", harness = false; and end tests/kernels.rs with `harness::main!();`",
    )
}

fn absolute(path: &Path) -> CommandResult<PathBuf> {
    std::path::absolute(path).or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))
}

/// The absolute path of the JUnit report; an older report there is removed, for each test program adds to it.
fn fresh_junit(path: &Path) -> CommandResult<PathBuf> {
    let path = absolute(path)?;
    let removed = removed(std::fs::remove_file(&path));
    removed.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Blank lines that a status file begins with: behind them, in the same block of the disk, is room for some
/// words of a program.
const STATUS_BYTES: usize = 16;

/// How the tests of the package `name` ended that cargo says have failed. `words` tell how far each test
/// program came; there are none where no program was started.
fn failed(name: &str, words: &str) -> CommandResult {
    if words.trim().is_empty() {
        return Err(Failure::msg(Exit::BuildFailed, format!("the tests of `{name}` could not be built")));
    }
    if words.lines().any(|word| word == "unwritten") {
        let message = format!("the results of the tests of `{name}` could not be written");
        return Err(Failure::msg(Exit::OutputFailed, message).note("the saved run is unchanged"));
    }
    if words.lines().any(|word| word == "device-missing") {
        return Ok(Exit::DeviceMissing);
    }
    if words.lines().any(|word| word == "started") {
        return Ok(Exit::Mismatch);
    }
    // What is wrong, the program has said.
    Err(Failure::msg(Exit::Usage, format!("the tests of `{name}` do not take what stands behind `--`"))
        .help("`cargo amdinst test -- --help` shows what they take"))
}

/// The tests of one package, on each of its processors.
struct PackageRun<'a> {
    args: &'a TestArgs,
    package: &'a BuiltPackage,
    tests: &'a [String],
    manifests: &'a OsString,
    runtime: &'a Path,
    junit: Option<&'a Path>,
    scratch: &'a Path,
}

impl PackageRun<'_> {
    /// Runs the tests after those of other packages, which ended in `exit`, and keeps what they have left.
    /// Returns how all have ended then.
    fn run(&self, context: &Context, mut exit: Exit, endings: &mut Endings) -> CommandResult<(Exit, Kept)> {
        let Self { args, package, tests, manifests, runtime, junit, scratch } = *self;
        let name = &package.package.name;
        let timelines = args.timelines().map(|directory| absolute(&directory.join(name))).transpose()?;
        let mut left = Vec::new();
        let mut failed = false;
        for cpu in &package.package.cpus {
            let results = Results::new(scratch, junit, timelines.as_deref())?;
            let run = TestRun {
                args,
                package,
                cpu,
                tests,
                manifests,
                runtime,
                junit: results.junit(),
                timelines: results.timelines(),
            };
            let parts = scratch.join(format!("{name}-{cpu}-run"));
            let ended = run.run(context, &scratch.join(format!("{name}-{cpu}")), &parts);
            // What is not whole takes no place.
            if !ended.as_ref().is_err_and(|failure| failure.exit == Exit::OutputFailed) {
                results.put()?;
            }
            let ended = ended?;
            if ended != Exit::Success {
                exit = ended;
            }
            failed |= ended == Exit::Mismatch;
            left.push((cpu.clone(), parts));
        }
        if args.which.no_run {
            return Ok((exit, Kept::NoProgram));
        }
        let chosen_by = args.which.choosing(&args.filters);
        let home = args.measuring.counters.unwrap_or_default().home();
        let document = package.package.output_directory().join(FILE_NAME);
        let (kept, run) = keep::gather(package, home, &left, &chosen_by)?;
        if let Some(run) = run {
            if args.package.message_format == Format::Json {
                events::tests(&run, |cpu| gpu_title(&package.package, cpu))?;
            }
            if !args.has_columns() {
                keep::keep(package, &run)?;
                let report = report_command(args, name, &document);
                context.shell.status("Saved", format_args!("the run: `{report}` shows it"));
            }
            endings.add(&package.package.output_directory(), run);
        }
        if failed && !args.has_columns() {
            let report = report_command(args, name, &document);
            context.shell.help(format_args!(
                "`{report}` shows the branches and faults of this run; `cargo amdinst run` launches one kernel by hand"
            ));
        }
        match timelines {
            Some(directory) if directory.is_dir() => {
                context.shell.status("Wrote", format_args!("a timeline of each launch: {}", directory.display()));
            }
            Some(_) if exit == Exit::Success => context.shell.warn(
                "no timeline: no launch was modeled, which is done in the emulator, for the device's processor",
            ),
            _ => {}
        }
        Ok((exit, kept))
    }
}

/// The processor, with the size of waves if it is not the usual one, and the level of optimization if it is
/// not the profile's.
fn gpu_title(package: &KernelPackage, cpu: &str) -> String {
    let wave = package.other_wave(cpu).map(|wave| format!("/{}", wave.lanes()));
    let level = package.level.map(|level| format!(" -O{level}"));
    [Some(cpu.to_owned()), wave, level].into_iter().flatten().collect()
}

/// The tests of one package on one processor.
struct TestRun<'a> {
    args: &'a TestArgs,
    package: &'a BuiltPackage,
    cpu: &'a str,
    tests: &'a [String],
    manifests: &'a OsString,
    runtime: &'a Path,
    junit: Option<&'a Path>,
    timelines: Option<&'a Path>,
}

impl TestRun<'_> {
    fn run(&self, context: &Context, status: &Path, parts: &Path) -> CommandResult {
        let package = &self.package.package;
        let mut command = self.command(context, package);
        // Room for what is told, which is taken before there may be none.
        std::fs::write(status, "\n".repeat(STATUS_BYTES))
            .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", status.display()))?;
        command.env("AMDINST_STATUS", status).env("AMDINST_RUN", parts);
        context.shell.command(&command);
        if self.args.is_further_order() {
            // What there is to say of it has been said of the usual order.
            command.stderr(Stdio::null());
        } else {
            context.shell.status(
                if self.args.which.no_run { "Building" } else { "Testing" },
                format_args!(
                    "{} for {} (device {}, counters {})",
                    package.name,
                    self.gpu(),
                    self.device(),
                    self.counters()
                ),
            );
        }
        let entry = Entry::of_tests(package, command.get_program());
        if entry.as_ref().is_some_and(Entry::begin) {
            context.shell.status("Preparing", "the harness: once, later tests have it");
        }
        let ended = interrupted::status(&mut command)
            .or_exit_with(Exit::BuildFailed, || "cargo cannot be started")?
            .ok_or_else(|| {
                let signal = stopping::asked().unwrap_or("a signal");
                Failure::msg(Exit::Mismatch, format!("{signal} ends the tests of `{}`", package.name))
            })?;
        let exit = if ended.success() {
            Exit::Success
        } else {
            let words = std::fs::read_to_string(status);
            failed(&package.name, &words.or_exit_with(Exit::BadInput, || status.display().to_string())?)?
        };
        if let Some(entry) = entry {
            entry.keep(|| compiled::of_harness(package, command.get_program()));
        }
        Ok(exit)
    }

    fn command(&self, context: &Context, package: &KernelPackage) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["test", "--no-fail-fast", "--manifest-path"]).arg(&package.manifest_path);
        if self.args.which.no_run {
            command.arg("--no-run");
        }
        for test in self.tests {
            command.args(["--test", test]);
        }
        command.args(package.feature_options()).args(&package.lock_options);
        let json = self.args.package.message_format == Format::Json;
        if json {
            command.args(["--message-format", "json"]);
        }
        // Of tests side by side, the matrix says how they end.
        let verbosity = match context.shell.verbosity() {
            Verbosity::Normal if self.args.has_columns() => Verbosity::Quiet,
            verbosity => verbosity,
        };
        match verbosity {
            Verbosity::Quiet => drop(command.arg("--quiet")),
            Verbosity::Normal => {}
            _ => drop(command.arg("--verbose")),
        }
        if self.args.has_columns() && verbosity == Verbosity::Quiet && !json {
            command.stdout(Stdio::null());
        }
        command.args(["--color", context.shell.color_for_children(), "--"]);
        if json {
            command.args(["-Zunstable-options", "--format=json"]);
        }
        command.args(self.args.which.words()).args(&self.args.filters);
        // Whoever kills this process means the tests, too. The test program looks after itself, in the same
        // way.
        let parent = std::process::id();
        // SAFETY: the closure does what may be done between fork and exec.
        unsafe { command.pre_exec(move || die_with(parent)) };

        command.env("AMDINST_MANIFEST", self.manifests).env(VARIABLE, self.runtime);
        // They have just been built.
        command.env("AMDINST_FRESH", "1");
        command.env("AMDINST_TARGET_CPU", self.cpu).env("AMDINST_PROFILE", &package.profile);
        command.env("AMDINST_DEVICE", self.device()).env("AMDINST_COUNTERS", self.counters());
        let report = match (json, verbosity) {
            (true, _) => "json",
            (false, Verbosity::Quiet) => "none",
            (false, Verbosity::Normal) => "summary",
            (false, Verbosity::Verbose) => "full",
        };
        command.env("AMDINST_REPORT", report).env("COLUMNS", context.shell.layout().width.to_string());
        command.envs(self.args.limits.variables());
        match self.args.memory {
            true => command.env("AMDINST_MEMORY", "1"),
            false => command.env_remove("AMDINST_MEMORY"),
        };
        match self.args.why {
            true => command.env("AMDINST_WHY", "1"),
            false => command.env_remove("AMDINST_WHY"),
        };
        match self.args.timing {
            Some(device) => command.env("AMDINST_TIMING", device.model().parameters().name),
            None => command.env_remove("AMDINST_TIMING"),
        };
        match self.timelines {
            Some(directory) => command.env("AMDINST_TIMELINE", directory),
            None => command.env_remove("AMDINST_TIMELINE"),
        };
        match self.junit {
            Some(path) => command.env("AMDINST_JUNIT", path),
            None => command.env_remove("AMDINST_JUNIT"),
        };
        // A suite a GPU.
        match self.args.has_columns() {
            true => command.env("AMDINST_JUNIT_GPU", self.gpu()),
            false => command.env_remove("AMDINST_JUNIT_GPU"),
        };
        command
    }

    fn gpu(&self) -> String {
        gpu_title(&self.package.package, self.cpu)
    }

    const fn device(&self) -> &'static str {
        match self.args.device {
            DeviceChoice::Auto => "auto",
            DeviceChoice::Emu => "emu",
            DeviceChoice::Hip => "hip",
        }
    }

    fn counters(&self) -> &'static str {
        if self.args.no_instrument {
            return "none";
        }
        self.args.measuring.counters.unwrap_or_default().home().map_or("auto", Home::name)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use amdinst_core::manifest::Manifest;
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, Command as Parsed};

    fn built(lock_options: Vec<String>) -> BuiltPackage {
        let package = KernelPackage {
            name: "p".to_owned(),
            library: "p".to_owned(),
            manifest_path: PathBuf::from("/p/Cargo.toml"),
            library_manifest_path: PathBuf::from("/p/Cargo.toml"),
            workspace_root: PathBuf::from("/p"),
            target_directory: PathBuf::from("/p/target"),
            cpus: vec!["gfx90a".to_owned()],
            wave_size: None,
            gpus: Vec::new(),
            profile: "release".to_owned(),
            level: None,
            renamed: None,
            features: Vec::new(),
            asked_features: Vec::new(),
            all_features: false,
            default_features: true,
            counters: Default::default(),
            lock_options,
            code_object_version: None,
            alloc: false,
            heap: 0,
            device_libraries: false,
            panic_messages: false,
        };
        BuiltPackage {
            package,
            manifest_path: PathBuf::new(),
            manifest: Manifest::default(),
            in_use: Arc::default(),
            refused: 0,
        }
    }

    #[test]
    fn functions_without_code_are_no_success_unless_others_are_chosen() {
        let ended = |words: &[&str], refused, exit| {
            let cli = Cli::try_parse_from([&["cargo-amdinst", "test"], words].concat()).unwrap();
            let Parsed::Test(args) = &cli.command else { panic!("not `test`") };
            let package = BuiltPackage { refused, ..built(Vec::new()) };
            whole(exit, args, &Built { packages: vec![package] }).unwrap_or_else(|failure| failure.exit)
        };
        assert_eq!(ended(&[], 0, Exit::Success), Exit::Success);
        for words in [&[][..], &["--test-threads", "1"], &["--no-run"], &["--", "--nocapture"]] {
            assert_eq!(ended(words, 1, Exit::Success), Exit::BuildFailed, "{words:?}");
        }
        assert_eq!(ended(&[], 1, Exit::Mismatch), Exit::Mismatch);
        for words in
            [&["saxpy"][..], &["--skip", "big"], &["--kernel", "saxpy"], &["--list"], &["--", "saxpy"]]
        {
            assert_eq!(ended(words, 1, Exit::Success), Exit::Success, "{words:?}");
        }
    }

    /// The words of the `cargo test` that a command line comes to.
    fn cargo_test(words: &[&str]) -> Vec<String> {
        let cli = Cli::try_parse_from([&["cargo-amdinst", "test"], words].concat()).unwrap();
        let Parsed::Test(args) = &cli.command else { panic!("not `test`") };
        let built = built(args.package.lock.options());
        let run = TestRun {
            args,
            package: &built,
            cpu: "gfx90a",
            tests: &["kernels".to_owned()],
            manifests: &OsString::new(),
            runtime: Path::new("/runtime"),
            junit: None,
            timelines: None,
        };
        let command = run.command(&Context::new(&cli.global), &built.package);
        command.get_args().map(|word| word.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn options_about_the_lock_file_are_cargos() {
        let words = cargo_test(&["--locked", "--offline", "--", "--frozen"]);
        let own = words.iter().position(|word| word == "--").unwrap();
        assert!(words[..own].join(" ").contains("--locked --offline"), "{words:?}");
        assert_eq!(words[own + 1..], ["--frozen"]);
        assert!(!cargo_test(&[]).iter().any(|word| word.starts_with("--lock") || word == "--offline"));
    }

    #[test]
    fn a_name_and_further_ones_are_filters() {
        let words = cargo_test(&["saxpy", "--no-run", "--", "--exact", "other"]);
        let own = words.iter().position(|word| word == "--").unwrap();
        assert!(words[..own].contains(&"--no-run".to_owned()), "{words:?}");
        assert_eq!(words[own + 1..], ["saxpy", "--exact", "other"]);
    }

    #[test]
    fn a_device_without_kernels_is_an_error() {
        let error = |cpus: &[&str]| {
            let cpus: Vec<String> = cpus.iter().map(|&cpu| cpu.to_owned()).collect();
            no_target(Model::Vega10, cpus.iter()).map(|error| error.to_string())
        };
        assert_eq!(error(&["gfx90a", "gfx900"]), None);
        let told = error(&["gfx90a", "gfx906"]).unwrap();
        assert!(told.contains("vega10 is a gfx900, which no kernels are built for"), "{told}");
    }

    #[test]
    fn how_far_the_programs_came_decides_the_exit_code() {
        let exit = |words: &str| failed("p", words).unwrap_or_else(|failure| failure.exit);
        assert_eq!(exit(&"\n".repeat(STATUS_BYTES)), Exit::BuildFailed);
        assert_eq!(exit("\nbegun\n"), Exit::Usage);
        assert_eq!(exit("\nbegun\nstarted\n"), Exit::Mismatch);
        assert_eq!(exit("begun\nstarted\nbegun\ndevice-missing\n"), Exit::DeviceMissing);
        assert_eq!(exit("begun\nstarted\nbegun\nstarted\nunwritten\n"), Exit::OutputFailed);
    }

    #[test]
    fn a_run_without_a_test_is_not_kept() {
        let directory = tempfile::tempdir().unwrap();
        let parts = [("gfx90a".to_owned(), directory.path().to_owned())];
        let kept = || keep::gather(&built(Vec::new()), None, &parts, &[]).unwrap().0;
        assert_eq!(kept(), Kept::NoProgram);
        let lines = "{\"program\":{\"schema\":1,\"name\":\"kernels\"}}\n\"end\"\n";
        std::fs::write(directory.path().join("kernels-1.jsonl"), lines).unwrap();
        assert_eq!(kept(), Kept::NoTest);
    }
}
