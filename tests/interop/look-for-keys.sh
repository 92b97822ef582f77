#!/bin/sh
# Looks in a container for what a node's Kerberos must not leave in a job's reach, as a job would: by file names, by
# MIT's own tools, in the environments and descriptors of all processes that it sees. Prints "found WHAT", a line each.
#   sh look-for-keys.sh REALM PATH...        PATH: keytabs and tickets of the host
realm=$1
shift
echo "user $(id -u)"
grep -q "^default_realm = $realm\$" /etc/krb5.conf && echo "krb5.conf of $realm"
env | grep -E '^(KRB5|GSS|KEYTAB|CREDENTIALS_DIRECTORY)' | sed 's/^/found variable /'
for path; do
	[ -r "$path" ] && echo "found file $path"
done
find /etc /run /tmp /var /home /root /dev/shm -xdev '(' -name '*keytab*' -o -name 'krb5cc*' -o -name '*.ccache' \
	-o -name '*.rcache*' -o -name '*gss*.sock*' ')' ! -type d -readable 2>/dev/null | sed 's/^/found file /'
for tool in 'klist -s' 'klist -k'; do
	command -v klist >/dev/null && $tool >/dev/null 2>&1 && echo "found by $tool"
done
grep -i krb /proc/keys 2>/dev/null | sed 's/^/found key /'
for process in /proc/[0-9]*; do
	case $(cat "$process/comm" 2>/dev/null) in
	*selvedge-gss*) echo "found process $process" ;;
	esac
	tr '\0' '\n' 2>/dev/null <"$process/environ" | grep -E '^(KRB5|GSS)' | sed "s,^,found variable of $process ,"
	for descriptor in "$process"/fd/*; do
		case $(readlink "$descriptor" 2>/dev/null) in
		*keytab* | *krb5cc* | *.ccache* | *.rcache* | *selvedge-gss*) echo "found descriptor $descriptor" ;;
		esac
	done
done
for descriptor in /proc/$$/fd/*; do
	case $(readlink "$descriptor") in
	socket:*) echo "found socket $descriptor" ;;
	esac
done
echo looked everywhere
