//! VIMAGE: images without a sampler (RDNA 4 ISA, chapter "Instructions").

use crate::encoding::table::rows;

rows! {
    /// Image memory.
    VIMAGE of rdna4::mimg;
    0   image_load                                ALL [];
    1   image_load_mip                            ALL [];
    2   image_load_pck                            ALL [NO_D16];
    3   image_load_pck_sgn                        ALL [NO_D16];
    4   image_load_mip_pck                        ALL [NO_D16];
    5   image_load_mip_pck_sgn                    ALL [NO_D16];
    6   image_store                               ALL [];
    7   image_store_mip                           ALL [];
    8   image_store_pck                           ALL [NO_D16];
    9   image_store_mip_pck                       ALL [NO_D16];
    10  image_atomic_swap                         ALL [];
    11  image_atomic_cmpswap                      ALL [];
    12  image_atomic_add "image_atomic_add_uint"  ALL [];
    13  image_atomic_sub "image_atomic_sub_uint"  ALL [];
    14  image_atomic_smin "image_atomic_min_int"  ALL [];
    15  image_atomic_umin "image_atomic_min_uint" ALL [];
    16  image_atomic_smax "image_atomic_max_int"  ALL [];
    17  image_atomic_umax "image_atomic_max_uint" ALL [];
    18  image_atomic_and                          ALL [];
    19  image_atomic_or                           ALL [];
    20  image_atomic_xor                          ALL [];
    21  image_atomic_inc "image_atomic_inc_uint"  ALL [];
    22  image_atomic_dec "image_atomic_dec_uint"  ALL [];
    23  image_get_resinfo                         ALL [NO_D16];
    25  image_bvh_intersect_ray                   ALL [];
    26  image_bvh64_intersect_ray                 ALL [];
    128 image_bvh_dual_intersect_ray              ALL [];
    129 image_bvh8_intersect_ray                  ALL [];
    131 image_atomic_add_flt                      ALL [];
    132 image_atomic_fmin "image_atomic_min_flt"  ALL [];
    133 image_atomic_fmax "image_atomic_max_flt"  ALL [];
    134 image_atomic_pk_add_f16                   ALL [];
    135 image_atomic_pk_add_bf16                  ALL [];
}
