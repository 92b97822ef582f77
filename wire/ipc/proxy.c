/* Calls that survive the restart of a server, or a failover; see proxy.h. A call is in by_id from
 * start to end, and in `sleeping` while it waits for its next attempt; otherwise it is open at one
 * of the clients. Reads no hostile input: answers come from ipc-client.c. */
#include "wire/ipc/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "wire/ipc/backoff.h"
#include "wire/token/token.h"

struct proxy_call {
    struct proxy_call *prev, *next; /* in sleeping */
    UT_hash_handle hh;              /* by_id */
    struct ipc_proxy *proxy;
    int32_t id, attempts;
    const char *method;
    const ProtobufCMessageDescriptor *response;
    uint8_t *body;
    size_t body_len;
    int64_t call_ms, wake_ms;
    struct ipc_retry_state state;
    size_t server;    /* server of the last attempt */
    unsigned changes; /* value of the proxy's `changes` when the last attempt began */
    bool sleeping;
    ipc_done done;
    void *userdata;
};

struct ipc_proxy {
    unsigned refs;
    bool freed;
    sd_event *event;
    sd_event_source *timer;
    struct ipc_proxy_config cfg; /* texts of servers, protocol and user are owned */
    uint8_t client_id[IPC_CLIENT_ID_LEN];
    struct ipc_client *clients[IPC_PROXY_SERVERS_MAX]; /* created on first use */
    struct sv_arena *arena;                            /* of the texts and the token */
    size_t current;
    unsigned changes; /* number of failovers of `current` */
    int32_t next_id;
    struct proxy_call *by_id, *sleeping;
};

static void call_done(const struct ipc_result *r, const struct sv_error *err, void *userdata);

/* ---- Life ---- */

static void proxy_unref(struct ipc_proxy *p)
{
    if (--p->refs > 0)
        return;
    if (p->arena && p->cfg.client.token)
        explicit_bzero((void *)(uintptr_t)p->cfg.client.token->password,
                       p->cfg.client.token->password_len);
    sv_arena_free(p->arena);
    sd_event_unref(p->event);
    free(p);
}

static const struct yarn_token *token_copy(struct sv_arena *a, const struct yarn_token *t)
{
    struct yarn_token *n = sv_new(a, struct yarn_token);
    if (!n)
        return NULL;
    *n = (struct yarn_token){ .id_len = t->id_len, .password_len = t->password_len };
    n->id = sv_arena_memdup(a, t->id, t->id_len);
    n->password = sv_arena_memdup(a, t->password, t->password_len);
    return n->id && n->password ? n : NULL;
}

static int config_copy(struct ipc_proxy *p, const struct ipc_proxy_config *cfg)
{
    p->cfg = *cfg;
    p->cfg.client.client_id = p->client_id;
    p->cfg.client.protocol = sv_arena_strdup(p->arena, cfg->client.protocol);
    if (!p->cfg.client.protocol)
        return -ENOMEM;
    if (cfg->client.user && !(p->cfg.client.user = sv_arena_strdup(p->arena, cfg->client.user)))
        return -ENOMEM;
    if (cfg->client.for_user &&
        !(p->cfg.client.for_user = sv_arena_strdup(p->arena, cfg->client.for_user)))
        return -ENOMEM;
    if (cfg->client.token && !(p->cfg.client.token = token_copy(p->arena, cfg->client.token)))
        return -ENOMEM;
    for (size_t i = 0; i < cfg->n_servers; i++) {
        struct ipc_proxy_server *s = &p->cfg.servers[i];
        s->host = sv_arena_strdup(p->arena, cfg->servers[i].host);
        if (!s->host)
            return -ENOMEM;
    }
    return 0;
}

static int on_timer(sd_event_source *src, uint64_t usec, void *userdata);

int ipc_proxy_new(sd_event *event, const struct ipc_proxy_config *cfg, struct ipc_proxy **ret,
                  struct sv_error *err)
{
    if (cfg->n_servers == 0 || cfg->n_servers > IPC_PROXY_SERVERS_MAX)
        return sv_error_set(err, -EINVAL, "%s: %zu servers; between 1 and %d are needed",
                            cfg->client.protocol, cfg->n_servers, IPC_PROXY_SERVERS_MAX);
    struct ipc_proxy *p = calloc(1, sizeof(*p));
    if (!p)
        return sv_error_set(err, -ENOMEM, "out of memory");
    p->refs = 1;
    p->event = sd_event_ref(event);
    p->arena = sv_arena_new(0);
    int r = p->arena ? config_copy(p, cfg) : -ENOMEM;
    if (r >= 0)
        r = ipc_client_id_new(p->client_id);
    if (r >= 0)
        r = sd_event_add_time(event, &p->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, p);
    if (r >= 0)
        r = sd_event_source_set_enabled(p->timer, SD_EVENT_OFF);
    if (r < 0) {
        sv_error_errno(err, r, "%s: IPC proxy", cfg->client.protocol);
        ipc_proxy_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

const struct ipc_proxy_server *ipc_proxy_current(const struct ipc_proxy *p)
{
    return &p->cfg.servers[p->current];
}

size_t ipc_proxy_position(const struct ipc_proxy *p)
{
    return p->current;
}

void ipc_proxy_fail_over(struct ipc_proxy *p)
{
    p->current = (p->current + 1) % p->cfg.n_servers;
    p->changes++;
}

const char *ipc_proxy_server_text(const struct ipc_proxy_server *s, char *buf, size_t size)
{
    if (*s->id)
        snprintf(buf, size, "%s (%s:%u)", s->id, s->host, s->port);
    else
        snprintf(buf, size, "%s:%u", s->host, s->port);
    return buf;
}

/* ---- Attempts ---- */

static int get_client(struct ipc_proxy *p, size_t server, struct ipc_client **ret)
{
    struct ipc_client_config cfg = p->cfg.client;
    if (!p->clients[server]) {
        cfg.host = p->cfg.servers[server].host;
        cfg.port = p->cfg.servers[server].port;
        int r = ipc_client_new(p->event, &cfg, &p->clients[server], NULL);
        if (r < 0)
            return r;
    }
    *ret = p->clients[server];
    return 0;
}

static int attempt(struct proxy_call *call)
{
    struct ipc_proxy *p = call->proxy;
    struct ipc_client *c;
    call->server = p->current;
    call->changes = p->changes;
    int r = get_client(p, call->server, &c);
    if (r < 0)
        return r;
    r = ipc_client_start(c,
                         &(struct ipc_request){ .method = call->method,
                                                .response = call->response,
                                                .body = call->body,
                                                .body_len = call->body_len,
                                                .call_ms = call->call_ms,
                                                .id = call->id,
                                                .retry_count = call->attempts },
                         call_done, call, NULL);
    if (r >= 0)
        call->attempts++;
    return r;
}

static void call_free(struct proxy_call *call)
{
    free(call->body);
    free(call);
}

static void finish(struct proxy_call *call, const struct ipc_result *r, const struct sv_error *err)
{
    struct ipc_proxy *p = call->proxy;
    if (call->sleeping)
        DL_DELETE(p->sleeping, call);
    HASH_DELETE(hh, p->by_id, call);
    call->done(r, err, call->userdata);
    call_free(call);
}

static void finish_with(struct proxy_call *call, int status)
{
    struct ipc_result r = { .status = status, .sent = call->attempts > 0 };
    struct sv_error err = { 0 };
    sv_error_errno(&err, status, "%s", call->method);
    finish(call, &r, &err);
}

static void arm(struct ipc_proxy *p)
{
    const struct proxy_call *call;
    int64_t at = INT64_MAX;
    DL_FOREACH (p->sleeping, call)
        at = SV_MIN(at, call->wake_ms);
    if (at == INT64_MAX) {
        (void)sd_event_source_set_enabled(p->timer, SD_EVENT_OFF); /* cannot fail, ignoring */
        return;
    }
    (void)sd_event_source_set_time(p->timer, (uint64_t)SV_MAX(at, 0) * 1000);
    (void)sd_event_source_set_enabled(p->timer, SD_EVENT_ONESHOT);
}

static struct proxy_call *next_due(const struct ipc_proxy *p, int64_t now)
{
    struct proxy_call *call;
    DL_FOREACH (p->sleeping, call)
        if (call->wake_ms <= now)
            return call;
    return NULL;
}

static int on_timer(sd_event_source *src, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src, (void)usec;
    struct ipc_proxy *p = userdata;
    struct proxy_call *call;
    int64_t now = sv_now_ms();
    p->refs++;
    while (!p->freed && (call = next_due(p, now))) {
        DL_DELETE(p->sleeping, call);
        call->sleeping = false;
        int r = attempt(call);
        if (r < 0)
            finish_with(call, r);
    }
    if (!p->freed)
        arm(p);
    proxy_unref(p);
    return 0;
}

static void sleep_until_next(struct proxy_call *call, int64_t wait_ms, const struct sv_error *err)
{
    struct ipc_proxy *p = call->proxy;
    call->wake_ms = sv_now_ms() + wait_ms;
    call->sleeping = true;
    DL_APPEND(p->sleeping, call);
    arm(p);
    if (p->cfg.notify)
        p->cfg.notify(call->method, err, wait_ms, &p->cfg.servers[call->server],
                      ipc_proxy_current(p), p->cfg.userdata);
}

static void call_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct proxy_call *call = userdata;
    struct ipc_proxy *p = call->proxy;
    const char *why = NULL;
    int64_t wait;
    if (r->status == 0 || r->status == -ECANCELED || p->freed) {
        finish(call, r, err);
        return;
    }
    switch (ipc_retry_decide(&p->cfg.retry, &call->state, ipc_failure_of(r), r->sent,
                             ipc_retry_safe(&p->cfg.retry, call->method), sv_now_ms(),
                             ipc_backoff_noise(), &wait, &why)) {
    case IPC_FAIL:
        break;
    case IPC_RETRY_NEXT: /* calls that failed together fail over together */
        if (call->changes == p->changes)
            ipc_proxy_fail_over(p);
        sleep_until_next(call, wait, err);
        return;
    case IPC_RETRY_SAME:
        sleep_until_next(call, wait, err);
        return;
    }
    struct sv_error own = *err;
    if (why)
        sv_error_set(&own, err->code, "%s (%s)", err->text, why);
    finish(call, r, &own);
}

/* ---- Calls ---- */

static struct proxy_call *call_find(const struct ipc_proxy *p, int32_t id)
{
    struct proxy_call *call;
    HASH_FIND(hh, p->by_id, &id, sizeof(id), call);
    return call;
}

int ipc_proxy_call(struct ipc_proxy *p, const char *method, const ProtobufCMessage *request,
                   const ProtobufCMessageDescriptor *response, int64_t call_ms, ipc_done done,
                   void *userdata, int32_t *ret_id)
{
    if (p->freed)
        return -ESHUTDOWN;
    struct proxy_call *call = calloc(1, sizeof(*call));
    if (!call)
        return -ENOMEM;
    call->body_len = protobuf_c_message_get_packed_size(request);
    call->body = malloc(call->body_len + 1);
    if (!call->body) {
        call_free(call);
        return -ENOMEM;
    }
    protobuf_c_message_pack(request, call->body);
    call->proxy = p;
    call->method = method;
    call->response = response;
    call->call_ms = call_ms;
    call->done = done;
    call->userdata = userdata;
    do
        p->next_id = p->next_id == INT32_MAX ? 1 : p->next_id + 1;
    while (call_find(p, p->next_id));
    call->id = p->next_id;
    int r = attempt(call);
    if (r < 0) {
        call_free(call);
        return r;
    }
    HASH_ADD(hh, p->by_id, id, sizeof(call->id), call);
    if (ret_id)
        *ret_id = call->id;
    return 0;
}

bool ipc_proxy_cancel(struct ipc_proxy *p, int32_t id)
{
    struct proxy_call *call = call_find(p, id);
    if (!call)
        return false;
    if (call->sleeping)
        finish_with(call, -ECANCELED);
    else
        (void)ipc_client_cancel(p->clients[call->server], id); /* it is open there, ignoring */
    return true;
}

struct ipc_proxy *ipc_proxy_free(struct ipc_proxy *p)
{
    if (!p || p->freed)
        return NULL;
    p->freed = true;
    p->timer = sd_event_source_disable_unref(p->timer);
    for (size_t i = 0; i < p->cfg.n_servers; i++)
        p->clients[i] = ipc_client_free(p->clients[i]);
    while (p->sleeping)
        finish_with(p->sleeping, -ECANCELED);
    proxy_unref(p);
    return NULL;
}
