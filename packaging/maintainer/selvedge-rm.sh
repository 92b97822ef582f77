before_upgrade() {
	:
}

configure() {
	systemd-sysusers /usr/lib/sysusers.d/selvedge-rm.conf
	systemd-tmpfiles --create /usr/lib/tmpfiles.d/selvedge-rm.conf
	# The secret that nodes register with; copied to each node by its operator.
	if [ ! -e /etc/selvedge/node-secret ]; then
		mkdir -p /etc/selvedge
		(umask 077 && head -c 32 /dev/urandom | base64 >/etc/selvedge/node-secret)
		chown yarn: /etc/selvedge/node-secret
	fi
	if booted; then
		systemctl daemon-reload
		systemctl try-restart selvedge-rm.service
	fi
}

before_remove() {
	end_units selvedge-rm.service
	end_units selvedge-gss-rm.socket # its helpers end with the daemon
}

after_purge() {
	rm -rf --one-file-system /var/lib/selvedge/rm
	rm -f /etc/selvedge/node-secret
	rmdir /etc/selvedge /var/lib/selvedge 2>/dev/null || true # not empty: a NodeManager's or the operator's files
}
