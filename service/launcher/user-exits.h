/* UserContainerExitSpec: the exit codes of tasks that the cluster gives a type. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_USER_EXITS_H
#define SELVEDGE_SERVICE_LAUNCHER_USER_EXITS_H

#include <jansson.h>

#include "service/engine/exit-table.h"

/* A list, a new reference; NULL: no memory. `user`: NULL: the defaults. */
json_t *svc_lr_user_exits(const struct svc_fw_exits *user);

#endif
