/* See system-credentials.h. */
#include "rm-lite/security/system-credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/str.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/security/namenodes.h"
#include "wire/ipc/methods-hdfs.h"

#define SECOND_MS 1000

struct app_key {
    int64_t cluster_ts, id;
};

struct row { /* an application's credentials */
    UT_hash_handle hh;
    struct app_key key;
    struct yarn_app_id id;
    size_t len;
    uint8_t bytes[];
};

/* At the NameNode, on a connection of its own: each is another user's. Freed by the tick, since the
 * connection calls back. */
struct call {
    struct call *prev, *next;
    struct rm_system_credentials *s;
    struct request *request; /* NULL: it was dropped, or the call has ended */
    struct ipc_proxy *proxy;
    bool ended;
    char service[RM_NAMENODE_SERVICE_MAX];
};

struct request {
    UT_hash_handle hh;
    struct app_key key;
    struct yarn_app_id id;
    struct call *call; /* while it is open */
    bool awaited, told;
    int64_t due_ms, retry_ms;
};

struct rm_system_credentials {
    struct rm_system_credentials_config config;
    struct row *rows;
    struct request *requests;
    struct call *calls;
    struct rm_credentials_row *list; /* of the rows; NULL: they have changed since */
    size_t bytes, open;
    int64_t sequence, second_ms;
    size_t sent; /* bytes, in this second */
    uint64_t received, failed;
    bool closing, full_told;
};

static struct app_key key_of(struct yarn_app_id id)
{
    return (struct app_key){ id.cluster_ts, id.id };
}

/* ---- Rows ---- */

static void changed(struct rm_system_credentials *s)
{
    free(s->list);
    s->list = NULL;
}

static struct row *row_find(const struct rm_system_credentials *s, struct yarn_app_id id)
{
    const struct app_key key = key_of(id);
    struct row *w = NULL;

    HASH_FIND(hh, s->rows, &key, sizeof(key), w);
    return w;
}

static void row_free(struct rm_system_credentials *s, struct row *w)
{
    HASH_DEL(s->rows, w);
    s->bytes -= w->len;
    explicit_bzero(w->bytes, w->len);
    free(w);
    changed(s);
}

static int row_set(struct rm_system_credentials *s, struct yarn_app_id id, const struct sv_buf *b)
{
    struct row *old = row_find(s, id), *w = calloc(1, sizeof(*w) + b->len);

    if (!w)
        return -ENOMEM;
    if (old)
        row_free(s, old);
    w->id = id;
    w->key = key_of(id);
    w->len = b->len;
    memcpy(w->bytes, b->data, b->len);
    HASH_ADD(hh, s->rows, key, sizeof(w->key), w);
    s->bytes += w->len;
    s->sequence++;
    changed(s);
    return 0;
}

/* ---- Requests ---- */

static struct request *request_find(const struct rm_system_credentials *s, struct yarn_app_id id)
{
    const struct app_key key = key_of(id);
    struct request *q = NULL;

    HASH_FIND(hh, s->requests, &key, sizeof(key), q);
    return q;
}

static void request_free(struct rm_system_credentials *s, struct request *q)
{
    if (q->call)
        q->call->request = NULL;
    HASH_DEL(s->requests, q);
    free(q);
}

static void tell_first(struct rm_system_credentials *s, struct request *q)
{
    if (q->awaited && !q->told)
        s->config.first(s->config.userdata, q->id);
    q->told = true;
}

/* A refusal is final: the old tokens, if there are any, ask again when they are renewed. */
static void failed(struct rm_system_credentials *s, struct request *q, bool absent, const char *why)
{
    char id[YARN_ID_TEXT_MAX], reason[512];

    sv_escape(reason, sizeof(reason), why);
    if (!q->told || !absent)
        sv_log_warning("%s: no HDFS token for its user: %s%s", yarn_app_id_text(q->id, id), reason,
                       absent ? "; trying again" : "");
    s->failed++;
    tell_first(s, q);
    if (!absent) {
        request_free(s, q);
        return;
    }
    q->due_ms = sv_now_ms() + q->retry_ms;
    q->retry_ms = SV_MIN(2 * q->retry_ms, (int64_t)RM_CREDENTIALS_RETRY_MAX_MS);
}

static int write_row(struct rm_system_credentials *s, struct yarn_app_id id,
                     const struct yarn_token *token, struct sv_arena *a)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(3 * YARN_TOKEN_ID_MAX);
    struct yarn_credentials c = { 0 };
    int r = yarn_credentials_add(a, &c, token->service, token);

    if (r >= 0) /* at once: a buffer that grows leaves copies */
        r = sv_buf_reserve(&b,
                           token->id_len + token->password_len + 2 * strlen(token->service) + 100);
    if (r >= 0)
        r = yarn_credentials_write(&c, &b);
    return r < 0 ? r : row_set(s, id, &b);
}

static int take_token(const Hadoop__Common__TokenProto *given, const char *service,
                      struct sv_arena *a, struct yarn_token *ret, int64_t *ret_max_ms)
{
    struct yarn_delegation_token id;
    int r = yarn_token_from(given, a, ret);

    if (r >= 0 && !sv_streq(ret->kind, YARN_KIND_HDFS_DELEGATION))
        r = -EBADMSG;
    if (r >= 0)
        r = yarn_delegation_token_decode(ret->id, ret->id_len, &id, NULL);
    if (r < 0)
        return r;
    ret->service = service;
    *ret_max_ms = id.max_ms;
    return 0;
}

static void received(struct rm_system_credentials *s, struct request *q, const char *service,
                     const Hadoop__Common__TokenProto *given)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    const struct yarn_app_id id = q->id;
    struct yarn_token token;
    int64_t max_ms = 0;
    int r = a ? take_token(given, service, a, &token, &max_ms) : -ENOMEM;

    if (r >= 0)
        r = write_row(s, q->id, &token, a);
    if (r < 0) {
        failed(s, q, r == -ENOMEM, r == -ENOMEM ? "out of memory" : "the NameNode's is malformed");
        return;
    }
    s->received++;
    tell_first(s, q);
    request_free(s, q); /* the callback may drop the application */
    s->config.received(s->config.userdata, id, &token, max_ms);
}

static void on_token(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct call *c = userdata;
    struct rm_system_credentials *s = c->s;
    struct request *q = SV_TAKE(c->request);
    const Hadoop__Common__GetDelegationTokenResponseProto *m = (const void *)r->response;
    const enum ipc_failure f = r->status < 0 ? ipc_failure_of(r) : IPC_FAILURE_LOCAL;

    SV_DISPATCH_BATCH(s->config.rm->dispatcher);
    c->ended = true;
    s->open--;
    if (q)
        q->call = NULL;
    if (!q || s->closing)
        return;
    if (r->status < 0)
        failed(s, q, ipc_failure_is_absence(f) || f == IPC_FAILURE_LOCAL, err->text);
    else if (!m->token)
        failed(s, q, false, "the NameNode issues none: its authentication is not kerberos");
    else
        received(s, q, c->service, m->token);
}

static void call_free(struct call *c)
{
    DL_DELETE(c->s->calls, c);
    ipc_proxy_free(c->proxy);
    free(c);
}

static int call_new(struct rm_system_credentials *s, const char *user, struct call **ret,
                    struct sv_error *err)
{
    struct hdfs_login login = s->config.login;
    struct call *c = calloc(1, sizeof(*c));
    struct hdfs_site site;
    int r;

    if (!c)
        return sv_error_errno(err, -ENOMEM, "the request");
    c->s = s;
    login.for_user = user;
    r = rm_namenodes_default(s->config.namenodes, &site, c->service, err);
    if (r >= 0)
        r = hdfs_proxy_new(&login, &site, &c->proxy, err);
    if (r < 0) {
        free(c);
        return r;
    }
    DL_APPEND(s->calls, c);
    *ret = c;
    return 0;
}

static int begin(struct rm_system_credentials *s, struct request *q, const struct rm_app *app,
                 struct sv_error *err)
{
    Hadoop__Common__GetDelegationTokenRequestProto m =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    const struct rm *rm = s->config.rm;
    struct call *c = NULL;
    int r = call_new(s, app->user, &c, err);

    if (r < 0)
        return r;
    /* The NameNode maps it to the account that then renews. */
    m.renewer = (char *)(uintptr_t)(rm->conf.kerberos.own.principal ?: rm->login_user);
    r = ipc_proxy_call(c->proxy, "getDelegationToken", &m.base,
                       &hadoop__common__get_delegation_token_response_proto__descriptor,
                       HDFS_TOKEN_CALL_MS, on_token, c, NULL);
    if (r < 0) {
        c->ended = true;
        return sv_error_errno(err, r, "the request");
    }
    s->open++;
    c->request = q;
    q->call = c;
    return 0;
}

bool rm_system_credentials_request(struct rm_system_credentials *s, struct yarn_app_id app,
                                   bool awaited)
{
    struct request *q = request_find(s, app);

    if (q)
        return true;
    if (s->bytes >= RM_CREDENTIALS_BYTES_MAX) {
        if (!s->full_told)
            sv_log_warning("HDFS tokens of %u applications have %zu bytes, the limit: no more are "
                           "requested until some have ended",
                           HASH_COUNT(s->rows), s->bytes);
        s->full_told = true;
        return false;
    }
    q = calloc(1, sizeof(*q));
    if (!q)
        return false;
    s->full_told = false;
    q->id = app;
    q->key = key_of(app);
    q->awaited = awaited;
    q->retry_ms = RM_CREDENTIALS_RETRY_MIN_MS;
    HASH_ADD(hh, s->requests, key, sizeof(q->key), q);
    return true;
}

void rm_system_credentials_drop(struct rm_system_credentials *s, struct yarn_app_id app)
{
    struct request *q = request_find(s, app);
    struct row *w = row_find(s, app);

    if (q)
        request_free(s, q);
    if (w)
        row_free(s, w);
}

void rm_system_credentials_tick(struct rm_system_credentials *s)
{
    const int64_t now = sv_now_ms();
    struct request *q, *next;
    struct call *c, *next_call;

    DL_FOREACH_SAFE (s->calls, c, next_call)
        if (c->ended)
            call_free(c);
    HASH_ITER (hh, s->requests, q, next) {
        struct sv_error err = { 0 };
        struct rm_app *app;
        int r;

        if (s->open >= RM_CREDENTIALS_OPEN_MAX)
            return;
        if (q->call || now < q->due_ms)
            continue;
        app = rm_app_find(s->config.rm, q->id);
        r = app ? begin(s, q, app, &err)
                : sv_error_set(&err, -ENOENT, "the application is not there any more");
        if (r < 0 && r != -EAGAIN) /* else in the next second */
            failed(s, q, r == -EHOSTUNREACH || r == -ENOMEM, err.text);
    }
}

/* ---- For nodes ---- */

int64_t rm_system_credentials_sequence(const struct rm_system_credentials *s)
{
    return s->sequence;
}

static bool make_list(struct rm_system_credentials *s)
{
    size_t n = 0;

    s->list = calloc(HASH_COUNT(s->rows) + (size_t)1, sizeof(*s->list));
    if (!s->list)
        return false;
    for (const struct row *w = s->rows; w; w = w->hh.next)
        s->list[n++] = (struct rm_credentials_row){ w->id, w->bytes, w->len };
    return true;
}

bool rm_system_credentials_take(struct rm_system_credentials *s,
                                const struct rm_credentials_row **ret, size_t *ret_n)
{
    const int64_t now = sv_now_ms();

    if (now - s->second_ms >= SECOND_MS) {
        s->second_ms = now;
        s->sent = 0;
    }
    if (s->sent > 0 && s->sent + s->bytes > RM_CREDENTIALS_PER_S_MAX)
        return false;
    if (!s->list && !make_list(s))
        return false;
    s->sent += s->bytes;
    *ret = s->list;
    *ret_n = HASH_COUNT(s->rows);
    return true;
}

/* ---- Its life ---- */

void rm_system_credentials_counts(const struct rm_system_credentials *s,
                                  struct rm_credentials_counts *ret)
{
    *ret = (struct rm_credentials_counts){
        .applications = HASH_COUNT(s->rows),
        .bytes = s->bytes,
        .open = s->open,
        .waiting = HASH_COUNT(s->requests) - s->open,
        .received = s->received,
        .failed = s->failed,
    };
}

/* Numbers of an earlier process are not told again: a node that has one would keep what it has. */
struct rm_system_credentials *
rm_system_credentials_new(const struct rm_system_credentials_config *cfg)
{
    struct rm_system_credentials *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->config = *cfg;
    s->sequence = cfg->rm->started_ms;
    return s;
}

struct rm_system_credentials *rm_system_credentials_free(struct rm_system_credentials *s)
{
    struct call *c, *next_call;
    struct request *q, *next;
    struct row *w, *next_row;

    if (!s)
        return NULL;
    s->closing = true;
    DL_FOREACH_SAFE (s->calls, c, next_call)
        call_free(c);
    HASH_ITER (hh, s->requests, q, next)
        request_free(s, q);
    HASH_ITER (hh, s->rows, w, next_row)
        row_free(s, w);
    free(s->list);
    free(s);
    return NULL;
}
