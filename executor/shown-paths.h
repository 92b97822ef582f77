/* Directories of the host that a container of profile strict sees, read-only. container-prepare
 * shows them (setuid-helper/root-template.c), with some files of /etc; `selvedge doctor` derives
 * from them what jobs will miss. */
#ifndef SELVEDGE_EXECUTOR_SHOWN_PATHS_H
#define SELVEDGE_EXECUTOR_SHOWN_PATHS_H

/* clang-format off */
#define EXE_SHOWN_DIRECTORIES                                                                      \
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt",                        \
    "/etc/ssl", "/etc/pki", "/etc/crypto-policies", "/etc/ca-certificates", "/etc/alternatives",   \
    "/etc/java", "/etc/java-8-openjdk", "/etc/java-11-openjdk", "/etc/java-17-openjdk",            \
    "/etc/java-21-openjdk", "/etc/java-25-openjdk", "/etc/fonts", "/etc/krb5.conf.d",              \
    "/sys/devices/system/cpu", "/sys/devices/system/node"
/* clang-format on */

#endif
