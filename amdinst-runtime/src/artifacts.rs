//! The built code objects of a kernel crate, found through its manifest.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::SystemTime;

use amdgpu_object::CodeObject;
use amdinst_core::analysis::early::Suspects;
use amdinst_core::instrument::{ProbeMap, check_pair};
use amdinst_core::manifest::{Artifact, Manifest, REFUSED_SECTION};
use amdinst_format::interface::{CounterChoice, Embedded, EmbeddedCodeObject, Settings};

use crate::artifact_error::{ArtifactError, broken};
use crate::built::{Built, InstrumentedForm, code_for};
use crate::{embedded, freshness, rebuild, source};

/// Builds that may end while the files of one are read.
const BUILDS_MEANWHILE: usize = 10;

/// Code objects that this process has read, by the original's path and the counter home.
static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

type Cache = HashMap<(PathBuf, CounterChoice), Arc<Built>>;

/// The code object of `package` for processor `cpu`, built anew if it is older than what it was built from.
/// `features` are those that the test's own copy of the package was compiled with, if that is known.
pub(crate) fn find(
    settings: &Settings,
    package: &str,
    cpu: &str,
    features: Option<&[String]>,
) -> Result<Arc<Built>, ArtifactError> {
    let counters = settings.counters;
    if let Some(embedded) = settings.embedded.iter().find(|embedded| embedded.package == package) {
        let object = embedded_object(embedded, cpu, settings.profile.as_deref())?;
        let key = (embedded::path(object, package), counters);
        return cached(key, || embedded::read(object, package, counters));
    }
    let (path, artifact) = artifact(settings, package, cpu)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let key = (directory.join(&artifact.original), counters);
    cached(key, || {
        let change = |artifact: &Artifact| {
            let origin = artifact.origin.as_ref().filter(|_| !settings.fresh);
            origin.and_then(|origin| freshness::change(origin, features))
        };
        let mut artifact = artifact;
        if let Some(what) = change(&artifact) {
            // Those that can be built may be there even if others cannot.
            let ended = rebuild::again(package, &artifact, features, counters, &what);
            (_, artifact) = self::artifact(settings, package, cpu)?;
            if let Some(what) = change(&artifact) {
                ended?;
                return Err(rebuild::stale(package, &artifact, features, &what, None));
            }
        } else if lacks(&artifact, counters) && !settings.fresh {
            let what = format!("none of them has counters in `{}` yet", counters.name());
            let ended = rebuild::again(package, &artifact, features, counters, &what);
            (_, artifact) = self::artifact(settings, package, cpu)?;
            if lacks(&artifact, counters) {
                ended?;
            }
        }
        let mut built = read(package, directory, &artifact, counters);
        // Another build may have put other files in their places: then there is another manifest.
        for _ in 0..BUILDS_MEANWHILE {
            if built.is_ok() {
                break;
            }
            let (_, now) = self::artifact(settings, package, cpu)?;
            if now == artifact {
                break;
            }
            artifact = now;
            built = read(package, directory, &artifact, counters);
        }
        let built = built?;
        // `cargo amdinst test`, which names the manifests, has told it.
        if settings.manifests.is_empty() {
            tell_without_code(&built.original);
        }
        Ok(Arc::new(built))
    })
}

/// Says on stderr which functions LLVM had no code for, as the link step left it in the code object.
fn tell_without_code(object: &CodeObject) {
    let lines = object.section_bytes(REFUSED_SECTION).unwrap_or_default();
    String::from_utf8_lossy(lines).lines().for_each(|line| eprintln!("error: {line}"));
}

/// Whether kernels that were instrumented have no form with these counters.
fn lacks(artifact: &Artifact, counters: CounterChoice) -> bool {
    let is_there = || artifact.instrumented(counters.home()).is_some();
    counters != CounterChoice::None && !artifact.instrumented.is_empty() && !is_there()
}

/// The manifest of `package`, and its entry for `cpu`.
fn artifact(settings: &Settings, package: &str, cpu: &str) -> Result<(PathBuf, Artifact), ArtifactError> {
    let (path, manifest) = manifest_of(settings, package)?;
    let wanted_profile = settings.profile.as_deref();
    let built = |cpu: &str| {
        let fits = |artifact: &&Artifact| {
            artifact.cpu == cpu && wanted_profile.is_none_or(|profile| artifact.profile == profile)
        };
        manifest.code_objects.iter().find(fits)
    };
    match code_for(cpu, built) {
        Some(artifact) => Ok((path, artifact.clone())),
        None => Err(ArtifactError::OtherTarget {
            package: package.to_owned(),
            cpu: cpu.to_owned(),
            profile: settings.profile.clone(),
            built: manifest
                .code_objects
                .iter()
                .map(|artifact| format!("{} (profile `{}`)", artifact.cpu, artifact.profile))
                .collect(),
        }),
    }
}

/// What this process has read before, or reads now.
fn cached(
    key: (PathBuf, CounterChoice),
    read: impl FnOnce() -> Result<Arc<Built>, ArtifactError>,
) -> Result<Arc<Built>, ArtifactError> {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = cache.get_or_insert_default();
    if let Some(built) = cache.get(&key) {
        return Ok(built.clone());
    }
    let built = read()?;
    cache.insert(key, built.clone());
    Ok(built)
}

/// The code object in this program that fits.
fn embedded_object<'a>(
    embedded: &'a Embedded,
    cpu: &str,
    profile: Option<&str>,
) -> Result<&'a EmbeddedCodeObject, ArtifactError> {
    let package = embedded.package.to_owned();
    if embedded.code_objects.is_empty() {
        return Err(ArtifactError::LeftOut { package });
    }
    embedded::code_object(embedded, cpu, profile).ok_or_else(|| {
        let built = embedded.code_objects.iter();
        let built = built.map(|object| format!("{} (profile `{}`)", object.cpu, object.profile)).collect();
        ArtifactError::OtherTarget {
            package,
            cpu: cpu.to_owned(),
            profile: profile.map(str::to_owned),
            built,
        }
    })
}

fn read(
    package: &str,
    directory: &Path,
    artifact: &Artifact,
    counters: CounterChoice,
) -> Result<Built, ArtifactError> {
    let original_path = directory.join(&artifact.original);
    if counters == CounterChoice::None {
        let original = code_object(&original_path)?;
        return Ok(Built::as_compiled(package, &artifact.profile, original, original_path));
    }
    let home = counters.home();
    let Some(form) = artifact.instrumented(home) else {
        let home = home.map_or("auto", |home| home.name());
        return Err(ArtifactError::NotInstrumented { package: package.to_owned(), home });
    };
    let instrumented = match &form.file {
        Some(file) => {
            let path = directory.join(file);
            Some(InstrumentedForm { object: code_object(&path)?, path })
        }
        None => None,
    };
    let original = code_object(&original_path)?;
    let map_path = directory.join(&form.probes);
    let file = std::fs::read(&map_path).map_err(|error| broken(&map_path, error))?;
    let mut probes = ProbeMap::from_json(&file).map_err(|error| broken(&map_path, error))?;
    let object = instrumented.as_ref().map(|form| &form.object);
    check_pair(&probes, &file, Some(&original.bytes), object).map_err(|error| broken(&map_path, error))?;
    source::place(&mut probes);
    Ok(Built {
        package: package.to_owned(),
        profile: artifact.profile.clone(),
        original,
        original_path,
        instrumented,
        probes,
        early: Suspects::default(),
    })
}

/// The processor to emulate where none is asked for: the first one in this program or the first manifest, if
/// there is one. A build lists its processors as the package does.
pub(crate) fn first_cpu(settings: &Settings) -> Option<String> {
    if settings.manifests.is_empty() {
        static RENEWED: Once = Once::new();
        RENEWED.call_once(|| renew_own(settings));
    }
    built_cpus(settings).into_iter().next()
}

/// Builds the kernels of this program's own package if none are built, or again if they are older than their
/// sources, of which `Cargo.toml` may name another processor by now. What fails is told by the launch, which
/// tries the same.
fn renew_own(settings: &Settings) {
    let Some(package) = &settings.package else { return };
    if settings.embedded.is_empty() && has_kernels() {
        // What is there may be of other packages.
        let _ = manifest_of(settings, package);
    }
    let own = manifests(settings).into_iter().filter_map(|path| manifest_at(&path).ok());
    for manifest in own.filter(|manifest| manifest.package == *package) {
        let changed = manifest
            .code_objects
            .iter()
            .find_map(|artifact| Some((artifact, freshness::change(artifact.origin.as_ref()?, None)?)));
        if let Some((artifact, what)) = changed {
            let _ = rebuild::again(package, artifact, None, settings.counters, &what);
        }
    }
}

/// Whether the package whose tests run has kernels of its own, as its manifest tells. Cargo starts tests in
/// its directory.
fn has_kernels() -> bool {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap_or_default();
    ["amdinst-device", "metadata.amdinst"].iter().any(|word| manifest.contains(word))
}

/// The processors that there are code objects for in this program and the manifests.
pub(crate) fn built_cpus(settings: &Settings) -> Vec<String> {
    let embedded = settings.embedded.iter().flat_map(|embedded| embedded.code_objects);
    let manifests = manifests(settings).into_iter().filter_map(|path| manifest_at(&path).ok());
    let cpus = |manifest: &Manifest| -> Vec<String> {
        manifest.code_objects.iter().map(|artifact| artifact.cpu.clone()).collect()
    };
    let artifacts = manifests.flat_map(|manifest| cpus(&manifest));
    embedded.map(|object| object.cpu.to_owned()).chain(artifacts).collect()
}

/// The manifests of what this program may launch: those that the settings name, else those in its target
/// directory, and of these the one of its own package alone, if there is one.
fn manifests(settings: &Settings) -> Vec<PathBuf> {
    if !settings.manifests.is_empty() {
        return settings.manifests.clone();
    }
    for directory in directories() {
        let in_package = |package: &str| Some(manifest_in(&directory, package)).filter(|path| path.is_file());
        if let Some(own) = settings.package.as_deref().and_then(in_package) {
            return vec![own];
        }
        let Ok(entries) = std::fs::read_dir(directory.join(ARTIFACTS)) else { continue };
        let packages = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<PathBuf> = packages.filter_map(|package| in_package(&package)).collect();
        // The order of a directory's entries is none.
        found.sort();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// The directory of all that is built, in a target directory.
const ARTIFACTS: &str = "amdinst";

/// Those that may be the target directory of the running program, which is target/<profile>/deps/<name>, or
/// one directory deeper with `--target`.
fn directories() -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().skip(1).take(5).map(Path::to_owned).collect()
}

/// Where the manifest of a package is in a target directory.
fn manifest_in(directory: &Path, package: &str) -> PathBuf {
    directory.join(ARTIFACTS).join(package).join("manifest.json")
}

/// The manifest of a package: of those that the settings name, else beside the running program in its target
/// directory.
fn manifest_of(settings: &Settings, package: &str) -> Result<(PathBuf, Arc<Manifest>), ArtifactError> {
    let found = manifest_there(settings, package);
    let may_build = settings.manifests.is_empty() && !settings.fresh;
    match found {
        Err(ArtifactError::NotBuilt { .. }) if may_build && is_first_time(package) => {
            let said = rebuild::first(package, settings);
            let found = manifest_there(settings, package);
            if let (Err(_), Some(said)) = (&found, said) {
                eprintln!("{said}");
            }
            found
        }
        found => found,
    }
}

/// Whether this process has not tried to build the kernels of a package that were never built.
fn is_first_time(package: &str) -> bool {
    static TRIED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    TRIED.lock().unwrap_or_else(PoisonError::into_inner).insert(package.to_owned())
}

/// The manifest of a package, if it is there.
fn manifest_there(settings: &Settings, package: &str) -> Result<(PathBuf, Arc<Manifest>), ArtifactError> {
    let mut tried = Vec::new();
    for path in &settings.manifests {
        let manifest = manifest_at(path)?;
        if manifest.package == package {
            return Ok((path.clone(), manifest));
        }
        tried.push(path.clone());
    }
    for directory in directories() {
        let path = manifest_in(&directory, package);
        if path.is_file() {
            let manifest = manifest_at(&path)?;
            return Ok((path, manifest));
        }
        if directory.file_name().is_some_and(|name| name == "target") {
            tried.push(path);
        }
    }
    Err(ArtifactError::NotBuilt { package: package.to_owned(), tried })
}

/// The manifest in a file. Each launch asks for it; it is read again when there is another file.
fn manifest_at(path: &Path) -> Result<Arc<Manifest>, ArtifactError> {
    static READ: Mutex<BTreeMap<PathBuf, (FileId, Arc<Manifest>)>> = Mutex::new(BTreeMap::new());
    let read = || READ.lock().unwrap_or_else(PoisonError::into_inner);
    let file = FileId::of(path).map_err(|error| broken(path, error))?;
    if let Some((_, manifest)) = read().get(path).filter(|(known, _)| *known == file) {
        return Ok(manifest.clone());
    }
    let manifest = Arc::new(parsed(path, |bytes| Manifest::from_json(&bytes))?);
    read().insert(path.to_owned(), (file, manifest.clone()));
    Ok(manifest)
}

/// What tells a file from the one that was in its place: builds put a new one there.
#[derive(Debug, PartialEq, Eq)]
struct FileId {
    size: u64,
    modified: SystemTime,
}

impl FileId {
    fn of(path: &Path) -> std::io::Result<Self> {
        let about = std::fs::metadata(path)?;
        Ok(Self { size: about.len(), modified: about.modified()? })
    }
}

fn code_object(path: &Path) -> Result<CodeObject, ArtifactError> {
    parsed(path, CodeObject::parse)
}

/// What `parse` makes of a file.
fn parsed<T, E: ToString>(
    path: &Path,
    parse: impl FnOnce(Vec<u8>) -> Result<T, E>,
) -> Result<T, ArtifactError> {
    let bytes = std::fs::read(path).map_err(|error| broken(path, error))?;
    parse(bytes).map_err(|error| broken(path, error))
}

#[cfg(test)]
mod tests {
    use amdinst_core::instrument::Counters;

    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_command_that_mends_it() {
        let error = find(&Settings::default(), "no-such-package", "gfx90a", None).unwrap_err().to_string();
        assert!(error.contains("`cargo amdinst build -p no-such-package`"), "{error}");

        let manifest = std::env::temp_dir().join(format!("amdinst-manifest-{}.json", std::process::id()));
        std::fs::write(&manifest, "{").unwrap();
        let settings = Settings { manifests: vec![manifest.clone()], ..Settings::default() };
        let error = find(&settings, "x", "gfx90a", None).unwrap_err().to_string();
        assert!(error.starts_with(&manifest.display().to_string()), "{error}");
        assert!(error.contains("it is no manifest of built kernels: EOF"), "{error}");
        std::fs::write(&manifest, r#"{"schema":7}"#).unwrap();
        let error = find(&settings, "x", "gfx90a", None).unwrap_err().to_string();
        assert!(error.contains("it has schema 7, and this version reads schema 1"), "{error}");

        let artifact = Artifact {
            cpu: "gfx906".to_owned(),
            profile: "release".to_owned(),
            original: "x.elf".to_owned(),
            kernels: Vec::new(),
            instrumented: Vec::new(),
            inputs: Vec::new(),
            origin: None,
        };
        let built = Manifest { schema: 1, package: "x".to_owned(), code_objects: vec![artifact] };
        std::fs::write(&manifest, serde_json::to_string(&built).unwrap()).unwrap();
        let error = find(&settings, "x", "gfx90a", None).unwrap_err().to_string();
        assert!(error.contains("built for gfx906 (profile `release`), not for gfx90a"), "{error}");
        assert!(error.contains("--target-cpu gfx90a") && error.contains("AMDINST_TARGET_CPU"), "{error}");
        assert_eq!(first_cpu(&settings).as_deref(), Some("gfx906"));
        let for_which =
            |built: &[&'static str], cpu| code_for(cpu, |cpu| built.iter().copied().find(|one| *one == cpu));
        assert_eq!(for_which(&["gfx11-generic"], "gfx1151"), Some("gfx11-generic"));
        assert_eq!(for_which(&["gfx11-generic", "gfx1151"], "gfx1151"), Some("gfx1151"));
        assert_eq!(for_which(&["gfx11-generic"], "gfx1201"), None);
        assert_eq!(for_which(&["gfx1151"], "gfx11-generic"), None);
        std::fs::remove_file(manifest).unwrap();
    }

    #[test]
    fn a_probe_map_of_another_version_or_of_other_code_is_refused_with_the_command_that_mends_it() {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../cargo-amdinst/tests/fixtures/branches.elf");
        let original = CodeObject::parse(std::fs::read(fixture).unwrap()).unwrap();
        let made = |counters| {
            let options = amdinst_core::instrument::Options { counters, ..Default::default() };
            let plan = amdinst_core::instrument::plan(&original, &options).unwrap();
            amdinst_core::instrument::apply(&original, plan).unwrap()
        };
        let (own, other) = (made(Counters::Global), made(Counters::Lds));
        let place = tempfile::tempdir().unwrap();
        let artifact = Artifact {
            cpu: "gfx90a".to_owned(),
            profile: "release".to_owned(),
            original: "k.elf".to_owned(),
            kernels: Vec::new(),
            instrumented: vec![amdinst_core::manifest::Instrumented {
                home: None,
                file: Some("k.inst.elf".to_owned()),
                probes: "k.probes.json".to_owned(),
            }],
            inputs: Vec::new(),
            origin: None,
        };
        let with = |first: &[u8], code: &[u8], map: &[u8]| {
            for (name, bytes) in [("k.elf", first), ("k.inst.elf", code), ("k.probes.json", map)] {
                std::fs::write(place.path().join(name), bytes).unwrap();
            }
            read("k", place.path(), &artifact, CounterChoice::Auto)
                .map(drop)
                .map_err(|error| error.to_string())
        };
        with(&original.bytes, &own.bytes, &own.map_file).unwrap();
        let map = place.path().join("k.probes.json").display().to_string();
        let wrong = [
            with(
                &original.bytes,
                &own.bytes,
                br#"{"schema":1,"target":"gfx90a","kernels":[],"addresses":{"runs":[]}}"#,
            ),
            with(&original.bytes, &own.bytes, &other.map_file),
            with(&original.bytes, &other.bytes, &own.map_file),
            with(&own.bytes, &own.bytes, &own.map_file),
            // A map that was changed, and still names its code object.
            with(
                &original.bytes,
                &own.bytes,
                &own.map_file.iter().map(|&byte| if byte == b'7' { b'8' } else { byte }).collect::<Vec<_>>(),
            ),
        ];
        let told = [
            "it has schema 1, and this version reads schema 3",
            "belongs to another instrumented code object",
            "belongs to another instrumented code object",
            "belongs to another original",
            "belongs to another",
        ];
        for (error, told) in wrong.into_iter().zip(told) {
            let error = error.unwrap_err();
            assert!(error.starts_with(&map) && error.contains(told), "{error}");
            assert!(error.contains("build the kernels again with `cargo amdinst build`"), "{error}");
        }
        // All hashes right but that of the map.
        let text = String::from_utf8(own.map_file.clone()).unwrap();
        let changed = text.replacen("\"why\":\"", "\"why\":\"not ", 1);
        assert_ne!(changed, text);
        let error = with(&original.bytes, &own.bytes, changed.as_bytes()).unwrap_err();
        assert!(error.contains("the instrumented code object belongs to another probe map"), "{error}");
    }

    #[test]
    fn what_is_embedded_wins_and_what_was_left_out_is_named() {
        static LEFT_OUT: Embedded = Embedded { package: "x", code_objects: &[] };
        const OBJECT: EmbeddedCodeObject =
            EmbeddedCodeObject { cpu: "gfx908", profile: "release", original: &[], instrumented: None };
        static THERE: Embedded = Embedded { package: "y", code_objects: &[OBJECT] };
        let settings = Settings { embedded: vec![&LEFT_OUT, &THERE], ..Settings::default() };
        let error = |package| find(&settings, package, "gfx90a", None).unwrap_err().to_string();
        assert!(error("x").contains("left out of this program (AMDINST_SKIP_BUILD)"), "{}", error("x"));
        assert!(
            error("y").contains("built for gfx908 (profile `release`), not for gfx90a"),
            "{}",
            error("y")
        );
        assert!(error("z").contains("are not built"), "{}", error("z"));
        assert_eq!(first_cpu(&settings).as_deref(), Some("gfx908"));
    }
}
