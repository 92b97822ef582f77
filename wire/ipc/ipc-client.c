/* Hadoop IPC client: calls and their deadlines. See ipc-client.h for the contract; the connection
 * is in ipc-client-conn.c. A callback may call, or free, the client that runs it. */
#include "wire/ipc/ipc-client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/own-user.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-client-conn.h"
#include "wire/token/token.h"

/* ---- Calls ---- */

static void pump_later(struct ipc_client *c)
{
    if (!c->freed)
        (void)sd_event_source_set_enabled(c->pump, SD_EVENT_ONESHOT);
}

static void call_free(struct client_call *call)
{
    sv_buf_free(&call->frame);
    free(call);
}

/* Returns the list that holds a call. */
static struct client_call **list_of(struct ipc_client *c, const struct client_call *call)
{
    return call->deadline_ms < 0 ? &c->over : call->sent ? &c->sent : &c->unsent;
}

/* A call due to finish is queued in `over`, where ipc_client_free finds it if an earlier callback
 * frees the client. */
static void call_remove(struct ipc_client *c, struct client_call *call)
{
    DL_DELETE(*list_of(c, call), call);
    call->deadline_ms = -1;
    DL_APPEND(c->over, call);
}

void ipc_client_finish(struct ipc_client *c, struct client_call *call, const struct ipc_result *r,
                       const struct sv_error *err)
{
    DL_DELETE(*list_of(c, call), call);
    if (!call->cancelled) {
        HASH_DELETE(hh, c->by_id, call);
        call->done(r, err, call->userdata);
    }
    call_free(call);
}

void ipc_client_sent(struct ipc_client *c, struct client_call *call)
{
    DL_DELETE(c->unsent, call);
    if (call->cancelled) {
        call_free(call);
        return;
    }
    call->sent = true;
    DL_APPEND(c->sent, call);
    sv_buf_free(&call->frame);
}

static void call_remove_and_finish(struct ipc_client *c, int status, const char *java_class,
                                   const struct sv_error *err)
{
    while (c->over) {
        struct client_call *call = c->over;
        struct sv_error own = { 0 };
        struct ipc_result r = { .status = status, .java_class = java_class, .sent = call->sent };
        sv_error_set(&own, status, "%s", err->text);
        sv_error_wrap(&own, "%s: %s", c->where, call->method);
        ipc_client_finish(c, call, &r, &own);
    }
}

void ipc_client_broken(struct ipc_client *c, int status, const char *java_class,
                       const struct sv_error *err)
{
    struct client_call *call, *tmp;
    bool established = c->state == CLIENT_READY;
    ipc_client_disconnect(c);
    DL_FOREACH_SAFE (c->sent, call, tmp)
        call_remove(c, call);
    DL_FOREACH_SAFE (c->unsent, call, tmp) {
        call->frame.pos = 0;
        if (established && !java_class && !call->again && !call->cancelled)
            call->again = true;
        else
            call_remove(c, call);
    }
    if (c->unsent)
        pump_later(c);
    call_remove_and_finish(c, status, java_class, err);
}

static int call_pack(struct ipc_client *c, struct client_call *call, const struct ipc_request *q)
{
    Hadoop__Common__RpcRequestHeaderProto h = ipc_client_header(c, call->id);
    Hadoop__Common__RequestHeaderProto m = HADOOP__COMMON__REQUEST_HEADER_PROTO__INIT;
    static const uint8_t empty[1];
    h.has_retrycount = 1;
    h.retrycount = q->retry_count;
    m.methodname = (char *)(uintptr_t)call->method;
    m.declaringclassprotocolname = c->protocol;
    m.clientprotocolversion = c->version;
    return ipc_frame_put(&call->frame, &h.base, &m.base, q->body ? q->body : empty, q->body_len);
}

static struct client_call *call_find(const struct ipc_client *c, int32_t id)
{
    struct client_call *found;
    HASH_FIND(hh, c->by_id, &id, sizeof(id), found);
    return found;
}

static int32_t next_id(struct ipc_client *c)
{
    do
        c->next_id = c->next_id == INT32_MAX ? 1 : c->next_id + 1;
    while (call_find(c, c->next_id));
    return c->next_id;
}

int ipc_client_start(struct ipc_client *c, const struct ipc_request *q, ipc_done done,
                     void *userdata, int32_t *ret_id)
{
    if (q->id < 0)
        return -EINVAL;
    if (q->id > 0 && call_find(c, q->id))
        return -EEXIST;
    struct client_call *call = calloc(1, sizeof(*call));
    if (!call)
        return -ENOMEM;
    call->id = q->id > 0 ? q->id : next_id(c);
    call->method = q->method;
    call->response = q->response;
    call->done = done;
    call->userdata = userdata;
    call->frame = SV_BUF_INIT(IPC_FRAME_MAX);
    call->deadline_ms = SV_MAX(sv_now_ms(), 0) + (q->call_ms > 0 ? q->call_ms : c->call_ms);
    int r = call_pack(c, call, q);
    if (r < 0) {
        call_free(call);
        return r;
    }
    DL_APPEND(c->unsent, call);
    HASH_ADD(hh, c->by_id, id, sizeof(call->id), call);
    ipc_client_wake_at(c, call->deadline_ms);
    pump_later(c);
    if (ret_id)
        *ret_id = call->id;
    return 0;
}

int ipc_client_call(struct ipc_client *c, const char *method, const ProtobufCMessage *request,
                    const ProtobufCMessageDescriptor *response, int64_t call_ms, ipc_done done,
                    void *userdata)
{
    size_t n = protobuf_c_message_get_packed_size(request);
    _cleanup_free_ uint8_t *body = malloc(n + 1);
    if (!body)
        return -ENOMEM;
    protobuf_c_message_pack(request, body);
    return ipc_client_start(c,
                            &(struct ipc_request){ .method = method,
                                                   .response = response,
                                                   .body = body,
                                                   .body_len = n,
                                                   .call_ms = call_ms },
                            done, userdata, NULL);
}

bool ipc_client_cancel(struct ipc_client *c, int32_t id)
{
    struct client_call *call = call_find(c, id);
    struct ipc_result r = { .status = -ECANCELED };
    struct sv_error err = { 0 };
    if (!call)
        return false;
    r.sent = call->sent || call->frame.pos > 0;
    sv_error_set(&err, -ECANCELED, "%s: %s: cancelled", c->where, call->method);
    if (call->sent || call->frame.pos == 0 || call->deadline_ms < 0) {
        ipc_client_finish(c, call, &r, &err);
        return true;
    }
    /* Partly sent: the rest of the frame must follow, or the stream is corrupt. */
    HASH_DELETE(hh, c->by_id, call);
    call->cancelled = true;
    call->done(&r, &err, call->userdata);
    return true;
}

void ipc_client_wake_at(struct ipc_client *c, int64_t at_ms)
{
    if (at_ms >= c->wake_ms || c->freed)
        return;
    c->wake_ms = at_ms;
    (void)sd_event_source_set_time(c->timer, (uint64_t)SV_MAX(at_ms, 0) * 1000);
    (void)sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT);
}

/* Fails calls past their deadline. If nothing was received since they were sent, or one of them is
 * partly written, closes the connection as well. */
static void calls_expire(struct ipc_client *c, int64_t now)
{
    struct client_call *call, *tmp;
    bool silent = false, torn = false;
    DL_FOREACH_SAFE (c->sent, call, tmp) {
        if (call->deadline_ms > now)
            continue;
        silent = c->active_ms <= c->sent_ms;
        call_remove(c, call);
    }
    DL_FOREACH_SAFE (c->unsent, call, tmp) {
        if (call->deadline_ms > now)
            continue;
        torn = torn || call->frame.pos > 0;
        call_remove(c, call);
    }
    if (!c->over)
        return;
    struct sv_error err = { 0 };
    sv_error_set(&err, -ETIMEDOUT, "no answer in time");
    bool give_up = c->state == CLIENT_READY && (torn || (silent && !c->sent));
    call_remove_and_finish(c, -ETIMEDOUT, NULL, &err);
    if (!give_up || c->freed)
        return;
    sv_error_set(&err, -ECONNRESET, "the connection was closed because a call timed out");
    ipc_client_broken(c, -ECONNRESET, NULL, &err);
}

static int64_t next_deadline(const struct ipc_client *c)
{
    const struct client_call *call;
    int64_t at = INT64_MAX;
    DL_FOREACH (c->sent, call)
        at = SV_MIN(at, call->deadline_ms);
    DL_FOREACH (c->unsent, call)
        at = SV_MIN(at, call->deadline_ms);
    if (c->state == CLIENT_IDLE)
        return at;
    if (c->state != CLIENT_READY)
        return SV_MIN(at, c->connect_deadline_ms);
    if (c->sent)
        return SV_MIN(at, c->sent_ms + c->ping_ms);
    if (!c->unsent && c->idle_ms >= 0)
        at = SV_MIN(at, SV_MAX(c->active_ms, c->sent_ms) + c->idle_ms);
    return at;
}

static void deadlines_run(struct ipc_client *c, int64_t now)
{
    calls_expire(c, now);
    if (c->freed || c->state == CLIENT_IDLE)
        return;
    if (c->state != CLIENT_READY) {
        if (c->connect_deadline_ms <= now)
            ipc_client_connect_timeout(c);
    } else if (c->sent) {
        if (c->sent_ms + c->ping_ms <= now)
            ipc_client_ping(c);
    } else if (!c->unsent && c->idle_ms >= 0 &&
               SV_MAX(c->active_ms, c->sent_ms) + c->idle_ms <= now) {
        ipc_client_disconnect(c);
    }
}

static int on_timer(sd_event_source *src, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src, (void)usec;
    struct ipc_client *c = userdata;
    ipc_client_ref(c);
    c->wake_ms = INT64_MAX;
    deadlines_run(c, sv_now_ms());
    if (!c->freed) {
        int64_t next = next_deadline(c);
        if (next != INT64_MAX)
            ipc_client_wake_at(c, next);
    }
    ipc_client_unref(c);
    return 0;
}

static int on_pump(sd_event_source *src, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src;
    struct ipc_client *c = userdata;
    ipc_client_ref(c);
    ipc_client_pump(c);
    ipc_client_unref(c);
    return 0;
}

/* ---- Life ---- */

static void token_free(struct yarn_token *t)
{
    if (!t)
        return;
    explicit_bzero((void *)(uintptr_t)t->password, t->password_len);
    free((void *)(uintptr_t)t->id);
    free((void *)(uintptr_t)t->password);
    free(t);
}

static struct yarn_token *token_copy(const struct yarn_token *t)
{
    struct yarn_token *n = calloc(1, sizeof(*n));
    uint8_t *id = malloc(t->id_len + 1), *password = malloc(t->password_len + 1);
    if (!n || !id || !password) {
        free(n);
        free(id);
        free(password);
        return NULL;
    }
    memcpy(id, t->id, t->id_len);
    memcpy(password, t->password, t->password_len);
    n->id = id;
    n->id_len = t->id_len;
    n->password = password;
    n->password_len = t->password_len;
    return n;
}

static char *user_name(const char *wanted)
{
    if (wanted)
        return strdup(wanted);
    const char *own = sv_own_user();
    char number[16];
    snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
    return strdup(own ? own : number);
}

int ipc_client_id_new(uint8_t ret[IPC_CLIENT_ID_LEN])
{
    if (getrandom(ret, IPC_CLIENT_ID_LEN, 0) != IPC_CLIENT_ID_LEN)
        return -EIO;
    ret[6] = (ret[6] & 0x0f) | 0x40;
    ret[8] = (ret[8] & 0x3f) | 0x80;
    return 0;
}

void ipc_client_ref(struct ipc_client *c)
{
    c->refs++;
}

void ipc_client_unref(struct ipc_client *c)
{
    if (--c->refs > 0)
        return;
    free(c->host);
    free(c->protocol);
    free(c->user);
    free(c->for_user);
    token_free(c->token);
    sd_event_unref(c->event);
    free(c);
}

static int client_fill(struct ipc_client *c, const struct ipc_client_config *cfg)
{
    c->host = strdup(cfg->host);
    c->protocol = strdup(cfg->protocol);
    c->kerberos = cfg->token ? NULL : cfg->kerberos;
    c->user = user_name(c->kerberos ? c->kerberos->principal : cfg->user);
    if (cfg->token && !(c->token = token_copy(cfg->token)))
        return -ENOMEM;
    c->for_user = cfg->for_user ? strdup(cfg->for_user) : NULL;
    if (!c->host || !c->protocol || !c->user || (cfg->for_user && !c->for_user))
        return -ENOMEM;
    snprintf(c->where, sizeof(c->where), "%s:%u", cfg->host, cfg->port);
    c->port = cfg->port;
    c->version = cfg->version;
    c->qop_mask = cfg->qop_mask;
    c->connect_ms = cfg->connect_ms > 0 ? cfg->connect_ms : 20000;
    c->call_ms = cfg->call_ms > 0 ? cfg->call_ms : 120000;
    c->idle_ms = cfg->idle_ms ? cfg->idle_ms : 10000;
    c->ping_ms = cfg->ping_ms > 0 ? cfg->ping_ms : 60000;
    c->max_frame = cfg->max_frame ? cfg->max_frame : IPC_FRAME_MAX;
    int r = 0;
    if (cfg->client_id)
        memcpy(c->id, cfg->client_id, sizeof(c->id));
    else
        r = ipc_client_id_new(c->id);
    if (r < 0)
        return r;
    r = sd_event_add_time(c->event, &c->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_defer(c->event, &c->pump, on_pump, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->pump, SD_EVENT_OFF);
    return r;
}

int ipc_client_new(sd_event *event, const struct ipc_client_config *cfg, struct ipc_client **ret,
                   struct sv_error *err)
{
    struct ipc_client *c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_set(err, -ENOMEM, "out of memory");
    c->refs = 1;
    c->fd = -1;
    c->wake_ms = INT64_MAX;
    c->event = sd_event_ref(event);
    int r = client_fill(c, cfg);
    if (r < 0) {
        sv_error_errno(err, r, "%s:%u: IPC client", cfg->host, cfg->port);
        ipc_client_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct ipc_client *ipc_client_free(struct ipc_client *c)
{
    struct client_call *call, *tmp;
    if (!c || c->freed)
        return NULL;
    struct sv_error err = { 0 };
    sv_error_set(&err, -ECANCELED, "cancelled");
    ipc_client_disconnect(c);
    c->freed = true;
    c->timer = sd_event_source_disable_unref(c->timer);
    c->pump = sd_event_source_disable_unref(c->pump);
    DL_FOREACH_SAFE (c->sent, call, tmp)
        call_remove(c, call);
    DL_FOREACH_SAFE (c->unsent, call, tmp)
        call_remove(c, call);
    call_remove_and_finish(c, -ECANCELED, NULL, &err);
    ipc_client_unref(c);
    return NULL;
}

/* ---- Waiting for one answer ---- */

struct sync_call {
    bool over;
    int status;
    struct sv_arena *a;
    ProtobufCMessage *response;
    const char *java_class;
    struct sv_error *err;
};

/* Copies by packing and unpacking: protobuf-c has no deep copy. */
static ProtobufCMessage *message_copy(struct sv_arena *a, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    _cleanup_free_ uint8_t *p = malloc(n + 1);
    if (!p)
        return NULL;
    protobuf_c_message_pack(m, p);
    return protobuf_c_message_unpack(m->descriptor, sv_arena_protobuf(a), n, p);
}

static void sync_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct sync_call *s = userdata;
    s->over = true;
    s->status = r->status;
    if (r->status < 0) {
        if (s->err && err)
            *s->err = *err;
        s->java_class = r->java_class ? sv_arena_strdup(s->a, r->java_class) : NULL;
        return;
    }
    s->response = message_copy(s->a, r->response);
    if (!s->response)
        s->status = sv_error_set(s->err, -ENOMEM, "the answer is too large for its arena");
}

int ipc_client_call_sync(struct ipc_client *c, const char *method, const ProtobufCMessage *request,
                         const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                         ProtobufCMessage **ret, const char **ret_class, struct sv_error *err)
{
    struct sync_call s = { .a = a, .err = err };
    if (ret_class)
        *ret_class = NULL;
    int r = ipc_client_call(c, method, request, response, 0, sync_done, &s);
    if (r < 0)
        return sv_error_errno(err, r, "%s: %s", c->where, method);
    while (!s.over) {
        r = sd_event_run(c->event, UINT64_MAX);
        /* The callback refers to `s` on this stack: it must run before the return. A call survives
         * one broken connection, not two. */
        while (r < 0 && r != -EINTR && !s.over)
            ipc_client_broken(c, r, NULL, &(struct sv_error){ .code = r, .text = "event loop" });
    }
    if (s.status < 0) {
        if (ret_class)
            *ret_class = s.java_class;
        return s.status;
    }
    *ret = s.response;
    return 0;
}
