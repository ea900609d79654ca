"""Binary floats, exactly: decoding, rounding, and the operations that several tables share."""

from fractions import Fraction

MASK = lambda bits: (1 << bits) - 1


class Format:
    def __init__(self, name, exponent, mantissa):
        self.name, self.e, self.m = name, exponent, mantissa
        self.bits = 1 + exponent + mantissa
        self.bias = (1 << (exponent - 1)) - 1
        self.sign = 1 << (self.bits - 1)
        self.inf = MASK(exponent) << mantissa
        self.quiet = 1 << (mantissa - 1)
        self.default_nan = self.sign | self.inf | self.quiet
        self.max = self.inf - 1
        self.one = self.bias << mantissa

    def is_nan(self, x): return x & ~self.sign > self.inf
    def is_snan(self, x): return self.is_nan(x) and not x & self.quiet
    def is_inf(self, x): return x & ~self.sign == self.inf
    def is_finite(self, x): return x & ~self.sign < self.inf
    def is_zero(self, x): return x & ~self.sign == 0
    def is_subnormal(self, x): return 0 < x & ~self.sign < 1 << self.m
    def negative(self, x): return x & self.sign != 0

    def value(self, x):
        """Of a finite number."""
        e = (x & self.inf) >> self.m
        f = x & MASK(self.m)
        v = Fraction(f if e == 0 else f | 1 << self.m) * Fraction(2) ** (max(e, 1) - self.bias - self.m)
        return -v if self.negative(x) else v

    def round(self, v, mode=0, negative_zero=False):
        """0: nearest even, 1: up, 2: down, 3: towards zero."""
        if v == 0:
            return self.sign if negative_zero else 0
        sign, a = (self.sign if v < 0 else 0), abs(v)
        e = a.numerator.bit_length() - a.denominator.bit_length()
        if Fraction(2) ** e > a:
            e -= 1
        unit = max(e, 1 - self.bias) - self.m
        q = a / Fraction(2) ** unit
        whole, rest = q.numerator // q.denominator, q - q.numerator // q.denominator
        up = {0: rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole & 1,
              1: rest > 0 and not sign, 2: rest > 0 and sign, 3: False}[mode]
        whole += 1 if up else 0
        # In units of the last place, the bits of a number are its significand plus its exponent's steps.
        steps = unit + self.bias + self.m - 1
        bits = whole + (steps << self.m) if whole >= 1 << self.m or steps > 0 else whole
        if bits >= self.inf:
            to_zero = mode == 3 or mode == 1 and sign or mode == 2 and not sign
            bits = self.max if to_zero else self.inf
        return sign | bits

    def nan(self, *sources):
        for x in sources:
            if self.is_nan(x):
                return x | self.quiet
        return self.default_nan


H, S, D = Format('f16', 5, 10), Format('f32', 8, 23), Format('f64', 11, 52)


class Mode:
    """MODE: rounding (singles bits 0-1, others 2-3), subnormals (bits 4-5, 6-7; 1 inputs, 2 outputs), clamp, IEEE."""
    def __init__(self, register=0x3f0): self.register = register
    def rounding(self, f): return self.register >> (0 if f is S else 2) & 3
    def keeps(self, f): return self.register >> (4 if f is S else 6) & 3
    ieee = property(lambda self: self.register >> 9 & 1)
    dx10 = property(lambda self: self.register >> 8 & 1)

    def take(self, f, x): return x & f.sign if f.is_subnormal(x) and not self.keeps(f) & 1 else x
    def give(self, f, x): return x & f.sign if f.is_subnormal(x) and not self.keeps(f) & 2 else x


def add(f, a, b, rm):
    if f.is_nan(a) or f.is_nan(b): return f.nan(a, b)
    if f.is_inf(a): return f.default_nan if b == a ^ f.sign else a
    if f.is_inf(b): return b
    both = f.negative(a) and f.negative(b)
    v = f.value(a) + f.value(b)
    cancelled = rm == 2 and not (f.is_zero(a) and f.is_zero(b) and not f.negative(a) and not f.negative(b))
    return f.round(v, rm, both or cancelled)


def mul(f, a, b, rm):
    if f.is_nan(a) or f.is_nan(b): return f.nan(a, b)
    sign = (a ^ b) & f.sign
    if f.is_inf(a) or f.is_inf(b):
        return f.default_nan if f.is_zero(a) or f.is_zero(b) else sign | f.inf
    return f.round(f.value(a) * f.value(b), rm, sign != 0)


def fma(f, a, b, c, rm):
    if any(map(f.is_nan, (a, b, c))): return f.nan(a, b, c)
    sign = (a ^ b) & f.sign
    if f.is_inf(a) or f.is_inf(b):
        if f.is_zero(a) or f.is_zero(b) or c == sign ^ f.sign | f.inf: return f.default_nan
        return sign | f.inf
    if f.is_inf(c): return c
    product, addend = f.value(a) * f.value(b), f.value(c)
    zeros = product == 0 and addend == 0
    same = bool(sign) == f.negative(c)
    negative = (sign != 0 if same else rm == 2) if zeros else rm == 2
    return f.round(product + addend, rm, negative)


def lower(f, a, b):
    """a < b of numbers."""
    key = lambda x: (0 if f.is_finite(x) else -1 if f.negative(x) else 1, f.value(x) if f.is_finite(x) else 0)
    return key(a) < key(b)


def minimum(f, a, b, ieee):
    if ieee and f.is_snan(a): return a | f.quiet
    if ieee and f.is_snan(b): return b | f.quiet
    if f.is_nan(a): return b
    if f.is_nan(b): return a
    if f.is_zero(a) and f.is_zero(b): return a | b
    return a if lower(f, a, b) else b


def maximum(f, a, b, ieee):
    if ieee and f.is_snan(a): return a | f.quiet
    if ieee and f.is_snan(b): return b | f.quiet
    if f.is_nan(a): return b
    if f.is_nan(b): return a
    if f.is_zero(a) and f.is_zero(b): return a & b
    return a if lower(f, b, a) else b


def med3(f, a, b, c, ieee):
    if any(map(f.is_nan, (a, b, c))): return minimum(f, minimum(f, a, b, ieee), c, ieee)
    largest = maximum(f, maximum(f, a, b, ieee), c, ieee)
    same = lambda x: x == largest or f.is_zero(x) and f.is_zero(largest)
    if same(a): return maximum(f, b, c, ieee)
    if same(b): return maximum(f, a, c, ieee)
    return maximum(f, a, b, ieee)


def finish(f, x, mode, omod=0, clamp=False):
    x = mode.give(f, x)
    if omod and not mode.ieee and not mode.keeps(f) & 2 and not f.is_nan(x):
        if f.is_finite(x):
            x = f.round(f.value(x) * Fraction(2) ** {1: 1, 2: 2, 3: -1}[omod], mode.rounding(f), f.negative(x))
        x = mode.give(f, x)
        x = 0 if f.is_zero(x) else x
    if clamp:
        if f.is_nan(x): return 0 if mode.dx10 else x
        if f.negative(x): return 0
        return min(x, f.one)
    return x


def floats(f):
    """Edges: zeros, subnormals, normals' ends, near one, halves, infinities, NaNs."""
    e = [0, 1, 1 << (f.m - 1), (1 << f.m) - 1, 1 << f.m, f.one, f.one + 1, f.one - 1, f.one + (1 << (f.m - 1)),
         f.one - (1 << f.m), f.one + f.m * (1 << f.m) + 1, f.max, f.max - 1, f.inf]
    return e + [x | f.sign for x in e] + [f.inf | f.quiet, f.inf | 1, f.sign | f.inf | f.quiet | 5, f.sign | f.inf | 3]
