; Counts the rounds in which the value of the round before was below five. The first round has none before it, and does not count.
;
; `%before` is a mask of lanes that one round hands to the next. Nothing writes it ahead of the loop.
target triple = "amdgcn-amd-amdhsa"

define void @rounds(ptr addrspace(1) %data, i32 %rounds) {
entry:
  br label %round

round:
  %left = phi i32 [ %rounds, %entry ], [ %less, %round ]
  %place = phi ptr addrspace(1) [ %data, %entry ], [ %after, %round ]
  %count = phi i32 [ 0, %entry ], [ %sum, %round ]
  %before = phi i1 [ poison, %entry ], [ %small, %round ]
  %value = load i32, ptr addrspace(1) %place
  %small = icmp ult i32 %value, 5
  %first = icmp eq i32 %left, %rounds
  %counts = select i1 %first, i1 false, i1 %before
  %one = zext i1 %counts to i32
  %sum = add i32 %count, %one
  %after = getelementptr i32, ptr addrspace(1) %place, i32 1
  %less = sub i32 %left, 1
  %uniform = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %less)
  %more = icmp ne i32 %uniform, 0
  br i1 %more, label %round, label %end

end:
  store i32 %sum, ptr addrspace(1) %data
  ret void
}

declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
