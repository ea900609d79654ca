//! A headless Chromium, driven by its DevTools protocol over a pair of pipes: JSON messages, each with a zero
//! byte at its end.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer, or an event that is waited for, may take.
const PATIENCE: Duration = Duration::from_secs(60);

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
    "--remote-debugging-pipe",
];

/// A browser with one page. It ends with this value.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: Option<String>,
    number: u64,
    /// What the page complained of, or asked the network for.
    complaints: RefCell<Vec<String>>,
}

impl Browser {
    /// Starts the browser with a profile in `directory`; `None` if there is none on this machine.
    pub(crate) fn start(directory: &Path) -> Option<Self> {
        Command::new("chromium")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .ok()?;
        // It reads from descriptor 3 and writes to 4; what it has to say on stderr is about the machine, not
        // about the page.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "chromium"])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", directory.display()))
            .arg("about:blank")
            .env("HOME", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starting chromium");
        let to = process.stdin.take().expect("a pipe");
        let out = process.stdout.take().expect("a pipe");
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(out).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("chromium writes JSON");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let complaints = RefCell::default();
        let mut browser = Self { process, to, from, session: None, number: 0, complaints };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the protocol.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("chromium is there");
        let number = self.number;
        let answer = self.wait(|message| message["id"] == number);
        assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Opens a page, and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        self.wait(|message| message["method"] == "Page.loadEventFired");
    }

    /// What a script comes to; of a promise, what it is fulfilled with.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let asked = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{script}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Clicks with the mouse in the middle of an element, which a script comes to.
    pub(crate) fn click(&mut self, element: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const it = {element}; it.scrollIntoView({{ block: 'center' }}); \
             const box = it.getClientRects()[0]; return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
        // What the page does then, it does in tasks of its own.
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
    }

    /// What the page complained of until now, or asked the network for.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.complaints.take()
    }

    /// The first message that is the one; what is told in others is noted.
    fn wait(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).expect("chromium answers");
            let told = &message["params"];
            let complaint = match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => Some(told["exceptionDetails"].to_string()),
                Some("Runtime.consoleAPICalled") => Some(told["args"].to_string()),
                Some("Log.entryAdded") => Some(told["entry"].to_string()),
                Some("Network.requestWillBeSent") => {
                    let url = told["request"]["url"].as_str().unwrap_or_default();
                    // The page itself is a request, too, and so is what stands in the page.
                    (told["type"] != "Document" && !url.starts_with("data:"))
                        .then(|| format!("asks for {url}"))
                }
                _ => None,
            };
            self.complaints.borrow_mut().extend(complaint);
            if is_it(&message) {
                return message;
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends those that it has started.
        self.session = None;
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let end = Instant::now() + Duration::from_secs(10);
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
