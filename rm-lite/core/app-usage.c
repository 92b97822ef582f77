/* See app-usage.h. As in Hadoop, a preempted container counts with its whole life. */
#include "rm-lite/core/app-usage.h"

#include "common/str.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/scheduler/resource-types.h"

#define MEMORY "memory-mb"
#define VCORES "vcores"

int rm_app_usage_rows(const struct rm_app *app, struct rm_usage_row ret[static RM_USAGE_ROWS])
{
    const struct rm_types *t = rm_types();
    const struct rm_seconds use = rm_app_use(app), *gone = &app->preempted.seconds;

    ret[0] = (struct rm_usage_row){ MEMORY, use.memory_ms, gone->memory_ms };
    ret[1] = (struct rm_usage_row){ VCORES, use.vcore_ms, gone->vcore_ms };
    for (int i = 0; i < t->n; i++)
        ret[2 + i] = (struct rm_usage_row){ t->names[i], use.extra_ms[i], gone->extra_ms[i] };
    return 2 + t->n;
}

void rm_app_usage_restore(struct rm_app *app, const struct rm_usage_row *row)
{
    struct rm_seconds *gone = &app->preempted.seconds;
    int i = rm_types_index(rm_types(), row->type);

    if (sv_streq(row->type, MEMORY)) {
        gone->memory_ms = row->preempted_ms;
    } else if (sv_streq(row->type, VCORES)) {
        gone->vcore_ms = row->preempted_ms;
    } else if (i >= 0) {
        app->seconds.extra_ms[i] = row->used_ms;
        gone->extra_ms[i] = row->preempted_ms;
    }
}

void rm_app_preempted(struct rm_container *c)
{
    int64_t ms = SV_MAX(c->finish_ms - c->created_ms, (int64_t)0);
    struct rm_preempted *p = &c->app->preempted;

    p->seconds.memory_ms += c->resource.mem * ms;
    p->seconds.vcore_ms += c->resource.vcores * ms;
    for (int i = 0; i < RM_RES_EXTRA; i++)
        p->seconds.extra_ms[i] += c->resource.extra[i] * ms;
    p->resource = rm_res_add(p->resource, c->resource);
    p->containers += !c->is_master;
    p->masters += c->is_master;
    rm_queue_count_preempted(c->app, c->resource, ms);
}
