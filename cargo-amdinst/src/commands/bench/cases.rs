//! The launches of the nine Rodinia kernels, at the sizes of the evaluation that they are compared with.

/// An argument.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A buffer with these bytes.
    Bytes(Vec<u8>),
    /// A zeroed buffer of so many bytes.
    Zeroed(usize),
    /// A number by its little-endian bytes.
    Word([u8; 4]),
}

impl Value {
    /// Bytes of it, or of its buffer.
    pub(super) const fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Zeroed(size) => *size,
            Self::Word(word) => word.len(),
        }
    }
}

/// How large the inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// In words.
    pub(super) name: &'static str,
    /// backprop: input units.
    units: usize,
    /// gaussian: rows and columns.
    matrix: usize,
    /// hotspot: rows and columns.
    chip: usize,
    /// b+tree: keys, queries.
    keys: usize,
    queries: usize,
    /// kmeans: points.
    points: usize,
    /// nn: records.
    records: usize,
}

impl Sizes {
    /// The sizes of the evaluation.
    pub(super) const FULL: Self = Self {
        name: "full",
        units: 65_536,
        matrix: 1024,
        chip: 512,
        keys: 1_000_000,
        queries: 10_000,
        points: 494_020,
        records: 42_764,
    };
    /// A few workgroups each: to see that everything works, not for figures.
    pub(super) const QUICK: Self = Self {
        name: "quick",
        units: 256,
        matrix: 64,
        chip: 36,
        keys: 66_000,
        queries: 16,
        points: 700,
        records: 700,
    };
}

/// One launch.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The kernel's name in the crate.
    pub(super) kernel: &'static str,
    /// Its name in the evaluation.
    pub(super) name: &'static str,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) arguments: Vec<Value>,
    /// The program launches it many times, and not once.
    pub(super) repeated: bool,
    /// Cycles of a wave that were measured there on GFX9: without instrumentation, with counters in LDS, in
    /// memory.
    pub(super) measured: [u64; 3],
}

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(next).collect()
}

fn floats(values: impl IntoIterator<Item = f32>) -> Value {
    Value::Bytes(values.into_iter().flat_map(f32::to_le_bytes).collect())
}

fn integers(values: &[i32]) -> Value {
    Value::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn float(value: f32) -> Value {
    Value::Word(value.to_le_bytes())
}

fn integer(value: u32) -> Value {
    Value::Word(value.to_le_bytes())
}

/// The kernels' names in the evaluation, in the order of its table.
pub(super) const NAMES: [&str; 9] = [
    "bpnn_layerforward",
    "bpnn_adjust_weights",
    "Fan1",
    "Fan2",
    "hotspot",
    "findK",
    "invert_mapping",
    "kmeansPoint",
    "euclid",
];

/// The launch of the kernel of a name; none of another.
pub(super) fn case(name: &str, sizes: &Sizes) -> Option<Case> {
    let Sizes { units, matrix, chip, keys, queries, points, records, .. } = *sizes;
    Some(match name {
        "bpnn_layerforward" => layer_forward(units),
        "bpnn_adjust_weights" => adjust_weights(units),
        "Fan1" => fan1(matrix),
        "Fan2" => fan2(matrix),
        "hotspot" => hotspot(chip),
        "findK" => find_k(keys, queries),
        "invert_mapping" => invert_mapping(points),
        "kmeansPoint" => kmeans_point(points),
        "euclid" => euclid(records),
        _ => return None,
    })
}

/// backprop: hidden units and the bias, the columns of a weight matrix.
const ROW: usize = 17;

/// backprop: the weights of so many input units and the bias.
fn weights(units: usize) -> Value {
    floats(numbers(ROW * (units + 1), 2))
}

fn layer_forward(units: usize) -> Case {
    Case {
        kernel: "layer_forward",
        name: "bpnn_layerforward",
        grid: [1, (units / 16) as u32, 1],
        block: [16, 16, 1],
        arguments: vec![floats(numbers(units + 1, 1)), weights(units), Value::Zeroed(4 * units)],
        repeated: false,
        measured: [3901, 9168, 10225],
    }
}

fn adjust_weights(units: usize) -> Case {
    Case {
        kernel: "adjust_weights",
        name: "bpnn_adjust_weights",
        grid: [1, (units / 16) as u32, 1],
        block: [16, 16, 1],
        arguments: vec![
            floats(numbers(ROW, 3)),
            floats(numbers(units + 1, 4)),
            weights(units),
            weights(units),
        ],
        repeated: false,
        measured: [7406, 8850, 8525],
    }
}

/// gaussian: a matrix of `n` rows, without zeros.
fn matrix(n: usize) -> Value {
    floats(numbers(n * n, 7).into_iter().map(|value| value + 0.5))
}

fn fan1(n: usize) -> Case {
    Case {
        kernel: "fan1",
        name: "Fan1",
        grid: [n.div_ceil(512) as u32, 1, 1],
        block: [512, 1, 1],
        arguments: vec![integer(n as u32), integer(0), matrix(n), Value::Zeroed(4 * n * n)],
        repeated: true,
        measured: [1326, 3281, 3974],
    }
}

fn fan2(n: usize) -> Case {
    Case {
        kernel: "fan2",
        name: "Fan2",
        grid: [n as u32 / 4, n as u32 / 4, 1],
        block: [4, 4, 1],
        arguments: vec![integer(n as u32), integer(0), matrix(n), matrix(n), floats(numbers(n, 10))],
        repeated: true,
        measured: [1607, 2844, 2681],
    }
}

fn hotspot(chip: usize) -> Case {
    let tiles = chip.div_ceil(12) as u32;
    Case {
        kernel: "hotspot",
        name: "hotspot",
        grid: [tiles, tiles, 1],
        block: [16, 16, 1],
        arguments: vec![
            floats(numbers(chip * chip, 11)),
            floats(numbers(chip * chip, 12).into_iter().map(|value| 320.0 + 10.0 * value)),
            Value::Zeroed(4 * chip * chip),
            integer(chip as u32),
            integer(chip as u32),
            float(0.5),
            float(0.1),
            float(0.12),
            float(4.75),
            float(0.001),
        ],
        repeated: false,
        measured: [10635, 16376, 16265],
    }
}

/// kmeans: features of a point.
const FEATURES: usize = 34;
const CLUSTERS: usize = 5;

/// kmeans: workgroups of 256 points.
const fn groups(points: usize) -> u32 {
    points.div_ceil(256) as u32
}

fn invert_mapping(points: usize) -> Case {
    Case {
        kernel: "invert_mapping",
        name: "invert_mapping",
        grid: [groups(points), 1, 1],
        block: [256, 1, 1],
        arguments: vec![
            floats(numbers(points * FEATURES, 13)),
            Value::Zeroed(4 * points * FEATURES),
            integer(points as u32),
            integer(FEATURES as u32),
        ],
        repeated: false,
        measured: [586_299, 582_997, 548_837],
    }
}

fn kmeans_point(points: usize) -> Case {
    let groups = groups(points);
    let side = (1..).find(|side| side * side >= groups).unwrap_or(1);
    Case {
        kernel: "kmeans_point",
        name: "kmeansPoint",
        grid: [side, side, 1],
        block: [256, 1, 1],
        arguments: vec![
            floats(numbers(points * FEATURES, 14)),
            integer(FEATURES as u32),
            integer(points as u32),
            integer(CLUSTERS as u32),
            Value::Zeroed(4 * points),
            floats(numbers(CLUSTERS * FEATURES, 15)),
        ],
        repeated: true,
        measured: [210_740, 215_269, 209_869],
    }
}

fn euclid(records: usize) -> Case {
    Case {
        kernel: "euclid",
        name: "euclid",
        grid: [records.div_ceil(256) as u32, 1, 1],
        block: [256, 1, 1],
        arguments: vec![
            floats(numbers(2 * records, 16).into_iter().map(|value| 180.0 * value - 90.0)),
            Value::Zeroed(4 * records),
            integer(records as u32),
            float(30.0),
            float(90.0),
        ],
        repeated: false,
        measured: [3608, 6392, 5447],
    }
}

/// Keys of a node, of which one more is stored.
const ORDER: usize = 256;

/// Keys in nodes of 256, and queries. Three levels: a root (of 16 children, for a million keys), its
/// children, the leaves.
fn find_k(number: usize, count: usize) -> Case {
    let leaves = number.div_ceil(ORDER);
    let inner = leaves.div_ceil(ORDER);
    let (mut keys, mut children) = (Vec::new(), Vec::new());
    // A node of the entries `(least key, child)`, and the least key behind it.
    let mut node = |entries: &[(i32, i32)], next: i32| {
        let missing = ORDER - entries.len();
        keys.extend(entries.iter().map(|entry| entry.0));
        keys.extend(std::iter::repeat_n(i32::MAX, missing));
        keys.push(next);
        if missing > 0 {
            let at = keys.len() - 1 - missing;
            keys[at] = next;
        }
        children.extend(entries.iter().map(|entry| entry.1));
        children.extend(std::iter::repeat_n(0, missing + 1));
    };
    // Even keys, the first one of each level standing for all that are less.
    let least = |key: usize| if key == 0 { i32::MIN } else { 2 * key as i32 };
    let behind = |key: usize| if key >= number { i32::MAX } else { 2 * key as i32 };
    let per_inner = ORDER * ORDER;
    let roots: Vec<_> = (0..inner).map(|at| (least(at * per_inner), 1 + at as i32)).collect();
    node(&roots, i32::MAX);
    for at in 0..inner {
        let first = at * ORDER;
        let entries: Vec<_> = (first..(first + ORDER).min(leaves))
            .map(|leaf| (least(leaf * ORDER), (1 + inner + leaf) as i32))
            .collect();
        node(&entries, behind((at + 1) * per_inner));
    }
    for leaf in 0..leaves {
        let first = leaf * ORDER;
        let entries: Vec<_> =
            (first..(first + ORDER).min(number)).map(|key| (2 * key as i32, key as i32)).collect();
        node(&entries, behind(first + ORDER));
    }
    let nodes = 1 + inner + leaves;
    let records: Vec<i32> = (0..number as i32).map(|key| key * 7 + 1).collect();
    let queries: Vec<i32> = (0..count).map(|at| (at * 1_597_463 % (2 * number)) as i32).collect();
    Case {
        kernel: "find_k",
        name: "findK",
        grid: [count as u32, 1, 1],
        block: [ORDER as u32, 1, 1],
        arguments: vec![
            integer(2),
            integer(nodes as u32),
            integers(&keys),
            integers(&children),
            integers(&records),
            Value::Zeroed(4 * count),
            Value::Zeroed(4 * count),
            integers(&queries),
            Value::Zeroed(4 * count),
        ],
        repeated: false,
        measured: [9203, 11861, 14016],
    }
}
