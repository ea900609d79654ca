; Each lane's own eight bytes the other way round: two swaps of four.
target triple = "amdgcn-amd-amdhsa"

define i64 @swapped(i64 %value) {
  %bytes = call i64 @llvm.bswap.i64(i64 %value)
  ret i64 %bytes
}

declare i64 @llvm.bswap.i64(i64)
