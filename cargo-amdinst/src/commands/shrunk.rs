//! A mapped file that becomes shorter while it is read. The system sends SIGBUS for a byte that is no longer
//! there; who has asked for it cannot go on. So the process says which file it was, and ends with the code of
//! an input that cannot be read.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};

use crate::exit::Exit;

/// Files that can be watched: a command maps one or two.
const MOST: usize = 16;

/// A mapped file.
struct Watched {
    start: usize,
    end: usize,
    /// What is told.
    message: String,
}

/// They are never forgotten: what one has left is not mapped again by us.
static WATCHED: [AtomicPtr<Watched>; MOST] = [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// What SIGBUS did before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Whether it is told from now on if bytes of a mapped file are gone.
pub(super) fn watch(mapped: &[u8], path: &Path) -> bool {
    let place = COUNT.fetch_add(1, SeqCst);
    let Some(slot) = WATCHED.get(place) else { return false };
    let start = mapped.as_ptr().addr();
    let message = format!("error: cannot read {}: it has become shorter while it was read\n", path.display());
    slot.store(Box::into_raw(Box::new(Watched { start, end: start + mapped.len(), message })), SeqCst);
    install()
}

fn install() -> bool {
    if BEFORE.get().is_some() {
        return true;
    }
    // SAFETY: structures on the stack, which the two calls read and fill; the handler does what handlers may.
    unsafe {
        let mut before = std::mem::zeroed::<libc::sigaction>();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
            return false;
        }
        _ = BEFORE.set(before);
        let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) = gone;
        let mut ours = std::mem::zeroed::<libc::sigaction>();
        ours.sa_sigaction = handler as libc::sighandler_t;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) == 0
    }
}

extern "C" fn gone(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system gives a valid structure; what is watched is never freed. `write`, `_exit` and
    // `sigaction` may be called in a handler.
    unsafe {
        let address = (*info).si_addr().addr();
        for slot in &WATCHED {
            let Some(watched) = slot.load(SeqCst).as_ref() else { continue };
            if (watched.start..watched.end).contains(&address) {
                libc::write(libc::STDERR_FILENO, watched.message.as_ptr().cast(), watched.message.len());
                libc::_exit(Exit::BadInput.code().into());
            }
        }
        // Another's: what there was before takes it as soon as this handler returns.
        if let Some(before) = BEFORE.get() {
            libc::sigaction(signal, before, std::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use crate::commands::files::File;

    /// A file of two pages.
    const FILE: &str = "AMDINST_TEST_SHRINKING_FILE";

    #[test]
    #[ignore = "the other one runs it in a process of its own"]
    fn child() {
        let Some(path) = std::env::var_os(FILE) else { return };
        let mapped = File::open(path.as_ref()).unwrap();
        let sum: u64 = mapped.bytes().iter().map(|&byte| u64::from(byte)).sum();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        let again: u64 = mapped.bytes().iter().map(|&byte| u64::from(byte)).sum();
        unreachable!("{sum} and {again}");
    }

    #[test]
    fn a_file_that_shrinks_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![1; 8192]).unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "commands::shrunk::tests::child", "--ignored", "--nocapture"])
            .env(FILE, &path)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let expected =
            format!("error: cannot read {}: it has become shorter while it was read\n", path.display());
        assert!(told.ends_with(&expected), "{told}");
        assert_eq!(output.status.code(), Some(5), "{told}");
    }
}
