//! Every constant of the model, with its source: the one table.
//!
//! Sources: **D** the vendor ("CDNA2 Memory Hierarchy" slides, the CDNA2 white paper and ISA manual), **M**
//! measured on an MI210 by gpu-benches (`te42kyfo/gpu-benches`, the file named), **L** LLVM's scheduling
//! model or CLRX's documentation of GCN, **C** the clock readings of waves on a gfx900 that
//! `bbiiggppiigg/KernelReorderTool` has in its branch `newstuff` (2022), **F** fitted: unpublished, chosen so
//! that the model meets the measurement named, or a guess where none is. Where a measurement gives only a sum
//! (a load's round trip), the parts are split as the comment says.

/// How long an instruction keeps its unit, and when its result can be used; in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Cycles that the unit takes nothing else of this SIMD.
    pub busy: u16,
    /// Cycles from issue until an instruction that reads the result can issue.
    pub latency: u16,
}

const fn cost(busy: u16, latency: u16) -> Cost {
    Cost { busy, latency }
}

/// Latencies that take the place of the memory hierarchy, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedLatencies {
    /// Vector memory.
    pub vector: u64,
    /// Scalar memory.
    pub scalar: u64,
    /// LDS.
    pub lds: u64,
}

/// A device, as the model knows it. Times are cycles of the engine clock.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameters {
    /// Its name.
    pub name: &'static str,
    /// Compute units that run a dispatch. D: MI210 104; MI250X 110 on each die, and a dispatch runs on one
    /// die.
    pub compute_units: u32,
    /// Engine clock. D, and M `gpu-latency/mi210.txt`: 1700 MHz.
    pub megahertz: u32,
    /// Waves that a SIMD runs at most, whatever its processor could. D: 8 on CDNA2. C: of the 10 of a gfx900
    /// no more than 8 are seen.
    pub waves_per_simd: u32,
    /// Compute units that share caches of scalars and of code. D: 2 on CDNA2. C: 24 groups of three or two in
    /// 64.
    pub units_per_front: u32,

    /// Cycles between two visits of one SIMD. D: one SIMD a cycle, in turn over four.
    pub turn: u64,
    /// Vector ALU, 64 lanes on 16. D: 4 cycles.
    pub valu: Cost,
    /// Transcendental functions (rcp, rsq, sqrt, exp, log, sin, cos): a quarter of the rate. L.
    pub transcendental: Cost,
    /// Transcendental functions in double precision. L (latency), D (rate: sixteen-lane units, one
    /// sixteenth).
    pub transcendental_f64: Cost,
    /// Conversions between formats. D: full rate; L gives a latency of 4 turns, of which hardware shows none.
    pub convert: Cost,
    /// 32-bit integer multiplication (`v_mul_lo_u32`, `v_mul_hi_u32`, `v_mad_u64_u32`). L (CLRX: 16).
    pub multiply: Cost,
    /// Double precision but for the next, conversions and comparisons among it. D: CDNA2 runs it at the rate
    /// of single precision. L (CLRX, `GcnTimings`): 32 cycles on a GCN of a sixteenth of that rate.
    pub double: Cost,
    /// Multiplication and FMA in double precision. D and L as before: 64 cycles there.
    pub double_multiply: Cost,
    /// Shifts of 64 bits. L (CLRX, as before): they go at the rate of double precision, 32 cycles.
    pub long_shift: Cost,
    /// MFMA: 4x4, 16x16, 32x32, f64 4x4x4, f64 16x16x4. D: 8, 32, 64, 16, 32 cycles; results after the wait
    /// states that the ISA manual asks for (5, 11, 19, 6, 11 turns behind the instruction).
    pub mfma: [Cost; 5],
    /// How much sooner a matrix instruction can take another's result. L (`MIMFMARead`: 4 turns).
    pub mfma_forward: u64,
    /// Scalar ALU. L.
    pub salu: Cost,
    /// `s_*_saveexec_*`, `s_setreg_*`. L (CLRX: 8).
    pub salu_slow: Cost,
    /// A VALU result in an SGPR, VCC or EXEC, as a scalar instruction sees it. F: one more turn.
    pub vector_to_scalar: u64,
    /// A branch that is not taken. L (CLRX: 4).
    pub branch_not_taken: u64,
    /// A branch that is taken. L (CLRX: 20, the refill of the instruction buffer).
    pub branch_taken: u64,
    /// Cycles for each wait state of `s_nop`; 0: none besides its own issue (as llvm-mca has it).
    pub nop_state: u64,
    /// Cycles for each unit of `s_sleep`. D: 64.
    pub sleep_unit: u64,
    /// From the last wave's arrival at a barrier until all go on. F (a guess of 20 to 40; nothing public).
    pub barrier: u64,

    /// A whole load from vL1D, issue to use, is this and the address unit's time. M `gpu-latency`: 125 cycles
    /// a step of a pointer chase by 8-byte loads, which is 16 of the address unit, this, and 4 for
    /// `s_waitcnt`.
    pub l1_hit: u64,
    /// vL1D in bytes. D.
    pub l1_bytes: u32,
    /// Ways of vL1D. D (GCN: 64 lines of 64 bytes in each of 4 sets).
    pub l1_ways: u32,
    /// Bytes a cycle that fill vL1D. D.
    pub l1_fill_bytes: u32,
    /// What a hit in L2 takes more than one in vL1D. M `gpu-latency`: 233 to 254 cycles to 3.5 MB.
    pub l2_hit: u64,
    /// What a miss in L2 takes more than a hit. M `gpu-latency`: 570 to 585 cycles from 13 to 60 MB.
    pub hbm: u64,
    /// Pages of 2 MB whose translation a compute unit has at hand. M `gpu-latency`: the step between 60 and
    /// 340 MB.
    pub tlb_pages: u32,
    /// What another page costs. M as before: 665 to 670 cycles beyond 900 MB.
    pub tlb_miss: u64,
    /// L2 in bytes. D.
    pub l2_bytes: u32,
    /// Ways of L2. D.
    pub l2_ways: u32,
    /// Channels of L2, and of HBM behind it. D: 32, of 256 bytes each in turn.
    pub channels: u32,
    /// Bytes a cycle from one channel of L2. M `gpu-cache/mi210.txt`: 5.0 to 5.1 TB/s in all (of a peak of
    /// 128 a channel). A request takes a cycle at least, however small, and a store one for each half of a
    /// line (inference: what MI100's and CDNA3's channels are said to take, 64 bytes a cycle).
    pub l2_channel_bytes: f64,
    /// Bytes a cycle from HBM, all channels. M `gpu-stream/mi210.txt`: 1.25 to 1.53 TB/s, reads 1.35 (of 1.64
    /// peak).
    pub hbm_bytes: f64,
    /// From a store's arrival at L2 until its acknowledgement is back. M `gpu-stream` (scale less read, two
    /// waves a CU).
    pub store_acknowledge: u64,

    /// Quarter-cycles of the address unit for 16 lanes of dwords in a row. M `gpu-strides`: 4.4 cycles a
    /// wave.
    pub coalesced_dwords: u32,
    /// For four lanes of 8 or more bytes each. M `gpu-strides` (doubles: 16 cycles a wave), `gpu-cache` (60
    /// bytes a cycle).
    pub quad: u32,
    /// For four lanes whose dwords span 64 bytes or more. M `gpu-strides`: 28 cycles a wave at odd strides
    /// from 5 on.
    pub wide_quad: u32,
    /// For four lanes in four lines, at one 16-byte column. M `gpu-strides`: 48 cycles a wave at strides 15,
    /// 17, 31, 33.
    pub column_quad: u32,
    /// Cycles of work that the address unit accepts ahead of time. F (a guess).
    pub address_queue: u64,
    /// Bytes of store data a cycle. D: 64.
    pub store_bytes: u32,

    /// From the end of an LDS access in the banks until a load's result can be used. F: `ds_read_b32` 64 in
    /// all.
    pub lds_latency: u64,
    /// What an atomic with return takes more. F.
    pub lds_atomic: u64,
    /// Cycles of the port that SIMDs share in pairs, by dwords a lane, reading. D: 64 bytes a cycle.
    pub lds_read: [u64; 4],
    /// Cycles of the port that SIMDs share in pairs, by dwords a lane, writing: address and data share it. L
    /// (CLRX: 8, 12, 20).
    pub lds_write: [u64; 4],
    /// Of an atomic. L (CLRX: 8).
    pub lds_atomic_port: u64,
    /// Cycles of work that the LDS accepts ahead of time from one port. F (a guess).
    pub lds_queue: u64,

    /// A scalar load that hits sL1D, by dwords up to 2, 4, 8, 16. F (a guess of 50 to 70).
    pub scalar_hit: [u64; 4],
    /// sL1D in bytes, of [`units_per_front`](Self::units_per_front) compute units. D.
    pub scalar_bytes: u32,
    /// What a scalar or instruction miss takes more before L2's own time. F (a guess).
    pub scalar_miss: u64,
    /// Lines of code that are fetched ahead of the one a wave is in. F (a guess).
    pub fetch_ahead: u64,
    /// Instruction cache in bytes, of as many. D.
    pub instruction_bytes: u32,

    /// Cycles that one channel's atomic unit takes for a lane at one address. F (a guess).
    pub atomic_lane: u64,
    /// A compute unit lets atomics on the same 64 bytes through one after the other, so many cycles apart; 0:
    /// as they come. F: fitted by `cargo amdinst bench fit` for the gfx900; for others nothing is known of
    /// it.
    pub atomic: u64,

    /// From a free slot until the first wave of a workgroup runs. M `gpu-stream` (read: 994 cycles a
    /// workgroup of one wave, two of them a CU; what its loads do not explain).
    pub workgroup_launch: u64,
    /// What launches waves, for an even share of the compute units each. M: one a compute unit fits an MI210.
    /// D: a gfx900 has four shader engines.
    pub launchers: u32,
    /// Cycles in which a launcher launches one wave. M as before: 1084, 1191, 1373 cycles for 2, 4, 8 waves
    /// of a compute unit. C: 16 workgroups of four waves start on an empty eighth of an engine in 1,400
    /// cycles, all eight of which have their turn.
    pub wave_launch: u64,
    /// Workgroups of more than one wave that a compute unit holds. D: 16 barriers.
    pub workgroups: u32,

    /// Latencies instead of caches, banks and queues.
    pub fixed: Option<FixedLatencies>,
}

impl Parameters {
    /// AMD Instinct MI210: one die of CDNA2.
    pub const fn mi210() -> Self {
        Self {
            name: "mi210",
            compute_units: 104,
            megahertz: 1700,
            waves_per_simd: 8,
            units_per_front: 2,
            turn: 4,
            valu: cost(4, 4),
            transcendental: cost(16, 16),
            transcendental_f64: cost(64, 64),
            convert: cost(4, 4),
            multiply: cost(16, 16),
            double: cost(4, 4),
            double_multiply: cost(4, 4),
            long_shift: cost(4, 4),
            mfma: [cost(8, 24), cost(32, 48), cost(64, 80), cost(16, 32), cost(32, 48)],
            mfma_forward: 16,
            salu: cost(4, 4),
            salu_slow: cost(8, 8),
            vector_to_scalar: 4,
            branch_not_taken: 4,
            branch_taken: 20,
            nop_state: 4,
            sleep_unit: 64,
            barrier: 28,
            l1_hit: 104,
            l1_bytes: 16 << 10,
            l1_ways: 64,
            l1_fill_bytes: 64,
            l2_hit: 116,
            hbm: 332,
            tlb_pages: 32,
            tlb_miss: 95,
            l2_bytes: 8 << 20,
            l2_ways: 16,
            channels: 32,
            l2_channel_bytes: 94.0,
            hbm_bytes: 835.0,
            store_acknowledge: 340,
            coalesced_dwords: 4,
            quad: 4,
            wide_quad: 7,
            column_quad: 12,
            address_queue: 128,
            store_bytes: 64,
            lds_latency: 60,
            lds_atomic: 32,
            lds_read: [4, 8, 12, 16],
            lds_write: [8, 12, 16, 20],
            lds_atomic_port: 8,
            lds_queue: 128,
            scalar_hit: [52, 52, 56, 64],
            scalar_bytes: 16 << 10,
            scalar_miss: 20,
            fetch_ahead: 4,
            instruction_bytes: 32 << 10,
            atomic_lane: 2,
            atomic: 0,
            workgroup_launch: 145,
            launchers: 104,
            wave_launch: 20,
            workgroups: 16,
            fixed: None,
        }
    }

    /// One die of an AMD Instinct MI250X. All but the number of compute units is the MI210's.
    pub const fn mi250x() -> Self {
        Self { name: "mi250x", compute_units: 110, launchers: 110, ..Self::mi210() }
    }

    /// A gfx900 of 64 compute units (Vega 10: Radeon RX Vega 64, Instinct MI25). The evaluation of 2022 was
    /// measured on it, and only that comparison uses it. Units, caches and rates are the vendor's, `hbm`,
    /// `store_acknowledge` and `atomic` fitted by `cargo amdinst bench fit`; memory gives the share of its
    /// peak (484 GB/s) that an MI210's does; the rest is the MI210's, except the constants named C above.
    pub const fn vega10() -> Self {
        Self {
            name: "vega10",
            compute_units: 64,
            megahertz: 1500,
            units_per_front: 3,
            double: cost(32, 32),
            double_multiply: cost(64, 64),
            long_shift: cost(32, 32),
            l2_bytes: 4 << 20,
            channels: 16,
            // 64 a channel is the peak, as 128 is on an MI210.
            l2_channel_bytes: 47.0,
            hbm: 800,
            hbm_bytes: 280.0,
            store_acknowledge: 75,
            fetch_ahead: 1,
            atomic_lane: 1,
            atomic: 192,
            launchers: 4,
            wave_launch: 3,
            ..Self::mi210()
        }
    }

    /// A compute unit with the latencies of LLVM's scheduling model for gfx90a (`SIDPGFX90AFullSpeedModel`,
    /// in turns of four cycles). It lacks everything that LLVM's model does not know. Tests compare it with
    /// llvm-mca.
    pub const fn llvm() -> Self {
        const fn turns(latency: u16) -> Cost {
            cost(4, 4 * latency)
        }
        Self {
            name: "llvm",
            compute_units: 1,
            transcendental: turns(4),
            transcendental_f64: turns(4),
            convert: turns(4),
            multiply: turns(1),
            double: turns(1),
            double_multiply: turns(1),
            salu: turns(1),
            salu_slow: turns(1),
            vector_to_scalar: 0,
            branch_taken: 4,
            nop_state: 0,
            workgroup_launch: 0,
            wave_launch: 0,
            fixed: Some(FixedLatencies { vector: 4 * 80, scalar: 4 * 5, lds: 4 * 5 }),
            ..Self::mi210()
        }
    }

    /// Which of the caches of scalars and of code a compute unit has.
    pub(super) fn front_of(&self, unit: usize) -> usize {
        unit / self.units_per_front.max(1) as usize
    }

    /// Gigabytes a second, for so many bytes in so many cycles.
    pub fn gigabytes_per_second(&self, bytes: u64, cycles: u64) -> f64 {
        bytes as f64 / cycles.max(1) as f64 * f64::from(self.megahertz) / 1000.0
    }

    /// Seconds that so many cycles last.
    pub fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / (f64::from(self.megahertz) * 1e6)
    }
}
