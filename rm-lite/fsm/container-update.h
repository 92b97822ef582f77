/* Updates of a running container: of its resource and its execution type. Actions of its state
 * machine (rm-container-fsm.c).
 *
 * A decision of the scheduler changes the container here, gives it the next version and tells its
 * ApplicationMaster with the next answer. The NodeManager learns of a decrease from the
 * ResourceManager and of the rest from the ApplicationMaster, who has the new token: an increase
 * that the node does not confirm before the token expires is rolled back. Hostile: what
 * ApplicationMasters ask for; what nodes report counts for their containers alone. */
#ifndef SELVEDGE_RM_LITE_FSM_CONTAINER_UPDATE_H
#define SELVEDGE_RM_LITE_FSM_CONTAINER_UPDATE_H

#include "rm-lite/core/rm-container.h"

/* The scheduler counts `counted` for it from now on. */
void rm_update_changed(struct rm_container *c, struct rm_res counted);
/* Its master has the token of an increase. */
void rm_update_acquired(struct rm_container *c);
/* Its node says that it has this. `version`: of its token there; 0: not told. */
void rm_update_reported(struct rm_container *c, struct rm_res has, int32_t version);
/* Its increase was not confirmed in time. */
void rm_update_expired(struct rm_container *c);

#endif
