/* Paths that jobs expect on this node and the sandbox profile does not show them, derived from
 * Hadoop's configuration: class paths, exported variables such as JAVA_HOME, the directory of
 * HDFS's socket. For --check-config and `selvedge doctor`, which run by hand, without the unit's
 * environment. The files are the operator's. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_SANDBOX_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_SANDBOX_H

#include "nodemanager/conf/conf.h"

/* `line`: the line of container-executor.cfg that shows what `text` names, with what the file has
 * already; NULL where no line can, or where none is needed. */
typedef void (*nm_unseen_fn)(const char *text, const char *line, void *userdata);

/* `unit`: the unit's EnvironmentFile=, `cfg`: container-executor.cfg; NULL: the installed ones.
 * Either may be missing. Calls fn for each finding, the line last; -ENOMEM. */
int nm_conf_each_unseen(struct nm_conf *c, const char *unit, const char *cfg, nm_unseen_fn fn,
                        void *userdata) _must_use_;

#endif
