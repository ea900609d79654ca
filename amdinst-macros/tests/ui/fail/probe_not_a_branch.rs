use amdinst_device::*;

#[kernel]
pub fn assign() {
    let mut x = 0;
    #[probe("store")]
    x = 1;
    #[probe]
    let _y = x;
}

fn main() {}
