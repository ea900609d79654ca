//! The OpenCL functions that the kernels use, which `-nogpulib` leaves out.

/// Goes before every source.
const PRELUDE: &str = r#"
#define DIMENSION(f, d) ((d) == 0 ? f##_x() : (d) == 1 ? f##_y() : f##_z())
#define get_local_id(d) DIMENSION(__builtin_amdgcn_workitem_id, d)
#define get_group_id(d) DIMENSION(__builtin_amdgcn_workgroup_id, d)
#define get_local_size(d) DIMENSION(__builtin_amdgcn_workgroup_size, d)
#define get_global_size(d) DIMENSION(__builtin_amdgcn_grid_size, d)
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define FENCE __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")
#define barrier(flags) do { FENCE; __builtin_amdgcn_s_barrier(); FENCE; } while (0)
#define atomic_inc(p) __atomic_fetch_add(p, 1u, __ATOMIC_RELAXED)
"#;

/// OpenCL C that uses it, as a whole program.
pub(crate) fn with_prelude(source: &str) -> String {
    format!("{PRELUDE}{source}")
}
