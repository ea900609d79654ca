"""Triton kernels, compiled ahead of time: python3 kernels.py DIRECTORY PROCESSOR:LANES...

Prints one JSON object a kernel and processor: name, file, warps, and the bytes of LDS to launch it with.
"""

import json
import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + i, powers / tl.sum(powers, axis=0), mask=i < columns)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    centred = tl.where(i < columns, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    w = tl.load(weight + i, mask=i < columns)
    b = tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, centred * scale * w + b, mask=i < columns)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.dot(tl.zeros((M, K), a.dtype.element_ty), tl.zeros((K, N), b.dtype.element_ty))
    for base in range(0, k, K):
        inner = base + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * k + inner[None, :],
                       mask=(rows[:, None] < m) & (inner[None, :] < k), other=0)
        right = tl.load(b + inner[:, None] * n + columns[None, :],
                        mask=(inner[:, None] < k) & (columns[None, :] < n), other=0)
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * n + columns[None, :], total,
             mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def attention(q, k, v, out, length, scale, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    """Attention of one head, the softmax kept up to date block by block (flash attention, forward)."""
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = tl.arange(0, WIDTH)
    queries = tl.load(q + rows[:, None] * WIDTH + inside[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, WIDTH), tl.float32)
    for base in range(0, length, BLOCK):
        columns = base + tl.arange(0, BLOCK)
        there = columns[:, None] < length
        keys = tl.load(k + columns[:, None] * WIDTH + inside[None, :], mask=there, other=0.0)
        values = tl.load(v + columns[:, None] * WIDTH + inside[None, :], mask=there, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(columns[None, :] < length, scores, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, axis=1))
        powers = tl.exp(scores - now[:, None])
        fade = tl.exp(largest - now)
        weight = weight * fade + tl.sum(powers, axis=1)
        total = total * fade[:, None] + tl.dot(powers.to(tl.float16), values)
        largest = now
    tl.store(out + rows[:, None] * WIDTH + inside[None, :], total / weight[:, None],
             mask=rows[:, None] < length)


@triton.jit
def histogram(x, bins, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n, other=0)
    counts = tl.histogram(values, BINS, mask=i < n)
    tl.atomic_add(bins + tl.arange(0, BINS), counts)


@triton.jit
def sum_and_largest(x, total, largest, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + i, mask=i < n, other=-2147483648)
    tl.atomic_max(largest, tl.max(values, axis=0))
    tl.atomic_add(total, tl.sum(tl.where(i < n, values, 0), axis=0))


@triton.jit
def running_sum(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + i, mask=i < columns, other=0)
    tl.store(out + row * columns + i, tl.cumsum(values, axis=0), mask=i < columns)


@triton.jit
def sort_rows(x, out, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out + row * BLOCK + i, tl.sort(tl.load(x + row * BLOCK + i)))


@triton.jit
def random_bits(out, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.randint(seed, i), mask=i < n)


@triton.jit
def transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(tile),
             mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476)), mask=i < n)


TILE = {"M": 32, "N": 32, "K": 32}


def matmul_of(narrow, wide):
    types = {"a": "*" + narrow, "b": "*" + narrow, "c": "*" + wide, "m": "i32", "n": "i32", "k": "i32"}
    return matmul, types, TILE


# Name: function, types, constants.
KERNELS = {
    "vector_add": (vector_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 512}),
    "softmax": (softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32"}, {"BLOCK": 256}),
    "layer_norm": (layer_norm, {"x": "*fp32", "weight": "*fp32", "bias": "*fp32", "out": "*fp32",
                                "columns": "i32", "epsilon": "fp32"}, {"BLOCK": 256}),
    "matmul_fp16": matmul_of("fp16", "fp32"),
    "matmul_bf16": matmul_of("bf16", "fp32"),
    "matmul_fp32": matmul_of("fp32", "fp32"),
    "matmul_i8": matmul_of("i8", "i32"),
    "attention": (attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp32", "length": "i32",
                              "scale": "fp32"}, {"BLOCK": 32, "WIDTH": 32}),
    "histogram": (histogram, {"x": "*i32", "bins": "*i32", "n": "i32"}, {"BLOCK": 256, "BINS": 64}),
    "sum_and_largest": (sum_and_largest, {"x": "*i32", "total": "*i32", "largest": "*i32", "n": "i32"},
                        {"BLOCK": 512}),
    "running_sum": (running_sum, {"x": "*i32", "out": "*i32", "columns": "i32"}, {"BLOCK": 256}),
    "sort_rows": (sort_rows, {"x": "*i32", "out": "*i32"}, {"BLOCK": 128}),
    "random_bits": (random_bits, {"out": "*i32", "seed": "i32", "n": "i32"}, {"BLOCK": 256}),
    "transpose": (transpose, {"x": "*i32", "out": "*i32", "rows": "i32", "columns": "i32"}, {"BLOCK": 32}),
    "gelu": (gelu, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 256}),
}


def main(directory, processors):
    for cpu, lanes in (processor.split(":") for processor in processors):
        for name, (function, types, constants) in KERNELS.items():
            signature = types | {constant: "constexpr" for constant in constants}
            source = ASTSource(fn=function, signature=signature, constexprs=constants)
            compiled = triton.compile(source, target=GPUTarget("hip", cpu, int(lanes)), options={"num_warps": 4})
            path = os.path.join(directory, f"{name}.{cpu}.elf")
            with open(path, "wb") as file:
                file.write(compiled.asm["hsaco"])
            print(json.dumps({"name": name, "cpu": cpu, "file": path, "symbol": compiled.metadata.name,
                              "warps": compiled.metadata.num_warps, "lds": compiled.metadata.shared}),
                  flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
