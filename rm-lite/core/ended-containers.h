/* Containers that have ended, kept a while so that reports of an ended attempt still say where each
 * ran and where its logs are. The oldest go first; a restart forgets them. */
#ifndef SELVEDGE_RM_LITE_CORE_ENDED_CONTAINERS_H
#define SELVEDGE_RM_LITE_CORE_ENDED_CONTAINERS_H

#include "rm-lite/core/context.h"

#define RM_ENDED_PER_APP 500
#define RM_ENDED_MAX 5000            /* of all applications */
#define RM_ENDED_DIAGNOSTICS_MAX 512 /* bytes kept of each one's */

/* Takes the container, which is in no list of its application or node any more. */
void rm_ended_keep(struct rm_container *c);
void rm_ended_forget(struct rm_app *app); /* all of its own; freed when the event queue is empty */
/* Of an attempt that has ended; else none. In order of their ends. */
struct rm_container *rm_ended_first(const struct rm_attempt *att);
struct rm_container *rm_ended_next(const struct rm_container *c);
size_t rm_ended_count(const struct rm_attempt *att);
struct rm_container *rm_ended_find(const struct rm_attempt *att, struct yarn_container_id id);

#endif
