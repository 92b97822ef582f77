/* See app-filter.h. The cheapest questions come first. */
#include "rm-lite/requests/app-filter.h"

#include <stdlib.h>
#include <string.h>

#include "rm-lite/core/rm-app.h"

void rm_app_filter_init(struct rm_app_filter *f)
{
    *f = (struct rm_app_filter){ .states = UINT32_MAX,
                                 .finals = UINT32_MAX,
                                 .start = { INT64_MIN, INT64_MAX },
                                 .finish = { INT64_MIN, INT64_MAX } };
}

void rm_app_filter_free(struct rm_app_filter *f)
{
    for (size_t i = 0; i < RM_FILTER_NAMES; i++)
        rm_name_filter_free(&f->names[i]);
    free(f->name);
    free(f->owner);
    rm_app_filter_init(f);
}

static bool takes_queue(const struct rm_name_filter *f, const char *queue)
{
    const char *last = strrchr(queue, '.');

    return rm_name_filter_takes(f, queue) || (last && rm_name_filter_takes(f, last + 1));
}

static bool takes_tags(const struct rm_name_filter *f, char *const *tags)
{
    bool takes = f->n == 0;

    for (char *const *t = tags; t && *t && !takes; t++)
        takes = rm_name_filter_takes(f, *t);
    return takes;
}

static bool has(uint32_t bits, int value)
{
    return value >= 0 && value < 32 && bits & UINT32_C(1) << value;
}

bool rm_app_filter_takes_facts(const struct rm_app_filter *f, const struct rm_app_facts *facts)
{
    const struct rm_name_filter *n = f->names;

    return has(f->states, facts->state) && has(f->finals, facts->final) &&
           facts->start_ms >= f->start[0] && facts->start_ms <= f->start[1] &&
           facts->finish_ms >= f->finish[0] && facts->finish_ms <= f->finish[1] &&
           (!f->owner || strcmp(f->owner, facts->user) == 0) &&
           (!f->name || strcmp(f->name, facts->name) == 0) &&
           rm_name_filter_takes(&n[RM_FILTER_USERS], facts->user) &&
           rm_name_filter_takes(&n[RM_FILTER_TYPES], facts->type) &&
           takes_queue(&n[RM_FILTER_QUEUES], facts->queue) &&
           takes_queue(&n[RM_FILTER_QUEUES_TOO], facts->queue) &&
           takes_tags(&n[RM_FILTER_TAGS], facts->tags);
}

bool rm_app_filter_takes(const struct rm_app_filter *f, const struct rm_app *app)
{
    const struct rm_app_facts facts = { .state = rm_app_wire_state(app),
                                        .final = rm_app_wire_final(app),
                                        .start_ms = app->start_ms,
                                        .finish_ms = app->finish_ms,
                                        .user = app->user,
                                        .queue = app->queue,
                                        .name = app->name,
                                        .type = app->type,
                                        .tags = app->tags };

    return rm_app_filter_takes_facts(f, &facts);
}
