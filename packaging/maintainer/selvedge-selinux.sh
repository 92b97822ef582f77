before_upgrade() {
	:
}

configure() { # where SELinux is in use
	if command -v selinuxenabled >/dev/null && selinuxenabled; then
		semodule -i /usr/share/selinux/packages/selvedge.pp /usr/share/selinux/packages/selvedge-ports.cil
		restorecon -R /usr/libexec/selvedge /usr/sbin/selvedge-nodemanager /usr/sbin/selvedge-rm /var/lib/selvedge \
			/var/log/selvedge 2>/dev/null || true # a package that is not installed has no files
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
