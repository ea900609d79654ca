
# `cargo amdinst ...`: as `cargo-amdinst ...` is completed; every other command of cargo as it is without this.
_amdinst_of_cargo() {
    if [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} == amdinst ]]; then
        COMP_WORDS=(cargo-amdinst "${COMP_WORDS[@]:2}")
        COMP_CWORD=$((COMP_CWORD - 1))
        _amdinst cargo-amdinst "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        return
    fi
    if ! declare -F _cargo > /dev/null && declare -F _completion_loader > /dev/null; then
        _completion_loader cargo
        complete -F _amdinst_of_cargo -o bashdefault -o default cargo
    fi
    if declare -F _cargo > /dev/null; then
        _cargo "$@"
    fi
}
complete -F _amdinst_of_cargo -o bashdefault -o default cargo
