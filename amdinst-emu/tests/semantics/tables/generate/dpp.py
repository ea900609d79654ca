"""Data-parallel primitives."""

from formats import MASK
from table import HERE


def dpp():
    """Whole waves: in the format of lanes.txt."""
    lines = ['# DPP: where each lane reads, which lanes are written (Vega ISA manual, "DPP: Data Parallel Processing"). Columns as in lanes.txt.',
             '# Written by generate/. v1 holds the lane\'s number plus 100; lanes that are not written keep 7.']

    def source(ctrl, lane):
        row, at = lane - lane % 16, lane % 16
        name, _, n = ctrl.partition(':')
        if name == 'quad_perm': return lane - lane % 4 + eval(n)[lane % 4]
        n = int(n) if n.isdigit() else 0
        moved = {'row_shl': at + n, 'row_shr': at - n, 'row_mirror': 15 - at, 'row_ror': (at - n) % 16, 'row_newbcast': n}
        if name in moved: return row + moved[name] if 0 <= moved[name] < 16 else None
        if name == 'row_half_mirror': return lane - lane % 8 + 7 - lane % 8
        if name == 'wave_shl': return lane + 1 if lane < 63 else None
        if name == 'wave_shr': return lane - 1 if lane > 0 else None
        if name == 'wave_rol': return (lane + 1) % 64
        if name == 'wave_ror': return (lane - 1) % 64
        # The last lane of a row to the next one; lane 31 to the upper half.
        if ctrl == 'row_bcast:15': return row - 1 if row else None
        if ctrl == 'row_bcast:31': return 31 if lane >= 32 else None
        raise ValueError(ctrl)
    controls = ['quad_perm:[3,2,1,0]', 'quad_perm:[0,0,2,2]', 'row_shl:1', 'row_shl:15', 'row_shr:1', 'row_shr:8', 'row_ror:1', 'row_ror:15', 'wave_shl:1', 'wave_shr:1',
                'wave_rol:1', 'wave_ror:1', 'row_mirror', 'row_half_mirror', 'row_bcast:15', 'row_bcast:31', 'row_newbcast:0', 'row_newbcast:11']
    whole = MASK(64)
    for at, ctrl in enumerate(controls):
        for row_mask, bank_mask, bound, exec_ in ((0xf, 0xf, False, whole), (0xf, 0xf, True, whole), (0xa, 0xf, False, whole), (0xf, 0x5, True, whole),
                                                  (0xf, 0xf, False, 0xfffffff0f0ff7ffe), (0xe, 0xb, True, 0x7ffffffffffe5fff)):
            old = [7] * 64
            for lane in range(64):
                if not exec_ >> lane & 1: continue
                if not row_mask >> lane // 16 & 1 or not bank_mask >> lane % 16 // 4 & 1: continue
                read = source(ctrl, lane)
                valid = read is not None and exec_ >> read & 1
                if valid: old[lane] = 100 + read
                elif bound: old[lane] = 0
            text = f'v_mov_b32_dpp v0, v1 {ctrl} row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}{" bound_ctrl:0" if bound else ""}'
            numbers = ','.join(str(100 + lane) for lane in range(64))
            lines.append(f'{text} | v0=7 v1={numbers} exec={exec_:#x} | v0={",".join(map(str, old))}')
    (HERE / 'dpp.txt').write_text('\n'.join(lines) + '\n')
    print('dpp.txt', len(lines) - 2, 'states')
