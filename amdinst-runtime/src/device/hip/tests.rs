//! What each user sees who has no ROCm, no GPU, another GPU, another HIP. The runtimes are built here; a
//! process of its own loads each, for a process loads one.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::error::DriverFile;
use super::{Gpu, HipError};
use amdinst_format::interface::{DeviceChoice, LaunchFailure, Settings};

use crate::device::Device;

/// Says in the process of its own what is to be done there.
const CHILD: &str = "AMDINST_TEST_HIP";
/// Comes before what the process of its own has to say.
const MARK: &str = "child: ";

const ADVICE: &str =
    "run on the emulator (`--device emu`), or give HIP an emulated GPU (`cargo amdinst exec -- COMMAND`)";

fn settings() -> Settings {
    Settings { device: DeviceChoice::Hip, target_cpu: Some("gfx90a".to_owned()), ..Settings::default() }
}

/// Makes a HIP runtime with these definitions, under a name of the library's.
fn stub(directory: &TempDir, name: &str, definitions: &[&str]) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../hip-sys/tests/stub/runtime.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", source, "-o"]).arg(directory.path().join(name));
    compiler.args(definitions.iter().map(|definition| format!("-D{definition}")));
    let output = compiler.output().expect("running the C compiler `cc`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What [`child`] says in a process that finds the runtimes in `directory` first.
fn says(directory: &TempDir, what: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "device::hip::tests::child", "--ignored", "--nocapture"]);
    command.env("LD_LIBRARY_PATH", directory.path()).env(CHILD, what);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let (_, said) = text.split_once(MARK).unwrap_or_else(|| panic!("{output:?}"));
    said.split("\nend\n").next().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "the others run it in a process of its own"]
fn child() {
    let gpu = Gpu::open(&settings());
    let said = match (std::env::var(CHILD).as_deref(), gpu) {
        (_, Err(error)) => error.to_string(),
        (Ok("load"), Ok(gpu)) => {
            // All that the stub looks at: an ELF file of code object version 6.
            let bytes = [0x7f, b'E', b'L', b'F', 2, 1, 1, 64, 4];
            match gpu.function(Path::new("kernels.elf"), &bytes, "k") {
                Err(error @ LaunchFailure::Load { .. }) => error.to_string(),
                other => format!("{other:?}"),
            }
        }
        (Ok("copy"), Ok(gpu)) => {
            let device = Device::Hip(gpu.into());
            let address = device.allocate(3, "numbers").unwrap();
            device.write(address, &[1, 2, 3]).unwrap();
            let mut bytes = [0; 3];
            device.read(address, &mut bytes).unwrap();
            device.free(address);
            format!("{}: {bytes:?}", device.name())
        }
        (_, Ok(gpu)) => format!("{gpu:?}"),
    };
    println!("{MARK}{said}\nend");
}

#[test]
fn the_newest_runtime_is_taken_and_its_gpu_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let say = |name, definitions: &[&str]| {
        stub(&directory, name, definitions);
        says(&directory, "copy")
    };
    let old = r#"OLD="gfx90a:sramecc+:xnack-""#;
    let five = say("libamdhip64.so.5", &["VERSION=50221153", old]);
    assert_eq!(five, "AMD GPU 0 (gfx90a:sramecc+:xnack-): [1, 2, 3]");
    // The old function is still there, and describes another GPU here.
    let other = r#"OLD="gfx803""#;
    let six = say("libamdhip64.so.6", &["VERSION=60032830", other, r#"NEW="gfx90a:sramecc-:xnack-""#]);
    assert_eq!(six, "AMD GPU 0 (gfx90a:sramecc-:xnack-): [1, 2, 3]");
    let seven = say("libamdhip64.so.7", &["VERSION=70051831", other, r#"NEW="gfx90a:sramecc+:xnack+""#]);
    assert_eq!(seven, "AMD GPU 0 (gfx90a:sramecc+:xnack+): [1, 2, 3]");
}

#[test]
fn no_rocm() {
    let directory = tempfile::tempdir().unwrap();
    // Where ROCm is installed too: what is found first is no library.
    let mut tried = String::new();
    for name in hip_sys::LIBRARY_NAMES {
        let path = directory.path().join(name);
        std::fs::write(&path, "").unwrap();
        tried += &format!("\n  {name}: {}: file too short", path.display());
    }
    assert_eq!(
        says(&directory, "open"),
        format!(
            "there is no HIP runtime here: the HIP runtime's library could not be loaded; tried{tried}\n  install ROCm (Debian: \
             `apt-get install libamdhip64-5`) or add its directory to LD_LIBRARY_PATH, or run on the emulator (`--device emu`)"
        )
    );
}

#[test]
fn no_gpu() {
    let directory = tempfile::tempdir().unwrap();
    stub(&directory, "libamdhip64.so.7", &["VERSION=60443483", "DEVICES=0", r#"NEW="""#]);
    assert_eq!(
        says(&directory, "open"),
        format!(
            "the HIP runtime (libamdhip64.so.7, HIP 6.4.43483) is here and finds no GPU: hipInit says 100 hipErrorNoDevice (no \
             ROCm-capable device is detected)\n  {}\n  {ADVICE}",
            DriverFile::look()
        )
    );
}

/// Debian's runtime, where there is no GPU.
#[test]
fn no_gpu_for_the_real_runtime() {
    if Path::new("/dev/kfd").exists() || !Path::new("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5").exists() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(
        says(&directory, "open"),
        format!(
            "the HIP runtime (libamdhip64.so.5, HIP 5.2.21153) is here and finds no GPU: hipInit says 101 hipErrorInvalidDevice\n  \
             there is no /dev/kfd: no AMD GPU is in this machine, or its driver, amdgpu, is not loaded\n  {ADVICE}"
        )
    );
}

#[test]
fn another_gpu_than_the_kernels() {
    let directory = tempfile::tempdir().unwrap();
    let two = ["VERSION=70051831", "DEVICES=2", r#"NEW="gfx942:sramecc+:xnack-""#];
    stub(&directory, "libamdhip64.so.7", &two);
    assert_eq!(
        says(&directory, "open"),
        "no GPU here runs these kernels: there is gfx942:sramecc+:xnack-, gfx942:sramecc+:xnack-, and they are built for gfx90a\n  \
         run `cargo amdinst test --target-cpu gfx942`, or on the emulator (`--device emu`)"
    );
}

#[test]
fn a_runtime_older_than_the_code_object() {
    let directory = tempfile::tempdir().unwrap();
    let gpu = r#"OLD="gfx90a:sramecc+:xnack-""#;
    stub(&directory, "libamdhip64.so.5", &["VERSION=50221153", "NEWEST=4", gpu]);
    assert_eq!(
        says(&directory, "load"),
        "kernels.elf cannot be loaded: hipModuleLoadData failed: 209 hipErrorNoBinaryForGpu on gfx90a:sramecc+:xnack-\n  it is a \
         code object of version 6, and libamdhip64.so.5, HIP 5.2.21153 reads versions up to 4: run `cargo amdinst test \
         --code-object-version 4`"
    );
    let gpu = r#"NEW="gfx90a:sramecc+:xnack-""#;
    stub(&directory, "libamdhip64.so.6", &["VERSION=60241132", "NEWEST=5", gpu]);
    assert_eq!(
        says(&directory, "load"),
        "kernels.elf cannot be loaded: hipModuleLoadData failed: 209 hipErrorNoBinaryForGpu on gfx90a:sramecc+:xnack-\n  it is a \
         code object of version 6, and libamdhip64.so.6, HIP 6.2.41132 reads versions up to 5: run `cargo amdinst test \
         --code-object-version 5`"
    );
    stub(&directory, "libamdhip64.so.6", &["NEWEST=5", gpu]);
    assert_eq!(
        says(&directory, "load"),
        "kernels.elf cannot be loaded: hipModuleLoadData failed: 209 hipErrorNoBinaryForGpu on gfx90a:sramecc+:xnack-\n  it is a \
         code object of version 6; libamdhip64.so.6 may be older"
    );
}

#[test]
fn a_runtime_whose_functions_are_not_those_of_its_version() {
    let directory = tempfile::tempdir().unwrap();
    stub(&directory, "libamdhip64.so.6", &["VERSION=60443483", r#"OLD="gfx90a""#]);
    assert_eq!(
        says(&directory, "open"),
        "the HIP runtime (libamdhip64.so.6, HIP 6.4.43483) describes its GPUs in a way that this program does not know: HIP 5 \
         does so by hipGetDeviceProperties alone, HIP 6 and later by hipGetDevicePropertiesR0600"
    );
}

#[test]
fn the_drivers_file_tells_what_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(DriverFile::look_at(&directory.path().join("kfd")), DriverFile::Missing);
    std::fs::write(directory.path().join("kfd"), "").unwrap();
    assert_eq!(DriverFile::look_at(&directory.path().join("kfd")), DriverFile::Open);
}

#[test]
fn auto_says_which_device_was_taken_and_hip_fails_with_a_reason() {
    let cpu = || Some("gfx906".to_owned());
    let settings = |device| Settings { device, target_cpu: cpu(), ..Settings::default() };
    match Device::open(&settings(DeviceChoice::Hip)) {
        Ok((device, _)) => assert!(!device.is_emulator()),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("--device emu"), "{message}");
            let (device, why) = Device::open(&settings(DeviceChoice::Auto)).unwrap();
            assert!(device.is_emulator());
            assert!(why.starts_with("the emulator (gfx906): "), "{why}");
        }
    }
}

#[test]
fn a_number_that_no_gpu_has() {
    let error = HipError::NoSuchGpu { number: 3, devices: vec!["gfx90a".to_owned(), "gfx908".to_owned()] };
    assert_eq!(error.to_string(), "AMDINST_GPU=3: the HIP runtime finds 2 GPUs, numbers 0 to 1");
}
