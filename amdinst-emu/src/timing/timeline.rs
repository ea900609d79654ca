//! When each wave of a dispatch was on which SIMD: a trace for Perfetto's viewer, or Chrome's.
//!
//! The format is the JSON object of "Trace Event Format" (Google, section "JSON Object Format"): metadata
//! events name processes and threads, complete events (`X`) are the waves, counter events (`C`) how many
//! there were. A process is a compute unit, a thread one wave slot of a SIMD, for waves on a SIMD overlap,
//! and slices of a thread must not. Times are microseconds; they are rounded to nanoseconds, which is what
//! viewers keep.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::outcome::{Timing, WaveTime};
use super::unit::SIMDS;

/// Dispatches of one device, each from its own start.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    events: Vec<Event>,
    /// The last process number: one for each dispatch, and one for each of its compute units. The first is 1,
    /// for viewers take 0 for the system's own.
    process: u32,
}

/// One event of the trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Event {
    name: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'static str,
    ph: &'static str,
    pid: u32,
    tid: u32,
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Value,
}

/// Numbers of threads that a process may have: four SIMDs, and the wave slots of each. The numbers of one
/// process are not those of another, for some viewers take the same number for the same thread.
const THREADS: u32 = 256;

impl Timeline {
    /// Adds a dispatch under a name for people. `grid` is its workgroups in x, y, z.
    pub fn add(&mut self, name: &str, timing: &Timing, grid: [u32; 3]) {
        let device = self.next_process(&format!("{name}, {}", timing.parameters.name));
        let nanoseconds =
            |cycle: u64| (u128::from(cycle) * 1000 / u128::from(timing.parameters.megahertz.max(1))) as u64;
        for (time, waves) in resident(&timing.waves) {
            self.count(device, micros(nanoseconds(time)), waves);
        }
        let mut units = BTreeMap::<u32, Vec<(usize, &WaveTime)>>::new();
        for (number, wave) in timing.waves.iter().enumerate() {
            units.entry(wave.compute_unit).or_default().push((number, wave));
        }
        let groups: u64 = grid.iter().map(|&size| u64::from(size)).product();
        let waves_per_group = (timing.waves.len() as u64 / groups.max(1)).max(1);
        for (unit, mut waves) in units {
            let process = self.next_process(&format!("{name}, compute unit {unit}"));
            waves.sort_by_key(|(number, wave)| (wave.simd, wave.start, *number));
            let mut slots = Slots::default();
            for (number, wave) in waves {
                let (slot, new) = slots.take(wave);
                let thread = process * THREADS + wave.simd * (THREADS / SIMDS as u32) + slot;
                if new {
                    self.name_thread(process, thread, &format!("SIMD {} slot {slot}", wave.simd));
                }
                let (group, in_group) = (number as u64 / waves_per_group, number as u64 % waves_per_group);
                let [x, y, z] = place(group, grid);
                let (start, end) = (nanoseconds(wave.start), nanoseconds(wave.end));
                self.events.push(Event {
                    name: format!("({x}, {y}, {z}) wave {in_group}"),
                    cat: "wave",
                    ph: "X",
                    pid: process,
                    tid: thread,
                    ts: micros(start),
                    dur: Some(micros(end - start)),
                    args: json!({
                        "workgroup": format!("({x}, {y}, {z})"),
                        "wave": in_group,
                        "start cycle": wave.start,
                        "cycles": wave.residency(),
                    }),
                });
            }
        }
    }

    /// The trace, as one JSON document.
    pub fn to_json(&self) -> Value {
        json!({
            "displayTimeUnit": "ns",
            "otherData": { "producer": "cargo-amdinst", "times": "modeled, not measured" },
            "traceEvents": self.events,
        })
    }

    fn next_process(&mut self, name: &str) -> u32 {
        self.process += 1;
        let (pid, tid) = (self.process, self.process * THREADS);
        self.metadata("process_name", pid, tid, json!({ "name": name }));
        self.metadata("process_sort_index", pid, tid, json!({ "sort_index": pid }));
        pid
    }

    fn name_thread(&mut self, pid: u32, tid: u32, name: &str) {
        self.metadata("thread_name", pid, tid, json!({ "name": name }));
        self.metadata("thread_sort_index", pid, tid, json!({ "sort_index": tid }));
    }

    fn metadata(&mut self, name: &str, pid: u32, tid: u32, args: Value) {
        let name = name.to_owned();
        self.events.push(Event { name, cat: "", ph: "M", pid, tid, ts: 0.0, dur: None, args });
    }

    fn count(&mut self, pid: u32, ts: f64, waves: u64) {
        let (name, tid) = ("waves resident".to_owned(), pid * THREADS);
        let args = json!({ "waves": waves });
        self.events.push(Event { name, cat: "", ph: "C", pid, tid, ts, dur: None, args });
    }
}

/// The slots of a compute unit's SIMDs: when each is free.
#[derive(Debug, Default)]
struct Slots(BTreeMap<(u32, u32), u64>);

impl Slots {
    /// The first free slot of the wave's SIMD, and whether nobody had it before. Waves come in the order of
    /// their starts.
    fn take(&mut self, wave: &WaveTime) -> (u32, bool) {
        for slot in 0.. {
            let known = self.0.get(&(wave.simd, slot)).copied();
            if known.is_none_or(|free| free <= wave.start) {
                self.0.insert((wave.simd, slot), wave.end);
                return (slot, known.is_none());
            }
        }
        unreachable!("a SIMD has fewer waves than there are numbers")
    }
}

/// Waves that were there, from each time on at which that changed.
fn resident(waves: &[WaveTime]) -> BTreeMap<u64, u64> {
    let mut changes = BTreeMap::<u64, i64>::new();
    for wave in waves {
        *changes.entry(wave.start).or_default() += 1;
        *changes.entry(wave.end).or_default() -= 1;
    }
    let mut now = 0;
    let sum = |(time, change): (u64, i64)| {
        now += change;
        (time, now.max(0) as u64)
    };
    changes.into_iter().map(sum).collect()
}

/// A workgroup's place in the grid.
fn place(group: u64, [x, y, _]: [u32; 3]) -> [u64; 3] {
    let (x, y) = (u64::from(x.max(1)), u64::from(y.max(1)));
    [group % x, group / x % y, group / (x * y)]
}

fn micros(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(simd: u32, start: u64, end: u64) -> WaveTime {
        WaveTime { compute_unit: 0, simd, start, end }
    }

    #[test]
    fn a_slot_is_taken_again_when_its_wave_has_left() {
        let mut slots = Slots::default();
        let taken = [wave(0, 0, 10), wave(0, 2, 5), wave(0, 5, 9), wave(0, 6, 8), wave(1, 7, 9)]
            .map(|wave| slots.take(&wave));
        assert_eq!(taken, [(0, true), (1, true), (1, false), (2, true), (0, true)]);
    }

    #[test]
    fn waves_are_counted_when_they_come_and_go() {
        let counts = resident(&[wave(0, 0, 10), wave(0, 2, 5), wave(1, 5, 9)]);
        // At 5 one leaves and one comes.
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(0, 1), (2, 2), (5, 2), (9, 1), (10, 0)]);
    }

    #[test]
    fn workgroups_are_numbered_along_x_first() {
        assert_eq!(
            [0, 1, 2, 5, 6].map(|group| place(group, [2, 3, 4])),
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 2, 0], [0, 0, 1]]
        );
    }
}
