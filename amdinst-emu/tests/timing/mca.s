// Kernels of `tests/timing/mca.rs`.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
.text
.globl listing
.p2align 8
.type listing,@function
listing:
@CODE@
s_endpgm
.rodata
.p2align 6
.amdhsa_kernel listing
  .amdhsa_group_segment_fixed_size 4096
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_queue_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 48
  .amdhsa_accum_offset 32
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: listing
    .symbol: listing.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 54
    .vgpr_count: 64
    .agpr_count: 32
    .max_flat_workgroup_size: 64
    .args:
      - {.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}
.end_amdgpu_metadata
