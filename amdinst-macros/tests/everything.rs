//! Everything that is allowed compiles without a warning.
#![deny(warnings, missing_docs)]

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use amdinst_device::{
    Kernel, KernelArg, Lds, Lds2d, PerGroup, PerItem, PerItem2d, Slice2d, Strided, barrier, kernel, local_id,
    probe, share, shared, sqrt,
};

shared! {
    /// One value a work-item.
    pub static TILE: [f32; 64];
    static COUNT: u32;
}

/// A device function.
#[probe("helper")]
#[inline(never)]
fn helper(n: u32) -> u32 {
    let mut sum = 0;
    #[probe("sum")]
    for i in 0..n {
        sum += i;
    }
    sum
}

struct Wide;

impl Wide {
    #[probe]
    fn method(&self, n: u32) -> bool {
        #[probe]
        loop {
            if n > 1 {
                break true;
            }
        }
    }
}

/// Uses all of it.
///
/// # Safety
/// `output` points to enough.
#[kernel]
#[probe("all")]
pub unsafe fn all(output: *mut f32, mut n: u32, _: bool, x: f64) {
    let i = local_id() as usize;
    #[probe("arms")]
    match n {
        0 => n += helper(n),
        _ if Wide.method(n) => {}
        _ => {}
    }
    // SAFETY: as the caller vouches.
    unsafe {
        *COUNT.get() = n;
        *TILE.as_mut_ptr().add(i % TILE.len()) = sqrt(x) as f32;
        barrier();
        #[probe]
        if n > 1 {
            *output.add(i) = *TILE.as_mut_ptr();
        }
    }
}

#[kernel]
fn nothing() {}

/// A structure in one.
#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Outer<T: Copy> {
    /// Its fields.
    pub inner: [Inner<T>; 2],
    /// Whether.
    pub is: bool,
}

/// Packed.
#[derive(Clone, Copy, KernelArg)]
#[repr(C, packed)]
pub struct Inner<T: Copy>(u8, T);

/// What is passed in a register.
#[derive(Clone, Copy, KernelArg)]
#[repr(transparent)]
pub struct Newtype<Unit: Copy>(f64, PhantomData<Unit>);

/// A unit, of no bytes.
#[derive(Clone, Copy, KernelArg)]
#[repr(C)]
pub struct Meter;

type Real = f32;

/// Needs no `unsafe`.
#[kernel]
pub fn safe(
    outer: Outer<u16>,
    table: [f32; 4],
    real: Real,
    newtype: Newtype<Meter>,
    input: &[u32],
    perhaps: Option<&[u32]>,
    counts: &[AtomicU32],
    mut one: PerItem<f32>,
    mut some: PerItem<f32, 4>,
    mut strided: Strided<u8>,
    mut group: PerGroup<f64>,
) {
    let _ = (outer.inner[1].1, outer.is, table[1], real, newtype.0, input.len(), perhaps, counts.len());
    let _ = (one.get(), some.chunk().len(), strided.iter_mut().next(), group.get());
}

/// Generic.
///
/// # Safety
/// None is looked at.
#[kernel(T = [f32, u8], N = [1, 2 + 2], SIGNED = [true])]
#[expect(clippy::multiple_bound_locations, reason = "both are allowed")]
pub unsafe fn generic<T: Copy, const N: usize, const SIGNED: bool>(
    value: T,
    _: Option<NonNull<T>>,
    mut output: PerItem<T, N>,
) where
    T: PartialEq,
{
    let chunk = output.chunk();
    if SIGNED && chunk.first() != Some(&value) {
        chunk.fill(value);
    }
}

/// Takes arrays in LDS, for which a launch passes nothing.
#[kernel]
pub fn in_lds(
    from: Slice2d<u8>,
    #[shared] mut line: Lds<u8, 64>,
    mut to: PerItem2d<u8>,
    #[shared] tile: Lds2d<AtomicU32, 3, 4>,
) {
    line = core::convert::identity(line);
    let (mut line, mut tile) = (line.fill(|i| i as u8), tile.fill(|x, y| AtomicU32::new((x * y) as u32)));
    let first = share((&mut line, &mut tile), |(line, tile)| line[0] + tile[3][2].load(Relaxed) as u8);
    if let Some(to) = to.get() {
        *to = first + from[(0, 0)] + tile.into_shared()[0][0].load(Relaxed) as u8;
    }
}

/// Its name is none of its own variables', nor of others'.
#[kernel]
pub fn sum(sum: &[u32], mut total: PerItem<u32>) {
    if let Some(total) = total.get() {
        *total = match sum.iter().sum() {
            sum if sum > 9 => sum,
            sum => sum + 1,
        };
    }
}

/// Has variables and a parameter of kernels' names.
#[kernel]
pub fn names(mut all: PerItem<u32>, safe: u32) {
    let mut sum = safe;
    for nothing in 0..safe {
        sum += nothing;
    }
    if let Some(generic) = all.get() {
        *generic = sum;
    }
}

#[test]
fn variables_may_have_kernels_names() {
    let doubled = |sum: u32| match sum {
        0 => 0,
        all => all + sum,
    };
    let mut sum = doubled(1);
    sum += 1;
    let (safe, nothing) = (sum, 2);
    assert_eq!((sum, safe + nothing), (3, 5));
    let _: &Kernel<(&'static [u32], PerItem<u32>)> = &self::sum();
    assert_eq!((names().name(), in_lds().parameters()), ("names", &["from", "to"][..]));
}

#[test]
fn handles_tell_of_their_kernels() {
    let handle: &Kernel<(*mut f32, u32, bool, f64)> = &all();
    assert_eq!((handle.name(), handle.file().ends_with("everything.rs")), ("all", true));
    let probes: Vec<_> = handle.probes().iter().map(|probe| (probe.name, probe.kind, probe.line)).collect();
    let line = handle.line();
    assert_eq!(probes, [("all", "kernel", line), ("arms", "match", line + 3), ("", "if", line + 14)]);
    let _: &Kernel<()> = &nothing();
    assert_eq!(
        (generic::<u8, 4, true>().name(), generic::<f32, 1, true>().name()),
        ("generic<u8,2+2,true>", "generic<f32,1,true>")
    );
    assert_eq!((all().parameters(), safe().parameters().len()), (&["output", "n", "_", "x"][..], 11));
    assert_eq!(safe().module(), module_path!());
}
