//! Tests on several GPUs, side by side: for terminals, programs, jobs, pull requests and browsers.

use amdinst_core::report::Location;
use amdinst_core::report::parting::{PartedElement, PartedLaunch};
use amdinst_core::report::run::Ending;
use amdinst_core::report::value_step::ValueStep;
use amdinst_report::matrix::kernels::{self, KernelRow};
use amdinst_report::matrix::{Axis, Matrix, MatrixDocument, github, markdown, page, table};
use amdinst_report::{Gate, Summary};

use super::model;
use super::schemas::Schema;

/// The model's run on two GPUs, of which the second is wrong and meets a fault; and one that has no kernels.
fn matrix() -> (Matrix, Vec<KernelRow>) {
    let right = model::run();
    let mut wrong = right.clone();
    let test = wrong.programs[0].tests.iter_mut().find(|test| test.ending == Ending::Passed).unwrap();
    (test.ending, test.message) = (Ending::Failed, Some("left: 1 <b>\nright: 2".to_owned()));
    let mut matrix = Matrix::new(Axis::Gpus);
    for (title, run) in [("gfx90a", &right), ("gfx1100/64", &wrong)] {
        matrix.begin(title);
        matrix.add("kernels", &run.programs);
    }
    matrix
        .columns
        .iter_mut()
        .for_each(|column| column.run = Some(format!("runs/{}.json", column.file_stem())));
    matrix.begin("gfx1201");
    matrix.lacks_build();
    let [split] = &matrix.splits()[..] else { panic!("{:?}", matrix.splits()) };
    let location = Location { file: Some("src/lib.rs".to_owned()), line: Some(7), column: Some(9) };
    let step = ValueStep {
        location,
        instruction: "v_add_f32_e32 v1, v1, v1".to_owned(),
        value: "1".to_owned(),
        work_item: 3,
        workgroup: [0; 3],
    };
    let element = PartedElement {
        buffer: "buffer of 4 f32".to_owned(),
        index: 3,
        here: "1".to_owned(),
        there: "2".to_owned(),
        ulp: None,
    };
    let launch = PartedLaunch {
        kernel: "saxpy".to_owned(),
        element,
        elements: 1,
        here: Some(step),
        there: None,
        suspect: None,
        lost: None,
    };
    let split = split.clone();
    matrix.add_parting(&split, launch);
    let summaries = [&right, &wrong].map(Summary::new);
    let kernels = kernels::rows("kernels", &[Some(&summaries[0]), Some(&summaries[1]), None]);
    (matrix, kernels)
}

#[test]
fn each_kernel_has_its_figures_on_each_gpu() {
    let (matrix, kernels) = matrix();
    let own = Summary::new(&model::run());
    let of = |name: &str| own.kernels.iter().find(|kernel| kernel.name == name).unwrap();
    for row in &kernels {
        let Some(cell) = row.cells[0].filter(|cell| cell.has_run()) else { continue };
        let kernel = of(&row.name);
        let diverged = kernel.branches.iter().filter(|branch| branch.counts.diverged > 0).count() as u64;
        assert_eq!((cell.branches, cell.diverged), (kernel.branches.len() as u64, diverged));
        assert_eq!(row.cells[0], row.cells[1]);
        assert_eq!(row.cells[2], None);
        assert!(table::kernels(&matrix, &kernels).contains(&cell.text()), "{}", row.name);
    }
    assert!(kernels.iter().any(|row| row.cells[0].is_some_and(|cell| cell.diverged > 0)));
}

#[test]
fn the_document_is_as_its_schema_says_and_is_read_again() {
    let (matrix, kernels) = matrix();
    let document = serde_json::to_value(MatrixDocument { matrix: &matrix, kernels: &kernels }).unwrap();
    Schema::read("matrix.v1.json").assert(&document);
    let read = |matrix: &Matrix| Matrix::from_json(&serde_json::to_vec(matrix).unwrap());
    assert_eq!(read(&matrix).unwrap(), matrix);
    let mut torn = matrix.clone();
    torn.tests[0].cells.pop();
    assert!(read(&torn).unwrap_err().to_string().ends_with("has not one cell for each column"));
    let other = Matrix { schema: 9, ..matrix };
    assert_eq!(read(&other).unwrap_err().to_string(), "it has schema 9, and this version reads schema 1");
}

#[test]
fn annotations_stand_where_values_part_and_name_the_gpus() {
    let (matrix, _) = matrix();
    let text = github::render(&matrix, &[]);
    let line =
        text.lines().find(|line| line.contains("on gfx1100/64::left")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.starts_with("::error file=src/lib.rs,line=7,col=9,title="), "{line}");
    assert!(line.contains("`saxpy` leaves 1 in element 3"), "{line}");
}

#[test]
fn a_job_is_told_of_limits_and_kernels() {
    let (matrix, kernels) = matrix();
    let summary = Summary::new(&model::run());
    let violations = "occupancy:99".parse::<Gate>().unwrap().check(&summary, None);
    let text = markdown::render(&matrix, &kernels, &violations);
    for part in [
        "| test | gfx90a | gfx1100/64 | gfx1201 |",
        "❌ failed",
        "⬜ not built",
        "`occupancy:99`",
        "| kernel |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_first_page_leads_to_the_others_and_holds_names_of_strangers() {
    let (matrix, mut kernels) = matrix();
    kernels[0].name = "</script><b>&\"".to_owned();
    let text = page::render("kernels", &matrix, &kernels, &[]).unwrap();
    for part in [
        "href=\"gfx90a/index.html\"",
        "href=\"gfx1100-wave64/index.html\"",
        "href=\"#/beside/%3C%2Fscript%3E%3Cb%3E%26%22\"",
        "title=\"left: 1 &lt;b&gt;; right: 2\">FAILED",
        "<td class=\"dim\" title=\"\">not built",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("gfx1201/index.html") && !text.contains("{{"));
    assert_eq!(text.matches("</script>").count(), 2);
}

/// Of a kernel whose resources nobody has looked at, it is known that it ran; that is no fault.
#[test]
fn a_kernel_without_figures_has_run() {
    let mut summary = Summary::new(&model::run());
    summary.faults.clear();
    summary.kernels.iter_mut().for_each(|kernel| kernel.resources = None);
    let rows = kernels::rows("kernels", &[Some(&summary)]);
    let cells: Vec<_> = rows.iter().flat_map(|row| row.cells[0]).collect();
    assert!(!cells.is_empty() && cells.iter().all(|cell| cell.text() == "ran"), "{cells:?}");
    // Lanes that nobody has counted have no color.
    let mut matrix = Matrix::new(Axis::Gpus);
    matrix.begin("gfx90a");
    let text = markdown::render(&matrix, &rows, &[]);
    assert!(text.contains(" | ran |") && !text.contains("🟩 ran"), "{text}");
}

/// Where a GPU is no column, its tests are rows of their own.
#[test]
fn orders_and_profiles_keep_processors_apart() {
    let mut run = model::run();
    let mut other = run.programs[0].clone();
    other.cpu = "gfx1100".to_owned();
    run.programs.push(other);
    let tests = |axis| {
        let mut matrix = Matrix::new(axis);
        matrix.begin("one");
        matrix.add("kernels", &run.programs);
        matrix.tests.len()
    };
    let of_gpus = tests(Axis::Gpus);
    assert_eq!(
        [tests(Axis::Schedules), tests(Axis::Profiles), tests(Axis::Levels)],
        [2 * of_gpus, 2 * of_gpus, of_gpus]
    );
}
