"""Sums, products, minima and maxima; clamp and output modifier."""

from fractions import Fraction

from formats import D, H, S, Mode, add, finish, floats, fma, maximum, med3, minimum, mul
from table import Table, operands, register


def float_arithmetic():
    t = Table('floats.txt', 'Float arithmetic with edge values: rounding modes, subnormals, NaNs, clamp and output modifier.')
    # KERNEL_MODE; the other roundings; subnormals flushed.
    modes = [0x3f0, 0x3f5, 0x3fa, 0x3ff, 0x300]
    binary = {'add': add, 'mul': mul}
    for f in (H, S, D):
        for register_ in modes:
            mode = Mode(register_)
            rm = mode.rounding(f)
            ends = lambda xs: [mode.take(f, x) for x in xs]
            count = 34 if register_ == 0x3f0 else 20
            for name, op in binary.items():
                t.section(f'v_{name}_{f.name} {operands([f.bits] * 3)}', f'mode={register_:#x}')
                for a, b in t.tuples([floats(f)] * 2, count):
                    t.row((a, b), (mode.give(f, op(f, *ends((a, b)), rm)),))
            t.section(f'v_fma_{f.name} {operands([f.bits] * 4)}', f'mode={register_:#x}')
            for a, b, c in t.tuples([floats(f)] * 3, count):
                t.row((a, b, c), (mode.give(f, fma(f, *ends((a, b, c)), rm)),))
        # Ties, and a sum that only one rounding gets right.
        one, last = f.one, f.one - (f.m + 1) * (1 << f.m)
        for register_ in modes[:4]:
            rm = Mode(register_).rounding(f)
            t.section(f'v_fma_{f.name} {operands([f.bits] * 4)}', f'mode={register_:#x}')
            for a, b, c in [(one, one, last), (one + 1, one, last), (one | f.sign, one + 1, last),
                            (one + 1, one + 1, f.sign | one + 2), (one + 1, one - 1, f.sign | one),
                            (f.max, f.one + (1 << f.m), f.sign | f.max), (1, one, 1), (1, f.one - (1 << f.m), 0)]:
                t.row((a, b, c), (fma(f, a, b, c, rm),))
        for register_ in (0x3f0, 0x1f0):
            mode = Mode(register_)
            for name, op in (('min', minimum), ('max', maximum)):
                t.section(f'v_{name}_{f.name} {operands([f.bits] * 3)}', f'mode={register_:#x}')
                for a, b in t.tuples([floats(f)] * 2, 34) + [(0, f.sign), (f.sign, 0)]:
                    t.row((a, b), (op(f, a, b, mode.ieee),))
            if f is D:
                continue
            for name, op in (('min3', lambda f, a, b, c, i: minimum(f, minimum(f, a, b, i), c, i)),
                             ('max3', lambda f, a, b, c, i: maximum(f, maximum(f, a, b, i), c, i)), ('med3', med3)):
                t.section(f'v_{name}_{f.name} {operands([f.bits] * 4)}', f'mode={register_:#x}')
                for abc in t.tuples([floats(f)] * 3, 30):
                    t.row(abc, (op(f, *abc, mode.ieee),))
        # Clamp with and without DX10_CLAMP; the output modifier where it applies, and where it does not.
        for register_ in (0x3f0, 0x2f0, 0x100, 0x1f0):
            mode = Mode(register_)
            for number, text in ((0, 'clamp'), (1, 'mul:2'), (2, 'mul:4 clamp'), (3, 'div:2')):
                t.section(f'v_add_{f.name}{"" if f is D else "_e64"} {operands([f.bits] * 3)} {text}', f'mode={register_:#x}')
                for a, b in t.tuples([floats(f), [0, f.sign, f.one]], 18):
                    x = add(f, mode.take(f, a), mode.take(f, b), 0)
                    t.row((a, b), (finish(f, x, mode, number, 'clamp' in text),))
        # Signs.
        t.section(f'v_mul_{f.name}{"" if f is D else "_e64"} {register(0, f.bits)}, -{register(4, f.bits)}, |{register(8, f.bits)}|')
        for a, b in t.tuples([floats(f)] * 2, 20):
            t.row((a, b), (mul(f, a ^ f.sign, b & ~f.sign, 0),))
    t.save()
