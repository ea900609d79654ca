//! Calls about queues.

use super::Arguments;
use super::machine::node;
use crate::driver::{Driver, Wish};
use crate::errno::{Errno, Outcome};
use crate::topology::GLOBAL_SYNCS;

/// The kind of queues that hold AQL packets.
const AQL: u32 = 2;

/// Starts a queue. Queues of AQL packets are all there are: runtimes copy with kernels where a GPU has no
/// other engine.
pub(super) fn create(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    if arguments.word(40) != AQL {
        return Err(Errno::NotSupported);
    }
    let wish = Wish {
        node: node(driver, arguments.word(36))?,
        base: arguments.long(0),
        bytes: arguments.word(32).into(),
        read: arguments.long(16),
    };
    let (id, doorbell) = driver.create_queue(wish)?;
    arguments.set_long(24, doorbell);
    arguments.set_word(52, id);
    Ok(())
}

/// Ends a queue.
pub(super) fn destroy(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.destroy_queue(arguments.word(0))
}

/// Changes a queue: with no share of the GPU it takes no packets.
pub(super) fn update(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.suspend_queue(arguments.word(8), arguments.word(16) == 0)
}

/// Which CUs a queue may use: results do not depend on it.
pub(super) fn set_mask(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.check_queue(arguments.word(0))
}

/// Gives a queue counters of global wave sync, by which workgroups of a cooperative launch wait for each
/// other.
pub(super) fn allocate_syncs(driver: &'static Driver, arguments: &mut Arguments) -> Outcome {
    driver.check_queue(arguments.word(0))?;
    if arguments.word(4) > GLOBAL_SYNCS {
        return Err(Errno::NoneLeft);
    }
    arguments.set_word(8, 0);
    Ok(())
}
