/* AMLauncher. See am-launcher.h. One connection a launch, with the identity of the attempt.
 * NodeManagers may be slow, gone or wrong: wire/ipc/proxy.h retries by Hadoop's rules, and every
 * call has a deadline. */
#include "rm-lite/fsm/am-launcher.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/security/tokens.h"
#include "wire/ipc/proxy.h"

struct launch {
    struct rm *rm;
    struct yarn_attempt_id attempt;
    char id_str[YARN_ID_TEXT_MAX];
    bool cleanup;
    struct ipc_proxy *node;
    sd_event_source
        *timer; /* the start, or the end (a proxy is not freed inside its own callback) */
    bool over;
    struct launch *prev, *next;
};

struct rm_launcher {
    struct launch *list;
};

static void launch_free(struct launch *l)
{
    DL_DELETE(l->rm->launcher->list, l);
    sd_event_source_disable_unref(l->timer);
    ipc_proxy_free(l->node);
    free(l);
}

static void send_now(struct launch *l);

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct launch *l = userdata;

    (void)source;
    (void)usec;
    if (l->over)
        launch_free(l);
    else
        send_now(l);
    return 0;
}

static void next_turn(struct launch *l)
{
    l->timer = sd_event_source_disable_unref(l->timer);
    if (sd_event_add_time_relative(l->rm->event, &l->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, l) <
        0)
        sv_out_of_memory();
}

static void finish(struct launch *l)
{
    l->over = true;
    next_turn(l);
}

/* True if the attempt still has a master to launch or to clean up. */
static bool is_due(const struct launch *l, const struct rm_attempt *att)
{
    return att && (l->cleanup || (att->state == RM_ATT_ST_ALLOCATED && att->master));
}

/* The proxy is about to retry: cancel if the attempt has ended meanwhile. */
static void on_retry(const char *method, const struct sv_error *err, int64_t wait_ms,
                     const struct ipc_proxy_server *failed, const struct ipc_proxy_server *next,
                     void *userdata)
{
    struct launch *l = userdata;

    (void)method;
    (void)failed;
    (void)next;
    sv_log(SV_LOG_DEBUG, l->id_str, "master %s: %s; retrying in %lld ms", l->id_str, err->text,
           (long long)wait_ms);
    if (!is_due(l, rm_attempt_find(l->rm, l->attempt)))
        finish(l);
}

static void failed(struct launch *l, struct rm_attempt *att, const char *why)
{
    _cleanup_free_ char *text = NULL;

    if (l->cleanup) {
        sv_log(SV_LOG_INFO, l->id_str,
               "Error cleaning master %s: %s, ignoring: the node's next "
               "heartbeat cleans it up",
               l->id_str, why);
    } else if (att) {
        if (sv_asprintf(&text, "Error launching %s. Got exception: %s", l->id_str, why) < 0)
            sv_out_of_memory();
        rm_attempt_post(att, RM_ATT_EV_LAUNCH_FAILED, text);
    }
    finish(l);
}

static const char *refusal(const Hadoop__Yarn__StartContainersResponseProto *m)
{
    const Hadoop__Yarn__SerializedExceptionProto *e;

    if (m->n_failed_requests == 0)
        return NULL;
    e = m->failed_requests[0]->exception;
    return e && e->message ? e->message : "the NodeManager refused the container";
}

static void launched(struct launch *l, struct rm_attempt *att)
{
    if (att) {
        sv_log(SV_LOG_INFO, l->id_str, "Done launching container for AM %s", l->id_str);
        if (att->app->launch_ms == 0)
            att->app->launch_ms = sv_wall_ms();
        rm_attempt_post(att, RM_ATT_EV_LAUNCHED, NULL);
    }
    finish(l);
}

static void handle_result(struct launch *l, const struct ipc_result *res,
                          const struct sv_error *err)
{
    SV_DISPATCH_BATCH(l->rm->dispatcher);
    struct rm_attempt *att = rm_attempt_find(l->rm, l->attempt);
    const char *why;

    if (res->status < 0) {
        _cleanup_free_ char *text = NULL;

        if (sv_asprintf(&text, "%s%s%s", res->java_class ? res->java_class : "",
                        res->java_class ? ": " : "", err->text) < 0)
            sv_out_of_memory();
        failed(l, att, text);
    } else if (l->cleanup) {
        finish(l);
    } else if ((why = refusal((const Hadoop__Yarn__StartContainersResponseProto *)res->response))) {
        failed(l, att, why);
    } else {
        launched(l, att);
    }
}

static void on_done(const struct ipc_result *res, const struct sv_error *err, void *userdata)
{
    if (res->status != -ECANCELED) /* else the proxy is being freed */
        handle_result(userdata, res, err);
}

/* ---------------------------------------------------------------- the request */

static bool add_env(struct sv_arena *a, Hadoop__Yarn__ContainerLaunchContextProto *clc,
                    const char *key, char *value)
{
    Hadoop__Yarn__StringStringMapProto **v =
        sv_newn(a, Hadoop__Yarn__StringStringMapProto *, clc->n_environment + 1);
    Hadoop__Yarn__StringStringMapProto *m = sv_new(a, Hadoop__Yarn__StringStringMapProto);

    if (!v || !m || !value)
        return false;
    hadoop__yarn__string_string_map_proto__init(m);
    m->key = (char *)(uintptr_t)key;
    m->value = value;
    if (clc->n_environment)
        memcpy(v, clc->environment, clc->n_environment * sizeof(*v));
    v[clc->n_environment] = m;
    clc->environment = v;
    clc->n_environment++;
    return true;
}

static int add_token(struct sv_arena *a, struct rm_attempt *att,
                     Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_error *err)
{
    struct yarn_credentials cred = { 0 };
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct yarn_token t;
    int r = 0;

    if (clc->has_tokens && clc->tokens.len)
        r = yarn_credentials_parse(clc->tokens.data, clc->tokens.len, a, &cred, err);
    if (r >= 0)
        r = rm_token_amrm(a, att, &t);
    /* As Hadoop, the alias is the (empty) service. */
    if (r >= 0)
        r = yarn_credentials_add(a, &cred, "", &t);
    if (r >= 0)
        r = yarn_credentials_write(&cred, &out);
    if (r < 0)
        return r;
    clc->has_tokens = true;
    clc->tokens.len = out.len;
    clc->tokens.data = sv_arena_memdup(a, out.data, out.len);
    return clc->tokens.data ? 0 : -ENOMEM;
}

static int build_start(struct sv_arena *a, struct rm_attempt *att,
                       Hadoop__Yarn__StartContainersRequestProto *req, struct sv_error *err)
{
    struct rm_app *app = att->app;
    Hadoop__Yarn__ApplicationSubmissionContextProto *ctx =
        hadoop__yarn__application_submission_context_proto__unpack(
            sv_arena_protobuf(a), app->submission_len, app->submission);
    Hadoop__Yarn__StartContainerRequestProto *one =
        sv_new(a, Hadoop__Yarn__StartContainerRequestProto);
    Hadoop__Yarn__ContainerLaunchContextProto *clc;
    int r;

    if (!ctx || !one)
        return -ENOMEM;
    clc = ctx->am_container_spec;
    if (!clc) {
        clc = sv_new(a, Hadoop__Yarn__ContainerLaunchContextProto);
        if (!clc)
            return -ENOMEM;
        hadoop__yarn__container_launch_context_proto__init(clc);
    }
    if (!add_env(a, clc, "APPLICATION_WEB_PROXY_BASE",
                 sv_arena_printf(a, "/proxy/%s", app->id_str)) ||
        !add_env(a, clc, "APP_SUBMIT_TIME_ENV",
                 sv_arena_printf(a, "%lld", (long long)app->submit_ms)))
        return -ENOMEM;
    r = add_token(a, att, clc, err);
    if (r < 0)
        return r;
    hadoop__yarn__start_container_request_proto__init(one);
    one->container_launch_context = clc;
    one->container_token = rm_token_container(a, att->master);
    req->start_container_request = sv_newn(a, Hadoop__Yarn__StartContainerRequestProto *, 1);
    if (!one->container_token || !req->start_container_request)
        return -ENOMEM;
    req->start_container_request[0] = one;
    req->n_start_container_request = 1;
    att->amrm_key = rm_secrets_signing(att->rm->secrets, RM_SECRET_AMRM)->key_id;
    return 0;
}

static int connect_node(struct sv_arena *a, struct launch *l, struct rm_attempt *att,
                        struct sv_error *err)
{
    struct yarn_token t;
    struct ipc_proxy_config cfg = l->rm->conf.node;
    int r = rm_token_nm_struct(a, att, &att->master_node, &t);

    cfg.client.protocol = YARN_CONTAINER_MANAGEMENT_PROTOCOL;
    cfg.client.user = att->id_str;
    cfg.client.token = &t;
    cfg.client.qop_mask = l->rm->conf.ipc.qop_mask;
    cfg.n_servers = 1;
    cfg.servers[0].host = att->master_node.host;
    cfg.servers[0].port = (uint16_t)att->master_node.port;
    cfg.notify = on_retry;
    cfg.userdata = l;
    return r < 0 ? r : ipc_proxy_new(l->rm->event, &cfg, &l->node, err);
}

static int send_start(struct sv_arena *a, struct launch *l, struct rm_attempt *att,
                      struct sv_error *err)
{
    Hadoop__Yarn__StartContainersRequestProto req =
        HADOOP__YARN__START_CONTAINERS_REQUEST_PROTO__INIT;
    int r = build_start(a, att, &req, err);

    return r < 0 ? r
                 : ipc_proxy_call(l->node, "startContainers", &req.base,
                                  &hadoop__yarn__start_containers_response_proto__descriptor, 0,
                                  on_done, l, NULL);
}

static int send_stop(struct sv_arena *a, struct launch *l, struct rm_attempt *att)
{
    Hadoop__Yarn__StopContainersRequestProto req =
        HADOOP__YARN__STOP_CONTAINERS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ContainerIdProto *id = yarn_container_id_to(a, att->master_id);

    if (!id)
        return -ENOMEM;
    req.container_id = &id;
    req.n_container_id = 1;
    return ipc_proxy_call(l->node, "stopContainers", &req.base,
                          &hadoop__yarn__stop_containers_response_proto__descriptor, 0, on_done, l,
                          NULL);
}

static void send_now(struct launch *l)
{
    SV_DISPATCH_BATCH(l->rm->dispatcher);
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct rm_attempt *att = rm_attempt_find(l->rm, l->attempt);
    struct sv_error err = { 0 };
    int r = -ENOMEM;

    if (!is_due(l, att)) {
        finish(l); /* ended in the meantime */
        return;
    }
    if (a)
        r = connect_node(a, l, att, &err);
    if (r >= 0)
        r = l->cleanup ? send_stop(a, l, att) : send_start(a, l, att, &err);
    if (r < 0)
        failed(l, att, err.text[0] ? err.text : strerror(-r));
}

static void begin(struct rm_attempt *att, bool cleanup)
{
    struct rm *rm = att->rm;
    struct launch *l = calloc(1, sizeof(*l));

    if (l && !rm->launcher)
        rm->launcher = calloc(1, sizeof(*rm->launcher));
    if (!l || !rm->launcher)
        sv_out_of_memory();
    l->rm = rm;
    l->attempt = att->id;
    l->cleanup = cleanup;
    memcpy(l->id_str, att->id_str, sizeof(l->id_str));
    DL_APPEND(rm->launcher->list, l);
    sv_log(SV_LOG_INFO, att->id_str, "%s master %s on %s:%d", cleanup ? "Cleaning" : "Launching",
           att->id_str, att->master_node.host, att->master_node.port);
    next_turn(l);
}

void rm_launcher_launch(struct rm_attempt *att)
{
    begin(att, false);
}

void rm_launcher_cleanup(struct rm_attempt *att)
{
    begin(att, true);
}

void rm_launcher_free(struct rm *rm)
{
    struct launch *l, *tmp;

    if (!rm->launcher)
        return;
    DL_FOREACH_SAFE (rm->launcher->list, l, tmp)
        launch_free(l);
    free(rm->launcher);
    rm->launcher = NULL;
}
