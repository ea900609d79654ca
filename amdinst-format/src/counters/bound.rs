//! How long a launch can be before a 32-bit counter of executions can have wrapped around unseen.
//!
//! No probe spends an instruction on overflow. Three things make sure that no wrapped counter is reported:
//!
//! * Counters in lanes of VGPRs saturate (`v_add_u32 … clamp`).
//! * The lane sums of other counters can pass 2^32 only after `executions`, at up to 64 lanes each, has
//!   passed 2^26. The record shows that.
//! * The launcher excludes that `executions` wrapped around (`all` and `none` are never more). On the
//!   emulator each counter is compared with the emulator's own count. On a GPU the launch must have been
//!   shorter than [`seconds_to_overflow`]: the time that a wave needs at least to pass the cheapest site 2^32
//!   times, at one instruction a clock and 3 GHz. Seven seconds for five instructions is the shortest.
//!
//! A record or a launch that fails this has no report, but an error that names the site or the time. A carry
//! for each SGPR counter would be exact, and would cost a fifth instruction at level `basic`.

/// Instructions that a wave issues in a second, at most: one a clock, at a clock above that of every GFX9 GPU
/// (the fastest, MI355X, has 2.4 GHz). What is known of GFX9 is one in four clocks.
const INSTRUCTIONS_A_SECOND: f64 = 3e9;

/// Executions that a counter cannot hold.
const TOO_MANY_EXECUTIONS: f64 = 4_294_967_296.0;

/// Seconds that it takes a wave at least to pass a site 2^32 times, if each time costs it that many
/// instructions.
pub fn seconds_to_overflow(instructions_per_execution: u32) -> f64 {
    TOO_MANY_EXECUTIONS * f64::from(instructions_per_execution) / INSTRUCTIONS_A_SECOND
}
