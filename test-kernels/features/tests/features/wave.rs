//! Lanes against `Lanes` on the host, with all lanes, with the lower half of the wave, and with every second one.

use amdinst_device::wave::Lanes;
use features::wave::{RESULTS, Value, exchange, greater, vote};
use harness::{Device, Element, Launch as _, LaunchError, Run, TestResult};

const COUNT: usize = 150;

/// Launches `exchange` and compares with the host. Sums of the values are exact.
fn check<T: Value + Element + std::fmt::Debug>(
    device: &Device,
    size: u32,
    of: impl Fn(u32) -> T,
    launch: impl Fn(&[T], u32) -> Result<(Vec<T>, Run), LaunchError>,
) -> TestResult {
    let values: Vec<T> = (0..COUNT as u32).map(|i| of(i.wrapping_mul(2_654_435_769) >> 22)).collect();
    for asleep in [0, size / 2, 1] {
        let (found, _) = launch(&values, asleep)?;
        for (wave, (values, found)) in
            values.chunks(size as usize).zip(found.chunks(RESULTS * size as usize)).enumerate()
        {
            let awake: Vec<u32> = (0..values.len() as u32).filter(|lane| lane & asleep == 0).collect();
            let lanes =
                (0..size).map(|lane| values.get(lane as usize).copied().filter(|_| lane & asleep == 0));
            let lanes = Lanes::some(lanes);
            let one = |value| vec![value; awake.len()];
            let expected = [
                lanes.shuffle(|lane| (lane / 2) & !asleep as usize),
                lanes.shuffle_xor(5),
                lanes.shuffle_up(3),
                lanes.shuffle_down(2),
                one(values[0]),
                one(lanes.reduce(T::plus)),
                one(lanes.reduce(greater)),
                lanes.scan(T::plus),
                lanes.scan_exclusive(T::NONE, T::plus),
            ];
            for (place, &lane) in awake.iter().enumerate() {
                let expected: Vec<T> = expected.iter().map(|of| of[place]).collect();
                let found = &found[RESULTS * lane as usize..][..RESULTS];
                assert_eq!(found, expected, "wave {wave}, lane {lane}, without {asleep} on {}", device.cpu());
            }
        }
    }
    Ok(())
}

macro_rules! exchanges {
    ($($name:ident $ty:ty, $of:expr;)*) => {$(
        #[harness::test]
        fn $name(device: &Device) -> TestResult {
            let kernel = exchange::<$ty>();
            check::<$ty>(device, kernel.wave_size(device)?, $of, |values, asleep| {
                let mut output = device.zeroed(RESULTS * values.len());
                let run = kernel.launch(device, 1, 192, (&device.buffer(values), asleep, &mut output))?;
                Ok((output.to_vec(), run))
            })
        }
    )*};
}

exchanges! {
    bytes u8, |i| i as u8;
    arrays [u16; 3], |i| [i as u16, 7, (i << 6) as u16];
    words u32, |i| i << 15;
    long_words i64, |i| (i64::from(i) << 40) - 7;
    floats f32, |i| i as f32 * 0.25;
    doubles f64, |i| f64::from(i) * 0.125 + 1e9;
}

#[harness::test]
fn votes(device: &Device) -> TestResult {
    let size = vote.wave_size(device)?;
    let values: Vec<u32> = (0..192).map(|i: u32| i.wrapping_mul(2_654_435_769) >> 25).collect();
    for asleep in [0, size / 2, 3] {
        let mut output = device.zeroed(8 * values.len());
        vote.launch(device, 1, 192, (&device.buffer(&values), asleep, &mut output))?;
        let output = output.to_vec();
        for (wave, values) in values.chunks(size as usize).enumerate() {
            let lanes = Lanes::some(
                (0..size).zip(values).map(|(lane, value)| (lane & asleep == 0).then_some(*value)),
            );
            let odd = lanes.ballot(|value| value % 2 == 1);
            let even = lanes.ballot(|value| value % 2 == 0);
            let last =
                u32::from(lanes.any(|value| *value > 90)) * 2 + u32::from(lanes.all(|value| *value > 3));
            for lane in (0..size).filter(|lane| lane & asleep == 0) {
                let expected = [
                    odd.bits() as u32,
                    (odd.bits() >> 32) as u32,
                    even.bits() as u32,
                    odd.count(),
                    odd.below(lane).count(),
                    last,
                    odd.first().unwrap_or(99),
                    odd.last().unwrap_or(99),
                ];
                let item = wave * size as usize + lane as usize;
                assert_eq!(output[8 * item..][..8], expected, "lane {lane} of wave {wave}, without {asleep}");
            }
        }
    }
    Ok(())
}
