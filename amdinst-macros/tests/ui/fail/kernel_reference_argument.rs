use amdinst_device::*;

#[kernel]
pub fn sum(input: &[f32], output: &mut f32, text: &str, one: &u32) {
    let _ = (input, output, text, one);
}

fn main() {}
