use amdinst_device::*;
pub fn helper(n: u32) -> u32 {
    #[probe("x")]
    if n > 1 {
        return 2;
    }
    n
}
pub fn user() -> u32 {
    helper(3)
}

fn main() {}
