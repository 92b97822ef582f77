/* See log-status.h. A node's number in the set is its status, and whether it has ever reported a
 * failure. */
#include "rm-lite/core/log-status.h"

#include <errno.h>

#include "common/clock.h"
#include "rm-lite/core/context.h"

#define S(x) HADOOP__YARN__LOG_AGGREGATION_STATUS_PROTO__LOG_##x
#define STATUS(number) ((int)((number)&0xff))
#define FAILED_ONCE 0x100

static bool is_over(int status)
{
    return status == S(SUCCEEDED) || status == S(FAILED) || status == S(TIME_OUT);
}

void rm_log_ran_on(struct rm_app *app, const char *node)
{
    if (app->rm->conf.log_aggregation && !rm_set_get(app->log_nodes, node))
        rm_set_add(&app->log_nodes, node)->number = S(NOT_START);
}

/* The node's status after a report. A failure remains visible while the upload continues. */
static int64_t next(int64_t before, int report)
{
    int64_t failed = (before & FAILED_ONCE) | (report == S(RUNNING_WITH_FAILURE) ? FAILED_ONCE : 0);
    int now = STATUS(before);

    if (report == S(RUNNING) && now == S(RUNNING_WITH_FAILURE))
        return now | failed;
    if (report == S(RUNNING) && now == S(TIME_OUT))
        return (failed ? S(RUNNING_WITH_FAILURE) : S(RUNNING)) | failed;
    return report | failed;
}

static void take(struct rm *rm, const struct rm_node *n,
                 const Hadoop__Yarn__LogAggregationReportProto *m)
{
    struct yarn_app_id id;
    struct rm_name_set *one;
    struct rm_app *app;

    if (!m->has_log_aggregation_status || m->log_aggregation_status < S(DISABLED) ||
        m->log_aggregation_status > S(RUNNING_WITH_FAILURE) || !m->application_id ||
        yarn_app_id_from(m->application_id, &id) < 0)
        return;
    app = rm_app_find(rm, id);
    if (!app || is_over(app->log_final))
        return;
    one = rm_set_add(&app->log_nodes, n->key);
    one->number = next(one->number, (int)m->log_aggregation_status);
}

void rm_log_reports(struct rm *rm, const struct rm_node *n,
                    Hadoop__Yarn__LogAggregationReportProto *const *list, size_t n_list)
{
    if (!rm->conf.log_aggregation)
        return;
    for (size_t i = 0; i < n_list; i++)
        take(rm, n, list[i]);
}

/* Gives up nodes that have not reported for the timeout after the end. */
static void time_out(struct rm_app *app)
{
    struct rm_name_set *one, *tmp;

    if (!rm_app_is_final(app) ||
        sv_wall_ms() <= app->finish_ms + app->rm->conf.log_status_timeout_ms)
        return;
    HASH_ITER (hh, app->log_nodes, one, tmp)
        if (!is_over(STATUS(one->number)))
            one->number = (one->number & FAILED_ONCE) | S(TIME_OUT);
}

int rm_log_status(struct rm_app *app)
{
    unsigned count[S(RUNNING_WITH_FAILURE) + 1] = { 0 }, over, all = 0;
    struct rm_name_set *one, *tmp;

    if (!app->rm->conf.log_aggregation)
        return S(DISABLED);
    if (app->log_final)
        return app->log_final;
    time_out(app);
    HASH_ITER (hh, app->log_nodes, one, tmp) {
        count[STATUS(one->number)]++;
        all++;
    }
    over = count[S(SUCCEEDED)] + count[S(FAILED)] + count[S(TIME_OUT)];
    if (count[S(NOT_START)] == all) /* also without nodes */
        return S(NOT_START);
    if (over < all)
        return count[S(RUNNING_WITH_FAILURE)] ? S(RUNNING_WITH_FAILURE) : S(RUNNING);
    if (!rm_app_is_final(app))
        return S(RUNNING);
    app->log_final = count[S(FAILED)] ? S(FAILED) : count[S(TIME_OUT)] ? S(TIME_OUT) : S(SUCCEEDED);
    rm_set_clear(&app->log_nodes);
    return app->log_final;
}

const char *rm_log_status_name(int status)
{
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
        &hadoop__yarn__log_aggregation_status_proto__descriptor, status);

    return v ? v->name + sizeof "LOG_" - 1 : "DISABLED";
}
