; Each kernel stores `&data[second] - &data[first]`. Both indices depend on `value`, and so does the distance.
target triple = "amdgcn-amd-amdhsa"

; first = value < 5 ? 0 : -1, second = value < 5 ? -1 : 0. They differ by one modulo two, not by one.
define amdgpu_kernel void @boolean(ptr addrspace(1) %data) {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %place = getelementptr i32, ptr addrspace(1) %data, i32 %item
  %value = load i32, ptr addrspace(1) %place
  %less = icmp ult i32 %value, 5
  %not.less = xor i1 %less, true
  %first = sext i1 %not.less to i64
  %first.place = getelementptr i32, ptr addrspace(1) %data, i64 %first
  %second = sext i1 %less to i64
  %second.place = getelementptr i32, ptr addrspace(1) %data, i64 %second
  %from = ptrtoint ptr addrspace(1) %first.place to i64
  %to = ptrtoint ptr addrspace(1) %second.place to i64
  %distance = sub i64 %to, %from
  store i64 %distance, ptr addrspace(1) %data
  ret void
}

; first = value, second = value + 100, which may wrap: then they differ by 100 - 2^32.
define amdgpu_kernel void @wrapping(ptr addrspace(1) %data) {
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %place = getelementptr i32, ptr addrspace(1) %data, i32 %item
  %value = load i32, ptr addrspace(1) %place
  %first = sext i32 %value to i64
  %first.place = getelementptr i32, ptr addrspace(1) %data, i64 %first
  %sum = add i32 %value, 100
  %second = sext i32 %sum to i64
  %second.place = getelementptr i32, ptr addrspace(1) %data, i64 %second
  %from = ptrtoint ptr addrspace(1) %first.place to i64
  %to = ptrtoint ptr addrspace(1) %second.place to i64
  %distance = sub i64 %to, %from
  store i64 %distance, ptr addrspace(1) %data
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
