//! MIMG: images, with a dimension in the instruction.

pub(crate) use crate::signature::rdna::mimg::*;
use crate::signature::{LOAD, Signature};

images! {
    image_msaa_load [img_data_w B128, coordinates] () [LOAD];
}
