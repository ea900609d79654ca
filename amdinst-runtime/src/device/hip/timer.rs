//! How long the GPU takes for a launch, by two of the runtime's events.

use std::time::Duration;

use hip_sys::{hipEvent_t, hipStream_t};

use super::error::HipError;
use super::runtime::{Runtime, call};

/// Two events around what is timed.
pub(super) struct Timer {
    runtime: &'static Runtime,
    start: hipEvent_t,
    end: hipEvent_t,
}

impl Timer {
    /// Events of the GPU that is current on the calling thread.
    pub(super) fn new(runtime: &'static Runtime) -> Result<Self, HipError> {
        let mut timer = Self { runtime, start: std::ptr::null_mut(), end: std::ptr::null_mut() };
        // SAFETY: both pointers are valid for a write.
        unsafe {
            call!(runtime, hipEventCreate(&raw mut timer.start))?;
            call!(runtime, hipEventCreate(&raw mut timer.end))?;
        }
        Ok(timer)
    }

    /// Takes the time when the stream has done what was put into it so far.
    ///
    /// # Safety
    /// A stream of the same GPU.
    pub(super) unsafe fn start(&self, stream: hipStream_t) -> Result<(), HipError> {
        // SAFETY: an event of ours; the caller vouches for the stream.
        unsafe { call!(self.runtime, hipEventRecord(self.start, stream)) }
    }

    /// As [`Timer::start`], for the end.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn stop(&self, stream: hipStream_t) -> Result<(), HipError> {
        // SAFETY: as there.
        unsafe { call!(self.runtime, hipEventRecord(self.end, stream)) }
    }

    /// The time between both, once the stream was waited for. The runtime counts milliseconds, with a
    /// resolution of about half a microsecond.
    pub(super) fn elapsed(&self) -> Result<Duration, HipError> {
        let mut milliseconds = 0.0_f32;
        // SAFETY: the pointer is valid for a write, and both events were recorded.
        unsafe { call!(self.runtime, hipEventElapsedTime(&raw mut milliseconds, self.start, self.end)) }?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        for event in [self.start, self.end].into_iter().filter(|event| !event.is_null()) {
            // SAFETY: created by us and destroyed once. What the runtime says then helps nobody.
            let _ = unsafe { call!(self.runtime, hipEventDestroy(event)) };
        }
    }
}
