//! Signals that end a program: Ctrl-C, TERM and HUP. They are taken only where the program leaves them to the
//! system.

/// The signals, with their names.
pub const ENDING: [(i32, &str); 3] =
    [(libc::SIGINT, "SIGINT"), (libc::SIGTERM, "SIGTERM"), (libc::SIGHUP, "SIGHUP")];

/// Has `handler` called for each of them that the program does nothing about, and does not ignore. It may do
/// what handlers may. The system's own handler is back as soon as it is called, so a second signal of a kind
/// ends the program at once.
pub fn take(handler: extern "C" fn(i32)) {
    for (signal, _) in ENDING {
        // SAFETY: structures on the stack, which the two calls read and fill; the handler does what handlers
        // may.
        unsafe {
            let mut now = std::mem::zeroed::<libc::sigaction>();
            if libc::sigaction(signal, std::ptr::null(), &raw mut now) != 0
                || now.sa_sigaction != libc::SIG_DFL
            {
                continue;
            }
            let mut ours = std::mem::zeroed::<libc::sigaction>();
            ours.sa_sigaction = handler as libc::sighandler_t;
            ours.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
            libc::sigaction(signal, &raw const ours, std::ptr::null_mut());
        }
    }
}
