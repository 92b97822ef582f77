/* See wait-reason.h. The words of SchedulerApplicationAttempt.AMState and of
 * CSAMContainerLaunchDiagnosticsConstants are Hadoop's, which people and scripts look for; ours
 * come between them and the details, so that a client that cuts the details keeps the sentence. */
#include "rm-lite/requests/wait-reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "common/base.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/scheduler/waiting.h"

#define INACTIVATED "Application is added to the scheduler and is not yet activated. "
#define ACTIVATED "Application is Activated, waiting for resources to be assigned for AM. "
#define ASSIGNED                                                                                   \
    "Scheduler has assigned a container for AM, waiting for AM container to be launched"
#define LAUNCHED "AM container is launched, waiting for AM container to Register with RM"

struct text {
    char *dst;
    size_t size, n;
};

static void say(struct text *t, const char *fmt, ...) _printf_(2, 3);
static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->dst + t->n, t->size - t->n, fmt, ap);
    va_end(ap);
    t->n = SV_MIN(t->n + (size_t)SV_MAX(n, 0), t->size - 1);
}

static void say_res(struct text *t, struct rm_res r)
{
    char dst[RM_RES_TEXT_MAX];

    say(t, "%s", rm_res_text(r, dst));
}

/* "… uses <…> of its maximum <…>. " */
static void say_use(struct text *t, const struct rm_wait *w, const char *what)
{
    say_res(t, w->used);
    say(t, " of %s ", what);
    say_res(t, w->limit);
}

/* ---- The sentence ---- */

/* Nodes that are there and take no containers, by state. False: none. */
static bool say_closed_nodes(struct text *t, const struct rm *rm, const char *before)
{
    static const struct {
        int state;
        const char *name;
    } states[] = {
        { RM_NODE_ST_UNHEALTHY, "unhealthy" },
        { RM_NODE_ST_DECOMMISSIONING, "draining" },
        { RM_NODE_ST_DECOMMISSIONED, "decommissioned" },
        { RM_NODE_ST_LOST, "lost" },
        { RM_NODE_ST_SHUTDOWN, "shut down" },
    };
    bool some = false;

    for (size_t i = 0; i < SV_ARRAY_LEN(states); i++) {
        int32_t n = rm_count_nodes(rm, states[i].state);

        if (n > 0)
            say(t, "%s %d %s", some ? "," : before, n, states[i].name);
        some |= n > 0;
    }
    if (some)
        say(t, ". ");
    return some;
}

static void say_masters(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    if (w->why == RM_REFUSED_QUEUE_MASTERS)
        say(t, "Masters in queue %.300s use ", w->queue);
    else
        say(t, "Masters of %.100s in queue %.300s use ", app->user, w->queue);
    say_use(t, w, "at most");
    say(t, ", this one asks for ");
    say_res(t, app->am_resource);
    say(t, ". ");
}

/* The limit of its queue is the cluster: what helps is not a larger maximum. */
static bool may_use_all(const struct rm_app *app, const struct rm_wait *w)
{
    return rm_res_fits(RM_CALC_DOMINANT, rm_sched_cluster(app->rm->sched), w->limit);
}

static void say_queue(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    bool all = may_use_all(app, w);

    if (w->why == RM_REFUSED_HEADROOM) {
        if (all)
            say(t, "The cluster has ");
        else
            say(t, "Queue %.300s has ", w->queue);
        say_res(t, rm_res_max(rm_res_sub(w->limit, w->used), (struct rm_res){ 0 }));
        say(t, all ? " left of " : " left of its maximum ");
        say_res(t, w->limit);
        say(t, ", the request is for ");
        say_res(t, w->asked);
        say(t, ". ");
        return;
    }
    if (all)
        say(t, "The cluster is full: queue %.300s uses ", w->queue);
    else
        say(t, "Queue %.300s uses ", w->queue);
    say_use(t, w, "its maximum");
    say(t, ". ");
}

static void say_ahead(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    char id[YARN_ID_TEXT_MAX];

    yarn_app_id_text(w->ahead, id);
    if (w->why == RM_REFUSED_FIFO && may_use_all(app, w))
        say(t, "%s comes first in its queue and waits until the cluster has more free. ", id);
    else if (w->why == RM_REFUSED_FIFO)
        say(t, "%s comes first in its queue and waits for the maximum of queue %.300s. ", id,
            w->queue);
    else
        say(t, "%s and others are served before it in queue %.300s. ", id, w->queue);
}

static const char *node_text(const struct yarn_node_id *id, char dst[static 300])
{
    yarn_node_id_text(id, dst);
    return dst;
}

static void say_space(struct text *t, const struct rm_wait *w)
{
    char node[300];

    if (w->fits_nowhere) {
        say(t, "No node is large enough for ");
        say_res(t, w->asked);
        say(t, ": the largest, %s, has ", node_text(&w->large_node, node));
        say_res(t, w->largest);
        say(t, ". ");
        return;
    }
    if (!*w->free_node.host) {
        say(t, w->free_nodes > 0
                   ? "Every node with free resources is reserved for another request, "
                   : "Every node is full, ");
    } else {
        say(t, "The largest free resources of a node are ");
        say_res(t, w->largest_free);
        say(t, " (%s), ", node_text(&w->free_node, node));
    }
    say(t, "the request is for ");
    say_res(t, w->asked);
    say(t, ". ");
}

static void say_reserved(struct text *t, const struct rm_wait *w)
{
    char node[300];

    say(t, "%s is reserved for it: ", w->has_node ? node_text(&w->node, node) : "A node");
    say_res(t, w->available);
    say(t, " is free of the requested ");
    say_res(t, w->asked);
    say(t, ". ");
}

static void say_user(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    say(t, "%.100s uses ", app->user);
    say_use(t, w, "at most");
    say(t, " in queue %.300s. ", w->queue);
}

static void say_parallel(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    if (w->queue)
        say(t, "Queue %.300s runs its max-parallel-apps, %d. ", w->queue, (int)w->limit_apps);
    else
        say(t, "User %.100s runs its max-parallel-apps, %d. ", app->user, (int)w->limit_apps);
}

/* Refusals whose sentence has no amounts. */
static const char *const words[RM_REFUSALS] = {
    [RM_REFUSED_NOT] = "It waits for the next heartbeat of a node. ",
    [RM_REFUSED_RESERVATION] = "It has a reservation for each container that it asks for. ",
    [RM_REFUSED_BLACKLIST] = "It has blacklisted the nodes that have enough free. ",
    [RM_REFUSED_UNRESERVE] = "It must give back a reservation first, and none is large enough. ",
    [RM_REFUSED_DELAY] = "It waits for a host or rack that the request names (locality delay). ",
    [RM_REFUSED_STRICT] = "The hosts or racks that the request names have too little free, and its "
                          "relaxLocality is false. ",
    [RM_REFUSED_CONSTRAINT] = "No node that has enough free satisfies its placement constraint. ",
};
/* Hadoop's for masters, before ours. */
static const char *const master_words[RM_REFUSALS] = {
    [RM_REFUSED_EMPTY] = "Skipping AM assignment as cluster resource is empty. ",
    [RM_REFUSED_QUEUE_MASTERS] = "Queue's AM resource limit exceeded. ",
    [RM_REFUSED_USER_MASTERS] = "User's AM resource limit exceeded. ",
    [RM_REFUSED_USER] = "User capacity has reached its maximum limit. ",
    [RM_REFUSED_BLACKLIST] = "Skipped scheduling for this Node as its black listed. ",
    [RM_REFUSED_DELAY] = "Skipping assigning to Node as request locality is not matching. ",
};

/* Refusals of other nodes, which come on top. */
static void say_also(struct text *t, const struct rm_wait *w)
{
    static const struct {
        enum rm_refusal why;
        const char *words;
    } also[] = {
        { RM_REFUSED_BLACKLIST, "it has blacklisted nodes" },
        { RM_REFUSED_TOTAL, "some nodes are too small" },
        { RM_REFUSED_SPACE, "some nodes have too little free" },
        { RM_REFUSED_CONSTRAINT, "some nodes violate its placement constraint" },
    };
    bool some = false;

    for (size_t i = 0; i < SV_ARRAY_LEN(also); i++)
        if (w->also & 1u << also[i].why && !(w->fits_nowhere && also[i].why == RM_REFUSED_SPACE)) {
            say(t, "%s %s", some ? "," : "Also,", also[i].words);
            some = true;
        }
    if (some)
        say(t, ". ");
}

static bool master_waits(const struct rm_attempt *att)
{
    return att->state == RM_ATT_ST_SUBMITTED || att->state == RM_ATT_ST_SCHEDULED;
}

static void say_why(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    if (master_waits(app->current) && master_words[w->why])
        say(t, "%s", master_words[w->why]);
    switch (w->why) {
    case RM_REFUSED_EMPTY:
        if (!say_closed_nodes(t, app->rm, "No node takes containers:"))
            say(t, "No node has registered. ");
        break;
    case RM_REFUSED_PARALLEL:
        say_parallel(t, app, w);
        break;
    case RM_REFUSED_QUEUE_MASTERS:
    case RM_REFUSED_USER_MASTERS:
        say_masters(t, app, w);
        break;
    case RM_REFUSED_TURN:
    case RM_REFUSED_FIFO:
        say_ahead(t, app, w);
        break;
    case RM_REFUSED_USER:
        say_user(t, app, w);
        break;
    case RM_REFUSED_QUEUE:
    case RM_REFUSED_HEADROOM:
        say_queue(t, app, w);
        break;
    case RM_REFUSED_TOTAL:
    case RM_REFUSED_SPACE:
        say_space(t, w);
        (void)say_closed_nodes(t, app->rm, "Nodes that take none:");
        break;
    case RM_REFUSED_RESERVED:
        say_reserved(t, w);
        break;
    default:
        say(t, "%s", words[w->why]);
        break;
    }
    say_also(t, w);
}

static void say_containers(struct text *t, const struct rm_app *app, const struct rm_wait *w)
{
    say(t, "Waiting for %lld container%s", (long long)w->containers, w->containers == 1 ? "" : "s");
    if (w->has_ask) {
        say(t, w->containers == 1 ? " of " : ", the next of ");
        say_res(t, w->asked);
    }
    say(t, ". ");
    say_why(t, app, w);
}

/* ---- Around it ---- */

static bool get_wait(const struct rm_app *app, struct rm_wait *w)
{
    return rm_sched_wait(app->rm->sched, app->id, w) >= 0 && w->containers > 0;
}

static bool is_activated(const struct rm_wait *w)
{
    return w->active && w->why != RM_REFUSED_EMPTY;
}

/* FastDateFormat "EEE MMM dd HH:mm:ss Z yyyy". */
static void say_date(struct text *t, const struct rm_wait *w)
{
    time_t at = (sv_wall_ms() - (w->at_ms ? sv_now_ms() - w->at_ms : 0)) / 1000;
    char date[64] = "";
    struct tm tm;

    if (localtime_r(&at, &tm))
        (void)strftime(date, sizeof(date), "%a %b %d %H:%M:%S %z %Y", &tm);
    say(t, "[%s] ", date);
}

static void say_fact(struct text *t, const char *name, struct rm_res r, const char *end)
{
    say(t, "%s = ", name);
    say_res(t, r);
    say(t, "%s", end);
}

/* As FiCaSchedulerApp.getPendingAppDiagnosticMessage. */
static void say_pending_details(struct text *t, const struct rm_app *app)
{
    struct rm_masters m;

    if (rm_sched_masters(app->rm->sched, app->id, &m) < 0)
        return;
    say(t, " Details : AM Partition = <DEFAULT_PARTITION>; ");
    say_fact(t, "AM Resource Request", m.request, "; ");
    say_fact(t, "Queue Resource Limit for AM", m.queue_limit, "; ");
    say_fact(t, "User AM Resource Limit of the queue", m.user_limit, "; ");
    say_fact(t, "Queue AM Resource Usage", m.queue_used, "; ");
}

/* As FiCaSchedulerApp.getActivedAppDiagnosticMessage. */
static void say_active_details(struct text *t, const struct rm_app *app)
{
    struct rm_queue_info q;

    if (rm_sched_queue(app->rm->sched, app->queue, &q) < 0)
        return;
    say(t, " Details : AM Partition = <DEFAULT_PARTITION> ; ");
    say_fact(t, "Partition Resource", rm_sched_cluster(app->rm->sched), " ; ");
    say(t,
        "Queue's Absolute capacity = %.1f %% ; Queue's Absolute used capacity = %.1f %% ; "
        "Queue's Absolute max capacity = %.1f %% ; ",
        q.abs_capacity * 100, q.abs_used_capacity * 100, q.abs_max_capacity * 100);
    say_fact(t, "Queue's capacity (absolute resource)", q.effective_min, " ; ");
    say_fact(t, "Queue's used capacity (absolute resource)", q.used, " ; ");
    say_fact(t, "Queue's max capacity (absolute resource)", q.effective_max, " ; ");
}

static void say_last_node(struct text *t, const struct rm_wait *w)
{
    char node[300];

    if (!w->has_node)
        return;
    say(t,
        " Last Node which was processed for the application : %s ( Partition : [], "
        "Total resource : ",
        node_text(&w->node, node));
    say_res(t, w->total);
    say(t, ", Available resource : ");
    say_res(t, w->available);
    say(t, " ).");
}

static void say_master(struct text *t, const struct rm_app *app, bool details)
{
    struct rm_wait w;

    if (!get_wait(app, &w))
        return;
    if (details)
        say_date(t, &w);
    say(t, "%s", is_activated(&w) ? ACTIVATED : INACTIVATED);
    say_why(t, app, &w);
    if (!details)
        return;
    if (!is_activated(&w)) {
        say_pending_details(t, app);
        return;
    }
    say_last_node(t, &w);
    say_active_details(t, app);
}

static void say_attempt(struct text *t, const struct rm_attempt *att, bool details)
{
    struct rm_wait w;

    if (master_waits(att))
        say_master(t, att->app, details);
    else if (att->state == RM_ATT_ST_ALLOCATED_SAVING || att->state == RM_ATT_ST_ALLOCATED)
        say(t, "%s", ASSIGNED);
    else if (att->state == RM_ATT_ST_LAUNCHED)
        say(t, "%s", LAUNCHED);
    else if (att->state == RM_ATT_ST_RUNNING && get_wait(att->app, &w))
        say_containers(t, att->app, &w);
}

static struct text begin(char dst[static RM_WAIT_TEXT_MAX])
{
    dst[0] = '\0';
    return (struct text){ .dst = dst, .size = RM_WAIT_TEXT_MAX };
}

const char *rm_wait_reason(const struct rm_app *app, char dst[static RM_WAIT_TEXT_MAX])
{
    struct text t = begin(dst);

    if (app->current && !rm_app_is_final(app))
        say_attempt(&t, app->current, false);
    while (t.n > 0 && dst[t.n - 1] == ' ')
        dst[--t.n] = '\0';
    return dst;
}

const char *rm_attempt_diagnostics(const struct rm_attempt *att, char dst[static RM_WAIT_TEXT_MAX])
{
    struct text t = begin(dst);

    if (att->diagnostics && *att->diagnostics)
        return att->diagnostics;
    if (att == att->app->current)
        say_attempt(&t, att, true);
    return dst;
}

const char *rm_app_diagnostics(const struct rm_app *app, char dst[static RM_WAIT_TEXT_MAX])
{
    dst[0] = '\0';
    if (app->diagnostics && *app->diagnostics)
        return app->diagnostics;
    return app->current && !rm_app_is_final(app) ? rm_attempt_diagnostics(app->current, dst) : dst;
}
