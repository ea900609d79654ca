// The C that every generated program stands on, for the device and for the host. LANES: of a wave. IS_GFX9: DPP reaches all
// others of the wave. REACH: lanes that ds_bpermute and ds_permute reach.
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
#define VECTOR(T, n) __attribute__((ext_vector_type(n))) T
typedef VECTOR(u16, 2) u16x2;
typedef VECTOR(i16, 2) i16x2;
typedef VECTOR(f16, 2) f16x2;
typedef VECTOR(f32, 2) f32x2;
typedef VECTOR(u32, 2) u32x2;
typedef VECTOR(u32, 4) u32x4;
typedef VECTOR(u32, 8) u32x8;
typedef VECTOR(u32, 16) u32x16;
typedef struct { u32 x, y, z; } u32x3;
#define bool _Bool

#ifdef __AMDGCN__
#define G __attribute__((address_space(1)))
#define L __attribute__((address_space(3)))
#ifdef __OPTIMIZE__
#define FN static inline __attribute__((always_inline, unused))
#define INLINED static inline __attribute__((always_inline))
#else
#define FN static __attribute__((unused))
#define INLINED static
#endif
#else
#define G
#define L
#define FN static __attribute__((unused))
#define INLINED static
#endif
#define OUTLINED static __attribute__((PASTE(CALLEE_OF_, PRESSURE)))
#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b

// ---- Bits. A NaN's payload and sign are open, so every NaN becomes the same one before its bits are looked at.
#define TO_BITS(T, B) FN B RAW_##T(T x) { union { T f; B b; } u; u.f = x; return u.b; } \
                      FN T UNRAW_##T(B x) { union { T f; B b; } u; u.b = x; return u.f; }
TO_BITS(f16, u16) TO_BITS(f32, u32) TO_BITS(f64, u64) TO_BITS(f16x2, u32) TO_BITS(f32x2, u64)
TO_BITS(u16x2, u32) TO_BITS(i16x2, u32)
#define INTEGER(T) FN T C_##T(T x) { return x; }
INTEGER(u8) INTEGER(i8) INTEGER(u16) INTEGER(i16) INTEGER(u32) INTEGER(i32) INTEGER(u64) INTEGER(i64)
INTEGER(u16x2) INTEGER(i16x2)
// The NaN is one that the optimiser does not know: it may leave out a choice between a NaN and a NaN.
#if defined(__AMDGCN__) && defined(__OPTIMIZE__)
FN u32 unknown32(u32 x) { __asm__("" : "+s"(x)); return x; }
FN u64 unknown64(u64 x) { __asm__("" : "+s"(x)); return x; }
#else
#define unknown32(x) (x)
#define unknown64(x) (x)
#endif
FN f16 C_f16(f16 x) { f16 nan = UNRAW_f16((u16)unknown32(0x7e00)); return x != x ? nan : x; }
FN f32 C_f32(f32 x) { f32 nan = UNRAW_f32(unknown32(0x7fc00000u)); return x != x ? nan : x; }
FN f64 C_f64(f64 x) { f64 nan = UNRAW_f64(unknown64(0x7ff8000000000000u)); return x != x ? nan : x; }
FN f16x2 C_f16x2(f16x2 x) { return (f16x2){ C_f16(x.x), C_f16(x.y) }; }
FN f32x2 C_f32x2(f32x2 x) { return (f32x2){ C_f32(x.x), C_f32(x.y) }; }
#define FLOAT(T, B) FN B BITS_##T(T x) { return RAW_##T(C_##T(x)); } FN T FROM_BITS_##T(B x) { return C_##T(UNRAW_##T(x)); }
FLOAT(f16, u16) FLOAT(f32, u32) FLOAT(f64, u64)
FN u32 AS_U32_f16x2(f16x2 x) { return RAW_f16x2(C_f16x2(x)); }
FN f16x2 U32_AS_f16x2(u32 x) { return C_f16x2(UNRAW_f16x2(x)); }
FN u64 AS_U64_f32x2(f32x2 x) { return RAW_f32x2(C_f32x2(x)); }
FN f32x2 U64_AS_f32x2(u64 x) { return C_f32x2(UNRAW_f32x2(x)); }
FN u32 AS_U32_u16x2(u16x2 x) { return RAW_u16x2(x); }
FN u16x2 U32_AS_u16x2(u32 x) { return UNRAW_u16x2(x); }
FN i16x2 U32_AS_i16x2(u32 x) { return UNRAW_i16x2(x); }
FN u16x2 AS_u16x2(i16x2 x) { return UNRAW_u16x2(RAW_i16x2(x)); }
FN i16x2 AS_i16x2(u16x2 x) { return UNRAW_i16x2(RAW_u16x2(x)); }
#define NUMBER(T) FN T NUM_##T(T x) { return x != x ? (T)1.0 : x; }
NUMBER(f16) NUMBER(f32) NUMBER(f64)

// ---- Integers: what C leaves undefined, defined.
#define DIVIDE_U(T) FN T DIV_##T(T a, T b) { return b == 0 ? a : (T)(a / b); } \
                    FN T REM_##T(T a, T b) { return b == 0 ? a : (T)(a % b); }
#define DIVIDE_S(T) FN T DIV_##T(T a, T b) { return b == 0 ? a : b == -1 ? (T)-a : (T)(a / b); } \
                    FN T REM_##T(T a, T b) { return b == 0 ? a : b == -1 ? (T)0 : (T)(a % b); }
DIVIDE_U(u8) DIVIDE_U(u16) DIVIDE_U(u32) DIVIDE_U(u64) DIVIDE_S(i8) DIVIDE_S(i16) DIVIDE_S(i32) DIVIDE_S(i64)
FN u32 ADD_CARRY(u32 a, u32 b) { u32 sum; bool carry = __builtin_add_overflow(a, b, &sum); return sum + carry; }
FN u32 SUB_BORROW(u32 a, u32 b) { u32 rest; bool borrow = __builtin_sub_overflow(a, b, &rest); return rest - borrow; }

// ---- Floating point.
#define SATURATE(F, T, low, least, high, most) \
  FN T F##_TO_##T(F x) { return x != x ? (T)0 : x <= (F)low ? (T)least : x >= (F)high ? (T)most : (T)x; }
#define SATURATE_ALL(F) \
  SATURATE(F, i8, -128.0, -128, 127.0, 127) SATURATE(F, u8, 0.0, 0, 255.0, 255) \
  SATURATE(F, i16, -32768.0, -32768, 32767.0, 32767) SATURATE(F, u16, 0.0, 0, 65535.0, 65535) \
  SATURATE(F, i32, -2147483648.0, (-2147483647 - 1), 2147483648.0, 2147483647) SATURATE(F, u32, 0.0, 0, 4294967296.0, -1) \
  SATURATE(F, i64, -9223372036854775808.0, (-9223372036854775807 - 1), 9223372036854775808.0, 9223372036854775807) \
  SATURATE(F, u64, 0.0, 0, 18446744073709551616.0, -1)
SATURATE_ALL(f32) SATURATE_ALL(f64)
SATURATE(f16, i8, -128.0, -128, 127.0, 127) SATURATE(f16, u8, 0.0, 0, 255.0, 255)
SATURATE(f16, i16, -32768.0, -32768, 32768.0, 32767)
FN u16 f16_TO_u16(f16 x) { return x != x || x <= (f16)0 ? 0 : x > (f16)65504.0 ? 65535 : (u16)x; }
#define WIDENED(T) FN T f16_TO_##T(f16 x) { return f32_TO_##T((f32)x); }
WIDENED(i32) WIDENED(u32) WIDENED(i64) WIDENED(u64)
FN i32 F32_TO_SMALL(f32 x) { return x > -100.0f && x < 100.0f ? (i32)x : 100; }

FN f32 FMA_f32(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
FN f64 FMA_f64(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
#ifdef __AMDGCN__
FN f16 FMA_f16(f16 a, f16 b, f16 c) { return __builtin_fmaf16(a, b, c); }
FN f16x2 FMA_f16x2(f16x2 a, f16x2 b, f16x2 c) { return __builtin_elementwise_fma(a, b, c); }
FN f32x2 FMA_f32x2(f32x2 a, f32x2 b, f32x2 c) { return __builtin_elementwise_fma(a, b, c); }
FN f16 SQRT_f16(f16 x) { return __builtin_sqrtf16(x); }
#else
// The product is exact in double precision; the sum is rounded to odd (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums", 2008), so that rounding it again to half precision rounds once.
FN f16 FMA_f16(f16 a, f16 b, f16 c) {
  f64 product = (f64)a * (f64)b, addend = c, sum = product + addend;
  f64 part = sum - product, error = (product - (sum - part)) + (addend - part);
  if (error != 0 && sum - sum == 0) {
    u64 bits = RAW_f64(sum);
    if (!(bits & 1)) bits += (error > 0) == (sum > 0) ? 1 : -1;
    sum = UNRAW_f64(bits);
  }
  return (f16)sum;
}
FN f16x2 FMA_f16x2(f16x2 a, f16x2 b, f16x2 c) { return (f16x2){ FMA_f16(a.x, b.x, c.x), FMA_f16(a.y, b.y, c.y) }; }
FN f32x2 FMA_f32x2(f32x2 a, f32x2 b, f32x2 c) { return (f32x2){ FMA_f32(a.x, b.x, c.x), FMA_f32(a.y, b.y, c.y) }; }
FN f16 SQRT_f16(f16 x) { return (f16)__builtin_sqrtf((f32)x); }
#endif
FN f32 SQRT_f32(f32 x) { return __builtin_sqrtf(x); }
FN f64 SQRT_f64(f64 x) { return __builtin_sqrt(x); }
// A zero comes out positive. Not by adding 0: clang 22 makes `-m` of `-m + 0` where m is an extreme.
#define POSITIVE(T) FN T POSITIVE_##T(T x) { return x == (T)0 ? (T)0 : x; }
POSITIVE(f16) POSITIVE(f32) POSITIVE(f64) POSITIVE(f16x2) POSITIVE(f32x2)
// Which of two zeros is the lesser is open, so a zero is made positive. So is a signaling NaN's share; there are none.
#define EXTREMES(T, s) \
  FN T MIN_##T(T a, T b) { return POSITIVE_##T(__builtin_fmin##s(a, b)); } \
  FN T MAX_##T(T a, T b) { return POSITIVE_##T(__builtin_fmax##s(a, b)); } \
  FN T MIN3_##T(T a, T b, T c) { return POSITIVE_##T(__builtin_fmin##s(a, __builtin_fmin##s(b, c))); } \
  FN T MAX3_##T(T a, T b, T c) { return POSITIVE_##T(__builtin_fmax##s(a, __builtin_fmax##s(b, c))); } \
  FN T CLAMP_##T(T x, T low, T high) { return POSITIVE_##T(__builtin_fmin##s(__builtin_fmax##s(x, low), high)); }
EXTREMES(f16, f16) EXTREMES(f32, f) EXTREMES(f64, )
#define EXTREMES_OF_PAIRS(T) \
  FN T MIN_##T(T a, T b) { return POSITIVE_##T(__builtin_elementwise_minnum(a, b)); } \
  FN T MAX_##T(T a, T b) { return POSITIVE_##T(__builtin_elementwise_maxnum(a, b)); }
EXTREMES_OF_PAIRS(f16x2) EXTREMES_OF_PAIRS(f32x2)
#ifdef __AMDGCN__
#define PARTS(T, s) \
  FN T CLEAN_##T(T x) { return __builtin_elementwise_canonicalize(x); } \
  FN T FRACTION_##T(T x) { return __builtin_amdgcn_frexp_mant##s(x); } \
  FN i32 EXPONENT_##T(T x) { return __builtin_amdgcn_frexp_exp##s(x); }
PARTS(f16, h) PARTS(f32, f) PARTS(f64, )
#else
#define PARTS(T) \
  FN T CLEAN_##T(T x) { return x; } \
  FN T FRACTION_##T(T x) { int e; return x - x == 0 ? (T)__builtin_frexp((f64)x, &e) : x; } \
  FN i32 EXPONENT_##T(T x) { int e = 0; if (x - x == 0) (void)__builtin_frexp((f64)x, &e); return e; }
PARTS(f16) PARTS(f32) PARTS(f64)
#endif

// ---- Memory.
#define LOOSE(T) typedef T T##_u __attribute__((aligned(1), may_alias));
LOOSE(u8) LOOSE(i8) LOOSE(u16) LOOSE(i16) LOOSE(u32) LOOSE(i32) LOOSE(u64) LOOSE(i64)
LOOSE(f16) LOOSE(f32) LOOSE(f64) LOOSE(u16x2) LOOSE(i16x2) LOOSE(f16x2) LOOSE(f32x2)
#define ALIGNED(T, n) typedef T T##_a##n __attribute__((aligned(n), may_alias));
ALIGNED(u32x2, 4) ALIGNED(u32x3, 4) ALIGNED(u32x4, 16) ALIGNED(u32x4, 8) ALIGNED(u32x4, 4) ALIGNED(u32x4, 1)
ALIGNED(u32x8, 4) ALIGNED(u32x16, 4) ALIGNED(u32, 4) ALIGNED(i32, 4) ALIGNED(f32, 4) ALIGNED(u64, 8) ALIGNED(i64, 8)
ALIGNED(f64, 8)
// A constant offset's low bits are known, so a mask of them makes an aligned access; a variable's does too.
#define LOAD(T, space, p) C_##T(*(space T##_u *)(p))
#define STORE(T, space, p, v) (*(space T##_u *)(p) = C_##T(v))
#define LOAD_ALIGNED(T, n, space, p) (*(space T##_a##n *)(p))
#define STORE_ALIGNED(T, n, space, p, v) (*(space T##_a##n *)(p) = (v))
FN u32 FOLD2(u32x2 v) { return v.x ^ v.y * 3; }
FN u32 FOLD3(u32x3 v) { return v.x ^ v.y * 3 ^ v.z * 5; }
FN u32 FOLD4(u32x4 v) { return v.x ^ v.y * 3 ^ v.z * 5 ^ v.w * 7; }
FN u32 FOLD8(u32x8 v) { return FOLD4(v.lo) + 11 * FOLD4(v.hi); }
FN u32 FOLD16(u32x16 v) { return FOLD8(v.lo) ^ 13 * FOLD8(v.hi); }
FN u32x2 SPREAD2(u32 a, u32 b) { return (u32x2){ a, b }; }
FN u32x3 SPREAD3(u32 a, u32 b) { return (u32x3){ a, b, a ^ b }; }
FN u32x4 SPREAD4(u32 a, u32 b) { return (u32x4){ a, b, a + b, ~a }; }
#define FLAT(c, o) (((c) ? (const u8 *)in : ((o) & 512) ? (const u8 *)mine : (const u8 *)arr) + ((o) & 31))
#define FLAT_STORE(c, o) (((c) ? (u8 *)own : ((o) & 512) ? (u8 *)mine : (u8 *)arr) + ((o) & 31))
// A buffer of 1000 bytes of the input, and one of 48 of the work-item's own: what lies beyond reads zero and is not written.
#ifdef __AMDGCN__
#if IS_GFX9
#define FORMAT 0x00027000
#elif defined(__GFX10__)
#define FORMAT 0x31014000
#else
#define FORMAT 0x31004000
#endif
#define RESOURCE(p, n) __builtin_amdgcn_make_buffer_rsrc((void *)(p), 0, n, FORMAT)
#define BUFFER(n, suffix) \
  FN u##n buffer_load_##n(const G u8 *in, u32 at) { return __builtin_amdgcn_raw_buffer_load_##suffix(RESOURCE(in, 1000), at, 0, 0); } \
  FN void buffer_store_##n(G u8 *out, u32 size, u32 gid, u32 at, u##n v) { \
    __builtin_amdgcn_raw_buffer_store_##suffix(v, RESOURCE(out, size), at < 48 ? gid * 256 + 128 + at : 0x7fffff00 + at, 0, 0); }
BUFFER(8, b8) BUFFER(16, b16) BUFFER(32, b32)
FN u64 buffer_load_64(const G u8 *in, u32 at) {
  u32x2 v = __builtin_amdgcn_raw_buffer_load_b64(RESOURCE(in, 1000), at, 0, 0);
  return (u64)v.y << 32 | v.x; }
FN void buffer_store_64(G u8 *out, u32 size, u32 gid, u32 at, u64 v) {
  __builtin_amdgcn_raw_buffer_store_b64((u32x2){ (u32)v, (u32)(v >> 32) }, RESOURCE(out, size), at < 48 ? gid * 256 + 128 + at : 0x7fffff00 + at, 0, 0); }
#else
#define BUFFER(n) \
  FN u##n buffer_load_##n(const u8 *in, u32 at) { return at < 1000 ? *(const u##n##_u *)(in + at) : 0; } \
  FN void buffer_store_##n(u8 *out, u32 size, u32 gid, u32 at, u##n v) { if (at < 48) *(u##n##_u *)(out + gid * 256 + 128 + at) = v; }
BUFFER(8) BUFFER(16) BUFFER(32) BUFFER(64)
#endif
#define BUFFER_LOAD_8(at) buffer_load_8(in, (at) & 2047)
#define BUFFER_LOAD_16(at) buffer_load_16(in, (at) & 2047)
#define BUFFER_LOAD_32(at) buffer_load_32(in, (at) & 2047)
#define BUFFER_LOAD_64(at) buffer_load_64(in, (at) & 2047)
#define BUFFER_STORE_8(at, v) buffer_store_8(acc - BUFFERED, BUFFERED, gid, (at) & 63, v)
#define BUFFER_STORE_16(at, v) buffer_store_16(acc - BUFFERED, BUFFERED, gid, (at) & 63, v)
#define BUFFER_STORE_32(at, v) buffer_store_32(acc - BUFFERED, BUFFERED, gid, (at) & 63, v)
#define BUFFER_STORE_64(at, v) buffer_store_64(acc - BUFFERED, BUFFERED, gid, (at) & 63, v)

// ---- Atomics. Slots: eight kinds of four, 32 bits wide, then as many of 64 bits; `acc` and `lacc` are laid out alike.
enum { K_add, K_or, K_xor, K_and, K_umin, K_umax, K_smin, K_smax };
#define A_T32_add u32
#define A_T32_or u32
#define A_T32_xor u32
#define A_T32_and u32
#define A_T32_umin u32
#define A_T32_umax u32
#define A_T32_smin i32
#define A_T32_smax i32
#define A_T64_add u64
#define A_T64_or u64
#define A_T64_xor u64
#define A_T64_and u64
#define A_T64_umin u64
#define A_T64_umax u64
#define A_T64_smin i64
#define A_T64_smax i64
#ifdef __AMDGCN__
#define AT(f, p, v) __scoped_atomic_fetch_##f(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
#define A_add(p, v, T) AT(add, p, v)
#define A_sub(p, v, T) AT(sub, p, v)
#define A_or(p, v, T) AT(or, p, v)
#define A_xor(p, v, T) AT(xor, p, v)
#define A_and(p, v, T) AT(and, p, v)
#define A_umin(p, v, T) AT(min, p, v)
#define A_umax(p, v, T) AT(max, p, v)
#define A_smin(p, v, T) AT(min, p, v)
#define A_smax(p, v, T) AT(max, p, v)
#define A_inc(p, v, T) AT(uinc, p, v)
#define A_dec(p, v, T) AT(udec, p, v)
#define A_fadd(p, v, T) AT(add, p, v)
#define A_fmin(p, v, T) AT(min, p, v)
#define A_fmax(p, v, T) AT(max, p, v)
#define A_xchg(p, v, T) __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
#define A_cas(p, e, v, T) ({ T expected_ = (e); __scoped_atomic_compare_exchange_n(p, &expected_, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP); expected_; })
#else
#define OLD(p, T, expression) ({ __typeof__(p) p_ = (p); T old = *p_; *p_ = (expression); old; })
#define A_add(p, v, T) ({ T v_ = (v); OLD(p, T, old + v_); })
#define A_sub(p, v, T) ({ T v_ = (v); OLD(p, T, old - v_); })
#define A_or(p, v, T) ({ T v_ = (v); OLD(p, T, old | v_); })
#define A_xor(p, v, T) ({ T v_ = (v); OLD(p, T, old ^ v_); })
#define A_and(p, v, T) ({ T v_ = (v); OLD(p, T, old & v_); })
#define A_umin(p, v, T) ({ T v_ = (v); OLD(p, T, old < v_ ? old : v_); })
#define A_umax(p, v, T) ({ T v_ = (v); OLD(p, T, old > v_ ? old : v_); })
#define A_smin(p, v, T) A_umin(p, v, T)
#define A_smax(p, v, T) A_umax(p, v, T)
#define A_inc(p, v, T) ({ T v_ = (v); OLD(p, T, old >= v_ ? 0 : old + 1); })
#define A_dec(p, v, T) ({ T v_ = (v); OLD(p, T, old == 0 || old > v_ ? v_ : old - 1); })
#define A_fadd(p, v, T) A_add(p, v, T)
#define A_fmin(p, v, T) ({ T v_ = (v); OLD(p, T, old != old || v_ < old ? v_ : old); })
#define A_fmax(p, v, T) ({ T v_ = (v); OLD(p, T, old != old || v_ > old ? v_ : old); })
#define A_xchg(p, v, T) ({ T v_ = (v); OLD(p, T, v_); })
#define A_cas(p, e, v, T) ({ T e_ = (e), v_ = (v); OLD(p, T, old == e_ ? v_ : old); })
#endif
#define ACC32(k, i, v) A_##k((G A_T32_##k *)acc + K_##k * 4 + ((i) & 3), v, A_T32_##k)
#define ACC64(k, i, v) A_##k((G A_T64_##k *)(acc + 128) + K_##k * 4 + ((i) & 3), v, A_T64_##k)
#define lacc (lds + 8192)
#define LACC32(k, i, v) A_##k((L A_T32_##k *)lacc + K_##k * 4 + ((i) & 3), v, A_T32_##k)
#define LACC64(k, i, v) A_##k((L A_T64_##k *)(lacc + 128) + K_##k * 4 + ((i) & 3), v, A_T64_##k)
#define SLOT(i) (((L u32 *)lacc)[(i) & 31])
#define SLOT64(i) (((L u64 *)(lacc + 128))[(i) & 31])
// A slot of the work-item's own; what a NaN's bits are, and which zero is the lesser, is settled before and after.
#define S_u32(x) (x)
#define S_i32(x) (x)
#define S_u64(x) (x)
#define S_i64(x) (x)
#define S_f32(x) POSITIVE_f32(C_f32(x))
#define S_f64(x) POSITIVE_f64(C_f64(x))
#define FETCH(space, memory, k, T, i, v) ({ \
  space T *at_ = (space T *)(memory + ((i) & 24)); *at_ = S_##T(*at_); \
  T got_ = A_##k(at_, S_##T(v), T); *at_ = S_##T(*at_); S_##T(got_); })
#define FETCH_own(k, T, i, v) FETCH(G, own, k, T, i, v)
#define FETCH_mine(k, T, i, v) FETCH(L, mine, k, T, i, v)
#define CAS(space, memory, T, i, e, v) ({ \
  space T *at_ = (space T *)(memory + ((i) & 24)); A_cas(at_, (i) & 64 ? *at_ : (T)(e), v, T); })
#define CAS_own(T, i, e, v) CAS(G, own, T, i, e, v)
#define CAS_mine(T, i, e, v) CAS(L, mine, T, i, e, v)

// ---- Instructions that C has no word for.
#define BYTE(x, i) ((u32)((x) >> 8 * (i)) & 255)
FN u32 apart(u32 a, u32 b) { return a > b ? a - b : b - a; }
#ifdef __AMDGCN__
#define M_lerp(a, b, c) __builtin_amdgcn_lerp(a, b, c)
#define M_sad_u8(a, b, c) __builtin_amdgcn_sad_u8(a, b, c)
#define M_msad_u8(a, b, c) __builtin_amdgcn_msad_u8(a, b, c)
#define M_sad_hi_u8(a, b, c) __builtin_amdgcn_sad_hi_u8(a, b, c)
#define M_sad_u16(a, b, c) __builtin_amdgcn_sad_u16(a, b, c)
#define M_alignbit(a, b, c) __builtin_amdgcn_alignbit(a, b, c)
#define M_alignbyte(a, b, c) __builtin_amdgcn_alignbyte(a, b, c)
#define M_perm(a, b, c) __builtin_amdgcn_perm(a, b, c)
#define M_ubfe(a, b, c) __builtin_amdgcn_ubfe(a, b, c)
#define M_sbfe(a, b, c) __builtin_amdgcn_sbfe(a, b, c)
#define M_qsad_pk_u16_u8(a, b, c) __builtin_amdgcn_qsad_pk_u16_u8(a, b, (c) & 0x0fff0fff0fff0ffful)
#define M_mqsad_pk_u16_u8(a, b, c) __builtin_amdgcn_mqsad_pk_u16_u8(a, b, (c) & 0x0fff0fff0fff0ffful)
#define M_mqsad_u32_u8(a, b, c) FOLD4(__builtin_amdgcn_mqsad_u32_u8(a, b, (u32x4)(c)))
#define M_cvt_pk_i16(a, b) ({ i16x2 v_ = __builtin_amdgcn_cvt_pk_i16(a, b); v_; })
#define M_cvt_pk_u16(a, b) ({ u16x2 v_ = __builtin_amdgcn_cvt_pk_u16(a, b); v_; })
#define M_cvt_pk_u8_f32(a, b, c) __builtin_amdgcn_cvt_pk_u8_f32(__builtin_rintf(a), b, c)
#define M_fmed3(a, b, c) POSITIVE_f32(__builtin_amdgcn_fmed3f(NUM_f32(a), NUM_f32(b), NUM_f32(c)))
#define M_fract(x) POSITIVE_f32(__builtin_amdgcn_fractf(x))
#define M_mbcnt(m) ({ u64 m_ = (m); __builtin_amdgcn_mbcnt_hi(m_ >> 32, __builtin_amdgcn_mbcnt_lo(m_, 0)); })
#define M_class(x, m) ({ u32 m_ = (m) & 0x3fc; __builtin_amdgcn_classf(x, m_); })
FN f16x2 M_cvt_pkrtz(f32 a, f32 b) {
  union { __typeof__(__builtin_amdgcn_cvt_pkrtz(a, b)) from; f16x2 to; } u;
  u.from = __builtin_amdgcn_cvt_pkrtz(a, b);
  return C_f16x2(u.to);
}
#else
FN u32 M_lerp(u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (int i = 0; i < 4; ++i) r |= ((BYTE(a, i) + BYTE(b, i) + (BYTE(c, i) & 1)) >> 1) << 8 * i;
  return r;
}
FN u32 M_sad_u8(u32 a, u32 b, u32 c) { for (int i = 0; i < 4; ++i) c += apart(BYTE(a, i), BYTE(b, i)); return c; }
FN u32 M_msad_u8(u32 a, u32 b, u32 c) { for (int i = 0; i < 4; ++i) if (BYTE(b, i)) c += apart(BYTE(a, i), BYTE(b, i)); return c; }
FN u32 M_sad_hi_u8(u32 a, u32 b, u32 c) { return (M_sad_u8(a, b, 0) << 16) + c; }
FN u32 M_sad_u16(u32 a, u32 b, u32 c) { return apart(a & 0xffff, b & 0xffff) + apart(a >> 16, b >> 16) + c; }
FN u32 M_alignbit(u32 a, u32 b, u32 c) { return (u32)(((u64)a << 32 | b) >> (c & 31)); }
FN u32 M_alignbyte(u32 a, u32 b, u32 c) { return (u32)(((u64)a << 32 | b) >> 8 * (c & 3)); }
FN u32 M_perm(u32 a, u32 b, u32 c) {
  u64 both = (u64)a << 32 | b;
  u32 r = 0;
  for (int i = 0; i < 4; ++i) {
    u32 s = BYTE(c, i);
    u32 v = s < 8 ? BYTE(both, s) : s < 12 ? (both >> (16 * (s - 8) + 15) & 1) * 255 : s == 12 ? 0 : 255;
    r |= v << 8 * i;
  }
  return r;
}
FN u32 M_ubfe(u32 a, u32 b, u32 c) { return a >> b & ((1u << c) - 1); }
// The shift is arithmetic: a field that reaches beyond bit 31 is filled with the sign.
FN u32 M_sbfe(u32 a, u32 b, u32 c) { return c == 0 ? 0 : (u32)((i32)((u32)((i32)a >> b) << (32 - c)) >> (32 - c)); }
FN u64 M_qsad_pk_u16_u8(u64 a, u32 b, u64 c) {
  u64 r = 0;
  c &= 0x0fff0fff0fff0ffful;
  for (int i = 0; i < 4; ++i) r |= (u64)M_sad_u8((u32)(a >> 8 * i), b, c >> 16 * i & 0xffff) << 16 * i;
  return r;
}
FN u64 M_mqsad_pk_u16_u8(u64 a, u32 b, u64 c) {
  u64 r = 0;
  c &= 0x0fff0fff0fff0ffful;
  for (int i = 0; i < 4; ++i) r |= (u64)M_msad_u8((u32)(a >> 8 * i), b, c >> 16 * i & 0xffff) << 16 * i;
  return r;
}
FN u32 M_mqsad_u32_u8(u64 a, u32 b, u32 c) {
  return FOLD4((u32x4){ M_msad_u8((u32)a, b, c), M_msad_u8((u32)(a >> 8), b, c), M_msad_u8((u32)(a >> 16), b, c), M_msad_u8((u32)(a >> 24), b, c) });
}
FN i16x2 M_cvt_pk_i16(i32 a, i32 b) {
  return (i16x2){ a < -32768 ? -32768 : a > 32767 ? 32767 : (i16)a, b < -32768 ? -32768 : b > 32767 ? 32767 : (i16)b };
}
FN u16x2 M_cvt_pk_u16(u32 a, u32 b) { return (u16x2){ a > 65535 ? 65535 : (u16)a, b > 65535 ? 65535 : (u16)b }; }
FN u32 M_cvt_pk_u8_f32(f32 a, u32 b, u32 c) { return (c & ~(255u << 8 * (b & 3))) | (u32)f32_TO_u8(__builtin_rintf(a)) << 8 * (b & 3); }
FN f32 M_fmed3(f32 a, f32 b, f32 c) {
  a = NUM_f32(a), b = NUM_f32(b), c = NUM_f32(c);
  f32 low = a < b ? a : b, high = a < b ? b : a;
  return POSITIVE_f32(c < low ? low : c > high ? high : c);
}
FN f32 M_fract(f32 x) { f32 r = x - __builtin_floorf(x); return POSITIVE_f32(r >= 1.0f ? 0x1.fffffep-1f : r); }
#define M_mbcnt(m) ((u32)__builtin_popcountll((m) & ((1ul << (lid & (LANES - 1))) - 1)))
FN bool M_class(f32 x, u32 mask) {
  u32 bits = RAW_f32(x), negative = bits >> 31, exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
  if (x != x) return 0;
  u32 kind = exponent == 255 ? 0 : exponent ? 1 : fraction ? 2 : 3;
  return mask >> (negative ? 2 + kind : 9 - kind) & 1;
}
FN u16 toward_zero(f32 x) {
  u32 bits = RAW_f32(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000) return 0x7e00;
  if (rest == 0x7f800000) return sign | 0x7c00;
  if (rest >= 0x47800000) return sign | 0x7bff;
  if (rest >= 0x38800000) return sign | (rest - 0x38000000) >> 13;
  u32 shift = 126 - (rest >> 23);
  return sign | (shift > 31 ? 0 : ((rest & 0x7fffff) | 0x800000) >> shift);
}
FN f16x2 M_cvt_pkrtz(f32 a, f32 b) { return U32_AS_f16x2(toward_zero(a) | (u32)toward_zero(b) << 16); }
#endif
// What has no instruction on a processor is computed as on the host.
#define DOT(n, width) \
  FN u32 M_udot##n(u32 a, u32 b, u32 c) { for (int i = 0; i < n; ++i) c += (a << (32 - width - width * i) >> (32 - width)) * (b << (32 - width - width * i) >> (32 - width)); return c; } \
  FN i32 M_sdot##n(u32 a, u32 b, i32 c) { for (int i = 0; i < n; ++i) c += ((i32)(a << (32 - width - width * i)) >> (32 - width)) * ((i32)(b << (32 - width - width * i)) >> (32 - width)); return c; }
#if defined(__AMDGCN__) && !defined(__gfx900__) && !defined(__gfx1010__) && !defined(__gfx1013__)
#define M_udot4(a, b, c) __builtin_amdgcn_udot4(a, b, c, 0)
#define M_udot8(a, b, c) __builtin_amdgcn_udot8(a, b, c, 0)
#if defined(__GFX11__)
DOT(2, 16)
#define M_sdot4(a, b, c) __builtin_amdgcn_sudot4(1, a, 1, b, c, 0)
#define M_sdot8(a, b, c) __builtin_amdgcn_sudot8(1, a, 1, b, c, 0)
#else
#define M_udot2(a, b, c) __builtin_amdgcn_udot2(U32_AS_u16x2(a), U32_AS_u16x2(b), c, 0)
#define M_sdot2(a, b, c) __builtin_amdgcn_sdot2(U32_AS_i16x2(a), U32_AS_i16x2(b), c, 0)
#define M_sdot4(a, b, c) __builtin_amdgcn_sdot4(a, b, c, 0)
#define M_sdot8(a, b, c) __builtin_amdgcn_sdot8(a, b, c, 0)
#endif
#else
DOT(2, 16) DOT(4, 8) DOT(8, 4)
#endif

// ---- Between lanes: four constants, the work-item's value, its second operand.
// Shifts and rotations of the whole wave, and broadcasts to other rows, are GFX9's; in their place others have lanes of their own row:
// one lane, or each lane's partner.
#define DPP(k) (!IS_GFX9 && ((k) >> 4 == 0x13 || ((k) | 1) == 0x143) ? (k) + 0x20 : (k))
#ifdef __AMDGCN__
// Lanes that are not active give a zero, but the compiler does not ask them if it knows that all lanes hold the same.
// Clang 22 also takes the sum of a constant over the lanes to be that constant.
#define HIDDEN(v) ({ u32 hidden_ = (v); __asm__("" : "+v"(hidden_)); hidden_; })
#if LANES == 32
#define BALLOT(v) ((u64)__builtin_amdgcn_ballot_w32(((v) & 1) != 0))
#else
#define BALLOT(v) __builtin_amdgcn_ballot_w64(((v) & 1) != 0)
#endif
#define X_ballot_low(a, b, c, d, v, o) ((u32)BALLOT(v) + 0 * (o))
#define X_ballot_high(a, b, c, d, v, o) ((u32)(BALLOT(v) >> 32) + 0 * (o))
#define X_ballot_rank(a, b, c, d, v, o) (M_mbcnt(BALLOT(v)) + 0 * (o))
#define X_firstlane(a, b, c, d, v, o) ((u32)__builtin_amdgcn_readfirstlane(v) ^ (o))
#define X_readlane(k, b, c, d, v, o) ((u32)__builtin_amdgcn_readlane(v, k) + (o))
#define X_bpermute(a, b, c, d, v, o) ((u32)__builtin_amdgcn_ds_bpermute((o) << 2, HIDDEN(v)))
#define X_permute(a, b, c, d, v, o) ((u32)__builtin_amdgcn_ds_permute((lid ^ 21) << 2, HIDDEN((v) ^ (o))))
#define X_swizzle(k, b, c, d, v, o) ((u32)__builtin_amdgcn_ds_swizzle(HIDDEN(v), k) + (o))
#define X_dpp(k, rows, banks, bound, v, o) ((u32)__builtin_amdgcn_update_dpp(o, HIDDEN(v), DPP(k), rows, banks, bound))
#define X_dpp_add(k, rows, banks, bound, v, o) ((o) + (u32)__builtin_amdgcn_update_dpp(0, HIDDEN(v), DPP(k), rows, banks, bound))
#define X_dpp_umin(k, rows, banks, bound, v, o) __builtin_elementwise_min(o, (u32)__builtin_amdgcn_update_dpp(-1, HIDDEN(v), DPP(k), rows, banks, 0))
#define X_dpp_fadd(k, rows, banks, bound, v, o) BITS_f32(FROM_BITS_f32(o) + FROM_BITS_f32(__builtin_amdgcn_update_dpp(0, HIDDEN(v), DPP(k), rows, banks, bound)))
#define X_reduce_umin(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_min_u32(HIDDEN(v), 0) + (o))
#define X_reduce_umax(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_max_u32(HIDDEN(v), 0) + (o))
#define X_reduce_min(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_min_i32(HIDDEN(v), 0) + (o))
#define X_reduce_max(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_max_i32(HIDDEN(v), 0) + (o))
#define X_reduce_add(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_add_u32(HIDDEN(v), 0) + (o))
#define X_reduce_and(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_and_b32(HIDDEN(v), 0) + (o))
#define X_reduce_or(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_or_b32(HIDDEN(v), 0) + (o))
#define X_reduce_xor(a, b, c, d, v, o) (__builtin_amdgcn_wave_reduce_xor_b32(HIDDEN(v), 0) + (o))
#else
// On the host: which lanes are active, what all of them hold, and which one asks.
typedef struct { u64 active; u32 v[64], o[64]; } Wave;
#define ACTIVE(w, i) ((w)->active >> (i) & 1)
FN u64 ballot(const Wave *w) { u64 r = 0; for (int i = 0; i < 64; ++i) if (ACTIVE(w, i) && (w->v[i] & 1)) r |= 1ul << i; return r; }
#define X(name) FN u32 X_##name(u32 k, u32 rows, u32 banks, u32 bound, const Wave *w, u32 lane)
X(ballot_low) { return (u32)ballot(w); }
X(ballot_high) { return (u32)(ballot(w) >> 32); }
X(ballot_rank) { return (u32)__builtin_popcountll(ballot(w) & ((1ul << lane) - 1)); }
X(firstlane) { return w->v[__builtin_ctzll(w->active)] ^ w->o[lane]; }
X(readlane) { return w->v[k] + w->o[lane]; }
X(bpermute) { u32 from = (lane & ~(REACH - 1u)) | (w->o[lane] & (REACH - 1u)); return ACTIVE(w, from) ? w->v[from] : 0; }
X(permute) { u32 from = lane ^ 21; return ACTIVE(w, from) ? w->v[from] ^ w->o[from] : 0; }
X(swizzle) {
  u32 from = k & 0x8000 ? (lane & ~3u) | (k >> 2 * (lane & 3) & 3)
                        : (lane & 32) | ((((lane & k & 31) | (k >> 5 & 31)) ^ (k >> 10 & 31)) & 31);
  return (ACTIVE(w, from) ? w->v[from] : 0) + w->o[lane];
}
// The lane that a DPP control reads from, or -1.
FN int dpp_source(u32 k, int lane) {
  int row = lane & ~15, at = lane & 15, n = k & 15;
  if (k < 0x100) return (lane & ~3) | (int)(k >> 2 * (lane & 3) & 3);
  switch (k >> 4) {
    case 0x10: return at + n < 16 ? lane + n : -1;
    case 0x11: return at >= n ? lane - n : -1;
    case 0x12: return row | ((at - n) & 15);
    case 0x15: return row | n;
    case 0x16: return row | (at ^ n);
  }
  switch (k) {
    case 0x130: return lane < 63 ? lane + 1 : -1;
    case 0x134: return (lane + 1) & 63;
    case 0x138: return lane - 1;
    case 0x13c: return (lane - 1) & 63;
    case 0x140: return row | (15 - at);
    case 0x141: return (lane & ~7) | (7 - (lane & 7));
    case 0x142: return row - 1;
    case 0x143: return lane >= 32 ? 31 : -1;
  }
  __builtin_trap();
}
FN u32 dpp(u32 k, u32 rows, u32 banks, u32 bound, const Wave *w, u32 lane, u32 old) {
  if (!(rows >> (lane >> 4) & 1) || !(banks >> (lane >> 2 & 3) & 1)) return old;
  int from = dpp_source(DPP(k), (int)lane);
  return from >= 0 && ACTIVE(w, from) ? w->v[from] : bound ? 0 : old;
}
X(dpp) { return dpp(k, rows, banks, bound, w, lane, w->o[lane]); }
X(dpp_add) { return w->o[lane] + dpp(k, rows, banks, bound, w, lane, 0); }
X(dpp_umin) { u32 r = dpp(k, rows, banks, 0, w, lane, -1u); return w->o[lane] < r ? w->o[lane] : r; }
X(dpp_fadd) { return BITS_f32(FROM_BITS_f32(w->o[lane]) + FROM_BITS_f32(dpp(k, rows, banks, bound, w, lane, 0))); }
#define REDUCE(name, T, start, expression) \
  X(reduce_##name) { T r = start; for (int i = 0; i < 64; ++i) if (ACTIVE(w, i)) { T x = (T)w->v[i]; r = expression; } return (u32)r + w->o[lane]; }
REDUCE(umin, u32, -1u, r < x ? r : x) REDUCE(umax, u32, 0, r > x ? r : x)
REDUCE(min, i32, 2147483647, r < x ? r : x) REDUCE(max, i32, -2147483647 - 1, r > x ? r : x)
REDUCE(add, u32, 0, r + x) REDUCE(and, u32, -1u, r & x) REDUCE(or, u32, 0, r | x) REDUCE(xor, u32, 0, r ^ x)
#endif

// ---- Kernels.
#define ENV G u8 *acc, const G u8 *in, G u8 *own, L u8 *lds, L u8 *mine, u8 *arr, u32 lid, u32 gid, u32 wg, u32 n0, u16 n1, u64 n2, f32 n3
#define ENVIRONMENT acc, in, own, lds, mine, arr, lid, gid, wg, n0, n1, n2, n3
// LDS: 64 bytes a work-item, then the slots.
#define LDS_BYTES (8192 + 384)
FN void slots(L u8 *lds, u32 i) {
  static const u32 narrow[8] = { 0, 0, 0, -1u, -1u, 0, 0x7fffffff, 0x80000000 };
  ((L u32 *)lacc)[i] = narrow[i >> 2];
  ((L u64 *)(lacc + 128))[i] = i >> 2 == 6 ? 0x7ffffffffffffffful : i >> 2 == 7 ? 1ul << 63 : (u64)(i64)(i32)narrow[i >> 2];
}
// Registers that a kernel has, by PRESSURE. Where it is to have none left over, it gets sixty, and what stands in the others
// from its start on is looked at in its end.
#define CALLEE_OF_NO_PRESSURE noinline
#define CALLEE_OF_FEW_VGPRS noinline
#define CALLEE_OF_FEW_SGPRS noinline
#define CALLEE_OF_MANY_WAVES noinline
#if defined __AMDGCN__ && defined __OPTIMIZE__
#define CALLEE_OF_ALL_VGPRS always_inline
#define CALLEE_OF_ALL_AGPRS always_inline
#define KERNEL_OF_NO_PRESSURE
#define KERNEL_OF_FEW_VGPRS , amdgpu_num_vgpr(24)
#define KERNEL_OF_FEW_SGPRS , amdgpu_num_sgpr(40)
#define KERNEL_OF_MANY_WAVES , amdgpu_waves_per_eu(8, 8)
#define KERNEL_OF_ALL_VGPRS , amdgpu_num_vgpr(60), amdgpu_num_sgpr(60)
#define KERNEL_OF_ALL_AGPRS , amdgpu_num_vgpr(60), amdgpu_num_sgpr(60)
#define EACH_REGISTER(from, count, line) ".set .Lr, " #from "\n .rept " #count "\n " line "\n .set .Lr, .Lr + 1\n .endr\n"
#if IS_GFX9
#define ADD_U32 "v_add_u32"
#else
#define ADD_U32 "v_add_nc_u32"
#endif
#define HOLD_MORE EACH_REGISTER(60, 42, "s_mov_b32 s[.Lr], .Lr * 0x1234567") EACH_REGISTER(60, 196, ADD_U32 " v[.Lr], .Lr, %0")
#define LET_GO_MORE EACH_REGISTER(60, 42, "v_xor_b32 %0, s[.Lr], %0") EACH_REGISTER(60, 196, "v_xor_b32 %0, v[.Lr], %0")
#if defined __gfx908__
#define HOLD_AGPRS EACH_REGISTER(0, 256, "v_accvgpr_write_b32 a[.Lr], %0")
#define LET_GO_AGPRS EACH_REGISTER(0, 256, "v_accvgpr_read_b32 v60, a[.Lr]\n v_xor_b32 %0, v60, %0")
#define AGPRS , "a255"
#else
#define HOLD_AGPRS
#define LET_GO_AGPRS
#define AGPRS
#endif
#define LET_GO_NO_PRESSURE
#define LET_GO_FEW_VGPRS
#define LET_GO_FEW_SGPRS
#define LET_GO_MANY_WAVES
#define LET_GO_ALL_VGPRS { u32 x = lid; __asm__ volatile(LET_GO_MORE : "+v"(x)); own[127] = x ^ x >> 8 ^ x >> 16 ^ x >> 24; }
#define LET_GO_ALL_AGPRS { u32 x = lid; __asm__ volatile(LET_GO_MORE LET_GO_AGPRS : "+v"(x)); own[127] = x ^ x >> 8 ^ x >> 16 ^ x >> 24; }
#define HOLD_NO_PRESSURE
#define HOLD_FEW_VGPRS
#define HOLD_FEW_SGPRS
#define HOLD_MANY_WAVES
#define HOLD_ALL_VGPRS __asm__ volatile(HOLD_MORE : : "v"(lid) : "v255", "s101");
#define HOLD_ALL_AGPRS __asm__ volatile(HOLD_MORE HOLD_AGPRS : : "v"(lid) : "v255", "s101" AGPRS);
#define HOLD PASTE(HOLD_, PRESSURE)
#define LET_GO PASTE(LET_GO_, PRESSURE)
#define FOR_KERNEL PASTE(KERNEL_OF_, PRESSURE)
#else
#define CALLEE_OF_ALL_VGPRS noinline
#define CALLEE_OF_ALL_AGPRS noinline
#define FOR_KERNEL
#define HOLD
#define LET_GO
#endif
#define INPUT(T, offset) LOAD(T, const G, in + (((gid * 52 + (offset)) & 2040)))
#define UNIFORM_INPUT(T, offset) LOAD(T, const G, in + (((wg * 24 + (offset)) & 1016)))
#define OUTPUT(T, offset, v) (*(G T *)(own - 128 + (offset)) = C_##T(v))
#ifdef __AMDGCN__
#define KERNEL(name, S, BLOCK) \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(BLOCK, BLOCK) FOR_KERNEL)) void name(G u8 *out, const G u8 *in, u32 n0, u16 n1, u64 n2, f32 n3) { \
    static L __attribute__((loader_uninitialized)) u64 tile[LDS_BYTES / 8]; \
    u32 lid = __builtin_amdgcn_workitem_id_x(), wg = __builtin_amdgcn_workgroup_id_x(), gid = wg * BLOCK + lid; \
    G u8 *acc = out + BUFFERED, *own = out + gid * 256 + 128; \
    L u8 *lds = (L u8 *)tile, *mine = lds + lid * 64; \
    u8 arr[64] __attribute__((aligned(16))); \
    S state, *s = &state;
#define END }
#define EACH(...) __VA_ARGS__
#define BARRIER do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0);
#define CROSS(S, BLOCK, condition, to, f, a, b, c, d, v, o) if (condition) { u32 v_ = (v), o_ = (o); to = f(a, b, c, d, v_, o_); }
#else
#define KERNEL(name, S, BLOCK) \
  static void name(u8 *out, const u8 *in, u32 groups, u32 n0, u16 n1, u64 n2, f32 n3) { \
    for (u32 wg = 0; wg < groups; ++wg) { \
      static S items[BLOCK]; \
      static u64 tile[LDS_BYTES / 8], arrays[BLOCK][8] __attribute__((aligned(16))); \
      u8 *acc = out + BUFFERED, *lds = (u8 *)tile; \
      for (u32 i = 0; i < LDS_BYTES / 8; ++i) tile[i] = 0;
#define END } }
#define ITEM(i) u32 lid = (i), gid = wg * N_ITEMS + lid; u8 *own = out + gid * 256 + 128, *mine = lds + lid * 64, *arr = (u8 *)arrays[lid]; __typeof__(items[0]) *s = &items[lid];
#define N_ITEMS (sizeof(items) / sizeof(items[0]))
#define EACH(...) for (u32 i_ = 0; i_ < N_ITEMS; ++i_) { ITEM(i_) __VA_ARGS__ }
#define BARRIER
#define CROSS(S, BLOCK, condition, to, f, a, b, c, d, from, other) \
  for (u32 first = 0; first < BLOCK; first += LANES) { \
    Wave w = { 0 }; \
    for (u32 i = first; i < BLOCK && i < first + LANES; ++i) { \
      ITEM(i) \
      w.v[i - first] = (from), w.o[i - first] = (other); \
      if (condition) w.active |= 1ul << (i - first); \
    } \
    for (u32 i = first; i < BLOCK && i < first + LANES; ++i) if (ACTIVE(&w, i - first)) { ITEM(i) to = f(a, b, c, d, &w, i - first); } \
  }
#endif
