/* Notes of assign.c for activities.c, while s->activities is set. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_RECORD_ACTIVITIES_H
#define SELVEDGE_RM_LITE_SCHEDULER_RECORD_ACTIVITIES_H

#include "rm-lite/scheduler/activities.h"
#include "rm-lite/scheduler/scheduler-impl.h"

struct rm_activities *rm_activities_free(struct rm_activities *a);

void rm_visit_begins(struct rm_sched *s, const struct rm_sched_node *n);
void rm_visit_ends(struct rm_sched *s, enum rm_activity_state state);
/* `app`: of RM_REFUSED_HEADROOM, or NULL. */
void rm_visit_queue(struct rm_sched *s, const struct rm_queue *q, enum rm_activity_state state,
                    int why, const struct rm_sched_app *app);
void rm_visit_app_begins(struct rm_sched *s, const struct rm_sched_node *n,
                         const struct rm_sched_app *app);
void rm_visit_app_ends(struct rm_sched *s, const struct rm_sched_app *app,
                       enum rm_activity_state state, int why);
/* One ask on the node. `container`: allocated, or NULL. */
void rm_visit_ask(struct rm_sched *s, const struct rm_sched_app *app, const struct rm_ask_group *g,
                  const struct rm_sched_node *n, enum rm_activity_state state, enum rm_refusal why,
                  const struct yarn_container_id *container);

#endif
