//! The pictures of the page in README and guide: of a run whose counts are worked out from the kernels'
//! functions on the host, wave by wave. `cargo xtask snapshots --bless pictures` makes them anew; else the
//! test says whether the page is still the one that they show.

use std::path::{Path, PathBuf};

use amdinst_core::instrument::{Cost, Occupancy, SiteFrame};
use amdinst_core::report::run::{
    Ending, KernelFacts, Program, Run, SCHEMA, SiteFacts, SourceStamp, content_hash,
};
use amdinst_core::report::{Counts, Location, Report, SiteReport, WaveId, WaveReport};
use amdinst_report::html::Extras;
use amdinst_report::matrix::{self, Axis, Matrix, kernels};
use amdinst_report::{Sources, Summary, html};
use serde_json::json;

use super::devtools::Browser;
use super::{model, page, resize};

/// Lanes of a wave, on the GPU of the page.
const LANES: u32 = 64;
/// Waves of a workgroup.
const WAVES: u32 = 4;

/// A picture: name, width, height, and the place on the page.
type Picture = (&'static str, u32, u32, &'static str);

const PICTURES: [Picture; 3] = [
    ("report", 1400, 790, "#/"),
    ("report-kernel", 1400, 860, "#/kernel/collatz"),
    ("report-narrow", 420, 860, "#/"),
];

/// Of the page of several GPUs.
const OF_GPUS: [Picture; 1] = [("gpus", 1000, 420, "#/")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A kernel, and how often each lane goes round its loop; of a branch without a loop, 1 where the lane takes
/// it.
struct Kernel {
    name: &'static str,
    line: u32,
    column: u32,
    kind: &'static str,
    probe: &'static str,
    instruction: &'static str,
    rounds: Vec<u32>,
    sgprs: u32,
    vgprs: u32,
}

impl Kernel {
    fn file(&self) -> String {
        format!("test-kernels/src/{}.rs", self.name)
    }

    fn location(&self) -> Location {
        Location { file: Some(self.file()), line: Some(self.line), column: Some(self.column) }
    }

    /// A wave comes to the exit of its loop as long as a lane is in it.
    fn counts(&self, rounds: &[u32]) -> Counts {
        let most = rounds.iter().copied().max().unwrap_or(0);
        let times = if self.kind == "if" { 0..1 } else { 0..most + 1 };
        let at = |time: u32| {
            let lanes =
                |in_it: &dyn Fn(u32) -> bool| rounds.iter().filter(|rounds| in_it(**rounds)).count() as u64;
            let (before, after) =
                (lanes(&|rounds| self.kind == "if" || rounds >= time), lanes(&|rounds| rounds > time));
            let is = u64::from;
            Counts {
                executions: 1,
                all: is(after == before),
                none: is(after == 0),
                diverged: is(after > 0 && after < before),
                lanes_in: before,
                lanes_taken: after,
            }
        };
        times.map(at).sum()
    }

    /// With so many lanes a wave.
    fn launch(&self, lanes: u32) -> Report {
        let waves = self.rounds.chunks(lanes as usize).zip(0..).map(|(rounds, wave): (_, u32)| WaveReport {
            id: WaveId { workgroup: [wave / WAVES, 0, 0], wave: wave % WAVES },
            counts: self.counts(rounds),
        });
        let waves: Vec<WaveReport> = waves.collect();
        let site = model::site(0, self.kind, self.location(), Some(self.probe), &[]);
        let counts = waves.iter().map(|wave| wave.counts).sum();
        let number = waves.len() as u64;
        let mut launch = model::launch(self.name, number, vec![SiteReport { counts, waves, ..site }]);
        let group = (lanes * WAVES).min(lanes * number as u32);
        (launch.grid, launch.block) = ([number.div_ceil(u64::from(WAVES)) as u32, 1, 1], [group, 1, 1]);
        launch
    }

    fn facts(&self, occupancy: u32) -> KernelFacts {
        let frame = SiteFrame {
            function: Some(self.name.into()),
            file: Some((*self.file()).into()),
            line: Some(self.line),
            column: Some(self.column),
        };
        KernelFacts {
            name: self.name.to_owned(),
            cpu: "gfx90a".to_owned(),
            code_object: "gfx90a/release/test_kernels.elf".to_owned(),
            code_object_hash: content_hash(b""),
            cost: Some(Cost {
                sgprs: [self.sgprs, self.sgprs + 8],
                vgprs: [self.vgprs, self.vgprs],
                occupancy: Occupancy { before: occupancy, after: occupancy, ..Occupancy::default() },
                ..Cost::default()
            }),
            workgroup: None,
            moved_lds: None,
            sites: vec![SiteFacts {
                pc: 0x1000,
                instruction: self.instruction.to_owned(),
                frames: vec![frame],
                loop_depth: u32::from(self.kind != "if"),
            }],
        }
    }
}

/// Numbers that look random.
fn numbers() -> impl Iterator<Item = u32> {
    let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    std::iter::successors(Some(7_u64), next).map(|state| (state >> 40) as u32)
}

fn collatz(start: u32) -> u32 {
    let (mut value, mut count) = (start, 0);
    while value > 1 {
        value = if value % 2 == 0 { value / 2 } else { value.wrapping_mul(3).wrapping_add(1) };
        count += 1;
    }
    count
}

fn newton(a: f64) -> u32 {
    let (mut x, mut count) = (a, 0);
    loop {
        let next = (2.0 * x + a / (x * x)) / 3.0;
        let moved = next - x;
        x = next;
        if moved * moved <= x * x * 1e-24 {
            return count;
        }
        count += 1;
    }
}

/// What three of the test kernels do: 24 waves with starts from 1 to 1000, 12 with numbers from 1 to 4096, 2
/// with 100 elements.
fn samples() -> [Kernel; 3] {
    let (exit, guard) = ("s_andn2_b64 exec, exec, s[0:1]", "s_and_saveexec_b64 s[0:1], vcc");
    let loops = |name, line, column, probe, rounds, sgprs, vgprs| Kernel {
        name,
        line,
        column,
        kind: "loop-exit",
        probe,
        instruction: exit,
        rounds,
        sgprs,
        vgprs,
    };
    let starts = numbers().take(24 * LANES as usize).map(|number| collatz(1 + number % 1000));
    let values = numbers().take(12 * LANES as usize).map(|number| newton(f64::from(1 + number % 4096)));
    let tail = (0..2 * LANES).map(|lane| u32::from(lane < 100)).collect();
    [
        loops("collatz", 16, 11, "until one", starts.collect(), 12, 6),
        loops("newton", 30, 12, "converge", values.collect(), 14, 18),
        Kernel {
            name: "vector_add",
            line: 14,
            column: 8,
            kind: "if",
            probe: "tail",
            instruction: guard,
            rounds: tail,
            sgprs: 10,
            vgprs: 4,
        },
    ]
}

/// Their run, with so many lanes a wave.
fn ran(lanes: u32, occupancy: u32) -> Run {
    let mut run = Run { package: "test-kernels".to_owned(), ..model::run() };
    let kernels = samples();
    let test = run.programs[0].tests[1].clone();
    let tests = kernels.iter().map(|kernel| {
        let mut test = test.clone();
        (test.launches, test.modelled) = (vec![kernel.launch(lanes)], Vec::new());
        test.name = format!("{}::counts", kernel.name);
        test
    });
    let program = Program { tests: tests.collect(), ..run.programs[0].clone() };
    let stamp = |kernel: &Kernel| {
        let file = kernel.file();
        SourceStamp { hash: content_hash(&std::fs::read(root().join(&file)).unwrap()), file }
    };
    (run.schema, run.programs) = (SCHEMA, vec![program]);
    (run.kernels, run.sources) =
        (kernels.iter().map(|kernel| kernel.facts(occupancy)).collect(), kernels.iter().map(stamp).collect());
    run
}

/// The page of their run.
fn rendered() -> String {
    let run = ran(LANES, 8);
    let sources = Sources::new(root(), &run.sources);
    html::render(&Summary::new(&run), &sources, &Extras::default()).unwrap()
}

/// The page of several GPUs, one of which is wrong.
pub(super) fn of_gpus() -> String {
    let mut matrix = Matrix::new(Axis::Gpus);
    let mut summaries = Vec::new();
    for (title, lanes, occupancy) in [("gfx90a", 64, 8), ("gfx1100", 32, 16), ("gfx1100/64", 64, 16)] {
        let mut run = ran(lanes, occupancy);
        let wrong = &mut run.programs[0].tests[1];
        if lanes == 32 {
            (wrong.ending, wrong.message) = (Ending::Failed, Some("left: 32\nright: 64".to_owned()));
        }
        matrix.begin(title);
        matrix.add(&run.package, &run.programs);
        summaries.push(Summary::new(&run));
    }
    matrix.columns.iter_mut().for_each(|column| column.run = Some(format!("{}.json", column.file_stem())));
    let summaries: Vec<_> = summaries.iter().map(Some).collect();
    let rows = kernels::rows("test-kernels", &summaries);
    matrix::page::render("test-kernels", &matrix, &rows, &[]).unwrap()
}

/// The bytes of base64.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = text.trim_end_matches('=').bytes().map(|byte| digit(byte).into()).collect();
    let bytes = digits.chunks(4).flat_map(|digits| {
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - digits.len()));
        bits.to_be_bytes()[1..digits.len()].to_vec()
    });
    bytes.collect()
}

/// Nothing is wider than the window; and if asked, the pictures and the page that they show are kept.
#[test]
fn pictures_show_the_page_as_it_is() {
    let texts = [rendered(), of_gpus()];
    let hash_of_both = content_hash(texts.concat().as_bytes());
    let kept = root().join("docs/src/pictures");
    let bless = std::env::var_os("AMDINST_BLESS").is_some();
    if !bless {
        let hash = std::fs::read_to_string(kept.join("page.txt")).unwrap();
        assert_eq!(
            hash.trim(),
            hash_of_both,
            "the pictures in README and guide are of another page: `cargo xtask snapshots --bless pictures`"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        assert!(!bless, "chromium is not installed (`apt-get install chromium`)");
        eprintln!("SKIPPED: pictures: chromium is not installed (`apt-get install chromium`)");
        return;
    };
    let pictures = PICTURES.iter().map(|picture| (&texts[0], picture));
    for (text, &(name, width, height, link)) in
        pictures.chain(OF_GPUS.iter().map(|picture| (&texts[1], picture)))
    {
        page(&mut browser, directory.path(), text);
        resize(&mut browser, width, height);
        super::go(&mut browser, link);
        let beyond =
            browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(beyond, 0, "{name}");
        if bless {
            let asked = json!({ "format": "webp", "quality": 70 });
            let taken = browser.call("Page.captureScreenshot", asked);
            let bytes = decoded(taken["data"].as_str().unwrap());
            std::fs::create_dir_all(&kept).unwrap();
            std::fs::write(kept.join(format!("{name}.webp")), bytes).unwrap();
        } else {
            assert!(kept.join(format!("{name}.webp")).is_file(), "{name}");
        }
    }
    assert_eq!(browser.complaints(), [""; 0]);
    if bless {
        std::fs::write(kept.join("page.txt"), format!("{hash_of_both}\n")).unwrap();
    }
}

#[test]
fn base64_is_read() {
    for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmE=", "fooba")] {
        assert_eq!(decoded(text), bytes.as_bytes());
    }
}
