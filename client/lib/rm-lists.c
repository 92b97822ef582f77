/* See client.h. The ResourceManager's lists: nodes, containers of an attempt, queues. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "client/lib/internal.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_service.pb-c.h"

static void nodes_answer(struct cli_call *call, const struct ipc_result *r,
                         const struct sv_error *err)
{
    const Hadoop__Yarn__GetClusterNodesResponseProto *m = (const void *)r->response;
    _cleanup_free_ struct cli_node_report *nodes = NULL;
    struct sv_error own = { 0 };
    size_t n = 0;

    if (r->status < 0) {
        call->fn.nodes(r->status, NULL, 0, err, call->userdata);
        return;
    }
    nodes = calloc(m->n_nodereports + 1, sizeof(*nodes));
    if (!nodes) {
        sv_error_errno(&own, -ENOMEM, "node reports");
        call->fn.nodes(-ENOMEM, NULL, 0, &own, call->userdata);
        return;
    }
    for (size_t i = 0; i < m->n_nodereports; i++) {
        const Hadoop__Yarn__NodeReportProto *p = m->nodereports[i];

        if (yarn_node_id_from(p->nodeid, &nodes[n].id) < 0)
            continue;
        if (yarn_resource_from(p->used, &nodes[n].used) < 0) /* absent for a node that has left */
            nodes[n].used = (struct yarn_resource){ 0 };
        if (yarn_resource_from(p->capability, &nodes[n].capability) < 0)
            nodes[n].capability = (struct yarn_resource){ 0 };
        nodes[n].http_address = cli_text(p->httpaddress);
        nodes[n].rack = cli_text(p->rackname);
        nodes[n].state =
            cli_enum_name(&hadoop__yarn__node_state_proto__descriptor, p->node_state, "NS_");
        nodes[n].health_report = cli_text(p->health_report);
        nodes[n].containers = p->numcontainers;
        n++;
    }
    call->fn.nodes(0, nodes, n, NULL, call->userdata);
}

int cli_rm_nodes(struct cli_rm *rm, bool all_states, cli_nodes_fn fn, void *userdata)
{
    Hadoop__Yarn__GetClusterNodesRequestProto request =
        HADOOP__YARN__GET_CLUSTER_NODES_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStateProto running[] = { HADOOP__YARN__NODE_STATE_PROTO__NS_RUNNING };
    Hadoop__Yarn__NodeStateProto all[HADOOP__YARN__NODE_STATE_PROTO__NS_SHUTDOWN];

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++)
        all[i] = (Hadoop__Yarn__NodeStateProto)(HADOOP__YARN__NODE_STATE_PROTO__NS_NEW + i);
    request.nodestates = all_states ? all : running; /* an empty list selects the active ones */
    request.n_nodestates = all_states ? SV_ARRAY_LEN(all) : 1;
    return cli_call_start(
        rm, "getClusterNodes", &request.base,
        &hadoop__yarn__get_cluster_nodes_response_proto__descriptor,
        (struct cli_call){ .answer = nodes_answer, .fn = { .nodes = fn }, .userdata = userdata });
}

static void containers_answer(struct cli_call *call, const struct ipc_result *r,
                              const struct sv_error *err)
{
    const Hadoop__Yarn__GetContainersResponseProto *m = (const void *)r->response;
    _cleanup_free_ struct cli_container_report *list = NULL;
    struct sv_error own = { 0 };
    size_t n = 0;

    if (r->status < 0) {
        call->fn.containers(r->status, NULL, 0, err, call->userdata);
        return;
    }
    list = calloc(m->n_containers + 1, sizeof(*list));
    if (!list) {
        sv_error_errno(&own, -ENOMEM, "container reports");
        call->fn.containers(-ENOMEM, NULL, 0, &own, call->userdata);
        return;
    }
    for (size_t i = 0; i < m->n_containers; i++) {
        const Hadoop__Yarn__ContainerReportProto *p = m->containers[i];

        if (yarn_container_id_from(p->container_id, &list[n].id) < 0 ||
            yarn_node_id_from(p->node_id, &list[n].node) < 0)
            continue;
        list[n].http_address = cli_text(p->node_http_address);
        list[n].log_url = cli_text(p->log_url);
        list[n].diagnostics = cli_text(p->diagnostics_info);
        list[n].state = cli_enum_name(&hadoop__yarn__container_state_proto__descriptor,
                                      p->container_state, "C_");
        list[n].exit_status = p->container_exit_status;
        list[n].start_ms = p->creation_time;
        list[n].finish_ms = p->finish_time;
        n++;
    }
    call->fn.containers(0, list, n, NULL, call->userdata);
}

int cli_rm_containers(struct cli_rm *rm, struct yarn_attempt_id attempt, cli_containers_fn fn,
                      void *userdata)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetContainersRequestProto request =
        HADOOP__YARN__GET_CONTAINERS_REQUEST_PROTO__INIT;

    if (!a || !(request.application_attempt_id = yarn_attempt_id_to(a, attempt)))
        return -ENOMEM;
    return cli_call_start(rm, "getContainers", &request.base,
                          &hadoop__yarn__get_containers_response_proto__descriptor,
                          (struct cli_call){ .answer = containers_answer,
                                             .fn = { .containers = fn },
                                             .userdata = userdata });
}

/* ---- Names ---- */

const char *cli_app_state_name(enum cli_app_state s)
{
    return cli_enum_name(&hadoop__yarn__yarn_application_state_proto__descriptor, (int)s, "");
}

enum cli_app_state cli_app_state_named(const char *name)
{
    for (int i = CLI_APP_NEW; i <= CLI_APP_KILLED; i++)
        if (strcasecmp(name, cli_app_state_name((enum cli_app_state)i)) == 0)
            return (enum cli_app_state)i;
    return 0;
}

const char *cli_final_name(enum cli_final f)
{
    return cli_enum_name(&hadoop__yarn__final_application_status_proto__descriptor, (int)f, "APP_");
}

/* ---- Queues ---- */

#define QUEUE_DEPTH_MAX 16
#define QUEUES_MAX 100000

struct queue_list {
    struct sv_arena *a;
    struct cli_queue_report *reports;
    size_t n, capacity;
};

static int queue_add(struct queue_list *l, const Hadoop__Yarn__QueueInfoProto *q,
                     const char *parent, int depth)
{
    struct cli_queue_report *at;
    char *path;

    if (depth > QUEUE_DEPTH_MAX || l->n == QUEUES_MAX)
        return -E2BIG;
    if (l->n == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 32;
        void *bigger = reallocarray(l->reports, capacity, sizeof(*l->reports));

        if (!bigger)
            return -ENOMEM;
        l->reports = bigger;
        l->capacity = capacity;
    }
    if (q->queuepath && *q->queuepath) /* since 3.4 */
        path = sv_arena_strdup(l->a, q->queuepath);
    else if (*parent && !strchr(cli_text(q->queuename), '.'))
        path = sv_arena_printf(l->a, "%s.%s", parent, cli_text(q->queuename));
    else
        path = sv_arena_strdup(l->a, cli_text(q->queuename));
    if (!path)
        return -ENOMEM;
    at = &l->reports[l->n++];
    *at = (struct cli_queue_report){
        .path = path,
        .state = q->has_state
                     ? cli_enum_name(&hadoop__yarn__queue_state_proto__descriptor, q->state, "Q_")
                     : "?",
        .capacity = q->capacity,
        .maximum = q->maximumcapacity,
        .used = q->currentcapacity,
        .children = q->n_childqueues,
    };
    if (q->queuestatistics) {
        at->running = q->queuestatistics->numappsrunning;
        at->pending = q->queuestatistics->numappspending;
    }
    for (size_t i = 0; i < q->n_childqueues; i++) {
        int r = queue_add(l, q->childqueues[i], path, depth + 1);

        if (r < 0)
            return r;
    }
    return 0;
}

static void queues_answer(struct cli_call *call, const struct ipc_result *r,
                          const struct sv_error *err)
{
    const Hadoop__Yarn__GetQueueInfoResponseProto *m = (const void *)r->response;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct queue_list l = { .a = a };
    struct sv_error own = { 0 };
    int status = r->status;

    if (status == 0 && m->queueinfo) {
        status = a ? queue_add(&l, m->queueinfo, "", 0) : -ENOMEM;
        if (status < 0) {
            sv_error_errno(&own, status, "queue reports");
            err = &own;
        }
    }
    call->fn.queues(status, l.reports, status == 0 ? l.n : 0, err, call->userdata);
    free(l.reports);
}

int cli_rm_queues(struct cli_rm *rm, const char *name, bool recursive, cli_queues_fn fn,
                  void *userdata)
{
    Hadoop__Yarn__GetQueueInfoRequestProto request =
        HADOOP__YARN__GET_QUEUE_INFO_REQUEST_PROTO__INIT;

    request.queuename = (char *)(uintptr_t)name;
    request.has_includechildqueues = request.has_recursive = true;
    request.includechildqueues = request.recursive = recursive;
    request.has_includeapplications = true;
    request.includeapplications = false;
    return cli_call_start(
        rm, "getQueueInfo", &request.base, &hadoop__yarn__get_queue_info_response_proto__descriptor,
        (struct cli_call){ .answer = queues_answer, .fn = { .queues = fn }, .userdata = userdata });
}
