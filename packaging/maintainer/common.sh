# What the packages do beside copying files. Every package's script is common.sh and NAME.sh of this folder, with one
# function a moment: before_upgrade, configure, after_abort where it is more than configure, before_remove, after_purge;
# packaging/build-deb and build-rpm add the calls. They run as root, under set -e, also where systemd does not run (an
# image that is being made).
#
# An upgrade keeps containers: the NodeManager is stopped before the first file of a new version is there, since daemon and
# helper must be of one version, and started when all of them are. Containers, their monitors and inits go on meanwhile.
restart_flag=/run/selvedge-nodemanager.restart

booted() {
	[ -d /run/systemd/system ]
}

stop_nodemanager() { # to be started again by start_nodemanager
	booted || return 0
	# Its sockets, too: a connection would start it with half of the files.
	for unit in selvedge-nodemanager.socket selvedge-nodemanager-web.socket selvedge-shuffle.socket \
		selvedge-nodemanager.service; do
		case $(systemctl show --property=ActiveState --value "$unit") in
		# failed: an upgrade that was interrupted started it between two packages; the next one completes that.
		active | activating | reloading | failed)
			echo "$unit" >>"$restart_flag"
			systemctl stop "$unit"
			;;
		esac
	done
}

start_nodemanager() {
	booted || return 0
	systemctl daemon-reload
	[ -e "$restart_flag" ] || return 0
	# Does not wait until the ResourceManager has answered.
	xargs -r systemctl start --no-block <"$restart_flag"
	rm -f "$restart_flag"
}

after_abort() { # an upgrade or removal that has failed: the files are the old ones again (dpkg)
	configure
}

end_units() { # UNIT...: stopped and not started again
	booted || return 0
	systemctl --quiet disable --now "$@" || true # one that was never enabled is no error
}
