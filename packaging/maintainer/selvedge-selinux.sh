before_upgrade() {
	:
}

configure() { # where SELinux is in use
	if command -v selinuxenabled >/dev/null && selinuxenabled; then
		semodule -i /usr/share/selinux/packages/selvedge.pp /usr/share/selinux/packages/selvedge-ports.cil
		# A package that is not installed has no files. Only trees that no job writes in are walked: in others a job
		# could replace a directory meanwhile. What is made below the local and log directories gets its label when
		# it is made, by the policy or the helper; what is there already: docs/operate/hardening.md.
		restorecon -R /usr/libexec/selvedge /usr/sbin/selvedge-nodemanager /usr/sbin/selvedge-rm \
			/var/lib/selvedge/recovery /var/lib/selvedge/rm 2>/dev/null || true
		restorecon /var/lib/selvedge /var/lib/selvedge/local /var/lib/selvedge/local/nmPrivate \
			/var/lib/selvedge/local/filecache /var/lib/selvedge/local/usercache /var/log/selvedge \
			/var/log/selvedge/containers 2>/dev/null || true
	fi
}

before_remove() {
	if command -v selinuxenabled >/dev/null && selinuxenabled; then
		semodule -r selvedge-ports selvedge
	fi
}

after_purge() {
	:
}
