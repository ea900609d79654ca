"""Integral parts, fractions, exponents, classes, comparisons."""

from fractions import Fraction

from formats import D, H, MASK, S, floats, lower
from table import Table, operands, register


def float_parts():
    t = Table('float_parts.txt', 'Parts of floats: rounding to integers, fractions, exponents, classes and comparisons.')

    def whole(f, x, how):
        if f.is_nan(x): return x | f.quiet
        if not f.is_finite(x): return x
        v = f.value(x)
        low = v.numerator // v.denominator
        n = {'floor': low, 'ceil': low if v == low else low + 1, 'trunc': low if v >= 0 or v == low else low + 1,
             'rndne': low + (v - low > Fraction(1, 2) or v - low == Fraction(1, 2) and low & 1)}[how]
        return f.round(Fraction(n), 0, f.negative(x))

    def fract(f, x):
        if f.is_nan(x) or f.is_inf(x): return f.nan(x)
        v = f.value(x)
        v -= v.numerator // v.denominator
        return min(f.round(v), f.one - 1)

    def exponent(f, x):
        if not f.is_finite(x) or f.is_zero(x): return 0
        v, e = abs(f.value(x)), 0
        while v >= 1: v, e = v / 2, e + 1
        while v < Fraction(1, 2): v, e = v * 2, e - 1
        return e

    def mantissa(f, x):
        if f.is_nan(x): return x | f.quiet
        if not f.is_finite(x) or f.is_zero(x): return x
        return f.round(f.value(x) / Fraction(2) ** exponent(f, x))

    def ldexp(f, x, n):
        if f.is_nan(x): return x | f.quiet
        if not f.is_finite(x): return x
        return f.round(f.value(x) * Fraction(2) ** max(-6000, min(6000, n)), 0, f.negative(x))

    def klass(f, x):
        """Bits of V_CMP_CLASS: sNaN, qNaN, -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf."""
        if f.is_nan(x): return 0 if f.is_snan(x) else 1
        kind = 2 if f.is_inf(x) else 5 if f.is_zero(x) else 4 if f.is_subnormal(x) else 3
        return kind if f.negative(x) else 11 - kind

    signed = lambda x, bits: x - (1 << bits) if x >> (bits - 1) else x
    for f in (H, S, D):
        halves = [f.round(Fraction(n, 2)) for n in (1, 3, 5, -1, -3, -5, 2001, -2001)]
        values = floats(f) + halves
        for how in ('floor', 'ceil', 'trunc', 'rndne'):
            t.section(f'v_{how}_{f.name} {operands([f.bits] * 2)}')
            for x in values: t.row((x,), (whole(f, x, how),))
        t.section(f'v_fract_{f.name} {operands([f.bits] * 2)}')
        for x in values: t.row((x,), (fract(f, x),))
        width = 16 if f is H else 32
        t.section(f'v_frexp_exp_i{width}_{f.name} {operands([32, f.bits])}')
        for x in values: t.row((x,), (exponent(f, x) & MASK(width),))
        t.section(f'v_frexp_mant_{f.name} {operands([f.bits] * 2)}')
        for x in values: t.row((x,), (mantissa(f, x),))
        powers = [0, 1, f.bias, f.bias + 1, 2 * f.bias, 1000, 0x7fff] + [n & MASK(width) for n in (-1, -f.m, -f.bias, 1 - f.bias, -2 * f.bias, -1000, -0x8000)]
        powers += [] if f is H else [0x7fffffff, 0x80000000]
        t.section(f'v_ldexp_{f.name} {operands([f.bits, f.bits, 32])}')
        for x, n in t.tuples([values, powers], 60): t.row((x, n), (ldexp(f, x, signed(n, width)),))
        t.section(f'v_cmp_class_{f.name} vcc, {register(4, f.bits)}, v8')
        for x in floats(f):
            c = klass(f, x)
            for mask in (1 << c, 0x3ff ^ 1 << c): t.row((x, mask), (mask >> c & 1,))
        relations = {'lt': 'l', 'eq': 'e', 'le': 'le', 'gt': 'g', 'lg': 'lg', 'ge': 'ge', 'o': 'leg', 'u': 'u',
                     'nge': 'lu', 'nlg': 'eu', 'ngt': 'leu', 'nle': 'gu', 'neq': 'lgu', 'nlt': 'egu', 'f': '', 'tru': 'legu'}
        for name, holds in relations.items():
            t.section(f'v_cmp_{name}_{f.name} vcc, {register(4, f.bits)}, {register(8, f.bits)}')
            for a, b in t.tuples([floats(f)] * 2, 14) + [(0, f.sign), (f.one, f.one)]:
                if f.is_nan(a) or f.is_nan(b): r = 'u'
                elif lower(f, a, b): r = 'l'
                elif lower(f, b, a): r = 'g'
                else: r = 'e'
                t.row((a, b), (int(r in holds),))
    t.save()
