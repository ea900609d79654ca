use amdinst_device::{Lds, PerItem, kernel, share};

// The whole array, behind the second barrier.
#[kernel]
pub fn outlives(mut output: PerItem<u32>, #[shared] a: Lds<u32, 64>) {
    let mut a = a.fill(|i| i as u32);
    let whole = a.share(|a| a);
    *output.get().unwrap() = whole[0];
}

// The work-item's own element, while others read it.
#[kernel]
pub fn writes(mut output: PerItem<u32>, #[shared] a: Lds<u32, 64>) {
    let mut a = a.fill(|i| i as u32);
    let mine = a.get();
    let first = a.share(|a| a[0]);
    *mine.unwrap() = first;
    *output.get().unwrap() = a.share(|_| *a.get().unwrap());
}

// One array twice.
#[kernel]
pub fn twice(mut output: PerItem<u32>, #[shared] a: Lds<u32, 64>) {
    let mut a = a.fill(|i| i as u32);
    *output.get().unwrap() = share((&mut a, &mut a), |(one, two)| one[0] + two[1]);
}

// Its own elements, when the whole is everybody's.
#[kernel]
pub fn after(mut output: PerItem<u32>, #[shared] a: Lds<u32, 64>) {
    let mut a = a.fill(|i| i as u32);
    let whole = a.into_shared();
    a.fill(|_| whole[0]);
    *output.get().unwrap() = whole[0];
}

fn main() {}
