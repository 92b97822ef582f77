before_upgrade() {
	stop_nodemanager
}

configure() {
	systemd-sysusers /usr/lib/sysusers.d/selvedge.conf
	set_owners
	if booted; then systemctl daemon-reload; fi
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
