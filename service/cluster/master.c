/* Calls to the running master of a service, by ClientAMProtocol. Hostile: the master: its user
 * chooses the host and the port that are connected to, and what it answers. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/address.h"
#include "common/clock.h"
#include "service/api/api.h"
#include "service/cluster/internal.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods-service.h"
#include "wire/sasl/qop.h"

#define CALL_MS 20000

struct call {
    struct svc_wait w;
    struct sv_arena *arena;
    const ProtobufCMessage *answer;
};

static void on_answer(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct call *k = userdata;

    if (r->status == 0) {
        k->answer = r->response;
        k->arena = SV_TAKE(*r->arena);
    }
    svc_wait_end(&k->w, r->status, err);
}

/* The address of the master's host, in numbers; never a cloud's metadata service. */
static int address_of(const struct svc_app *app, char ret[NI_MAXHOST], struct sv_error *err)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    int r = getaddrinfo(app->host, NULL, &hints, &list);

    if (r != 0)
        return sv_error_set(err, -EREMOTEIO, "its master's host %.200s: %s", app->host,
                            gai_strerror(r));
    if (sv_address_is_metadata(list->ai_addr))
        r = sv_error_set(err, -EACCES,
                         "its master's host %.200s: an address of the link or of a "
                         "cloud's metadata service",
                         app->host);
    else if (getnameinfo(list->ai_addr, list->ai_addrlen, ret, NI_MAXHOST, NULL, 0,
                         NI_NUMERICHOST) != 0)
        r = sv_error_set(err, -EREMOTEIO, "its master's host %.200s: no address", app->host);
    freeaddrinfo(list);
    return r;
}

/* With security the report of the ResourceManager has brought it, and nobody but its user can have
 * it. */
static int present_token(const struct svc_cluster *c, const struct svc_app *app,
                         struct ipc_client_config *cfg, struct sv_error *err)
{
    if (c->token_arena && yarn_app_id_cmp(c->token_app, app->id) == 0) {
        cfg->token = &c->client_token;
        cfg->qop_mask = IPC_QOP_ALL;
    } else if (c->cfg.kerberos) {
        return sv_error_set(err, -EACCES, "the ResourceManager has given no token for it");
    }
    return 0;
}

/* Calls, and waits; *ret lives in *ret_arena. */
static int call(struct svc_cluster *c, const struct svc_app *app, const char *method,
                const ProtobufCMessage *request, const ProtobufCMessageDescriptor *response,
                struct sv_arena **ret_arena, const ProtobufCMessage **ret, struct sv_error *err)
{
    char host[NI_MAXHOST];
    struct call k = { .w = { .err = err } };
    struct ipc_client *client = NULL;
    int64_t left = c->until_ms - sv_now_ms();
    struct ipc_client_config cfg = { .host = host,
                                     .port = app->port,
                                     .protocol = YARN_SERVICE_AM_PROTOCOL,
                                     .version = 1,
                                     .user = c->cfg.user,
                                     .connect_ms = CALL_MS,
                                     .call_ms = SV_MAX(SV_MIN(left, (int64_t)CALL_MS), (int64_t)1),
                                     .max_frame = SVC_ANSWER_MAX };
    bool late = false;
    int r = address_of(app, host, err);

    if (r == 0)
        r = present_token(c, app, &cfg, err);
    if (r == 0)
        r = ipc_client_new(c->event, &cfg, &client, err);
    if (r == 0)
        r = ipc_client_call(client, method, request, response, 0, on_answer, &k);
    if (r == 0 && (r = svc_wait_for(c, &k.w)) < 0)
        late = true;
    (void)ipc_client_free(client); /* ends an open call, whose callback writes into `k` */
    if (late)
        (void)sv_error_set(err, r, "it does not answer in time");
    else if (r == 0)
        r = k.w.status;
    if (r < 0) {
        (void)sv_arena_free(k.arena);
        (void)sv_error_wrap(err, "master at %.200s:%u", app->host, app->port);
        return r;
    }
    *ret_arena = k.arena;
    *ret = k.answer;
    return 0;
}

/* A call whose answer says nothing. */
static int tell(struct svc_cluster *c, const struct svc_app *app, const char *method,
                const ProtobufCMessage *request, const ProtobufCMessageDescriptor *response,
                struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    const ProtobufCMessage *answer;

    return call(c, app, method, request, response, &a, &answer, err);
}

static int copy(const char *text, char **ret, struct sv_error *err)
{
    *ret = strdup(text ? text : "");
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "answer of the master");
}

/* ---- The functions ---- */

static int status(void *b, const struct svc_app *app, char **ret, struct sv_error *err)
{
    const Hadoop__Yarn__GetStatusRequestProto q = HADOOP__YARN__GET_STATUS_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = NULL;
    const ProtobufCMessage *m;
    int r = call(b, app, "getStatus", &q.base, &hadoop__yarn__get_status_response_proto__descriptor,
                 &a, &m, err);

    return r < 0 ? r
                 : copy(((const Hadoop__Yarn__GetStatusResponseProto *)(const void *)m)->status,
                        ret, err);
}

static int stop(void *b, const struct svc_app *app, struct sv_error *err)
{
    const Hadoop__Yarn__StopRequestProto q = HADOOP__YARN__STOP_REQUEST_PROTO__INIT;

    return tell(b, app, "stop", &q.base, &hadoop__yarn__stop_response_proto__descriptor, err);
}

static int restart(void *b, const struct svc_app *app, struct sv_error *err)
{
    const Hadoop__Yarn__RestartServiceRequestProto q =
        HADOOP__YARN__RESTART_SERVICE_REQUEST_PROTO__INIT;

    return tell(b, app, "restartService", &q.base,
                &hadoop__yarn__restart_service_response_proto__descriptor, err);
}

static int flex(void *b, const struct svc_app *app, const struct svc_count *counts, size_t n,
                struct sv_error *err)
{
    Hadoop__Yarn__FlexComponentsRequestProto q = HADOOP__YARN__FLEX_COMPONENTS_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ComponentCountProto *list =
        a ? sv_newn(a, Hadoop__Yarn__ComponentCountProto, n + 1) : NULL;

    q.components = a ? sv_newn(a, Hadoop__Yarn__ComponentCountProto *, n + 1) : NULL;
    if (!list || !q.components)
        return sv_error_errno(err, -ENOMEM, "flex");
    for (; q.n_components < n; q.n_components++) {
        Hadoop__Yarn__ComponentCountProto *one = &list[q.n_components];

        hadoop__yarn__component_count_proto__init(one);
        one->name = (char *)(uintptr_t)counts[q.n_components].component;
        one->has_numberofcontainers = true;
        one->numberofcontainers = counts[q.n_components].count;
        q.components[q.n_components] = one;
    }
    return tell(b, app, "flexComponents", &q.base,
                &hadoop__yarn__flex_components_response_proto__descriptor, err);
}

static int decommission(void *b, const struct svc_app *app, struct svc_names names,
                        struct sv_error *err)
{
    Hadoop__Yarn__DecommissionCompInstancesRequestProto q =
        HADOOP__YARN__DECOMMISSION_COMP_INSTANCES_REQUEST_PROTO__INIT;

    q.compinstances = (char **)(uintptr_t)names.v;
    q.n_compinstances = names.n;
    return tell(b, app, "decommissionCompInstances", &q.base,
                &hadoop__yarn__decommission_comp_instances_response_proto__descriptor, err);
}

static int upgrade(void *b, const struct svc_app *app, const char *version, bool auto_finalize,
                   bool express, struct sv_error *err)
{
    Hadoop__Yarn__UpgradeServiceRequestProto q = HADOOP__YARN__UPGRADE_SERVICE_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = NULL;
    const ProtobufCMessage *m;
    const char *why;
    int r;

    q.version = (char *)(uintptr_t)version;
    q.has_autofinalize = q.autofinalize = auto_finalize;
    q.has_expressupgrade = q.expressupgrade = express;
    r = call(b, app, "upgradeService", &q.base,
             &hadoop__yarn__upgrade_service_response_proto__descriptor, &a, &m, err);
    if (r < 0)
        return r;
    why = ((const Hadoop__Yarn__UpgradeServiceResponseProto *)(const void *)m)->error;
    return why && *why ? sv_error_set(err, -EREMOTEIO, "%.900s", why) : 0;
}

static int cancel_upgrade(void *b, const struct svc_app *app, struct sv_error *err)
{
    const Hadoop__Yarn__CancelUpgradeRequestProto q =
        HADOOP__YARN__CANCEL_UPGRADE_REQUEST_PROTO__INIT;

    return tell(b, app, "cancelUpgrade", &q.base,
                &hadoop__yarn__cancel_upgrade_response_proto__descriptor, err);
}

static int upgrade_containers(void *b, const struct svc_app *app, struct svc_names ids,
                              struct sv_error *err)
{
    Hadoop__Yarn__CompInstancesUpgradeRequestProto q =
        HADOOP__YARN__COMP_INSTANCES_UPGRADE_REQUEST_PROTO__INIT;

    q.containerids = (char **)(uintptr_t)ids.v;
    q.n_containerids = ids.n;
    return tell(b, app, "upgrade", &q.base,
                &hadoop__yarn__comp_instances_upgrade_response_proto__descriptor, err);
}

static int instances(void *b, const struct svc_app *app, struct svc_names components,
                     const char *version, struct svc_names states, char **ret, struct sv_error *err)
{
    Hadoop__Yarn__GetCompInstancesRequestProto q =
        HADOOP__YARN__GET_COMP_INSTANCES_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = NULL;
    const ProtobufCMessage *m;
    int r;

    q.componentnames = (char **)(uintptr_t)components.v;
    q.n_componentnames = components.n;
    q.version = (char *)(uintptr_t)version;
    q.containerstates = (char **)(uintptr_t)states.v;
    q.n_containerstates = states.n;
    r = call(b, app, "getCompInstances", &q.base,
             &hadoop__yarn__get_comp_instances_response_proto__descriptor, &a, &m, err);
    return r < 0 ? r
                 : copy(((const Hadoop__Yarn__GetCompInstancesResponseProto *)(const void *)m)
                            ->compinstances,
                        ret, err);
}

void svc_master_functions(struct svc_backend *b)
{
    b->status = status;
    b->stop = stop;
    b->restart = restart;
    b->flex = flex;
    b->decommission = decommission;
    b->upgrade = upgrade;
    b->cancel_upgrade = cancel_upgrade;
    b->upgrade_containers = upgrade_containers;
    b->instances = instances;
}
