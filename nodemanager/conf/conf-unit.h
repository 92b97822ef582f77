/* Where the NodeManager of this machine's unit has its configuration, for commands by hand, which
 * do not have that environment: `--check-config`, `selvedge doctor`, `selvedge localize`. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_UNIT_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_UNIT_H

#include "common/str.h"

/* HADOOP_CONF_DIR of `file` (NULL: the unit's EnvironmentFile=), which is root's: the last line
 * that sets it, as systemd reads it, but without backslashes. NULL where none does, the file cannot
 * be read, or $HADOOP_CONF_DIR says it already. malloc'd. */
char *nm_conf_unit_dir(const char *file) _must_use_;

#endif
