//! The thread of a queue: packets in order, each to its end before the next one begins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{Ordering::SeqCst, fence};
use std::time::{Duration, Instant};

use amdinst_emu::Dispatch;

use super::packet::{FREE, Packet};
use super::signal::Signal;
use super::{Control, INACTIVE_SIGNAL, NEVER_RUNG, Ring};
use crate::cells::Cell64;
use crate::clock;
use crate::counting::Shape;
use crate::devices::Devices;
use crate::events::MemoryFault;
use crate::fault::{self, Report};
use crate::gpu::Around;
use crate::stopping::{self, Running, Why};
use crate::tell::tell;

/// How long the thread looks for packets without a pause after the last one.
const EAGER: Duration = Duration::from_micros(50);
/// Pauses between looks after that: short ones first.
const SHORT: Duration = Duration::from_micros(50);
/// How long it makes short ones.
const ALERT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_millis(1);

/// What became of a packet.
enum Ended {
    /// The next one may begin.
    Done,
    /// The queue takes no more packets.
    Failed,
    /// The queue is being destroyed.
    Stopped,
}

pub(super) struct Processor {
    devices: &'static Devices,
    gpu: usize,
    ring: Ring,
    control: Arc<Control>,
    /// The doorbell has been rung at least once.
    rung: bool,
}

impl Processor {
    pub(super) fn new(devices: &'static Devices, gpu: usize, ring: Ring, control: Arc<Control>) -> Self {
        Self { devices, gpu, ring, control, rung: false }
    }

    /// Take packets until told to stop.
    pub(super) fn run(&mut self) {
        let mut last = Instant::now();
        while !self.control.stop.load(SeqCst) {
            if self.control.suspended.load(SeqCst) || !self.is_rung() {
                pause(last);
                continue;
            }
            let number = self.ring.read.load();
            let slot = self.ring.slot(number);
            let packet = Packet::read(slot);
            if packet == Packet::Invalid {
                pause(last);
                continue;
            }
            let completion = Signal::of(Packet::completion(slot));
            let start = clock::gpu();
            // Nothing that goes wrong inside may end the program that uses the runtime.
            let ended = catch_unwind(AssertUnwindSafe(|| self.process(slot, packet)));
            match ended.unwrap_or_else(|_| {
                self.fail(&Report::internal("the emulator has panicked (a defect of it)"));
                Ended::Failed
            }) {
                Ended::Done => {}
                Ended::Failed => self.control.suspended.store(true, SeqCst),
                Ended::Stopped => return,
            }
            if self.control.suspended.load(SeqCst) {
                continue;
            }
            slot.store_half(FREE);
            self.ring.read.store(number + 1);
            if let Some(signal) = completion {
                signal.stamp(start, clock::gpu());
                signal.decrement(self.devices);
            }
            last = Instant::now();
        }
    }

    /// Whether the host has ever rung. From then on packets' headers tell which are there: of several
    /// producers the one with the lower number may ring last, and the doorbell, a word of memory here, does
    /// not keep what it was rung with before.
    fn is_rung(&mut self) -> bool {
        self.rung |= self.ring.doorbell.load() != NEVER_RUNG;
        self.rung
    }

    fn process(&self, slot: Cell64, packet: Packet) -> Ended {
        match packet {
            Packet::Invalid | Packet::Commands => Ended::Done,
            Packet::Dispatch { kernel } => self.dispatch(slot, kernel),
            Packet::Barrier { signals, all } => {
                let signals: Vec<_> = signals.into_iter().filter_map(Signal::of).collect();
                let zero = |signal: &Signal| signal.value() == 0;
                self.wait(|| {
                    signals.is_empty()
                        || if all { signals.iter().all(zero) } else { signals.iter().any(zero) }
                })
            }
            Packet::BarrierValue { signal, value, mask, condition } => {
                let signal = Signal::of(signal);
                self.wait(|| condition.holds(signal.map_or(0, Signal::value) & mask, value))
            }
            Packet::Unknown { header } => {
                self.fail(&Report::bad_packet(header));
                Ended::Failed
            }
        }
    }

    fn dispatch(&self, slot: Cell64, kernel: u64) -> Ended {
        let settings = &self.devices.settings;
        let dispatch = Dispatch {
            packet: slot.address(),
            queue: self.ring.queue(),
            threads: settings.threads,
            budget: settings.budget,
            record_masks: false,
        };
        fence(SeqCst);
        let around = Around {
            objects: &self.devices.objects,
            reports: settings.counts().then_some(&self.devices.reports),
            stop: &|| self.stop().is_some(),
        };
        let shape = Shape::of_packet([slot.load(), slot.nth(1).load(), slot.nth(2).load()]);
        let running = Running::begin();
        let result = self.devices.gpus[self.gpu].dispatch(around, kernel, shape, &dispatch);
        fence(SeqCst);
        match (result, self.stop()) {
            (Ok(_), _) => Ended::Done,
            (Err(error), Some(why)) if error.is_stop() => {
                if let Some(message) = Report::stopped(&error, why, running.since.elapsed()) {
                    tell(message);
                }
                Ended::Stopped
            }
            (Err(error), _) => {
                self.fail(&Report::of_error(&error));
                Ended::Failed
            }
        }
    }

    /// Why a kernel is to be stopped, if it is.
    fn stop(&self) -> Option<Why> {
        if self.control.stop.load(SeqCst) { Some(Why::Destroyed) } else { stopping::asked() }
    }

    /// Wait for other packets or the host.
    fn wait(&self, mut done: impl FnMut() -> bool) -> Ended {
        let begin = Instant::now();
        while !done() {
            if self.control.stop.load(SeqCst) {
                return Ended::Stopped;
            }
            pause(begin);
        }
        Ended::Done
    }

    /// Tell the user and the runtime.
    fn fail(&self, report: &Report) {
        tell(&report.message);
        match report.effect {
            fault::Effect::MemoryFault { address, read_only } => {
                let node = self.devices.gpus[self.gpu].node;
                self.devices.events.raise(MemoryFault { node, address, read_only });
            }
            fault::Effect::QueueError(code) => {
                // SAFETY: a field of the runtime's `amd_queue_t`, which lives as long as the queue.
                let handle = unsafe { Cell64::at(self.ring.queue() + INACTIVE_SIGNAL) }.load();
                if let Some(signal) = Signal::of(handle) {
                    signal.or(code, self.devices);
                }
            }
        }
    }
}

/// Wait a little, the longer the longer nothing has happened.
fn pause(since: Instant) {
    match since.elapsed() {
        idle if idle < EAGER => std::hint::spin_loop(),
        idle if idle < ALERT => std::thread::sleep(SHORT),
        _ => std::thread::sleep(LONG),
    }
}
