//! SOPP: program control.

pub(crate) use crate::signature::rdna::sopp::*;
use crate::signature::signatures;

signatures! {
    s_delay_alu                  [delay_alu I32] [];
    s_wait_event                 [imm_hex I32] [SIDE_EFFECT];
}
