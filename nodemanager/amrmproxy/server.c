/* See server.h. */
#include "nodemanager/amrmproxy/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/identity/service-policy.h"
#include "common/log.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/amrmproxy/keys.h"
#include "nodemanager/amrmproxy/pipeline.h"
#include "nodemanager/conf/conf.h"
#include "wire/ipc/ipc-conf.h"
#include "wire/ipc/methods.h"

#define INFLIGHT_MAX (NM_AMRM_QUEUED_MAX + 4) /* calls of a connection; reading pauses beyond */

struct nm_amrm_server {
    const struct nm_conf *conf;
    struct nm_amrm *proxy;
    struct ipc_server *rpc;
};

struct open_call { /* may outlive the server */
    struct nm_amrm *proxy;
    struct ipc_call *call;
    struct yarn_amrm_token token; /* the caller's */
    enum nm_amrm_method method;
    int64_t began_ms;
};

/* ---- Answers ---- */

/* A master whose token's key has been replaced gets a new one. NULL: it has the newest, or there is
 * no memory, and then the next heartbeat brings it. */
static Hadoop__Common__TokenProto *new_token(const struct open_call *o)
{
    const struct nm_amrm_keys *keys = nm_amrm_keys_of(o->proxy);
    struct sv_arena *a = ipc_call_arena(o->call);
    struct yarn_token t;

    if (!nm_amrm_keys_rolled(keys, o->token.key_id) ||
        nm_amrm_keys_token(keys, o->token.attempt, a, &t) < 0)
        return NULL;
    return yarn_token_to(a, &t);
}

/* The ResourceManager's own token never passes. */
static void answer(void *call, const ProtobufCMessage *response)
{
    struct open_call *o = call;

    sv_rate_add(&nm_amrm_counters_of(o->proxy)->answered[o->method],
                (double)(sv_now_ms() - o->began_ms), sv_now_ms());
    if (o->method == NM_AMRM_ALLOCATE) {
        Hadoop__Yarn__AllocateResponseProto m =
            *(const Hadoop__Yarn__AllocateResponseProto *)(const void *)response;

        m.am_rm_token = new_token(o);
        ipc_call_reply(o->call, &m.base);
    } else {
        ipc_call_reply(o->call, response);
    }
    free(o);
}

static void fail(void *call, const char *java_class, const char *text)
{
    struct open_call *o = call;

    nm_amrm_counters_of(o->proxy)->failed[o->method]++;
    ipc_call_fail(o->call, java_class, "%s", text);
    free(o);
}

static const struct nm_amrm_reply reply = { .answer = answer, .fail = fail };

/* ---- Calls ---- */

static void refuse(struct open_call *o, int error)
{
    char text[YARN_ID_TEXT_MAX], why[160 + 2 * YARN_ID_TEXT_MAX];

    yarn_attempt_id_text(o->token.attempt, text);
    if (error == -EBUSY) {
        (void)snprintf(why, sizeof(why),
                       "%s: more than %d of its calls are open at the AMRMProxy: wait for answers",
                       text, NM_AMRM_QUEUED_MAX + 1);
        fail(o, JAVA_YARN_EXCEPTION, why);
    } else if (error == -ENOMEM) {
        fail(o, JAVA_IO_EXCEPTION, "the NodeManager has no memory for the call");
    } else {
        (void)snprintf(why, sizeof(why),
                       "%s: The AM request processing pipeline is not initialized for app: %s",
                       text, text);
        fail(o, JAVA_ATTEMPT_NOT_FOUND, why);
    }
}

/* The token was good when the connection was made; the attempt may have ended since. */
static void take_call(struct nm_amrm_server *s, struct ipc_call *call, enum nm_amrm_method method,
                      const ProtobufCMessage *request)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct open_call *o = calloc(1, sizeof(*o));
    struct nm_amrm_pipeline *p;
    int r;

    if (!o) {
        ipc_call_fail(call, JAVA_IO_EXCEPTION, "the NodeManager has no memory for the call");
        return;
    }
    *o = (struct open_call){
        .proxy = s->proxy, .call = call, .method = method, .began_ms = sv_now_ms()
    };
    if (!peer->token ||
        yarn_amrm_token_decode(peer->token_id, peer->token_id_len, &o->token, NULL) < 0) {
        fail(o, JAVA_YARN_EXCEPTION, "No AMRMToken found for user");
        return;
    }
    p = nm_amrm_find(s->proxy, o->token.attempt);
    r = p ? nm_amrm_pipeline_call(p, method, request, ipc_call_arena(call), &reply, o) : -ESHUTDOWN;
    if (r < 0)
        refuse(o, r);
}

static void on_registerApplicationMaster(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    take_call(userdata, call, NM_AMRM_REGISTER, request);
}

static void on_finishApplicationMaster(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *userdata)
{
    take_call(userdata, call, NM_AMRM_FINISH, request);
}

static void on_allocate(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    take_call(userdata, call, NM_AMRM_ALLOCATE, request);
}

/* ---- Callers ---- */

/* A real token, a token of another attempt of the application, one of another node: none of them
 * has a password here. */
static int verify_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                        size_t *ret_password_len, char ret_user[256], const char **ret_class,
                        struct sv_error *err, void *userdata)
{
    struct nm_amrm_server *s = userdata;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_amrm_token t;
    int r = yarn_amrm_token_decode(id, id_len, &t, err);

    (void)ret_class; /* InvalidToken */
    if (r < 0)
        return r;
    yarn_attempt_id_text(t.attempt, text);
    if (!nm_amrm_find(s->proxy, t.attempt))
        return sv_error_set(err, -EACCES,
                            "%s not found in AMRMProxyTokenSecretManager: it did not start on this "
                            "node, has ended, or was not submitted to the federation's Router",
                            text);
    r = nm_amrm_keys_password(nm_amrm_keys_of(s->proxy), t.key_id, id, id_len, ret_password,
                              ret_password_len);
    if (r < 0)
        return sv_error_set(err, r,
                            "Invalid AMRMToken from %s: this is the AMRMProxy, which takes the "
                            "token of the master's launch alone",
                            text);
    (void)snprintf(ret_user, 256, "%s", text);
    return 0;
}

static int authorize(void *userdata, const struct ipc_peer *peer, const char *protocol,
                     struct sv_error *err)
{
    const struct nm_amrm_server *s = userdata;
    const struct sv_policy_caller caller = { .user = peer->user,
                                             .method = ipc_peer_method(peer),
                                             .real_user = peer->real_user,
                                             .ip = &peer->ip };

    return sv_policy_check(s->conf->policy, protocol, &caller, err);
}

/* ---- Life ---- */

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_APPLICATION_MASTER_METHODS(ROW) };

const struct ipc_protocol nm_amrm_protocol = {
    .name = YARN_APPLICATION_MASTER_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
};

static void bound(size_t *limit, size_t most)
{
    if (!*limit || *limit > most)
        *limit = most;
}

static int serve(sd_event *event, struct nm_amrm_server *s, int *listen_fd, struct sv_error *err)
{
    static const struct ipc_protocol *const protocols[] = { &nm_amrm_protocol, NULL };
    struct ipc_server_settings settings;
    struct ipc_server_config cfg = {
        .host = s->conf->amrmproxy.host,
        .port = s->conf->amrmproxy.port,
        .listen_fd = listen_fd,
        .verify_token = verify_token,
        .authorization = s->conf->policy ? authorize : NULL,
        .protocols = protocols,
        .userdata = s,
    };
    int r = ipc_settings_read(s->conf->conf, &settings, err);

    if (r < 0)
        return r;
    cfg.qop_mask = settings.qop_mask;
    cfg.limits = settings.limits;
    bound(&cfg.limits.max_frame, NM_AMRM_FRAME_MAX);
    bound(&cfg.limits.max_memory, NM_AMRM_MEMORY_MAX);
    bound(&cfg.limits.max_connections, NM_AMRM_CONNECTIONS_MAX);
    cfg.limits.max_per_address = cfg.limits.max_connections; /* all masters are on this node */
    bound(&cfg.limits.max_inflight_per_conn, INFLIGHT_MAX);
    r = ipc_server_new(event, &cfg, &s->rpc, err);
    return r < 0 ? sv_error_wrap(err, "yarn.nodemanager.amrmproxy.address") : 0;
}

int nm_amrm_server_new(sd_event *event, const struct nm_conf *conf, struct nm_amrm *proxy,
                       int *listen_fd, struct nm_amrm_server **ret, struct sv_error *err)
{
    struct nm_amrm_server *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "AMRMProxy");
    *s = (struct nm_amrm_server){ .conf = conf, .proxy = proxy };
    r = serve(event, s, listen_fd, err);
    if (r < 0) {
        free(s);
        return r;
    }
    sv_log_info("AMRMProxy started at %s:%u", conf->amrmproxy.host, ipc_server_port(s->rpc));
    *ret = s;
    return 0;
}

struct nm_amrm_server *nm_amrm_server_free(struct nm_amrm_server *s)
{
    if (!s)
        return NULL;
    ipc_server_free(s->rpc);
    free(s);
    return NULL;
}

uint16_t nm_amrm_server_port(const struct nm_amrm_server *s)
{
    return ipc_server_port(s->rpc);
}

struct ipc_server *nm_amrm_server_rpc(const struct nm_amrm_server *s)
{
    return s->rpc;
}
