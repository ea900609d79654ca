//! A test run, kept: what each launch of each test reported, with what a reader of the reports needs of the
//! code objects.
//!
//! `cargo amdinst test` writes one document a package, [`FILE_NAME`] beside the package's manifest, and
//! `cargo amdinst report` reads it. It is sorted by program, processor and test, so that threads and machines
//! do not show in it.
//!
//! Each process of a test program writes a [`Line`] per test to a file of its own in the directory
//! `AMDINST_RUN`. So a program that is killed leaves the tests that ended before. `cargo amdinst test` puts
//! the lines together with what the probe maps say of the kernels and a hash of each source file, and writes
//! the document in one step.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::why::ValueOrigin;
use super::{Location, MemoryUse, Modelled, Report, WaveId};
use crate::probes::{Cost, FileLines, KernelProbes, SiteFrame};
use crate::schema;

/// The version of the document's JSON.
pub const SCHEMA: u32 = 1;

/// The document's name, in `target/amdinst/<package>`.
pub const FILE_NAME: &str = "last-run.json";

/// One run of a package's kernel tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The cargo package.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub package: String,
    /// The cargo profile that its kernels were built with.
    pub profile: String,
    /// What chose its tests, if not all were run: the words of the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen_by: Vec<String>,
    /// Test programs by name and processor.
    pub programs: Vec<Program>,
    /// The kernels that were launched, by name and processor.
    pub kernels: Vec<KernelFacts>,
    /// Kernels of the package that no test launched, by name and processor, if blocks were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlaunched: Vec<UnlaunchedKernel>,
    /// The source files of their sites and probes that could be read, by name.
    pub sources: Vec<SourceStamp>,
}

/// One test program on one processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Its name, without cargo's hash.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// The processor whose code objects it launched.
    pub cpu: String,
    /// The program came to its end. A program that was killed has only the tests that ended before.
    pub finished: bool,
    /// Its tests, by name.
    pub tests: Vec<Test>,
}

/// One test. `R` is a launch's report, or its text for a writer who need not know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Test<R = Report> {
    /// Its name, as libtest writes it.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// How it ended.
    pub ending: Ending,
    /// The message of a failure, the reason why it was ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The reports of its launches, in the order of launch.
    pub launches: Vec<R>,
    /// Its launches that ended in a fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultReport>,
    /// What may be mistakes of its kernels: races, unless both accesses are atomic, of which nothing tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<FaultReport>,
    /// The checks made in some workgroups only, in the order of launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<Sampled>,
    /// How long its launches take, if that was modeled, in the order of launch.
    #[serde(rename = "modeled", alias = "modelled", default, skip_serializing_if = "Vec::is_empty")]
    pub modelled: Vec<Modelled>,
    /// The memory accesses of its launches, if they were measured, in the order of launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<MemoryUse>,
}

/// A launch too long to be looked through: something was looked for in some of its workgroups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The kernel.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub kernel: String,
    /// The check: `races` or `uninitialized`.
    pub check: String,
    /// In how many workgroups. Of races, those alone that may have any are looked at.
    pub workgroups: u64,
    /// Of how many.
    pub of: u64,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Well.
    Passed,
    /// With a message.
    Failed,
    /// The test was not run.
    Ignored,
}

/// A launch that a kernel's mistake ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReport {
    /// The kernel.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub kernel: String,
    /// What kind of mistake, a stable word (`out-of-bounds`).
    pub kind: String,
    /// What happened, in a sentence.
    pub message: String,
    /// What a panic said, as far as it can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panic: Option<String>,
    /// The place to look at: the nearest of the user's.
    #[serde(flatten)]
    pub location: Location,
    /// Where the instruction stands in the source, and the calls that led there, inlined or not: innermost
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<SiteFrame>,
    /// Address of the instruction in the original code object.
    pub pc: Option<u64>,
    /// Its address in the code object that ran, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed_pc: Option<u64>,
    /// The instruction, as LLVM writes it.
    pub instruction: String,
    /// Workgroup, and the wave's number in it.
    #[serde(flatten)]
    pub wave: WaveId,
    /// The lane, where one lane is at fault.
    pub lane: Option<u8>,
    /// The earlier instruction that a race is with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierReport>,
    /// Where each wave of the workgroup is, in order, if the launch would not end or a barrier is at fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<WaveStand>,
    /// What mends it, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// The lines that led there, where that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<ValueOrigin>,
}

/// Where a wave is when its workgroup cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveStand {
    /// Its number in the workgroup.
    pub wave: u32,
    /// `runs`, `at-barrier`, `at-sync`, `halted` or `ended`.
    pub stand: String,
    /// The nearest line of the user's.
    #[serde(flatten)]
    pub location: Location,
    /// The active lanes, a bit each.
    pub exec: u64,
}

/// An instruction that was executed before a fault, and is part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierReport {
    /// The place to look at: the nearest of the user's.
    #[serde(flatten)]
    pub location: Location,
    /// Where the instruction stands in the source, and the calls that led there, inlined or not: innermost
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<SiteFrame>,
    /// Its address in the original code object.
    pub pc: Option<u64>,
    /// The instruction, as LLVM writes it.
    pub instruction: String,
}

impl FaultReport {
    /// Whether people know both as one mistake: of one kind, at the same lines, whichever access came first.
    /// Of one line the compiler makes several instructions.
    pub fn is_of_the_lines_of(&self, other: &Self) -> bool {
        let same = (&self.kernel, &self.kind) == (&other.kernel, &other.kind);
        same && match (self.lines(), other.lines()) {
            (Some(one), Some(another)) => one == another,
            _ => self.instructions() == other.instructions(),
        }
    }

    /// The lines of its instruction and the earlier one, in order. `None` without a source.
    fn lines(&self) -> Option<[(&str, u32); 2]> {
        let own = (self.location.file.as_deref()?, self.location.line?);
        let earlier = match &self.earlier {
            Some(earlier) => (earlier.location.file.as_deref()?, earlier.location.line?),
            None => own,
        };
        Some([own.min(earlier), own.max(earlier)])
    }

    /// The addresses of both instructions.
    pub fn instructions(&self) -> (Option<u64>, Option<Option<u64>>) {
        (self.pc, self.earlier.as_ref().map(|earlier| earlier.pc))
    }
}

/// That a mistake was found again, by other instructions of the same lines.
pub fn told_again(times: usize) -> Option<String> {
    match times {
        0 => None,
        1 => Some("the same in 1 other pair of instructions of these lines".to_owned()),
        times => Some(format!("the same in {times} other pairs of instructions of these lines")),
    }
}

/// What a kernel is, apart from its launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// Its name.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// The processor that it was built for.
    pub cpu: String,
    /// Its code object: the path from the package's directory of artifacts.
    pub code_object: String,
    /// [`content_hash`] of that file at the time of the run.
    pub code_object_hash: String,
    /// Registers, LDS, scratch and occupancy without and with probes; the same twice for a kernel that was
    /// not instrumented.
    pub cost: Option<Cost>,
    /// Work-items of the launched workgroups that the occupancy holds for: of those of which the fewest waves
    /// fit. None if it is that of the largest workgroup that the kernel takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workgroup: Option<u32>,
    /// Bytes of LDS that are private arrays which LLVM moved there, for the largest workgroup that the kernel
    /// takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_lds: Option<MovedLds>,
    /// Its sites, in the order of the probe map.
    pub sites: Vec<SiteFacts>,
}

/// Private arrays that LLVM moved to LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedLds {
    /// Bytes a workgroup.
    pub bytes: u32,
    /// Work-items of the workgroup that they are for: the largest that the kernel takes.
    pub workgroup: u32,
}

/// A kernel that no test launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnlaunchedKernel {
    /// Its name.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// The processor that it was built for.
    pub cpu: String,
    /// The source lines of its blocks, none of which ran.
    pub lines: Vec<FileLines>,
}

/// What a site is, apart from its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFacts {
    /// Address of the narrowing instruction in the original code object.
    pub pc: u64,
    /// The site's instruction, as LLVM writes it.
    pub instruction: String,
    /// Source location, innermost inlined function first.
    pub frames: Vec<SiteFrame>,
    /// Loops around it, within its function.
    pub loop_depth: u32,
}

/// A source file as it was at the time of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceStamp {
    /// Its path, from the workspace's directory if it is in there.
    pub file: String,
    /// [`content_hash`] of its bytes.
    pub hash: String,
}

impl KernelFacts {
    /// The facts about a kernel in the probe map.
    pub fn new(probes: &KernelProbes, cpu: &str, code_object: &str, code_object_hash: &str) -> Self {
        let site = |site: &crate::probes::Site| SiteFacts {
            pc: site.pc,
            instruction: (*site.instruction).to_owned(),
            frames: probes.frames(site.place),
            loop_depth: site.loop_depth,
        };
        Self {
            name: probes.name.clone(),
            cpu: cpu.to_owned(),
            code_object: code_object.to_owned(),
            code_object_hash: code_object_hash.to_owned(),
            cost: probes.is_instrumented().then(|| probes.cost.clone()),
            workgroup: None,
            moved_lds: None,
            sites: probes.sites.iter().map(site).collect(),
        }
    }
}

/// A document that cannot be read as a [`Run`].
#[derive(Debug, Error)]
pub enum RunError {
    /// The document has another version of the schema.
    #[error("it has schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// The document's.
        found: u32,
    },
    /// The document is damaged, or is no saved run.
    #[error("it is not what `cargo amdinst test` writes")]
    Damaged(#[from] serde_json::Error),
}

impl Run {
    /// Reads a document.
    ///
    /// # Errors
    /// Another version, or no such document.
    // Inlined, so that its code is made in crates that call it: test programs do not, and are built more
    // often.
    #[inline]
    pub fn from_json(bytes: &[u8]) -> Result<Self, RunError> {
        schema::read(bytes, SCHEMA)?.map_err(|found| RunError::Schema { found })
    }

    /// Every test, with its program.
    pub fn tests(&self) -> impl Iterator<Item = (&Program, &Test)> {
        self.programs.iter().flat_map(|program| program.tests.iter().map(move |test| (program, test)))
    }

    /// Puts programs, tests, kernels and sources in order, and the tests of a program that ran in several
    /// processes (as nextest does) together.
    pub fn sort(&mut self) {
        self.programs.sort_by(|a, b| (&a.name, &a.cpu).cmp(&(&b.name, &b.cpu)));
        let mut programs: Vec<Program> = Vec::new();
        for program in std::mem::take(&mut self.programs) {
            match programs.last_mut() {
                Some(last) if (&last.name, &last.cpu) == (&program.name, &program.cpu) => {
                    last.tests.extend(program.tests);
                    last.finished &= program.finished;
                }
                _ => programs.push(program),
            }
        }
        for program in &mut programs {
            program.tests.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self.programs = programs;
        self.kernels.sort_by(|a, b| (&a.name, &a.cpu).cmp(&(&b.name, &b.cpu)));
        self.unlaunched.sort_by(|a, b| (&a.name, &a.cpu).cmp(&(&b.name, &b.cpu)));
        self.sources.sort_by(|a, b| a.file.cmp(&b.file));
    }
}

/// A line of what a test program writes while it runs, to a file in the directory that `AMDINST_RUN` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line<R = Report> {
    /// The first line.
    Program {
        /// [`SCHEMA`].
        schema: u32,
        /// The program's name, without cargo's hash.
        name: String,
    },
    /// A test that ended.
    Test(Box<Test<R>>),
    /// The last line.
    End,
}

impl Program {
    /// Reads what a program wrote for `cpu`. What follows a line that is not whole is lost with its writer.
    // Inlined, so that its code is made in crates that call it: test programs do not, and are built more
    // often.
    #[inline]
    pub fn from_lines(text: &str, cpu: &str) -> Option<Self> {
        let mut lines = text.lines().map_while(|line| serde_json::from_str(line).ok());
        let Some(Line::Program { schema: SCHEMA, name }) = lines.next() else { return None };
        let mut program = Self { name, cpu: cpu.to_owned(), finished: false, tests: Vec::new() };
        for line in lines {
            match line {
                Line::Test(test) => program.tests.push(*test),
                Line::End => program.finished = true,
                Line::Program { .. } => {}
            }
        }
        Some(program)
    }
}

/// FNV-1a of 64 bits. Not for what somebody may have forged.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Tells one content of a file from another: [`fnv1a`], with its name.
pub fn content_hash(bytes: &[u8]) -> String {
    format!("fnv1a:{:016x}", fnv1a(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str) -> Test {
        Test {
            name: name.to_owned(),
            ending: Ending::Passed,
            message: None,
            launches: Vec::new(),
            faults: Vec::new(),
            doubts: Vec::new(),
            sampled: Vec::new(),
            modelled: Vec::new(),
            memory: Vec::new(),
        }
    }

    #[test]
    fn the_published_values_of_the_hash() {
        // Fowler, Noll, Vo: the 64-bit test vectors for "" and "foobar".
        assert_eq!(content_hash(b""), "fnv1a:cbf29ce484222325");
        assert_eq!(content_hash(b"foobar"), "fnv1a:85944171f73967e8");
    }

    #[test]
    fn a_program_that_was_killed_keeps_the_tests_that_ended() {
        let line = |line: &Line| serde_json::to_string(line).unwrap();
        let begin = Line::Program { schema: SCHEMA, name: "kernels".to_owned() };
        let whole = [line(&begin), line(&Line::Test(Box::new(test("a")))), line(&Line::End)].join("\n");
        let program = Program::from_lines(&whole, "gfx90a").unwrap();
        assert_eq!((program.tests.len(), program.finished), (1, true));

        let cut = &whole[..whole.len() - 3];
        let program = Program::from_lines(cut, "gfx90a").unwrap();
        assert_eq!((program.tests.len(), program.finished), (1, false));
        assert_eq!(Program::from_lines("", "gfx90a"), None);
        assert_eq!(Program::from_lines("\"end\"", "gfx90a"), None);
    }

    #[test]
    fn processes_of_one_program_are_put_together_in_any_order() {
        let program = |name: &str, tests: &[&str], finished| Program {
            name: name.to_owned(),
            cpu: "gfx90a".to_owned(),
            finished,
            tests: tests.iter().copied().map(test).collect(),
        };
        let mut run = Run {
            programs: vec![
                program("z", &["b"], true),
                program("a", &["x"], true),
                program("z", &["a"], false),
            ],
            ..Run::default()
        };
        run.sort();
        let names: Vec<_> =
            run.tests().map(|(program, test)| (program.name.as_str(), test.name.as_str())).collect();
        assert_eq!(names, [("a", "x"), ("z", "a"), ("z", "b")]);
        assert!(!run.programs[1].finished);
    }

    #[test]
    fn other_versions_and_damage_are_named() {
        let run = Run { schema: SCHEMA, package: "p".to_owned(), ..Run::default() };
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(Run::from_json(text.as_bytes()).unwrap(), run);
        let error = Run::from_json(br#"{"schema":7}"#).unwrap_err().to_string();
        assert_eq!(error, "it has schema 7, and this version reads schema 1");
        for damaged in [&text[..text.len() - 1], "", "[]", "{\"schema\":1}"] {
            let error = Run::from_json(damaged.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), "it is not what `cargo amdinst test` writes");
            assert!(std::error::Error::source(&error).is_some());
        }
    }

    #[test]
    fn faults_of_the_same_lines_are_one() {
        let place = |file: Option<&str>, line| Location {
            file: file.map(str::to_owned),
            line: Some(line),
            column: None,
        };
        let race = |file, [first, second]: [u32; 2], pc| FaultReport {
            kernel: "k".to_owned(),
            kind: "data-race".to_owned(),
            message: String::new(),
            panic: None,
            location: place(file, second),
            frames: Vec::new(),
            pc: Some(pc),
            executed_pc: None,
            instruction: String::new(),
            wave: WaveId { workgroup: [0; 3], wave: 0 },
            lane: None,
            earlier: Some(EarlierReport {
                location: place(file, first),
                frames: Vec::new(),
                pc: Some(8),
                instruction: String::new(),
            }),
            waves: Vec::new(),
            help: Vec::new(),
            why: None,
        };
        let file = Some("k.rs");
        let one = race(file, [3, 5], 0x100);
        assert!(one.is_of_the_lines_of(&race(file, [5, 3], 0x104)));
        assert!(!one.is_of_the_lines_of(&race(file, [3, 6], 0x100)));
        assert!(!one.is_of_the_lines_of(&FaultReport { kernel: "l".to_owned(), ..one.clone() }));
        // Without a source only the instructions tell.
        let bare = race(None, [3, 5], 0x100);
        assert!(bare.is_of_the_lines_of(&race(None, [9, 9], 0x100)));
        assert!(!bare.is_of_the_lines_of(&race(None, [3, 5], 0x104)));
        assert_eq!(told_again(0), None);
        assert!(told_again(20).is_some_and(|text| text.contains("in 20 other pairs")));
    }
}
