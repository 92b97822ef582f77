# bash completion of selvedge: selvedge itself knows its commands, options and the cluster's names.
_selvedge() {
    mapfile -t COMPREPLY < <(selvedge complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _selvedge selvedge
