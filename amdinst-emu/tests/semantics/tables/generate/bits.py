"""Integers as the instructions see them, and functions that several tables share."""

from formats import MASK


EDGES = [0, 1, 2, 31, 32, 33, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000000,
         0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xaaaaaaaa, 0x55555555, 0x01020304, 0x80ff7f00]
I = lambda x, bits=32: (x & MASK(bits)) - (1 << bits) if x >> (bits - 1) & 1 else x & MASK(bits)
BYTES = lambda x, n=4: [x >> 8 * i & 255 for i in range(n)]
SUM = lambda xs: sum(xs)


def sad8(a, b, c): return c + SUM(abs(x - y) for x, y in zip(BYTES(a), BYTES(b)))
def msad8(a, b, c): return c + SUM(0 if y == 0 else abs(x - y) for x, y in zip(BYTES(a), BYTES(b)))
def quad(step):
    def run(a, b, c):
        return SUM(((step(a >> 8 * i & MASK(32), b, c >> 16 * i & 0xffff)) & 0xffff) << 16 * i for i in range(4))
    return run
def bfe(a, b, c, signed):
    width, v = c & 31, (I(a) if signed else a) >> (b & 31)
    if width == 0: return 0
    v &= MASK(width)
    # A field that reaches past the sign bit has been filled with it.
    return I(v, width) if signed else v
def perm(a, b, c):
    data, out = a << 32 | b, 0
    for i, sel in enumerate(BYTES(c)):
        if sel >= 13: byte = 0xff
        elif sel == 12: byte = 0
        elif sel >= 8: byte = 0xff if data >> (16 * (sel - 8) + 15) & 1 else 0
        else: byte = data >> 8 * sel & 255
        out |= byte << 8 * i
    return out
def lead(a, bits):
    return next((i for i in range(bits) if a >> (bits - 1 - i) & 1), MASK(32))
def ffbh_i32(a):
    sign = a >> 31
    return next((i for i in range(1, 32) if a >> (31 - i) & 1 != sign), MASK(32))
mid = lambda a, b, c: sorted((a, b, c))[1]
clampu = lambda v, bits: max(0, min(MASK(bits), v))
clampi = lambda v, bits: max(-1 << (bits - 1), min(MASK(bits - 1), v)) & MASK(bits)
