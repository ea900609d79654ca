//! The operand slots that tables name: which field, what it may hold, read or written.

use super::{Class, ImmKind, Spec, Ty};
use crate::{Access, Slot};

/// One line of each slot: its name in the tables, field, class and access.
macro_rules! slots {
    ($($(#[$doc:meta])* $name:ident = $slot:ident $class:expr, $access:ident;)*) => {
        $(
            $(#[$doc])*
            pub(super) const fn $name(ty: Ty) -> Spec {
                Spec { slot: Slot::$slot, class: $class, ty, access: Access::$access }
            }
        )*
    };
}

slots! {
    // Scalar.
    sdst = Sdst Class::Sgpr, Write;
    sdst_r = Sdst Class::Sgpr, Read;
    sdst_rw = Sdst Class::Sgpr, ReadWrite;
    ssrc0 = Ssrc0 Class::Ssrc, Read;
    ssrc0_reg = Ssrc0 Class::SsrcReg, Read;
    ssrc1 = Ssrc1 Class::Ssrc, Read;
    ssrc0_barrier = Ssrc0 Class::Barrier, Read;
    ssrc0_inline = Ssrc0 Class::SsrcInline, Read;
    ssrc1_inline = Ssrc1 Class::SsrcInline, Read;
    imm = Simm16 Class::Imm(ImmKind::Decimal), Read;
    imm_hex = Simm16 Class::Imm(ImmKind::Hex), Read;
    imm_signed = Simm16 Class::Imm(ImmKind::SignedHex), Read;
    imm_optional = Simm16 Class::Imm(ImmKind::Optional), Read;
    target = Simm16 Class::Imm(ImmKind::Target), Read;
    waitcnt = Simm16 Class::Imm(ImmKind::Waitcnt), Read;
    sendmsg = Simm16 Class::Imm(ImmKind::Sendmsg), Read;
    hwreg = Simm16 Class::Imm(ImmKind::Hwreg), Read;
    version = Simm16 Class::Imm(ImmKind::Version), Read;
    delay_alu = Simm16 Class::Imm(ImmKind::DelayAlu), Read;
    depctr = Simm16 Class::Imm(ImmKind::DepCtr), Read;
    /// The message of `s_sendmsg_rtn_b32` stands in SSRC0's bits.
    sendmsg_ssrc0 = Ssrc0 Class::Imm(ImmKind::Sendmsg), Read;
    gpr_idx = Simm16 Class::Imm(ImmKind::GprIdx), Read;
    /// `s_set_gpr_idx_on` has its mode in SSRC1's bits.
    gpr_idx_ssrc1 = Ssrc1 Class::Imm(ImmKind::GprIdx), Read;
    literal = Other Class::Literal, Read;

    // Scalar memory.
    sdata_w = Sdata Class::Sdata, Write;
    sdata_r = Sdata Class::Sdata, Read;
    /// The atomics' data, written back when GLC is set.
    sdata_rw = Sdata Class::Sdata, ReadWrite;
    /// The probe's SDATA field is a number.
    sdata_imm = Sdata Class::Imm(ImmKind::Decimal), Read;
    sbase = Sbase Class::SgprGroup, Read;
    smem_offset = Offset Class::SmemOffset, Read;
    /// A prefetch has both parts of the offset, each an operand.
    offset = Offset Class::Imm(ImmKind::Bytes), Read;
    soffset_reg = Soffset Class::Sgpr, Read;

    // Vector ALU.
    vdst = Vdst Class::Vgpr, Write;
    vdst_rw = Vdst Class::Vgpr, ReadWrite;
    /// A scalar result in VDST.
    vdst_sgpr = Vdst Class::ScalarDst, Write;
    vdst_agpr = Vdst Class::Agpr, Write;
    src0 = Src0 Class::Src, Read;
    src1 = Src1 Class::Src, Read;
    src2 = Src2 Class::Src, Read;
    src0_lane = Src0 Class::SrcLane, Read;
    src0_vgpr_rw = Src0 Class::SrcVgpr, ReadWrite;
    src0_agpr = Src0 Class::SrcAgpr, Read;
    src0_scalar = Src0 Class::SsrcInline, Read;
    src1_scalar = Src1 Class::SsrcInline, Read;
    src0_wide = Src0 Class::SrcVgpr, Read;
    src1_wide = Src1 Class::SrcVgpr, Read;
    src2_wide = Src2 Class::SrcVgpr, Read;
    src0_vgpr = Src0 Class::SrcVgpr, Read;
    mask_src2 = Src2 Class::Mask, Read;
    /// An accumulator: vector registers, or an inline constant.
    mc_inline = Src2 Class::MatrixC, Read;
    src2_vgpr = Src2 Class::SrcVgpr, Read;
    src0_acc = Src0 Class::SrcAgpr, Read;
    vsrc0 = Src0 Class::Vgpr, Read;
    vsrc1 = Src1 Class::Vgpr, Read;
    vsrc2 = Src2 Class::Vgpr, Read;
    src0_any = Src0 Class::SsrcOrLds, Read;
    src1_any = Src1 Class::Ssrc, Read;
    src2_any = Src2 Class::Ssrc, Read;
    src1_vgpr = Src1 Class::SrcVgpr, Read;
    vcc_w = Implied Class::Vcc, Write;
    vcc_r = Implied Class::Vcc, Read;

    // Interpolation and exports.
    attr = Other Class::Imm(ImmKind::Attribute), Read;
    param = Src0 Class::Imm(ImmKind::Param), Read;
    /// VOP3 has the source of an interpolation in SRC1's field.
    param_src1 = Src1 Class::Imm(ImmKind::Param), Read;
    exp_target = Other Class::Imm(ImmKind::ExpTarget), Read;
    exp0 = Src0 Class::Export, Read;
    exp1 = Src1 Class::Export, Read;
    exp2 = Src2 Class::Export, Read;
    exp3 = Src3 Class::Export, Read;

    // Matrices.
    mdst = Vdst Class::MatrixD, Write;
    mdst_rw = Vdst Class::MatrixD, ReadWrite;
        ma = Src0 Class::MatrixAb, Read;
    mb = Src1 Class::MatrixAb, Read;
    mc = Src2 Class::MatrixC, Read;
    scale_a = ScaleA Class::SrcVgpr, Read;
    scale_b = ScaleB Class::SrcVgpr, Read;

    // Vector memory.
    vaddr = Vaddr Class::Vgpr, Read;
    vaddr_rw = Vaddr Class::Vgpr, ReadWrite;
    /// GWS's datum: from gfx90a on an even register.
    gws_data = Vaddr Class::GwsData, Read;
    mem_dst = Vdst Class::VgprOrAgpr, Write;
    mem_dst_rw = Vdst Class::VgprOrAgpr, ReadWrite;
    data0 = Data0 Class::VgprOrAgpr, Read;
    data1 = Data1 Class::VgprOrAgpr, Read;
    flat_addr = Vaddr Class::FlatAddr, Read;
    global_addr = Vaddr Class::GlobalAddr, Read;
    scratch_addr = Vaddr Class::ScratchAddr, Read;
    saddr = Saddr Class::Saddr, Read;
    /// The old value that an atomic returns when GLC is set.
    atomic_dst = Vdst Class::VgprOrAgpr, Write;
    buf_data_w = Vdata Class::BufferData, Write;
    buf_data_rw = Vdata Class::BufferData, ReadWrite;
    buf_data_r = Vdata Class::BufferData, Read;
    buf_addr = Vaddr Class::BufferAddr, Read;
    srsrc = Srsrc Class::SgprGroup, Read;
    ssamp = Ssamp Class::SgprGroup, Read;
    soffset = Soffset Class::SsrcInline, Read;
    img_data_w = Vdata Class::ImageData, Write;
    img_data_rw = Vdata Class::ImageData, ReadWrite;
    img_data_r = Vdata Class::ImageData, Read;
    img_addr = Vaddr Class::ImageAddr, Read;
    /// What a ray hits, always four registers.
    ray_data = Vdata Class::Vgpr, Write;
    /// Of boxes, always ten.
    box_data = Vdata Class::Vgpr, Write;
}
