/* Containers as objects; see rm-container.h. */
#include "rm-lite/core/rm-container.h"

#include "common/oom.h"
#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/text.h"
#include "wire/container-use.h"
#include "wire/exit-status.h"

struct rm_container *rm_container_new(struct rm_attempt *att, struct rm_node *node,
                                      struct yarn_container_id id, struct rm_res resource,
                                      int32_t priority, int64_t allocation_id)
{
    struct rm_container *c = calloc(1, sizeof(*c));

    if (!c)
        sv_out_of_memory();
    c->rm = att->rm;
    c->app = att->app;
    c->attempt = att;
    c->node = node;
    c->id = id;
    c->key.ts = id.attempt.app.cluster_ts;
    c->key.app_attempt = (int64_t)((uint64_t)id.attempt.app.id << 32) | id.attempt.attempt;
    c->key.id = id.id;
    yarn_container_id_text(id, c->id_str);
    c->state = RM_CON_ST_NEW;
    c->resource = c->confirmed = resource;
    c->priority = priority;
    c->allocation_id = allocation_id;
    c->exit_status = YARN_EXIT_INVALID;
    c->created_ms = sv_wall_ms();
    c->node_id = node->id;
    c->node_http = rm_strdup(node->http);
    HASH_ADD(hh, c->rm->containers, key, sizeof(c->key), c);
    DL_APPEND2(node->containers, c, n_prev, n_next);
    rm_app_settle(c->app);
    c->app->live = rm_res_add(c->app->live, resource);
    c->app->n_live++;
    DL_APPEND2(c->app->containers, c, p_prev, p_next);
    c->app->total_containers++;
    c->rm->counters.allocated++;
    rm_queue_count(c->app, RM_COUNT_ALLOCATED);
    return c;
}

void rm_container_note_alive(struct rm_container *c, bool running)
{
    if (c->running_ms)
        return;
    if (!c->started_ms)
        c->started_ms = sv_wall_ms();
    if (!running)
        return;
    c->running_ms = sv_wall_ms();
    c->app->changes++;
    if (c->acquired_ms)
        sv_histogram_add(&c->rm->counters.starts, c->running_ms - c->created_ms);
}

void rm_container_note_use(struct rm_container *c, const char *text)
{
    struct yarn_use use;

    if (yarn_use_parse(text, &use) < 0)
        return;
    c->use.told = true;
    c->use.bytes = use.bytes;
    c->use.peak_bytes = use.peak_bytes;
    c->use.cores = (float)use.millicores / 1000;
}

void rm_container_set_tags(struct rm_container *c, const char *const *tags, size_t n)
{
    if (n == 0)
        return;
    c->tags = calloc(n + 1, sizeof(char *));
    if (!c->tags)
        sv_out_of_memory();
    for (size_t i = 0; i < n; i++)
        c->tags[i] = rm_strdup(tags[i]);
}

void rm_container_free(struct rm_container *c)
{
    sv_strv_free(c->tags);
    free(c->diagnostics);
    free(c->node_http);
    free(c);
}

void rm_container_expiry_stop(struct rm_container *c)
{
    if (!c->expires_ms)
        return;
    c->expires_ms = 0;
    DL_DELETE2(c->rm->expiring, c, x_prev, x_next);
}

void rm_container_expiry_start(struct rm_container *c)
{
    rm_container_expiry_stop(c);
    c->expires_ms = sv_now_ms() + c->rm->conf.allocation_expiry_ms;
    DL_APPEND2(c->rm->expiring, c, x_prev, x_next); /* one interval for all: the order holds */
}

void rm_container_announce_preemption(struct rm_container *c)
{
    c->app->n_announced += !c->announced;
    c->announced = true;
}

int rm_container_wire_state(const struct rm_container *c)
{
    switch (c->state) {
    case RM_CON_ST_RUNNING:
        return HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    case RM_CON_ST_NEW:
    case RM_CON_ST_RESERVED:
    case RM_CON_ST_ALLOCATED:
    case RM_CON_ST_ACQUIRED:
        return HADOOP__YARN__CONTAINER_STATE_PROTO__C_NEW;
    default:
        return HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE;
    }
}

int rm_container_wire_type(bool opportunistic)
{
    return opportunistic ? HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC
                         : HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED;
}

static void post(struct rm_container *c, enum rm_container_event event, const char *text,
                 const void *payload, size_t size)
{
    sv_dispatcher_post(c->rm->dispatcher, &(struct sv_event){ .machine = RM_M_CONTAINER,
                                                              .type = event,
                                                              .object = c,
                                                              .text = text,
                                                              .payload = payload,
                                                              .payload_size = size });
}

void rm_container_post(struct rm_container *c, enum rm_container_event event)
{
    post(c, event, NULL, NULL, 0);
}

void rm_container_post_size(struct rm_container *c, enum rm_container_event event,
                            struct rm_res resource, int32_t version)
{
    struct rm_container_size p = { .resource = resource, .version = version };

    post(c, event, NULL, &p, sizeof(p));
}

void rm_container_post_exit(struct rm_container *c, enum rm_container_event event,
                            int32_t exit_status, const char *diagnostics)
{
    struct rm_container_exit p = { .exit_status = exit_status };

    post(c, event, diagnostics, &p, sizeof(p));
}

void rm_container_post_recover(struct rm_container *c, int wire_state, int32_t exit_status,
                               const char *diagnostics)
{
    struct rm_container_exit p = { .exit_status = exit_status, .wire_state = wire_state };

    post(c, RM_CON_EV_RECOVER, diagnostics, &p, sizeof(p));
}
