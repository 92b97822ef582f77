/* Environment of this machine's NodeManager unit, for commands run by hand, without it:
 * `--check-config`, `selvedge doctor`, `selvedge localize`. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_UNIT_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_UNIT_H

#include "common/str.h"

/* A variable of `file` (NULL: the unit's EnvironmentFile=), which is root's: the last assignment,
 * as systemd reads it, but without backslashes. NULL if there is none, or the file cannot be read.
 * malloc'd. */
char *nm_conf_unit_value(const char *file, const char *name) _must_use_;
/* HADOOP_CONF_DIR of it, where it is absolute; NULL where the environment has one, too. */
char *nm_conf_unit_dir(const char *file) _must_use_;

#endif
