//! Figures: a table for people, JSON for programs.

use serde_json::{Value, json};

use super::workload::Workload;

/// One kernel at one level, on one thread or all cores.
pub(crate) struct Row {
    pub(crate) kernel: &'static str,
    pub(crate) vectors: &'static str,
    pub(crate) threads: usize,
    /// Of one launch.
    pub(crate) wave_instructions: u64,
    /// Best of the runs, seconds.
    pub(crate) seconds: f64,
    /// What the work takes on the host with as many threads, seconds.
    pub(crate) host_seconds: f64,
    /// How many times as long it takes if it is to have one result, if that was measured.
    pub(crate) deterministic: Option<f64>,
}

impl Row {
    /// Million wave-instructions a second.
    fn rate(&self) -> f64 {
        self.wave_instructions as f64 / self.seconds / 1e6
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "kernel": self.kernel,
            "vectors": self.vectors,
            "threads": self.threads,
            "wave_instructions": self.wave_instructions,
            "seconds": self.seconds,
            "million_wave_instructions_per_second": self.rate(),
            "host_seconds": self.host_seconds,
            "deterministic": self.deterministic,
        })
    }
}

/// The table's head.
pub(crate) fn head() {
    println!(
        "{:<12} {:<9} {:>7} {:>12} {:>10} {:>12} {:>9}",
        "kernel", "vectors", "threads", "M instr/s", "ms", "host ms", "/ host"
    );
}

/// What a kernel is.
pub(crate) fn title(workload: &Workload) {
    println!("{}: {}, {} work-items", workload.kernel, workload.what, workload.items());
}

/// A line of the table.
pub(crate) fn line(row: &Row) {
    println!(
        "{:<12} {:<9} {:>7} {:>12.1} {:>10.2} {:>12.3} {:>8.1}x",
        row.kernel,
        row.vectors,
        row.threads,
        row.rate(),
        row.seconds * 1e3,
        row.host_seconds * 1e3,
        row.seconds / row.host_seconds
    );
    if let Some(times) = row.deterministic {
        println!("{:<12} {:<9} with one result, whatever races: {times:.2}x the time on the cores", "", "");
    }
}
