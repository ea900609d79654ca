// refused: no-free-vgpr: the wave does more than end behind it
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64
// Behind the message by which the wave gives its vector registers back, lanes are switched off once more.
kernel test
    begin
    site
    global_store_b32 v1, v3, s[4:5]
    s_nop 0
    s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    s_and_saveexec_{wave} {14}, {vcc}
    s_endpgm
end test
