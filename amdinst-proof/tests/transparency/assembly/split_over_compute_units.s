// cpus: gfx90a gfx942
// descriptor: .amdhsa_tg_split 1
// flags: -mcode-object-version=6 -mtgsplit
// refused: lds-placement: its waves may run on different compute units
// Waves of a workgroup that share no LDS, in a code object of the newest version.
kernel test
    begin
    site
    v_cmp_lt_u32_e32 vcc, 20, v2
    s_and_saveexec_b64 s[14:15], vcc
    v_add_u32_e32 v3, 1, v3
    s_or_b64 exec, exec, s[14:15]
    finish
end test
