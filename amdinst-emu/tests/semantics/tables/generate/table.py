"""The files: an instruction, then rows of sources and results."""

from pathlib import Path
import random

HERE = Path(__file__).parent.parent


class Table:
    def __init__(self, name, head):
        self.name, self.lines, self.rows = name, [], 0
        self.lines += ['# ' + line for line in head.strip().splitlines()]
        self.lines += ['# Written by generate/, which says where the values come from.',
                       '# An instruction, and what is set before it; then rows of sources = results, a lane each.']
        self.random = random.Random(name)

    def section(self, text, *settings):
        self.lines.append(' | '.join([text, ' '.join(settings)]) if settings else text + ' |')

    def row(self, sources, results):
        self.rows += 1
        self.lines.append('  ' + ' '.join(f'{x:x}' for x in sources) + ' = ' + ' '.join(f'{x:x}' for x in results))

    def tuples(self, kinds, count):
        """Each edge of each source at least once, the other sources at random."""
        rows = []
        for at, kind in enumerate(kinds):
            for value in kind:
                rows.append(tuple(value if i == at else self.random.choice(k) for i, k in enumerate(kinds)))
        self.random.shuffle(rows)
        while len(rows) < count:
            rows.append(tuple(self.random.choice(k) for k in kinds))
        return list(dict.fromkeys(rows))[:count]

    def save(self):
        (HERE / self.name).write_text('\n'.join(self.lines) + '\n')
        print(self.name, self.rows, 'cases')


def register(first, bits, file='v'):
    return f'{file}{first}' if bits <= 32 else f'{file}[{first}:{first + bits // 32 - 1}]'


def operands(widths, file='v'):
    """A result in register 0, then sources of these widths."""
    return ', '.join(register(4 * i, bits, file) for i, bits in enumerate(widths))
