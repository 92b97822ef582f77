/* Ended containers, kept for a while so that reports of an ended attempt still have the node and
 * the logs of each. The oldest are dropped first; a restart forgets them. */
#ifndef SELVEDGE_RM_LITE_CORE_ENDED_CONTAINERS_H
#define SELVEDGE_RM_LITE_CORE_ENDED_CONTAINERS_H

#include "rm-lite/core/context.h"

#define RM_ENDED_PER_APP 500
#define RM_ENDED_MAX 5000            /* for all applications */
#define RM_ENDED_DIAGNOSTICS_MAX 512 /* bytes kept of each one's */
#define RM_ENDED_FAILURE_MAX 2048    /* of one that failed: the end, with its last lines */

/* Takes ownership. The container must be in no list of its application or node. */
void rm_ended_keep(struct rm_container *c);
void rm_ended_forget(struct rm_app *app); /* all its own; freed when the event queue is empty */
/* The containers of an ended attempt, in order of their ends; NULL for a running one. */
struct rm_container *rm_ended_first(const struct rm_attempt *att);
struct rm_container *rm_ended_next(const struct rm_container *c);
size_t rm_ended_count(const struct rm_attempt *att);
struct rm_container *rm_ended_find(const struct rm_attempt *att, struct yarn_container_id id);

#endif
