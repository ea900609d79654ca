"""V_DIV_SCALE's companions."""

from fractions import Fraction

from formats import D, H, MASK, S, floats
from table import Table, operands, register


def division():
    t = Table('division.txt', 'The steps of a division: V_DIV_SCALE, V_DIV_FMAS, V_DIV_FIXUP by the pseudocode of CDNA3\'s manual.')

    def fixup(f, s0, s1, s2):
        sign = (s1 ^ s2) & f.sign
        if f.is_nan(s2): return s2 | f.quiet
        if f.is_nan(s1): return s1 | f.quiet
        if f.is_zero(s1) and f.is_zero(s2) or f.is_inf(s1) and f.is_inf(s2): return f.default_nan
        if f.is_zero(s1) or f.is_inf(s2): return sign | f.inf
        if f.is_inf(s1) or f.is_zero(s2): return sign
        if f is not H:
            gap = ((s2 & f.inf) >> f.m) - ((s1 & f.inf) >> f.m)
            if gap < {S: -150, D: -1075}[f]: return None
            if (s1 & f.inf) >> f.m == MASK(f.e): return None
        if f.is_nan(s0): return None
        return s0 & ~f.sign | sign

    for f in (H, S, D):
        t.section(f'v_div_fixup_{f.name} {operands([f.bits] * 4)}')
        for s in t.tuples([[f.one, f.one + 5, f.sign | f.one, f.one + 3], floats(f), floats(f)], 60):
            r = fixup(f, *s)
            if r is not None: t.row(s, (r,))
    def scale(f, s0, s1, s2):
        """Of numbers: D and VCC; None where the manual would scale a denominator up to infinity."""
        apart, by, small = {S: (96, 64, 23), D: (768, 128, 53)}[f]
        field = lambda x: (x & f.inf) >> f.m
        least = Fraction(2) ** (1 - f.bias)
        a, b = abs(f.value(s1)), abs(f.value(s2))
        scaled = lambda power: f.round(f.value(s0) * Fraction(2) ** power)
        if field(s2) - field(s1) >= apart: return scaled(by) if s0 == s1 else s0, 1
        if f.is_subnormal(s1): return scaled(by), 0
        if 1 / a < least and b / a < least: return None if s0 == s1 else (s0, 1)
        if 1 / a < least: return scaled(-by), 0
        if b / a < least: return scaled(by) if s0 == s2 else s0, 1
        if field(s2) <= small: return scaled(by), 0
        return s0, 0

    for f in (S, D):
        t.section(f'v_div_scale_{f.name} {register(0, f.bits)}, vcc, {register(4, f.bits)}, {register(8, f.bits)}, {register(12, f.bits)}')
        at = lambda exponent, fraction=0: (exponent + f.bias << f.m) + fraction
        top = f.bias
        numbers = [1, (1 << f.m) - 1, at(1 - top), at(2 - top, 3), at(40 - top), at(-60), f.one, f.one + 7, at(60), at(top - 40), at(top - 1), at(top, 5), f.max]
        for s1, s2 in t.tuples([numbers] * 2, 60):
            minus = s1 ^ f.sign
            for s in ((s1, s1, s2), (s2, s1, s2), (minus, minus, s2)):
                result = scale(f, *s)
                if result: t.row(s, result)
    for f in (S, D):
        # The manuals' 2^32 and 2^64 do not undo V_DIV_SCALE's 2^64 and 2^128. What compiled divisions need (`tests/kernels.rs`
        # runs them): up for an addend whose exponent is above the bias, else down.
        scale = {S: 64, D: 128}[f]
        large = f.one + (3 << f.m)
        for vcc in (0, MASK(64)):
            t.section(f'v_div_fmas_{f.name} {operands([f.bits] * 4)}', f'vcc={vcc:#x}')
            for a, b, c in t.tuples([[f.one, f.one + 1, f.one - 1, f.one + (1 << f.m), f.sign | f.one]] * 2 + [[f.one, f.one - 3, f.sign | f.one, 0, large]], 30):
                exact = f.value(a) * f.value(b) + f.value(c)
                if exact == 0: continue
                t.row((a, b, c), (f.round(exact * (Fraction(2) ** (scale if c == large else -scale) if vcc else 1)),))
    t.save()
