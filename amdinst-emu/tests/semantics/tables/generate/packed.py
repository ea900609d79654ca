"""VOP3P without matrices."""

from bits import EDGES, I, MASK, SUM, clampi, clampu
from formats import H, add, floats, mul
from table import Table, operands


def packed_and_dots():
    t = Table('packed.txt', 'Packed halves with selections and signs, and dot products with saturation.')
    words = [0, 0x00010001, 0x7fff8000, 0x80007fff, 0xffffffff, 0x0001ffff, 0xffff0001, 0x80008000, 0x7fff7fff, 0x1234abcd, 0x000f0010]
    half = lambda x, high: x >> 16 if high else x & 0xffff

    def pair(f, sources, sel, sel_hi):
        pick = lambda bits: [half(x, bit) for x, bit in zip(sources, bits)]
        return f(*pick(sel)) & 0xffff | (f(*pick(sel_hi)) & 0xffff) << 16
    plain = ([0, 0, 0], [1, 1, 1], '')
    mixed = [plain, ([1, 0, 1], [0, 1, 0], 'op_sel:[1,0{}] op_sel_hi:[0,1{}]'), ([1, 1, 1], [1, 1, 1], 'op_sel:[1,1{}] op_sel_hi:[1,1{}]')]
    two = {
        'pk_add_u16': (lambda a, b: a + b, lambda a, b: clampu(a + b, 16)), 'pk_sub_u16': (lambda a, b: a - b, lambda a, b: clampu(a - b, 16)),
        'pk_add_i16': (lambda a, b: a + b, lambda a, b: clampi(I(a, 16) + I(b, 16), 16)), 'pk_sub_i16': (lambda a, b: a - b, lambda a, b: clampi(I(a, 16) - I(b, 16), 16)),
        'pk_mul_lo_u16': (lambda a, b: a * b, None), 'pk_lshlrev_b16': (lambda a, b: b << (a & 15), None), 'pk_lshrrev_b16': (lambda a, b: b >> (a & 15), None),
        'pk_ashrrev_i16': (lambda a, b: I(b, 16) >> (a & 15), None), 'pk_min_i16': (lambda a, b: min(I(a, 16), I(b, 16)), None), 'pk_max_i16': (lambda a, b: max(I(a, 16), I(b, 16)), None),
        'pk_min_u16': (min, None), 'pk_max_u16': (max, None),
    }
    for name, (f, clamped) in two.items():
        for sel, sel_hi, text in mixed:
            for function, end in ((f, ''), (clamped, ' clamp')):
                if function:
                    t.section(f'v_{name} {operands([32] * 3)} {text.format("", "")}{end}')
                    for s in t.tuples([words] * 2, 13): t.row(s, (pair(function, s, sel, sel_hi),))
    for name, f, clamped in (('pk_mad_u16', lambda a, b, c: a * b + c, lambda a, b, c: clampu(a * b + c, 16)),
                             ('pk_mad_i16', lambda a, b, c: a * b + c, lambda a, b, c: clampi(I(a, 16) * I(b, 16) + I(c, 16), 16))):
        for sel, sel_hi, text in mixed:
            text = text.format(f',{sel[2]}', f',{sel_hi[2]}')
            for function, end in ((f, ''), (clamped, ' clamp')):
                t.section(f'v_{name} {operands([32] * 4)} {text}{end}')
                for s in t.tuples([words] * 3, 13): t.row(s, (pair(function, s, sel, sel_hi),))
    # Floats: NEG_LO is for the low result, NEG_HI for the high one.
    halves = [a | b << 16 for a, b in zip(floats(H), reversed(floats(H)))]
    for text, low, high in (('', (0, 0), (0, 0)), ('neg_lo:[1,0] neg_hi:[0,1]', (1, 0), (0, 1)), ('neg_lo:[0,1] neg_hi:[1,1]', (0, 1), (1, 1))):
        for name, op in (('pk_add_f16', add), ('pk_mul_f16', mul)):
            t.section(f'v_{name} {operands([32] * 3)} {text}')
            for a, b in t.tuples([halves] * 2, 32):
                signs = lambda values, bits: [v ^ H.sign if bit else v for v, bit in zip(values, bits)]
                t.row((a, b), (op(H, *signs((a & 0xffff, b & 0xffff), low), 0) | op(H, *signs((a >> 16, b >> 16), high), 0) << 16,))

    def parts(x, bits, signed): return [I(x >> i, bits) if signed else x >> i & MASK(bits) for i in range(0, 32, bits)]
    for name, bits, signed in (('dot2_i32_i16', 16, True), ('dot2_u32_u16', 16, False), ('dot4_i32_i8', 8, True), ('dot4_u32_u8', 8, False),
                               ('dot8_i32_i4', 4, True), ('dot8_u32_u4', 4, False)):
        for end in ('', ' clamp'):
            t.section(f'v_{name} {operands([32] * 4)}{end}')
            for a, b, c in t.tuples([EDGES, EDGES, EDGES[-9:]], 24) + [(0x80808080, 0x80808080, 0x7fffffff), (MASK(32), MASK(32), MASK(32)), (0x80008000, 0x80008000, 0)]:
                v = SUM(x * y for x, y in zip(parts(a, bits, signed), parts(b, bits, signed))) + (I(c) if signed else c)
                t.row((a, b, c), ((clampi(v, 32) if signed else clampu(v, 32)) if end else v & MASK(32),))
    t.save()
