/* UserContainerExitSpec: the exit codes of tasks that the cluster gives a type. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_USER_EXITS_H
#define SELVEDGE_SERVICE_LAUNCHER_USER_EXITS_H

#include <jansson.h>

json_t *svc_lr_user_exits(void); /* a list, a new reference; NULL: no memory */

#endif
