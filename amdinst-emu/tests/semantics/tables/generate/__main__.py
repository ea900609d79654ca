"""Writes the tables of cases beside this directory: `python3 generate`.

Expected values are worked out with exact rational numbers (`fractions`) and unbounded integers from what the manuals say of
each instruction (Vega ISA manual, chapters 5, 6 and 12; CDNA3's pseudocode). Nothing here knows the emulator, and no float
of the host is used.
"""

from conversions import conversions
from division import division
from dpp import dpp
from float_arithmetic import float_arithmetic
from float_parts import float_parts
from integers import integers
from packed import packed_and_dots
from scalars import scalars
from sdwa import sdwa

for write in (float_arithmetic, float_parts, conversions, division, integers, packed_and_dots, scalars, sdwa, dpp):
    write()
