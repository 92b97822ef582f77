/* Configuration directory of this machine's NodeManager unit, for commands run by hand, without the
 * unit's environment: `--check-config`, `selvedge doctor`, `selvedge localize`. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_UNIT_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_UNIT_H

#include "common/str.h"

/* HADOOP_CONF_DIR of `file` (NULL: the unit's EnvironmentFile=), which is root's: the last
 * assignment, as systemd reads it, but without backslashes. NULL if there is none, the file cannot
 * be read, or $HADOOP_CONF_DIR is the same. malloc'd. */
char *nm_conf_unit_dir(const char *file) _must_use_;

#endif
