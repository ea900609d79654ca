//! What every device's memory can do.

use std::sync::Arc;

use super::DeviceError;

/// Device memory, by address.
pub(crate) trait DeviceMemory: Send + Sync {
    /// Copies to the host.
    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), DeviceError>;
    /// Copies to the device.
    fn write(&self, address: u64, from: &[u8]) -> Result<(), DeviceError>;
    /// Gives an allocation back.
    fn free(&self, address: u64);
}

/// Device memory that is freed when dropped.
pub(crate) struct Allocation {
    memory: Arc<dyn DeviceMemory>,
    address: u64,
}

impl Allocation {
    pub(super) const fn new(memory: Arc<dyn DeviceMemory>, address: u64) -> Self {
        Self { memory, address }
    }

    /// Address of the first byte.
    pub(crate) const fn address(&self) -> u64 {
        self.address
    }

    /// Copies its first bytes to the host.
    pub(crate) fn read(&self, into: &mut [u8]) -> Result<(), DeviceError> {
        if into.is_empty() { Ok(()) } else { self.memory.read(self.address, into) }
    }

    /// Replaces its first bytes.
    pub(crate) fn write(&self, from: &[u8]) -> Result<(), DeviceError> {
        if from.is_empty() { Ok(()) } else { self.memory.write(self.address, from) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.memory.free(self.address);
    }
}
