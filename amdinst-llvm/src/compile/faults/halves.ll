; The first load is of the whole workgroup, the second one of each work-item; both are stored side by side.
target triple = "amdgcn-amd-amdhsa"

@tile = internal addrspace(3) global [64 x i64] poison

define amdgpu_kernel void @side_by_side(ptr addrspace(1) noalias %out, ptr addrspace(1) noalias %in, i1 %flag) {
  %id = call i32 @llvm.amdgcn.workitem.id.x()
  %uniform = load i16, ptr addrspace(1) %in, align 1
  br i1 %flag, label %then, label %end

then:
  br label %end

end:
  %value = phi i64 [ 1, %0 ], [ 0, %then ]
  store i64 %value, ptr addrspace(3) @tile
  %index = zext i32 %id to i64
  %at = getelementptr i8, ptr addrspace(1) %in, i64 %index
  %own = load i16, ptr addrspace(1) %at, align 1
  store i16 %own, ptr addrspace(1) %out, align 2
  %next = getelementptr i8, ptr addrspace(1) %out, i64 2
  store i16 %uniform, ptr addrspace(1) %next, align 2
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
