use amdinst_device::*;
pub trait T {
    #[probe]
    fn f(&self) -> u32;
}
impl T for u32 {
    fn f(&self) -> u32 {
        1
    }
}

fn main() {}
