"""Vector integer arithmetic."""

from bits import BYTES, EDGES, I, MASK, SUM, bfe, clampi, clampu, ffbh_i32, lead, mid, msad8, perm, quad, sad8
from table import Table, operands


def integers():
    t = Table('integers.txt', 'Integer instructions with extreme values; saturation; 64 bits.')
    three = {
        'bfe_u32': lambda a, b, c: bfe(a, b, c, False), 'bfe_i32': lambda a, b, c: bfe(a, b, c, True),
        'bfi_b32': lambda a, b, c: a & b | ~a & c,
        'alignbit_b32': lambda a, b, c: (a << 32 | b) >> (c & 31), 'alignbyte_b32': lambda a, b, c: (a << 32 | b) >> 8 * (c & 3),
        'perm_b32': perm, 'sad_u8': sad8, 'sad_hi_u8': lambda a, b, c: (sad8(a, b, 0) << 16) + c,
        'sad_u16': lambda a, b, c: c + abs((a & 0xffff) - (b & 0xffff)) + abs((a >> 16) - (b >> 16)),
        'sad_u32': lambda a, b, c: c + abs(a - b), 'msad_u8': msad8,
        'lerp_u8': lambda a, b, c: SUM(((x + y + (z & 1)) >> 1) << 8 * i for i, (x, y, z) in enumerate(zip(BYTES(a), BYTES(b), BYTES(c)))),
        'mad_u32_u24': lambda a, b, c: (a & MASK(24)) * (b & MASK(24)) + c, 'mad_i32_i24': lambda a, b, c: I(a, 24) * I(b, 24) + c,
        'min3_i32': lambda a, b, c: min(I(a), I(b), I(c)), 'max3_i32': lambda a, b, c: max(I(a), I(b), I(c)), 'med3_i32': lambda a, b, c: mid(I(a), I(b), I(c)),
        'min3_u32': min, 'max3_u32': max, 'med3_u32': mid, 'add3_u32': lambda a, b, c: a + b + c,
        'lshl_add_u32': lambda a, b, c: (a << (b & 31)) + c, 'add_lshl_u32': lambda a, b, c: (a + b & MASK(32)) << (c & 31),
        'lshl_or_b32': lambda a, b, c: a << (b & 31) | c, 'and_or_b32': lambda a, b, c: a & b | c, 'or3_b32': lambda a, b, c: a | b | c,
        'xad_u32': lambda a, b, c: (a ^ b) + c,
    }
    selectors = [0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0xff0c0b00, 0x00010203, 0x80808008]
    for name, f in three.items():
        t.section(f'v_{name} {operands([32] * 4)}')
        third = selectors + EDGES[:4] if name == 'perm_b32' else EDGES
        for s in t.tuples([EDGES, EDGES, third], 40): t.row(s, (f(*s) & MASK(32),))
    two = {
        'mul_lo_u32': lambda a, b: a * b, 'mul_hi_u32': lambda a, b: a * b >> 32, 'mul_hi_i32': lambda a, b: I(a) * I(b) >> 32,
        'mul_u32_u24': lambda a, b: (a & MASK(24)) * (b & MASK(24)), 'mul_hi_u32_u24': lambda a, b: (a & MASK(24)) * (b & MASK(24)) >> 32,
        'mul_i32_i24': lambda a, b: I(a, 24) * I(b, 24), 'mul_hi_i32_i24': lambda a, b: I(a, 24) * I(b, 24) >> 32,
        'bfm_b32': lambda a, b: MASK(a & 31) << (b & 31), 'bcnt_u32_b32': lambda a, b: bin(a).count('1') + b,
        'lshlrev_b32': lambda a, b: b << (a & 31), 'lshrrev_b32': lambda a, b: b >> (a & 31), 'ashrrev_i32': lambda a, b: I(b) >> (a & 31),
        'min_i32': lambda a, b: min(I(a), I(b)), 'max_i32': lambda a, b: max(I(a), I(b)), 'min_u32': min, 'max_u32': max,
        'subrev_u32': lambda a, b: b - a,
    }
    for name, f in two.items():
        t.section(f'v_{name} {operands([32] * 3)}')
        for s in t.tuples([EDGES] * 2, 34): t.row(s, (f(*s) & MASK(32),))
    one = {'ffbh_u32': lambda a: lead(a, 32), 'ffbl_b32': lambda a: next((i for i in range(32) if a >> i & 1), MASK(32)), 'ffbh_i32': ffbh_i32,
           'bfrev_b32': lambda a: int(f'{a:032b}'[::-1], 2), 'not_b32': lambda a: ~a}
    for name, f in one.items():
        t.section(f'v_{name} {operands([32] * 2)}')
        for a in EDGES: t.row((a,), (f(a) & MASK(32),))
    saturating = {
        'add_u32_e64': lambda a, b: clampu(a + b, 32), 'sub_u32_e64': lambda a, b: clampu(a - b, 32), 'subrev_u32_e64': lambda a, b: clampu(b - a, 32),
        'add_i32': lambda a, b: clampi(I(a) + I(b), 32), 'sub_i32': lambda a, b: clampi(I(a) - I(b), 32),
        'add_u16_e64': lambda a, b: clampu((a & 0xffff) + (b & 0xffff), 16), 'sub_u16_e64': lambda a, b: clampu((a & 0xffff) - (b & 0xffff), 16),
        'add_i16': lambda a, b: clampi(I(a, 16) + I(b, 16), 16), 'sub_i16': lambda a, b: clampi(I(a, 16) - I(b, 16), 16),
    }
    for name, f in saturating.items():
        t.section(f'v_{name} {operands([32] * 3)} clamp')
        for s in t.tuples([EDGES] * 2, 40): t.row(s, (f(*s),))
    for name, f in {'mad_u16': lambda a, b, c: clampu((a & 0xffff) * (b & 0xffff) + (c & 0xffff), 16), 'mad_i16': lambda a, b, c: clampi(I(a, 16) * I(b, 16) + I(c, 16), 16)}.items():
        t.section(f'v_{name} {operands([32] * 4)} clamp')
        for s in t.tuples([EDGES] * 3, 30): t.row(s, (f(*s),))
    wide = [0, 1, MASK(64), 1 << 63, MASK(63), 1 << 32, MASK(32), 0x8000000080000000, 0x0123456789abcdef, 0xfedcba9876543210]
    for name, f in {'lshlrev_b64': lambda a, b: b << (a & 63), 'lshrrev_b64': lambda a, b: b >> (a & 63), 'ashrrev_i64': lambda a, b: I(b, 64) >> (a & 63)}.items():
        t.section(f'v_{name} {operands([64, 32, 64])}')
        for s in t.tuples([[0, 1, 31, 32, 33, 63, 64, 0xffffffff], wide], 36): t.row(s, (f(*s) & MASK(64),))
    for name, f in {'mad_u64_u32': lambda a, b, c: a * b + c, 'mad_i64_i32': lambda a, b, c: I(a) * I(b) + I(c, 64)}.items():
        t.section(f'v_{name} v[0:1], vcc, v4, v8, v[12:13]')
        for a, b, c in t.tuples([EDGES, EDGES, wide], 30):
            v = f(a, b, c)
            over = v >> 64 & 1 if name == 'mad_u64_u32' else int(not -1 << 63 <= v <= MASK(63))
            if name == 'mad_u64_u32': t.row((a, b, c), (v & MASK(64), over))
    for name, step in (('qsad_pk_u16_u8', sad8), ('mqsad_pk_u16_u8', msad8)):
        t.section(f'v_{name} {operands([64, 64, 32, 64])}')
        for s in t.tuples([wide, EDGES, wide], 24): t.row(s, (quad(step)(*s),))
    t.save()
