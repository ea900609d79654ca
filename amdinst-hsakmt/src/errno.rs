//! Why the driver refuses a call: numbers of errors, as system calls give them.

/// An error of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Errno {
    /// It may not be changed.
    NotPermitted = libc::EPERM,
    /// The file is another process's.
    BadFile = libc::EBADF,
    NoMemory = libc::ENOMEM,
    /// An address that the program has no memory at.
    Fault = libc::EFAULT,
    NoDevice = libc::ENODEV,
    Invalid = libc::EINVAL,
    /// No call has that number.
    NoSuchCall = libc::ENOTTY,
    /// All of them are in use.
    NoneLeft = libc::ENOSPC,
    /// What was waited for is gone.
    Gone = libc::EIO,
    /// The emulated driver has not got it.
    NotSupported = libc::EOPNOTSUPP,
}

/// What a call gives.
pub(crate) type Outcome = Result<(), Errno>;
