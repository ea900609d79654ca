//! The tables as a list: every opcode of a processor.

use super::assemble;
use super::{DppCtrl, EncodeError, Encoding, Inst, Mods, Op, Slot, Value};
use crate::encoding::modifiers::Modifier;
use crate::encoding::table::{Entry, Tables};
use crate::signature::image::{MULTISAMPLED, PLANE};
use crate::signature::{Class, FROM_LDS, GDS_ONLY, ImmKind, MAI, PACKED, Spec, Ty};
use crate::{Arch, Feature, Generation, Special, Target};

/// One opcode of one encoding of a processor.
#[derive(Clone, Copy, Debug)]
pub struct Opcode {
    target: Target,
    entry: &'static Entry,
}

/// Every opcode of a processor, in the order of [`Encoding`] and of the opcodes' numbers.
pub fn opcodes(target: impl Into<Target>) -> impl Iterator<Item = Opcode> {
    let target = target.into();
    let arch = target.arch;
    let has_a_form = |entry: &&Entry| (arch.generation().model().has_form)(arch, entry);
    let mut entries: Vec<&'static Entry> = Tables::of(target).entries().iter().filter(has_a_form).collect();
    entries.sort_by_key(|entry| (entry.encoding, entry.opcode));
    entries.into_iter().map(move |entry| Opcode { target, entry })
}

impl Opcode {
    /// An op in an encoding; `None` if the processor has not got it.
    pub fn find(target: impl Into<Target>, encoding: Encoding, op: Op) -> Option<Self> {
        let target = target.into();
        let entry = Tables::of(target).by_op(op, encoding)?;
        (target.arch.generation().model().has_form)(target.arch, entry).then_some(Self { target, entry })
    }

    /// The encodings that a processor has of an op.
    pub fn of_op(target: impl Into<Target>, op: Op) -> impl Iterator<Item = Self> {
        let target = target.into();
        let arch = target.arch;
        let has_a_form = move |entry: &&Entry| (arch.generation().model().has_form)(arch, entry);
        Tables::of(target).all_of(op).filter(has_a_form).map(move |entry| Self { target, entry })
    }

    /// The processor, and the size of waves.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The processor.
    pub fn arch(&self) -> Arch {
        self.target.arch
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.entry.encoding
    }

    /// The opcode field's value.
    pub fn number(&self) -> u16 {
        self.entry.opcode
    }

    /// The mnemonic without its encoding's suffix.
    pub fn op(&self) -> Op {
        self.entry.op
    }

    /// The mnemonic as LLVM prints it: `v_add_f32_e32`.
    pub fn mnemonic(&self) -> String {
        format!("{}{}", self.entry.name, self.entry.suffix)
    }

    /// The instruction in its plainest form: a register of its own for each operand, immediates of zero, no
    /// modifiers but those that the opcode demands.
    ///
    /// # Errors
    /// [`EncodeError`] if the tables contradict themselves.
    pub fn plain(&self) -> Result<Inst, EncodeError> {
        let mut registers = Registers { scalar: 16, vector: 0, accumulation: 0 };
        let mods = self.plain_mods();
        let present = |spec: &&Spec| crate::encoding::operand::is_present(self.entry, **spec, &mods);
        let model = self.target.arch.generation().model();
        let off = (model.field)(self.entry.encoding, Slot::Saddr).put(model.bits.saddr_off);
        let value = |spec: &Spec| {
            let dwords = crate::encoding::operand::width(self.target.arch, self.entry, *spec, &mods, off);
            let waits = matches!(
                self.entry.op,
                Op::s_waitcnt_vscnt | Op::s_waitcnt_vmcnt | Op::s_waitcnt_expcnt | Op::s_waitcnt_lgkmcnt
            );
            match (registers.value(spec.class, spec.slot == Slot::Vaddr, dwords), spec.slot) {
                (_, Slot::Sdst) if waits => Value::Special(Special::Null),
                // Where the offset of a buffer is a register.
                (Value::Inline(_), Slot::Soffset)
                    if (model.field)(self.entry.encoding, Slot::Soffset).width < 8 =>
                {
                    Value::Special(Special::Null)
                }
                // Of another bank than those of the first operation.
                (Value::Vgpr(register), Slot::Src0Y | Slot::Src1Y) => Value::Vgpr(register + 1),
                (value, _) => value,
            }
        };
        let values: Vec<Value> = self.entry.specs.iter().filter(present).map(value).collect();
        assemble(self.target, self.entry.op, self.entry.encoding, &values, mods)
    }

    /// The dimension of an address that takes as many dwords as the encoding has, and whether coordinates are
    /// halves.
    fn plain_address(&self) -> (u8, bool) {
        let dwords = match self.entry.encoding {
            Encoding::MimgNsa2 => 2,
            Encoding::MimgNsa3 => 3,
            _ => 1,
        };
        let address = self.entry.specs.iter().find_map(|spec| match spec.class {
            Class::ImageAddresses(address) => Some(address),
            _ => None,
        });
        let has_sampler = self.entry.specs.iter().any(|spec| spec.slot == Slot::Ssamp);
        address.and_then(|address| address.of_named_dwords(dwords, has_sampler)).unwrap_or((PLANE, false))
    }

    fn plain_mods(&self) -> Mods {
        let Entry { flags, modifiers, specs, .. } = self.entry;
        let has = |modifier| modifiers.iter().any(|bits| bits.modifier == modifier);
        let mut mods = Mods {
            dual: self.entry.dual,
            lds: flags.has(FROM_LDS),
            gds: flags.has(GDS_ONLY),
            ..Mods::default()
        };
        if flags.has(PACKED) || flags.has(MAI) {
            mods.op_sel_hi = self.entry.op_sel_hi();
        }
        if has(Modifier::Format) {
            // One dword, an unsigned integer.
            mods.format = match self.target.arch.generation() {
                Generation::Gfx8 | Generation::Gfx9 => 4 | 4 << 4,
                Generation::Gfx10 | Generation::Gfx11 | Generation::Gfx12 => 20,
            };
        }
        if has(Modifier::Dmask) {
            // A comparison's two values are two channels.
            mods.dmask = if specs.iter().any(|spec| spec.class == Class::ImageData && spec.ty == Ty::I64) {
                3
            } else {
                1
            };
        }
        if self.entry.is_ray() {
            mods.fix_for_ray(has(Modifier::Unorm));
        }
        (mods.dim, mods.a16) = match self.entry.encoding {
            encoding if encoding.is_image() && self.entry.op == Op::image_msaa_load => (MULTISAMPLED, false),
            encoding if encoding.is_named_image() => self.plain_address(),
            _ => (0, false),
        };
        if self.entry.is_ray() {
            mods.dim = 0;
        }
        let wide = specs.iter().any(|spec| spec.ty.dwords() == 2 && matches!(spec.class, Class::Vgpr));
        if has(Modifier::DppCtrl) && wide && self.target.arch.has(Feature::DppPairs) {
            // The only permutation that pairs of registers take: lane 0 of each row to all of it.
            mods.dpp = Some(DppCtrl { ctrl: 0x150, row_mask: 0xf, bank_mask: 0xf, bound_ctrl: false });
        }
        mods
    }
}

/// The next registers to hand out.
struct Registers {
    scalar: u8,
    vector: u8,
    accumulation: u8,
}

impl Registers {
    fn value(&mut self, class: Class, is_first: bool, dwords: u8) -> Value {
        let take = |next: &mut u8| {
            let first = *next;
            *next += dwords.max(1).next_multiple_of(4);
            first
        };
        match class {
            Class::Sgpr
            | Class::Sdata
            | Class::ScalarDst
            | Class::Ssrc
            | Class::SsrcOrLds
            | Class::SsrcReg
            | Class::Mask
            | Class::SgprGroup => Value::Scalar(take(&mut self.scalar)),
            Class::SsrcInline | Class::Barrier => Value::int(0),
            Class::Agpr | Class::SrcAgpr | Class::MatrixCAgpr => Value::Agpr(take(&mut self.accumulation)),
            Class::SmemOffset => Value::Imm(0),
            Class::Saddr => Value::Off,
            Class::BufferAddr if dwords == 0 => Value::Off,
            // All of MODE.
            Class::Imm(ImmKind::Hwreg) => Value::Imm(1 | 31 << 11),
            Class::Imm(_) => Value::Imm(0),
            Class::Literal => Value::Literal(0),
            Class::Vcc | Class::SdwaDst => Value::VCC,
            // The first destination is even.
            Class::VgprY => Value::Vgpr(take(&mut self.vector) + 1),
            Class::Vgpr
            | Class::DppVgpr
            | Class::SrcVgpr
            | Class::SrcLane
            | Class::GwsData
            | Class::VgprOrAgpr
            | Class::Src
            | Class::SdwaSrc
            | Class::MatrixAb
            | Class::MatrixC
            | Class::MatrixD
            | Class::FlatAddr
            | Class::GlobalAddr
            | Class::ScratchAddr
            | Class::BufferAddr
            | Class::BufferData
            | Class::ImageData
            | Class::Export
            | Class::ImageAddr
            | Class::ImageAddress(_) => Value::Vgpr(take(&mut self.vector)),
            Class::ImageAddresses(_) if is_first => Value::Vgpr(take(&mut self.vector)),
            Class::ImageAddresses(_) => {
                let named = |at| if at < dwords { take(&mut self.vector) } else { 0 };
                Value::Vgprs([0, 1, 2, 3].map(named))
            }
        }
    }
}

impl Encoding {
    /// The manual's name of the encoding, in lower case: `vop3p`, `vop1_sdwa`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sop2 => "sop2",
            Self::Sopk => "sopk",
            Self::Sop1 => "sop1",
            Self::Sopc => "sopc",
            Self::Sopp => "sopp",
            Self::Smem => "smem",
            Self::Vop1 => "vop1",
            Self::Vop1Sdwa => "vop1_sdwa",
            Self::Vop1Dpp => "vop1_dpp",
            Self::Vop2 => "vop2",
            Self::Vop2Sdwa => "vop2_sdwa",
            Self::Vop2Dpp => "vop2_dpp",
            Self::Vopc => "vopc",
            Self::VopcSdwa => "vopc_sdwa",
            Self::Vop3 => "vop3",
            Self::Vop3p => "vop3p",
            Self::Vop3px => "vop3px",
            Self::Vintrp => "vintrp",
            Self::Ds => "ds",
            Self::Flat => "flat",
            Self::Global => "global",
            Self::Scratch => "scratch",
            Self::Mubuf => "mubuf",
            Self::Mtbuf => "mtbuf",
            Self::Mimg => "mimg",
            Self::MimgNsa => "mimg_nsa",
            Self::MimgNsa2 => "mimg_nsa2",
            Self::MimgNsa3 => "mimg_nsa3",
            Self::Vimage => "vimage",
            Self::Vsample => "vsample",
            Self::Exp => "exp",
            Self::VopcDpp => "vopc_dpp",
            Self::Vop1Dpp8 => "vop1_dpp8",
            Self::Vop2Dpp8 => "vop2_dpp8",
            Self::VopcDpp8 => "vopc_dpp8",
            Self::Vop3Dpp => "vop3_dpp",
            Self::Vop3Dpp8 => "vop3_dpp8",
            Self::Vop3pDpp => "vop3p_dpp",
            Self::Vop3pDpp8 => "vop3p_dpp8",
            Self::Vopd => "vopd",
            Self::Vinterp => "vinterp",
            Self::Ldsdir => "ldsdir",
        }
    }
}
