//! Opcodes that take longer than their work explains, and why.

use amdgpu_isa::{Encoding, Opcode};

/// Why an opcode takes so much longer, and how many times `v_add_f32`'s time it may take for an operation.
#[derive(Clone, Copy)]
pub(crate) struct Excuse {
    pub(crate) limit: f64,
    pub(crate) why: &'static str,
}

const fn excuse(limit: f64, why: &'static str) -> Option<Excuse> {
    Some(Excuse { limit, why })
}

/// `None`: there is none.
pub(crate) fn excuse_of(opcode: Opcode) -> Option<Excuse> {
    let (name, encoding) = (opcode.op().name(), opcode.encoding());
    let is = |names: &[&str]| names.contains(&name);
    let has = |part: &str| name.contains(part);
    let is_device = matches!(
        encoding,
        Encoding::Flat | Encoding::Global | Encoding::Scratch | Encoding::Mubuf | Encoding::Mtbuf
    );
    if has("_format_") {
        return excuse(450.0, "each lane's elements are taken apart and converted by themselves");
    }
    if is_device && has("_atomic_") {
        return match encoding {
            Encoding::Mubuf => excuse(300.0, "lane by lane, with every check"),
            _ => excuse(180.0, "each lane's is an atomic operation of the host's memory"),
        };
    }
    if has("_lds_") || is(&["ds_read_addtid_b32", "ds_write_addtid_b32"]) {
        return excuse(200.0, "it moves between memories, lane by lane, with every check");
    }
    if is_device {
        return excuse(20.0, "lane by lane, but for dwords that lie side by side");
    }
    if encoding == Encoding::Ds {
        return excuse(150.0, "lane by lane, in ascending order: one may change what the next one finds");
    }
    if has("cvt") && ["fp8", "bf8", "fp6", "bf6", "fp4", "bf16"].iter().any(|format| has(format)) {
        return match has("_sr_") {
            true => excuse(600.0, "each element is rounded by a random number of its own, one by one"),
            false => excuse(80.0, "numbers are taken apart, rounded and put together as integers"),
        };
    }
    if has("_4x4x") {
        return excuse(100.0, "a small matrix: what surrounds the products takes longer than they do");
    }
    if has("_16x16x") || has("_32x32x") {
        return excuse(35.0, "the operands' elements are widened first, few products for each");
    }
    if ["v_sin", "v_cos", "v_exp", "v_log"].iter().any(|start| name.starts_with(start)) {
        return excuse(
            100.0,
            "a polynomial in double precision, and the function itself where that is in doubt",
        );
    }
    if ["v_rsq", "v_rcp", "v_sqrt", "v_div"].iter().any(|start| name.starts_with(start)) {
        return excuse(50.0, "quotients, roots and their special cases, in more precision than the result's");
    }
    if has("sad") || has("trig_preop") {
        return excuse(220.0, "sixteen differences, or a window of 1201 bits, for each lane");
    }
    if has("cmp_class") {
        return excuse(14.0, "ten classes");
    }
    if has("dot") {
        return excuse(80.0, "up to eight products, each sum rounded in order");
    }
    if has("_f16") || has("_i16") || has("_u16") {
        return excuse(
            300.0,
            "halves are singles while they are worked on; what is seldom is done one half after the other",
        );
    }
    if has("64") {
        return excuse(50.0, "integers of 64 bits, which AVX2 compares and shifts in pieces");
    }
    if encoding == Encoding::Vopd {
        return excuse(60.0, "one of the two has no handler of its own, so that both go the general way");
    }
    if ["v_movrel", "v_swap", "v_permlane"].iter().any(|start| name.starts_with(start)) {
        return excuse(60.0, "registers by number and lanes by number, each looked up");
    }
    if is(&["v_perm_b32", "v_alignbyte_b32", "v_sat_pk_u8_i16", "v_lerp_u8", "v_cvt_pk_u8_f32"]) {
        return excuse(40.0, "each byte by itself");
    }
    if has("minimum") || has("maximum") {
        return excuse(30.0, "NaNs come first, signalling ones before quiet ones");
    }
    if has("legacy") || has("dx9") || has("mix_") {
        return excuse(20.0, "zeros that make zeros, or halves among its sources");
    }
    if encoding == Encoding::Smem {
        return excuse(20.0, "up to sixteen dwords, each into a register of its own");
    }
    if encoding.name().contains("sdwa") || encoding.name().contains("dpp") || name.starts_with("v_cmpx") {
        return excuse(60.0, "operands are made over before, or EXEC after");
    }
    None
}
