//! Single instructions against what the manuals say of them, coded anew for the host.

mod memory;
