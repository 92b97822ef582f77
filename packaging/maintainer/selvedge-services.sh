before_upgrade() {
	:
}

configure() {
	systemd-sysusers /usr/lib/sysusers.d/selvedge-services.conf
	if booted; then
		systemctl daemon-reload
		systemctl try-restart selvedge-services.service
	fi
}

before_remove() {
	end_units selvedge-services.socket selvedge-services.service
}

after_purge() {
	:
}
