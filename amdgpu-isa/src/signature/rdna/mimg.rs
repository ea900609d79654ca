//! MIMG: images, with a dimension in the instruction.

use crate::signature::image::ImageAddress;
use crate::signature::{ATOMIC, Class, LOAD, STORE, Signature, Spec, Ty, slots};
use crate::{Access, Op, Slot};

/// An address operand; the encodings that name each of its registers have more of them.
pub(crate) const fn address(address: ImageAddress) -> Spec {
    Spec { slot: Slot::Vaddr, class: Class::ImageAddress(address), ty: Ty::I32, access: Access::Read }
}

/// A list: `mnemonic [data type, parts of the address] (sampler) [properties];`.
macro_rules! images {
    ($($op:ident [$data:ident $ty:ident, $($part:ident)*] ($($sampler:ident)?) [$($flag:ident)*];)*) => {
        $(
            #[expect(non_upper_case_globals, reason = "it is called by the mnemonic")]
            pub(crate) const $op: Signature = {
                use $crate::signature::rdna::mimg::address;
                use $crate::signature::image::{ImageAddress, Texel};
                use $crate::signature::{Flags, Ty, slots};
                Signature {
                    op: $crate::Op::$op,
                    operands: &[
                        slots::$data(Ty::$ty),
                        address(ImageAddress::Texel(Texel::NOTHING$(.$part())*)),
                        slots::srsrc(Ty::B256),
                        $(slots::$sampler(Ty::B128),)?
                    ],
                    flags: Flags::NONE$(.with($flag))*,
                    action: None,
                }
            };
        )*
    };
}
pub(crate) use images;

images! {
    image_load                [img_data_w I32, coordinates] () [LOAD];
    image_load_mip            [img_data_w I32, coordinates level] () [LOAD];
    image_load_pck            [img_data_w I32, coordinates] () [LOAD];
    image_load_pck_sgn        [img_data_w I32, coordinates] () [LOAD];
    image_load_mip_pck        [img_data_w I32, coordinates level] () [LOAD];
    image_load_mip_pck_sgn    [img_data_w I32, coordinates level] () [LOAD];
    image_store               [img_data_r I32, coordinates] () [STORE];
    image_store_mip           [img_data_r I32, coordinates level] () [STORE];
    image_store_pck           [img_data_r I32, coordinates] () [STORE];
    image_store_mip_pck       [img_data_r I32, coordinates level] () [STORE];
    image_atomic_swap         [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_cmpswap      [img_data_rw I64, coordinates] () [ATOMIC];
    image_atomic_add          [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_sub          [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_smin         [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_umin         [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_smax         [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_umax         [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_and          [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_or           [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_xor          [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_inc          [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_dec          [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_fcmpswap     [img_data_rw I64, coordinates] () [ATOMIC];
    image_atomic_fmin         [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_fmax         [img_data_rw I32, coordinates] () [ATOMIC];
    image_get_resinfo         [img_data_w I32, level] () [LOAD];
    image_msaa_load           [img_data_w I32, coordinates] () [LOAD];
    image_sample              [img_data_w I32, coordinates] (ssamp) [LOAD];
    image_sample_d            [img_data_w I32, gradients coordinates] (ssamp) [LOAD];
    image_sample_l            [img_data_w I32, coordinates level] (ssamp) [LOAD];
    image_sample_b            [img_data_w I32, bias coordinates] (ssamp) [LOAD];
    image_sample_lz           [img_data_w I32, coordinates] (ssamp) [LOAD];
    image_sample_c            [img_data_w I32, compare coordinates] (ssamp) [LOAD];
    image_sample_c_d          [img_data_w I32, compare gradients coordinates] (ssamp) [LOAD];
    image_sample_c_l          [img_data_w I32, compare coordinates level] (ssamp) [LOAD];
    image_sample_c_b          [img_data_w I32, bias compare coordinates] (ssamp) [LOAD];
    image_sample_c_lz         [img_data_w I32, compare coordinates] (ssamp) [LOAD];
    image_sample_o            [img_data_w I32, offset coordinates] (ssamp) [LOAD];
    image_sample_d_o          [img_data_w I32, offset gradients coordinates] (ssamp) [LOAD];
    image_sample_l_o          [img_data_w I32, offset coordinates level] (ssamp) [LOAD];
    image_sample_b_o          [img_data_w I32, offset bias coordinates] (ssamp) [LOAD];
    image_sample_lz_o         [img_data_w I32, offset coordinates] (ssamp) [LOAD];
    image_sample_c_o          [img_data_w I32, offset compare coordinates] (ssamp) [LOAD];
    image_sample_c_d_o        [img_data_w I32, offset compare gradients coordinates] (ssamp) [LOAD];
    image_sample_c_l_o        [img_data_w I32, offset compare coordinates level] (ssamp) [LOAD];
    image_sample_c_b_o        [img_data_w I32, offset bias compare coordinates] (ssamp) [LOAD];
    image_sample_c_lz_o       [img_data_w I32, offset compare coordinates] (ssamp) [LOAD];
    image_gather4             [img_data_w B128, coordinates] (ssamp) [LOAD];
    image_gather4_l           [img_data_w B128, coordinates level] (ssamp) [LOAD];
    image_gather4_b           [img_data_w B128, bias coordinates] (ssamp) [LOAD];
    image_gather4_lz          [img_data_w B128, coordinates] (ssamp) [LOAD];
    image_gather4_c           [img_data_w B128, compare coordinates] (ssamp) [LOAD];
    image_gather4_c_lz        [img_data_w B128, compare coordinates] (ssamp) [LOAD];
    image_gather4_o           [img_data_w B128, offset coordinates] (ssamp) [LOAD];
    image_gather4_lz_o        [img_data_w B128, offset coordinates] (ssamp) [LOAD];
    image_gather4_c_lz_o      [img_data_w B128, offset compare coordinates] (ssamp) [LOAD];
    image_get_lod             [img_data_w I32, coordinates] (ssamp) [LOAD];
    image_sample_d_g16        [img_data_w I32, half_gradients coordinates] (ssamp) [LOAD];
    image_sample_c_d_g16      [img_data_w I32, compare half_gradients coordinates] (ssamp) [LOAD];
    image_sample_d_o_g16      [img_data_w I32, offset half_gradients coordinates] (ssamp) [LOAD];
    image_sample_c_d_o_g16    [img_data_w I32, offset compare half_gradients coordinates] (ssamp) [LOAD];
    image_sample_cl           [img_data_w I32, coordinates level] (ssamp) [LOAD];
    image_sample_d_cl         [img_data_w I32, gradients coordinates level] (ssamp) [LOAD];
    image_sample_b_cl         [img_data_w I32, bias coordinates level] (ssamp) [LOAD];
    image_sample_c_cl         [img_data_w I32, compare coordinates level] (ssamp) [LOAD];
    image_sample_c_d_cl       [img_data_w I32, compare gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_b_cl       [img_data_w I32, bias compare coordinates level] (ssamp) [LOAD];
    image_sample_cl_o         [img_data_w I32, offset coordinates level] (ssamp) [LOAD];
    image_sample_d_cl_o       [img_data_w I32, offset gradients coordinates level] (ssamp) [LOAD];
    image_sample_b_cl_o       [img_data_w I32, offset bias coordinates level] (ssamp) [LOAD];
    image_sample_c_cl_o       [img_data_w I32, offset compare coordinates level] (ssamp) [LOAD];
    image_sample_c_d_cl_o     [img_data_w I32, offset compare gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_b_cl_o     [img_data_w I32, offset bias compare coordinates level] (ssamp) [LOAD];
    image_sample_c_d_cl_g16   [img_data_w I32, compare half_gradients coordinates level] (ssamp) [LOAD];
    image_sample_d_cl_o_g16   [img_data_w I32, offset half_gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_d_cl_o_g16 [img_data_w I32, offset compare half_gradients coordinates level] (ssamp) [LOAD];
    image_sample_d_cl_g16     [img_data_w I32, half_gradients coordinates level] (ssamp) [LOAD];
    image_gather4_cl          [img_data_w B128, coordinates level] (ssamp) [LOAD];
    image_gather4_b_cl        [img_data_w B128, bias coordinates level] (ssamp) [LOAD];
    image_gather4_c_cl        [img_data_w B128, compare coordinates level] (ssamp) [LOAD];
    image_gather4_c_l         [img_data_w B128, compare coordinates level] (ssamp) [LOAD];
    image_gather4_c_b         [img_data_w B128, bias compare coordinates] (ssamp) [LOAD];
    image_gather4_c_b_cl      [img_data_w B128, bias compare coordinates level] (ssamp) [LOAD];
    image_gather4h            [img_data_w B128, coordinates] (ssamp) [LOAD];
    image_sample_cd           [img_data_w I32, gradients coordinates] (ssamp) [LOAD];
    image_sample_cd_g16       [img_data_w I32, half_gradients coordinates] (ssamp) [LOAD];
    image_sample_cd_o         [img_data_w I32, offset gradients coordinates] (ssamp) [LOAD];
    image_sample_cd_o_g16     [img_data_w I32, offset half_gradients coordinates] (ssamp) [LOAD];
    image_sample_cd_cl        [img_data_w I32, gradients coordinates level] (ssamp) [LOAD];
    image_sample_cd_cl_g16    [img_data_w I32, half_gradients coordinates level] (ssamp) [LOAD];
    image_sample_cd_cl_o      [img_data_w I32, offset gradients coordinates level] (ssamp) [LOAD];
    image_sample_cd_cl_o_g16  [img_data_w I32, offset half_gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_cd         [img_data_w I32, compare gradients coordinates] (ssamp) [LOAD];
    image_sample_c_cd_g16     [img_data_w I32, compare half_gradients coordinates] (ssamp) [LOAD];
    image_sample_c_cd_o       [img_data_w I32, offset compare gradients coordinates] (ssamp) [LOAD];
    image_sample_c_cd_o_g16   [img_data_w I32, offset compare half_gradients coordinates] (ssamp) [LOAD];
    image_sample_c_cd_cl      [img_data_w I32, compare gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_cd_cl_g16  [img_data_w I32, compare half_gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_cd_cl_o    [img_data_w I32, offset compare gradients coordinates level] (ssamp) [LOAD];
    image_sample_c_cd_cl_o_g16 [img_data_w I32, offset compare half_gradients coordinates level] (ssamp) [LOAD];
    image_gather4_cl_o        [img_data_w B128, offset coordinates level] (ssamp) [LOAD];
    image_gather4_l_o         [img_data_w B128, offset coordinates level] (ssamp) [LOAD];
    image_gather4_b_o         [img_data_w B128, offset bias coordinates] (ssamp) [LOAD];
    image_gather4_b_cl_o      [img_data_w B128, offset bias coordinates level] (ssamp) [LOAD];
    image_gather4_c_o         [img_data_w B128, offset compare coordinates] (ssamp) [LOAD];
    image_gather4_c_cl_o      [img_data_w B128, offset compare coordinates level] (ssamp) [LOAD];
    image_gather4_c_l_o       [img_data_w B128, offset compare coordinates level] (ssamp) [LOAD];
    image_gather4_c_b_o       [img_data_w B128, offset bias compare coordinates] (ssamp) [LOAD];
    image_gather4_c_b_cl_o    [img_data_w B128, offset bias compare coordinates level] (ssamp) [LOAD];
}

/// A list: `mnemonic node_dwords;`.
macro_rules! rays {
    ($($op:ident $node_dwords:literal;)*) => {
        $(
            #[expect(non_upper_case_globals, reason = "it is called by the mnemonic")]
            pub(crate) const $op: Signature = Signature {
                op: Op::$op,
                operands: &[
                    slots::ray_data(Ty::B128),
                    address(ImageAddress::Ray { node_dwords: $node_dwords }),
                    slots::srsrc(Ty::B128),
                ],
                flags: LOAD,
                action: None,
            };
        )*
    };
}

rays! {
    image_bvh_intersect_ray   1;
    image_bvh64_intersect_ray 2;
}

/// A list: `mnemonic offset_dwords;`.
macro_rules! bounding_boxes {
    ($($op:ident $offset_dwords:literal;)*) => {
        $(
            #[expect(non_upper_case_globals, reason = "it is called by the mnemonic")]
            pub(crate) const $op: $crate::signature::Signature = {
                use $crate::signature::{Ty, image::ImageAddress, rdna::mimg::address, slots};
                $crate::signature::Signature {
                    op: $crate::Op::$op,
                    operands: &[
                        slots::box_data(Ty::B320),
                        address(ImageAddress::Boxes { offset_dwords: $offset_dwords }),
                        slots::srsrc(Ty::B128),
                    ],
                    flags: $crate::signature::LOAD,
                    action: None,
                }
            };
        )*
    };
}
pub(crate) use bounding_boxes;
