//! `cargo amdinst exec`: what a user sees whose ROCm is not one that the emulator can stand under, and how
//! the program ends.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Compiles a few lines of C.
fn compile(directory: &TempDir, name: &str, source: &str, arguments: &[&str]) {
    let file = directory.path().join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg(&file).arg("-o").arg(directory.path().join(name)).args(arguments);
    let output = compiler.output().expect("running the C compiler `cc`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A directory with a runtime of this source, and a program that is linked with it and prints `ran`.
fn program(runtime: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libhsa-runtime64.so.1"];
    compile(&directory, "libhsa-runtime64.so.1", runtime, &shared);
    let library = directory.path().join("libhsa-runtime64.so.1");
    let linked = ["-Wl,--no-as-needed", library.to_str().unwrap(), "-Wl,--allow-shlib-undefined"];
    let source = "#include <stdio.h>\nint hsa_init(void);\nint main(void) { puts(\"ran\"); return 0 * (int)(long)hsa_init; }";
    compile(&directory, "program", source, &linked);
    directory
}

fn exec(directory: &Path, program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.args(["amdinst", "exec", "--"]).args(program).env("LD_LIBRARY_PATH", directory);
    command.env("CARGO_TERM_COLOR", "never").output().unwrap()
}

const HELP: &str = "help: install ROCm's runtime: `apt-get install libamdhip64-5` (Debian 12 and 13) or `libamdhip64-6` (newer), \
                    or AMD's packages. Kernels written in Rust need no ROCm: `cargo amdinst test --device emu`\n";
const NEWER: &str = "help: ROCm 6.1 (Debian 13) knows gfx942 and gfx1100, ROCm 6.4 gfx1201 as well; ROCm 5.2 (Debian 12) knows \
                     gfx900 to gfx90a, gfx1010 and gfx1030\n";

/// The code for what this version cannot do.
const UNSUPPORTED: i32 = 8;

#[test]
fn a_runtime_that_does_not_know_the_processor_is_refused() {
    let directory =
        program("const char *hsa_init(void) { return \"amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-\"; }");
    let path = directory.path();
    let name = path.join("program");
    let output = exec(path, &[name.to_str().unwrap()]);
    let why = format!("{} does not know gfx90a\n", path.join("libhsa-runtime64.so.1").display());
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("error: {why}{NEWER}"));
    assert_eq!(output.status.code(), Some(UNSUPPORTED));
    assert!(output.stdout.is_empty(), "it was not started");

    // A script's own programs may find another one: it runs.
    let output = exec(path, &["/bin/sh", "-c", "echo ran"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("warning: {why}{NEWER}"));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
}

/// Whether the driver's library is a part of it or not.
#[test]
fn a_runtime_that_fits_runs_without_a_word() {
    for source in [
        "const char *hsa_init(void) { return \"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-\"; }",
        "int hsaKmtOpenKFD(void) { return 0; }\nint hsa_init(void) { return hsaKmtOpenKFD(); }",
    ] {
        let directory = program(source);
        let name = directory.path().join("program");
        let output = exec(directory.path(), &[name.to_str().unwrap()]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ran\n");
    }
}

/// What every program sees, whatever language it is written in.
#[test]
fn the_drivers_files_are_there() {
    let directory = program("int hsa_init(void) { return 0; }");
    let source = r#"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
int main(void) {
    struct stat about;
    char line[99] = "";
    unsigned version[2] = {0, 0};
    FILE *modules = fopen("/proc/modules", "r");
    DIR *nodes = opendir("/sys/class/kfd/kfd/topology/nodes");
    int entries = 0, kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC), render = open("/dev/dri/renderD128", O_RDWR);
    while (readdir(nodes)) ++entries;
    printf("%d nodes, modules: %.6s\n", entries - 2, fgets(line, sizeof line, modules));
    printf("ioctl: %d", ioctl(dup(kfd), 0x80084b01, version));
    printf(", version %u.%u\n", version[0], version[1]);
    printf("another: %d", ioctl(kfd, 0x80084bff, version));
    printf(", %s\n", strerror(errno));
    fstat(render, &about);
    printf("%s %u:%u\n", S_ISCHR(about.st_mode) ? "device" : "file", major(about.st_rdev), minor(about.st_rdev));
    printf("%d %d\n", stat("/dev/kfd", &about), access("/dev/dri/renderD129", R_OK));
    printf("%d %s\n", open("/dev/null", O_RDONLY) > 0, stat("/dev/null", &about) ? "gone" : "there");
    return 0;
}
"#;
    compile(&directory, "looks", source, &[]);
    let output = exec(directory.path(), &[directory.path().join("looks").to_str().unwrap()]);
    let printed = "2 nodes, modules: amdgpu\nioctl: 0, version 1.14\nanother: -1, Inappropriate ioctl for device\n\
                   device 226:128\n0 -1\n1 there\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{output:?}");
}

#[test]
fn a_static_program_is_warned_of() {
    let directory = program("int hsa_init(void) { return 0; }");
    compile(&directory, "static", "int main(void) { return 0; }", &["-static"]);
    let name = directory.path().join("static");
    let output = exec(directory.path(), &[name.to_str().unwrap()]);
    let told = format!("warning: {} is a static program, which finds no emulated GPU\n", name.display());
    assert_eq!(String::from_utf8_lossy(&output.stderr), told);
    assert!(output.status.success());
}

/// A program for HIP 6, where that is not.
#[test]
fn a_program_for_another_hip_is_told_so() {
    let directory = tempfile::tempdir().unwrap();
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.96"];
    compile(&directory, "libamdhip64.so.96", "int hipInit(unsigned flags) { return flags; }", &shared);
    let library = directory.path().join("libamdhip64.so.96");
    let source = "int hipInit(unsigned);\nint main(void) { return hipInit(0); }";
    compile(&directory, "program", source, &[library.to_str().unwrap()]);
    let name = directory.path().join("program");
    let run = || exec(directory.path(), &[name.to_str().unwrap()]);
    assert!(run().status.success(), "while it is there: {:?}", run());

    std::fs::remove_file(library).unwrap();
    let output = run();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("error: the program is linked with libamdhip64.so.96, which is not here\n{HELP}")
    );
    assert_eq!(output.status.code(), Some(UNSUPPORTED));
}

/// The command itself becomes the program: to kill the one is to kill the other.
#[test]
fn nothing_stands_between_the_program_and_who_starts_it() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.args(["amdinst", "exec", "--", "/bin/sh", "-c", "echo $$; kill -9 $$"]).stdout(Stdio::piped());
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let process = child.id();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{process}\n"));
    assert_eq!(output.status.signal(), Some(9));
}

/// A process that is killed when this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a process has ended, be it that nobody has asked how yet.
fn has_ended(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

fn ends_within(process: &str, limit: Duration) -> bool {
    let begin = Instant::now();
    while !has_ended(process) && begin.elapsed() < limit {
        std::thread::sleep(Duration::from_millis(5));
    }
    has_ended(process)
}

#[test]
fn the_program_dies_with_its_parent_if_that_is_asked_for() {
    // The shell is the parent, and waits.
    let started = |option: &str| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", r#""$0" amdinst exec $1 -- /bin/sh -c 'echo $$; exec sleep 600' & wait"#]);
        shell.args([env!("CARGO_BIN_EXE_cargo-amdinst"), option]);
        let mut shell = Killed(shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let mut line = String::new();
        let stdout = shell.0.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        (shell, line.trim().to_owned())
    };
    let (shell, process) = started("--die-with-parent");
    assert!(!ends_within(&process, Duration::from_millis(300)), "it runs while its parent does");
    drop(shell);
    assert!(ends_within(&process, Duration::from_secs(30)), "{process} is still there");

    // Otherwise it lives on, as programs do.
    let (shell, process) = started("--target-cpu=gfx90a");
    drop(shell);
    assert!(!ends_within(&process, Duration::from_millis(300)), "it has ended");
    assert!(Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
    assert!(ends_within(&process, Duration::from_secs(30)), "{process} is still there");
}

/// `cargo amdinst test` sets `AMDINST_TARGET_CPU` for its tests: a GPU that was asked for must not change by
/// that.
#[test]
fn only_a_processor_that_was_asked_for_is_fixed() {
    let directory = tempfile::tempdir().unwrap();
    for (option, printed) in [(Some("--target-cpu=gfx908"), "gfx908 gfx908\n"), (None, "gfx90a none\n")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
        command.args(["amdinst", "exec"]).args(option).args(["--", "/bin/sh", "-c"]);
        command
            .arg("echo $AMDINST_TARGET_CPU ${AMDINST_EMULATED_CPU-none}")
            .env_remove("AMDINST_EMULATED_CPU")
            .env_remove("AMDINST_TARGET_CPU");
        let output = command.current_dir(directory.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{output:?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_told_before_anything_is_built() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
    command.args(["amdinst", "exec", "--", "/nonexistent/program"]).env("CARGO_TERM_COLOR", "never");
    let output = command.env("AMDINST_HSAKMT", "/nonexistent/library").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: /nonexistent/program cannot be started: "), "{said}");
}
