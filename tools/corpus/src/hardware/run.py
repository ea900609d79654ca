"""Runs tinygrad's tests of single RDNA3 instructions on what stands behind standard input and output.

Each program goes out as a line `RUN lanes bytes code`; the bytes that it leaves come back, or `ERR` and why. At the end a line a test:
`agrees`, `differs` or `unrun`, its name, and a message. Those tests were checked on a gfx1100 by their authors.
"""
import importlib, struct, sys, types, unittest

sys.path.insert(0, sys.argv[1])
# Theirs is not run.
emulator = types.ModuleType("test.mockgpu.amd.emu")
emulator.run_asm = None
sys.modules["test.mockgpu.amd.emu"] = emulator
helpers = importlib.import_module("test.amd.hw.helpers")
dpp = importlib.import_module("test.amd.hw.test_dpp")


class Unrun(Exception):
    """A program that does not run to its end, or is not for one wave."""


def ask(lanes, size, code):
    print("RUN", lanes, size, code.hex(), flush=True)
    answer = sys.stdin.readline().strip()
    if answer.startswith("ERR"):
        raise Unrun(answer[4:])
    return bytes.fromhex(answer)


def run_program(instructions, n_lanes=1, ulp_tolerance=0):
    if n_lanes > 32:
        raise Unrun("it has several waves")
    before, after = helpers.get_prologue_epilogue(n_lanes)
    code = helpers.assemble(before + instructions + after)
    return helpers.parse_output(ask(n_lanes, helpers._out_bytes(n_lanes), code), n_lanes)


def run_wave64(instructions, out_reg=1):
    return list(struct.unpack("<64I", ask(64, 256, dpp._wave64_code(instructions, out_reg))))


dpp._run_wave64_emu = run_wave64
helpers.run_program = helpers.run_program_emu = run_program
names = ["dpp", "ds", "flat", "global", "scratch", "smem", "sop", "vop1", "vop2", "vop3", "vop3p", "vopc", "vopd"]
suite = unittest.TestSuite()
for name in names:
    module = importlib.import_module(f"test.amd.hw.test_{name}")
    for runner in ["run_program", "run_program_emu"]:
        if hasattr(module, runner):
            setattr(module, runner, run_program)
    suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))


class Told(unittest.TestResult):
    def say(self, what, test, message=""):
        name = test.id().removeprefix("test.amd.hw.")
        print(what, name, message.replace("\n", " "), flush=True)

    def addSuccess(self, test):
        self.say("agrees", test)

    def addFailure(self, test, error):
        self.say("differs", test, str(error[1]))

    def addError(self, test, error):
        self.say("unrun" if error[0] is Unrun else "differs", test, str(error[1]))


suite.run(Told())
