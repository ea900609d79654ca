//! The address unit in front of vL1D: how long it takes to get through the lanes of an instruction.
//!
//! How it works is not published; these rules meet what `gpu-strides` measured on an MI210. Lanes go in
//! fours. Dwords in a row take a cycle for sixteen lanes. Otherwise four lanes take as many cycles as the
//! fullest of four banks of dwords asks for, and more where they spread over several lines; with eight bytes
//! a lane and more, the banks are columns of 16 bytes.

use super::parameters::Parameters;
use crate::exec::footprint::Footprint;
use crate::wave::{LANES, lanes_of};

/// Quarter-cycles of an instruction.
pub(super) fn quarter_cycles(footprint: &Footprint, p: &Parameters) -> u64 {
    let dwords = footprint.bytes.div_ceil(4).max(1);
    if dwords == 1 && in_a_row(footprint) {
        return u64::from(p.coalesced_dwords) * 4;
    }
    let quads = (0..LANES).step_by(4).map(|first| {
        let mut lanes = [0u64; 4];
        let mut count = 0;
        for lane in (first..first + 4).filter(|lane| footprint.global >> lane & 1 != 0) {
            lanes[count] = footprint.address[lane];
            count += 1;
        }
        u64::from(quad(&lanes[..count], dwords, p))
    });
    quads.sum::<u64>().max(u64::from(p.coalesced_dwords))
}

/// Whether the active lanes' dwords follow each other, or are all the same.
fn in_a_row(footprint: &Footprint) -> bool {
    let Some(first) = lanes(footprint).next() else { return true };
    let base = footprint.address[first];
    let same = |lane: usize| footprint.address[lane] == base;
    let next = |lane: usize| footprint.address[lane] == base + 4 * (lane - first) as u64;
    lanes(footprint).all(same) || lanes(footprint).all(next)
}

fn lanes(footprint: &Footprint) -> impl Iterator<Item = usize> + '_ {
    lanes_of(footprint.global)
}

/// Quarter-cycles of four lanes, inactive ones left out.
fn quad(lanes: &[u64], dwords: u8, p: &Parameters) -> u32 {
    let (Some(low), Some(high)) = (lanes.iter().min(), lanes.iter().max()) else { return 0 };
    let unit = if dwords == 1 { 4 } else { 16 };
    let mut banks = [0u32; 4];
    for (at, address) in lanes.iter().enumerate() {
        let place = address / unit;
        if !lanes[..at].iter().any(|other| other / unit == place) {
            banks[(place % 4) as usize] += 1;
        }
    }
    let conflicts = banks.into_iter().max().unwrap_or(1).max(1) * p.quad;
    if dwords > 1 || high - low + 4 < 64 {
        return conflicts;
    }
    // Three lanes and more at one column of 16 bytes, each in a line of its own.
    let mut columns = [0u32; 4];
    lanes.iter().for_each(|address| columns[(address / 16 % 4) as usize] += 1);
    let one_column = columns.into_iter().max().unwrap_or(0) >= 3;
    conflicts.max(if one_column { p.column_quad } else { p.wide_quad })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles a wave at a stride in dwords, as measured on an MI210 (`gpu-strides/mi210.txt`, twice the
    /// figure, which is for 32 lanes).
    #[test]
    fn the_stride_table() {
        let measured = [
            (0, 4.36),
            (1, 4.36),
            (2, 32.2),
            (3, 16.2),
            (4, 64.4),
            (5, 28.2),
            (6, 32.2),
            (7, 28.2),
            (8, 64.4),
            (9, 28.2),
            (10, 32.2),
            (11, 28.2),
            (12, 64.4),
            (13, 28.2),
            (14, 32.2),
            (15, 48.4),
            (16, 64.4),
            (17, 48.4),
            (18, 32.2),
            (19, 28.2),
            (21, 28.2),
            (31, 48.4),
            (33, 48.4),
        ];
        let p = Parameters::mi210();
        for (stride, cycles) in measured {
            // Eight loads at different places of a line, as the benchmark has them.
            let total: u64 = [0, 4, 8, 12, 20, 16, 24, 28]
                .into_iter()
                .map(|first| {
                    let mut footprint = Footprint { global: !0, ..Footprint::default() };
                    for (lane, address) in footprint.address.iter_mut().enumerate() {
                        *address = 0x1000 + 4 * (first + stride * lane as u64);
                    }
                    quarter_cycles(&footprint, &p)
                })
                .sum();
            let ours = total as f64 / 8.0 / 4.0;
            assert!((ours / cycles - 1.0).abs() < 0.15, "stride {stride}: {ours} cycles, measured {cycles}");
        }
    }
}
