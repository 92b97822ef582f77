before_upgrade() {
	stop_nodemanager
}

configure() {
	systemd-tmpfiles --create /usr/lib/tmpfiles.d/selvedge.conf
	start_nodemanager
}

before_remove() {
	end_units selvedge-nodemanager.socket selvedge-nodemanager-web.socket selvedge-shuffle.socket
	end_units selvedge-nodemanager.service
	end_units selvedge-gss.socket # its helpers end with the daemon
	end_units selvedge-containers.service # ends every container
}

after_purge() {
	# Caches, state store and logs at the places of the installed configuration; others are the operator's.
	rm -rf --one-file-system /var/lib/selvedge/local /var/lib/selvedge/recovery /var/log/selvedge/containers
	rmdir /var/lib/selvedge /var/log/selvedge 2>/dev/null || true # the ResourceManager's may be there
}
