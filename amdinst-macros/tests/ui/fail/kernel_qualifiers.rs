use amdinst_device::*;

#[kernel]
pub async fn later() {}

#[kernel]
pub const fn constant() {}

#[kernel]
pub extern "C" fn foreign() {}

#[kernel]
#[unsafe(no_mangle)]
pub fn named() {}

fn main() {}
