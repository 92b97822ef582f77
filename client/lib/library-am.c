/* See library.h: the ApplicationMaster, on top of client.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/library-internal.h"
#include "common/str.h"
#include "wire/ipc/proxy.h"

/* Calls a callback of the program if it is set; a closed handle has none. */
#define TELL(a, name, ...)                                                                         \
    do {                                                                                           \
        if ((a)->ops.name && !(a)->o.dying) {                                                      \
            (a)->o.depth++;                                                                        \
            (a)->ops.name((selvedge_am){ (a)->o.id }, __VA_ARGS__);                                \
            (a)->o.depth--;                                                                        \
        }                                                                                          \
    } while (0)

/* ---- Events ---- */

static void on_registered(struct cli_am *am, const struct cli_registration *r, void *userdata)
{
    struct lib_am *a = userdata;

    (void)am;
    TELL(a, registered, r->maximum.memory_mb, r->maximum.vcores, a->userdata);
}

/* A container with memory for its texts. */
struct told {
    char id[YARN_ID_TEXT_MAX], node[264];
    struct selvedge_resource resources[LIB_RESOURCES_MAX];
    struct selvedge_container c;
};

static const struct selvedge_container *container_of(const struct cli_allocation *c,
                                                     struct told *told)
{
    told->c = (struct selvedge_container){
        .id = yarn_container_id_text(c->id, told->id),
        .node = yarn_node_id_text(&c->node, told->node),
        .http_address = c->http_address ? c->http_address : "",
        .memory_mb = c->resource.memory_mb,
        .vcores = c->resource.vcores,
        .priority = c->priority,
        .request_id = c->request_id,
        .tags = c->tags,
        .n_tags = c->n_tags,
        .resources = told->resources,
        .n_resources = cli_lib_resources_of(&c->resource, told->resources),
    };
    return &told->c;
}

static void on_allocated(struct cli_am *am, const struct cli_allocation *c, void *userdata)
{
    struct lib_am *a = userdata;
    struct told told;

    (void)am;
    TELL(a, allocated, container_of(c, &told), a->userdata);
}

static void on_recovered(struct cli_am *am, const struct cli_allocation *c, void *userdata)
{
    struct lib_am *a = userdata;
    struct told told;

    (void)am;
    TELL(a, recovered, container_of(c, &told), a->userdata);
}

static void on_rejected(struct cli_am *am, const struct cli_rejection *r, void *userdata)
{
    struct lib_am *a = userdata;

    (void)am;
    TELL(a, rejected, r->request_id, r->count,
         r->reason == CLI_COULD_NOT_PLACE ? "no node meets the constraint"
                                          : "the node that meets the constraint has no room",
         a->userdata);
}

static void on_updated(struct cli_am *am, const struct cli_allocation *c, enum cli_update type,
                       int status, const struct sv_error *err, void *userdata)
{
    struct lib_am *a = userdata;
    struct told told;

    (void)am, (void)type;
    TELL(a, updated, container_of(c, &told), status, status < 0 && err ? err->text : "",
         a->userdata);
}

static void on_node(struct cli_am *am, const struct cli_node_update *n, void *userdata)
{
    struct lib_am *a = userdata;
    char text[264];
    const struct selvedge_node told = {
        .node = yarn_node_id_text(&n->id, text),
        .rack = n->rack,
        .state = n->state,
        .usable = n->change == CLI_NODE_USABLE,
    };

    (void)am;
    TELL(a, node, &told, a->userdata);
}

static void on_resynced(struct cli_am *am, void *userdata)
{
    struct lib_am *a = userdata;

    (void)am;
    TELL(a, resynced, a->userdata);
}

static void on_preempted(struct cli_am *am, struct yarn_container_id id, bool strict,
                         void *userdata)
{
    struct lib_am *a = userdata;
    char text[YARN_ID_TEXT_MAX];

    (void)am;
    yarn_container_id_text(id, text);
    TELL(a, preempted, text, strict, a->userdata);
}

static void on_started(struct cli_am *am, struct yarn_container_id id, int status,
                       const struct sv_error *err, void *userdata)
{
    struct lib_am *a = userdata;
    char text[YARN_ID_TEXT_MAX];

    (void)am;
    yarn_container_id_text(id, text);
    TELL(a, started, text, status, status < 0 && err ? err->text : "", a->userdata);
}

static void on_completed(struct cli_am *am, struct yarn_container_id id, int32_t exit_status,
                         const char *diagnostics, void *userdata)
{
    struct lib_am *a = userdata;
    char text[YARN_ID_TEXT_MAX];

    (void)am;
    yarn_container_id_text(id, text);
    TELL(a, completed, text, exit_status, diagnostics ? diagnostics : "", a->userdata);
}

static void on_finished(struct cli_am *am, void *userdata)
{
    struct lib_am *a = userdata;

    (void)am;
    TELL(a, finished, a->userdata);
}

static void on_lost(struct cli_am *am, const struct sv_error *err, void *userdata)
{
    struct lib_am *a = userdata;

    (void)am;
    TELL(a, lost, err ? err->text : "", a->userdata);
}

static const struct cli_am_ops events = { .registered = on_registered,
                                          .recovered = on_recovered,
                                          .allocated = on_allocated,
                                          .rejected = on_rejected,
                                          .started = on_started,
                                          .updated = on_updated,
                                          .completed = on_completed,
                                          .node = on_node,
                                          .resynced = on_resynced,
                                          .preempted = on_preempted,
                                          .finished = on_finished,
                                          .lost = on_lost };

/* ---- Open and close ---- */

static void am_destroy(struct lib_object *o)
{
    struct lib_am *a = (struct lib_am *)o;

    a->ops = (struct selvedge_am_ops){ 0 };
    cli_am_free(a->am);
    free(a);
}

/* Parses "host:port,host:port" into `ret`; the hosts are in the arena. */
static int parse_schedulers(struct sv_arena *a, const char *text, struct cli_server *ret,
                            size_t *ret_n, struct sv_error *err)
{
    _cleanup_strv_ char **parts = NULL;
    size_t n = 0;

    if (sv_strv_split(text, ',', &parts) < 0)
        return sv_error_errno(err, -ENOMEM, "schedulers");
    for (char **p = parts; p && *p; p++, n++) {
        char *colon = strrchr(*p, ':');
        uint64_t port;

        if (n == CLI_SERVERS_MAX || !colon || colon == *p ||
            sv_parse_u64(colon + 1, 1, UINT16_MAX, &port) < 0)
            return sv_error_set(err, -EINVAL,
                                "schedulers \"%s\": expected \"host:port\", at most %d of them by "
                                "commas",
                                text, CLI_SERVERS_MAX);
        ret[n].host = sv_arena_printf(a, "%.*s", (int)(colon - *p), *p);
        ret[n].port = (uint16_t)port;
        if (!ret[n].host)
            return sv_error_errno(err, -ENOMEM, "schedulers");
    }
    *ret_n = n;
    return n ? 0 : sv_error_set(err, -EINVAL, "schedulers: none is named");
}

/* Reads the schedulers from the configuration. */
static int configured_schedulers(struct sv_arena *a, struct cli_server *ret, size_t *ret_n,
                                 struct sv_error *err)
{
    struct ipc_proxy_config cfg;
    struct sv_conf *conf = NULL;
    int r = cli_lib_conf(NULL, &conf, err);

    *ret_n = 0;
    if (r >= 0)
        r = yarn_rm_proxy_config(conf, YARN_RM_SCHEDULER, &cfg, err);
    for (; r >= 0 && *ret_n < cfg.n_servers && *ret_n < CLI_SERVERS_MAX; (*ret_n)++) {
        ret[*ret_n].host = sv_arena_strdup(a, cfg.servers[*ret_n].host);
        ret[*ret_n].port = cfg.servers[*ret_n].port;
        if (!ret[*ret_n].host)
            r = sv_error_errno(err, -ENOMEM, "schedulers");
    }
    sv_conf_free(conf);
    return r;
}

static int open_am(struct lib_am *a, struct lib_loop *l, const char *schedulers,
                   struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *arena = sv_arena_new(0);
    struct cli_server servers[CLI_SERVERS_MAX];
    struct cli_am_ops ops = events;
    struct cli_am_config cfg = { .schedulers = servers, .ops = &ops, .userdata = a };
    int r;

    if (!arena)
        return sv_error_errno(err, -ENOMEM, "ApplicationMaster");
    if (!a->ops.recovered)
        ops.recovered = NULL;
    if (!schedulers)
        schedulers = getenv("SELVEDGE_SCHEDULERS");
    r = schedulers ? parse_schedulers(arena, schedulers, servers, &cfg.n_schedulers, err)
                   : configured_schedulers(arena, servers, &cfg.n_schedulers, err);
    return r < 0 ? r : cli_am_new(cli_lib_event(l), &cfg, &a->am, err);
}

int selvedge_am_open(selvedge_loop loop, const char *schedulers, const struct selvedge_am_ops *ops,
                     void *userdata, selvedge_am *ret, struct selvedge_error *err)
{
    struct lib_loop *l = cli_lib_loop_of(loop);
    struct sv_error own = { 0 };
    struct lib_am *a;
    int r;

    if (!l)
        return -EBADF;
    if (!ret || !ops || ops->struct_size < sizeof(ops->struct_size) ||
        ops->struct_size > sizeof(*ops))
        return -EINVAL;
    a = calloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    memcpy(&a->ops, ops, ops->struct_size);
    a->userdata = userdata;
    r = open_am(a, l, schedulers, &own);
    if (r < 0) {
        free(a);
        (void)cli_lib_error(err, &own);
        return r;
    }
    ret->id = cli_lib_add(&a->o, LIB_AM, l, am_destroy);
    return 0;
}

int selvedge_am_close(selvedge_am handle)
{
    struct lib_object *o = cli_lib_find(handle.id, LIB_AM);

    return o ? cli_lib_close(o) : -EBADF;
}

/* ---- Requests ---- */

int selvedge_am_register(selvedge_am handle, const char *host, int32_t port,
                         const char *tracking_url)
{
    struct lib_am *a = cli_lib_am(handle);

    return a ? cli_am_register(a->am, host ? host : "", port, tracking_url ? tracking_url : "")
             : -EBADF;
}

int selvedge_am_want(selvedge_am handle, int32_t priority, int64_t memory_mb, int32_t vcores,
                     int32_t count)
{
    struct lib_am *a = cli_lib_am(handle);

    if (!a)
        return -EBADF;
    if (memory_mb <= 0 || vcores <= 0 || count < 0)
        return -EINVAL;
    return cli_am_want(a->am, priority,
                       (struct yarn_resource){ .memory_mb = memory_mb, .vcores = vcores }, count);
}

int selvedge_am_start(selvedge_am handle, const char *container,
                      const struct selvedge_launch *launch)
{
    _cleanup_arena_ struct sv_arena *arena = sv_arena_new(0);
    struct lib_am *a = cli_lib_am(handle);
    struct yarn_container_id id;
    struct cli_launch copy;
    int r;

    if (!a)
        return -EBADF;
    if (!arena)
        return -ENOMEM;
    if (!container || yarn_container_id_parse(container, &id) < 0)
        return -EINVAL;
    r = cli_lib_launch(arena, launch, NULL, &copy);
    return r < 0 ? r : cli_am_start(a->am, id, &copy);
}

int selvedge_am_stop(selvedge_am handle, const char *container)
{
    struct lib_am *a = cli_lib_am(handle);
    struct yarn_container_id id;

    if (!a)
        return -EBADF;
    if (!container || yarn_container_id_parse(container, &id) < 0)
        return -EINVAL;
    return cli_am_stop(a->am, id);
}

int selvedge_am_release(selvedge_am handle, const char *container)
{
    struct lib_am *a = cli_lib_am(handle);
    struct yarn_container_id id;

    if (!a)
        return -EBADF;
    if (!container || yarn_container_id_parse(container, &id) < 0)
        return -EINVAL;
    return cli_am_release(a->am, id);
}

int selvedge_am_progress(selvedge_am handle, double progress)
{
    struct lib_am *a = cli_lib_am(handle);

    if (!a)
        return -EBADF;
    if (!(progress >= 0 && progress <= 1))
        return -EINVAL;
    cli_am_progress(a->am, (float)progress);
    return 0;
}

int selvedge_am_finish(selvedge_am handle, int success, const char *diagnostics)
{
    struct lib_am *a = cli_lib_am(handle);

    return a ? cli_am_finish(a->am, success ? CLI_FINAL_SUCCEEDED : CLI_FINAL_FAILED,
                             diagnostics ? diagnostics : "")
             : -EBADF;
}
