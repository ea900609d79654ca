use amdinst_device::*;

#[kernel]
pub unsafe fn unlisted<T: 'static>(output: *mut T) {
    let _ = output;
}

#[kernel(T = [f32], M = [1])]
pub unsafe fn unknown<T: 'static>(output: *mut T) {
    let _ = output;
}

#[kernel(T = [])]
pub unsafe fn empty<T: 'static>(output: *mut T) {
    let _ = output;
}

#[kernel(T = [f32], T = [f64])]
pub unsafe fn twice<T: 'static>(output: *mut T) {
    let _ = output;
}

#[kernel(T = f32)]
pub unsafe fn no_list<T: 'static>(output: *mut T) {
    let _ = output;
}

#[kernel]
pub fn lifetime<'a>(input: &'a [f32]) {
    let _ = input;
}

fn main() {}
