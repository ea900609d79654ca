//! How a panic ends: with a line that asks for a report.

use crate::exit::REPORT;

/// Has every panic end with a line that asks for a report. Rust ends the process with the code of
/// [`Exit::Internal`](crate::exit::Exit::Internal).
pub(crate) fn report() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        crate::shell::tell(&format!("{REPORT}\n"));
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::{Exit, Failure};

    #[test]
    #[ignore = "the other one runs it in a process of its own"]
    fn child() {
        report();
        let ended = std::thread::spawn(|| panic!("a state that cannot be")).join();
        assert!(ended.is_err());
        std::process::exit(Failure::internal(anyhow::anyhow!("it")).exit.code().into());
    }

    #[test]
    fn a_bug_asks_for_a_report() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "panics::tests::child", "--ignored", "--nocapture"])
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("a state that cannot be") && told.contains(REPORT), "{told}");
        assert_eq!(output.status.code(), Some(101));
        let failure = Failure::internal(anyhow::anyhow!("it"));
        assert_eq!((failure.exit, failure.help.as_deref()), (Exit::Internal, Some(REPORT)));
    }
}
