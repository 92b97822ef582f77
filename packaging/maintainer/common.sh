# What the packages do beside copying files. Every package's script is common.sh and NAME.sh of this folder, with one
# function a moment: before_upgrade, configure, before_remove, after_purge; packaging/build-deb and build-rpm add the
# calls. They run as root, under set -e, also where systemd does not run (an image that is being made).
#
# An upgrade keeps containers: the NodeManager is stopped before the first file of a new version is there, since daemon and
# helper must be of one version, and started when all of them are. Containers, their monitors and inits go on meanwhile.
restart_flag=/run/selvedge-nodemanager.restart

booted() {
	[ -d /run/systemd/system ]
}

stop_nodemanager() { # to be started again by start_nodemanager
	booted || return 0
	if systemctl --quiet is-active selvedge-nodemanager.service; then
		touch "$restart_flag"
		systemctl stop selvedge-nodemanager.service
	fi
}

start_nodemanager() {
	booted || return 0
	systemctl daemon-reload
	[ -e "$restart_flag" ] || return 0
	# Does not wait until the ResourceManager has answered.
	systemctl start --no-block selvedge-nodemanager.service
	rm -f "$restart_flag"
}

end_units() { # UNIT...: stopped and not started again
	booted || return 0
	systemctl --quiet disable --now "$@" || true # one that was never enabled is no error
}
