before_upgrade() {
	stop_nodemanager
}

nodemanager_is() { # PROPERTY VALUE, of its unit
	[ "$(systemctl show --property="$1" --value selvedge-nodemanager.service)" = "$2" ]
}

# The daemon may go on with this helper. It was stopped for an upgrade that did not reach its own package, or it has ended with exit
# status 5, or is about to, since this package's files were there and their owners and modes were not.
resume_nodemanager() {
	booted || return 0
	if [ -e "$restart_flag" ]; then
		# Not between two versions of its own files: its package starts it then, as on rpm, which has no such state.
		if [ "$(dpkg-query -W -f '${db:Status-Status}' selvedge-nodemanager 2>/dev/null)" = installed ]; then
			start_nodemanager
		fi
	elif nodemanager_is ActiveState activating || { nodemanager_is ActiveState failed && nodemanager_is ExecMainStatus 5; }; then
		systemctl restart --no-block selvedge-nodemanager.service
	fi
}

configure() {
	systemd-sysusers /usr/lib/sysusers.d/selvedge.conf
	set_owners
	if booted; then systemctl daemon-reload; fi
	resume_nodemanager
}

after_abort() {
	configure
	start_nodemanager # which this upgrade has stopped
}

before_remove() {
	end_units selvedge-executor.socket
}

after_purge() {
	# What container-prepare has mounted there goes with it.
	if [ -d /run/selvedge ]; then
		awk '$2 ~ "^/run/selvedge(/|$)" { print $2 }' /proc/self/mounts | sort -r | xargs -r umount -l
		rm -rf --one-file-system /run/selvedge
	fi
	rmdir /etc/selvedge 2>/dev/null || true # not empty: the operator's files
}
