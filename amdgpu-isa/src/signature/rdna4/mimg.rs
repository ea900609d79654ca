//! VIMAGE and VSAMPLE: images.

use crate::signature::rdna::mimg::bounding_boxes;
use crate::signature::rdna::mimg::images;
pub(crate) use crate::signature::rdna3::mimg::*;
use crate::signature::{ATOMIC, Signature};

images! {
    image_atomic_add_flt     [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_pk_add_f16  [img_data_rw I32, coordinates] () [ATOMIC];
    image_atomic_pk_add_bf16 [img_data_rw I32, coordinates] () [ATOMIC];
}

bounding_boxes! {
    image_bvh_dual_intersect_ray 2;
    image_bvh8_intersect_ray     1;
}
