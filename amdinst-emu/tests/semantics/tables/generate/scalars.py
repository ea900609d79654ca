"""SOP2 and SOP1."""

from bits import EDGES, I, MASK, SUM, ffbh_i32, lead
from table import Table, operands


def scalars():
    t = Table('scalars.txt', 'Scalar instructions with extreme values: results, and SCC where they set it (the last column).')
    nz = lambda v, bits: (v & MASK(bits), int(v & MASK(bits) != 0))
    over = lambda v: (v & MASK(32), int(not -1 << 31 <= v <= MASK(31)))

    def sbfe(a, b, bits, signed):
        offset, width = b & (bits - 1), b >> 16 & 0x7f
        v = (I(a, bits) if signed else a) >> offset
        return nz(0 if width == 0 else I(v, width) if signed and width < bits else v & MASK(width), bits)
    two = {
        's_add_u32': lambda a, b: (a + b & MASK(32), a + b >> 32), 's_sub_u32': lambda a, b: (a - b & MASK(32), int(b > a)),
        's_add_i32': lambda a, b: over(I(a) + I(b)), 's_sub_i32': lambda a, b: over(I(a) - I(b)),
        's_min_i32': lambda a, b: (min(I(a), I(b)) & MASK(32), int(I(a) < I(b))), 's_max_i32': lambda a, b: (max(I(a), I(b)) & MASK(32), int(I(a) > I(b))),
        's_min_u32': lambda a, b: (min(a, b), int(a < b)), 's_max_u32': lambda a, b: (max(a, b), int(a > b)),
        's_and_b32': lambda a, b: nz(a & b, 32), 's_xnor_b32': lambda a, b: nz(~(a ^ b), 32), 's_nand_b32': lambda a, b: nz(~(a & b), 32), 's_orn2_b32': lambda a, b: nz(a | ~b, 32),
        's_lshl_b32': lambda a, b: nz(a << (b & 31), 32), 's_lshr_b32': lambda a, b: nz(a >> (b & 31), 32), 's_ashr_i32': lambda a, b: nz(I(a) >> (b & 31), 32),
        's_bfe_u32': lambda a, b: sbfe(a, b, 32, False), 's_bfe_i32': lambda a, b: sbfe(a, b, 32, True),
        's_absdiff_i32': lambda a, b: nz(abs(I(I(a) - I(b))), 32),
        's_lshl1_add_u32': lambda a, b: ((a << 1) + b & MASK(32), int((a << 1) + b > MASK(32))), 's_lshl4_add_u32': lambda a, b: ((a << 4) + b & MASK(32), int((a << 4) + b > MASK(32))),
    }
    fields = [w << 16 | o for w in (0, 1, 8, 16, 31, 32, 127) for o in (0, 1, 16, 31)] + [0xffffffff]
    for name, f in two.items():
        t.section(f'{name} {operands([32] * 3, "s")}')
        for s in t.tuples([EDGES, fields if 'bfe' in name else EDGES], 30):
            # Processors differ in SCC after the maximum of equals (`scalar.rs`).
            if 'max' not in name or s[0] != s[1]: t.row(s, f(*s))
    for name, f in {'s_mul_i32': lambda a, b: a * b, 's_mul_hi_u32': lambda a, b: a * b >> 32, 's_mul_hi_i32': lambda a, b: I(a) * I(b) >> 32,
                    's_bfm_b32': lambda a, b: MASK(a & 31) << (b & 31), 's_pack_ll_b32_b16': lambda a, b: a & 0xffff | b << 16,
                    's_pack_lh_b32_b16': lambda a, b: a & 0xffff | b & 0xffff0000, 's_pack_hh_b32_b16': lambda a, b: a >> 16 | b & 0xffff0000}.items():
        t.section(f'{name} {operands([32] * 3, "s")}')
        for s in t.tuples([EDGES] * 2, 20): t.row(s, (f(*s) & MASK(32),))
    wide = [0, 1, MASK(64), 1 << 63, MASK(63), 1 << 32, MASK(32), 0x8000000080000000, 0x0123456789abcdef]
    counts = [0, 1, 31, 32, 33, 63, 64, 0xffffffff]
    for name, f in {'s_lshl_b64': lambda a, b: a << (b & 63), 's_lshr_b64': lambda a, b: a >> (b & 63), 's_ashr_i64': lambda a, b: I(a, 64) >> (b & 63)}.items():
        t.section(f'{name} {operands([64, 64, 32], "s")}')
        for s in t.tuples([wide, counts], 24): t.row(s, nz(f(*s), 64))
    fields = [w << 16 | o for w in (0, 1, 32, 33, 63, 64, 127) for o in (0, 1, 32, 63)]
    for name, signed in (('s_bfe_u64', False), ('s_bfe_i64', True)):
        t.section(f'{name} {operands([64, 64, 32], "s")}')
        for s in t.tuples([wide, fields], 30): t.row(s, sbfe(*s, 64, signed))
    t.section(f's_bfm_b64 {operands([64, 32, 32], "s")}')
    for s in t.tuples([counts] * 2, 16): t.row(s, (MASK(s[0] & 63) << (s[1] & 63) & MASK(64),))
    ones = lambda a: bin(a).count('1')
    first = lambda a: (a & -a).bit_length() - 1 if a else MASK(32)
    wqm = lambda a, bits: SUM(15 << q for q in range(0, bits, 4) if a >> q & 15)
    quadmask = lambda a, bits: SUM(1 << q // 4 for q in range(0, bits, 4) if a >> q & 15)
    flag = lambda f: (lambda a: nz(f(a), 32))
    one = {
        's_bcnt0_i32_b32': flag(lambda a: 32 - ones(a)), 's_bcnt1_i32_b32': flag(ones), 's_ff1_i32_b32': lambda a: (first(a),), 's_ff0_i32_b32': lambda a: (first(~a & MASK(32)),),
        's_flbit_i32_b32': lambda a: (lead(a, 32),), 's_flbit_i32': lambda a: (ffbh_i32(a),), 's_brev_b32': lambda a: (int(f'{a:032b}'[::-1], 2),),
        's_sext_i32_i8': lambda a: (I(a, 8) & MASK(32),), 's_sext_i32_i16': lambda a: (I(a, 16) & MASK(32),), 's_abs_i32': flag(lambda a: abs(I(a))),
        's_not_b32': flag(lambda a: ~a), 's_wqm_b32': flag(lambda a: wqm(a, 32)), 's_quadmask_b32': flag(lambda a: quadmask(a, 32)),
    }
    for name, f in one.items():
        t.section(f'{name} {operands([32] * 2, "s")}')
        for a in EDGES: t.row((a,), f(a))
    t.section('s_bitreplicate_b64_b32 s[0:1], s4')
    for a in EDGES: t.row((a,), (SUM(3 << 2 * i for i in range(32) if a >> i & 1),))
    for name, f in {'s_bcnt1_i32_b64': lambda a: nz(ones(a), 32), 's_ff1_i32_b64': lambda a: (first(a),), 's_flbit_i32_b64': lambda a: (lead(a, 64),), 's_ff0_i32_b64': lambda a: (first(~a & MASK(64)),)}.items():
        t.section(f'{name} {operands([32, 64], "s")}')
        for a in wide: t.row((a,), f(a))
    t.save()
