before_upgrade() {
	stop_nodemanager
}

configure() {
	systemd-tmpfiles --create /usr/lib/tmpfiles.d/selvedge.conf
	start_nodemanager
}

# The ResourceManager gives no more work to the node and takes its containers away, which it starts elsewhere. Nothing here stops the
# removal: what still runs is ended afterwards.
drain() {
	drained=
	booted || return 0
	[ "$(systemctl show --property=ActiveState --value selvedge-nodemanager.service)" = active ] || return 0
	if ! command -v selvedge >/dev/null; then
		echo "selvedge-nodemanager: the node is not drained, since selvedge-client is not installed" >&2
		return 0
	fi
	reason=$(selvedge node status --local 2>/dev/null | sed -n 's/^Drained  *//p') # the operator's
	[ -n "$reason" ] || drained=1
	selvedge node drain --reason "${reason:-the package is being removed}" --wait=30s >&2 ||
		echo "selvedge-nodemanager: the node is not empty; its removal goes on and ends what still runs" >&2
}

# A node that is installed again is not drained, but for the operator's own reason. At the last moment: the daemon stops before it gets
# work.
undrain() {
	[ -n "$drained" ] || return 0
	selvedge node undrain >/dev/null ||
		echo "selvedge-nodemanager: when it is installed again, call selvedge node undrain" >&2
}

before_remove() {
	drain
	end_units selvedge-nodemanager.socket selvedge-nodemanager-web.socket selvedge-shuffle.socket
	undrain
	end_units selvedge-nodemanager.service
	end_units selvedge-containers.service # ends every container
}

after_purge() {
	# Caches, state store and logs at the places of the installed configuration; others are the operator's.
	rm -rf --one-file-system /var/lib/selvedge/local /var/lib/selvedge/recovery /var/log/selvedge/containers
	rmdir /var/lib/selvedge /var/log/selvedge 2>/dev/null || true # the ResourceManager's may be there
}
