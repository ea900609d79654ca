; The pair gets 1 where %first is set or %second is not.
target triple = "amdgcn-amd-amdhsa"
define <2 x i32> @changed(i1 %first, i1 %second, <2 x i32> %pair, ptr addrspace(1) %in) {
entry:
  br i1 %first, label %change, label %other

other:
  br i1 %second, label %next, label %read

read:
  %own = load i32, ptr addrspace(1) %in, align 4
  br label %next

next:
  %value = phi i32 [ %own, %read ], [ 1, %other ]
  br i1 %second, label %end, label %change

change:
  %half = phi i32 [ %value, %next ], [ 1, %entry ]
  %new = insertelement <2 x i32> %pair, i32 1, i64 0
  br label %end

end:
  %result = phi <2 x i32> [ %new, %change ], [ %pair, %next ]
  %half.at.end = phi i32 [ %half, %change ], [ 7, %next ]
  %both = insertelement <2 x i32> %result, i32 %half.at.end, i64 1
  ret <2 x i32> %both
}
