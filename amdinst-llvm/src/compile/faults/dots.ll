; A product of bytes with bits flipped, plus another product.
target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @flipped(ptr addrspace(1) noalias %out, ptr addrspace(1) noalias %in) {
  %one = load i8, ptr addrspace(1) %in
  %next = getelementptr i8, ptr addrspace(1) %in, i64 1
  %other = load i8, ptr addrspace(1) %next
  %square = mul i8 %one, %one
  %flipped = xor i8 %square, 90
  %product = mul i8 %other, %other
  %sum = add i8 %flipped, %product
  store i8 %sum, ptr addrspace(1) %out
  ret void
}
