before_upgrade() {
	:
}

configure() {
	systemd-sysusers /usr/lib/sysusers.d/selvedge-router.conf
	systemd-tmpfiles --create /usr/lib/tmpfiles.d/selvedge-router.conf
	if booted; then
		systemctl daemon-reload
		systemctl try-restart selvedge-router.service
	fi
}

before_remove() {
	end_units selvedge-router.service
}

after_purge() {
	rmdir /var/lib/selvedge 2>/dev/null || true # not empty: another daemon's
}
