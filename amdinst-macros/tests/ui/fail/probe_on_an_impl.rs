use amdinst_device::*;
pub struct S;
#[probe]
impl S {
    pub fn f(&self) -> u32 {
        1
    }
}
pub fn user() -> u32 {
    S.f()
}

fn main() {}
