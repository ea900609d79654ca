"""Sub-dword addressing."""

from bits import I, MASK
from formats import H, add, floats
from table import Table


def sdwa():
    t = Table('sdwa.txt', 'SDWA: parts of sources, sign extension, the part written and what becomes of the rest.')
    places = {'BYTE_0': (0, 8), 'BYTE_1': (8, 8), 'BYTE_2': (16, 8), 'BYTE_3': (24, 8), 'WORD_0': (0, 16), 'WORD_1': (16, 16), 'DWORD': (0, 32)}
    values = [0, 0xffffffff, 0x80ff7f01, 0x01800080, 0x7fff8000]
    old = 0xa1b2c3d4

    def take(x, sel, sext):
        shift, width = places[sel]
        part = x >> shift & MASK(width)
        return I(part, width) & MASK(32) if sext else part
    for sel in places:
        for sext in (False, True):
            source = 'sext(v4)' if sext else 'v4'
            t.section(f'v_add_u32_sdwa v0, {source}, v8 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:{sel} src1_sel:DWORD', f'v0={old:#x}')
            for a in values: t.row((a, 0x10), (take(a, sel, sext) + 0x10 & MASK(32),))
            source = 'sext(v8)' if sext else 'v8'
            t.section(f'v_or_b32_sdwa v0, v4, {source} dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:{sel}', f'v0={old:#x}')
            for a in values: t.row((0, a), (take(a, sel, sext),))
    for sel, (shift, width) in places.items():
        for unused in ('PAD', 'SEXT', 'PRESERVE'):
            t.section(f'v_mov_b32_sdwa v0, v4 dst_sel:{sel} dst_unused:UNUSED_{unused} src0_sel:DWORD', f'v0={old:#x}')
            for a in values:
                part, mask = (a & MASK(width)) << shift, MASK(width) << shift
                if width == 32: r = a
                elif unused == 'PAD': r = part
                elif unused == 'SEXT': r = I(part, shift + width) & MASK(32)
                else: r = old & ~mask | part
                t.row((a,), (r,))
    # Signs of floats belong to the part.
    t.section('v_add_f16_sdwa v0, -v4, |v8| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0', f'v0={old:#x}')
    for a, b in t.tuples([[x << 16 | 0x1234 for x in floats(H)], floats(H)], 30):
        t.row((a, b), (old & 0xffff | add(H, a >> 16 ^ H.sign, b & ~H.sign, 0) << 16,))
    t.save()
