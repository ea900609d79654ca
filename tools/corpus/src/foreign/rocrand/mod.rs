//! rocRAND 5.3.3: the kernels of every generator, with states and numbers computed from the generators'
//! papers.

mod distributions;
pub(super) mod engines;

use amdgpu_object::CodeObject;
use anyhow::{Result, bail};
use half::f16;

use self::distributions::{
    DEVIATION, Distribution, EXACT, MEAN, chars, double, half, normal_doubles, normal_halves,
    normal_of_double, normal_of_single, normal_singles, shorts, single, uniform_doubles, uniform_halves,
    uniform_singles, words,
};
use self::engines::{Engine, Mrg32k3a, Mtgp, Philox, Xorwow, sobol};
use super::Source;
use super::bytes::{Plain, bytes, random, random32};
use super::case::{Arg, Case, Tolerance, changed, input, near, output, value};
use super::library::{Library, Names};
use super::session::{Loaded, Origin, Session};

/// Targets whose kernels run.
const TARGETS: [&str; 5] = ["gfx900:xnack-", "gfx906:xnack-", "gfx908:xnack-", "gfx90a:xnack-", "gfx1030"];

/// Work-items of a workgroup, as the library launches.
const BLOCK: usize = 256;
/// Numbers to draw: a few rounds of all work-items, and some more.
const COUNT: usize = 1501;
/// A seed.
const SEED: u64 = 0x1234_5678_9abc_def0;

/// Launches every kernel for every target.
pub(super) fn run(session: &mut Session) -> Result<()> {
    let library = Library::open("librocrand.so.1", "librocrand1")?;
    let launches = launches();
    for target in TARGETS {
        let cpu = target.split(':').next().unwrap_or(target);
        if !session.options().takes_cpu(cpu) {
            continue;
        }
        // Debian names a processor without features where it built for one state only.
        for name in [target, cpu] {
            let mut seen = false;
            let result = library.for_each(name, |object| {
                seen = true;
                launch_all(session, &library, name, object, &launches)
            });
            if seen {
                result?;
                break;
            }
        }
    }
    Ok(())
}

fn launch_all(
    session: &mut Session,
    library: &Library,
    target: &str,
    object: &CodeObject,
    launches: &[Case],
) -> Result<()> {
    let names = Names::of(object);
    let loaded = Loaded::new(object, session.options())?;
    let origin = Origin { source: Source::Rocrand, file: library.path(), target, variant: "" };
    for case in launches {
        let Some(symbol) = names.beginning(&case.name) else {
            bail!("no kernel, or several, of {target} begin with `{}`", case.name);
        };
        session.run(origin, &loaded, symbol, case)?;
    }
    Ok(())
}

/// A launch of the library's usual workgroups.
fn case(name: &str, grid: usize, args: Vec<Arg>) -> Case {
    Case::new(name, grid as u32, BLOCK as u32, args)
}

/// Every launch; its name is the beginning of the kernel's.
fn launches() -> Vec<Case> {
    let (grid, start) = (2, 77);
    let engines = grid * BLOCK;
    let offset = 5u64;
    let states = |words: Vec<Vec<u32>>| words.concat();

    let xorwow = Xorwow::engines(SEED, engines, start, offset);
    let mrg = Mrg32k3a::engines(SEED as u32, engines, start, offset);
    let init = |engine: &str, seed: u64, expected: Vec<u32>| {
        let args = vec![output(&expected), value(start as u32), value(seed), value(offset)];
        case(&format!("init_engines_kernel({engine}*, "), grid, args)
    };
    let mut cases = vec![
        init("xorwow_engine", SEED, states(xorwow.iter().map(Engine::words).collect())),
        init("mrg32k3a_engine", u64::from(SEED as u32), states(mrg.iter().map(Engine::words).collect())),
    ];

    macro_rules! each {
        ($generator:expr, $mrg:literal) => {{
            let generator = $generator;
            cases.push(generator.generate(&words($mrg)));
            cases.push(generator.generate(&shorts($mrg)));
            cases.push(generator.generate(&chars($mrg)));
            cases.push(generator.generate(&uniform_singles($mrg)));
            cases.push(generator.generate(&uniform_doubles($mrg)));
            cases.push(generator.generate(&uniform_halves($mrg)));
            for log in [false, true] {
                cases.push(generator.generate(&normal_singles($mrg, log)));
                cases.push(generator.generate(&normal_doubles($mrg, log)));
                cases.push(generator.generate(&normal_halves($mrg, log)));
            }
        }};
    }
    each!(With::<Xorwow> { engine: "xorwow_engine", engines: &xorwow, start }, false);
    each!(With::<Mrg32k3a> { engine: "mrg32k3a_engine", engines: &mrg, start }, true);
    each!(WithPhilox, false);
    each!(WithMtgp, false);
    cases.extend(quasi_random());
    cases
}

/// A generator that draws numbers of any distribution.
trait Generate {
    /// The launch that draws [`COUNT`] numbers.
    fn generate<T: Number>(&self, distribution: &Distribution<T>) -> Case;
}

/// A number that a kernel draws.
trait Number: Plain + PartialEq + 'static {
    /// What C++ calls its type.
    const TYPE: &'static str;
    /// A buffer for numbers, compared as the distribution wants.
    fn expect(numbers: Vec<Self>, tolerance: Tolerance) -> Arg;
}

macro_rules! whole_number {
    ($($number:ty: $name:literal),*) => {$(
        impl Number for $number {
            const TYPE: &'static str = $name;
            fn expect(numbers: Vec<Self>, _: Tolerance) -> Arg {
                output(&numbers)
            }
        }
    )*};
}
whole_number!(u8: "unsigned char", u16: "unsigned short", u32: "unsigned int");

macro_rules! float_number {
    ($($number:ty: $name:literal),*) => {$(
        impl Number for $number {
            const TYPE: &'static str = $name;
            fn expect(numbers: Vec<Self>, tolerance: Tolerance) -> Arg {
                near(numbers, tolerance)
            }
        }
    )*};
}
float_number!(f16: "__half", f32: "float", f64: "double");

/// The name of the kernel that draws numbers of a distribution.
fn kernel<T: Number>(block: &str, distribution: &str, rest: &str) -> String {
    format!("generate_kernel<{block}{}, {distribution}>({rest}", T::TYPE)
}

/// Engines in memory, one a work-item, that take turns.
struct With<'a, E> {
    engine: &'static str,
    engines: &'a [E],
    /// The engine whose turn it is.
    start: usize,
}

impl<E: Engine> Generate for With<'_, E> {
    fn generate<T: Number>(&self, distribution: &Distribution<T>) -> Case {
        let stride = self.engines.len();
        let (inputs, outputs) = (distribution.inputs, distribution.outputs);
        let (whole, tail) = (COUNT / outputs, COUNT % outputs);
        let mut engines = self.engines.to_vec();
        let mut groups = vec![Vec::new(); COUNT.div_ceil(outputs)];
        for id in 0..stride {
            let engine = &mut engines[(id + self.start) % stride];
            // Whoever would draw the group after the last whole one draws the rest.
            for index in (id..whole + usize::from(tail > 0)).step_by(stride) {
                let words: Vec<u32> = (0..inputs).map(|_| engine.draw()).collect();
                groups[index] = (distribution.map)(&words);
            }
        }
        let mut expected = groups.concat();
        expected.truncate(COUNT);
        let words = |engines: &[E]| engines.iter().flat_map(Engine::words).collect::<Vec<u32>>();
        let args = vec![
            changed(&words(self.engines), &words(&engines)),
            value(self.start as u32),
            T::expect(expected, distribution.tolerance),
            value(COUNT as u64),
            Arg::Value(distribution.argument.clone()),
        ];
        case(&kernel::<T>("", distribution.name, &format!("{}*", self.engine)), stride / BLOCK, args)
    }
}

/// Philox, whose state every work-item takes by value: the numbers are those of one engine in a row.
struct WithPhilox;

impl Generate for WithPhilox {
    fn generate<T: Number>(&self, distribution: &Distribution<T>) -> Case {
        // Not at the start of a block of four.
        let engine = Philox::new(SEED, 4 * 0xffff_fffe + 3);
        let group = |index: usize| {
            let word = |input| engine.number((index * distribution.inputs + input) as u128);
            (distribution.map)(&(0..distribution.inputs).map(word).collect::<Vec<u32>>())
        };
        let mut expected: Vec<T> = (0..COUNT.div_ceil(distribution.outputs)).flat_map(group).collect();
        expected.truncate(COUNT);
        let args = vec![
            Arg::Value(engine.argument()),
            T::expect(expected, distribution.tolerance),
            value(COUNT as u64),
            Arg::Value(distribution.argument.clone()),
        ];
        case(&kernel::<T>("", distribution.name, "philox4x32_10_device_engine"), 1, args)
    }
}

/// MTGP32, one engine a workgroup.
struct WithMtgp;

impl WithMtgp {
    /// Engines of any parameters: the kernel takes them from memory.
    fn engines(count: usize) -> Vec<Mtgp> {
        let engine = |id: usize| {
            let mut words = random32(1024 + 48, 9 + id as u64);
            let mut table =
                || -> [u32; 16] { words.split_off(words.len() - 16).try_into().unwrap_or_default() };
            let (recursion, tempering, single_tempering) = (table(), table(), table());
            // The first workgroup begins near the end of the ring.
            let offset = if id == 0 { 900 } else { 0 };
            let (position, shifts, mask) = (84 + id, [13, 4 + id as u32], 0xfff8_0000);
            let id = id as u32;
            Mtgp { offset, id, status: words, position, recursion, tempering, shifts, single_tempering, mask }
        };
        (0..count).map(engine).collect()
    }
}

impl Generate for WithMtgp {
    fn generate<T: Number>(&self, distribution: &Distribution<T>) -> Case {
        let grid = 2;
        let before = Self::engines(grid);
        let mut engines = before.clone();
        let (inputs, outputs) = (distribution.inputs, distribution.outputs);
        let (whole, tail) = (COUNT / outputs, COUNT % outputs);
        let rounded = whole.next_multiple_of(BLOCK);
        let mut expected = vec![None; COUNT];
        for (group, engine) in engines.iter_mut().enumerate() {
            let mut draw = || {
                let words: Vec<Vec<u32>> = (0..inputs).map(|_| engine.draw()).collect();
                let of_lane = |lane: usize| words.iter().map(|words| words[lane]).collect::<Vec<u32>>();
                (0..BLOCK).map(|lane| (distribution.map)(&of_lane(lane))).collect::<Vec<Vec<T>>>()
            };
            let mut base = group * BLOCK;
            while base < rounded {
                for (lane, numbers) in draw().into_iter().enumerate().take(whole.saturating_sub(base)) {
                    let at = (base + lane) * outputs;
                    expected[at..at + outputs].iter_mut().zip(numbers).for_each(|(to, x)| *to = Some(x));
                }
                base += grid * BLOCK;
            }
            if tail > 0 {
                let numbers = draw();
                if base == rounded {
                    let rest = expected[whole * outputs..].iter_mut();
                    rest.zip(&numbers[1]).for_each(|(to, x)| *to = Some(*x));
                }
            }
        }
        let expected: Vec<T> = expected.into_iter().flatten().collect();
        let words = |engines: &[Mtgp]| engines.iter().flat_map(Mtgp::words).collect::<Vec<u32>>();
        let args = vec![
            changed(&words(&before), &words(&engines)),
            T::expect(expected, distribution.tolerance),
            value(COUNT as u64),
            Arg::Value(distribution.argument.clone()),
        ];
        case(&kernel::<T>("256u, ", distribution.name, "mtgp32_engine*"), grid, args)
    }
}

/// Sobol's quasi-random numbers of 32 and 64 bits in two dimensions, with direction numbers at random.
fn quasi_random() -> Vec<Case> {
    let mut cases = Vec::new();
    let shift = |wide: bool, bits: u32| if wide { 64 - bits } else { 32 - bits };
    for wide in [false, true] {
        cases.push(quasi(wide, 1, "sobol_uniform_distribution", false, EXACT, move |v| {
            (v >> shift(wide, 32)) as u32
        }));
        cases.push(quasi(wide, 4, "sobol_uniform_distribution", false, EXACT, move |v| {
            (v >> shift(wide, 8)) as u8
        }));
        cases.push(quasi(wide, 2, "sobol_uniform_distribution", false, EXACT, move |v| {
            (v >> shift(wide, 16)) as u16
        }));
        // Singles are made of the low word, whatever the width.
        cases.push(quasi(wide, 1, "sobol_uniform_distribution", false, EXACT, |v| single(v as u32)));
        let fraction = move |v: u64| if wide { double(v >> 11) } else { (v as f64 + 1.0) / 4_294_967_296.0 };
        cases.push(quasi(wide, 1, "sobol_uniform_distribution", false, EXACT, fraction));
        cases.push(quasi(wide, 2, "sobol_uniform_distribution", false, EXACT, move |v| {
            half((v >> shift(wide, 16)) as u16)
        }));
        for log in [false, true] {
            let name = if log { "sobol_log_normal_distribution" } else { "sobol_normal_distribution" };
            let spread = move |x: f64| {
                let x = MEAN + DEVIATION * x;
                if log { x.exp() } else { x }
            };
            // Near the middle the approximation takes the root of a difference of nearly equal numbers.
            let loose = Tolerance { relative: 1e-3, absolute: 1e-3 };
            let narrow = move |v: u64| spread(normal_of_single(single(v as u32))) as f32;
            cases.push(quasi(wide, 1, name, true, loose, narrow));
            let halves = move |v: u64| {
                let x = f16::from_f64(normal_of_single(single(v as u32))).to_f64();
                let x = f16::from_f64(MEAN + DEVIATION * x);
                if log { f16::from_f64(x.to_f64().exp()) } else { x }
            };
            cases.push(quasi(wide, 2, name, true, Tolerance { relative: 4e-3, absolute: 4e-3 }, halves));
            // The logarithmic one takes a word, the other all bits.
            let fraction = move |v: u64| match (wide, log) {
                (true, false) => double(v >> 11),
                _ => (f64::from(v as u32) + 1.0) / 4_294_967_296.0,
            };
            let tight = Tolerance { relative: 1e-7, absolute: 1e-7 };
            cases.push(quasi(wide, 1, name, true, tight, move |v| spread(normal_of_double(fraction(v)))));
        }
    }
    cases
}

/// One launch of Sobol's.
fn quasi<T: Number>(
    wide: bool,
    width: usize,
    name: &str,
    scaled: bool,
    tolerance: Tolerance,
    map: impl Fn(u64) -> T,
) -> Case {
    let (bits, count, offset, dimensions) = if wide { (64, 701, 9u32, 2) } else { (32, 701, 0x8000_0005, 2) };
    let directions: Vec<u64> =
        random(bits * dimensions, 17).iter().map(|v| if wide { *v } else { v >> 32 }).collect();
    let mut expected = Vec::new();
    for directions in directions.chunks(bits) {
        expected.extend((0..count).map(|place| map(sobol(directions, u64::from(offset) + place))));
    }
    let vectors = if wide {
        input(&directions)
    } else {
        input(&directions.iter().map(|v| *v as u32).collect::<Vec<u32>>())
    };
    let mut distribution = vec![0];
    if scaled {
        distribution = match size_of::<T>() {
            2 => bytes(&[f16::from_f64(MEAN), f16::from_f64(DEVIATION)]),
            4 => bytes(&[MEAN as f32, DEVIATION as f32]),
            _ => bytes(&[MEAN, DEVIATION]),
        };
    }
    let args =
        vec![T::expect(expected, tolerance), value(count), vectors, value(offset), Arg::Value(distribution)];
    let suffix = if wide { "_64" } else { "" };
    let kernel = format!("generate_kernel{suffix}<{width}u, {}, {name}<{}>>(", T::TYPE, T::TYPE);
    case(&kernel, 1, args).sized([1, dimensions as u32, 1], [BLOCK as u32, 1, 1])
}
