//! The page in a browser: it opens without a complaint and without a request, its links lead somewhere, what
//! is folded opens at a click; with ten branches and with ten thousand.

mod devtools;
#[path = "../model/mod.rs"]
mod model;
mod pictures;

use std::collections::BTreeSet;

use amdinst_core::report::Location;
use amdinst_core::report::run::{Run, SourceStamp, UnlaunchedKernel, content_hash};
use amdinst_report::html::{Extras, Instruction, KernelListing, OccupancyPicture, ResourcePicture};
use amdinst_report::{Diff, Sources, Summary, html};
use devtools::Browser;
use serde_json::json;

/// Branches of a kernel of [`many`].
const BRANCHES: u32 = 100;
const FILE: &str = "src/many.rs";

/// A line of the source for each branch.
fn source(branches: u32) -> String {
    (1..=branches).map(|line| format!("    if lane < {line} {{ step() }} // {line}\n")).collect()
}

/// The model's run, with so many branches more: [`BRANCHES`] a kernel, each on a line of its own, in two
/// waves.
fn many(branches: u32) -> (Run, Vec<KernelListing>) {
    let mut run = model::run();
    let mut listings = Vec::new();
    let test = run.programs[0].tests.iter().position(|test| test.name == "first").unwrap();
    for (number, start) in (0..branches).step_by(BRANCHES as usize).enumerate() {
        let kernel = format!("many_{number}");
        let lines = start + 1..=branches.min(start + BRANCHES);
        let mut launch = run.programs[0].tests[test].launches[0].clone();
        launch.kernel.clone_from(&kernel);
        (launch.probes, launch.refusals) = Default::default();
        let place = |line| Location { file: Some(FILE.to_owned()), line: Some(line), column: Some(8) };
        launch.sites = lines
            .clone()
            .map(|line| {
                let rows = [(0, 2, 1, 0, 128, 64 + u64::from(line % 64)), (1, 2, 2, 0, 128, 128)];
                model::site(line - start, "if", place(line), None, &rows)
            })
            .collect();
        let mut facts = run.kernels[0].clone();
        facts.name.clone_from(&kernel);
        facts.sites.clear();
        listings.push(KernelListing {
            kernel,
            cpu: "gfx90a".to_owned(),
            occupancy: None,
            instructions: launch
                .sites
                .iter()
                .map(|site| Instruction {
                    pc: site.pc,
                    text: "s_and_saveexec_b64 s[0:1], vcc".to_owned(),
                    source: site.location.line.map(|line| (FILE.to_owned(), line)),
                })
                .collect(),
        });
        run.programs[0].tests[test].launches.push(launch);
        run.kernels.push(facts);
    }
    let hash = content_hash(source(branches).as_bytes());
    run.sources.push(SourceStamp { file: FILE.to_owned(), hash });
    (run, listings)
}

/// Goes to a place of the page: `#/kernel/0`.
fn go(browser: &mut Browser, link: &str) {
    let script = format!(
        "new Promise((done) => {{ if (location.hash === '{link}') return done(); \
         addEventListener('hashchange', () => setTimeout(done), {{ once: true }}); location.hash = '{link}'; }})"
    );
    browser.evaluate(&script);
}

/// The links of the page as it is drawn, to places on it; there are no others.
fn links(browser: &mut Browser) -> BTreeSet<String> {
    let found =
        browser.evaluate("[...document.querySelectorAll('a')].map((link) => link.getAttribute('href'))");
    let found: BTreeSet<String> = serde_json::from_value(found).unwrap();
    assert!(found.iter().all(|link| link.starts_with('#')), "{found:?}");
    found.into_iter().filter(|link| link.starts_with("#/")).collect()
}

/// A window so many pixels wide and high.
fn resize(browser: &mut Browser, width: u32, height: u32) {
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
    browser.call("Emulation.setDeviceMetricsOverride", metrics);
}

/// The page of a run, opened.
fn page(browser: &mut Browser, directory: &std::path::Path, page: &str) {
    let path = directory.join("index.html");
    std::fs::write(&path, page).unwrap();
    browser.open(&format!("file://{}", path.display()));
}

/// The texts of the elements that a selector finds.
fn texts(browser: &mut Browser, selector: &str) -> Vec<String> {
    let script = format!("[...document.querySelectorAll('{selector}')].map((it) => it.innerText.trim())");
    serde_json::from_value(browser.evaluate(&script)).unwrap()
}

/// A place that a link leads to has a heading, and says where it is.
fn is_somewhere(browser: &mut Browser, link: &str) {
    let told = browser.evaluate(
        "[document.querySelector('main').textContent, document.querySelector('[aria-current=page]').textContent]",
    );
    let [text, crumb] = [0, 1].map(|index| told[index].as_str().unwrap());
    assert!(!text.contains("There is nothing here"), "{link} leads nowhere");
    assert!(text.len() > 100 && !crumb.is_empty(), "{link}: {crumb}: {text}");
}

/// Each folding opens and closes at a click, and shows something when it is open.
fn foldings(browser: &mut Browser, link: &str) -> u64 {
    let count = browser.evaluate("document.querySelectorAll('main details').length").as_u64().unwrap();
    for index in 0..count {
        let folding = format!("document.querySelectorAll('main details')[{index}]");
        let state = |browser: &mut Browser| {
            let told = browser.evaluate(&format!(
                "[{folding}.open, {folding}.offsetHeight - {folding}.firstElementChild.offsetHeight]"
            ));
            (told[0].as_bool().unwrap(), told[1].as_f64().unwrap() > 10.0)
        };
        let before = state(browser);
        for _ in 0..2 {
            let (open, _) = state(browser);
            browser.click(&format!("{folding}.firstElementChild"));
            let now = state(browser);
            assert_eq!(now, (!open, !open), "{link}, folding {index}: open, and shows something");
        }
        assert_eq!(state(browser), before);
    }
    count
}

/// A browser with the page of a run of so many branches, in a directory of its own; or says why there is
/// none.
fn opened(name: &str, branches: u32) -> Option<(Browser, tempfile::TempDir)> {
    let (directory, _) = model::sources();
    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        eprintln!("SKIPPED: {name}: chromium is not installed (`apt-get install chromium`)");
        return None;
    };
    let (run, listings) = many(branches);
    std::fs::write(directory.path().join(FILE), source(branches)).unwrap();
    let sources = Sources::new(directory.path(), &run.sources);
    let extras = Extras { listings: &listings, ..Extras::default() };
    let page = html::render(&Summary::new(&run), &sources, &extras).unwrap();
    let path = directory.path().join("index.html");
    std::fs::write(&path, &page).unwrap();
    browser.open(&format!("file://{}", path.display()));
    let loaded = browser.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd");
    // The two of the model stand beside those that were made.
    let told = browser.evaluate("document.querySelector('[role=status]').innerText");
    let told = told.as_str().unwrap().replace(',', "");
    assert!(told.starts_with(&format!("{} branches", branches + 2)), "{told}");
    println!("{name}: {} bytes, loaded in {:.0} ms", page.len(), loaded.as_f64().unwrap());
    Some((browser, directory))
}

#[test]
fn with_ten_branches_all_links_and_foldings() {
    let Some((mut browser, _directory)) = opened("with_ten_branches_all_links_and_foldings", 8) else {
        return;
    };
    let (mut known, mut folded) = (BTreeSet::new(), 0);
    let mut next = links(&mut browser);
    while let Some(link) = next.pop_first() {
        go(&mut browser, &link);
        is_somewhere(&mut browser, &link);
        // Lines of a file have a page each, all alike.
        if !link.starts_with("#/file/") || !known.iter().any(|known: &String| known.starts_with("#/file/")) {
            folded += foldings(&mut browser, &link);
        }
        known.insert(link);
        next.extend(links(&mut browser).difference(&known).cloned());
    }
    // The overview, three kernels, ten branches; and files.
    assert!(known.len() > 14 && folded > 20, "{} places, {folded} foldings", known.len());
    for place in [
        "#/",
        "#/kernel/demo",
        "#/kernel/other",
        "#/kernel/demo/probe/tail",
        "#/kernel/many_0/at/src/many.rs:7:8",
        "#/file/src/demo.rs:1",
        "#/file/src/many.rs:1",
    ] {
        assert!(known.contains(place), "{place}: {known:?}");
    }
    // With the mouse, too.
    go(&mut browser, "#/");
    browser.click("document.querySelector('table.branches a')");
    let hash = browser.evaluate("location.hash");
    assert!(hash.as_str().unwrap().contains("/at/") || hash.as_str().unwrap().contains("/probe/"), "{hash}");
    let theme = |browser: &mut Browser| browser.evaluate("document.documentElement.dataset.theme");
    let before = theme(&mut browser);
    browser.click("document.getElementById('theme')");
    assert_ne!(theme(&mut browser), before);
    assert_eq!(browser.complaints(), [""; 0]);
    println!("{} places, {folded} foldings", known.len());
}

/// Lines that ran, in the overview, on the kernel's page, and beside the source.
#[test]
fn with_blocks() {
    let (directory, sources) = model::sources();
    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        eprintln!("SKIPPED: with_blocks: chromium is not installed (`apt-get install chromium`)");
        return;
    };
    let mut summary = Summary::new(&model::blocks());
    summary.unlaunched =
        vec![UnlaunchedKernel { name: "idle".to_owned(), cpu: "gfx90a".to_owned(), lines: Vec::new() }];
    let page = html::render(&summary, &sources, &Extras::default()).unwrap();
    let path = directory.path().join("index.html");
    std::fs::write(&path, &page).unwrap();
    browser.open(&format!("file://{}", path.display()));
    let notes = browser.evaluate("[...document.querySelectorAll('.note')].map((note) => note.innerText)");
    assert_eq!(notes, json!(["Not launched: idle."]));
    let rows = |browser: &mut Browser| {
        browser.evaluate("[...document.querySelectorAll('table.lines tbody tr')].map((row) => row.innerText.split(/\\s+/))")
    };
    let wanted =
        json!([["src/demo.rs:5", "18", "40.0"], ["src/demo.rs:4", "4", "50.0"], ["src/demo.rs:9", "0", "–"]]);
    assert_eq!(rows(&mut browser), wanted);
    go(&mut browser, "#/kernel/demo");
    assert_eq!(rows(&mut browser), wanted);
    let told = browser.evaluate(
        "[...document.querySelectorAll('.src .l')].map((line) => line.querySelector('.cyc')?.textContent || '')",
    );
    assert_eq!(told, json!(["", "", "", "4", "18", "", "", "", "0", ""]));
    assert!(foldings(&mut browser, "#/kernel/demo") >= 1);
    for link in links(&mut browser) {
        go(&mut browser, &link);
        is_somewhere(&mut browser, &link);
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Branches of a dependency, what is meant, an earlier run, occupancy, the waves' times, colours; with the
/// mouse, and on a telephone.
#[test]
fn with_a_dependency_and_a_baseline() {
    let (directory, sources) = model::sources();
    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        eprintln!(
            "SKIPPED: with_a_dependency_and_a_baseline: chromium is not installed (`apt-get install chromium`)"
        );
        return;
    };
    let mut before = model::with_a_dependency();
    // The tail lost 4 lanes more, 32.
    before.programs[0].tests[1].launches[0].sites[0] = model::site(
        0,
        "if",
        model::location(4, 8),
        Some("tail"),
        &[(0, 1, 1, 0, 64, 64), (1, 1, 0, 0, 64, 32)],
    );
    let (before, now) = (Summary::new(&before), Summary::new(&model::with_a_dependency()));
    let diff = Diff::new(&before, &now);
    let resource = |name, waves, next| ResourcePicture { name, have: 72, unit: "a wave", waves, next };
    let listing = KernelListing {
        kernel: "demo".to_owned(),
        cpu: "gfx90a".to_owned(),
        instructions: vec![Instruction {
            pc: 0x1000,
            text: "s_and_saveexec_b64 s[0:1], vcc".to_owned(),
            source: Some(("src/demo.rs".to_owned(), 4)),
        }],
        occupancy: Some(OccupancyPicture {
            waves: 28,
            slots: 32,
            simds: 4,
            limiter: "VGPRs",
            workgroup: 64,
            resources: vec![resource("VGPRs", 28, Some((64, 32))), resource("SGPRs", 32, None)],
        }),
    };
    let extras =
        Extras { listings: &[listing], diff: Some(&diff), baseline: Some(&before), ..Extras::default() };
    page(&mut browser, directory.path(), &html::render(&now, &sources, &extras).unwrap());
    resize(&mut browser, 1400, 900);

    // One row for the two of line 6, one for what was not inlined, until all are asked for.
    let folded = texts(&mut browser, "table.branches td:nth-child(3)");
    assert_eq!(folded.iter().filter(|text| text.contains("of libm-0.2.16")).count(), 2, "{folded:?}");
    assert_eq!(folded.len(), 5, "{folded:?}");
    assert!(folded.iter().any(|text| text.contains("“leader”") && text.contains("expected")), "{folded:?}");
    browser.click("document.getElementById('dependencies')");
    assert_eq!(texts(&mut browser, "table.branches td:nth-child(2)").len(), 6);
    // A column sorts, and the other way round at the next click.
    let sort = "[...document.querySelectorAll('table.branches th button')].find((it) => it.textContent === 'executions')";
    let column = |browser: &mut Browser| texts(browser, "table.branches td:nth-child(5)");
    browser.click(sort);
    assert_eq!(column(&mut browser), ["9", "4", "1", "1", "1", "1"]);
    browser.click(sort);
    assert_eq!(column(&mut browser), ["1", "1", "1", "1", "4", "9"]);
    assert_eq!(browser.evaluate(&format!("{sort}.parentElement.ariaSort")), "ascending");
    assert!(texts(&mut browser, "table.branches .was").contains(&"▼ was 32".to_owned()));
    // The picture of the worst kernel: its branches, and a cell a wave that came there.
    assert_eq!(texts(&mut browser, ".picture-row .much"), ["80", "56", "28", "≈ 6"]);

    go(&mut browser, "#/kernel/demo");
    let need = texts(&mut browser, ".occupancy .limits .need");
    assert_eq!(need, ["8 fewer: at most 64 for 32 waves"]);
    assert_eq!(browser.evaluate("document.querySelectorAll('.timeline rect').length"), 2);
    for text in ["pub", "unsafe", "fn", "while"] {
        assert!(texts(&mut browser, ".src .p1").contains(&text.to_owned()), "{text} is a keyword");
    }
    // The line that calls a dependency has what it lost there.
    let heat = texts(&mut browser, ".src [data-line=\"6\"] .heat");
    assert!(heat[0].contains("−80"), "{heat:?}");
    // The bar between source and disassembly, by keys and by the mouse.
    let left = |browser: &mut Browser| {
        browser
            .evaluate("document.querySelector('.split > div').getBoundingClientRect().width")
            .as_f64()
            .unwrap()
    };
    let before = left(&mut browser);
    browser.evaluate("document.querySelector('.splitter').focus()");
    browser.call(
        "Input.dispatchKeyEvent",
        json!({ "type": "keyDown", "key": "ArrowRight", "code": "ArrowRight" }),
    );
    let after = left(&mut browser);
    assert!(after > before + 20.0, "{before} {after}");
    let place = browser.evaluate(
        "(() => { const it = document.querySelector('.splitter'); it.scrollIntoView({ block: 'center' }); const box = it.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()",
    );
    let (x, y) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    for (kind, x) in [("mousePressed", x), ("mouseMoved", x - 300.0), ("mouseReleased", x - 300.0)] {
        let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1 });
        browser.call("Input.dispatchMouseEvent", event);
    }
    let dragged = left(&mut browser);
    assert!(dragged < after - 200.0, "{after} {dragged}");

    // Names lead there, however much of them is given; another name leads nowhere.
    for (link, crumb) in [
        ("#/kernel/demo/probe/tail", "tail"),
        ("#/kernel/demo/at/src/demo.rs:4:8", "tail"),
        ("#/kernel/demo/at/src/demo.rs:5", "src/demo.rs:5:15"),
        ("#/kernel/demo/at/libm-0.2.16/src/math/powf.rs:99", "libm-0.2.16/src/math/powf.rs:99:8"),
        ("#/file/src/demo.rs:6", "src/demo.rs"),
        ("#/kernel/other/probe/leader", "leader"),
    ] {
        go(&mut browser, link);
        is_somewhere(&mut browser, link);
        assert_eq!(texts(&mut browser, "[aria-current=page]"), [crumb], "{link}");
    }
    go(&mut browser, "#/kernel/demo/probe/nothing");
    assert!(texts(&mut browser, "main")[0].contains("There is nothing here"));

    // On 420 pixels nothing is wider than the window, but for code, which has a bar of its own.
    resize(&mut browser, 420, 900);
    for link in [
        "#/",
        "#/kernel/demo",
        "#/kernel/demo/probe/tail",
        "#/kernel/demo/at/src/demo.rs:5",
        "#/file/src/demo.rs:6",
    ] {
        go(&mut browser, link);
        let beyond =
            browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(beyond, 0, "{link}");
    }
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn with_ten_thousand_branches() {
    let Some((mut browser, _directory)) = opened("with_ten_thousand_branches", 9998) else { return };
    let rows = |browser: &mut Browser| {
        browser.evaluate("document.querySelectorAll('table.branches tbody tr').length").as_u64().unwrap()
    };
    let drawn = rows(&mut browser);
    assert!((100..1000).contains(&drawn), "{drawn} rows are drawn");
    browser.evaluate("scrollTo(0, document.body.scrollHeight)");
    browser.click("[...document.querySelectorAll('button')].find((it) => it.textContent.endsWith(' more'))");
    assert!(rows(&mut browser) > drawn, "more of them");
    // The kernels are folded away, for there are so many.
    assert_eq!(foldings(&mut browser, "#/"), 1);
    browser.click("document.querySelector('input[type=search]')");
    browser.call("Input.insertText", json!({ "text": "many.rs:9900:" }));
    assert_eq!(rows(&mut browser), 1);
    browser.click("document.querySelector('table.branches a')");
    let link = browser.evaluate("location.hash");
    is_somewhere(&mut browser, link.as_str().unwrap());
    // Its line is marked, in the middle of ten thousand, and it is where one sees it.
    let marked = browser.evaluate(
        "new Promise((done) => requestAnimationFrame(() => setTimeout(done))).then(() => { \
         const line = document.querySelector('.src .l.here'), box = line.getBoundingClientRect(); \
         const view = line.closest('.src').getBoundingClientRect(); \
         return [line.querySelector('.no').textContent, box.top >= view.top && box.bottom <= view.bottom]; })",
    );
    assert_eq!(marked, json!(["9900", true]));
    assert!(foldings(&mut browser, "the branch at line 9900") >= 2);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The page of several GPUs: a kernel's name opens it on two of them side by side, and a way leads back.
#[test]
fn a_kernel_opens_on_two_gpus_side_by_side() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start(&directory.path().join("profile")) else {
        eprintln!("SKIPPED: side by side: chromium is not installed (`apt-get install chromium`)");
        return;
    };
    for gpu in ["gfx90a", "gfx1100", "gfx1100-wave64"] {
        std::fs::create_dir(directory.path().join(gpu)).unwrap();
        std::fs::write(directory.path().join(gpu).join("index.html"), "<!doctype html><title>a page</title>")
            .unwrap();
    }
    page(&mut browser, directory.path(), &pictures::of_gpus());
    let shown = |browser: &mut Browser| {
        let script = "[...document.querySelectorAll('#beside iframe')].map((it) => it.getAttribute('src'))";
        serde_json::from_value::<Vec<String>>(browser.evaluate(script)).unwrap()
    };
    assert!(shown(&mut browser).is_empty());
    go(&mut browser, "#/beside/newton");
    assert_eq!(
        shown(&mut browser),
        ["gfx90a/index.html#/kernel/newton", "gfx1100/index.html#/kernel/newton"]
    );
    go(&mut browser, "#/beside/newton/gfx1100/gfx1100%2F64");
    let both = ["gfx1100/index.html#/kernel/newton", "gfx1100-wave64/index.html#/kernel/newton"];
    assert_eq!(shown(&mut browser), both);
    assert_eq!(texts(&mut browser, "#crumbs"), ["All GPUs › newton"]);
    go(&mut browser, "#/");
    assert!(
        shown(&mut browser).is_empty() && browser.evaluate("document.querySelector('main').hidden") == false
    );
    assert_eq!(browser.complaints(), [""; 0]);
}
