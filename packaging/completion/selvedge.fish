# fish completion of selvedge: selvedge itself knows its commands, options and the cluster's names.
complete -c selvedge -a '(selvedge complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
