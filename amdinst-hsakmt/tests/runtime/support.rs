//! Compiling programs, and running them with the library in place of the driver.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a program may take. They take a second; the machine may be busy.
const LIMIT: Duration = Duration::from_secs(240);

/// Whether the runtime, its headers and the compiler are there, and further files. Says so when they are not;
/// a failure where tools are required.
pub(crate) fn tools(test: &str, files: &[(&str, &str)]) -> bool {
    let always = [
        ("/usr/bin/clang-22", "clang-22"),
        ("/usr/lib/llvm-22/bin/clang-offload-bundler", "clang-tools-22"),
        ("/usr/include/hsa/hsa.h", "libhsa-runtime-dev"),
        ("/usr/include/hip/hip_runtime_api.h", "libamdhip64-dev"),
        ("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5", "libamdhip64-5"),
    ];
    let Some((file, package)) = always.iter().chain(files).find(|(file, _)| !Path::new(file).exists()) else {
        return true;
    };
    let message = format!("{test}: {file} is not there (apt-get install {package})");
    assert!(std::env::var_os("AMDINST_REQUIRE_TOOLS").is_none_or(|value| value != "1"), "{message}");
    eprintln!("SKIPPED: {message}");
    false
}

/// A compiled program, and a directory for what it needs.
pub(crate) struct Program {
    directory: TempDir,
    library: PathBuf,
}

impl Program {
    /// Compile `programs/NAME` for some processors, with further arguments of the compiler.
    pub(crate) fn new(name: &str, cpus: &[&str], further: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime/programs").join(name);
        let mut compiler = Command::new("clang-22");
        if name.ends_with(".hip") {
            // Code object version 4: the newest that this runtime reads.
            compiler.args(["-x", "hip", "-nogpulib", "-nogpuinc", "-no-hip-rt", "-mcode-object-version=4"]);
            compiler.args(["-D__HIP_PLATFORM_AMD__", "-w", "-g"]);
            compiler.args(cpus.iter().map(|cpu| format!("--offload-arch={cpu}")));
        }
        compiler.arg("-O1").arg(&source).arg("-o").arg(directory.path().join("program"));
        compiler.args(["-L/usr/lib/x86_64-linux-gnu"]).args(further);
        let output = compiler.output().expect("running clang-22");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));

        let library = std::env::current_exe().expect("this test's path");
        let library = library.parent().expect("a directory").join(amdinst_format::interface::BUILT_FILE);
        assert!(library.is_file(), "{} is not there", library.display());
        Self { directory, library }
    }

    /// Compile `programs/NAME`, kernels in OpenCL C, for gfx90a; gives the code object's path.
    pub(crate) fn kernels(&self, name: &str) -> String {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime/programs").join(name);
        let object = self.directory.path().join("kernels.elf");
        let mut compiler = Command::new("clang-22");
        compiler.args([
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "--target=amdgcn-amd-amdhsa",
            "-mcpu=gfx90a",
            "-nogpulib",
        ]);
        compiler.args(["-mcode-object-version=4", "-g", "-O1"]).arg(&source).arg("-o").arg(&object);
        let output = compiler.output().expect("running clang-22");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        object.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Compile the kernels and functions of `programs/NAME`, HIP for gfx90a, with a macro defined, to a code
    /// object beside the program; gives its path.
    pub(crate) fn module(&self, name: &str, defined: &str, file: &str) -> String {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime/programs").join(name);
        let [assembly, relocatable] =
            ["s", "o"].map(|extension| self.directory.path().join(file).with_extension(extension));
        let object = self.directory.path().join(file);
        let run = |program: &str, arguments: &[&OsStr]| {
            let output = Command::new(program).args(arguments).output().expect("running a tool");
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        };
        let words = "-x hip --cuda-device-only -S --offload-arch=gfx90a -nogpulib -nogpuinc -mcode-object-version=4 \
                     -D__HIP_PLATFORM_AMD__ -w -g -O1 -D";
        let compiles: Vec<&OsStr> = words.split_whitespace().chain([defined]).map(OsStr::new).collect();
        run("clang-22", &[&compiles[..], &[source.as_ref(), OsStr::new("-o"), assembly.as_ref()]].concat());
        // A kernel that calls what is not known may launch others. This runtime starts its scheduler for
        // those, and dies in it.
        let text = std::fs::read_to_string(&assembly).expect("assembly");
        let text = text.replace("hidden_default_queue", "hidden_none");
        std::fs::write(&assembly, text.replace("hidden_completion_action", "hidden_none")).expect("writing");
        let words = "--target=amdgcn-amd-amdhsa -mcpu=gfx90a -mcode-object-version=4 -c";
        let assembles: Vec<&OsStr> = words.split_whitespace().map(OsStr::new).collect();
        run(
            "clang-22",
            &[&assembles[..], &[assembly.as_ref(), OsStr::new("-o"), relocatable.as_ref()]].concat(),
        );
        run("ld.lld-22", &[OsStr::new("-shared"), relocatable.as_ref(), OsStr::new("-o"), object.as_ref()]);
        object.to_str().expect("a path in UTF-8").to_owned()
    }

    /// A HIP program for gfx90a.
    pub(crate) fn hip(name: &str) -> Self {
        Self::new(name, &["gfx90a"], &["-lamdhip64"])
    }

    /// Where it stands.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Start it.
    pub(crate) fn start(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Running {
        let stderr = self.directory.path().join("stderr");
        self.start_telling(arguments, variables, &stderr)
    }

    /// Start it with a file for its stderr.
    pub(crate) fn start_telling(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        stderr: &Path,
    ) -> Running {
        let path = |name: &str| self.directory.path().join(name);
        let mut command = Command::new(path("program"));
        // A test that is killed leaves no program behind: some never end. Each test waits for its programs,
        // in its thread. SAFETY: the closure does what may be done between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
                // What this process was started with is inherited: a shell's job in the background ignores
                // interrupts.
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        let child = command
            .args(arguments)
            // Nor with settings of the emulator, or of the runtime, that are somebody's.
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| {
                let name = name.to_string_lossy();
                !["AMDINST_", "HSA_", "HIP_", "ROCR_", "AMD_", "GPU_"]
                    .iter()
                    .any(|start| name.starts_with(start))
            }))
            .env(amdinst_hsakmt::FILES, path("gpu"))
            .env("LD_PRELOAD", &self.library)
            .env("HSA_TOOLS_LIB", &self.library)
            .env("HSA_DISABLE_FRAGMENT_ALLOCATOR", "1")
            .envs(variables.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
            .stdin(Stdio::null())
            .stdout(Stdio::from(std::fs::File::create(path("stdout")).expect("a file")))
            .stderr(Stdio::from(std::fs::File::create(stderr).expect("a file")))
            .spawn()
            .expect("starting the program");
        Running { child, stdout: path("stdout"), stderr: stderr.to_owned() }
    }

    /// Run it to its end.
    pub(crate) fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        self.start(arguments, variables).end()
    }
}

/// A program under way.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

impl Running {
    /// What it has printed so far.
    pub(crate) fn printed(&self) -> String {
        std::fs::read_to_string(&self.stdout).unwrap_or_default()
    }

    /// Wait for its end, which must come.
    pub(crate) fn end(mut self) -> Output {
        let start = Instant::now();
        let status: ExitStatus = loop {
            if let Some(status) = self.child.try_wait().expect("waiting") {
                break status;
            }
            assert!(start.elapsed() < LIMIT, "it did not end; so far: {}", self.printed());
            std::thread::sleep(Duration::from_millis(5));
        };
        // A device has nothing to read, or no end.
        let read =
            |path: &Path| if path.is_file() { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
        Output { status, stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

/// A test that fails leaves no program behind: some never end.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program printed, which must have ended well.
pub(crate) fn good(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    assert!(err.is_empty(), "{err}");
    out.into_owned()
}
