/* AMLauncher: starts and stops ApplicationMasters on NodeManagers. */
#ifndef SELVEDGE_RM_LITE_FSM_AM_LAUNCHER_H
#define SELVEDGE_RM_LITE_FSM_AM_LAUNCHER_H

#include "rm-lite/core/context.h"

/* startContainers; posts LAUNCHED or LAUNCH_FAILED to the attempt. */
void rm_launcher_launch(struct rm_attempt *att);
/* stopContainers of the master; errors are only logged (the node's heartbeat also cleans up). */
void rm_launcher_cleanup(struct rm_attempt *att);
void rm_launcher_free(struct rm *rm);

#endif
