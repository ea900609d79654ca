//! VDSDIR: loads of attributes and of LDS.

pub(crate) use crate::signature::rdna3::ldsdir::*;
