//! How long a launch can be before a 32-bit counter of executions can have wrapped around unseen.

/// Instructions that a wave issues in a second, at most: one a clock, at a clock above that of every GFX9 GPU (the fastest,
/// MI355X, has 2.4 GHz). What is known of GFX9 is one in four clocks.
const INSTRUCTIONS_A_SECOND: f64 = 3e9;

/// Executions that a counter cannot hold.
const TOO_MANY_EXECUTIONS: f64 = 4_294_967_296.0;

/// Seconds that it takes a wave at least to pass a site 2^32 times, if each time costs it that many instructions.
pub fn seconds_to_overflow(instructions_per_execution: u32) -> f64 {
    TOO_MANY_EXECUTIONS * f64::from(instructions_per_execution) / INSTRUCTIONS_A_SECOND
}
