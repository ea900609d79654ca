"""Between floats and integers."""

from fractions import Fraction

from formats import D, H, MASK, S, Mode, floats
from table import Table, operands


def conversions():
    t = Table('conversions.txt', 'Conversions: out of range, NaN, ties, subnormals.')

    def to_integer(f, x, low, high, how='trunc'):
        if f.is_nan(x): return 0
        if f.is_inf(x): return low if f.negative(x) else high
        v = f.value(x)
        n = v.numerator // v.denominator
        if how == 'trunc' and v < 0 and n != v: n += 1
        if how == 'rpi': n = (v + Fraction(1, 2)).__floor__()
        return max(low, min(high, n))

    def resize(f, to, x, rm):
        if f.is_nan(x):
            fraction = (x | f.quiet) & MASK(f.m)
            shift = to.m - f.m
            fraction = fraction << shift if shift > 0 else fraction >> -shift
            return (to.sign if f.negative(x) else 0) | to.inf | fraction
        if f.is_inf(x): return (to.sign if f.negative(x) else 0) | to.inf
        return to.round(f.value(x), rm, f.negative(x))

    for f in (S, D):
        ends = [Fraction(n) + d for n in (0, 1 << 31, 1 << 32, -(1 << 31), (1 << 31) - 1, (1 << 32) - 1)
                for d in (Fraction(-3, 2), Fraction(-1, 2), Fraction(0), Fraction(1, 2), Fraction(1))]
        values = list(dict.fromkeys(floats(f) + [f.round(v) for v in ends]))
        for name, low, high in (('i32', -1 << 31, MASK(31)), ('u32', 0, MASK(32))):
            t.section(f'v_cvt_{name}_{f.name} {operands([32, f.bits])}')
            for x in values: t.row((x,), (to_integer(f, x, low, high) & MASK(32),))
    for how in ('rpi', 'flr'):
        t.section(f'v_cvt_{how}_i32_f32 {operands([32, 32])}')
        for x in [S.round(Fraction(n, 4)) for n in range(-9, 10)] + [S.inf, S.sign | S.inf, S.inf | S.quiet, S.max, S.sign | S.max]:
            t.row((x,), (to_integer(S, x, -1 << 31, MASK(31), how) & MASK(32),))
    values = floats(H) + [H.round(Fraction(n)) for n in (32767, 32768, -32768, 65504, -65504, 2047, 255)]
    for name, low, high in (('i16', -0x8000, 0x7fff), ('u16', 0, 0xffff)):
        t.section(f'v_cvt_{name}_f16 {operands([32, 32])}')
        for x in values: t.row((x,), (to_integer(H, x, low, high) & 0xffff,))
    integers = [0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0x1000001, 0x1000003, 0xffffff7f, 0xffffff80,
                0xffffffbf, 0x7fffffbf, 0x7fffffc0]
    for register_ in (0x3f0, 0x3f5, 0x3fa, 0x3ff):
        for f in (S, D):
            rm = Mode(register_).rounding(f)
            for name in ('i32', 'u32'):
                t.section(f'v_cvt_{f.name}_{name} {operands([f.bits, 32])}', f'mode={register_:#x}')
                for n in integers:
                    v = n - (1 << 32) if name == 'i32' and n >> 31 else n
                    t.row((n,), (f.round(Fraction(v), rm),))
        rm = Mode(register_).rounding(H)
        for name in ('i16', 'u16'):
            t.section(f'v_cvt_f16_{name} {operands([32, 32])}', f'mode={register_:#x}')
            for n in (0, 1, 2049, 2051, 0x7fff, 0x8000, 0x8001, 0xffff, 65519, 65520, 65521):
                v = n - (1 << 16) if name == 'i16' and n >> 15 else n
                t.row((n,), (H.round(Fraction(v), rm),))
        halfway = [S.round(Fraction(v)) for v in (65519, 65520, 65536, Fraction(1, 1 << 25), Fraction(3, 1 << 25), Fraction(1, 1 << 24),
                                                  Fraction(2049, 2048), Fraction(2051, 2048), Fraction(4095, 1 << 26), Fraction(1, 1 << 14))]
        t.section(f'v_cvt_f16_f32 {operands([32, 32])}', f'mode={register_:#x}')
        for x in floats(S) + halfway + [x | S.sign for x in halfway]: t.row((x,), (resize(S, H, x, rm),))
        # LLVM: MODE's field for half and double.
        doubles = [D.round(v) for v in (Fraction((1 << 24) + 1, 1 << 24), Fraction((1 << 24) + 3, 1 << 24), Fraction(1, 1 << 149), Fraction(1, 1 << 150),
                                        Fraction(3, 1 << 150), S.value(S.max) + Fraction(2) ** 103, S.value(S.max) + Fraction(2) ** 102)]
        t.section(f'v_cvt_f32_f64 {operands([32, 64])}', f'mode={register_:#x}')
        for x in floats(D) + doubles + [x | D.sign for x in doubles]: t.row((x,), (resize(D, S, x, rm),))
    t.section(f'v_cvt_f64_f32 {operands([64, 32])}')
    for x in floats(S): t.row((x,), (resize(S, D, x, 0),))
    t.section(f'v_cvt_f32_f16 {operands([32, 32])}')
    for x in floats(H): t.row((x,), (resize(H, S, x, 0),))
    for byte in range(4):
        t.section(f'v_cvt_f32_ubyte{byte} {operands([32, 32])}')
        for n in (0, 0xffffffff, 0x80ff7f01, 0x01020304): t.row((n,), (S.round(Fraction(n >> 8 * byte & 255)),))
    t.section(f'v_cvt_off_f32_i4 {operands([32, 32])}')
    for n in range(16): t.row((n | 0xabcd0,), (S.round(Fraction(n - 16 if n > 7 else n, 16)),))
    t.section(f'v_cvt_pkrtz_f16_f32 {operands([32, 32, 32])}')
    for a, b in t.tuples([floats(S) + halfway] * 2, 40): t.row((a, b), (resize(S, H, a, 3) | resize(S, H, b, 3) << 16,))

    def norm(f, x, low, most):
        if f.is_nan(x): return 0
        v = Fraction(1 if not f.negative(x) else low) if f.is_inf(x) else max(Fraction(low), min(Fraction(1), f.value(x)))
        v *= most
        whole = v.numerator // v.denominator
        rest = v - whole
        return (whole + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1)) & 0xffff
    for name, low, most in (('i16', -1, 32767), ('u16', 0, 65535)):
        t.section(f'v_cvt_pknorm_{name}_f32 {operands([32, 32, 32])}')
        for a, b in t.tuples([floats(S) + [S.round(Fraction(1, 3)), S.round(Fraction(-2, 3))]] * 2, 36):
            t.row((a, b), (norm(S, a, low, most) | norm(S, b, low, most) << 16,))
    t.section(f'v_cvt_pk_u16_u32 {operands([32, 32, 32])}')
    for a, b in t.tuples([[0, 1, 0xffff, 0x10000, 0xffffffff]] * 2, 12): t.row((a, b), (min(a, 0xffff) | min(b, 0xffff) << 16,))
    t.section(f'v_cvt_pk_i16_i32 {operands([32, 32, 32])}')
    limit = lambda n: max(-0x8000, min(0x7fff, n - (1 << 32) if n >> 31 else n)) & 0xffff
    for a, b in t.tuples([[0, 0x7fff, 0x8000, 0xffff8000, 0xffff7fff, 0x7fffffff, 0x80000000, 0xffffffff]] * 2, 18):
        t.row((a, b), (limit(a) | limit(b) << 16,))
    t.save()
