//! The emulated GPUs, and what their kernels and queues share.

use crate::counting::Reports;
use crate::events::Events;
use crate::gpu::Gpu;
use crate::objects::Objects;
use crate::settings::Settings;

/// The GPUs of a process.
#[derive(Debug)]
pub(crate) struct Devices {
    pub(crate) settings: Settings,
    /// The GPUs: that of node N has index N - 1.
    pub(crate) gpus: Vec<Gpu>,
    pub(crate) events: Events,
    /// Code objects that have been given to the loader.
    pub(crate) objects: Objects,
    /// The counts of instrumented kernels.
    pub(crate) reports: Reports,
}

impl Devices {
    /// GPUs of which no kernel has run.
    pub(crate) fn new(settings: Settings, gpus: Vec<Gpu>) -> Self {
        Self {
            settings,
            gpus,
            events: Events::default(),
            objects: Objects::default(),
            reports: Reports::default(),
        }
    }
}
