//! The page in a browser: it opens without a complaint and without a request, its links lead somewhere, what is folded opens at a
//! click; with ten branches and with ten thousand.

mod devtools;
#[path = "../model/mod.rs"]
mod model;

use std::collections::BTreeSet;

use amdinst_core::report::Location;
use amdinst_core::report::run::{Run, SourceStamp, UnlaunchedKernel, content_hash};
use amdinst_report::html::{Extras, Instruction, KernelListing};
use amdinst_report::{Sources, Summary, html};
use devtools::Browser;
use serde_json::json;

/// Branches of a kernel of [`many`].
const BRANCHES: u32 = 100;
const FILE: &str = "src/many.rs";

/// A line of the source for each branch.
fn source(branches: u32) -> String {
    (1..=branches).map(|line| format!("    if lane < {line} {{ step() }} // {line}\n")).collect()
}

/// The model's run, with so many branches more: [`BRANCHES`] a kernel, each on a line of its own, in two waves.
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

/// A browser with the page of a run of so many branches, in a directory of its own; or says why there is none.
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
    assert!(told.as_str().unwrap().starts_with(&format!("{} branches", branches + 2)), "{told}");
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
    for place in ["#/", "#/kernel/0", "#/kernel/2", "#/kernel/1/branch/7", "#/file/0/1", "#/file/1/1"] {
        assert!(known.contains(place), "{place}: {known:?}");
    }
    // With the mouse, too.
    go(&mut browser, "#/");
    browser.click("document.querySelector('table.branches a')");
    let hash = browser.evaluate("location.hash");
    assert!(hash.as_str().unwrap().contains("/branch/"), "{hash}");
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
    go(&mut browser, "#/kernel/0");
    assert_eq!(rows(&mut browser), wanted);
    let told = browser.evaluate(
        "[...document.querySelectorAll('.src .l')].map((line) => line.querySelector('.cyc')?.textContent || '')",
    );
    assert_eq!(told, json!(["", "", "", "4", "18", "", "", "", "0", ""]));
    assert!(foldings(&mut browser, "#/kernel/0") >= 1);
    for link in links(&mut browser) {
        go(&mut browser, &link);
        is_somewhere(&mut browser, &link);
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
