use amdinst_device::*;
#[kernel]
pub fn k(n: u32) {
    fn inner(n: u32) -> u32 {
        #[probe("x")]
        if n > 1 {
            return 3;
        }
        2
    }
    inner(n);
}
pub fn user() {
    let _ = &k;
}

fn main() {}
