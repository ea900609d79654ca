//! The host's side of `kernels/memory.hip`.

use crate::foreign::bytes::{Plain, bytes, numbers, random, random32};
use crate::foreign::case::{Arg, Case, changed, input, judged, output, value};

pub(super) fn cases() -> Vec<Case> {
    vec![
        reverse_in_dynamic_lds(),
        scan(),
        bitonic_sort(),
        histogram(),
        atomics_of_32_bits(),
        atomics_of_64_bits(),
        transpose(),
        last_workgroup_sums(),
        packed_records(),
        stencil(),
        generic_pointers(),
        structure_by_value(),
    ]
}

fn reverse_in_dynamic_lds() -> Case {
    let before = random32(3 * 160, 1);
    let mut after = before.clone();
    after.chunks_mut(160).for_each(<[u32]>::reverse);
    Case { lds: 4 * 160, ..Case::new("reverse_in_dynamic_lds", 3, 160, vec![changed(&before, &after)]) }
}

fn scan() -> Case {
    let x = random32(2 * 256, 2);
    let sums = |group: &[u32]| {
        let running = |sum: &mut u32, x: &u32| {
            *sum = sum.wrapping_add(*x);
            Some(*sum)
        };
        group.iter().scan(0, running).collect::<Vec<u32>>()
    };
    let expected: Vec<u32> = x.chunks(256).flat_map(sums).collect();
    Case::new("scan", 2, 256, vec![input(&x), output(&expected)])
}

fn bitonic_sort() -> Case {
    let before = random32(2 * 256, 3);
    let mut after = before.clone();
    after.chunks_mut(256).for_each(<[u32]>::sort);
    Case::new("bitonic_sort", 2, 256, vec![changed(&before, &after)])
}

fn histogram() -> Case {
    let x: Vec<u8> = random32(5000, 4).iter().map(|x| (x >> 9) as u8).collect();
    let mut bins = [0u32; 64];
    x.iter().for_each(|x| bins[usize::from(x & 63)] += 1);
    Case::new("histogram", 3, 192, vec![input(&x), output(&bins), value(5000u32)])
}

/// The eleven cells of `all_atomics`, and the twelfth, which together with the eleventh holds what went
/// through it.
macro_rules! all_atomics {
    ($kernel:literal, $unsigned:ty, $signed:ty, $x:expr) => {{
        let x: Vec<$unsigned> = $x;
        let before: [$unsigned; 12] =
            std::array::from_fn(|cell| (cell as $unsigned).wrapping_mul(0x2468_ace1));
        let mut after = before;
        for &x in &x {
            after[0] = after[0].wrapping_add(x);
            after[1] = after[1].wrapping_sub(x);
            after[2] &= x | 0xff00ff;
            after[3] |= x & 0xff0f;
            after[4] ^= x;
            after[5] = after[5].min(x);
            after[6] = after[6].max(x);
            after[7] = (after[7] as $signed).min(x as $signed) as $unsigned;
            after[8] = (after[8] as $signed).max(x as $signed) as $unsigned;
            after[9] = after[9].wrapping_mul(x | 1);
        }
        // Whatever the order: each lane's number stays in the cell or was added to the next one.
        let through = x.iter().fold(before[10].wrapping_add(before[11]), |sum, x| sum.wrapping_add(*x));
        let count = x.len() as u32;
        let judge = move |found: &[u8]| {
            let found: Vec<$unsigned> = numbers(found);
            match (0..10).find(|&cell| found[cell] != after[cell]) {
                Some(cell) => Err(format!("cell {cell} is {:#x}, not {:#x}", found[cell], after[cell])),
                None if found[10].wrapping_add(found[11]) != through => {
                    Err("exchanged numbers got lost".into())
                }
                None => Ok(()),
            }
        };
        Case::new($kernel, 2, 128, vec![input(&x), judged(bytes(&before), judge), value(count)])
    }};
}

fn atomics_of_32_bits() -> Case {
    all_atomics!("atomics_of_32_bits", u32, i32, random32(222, 5))
}

fn atomics_of_64_bits() -> Case {
    all_atomics!("atomics_of_64_bits", u64, i64, random(222, 6))
}

fn transpose() -> Case {
    let (width, height) = (45usize, 23usize);
    let before = random32(width * height, 7);
    let after: Vec<u32> = (0..width * height).map(|i| before[i % height * width + i / height]).collect();
    let args = vec![input(&before), output(&after), value(width as u32), value(height as u32)];
    Case::new("transpose", 1, 1, args).sized([3, 2, 1], [16, 16, 1])
}

fn last_workgroup_sums() -> Case {
    let x = random32(5 * 128, 8);
    let sum = |group: &[u32]| group.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));
    let partial: Vec<u32> = x.chunks(128).map(sum).collect();
    let args = vec![input(&x), output(&partial), output(&[5u32]), output(&[sum(&partial)]), value(5u32)];
    Case::new("last_workgroup_sums", 5, 128, args)
}

/// `struct Record`, packed.
fn record(tag: u8, length: u16, value: u32, wide: u64) -> Vec<u8> {
    let mut bytes = vec![tag];
    length.put(&mut bytes);
    value.put(&mut bytes);
    wide.put(&mut bytes);
    bytes
}

fn packed_records() -> Case {
    let count = 150;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for x in random(count, 9) {
        let (tag, length, value, wide) = (x as u8, (x >> 8) as u16, (x >> 24) as u32, !x);
        before.extend(record(tag, length, value, wide));
        let value = value.wrapping_mul(3).wrapping_add(u32::from(length));
        let swapped = (length >> 3) | u16::from(tag) << 8;
        after.splice(0..0, record(tag.wrapping_neg(), swapped, value, wide ^ u64::from(value) << 17));
    }
    Case::new("packed_records", 2, 100, vec![input(&before), output(&after), value(count as u32)])
}

fn stencil() -> Case {
    let (width, height, depth) = (9i32, 7i32, 5i32);
    let volume: Vec<i32> = random32(9 * 7 * 5, 10).iter().map(|x| *x as i32 >> 8).collect();
    let at = |x: i32, y: i32, z: i32| {
        let inside = (0..width).contains(&x) && (0..height).contains(&y) && (0..depth).contains(&z);
        if inside { volume[((z * height + y) * width + x) as usize] } else { 0 }
    };
    let mut expected = Vec::new();
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                let around = at(x + 1, y, z) + at(x - 1, y, z) + at(x, y + 1, z) + at(x, y - 1, z);
                expected.push(around + at(x, y, z + 1) + at(x, y, z - 1) - 6 * at(x, y, z));
            }
        }
    }
    let args = vec![input(&volume), output(&expected), value(width), value(height), value(depth)];
    Case::new("stencil", 1, 1, args).sized([3, 2, 2], [4, 4, 4])
}

fn generic_pointers() -> Case {
    let x = random32(128 + 4, 11);
    let one = |i: usize| {
        let (group, t) = (i / 64 * 64, i % 64);
        let from: Vec<u32> = match x[i] % 3 {
            0 => (0..4).map(|k| x[group + (t & 56) + k] ^ 0x55).collect(),
            1 => x[i & 31..][..4].to_vec(),
            _ => (0..4).map(|k| x[i].wrapping_add(k * i as u32)).collect(),
        };
        from.iter().fold(0u32, |sum, x| sum.wrapping_mul(7).wrapping_add(*x))
    };
    let expected: Vec<u32> = (0..128).map(one).collect();
    Case::new("generic_pointers", 2, 64, vec![input(&x), output(&expected), value(128u32)])
}

fn structure_by_value() -> Case {
    let (kind, scale, offset, mask, last) = (9u8, 0.375f64, [5i32, -7, 1000], 0xfef1u16, 17u16);
    let mut shape = vec![kind; 1];
    shape.resize(8, 0);
    scale.put(&mut shape);
    offset.iter().for_each(|offset| offset.put(&mut shape));
    mask.put(&mut shape);
    shape.resize(32, 0);
    let x: Vec<i32> = random32(96, 12).iter().map(|x| *x as i32 >> 4).collect();
    let moved: Vec<i32> = x.iter().enumerate().map(|(i, x)| x + offset[i % 3]).collect();
    let same: Vec<f64> = moved.iter().map(|x| f64::from(*x) * scale).collect();
    Case::new("structure_by_value", 3, 32, {
        let shape = Arg::Value(shape);
        vec![value(kind), shape, input(&x), output(&same), value(last)]
    })
}
