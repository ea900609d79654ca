//! The address of an image instruction, where the encoding names a dimension: how many registers it takes,
//! and which they are.

/// What stands in the registers of an address, in the order of the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageAddress {
    /// Where a texel or a sample is.
    Texel(Texel),
    /// A ray: the node of the tree in `node_dwords` registers, the extent, origin, direction, and the inverse
    /// of the direction.
    Ray {
        /// Registers of the node's number.
        node_dwords: u8,
    },
    /// A ray through boxes: the tree and the node, the extent and a mask, origin, direction, and offsets of
    /// nodes in `offset_dwords` registers.
    Boxes {
        /// Registers of offsets.
        offset_dwords: u8,
    },
}

/// The parts of a texel's or a sample's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texel {
    /// An offset, a bias and a value to compare with: a register each, in front.
    leading: u8,
    gradients: Gradients,
    has_coordinates: bool,
    /// A level of detail, a limit to it, or a mip level: behind the coordinates, and as wide as one.
    has_level: bool,
}

/// The derivatives of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gradients {
    Absent,
    Single,
    /// Two in a register, whatever A16 says.
    Half,
}

/// A dimension of images: its number is the value of DIM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dimension {
    /// LLVM's name.
    pub(crate) name: &'static str,
    /// Coordinates: the layer of an array, the face of a cube and the fragment of a sample among them.
    coordinates: u8,
    /// Derivatives of the coordinates.
    gradients: u8,
    /// Several samples a pixel.
    pub(crate) is_multisampled: bool,
}

/// RDNA 3 ISA, section "Image addressing".
pub(crate) const DIMENSIONS: [Dimension; 8] = [
    Dimension { name: "SQ_RSRC_IMG_1D", coordinates: 1, gradients: 2, is_multisampled: false },
    Dimension { name: "SQ_RSRC_IMG_2D", coordinates: 2, gradients: 4, is_multisampled: false },
    Dimension { name: "SQ_RSRC_IMG_3D", coordinates: 3, gradients: 6, is_multisampled: false },
    Dimension { name: "SQ_RSRC_IMG_CUBE", coordinates: 3, gradients: 4, is_multisampled: false },
    Dimension { name: "SQ_RSRC_IMG_1D_ARRAY", coordinates: 2, gradients: 2, is_multisampled: false },
    Dimension { name: "SQ_RSRC_IMG_2D_ARRAY", coordinates: 3, gradients: 4, is_multisampled: false },
    Dimension { name: "SQ_RSRC_IMG_2D_MSAA", coordinates: 3, gradients: 4, is_multisampled: true },
    Dimension { name: "SQ_RSRC_IMG_2D_MSAA_ARRAY", coordinates: 4, gradients: 4, is_multisampled: true },
];

/// Two coordinates.
pub(crate) const PLANE: u8 = 1;
/// Three coordinates, and the most derivatives.
pub(crate) const VOLUME: u8 = 2;
/// The first dimension with several samples a pixel.
pub(crate) const MULTISAMPLED: u8 = 6;

/// Address operands of an instruction that names each register: the last takes all that is left.
pub(crate) const MOST_ADDRESSES: u8 = 5;

/// Dwords that name so many registers of an address, one of them in a field of its own and four in each
/// dword.
pub(crate) const fn named_dwords(registers: u8) -> u8 {
    registers.saturating_sub(1).div_ceil(ADDRESSES_PER_DWORD)
}

/// Registers that a dword of addresses names.
pub(crate) const ADDRESSES_PER_DWORD: u8 = 4;

/// Registers of a vector in space: a ray's origin, its direction, and the inverse of that.
const VECTOR: u8 = 3;

impl Texel {
    /// An address without any part.
    pub(crate) const NOTHING: Self =
        Self { leading: 0, gradients: Gradients::Absent, has_coordinates: false, has_level: false };

    pub(crate) const fn coordinates(self) -> Self {
        Self { has_coordinates: true, ..self }
    }

    pub(crate) const fn offset(self) -> Self {
        Self { leading: self.leading + 1, ..self }
    }

    pub(crate) const fn bias(self) -> Self {
        Self { leading: self.leading + 1, ..self }
    }

    pub(crate) const fn compare(self) -> Self {
        Self { leading: self.leading + 1, ..self }
    }

    pub(crate) const fn level(self) -> Self {
        Self { has_level: true, ..self }
    }

    pub(crate) const fn gradients(self) -> Self {
        Self { gradients: Gradients::Single, ..self }
    }

    pub(crate) const fn half_gradients(self) -> Self {
        Self { gradients: Gradients::Half, ..self }
    }
}

impl ImageAddress {
    /// Registers of the whole address. With `a16`, coordinates are halves, and a ray's directions are.
    pub(crate) const fn dwords(self, dim: u8, a16: bool) -> u8 {
        match self {
            Self::Ray { node_dwords } => node_dwords + 1 + if a16 { 2 } else { 3 } * VECTOR,
            Self::Boxes { offset_dwords } => 2 + 2 + 2 * VECTOR + offset_dwords,
            Self::Texel(texel) => {
                let dimension = &DIMENSIONS[(dim & 7) as usize];
                let coordinates =
                    if texel.has_coordinates { dimension.coordinates } else { 0 } + texel.has_level as u8;
                let gradients = match texel.gradients {
                    Gradients::Absent => 0,
                    Gradients::Single => dimension.gradients,
                    // Those along each axis begin a register.
                    Gradients::Half => (dimension.gradients / 2).next_multiple_of(2),
                };
                texel.leading + gradients + if a16 { coordinates.div_ceil(2) } else { coordinates }
            }
        }
    }

    /// Registers of the longest address: what is sampled has three coordinates at most, and what is not an
    /// address of four registers. The longer ones that LLVM has are leftovers of rounding.
    pub(crate) const fn longest(self, has_sampler: bool) -> u8 {
        match self {
            Self::Ray { .. } | Self::Boxes { .. } => self.dwords(0, false),
            Self::Texel(_) if has_sampler => self.dwords(VOLUME, false),
            Self::Texel(_) => 4,
        }
    }

    /// The dimension, and whether coordinates are halves, of the plainest address whose registers but the
    /// first take so many dwords.
    pub(crate) fn of_named_dwords(self, dwords: u8, has_sampler: bool) -> Option<(u8, bool)> {
        let dimensions = || std::iter::once(PLANE).chain(0..DIMENSIONS.len() as u8);
        let mut all = [false, true].into_iter().flat_map(|a16| dimensions().map(move |dim| (dim, a16)));
        all.find(|&(dim, a16)| {
            let count = self.dwords(dim, a16);
            count <= self.longest(has_sampler) && named_dwords(count) == dwords
        })
    }

    /// Registers of one of the address operands of an instruction that names each, in `most` operands at
    /// most; 0 where there are fewer.
    pub(crate) const fn operand_dwords(self, index: u8, most: u8, dim: u8, a16: bool) -> u8 {
        match (self, index) {
            (Self::Ray { node_dwords }, 0) => node_dwords,
            (Self::Ray { .. }, 1) => 1,
            (Self::Ray { .. }, 4) if a16 => 0,
            (Self::Ray { .. }, _) => VECTOR,
            (Self::Boxes { .. }, 0 | 1) => 2,
            (Self::Boxes { .. }, 2 | 3) => VECTOR,
            (Self::Boxes { offset_dwords }, _) => offset_dwords,
            (Self::Texel(_), _) => {
                let left = self.dwords(dim, a16).saturating_sub(index);
                if left > 1 && index + 1 < most { 1 } else { left }
            }
        }
    }

    /// Whether it is a ray and no texel.
    pub(crate) const fn is_ray(self) -> bool {
        matches!(self, Self::Ray { .. } | Self::Boxes { .. })
    }

    /// Whether an instruction may name each register: not where there is one at most.
    pub(crate) const fn has_several(self) -> bool {
        match self {
            Self::Ray { .. } | Self::Boxes { .. } => true,
            Self::Texel(texel) => texel.has_coordinates,
        }
    }
}

// The parts of an address add up.
const _: () = {
    const fn operands(address: ImageAddress, dim: u8, a16: bool) -> [u8; MOST_ADDRESSES as usize] {
        let mut operands = [0; MOST_ADDRESSES as usize];
        let mut index = 0;
        while index < MOST_ADDRESSES {
            operands[index as usize] = address.operand_dwords(index, MOST_ADDRESSES, dim, a16);
            index += 1;
        }
        operands
    }
    // A volume: two in front, six derivatives, three coordinates and the limit.
    let all = Texel::NOTHING.coordinates().offset().compare().gradients().level();
    let address = ImageAddress::Texel(all);
    assert!(address.dwords(VOLUME, false) == 12 && address.dwords(VOLUME, true) == 10);
    assert!(matches!(operands(address, VOLUME, false), [1, 1, 1, 1, 8]));
    let half = ImageAddress::Texel(Texel::NOTHING.coordinates().half_gradients());
    assert!(half.dwords(0, false) == 3 && half.dwords(VOLUME, false) == 7);
    let ray = ImageAddress::Ray { node_dwords: 2 };
    assert!(matches!(operands(ray, 0, true), [2, 1, 3, 3, 0]));
    assert!(ray.dwords(0, true) == 9);
};
