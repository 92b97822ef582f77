/* See hdfs-tokens.h. A token is asked for by two calls: the NameNode's answer to the first has the
 * token, and to a renewal right after it the token's end, which depends on the NameNode's settings
 * alone. Times between the two are of the NameNode's clock. */
#include "nodemanager/services/hdfs-tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "hdfs/conf-cluster.h"
#include "hdfs/conf.h"
#include "hdfs/namenode-proxy.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/token/token.h"

#define REST_MS 5000      /* after a failure */
#define YOUNG_MS 60000    /* a localizer cannot make the daemon ask more often than this */
#define UNKNOWN_MS 600000 /* life of a token that its NameNode does not renew */
#define LIFE_MAX_MS INT64_C(2592000000) /* 30 days */
#define WHY_MAX 600

struct file_system {
    struct file_system *prev, *next;
    struct nm_hdfs_tokens *t;
    char servers[HDFS_SERVERS_TEXT_MAX + 1]; /* its NameNodes, lower case */
    char service[HDFS_HOST_MAX + 8]; /* "host:port" of the first: a localizer looks for it */
    struct ipc_proxy *proxy;
    bool asked;
    int64_t asked_ms;
    /* A token whose end is not known yet. */
    struct sv_arena *arena;
    const Hadoop__Common__TokenProto *given;
    struct yarn_delegation_token id;
    /* The token in use. */
    struct sv_buf credentials; /* empty: none */
    int64_t got_ms, replace_ms, end_ms;
    /* The last request's failure. */
    int64_t failed_ms;
    int code; /* 0: it has not failed */
    char why[WHY_MAX];
};

struct nm_hdfs_tokens {
    struct nm_hdfs_tokens_config config;
    struct hdfs_cluster *cluster;
    struct file_system *list; /* at most those of the configuration */
    uint64_t received, failed;
    bool closing;
};

/* ---- A request ---- */

static void over(struct file_system *f)
{
    struct nm_hdfs_tokens *t = f->t;

    f->given = NULL;
    f->arena = sv_arena_wipe(f->arena);
    f->asked = false;
    if (!t->closing)
        t->config.changed(t->config.userdata);
}

static void failed(struct file_system *f, int code, const char *why)
{
    char line[WHY_MAX];

    (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(why, "\r\n"), why); /* no stack trace */
    sv_escape(f->why, sizeof(f->why), line);
    f->code = code == -EAGAIN ? -EIO : code;
    f->failed_ms = sv_now_ms();
    f->t->failed++;
    if (!f->t->closing)
        sv_log_warning("HDFS at %s: no token for PUBLIC resources: %s", f->servers, f->why);
    over(f);
}

static int write_credentials(const struct file_system *f, struct sv_buf *b)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c = { 0 };
    struct yarn_token token;
    int r = a ? yarn_token_from(f->given, a, &token) : -ENOMEM;

    if (r < 0)
        return r;
    token.service = f->service;
    r = yarn_credentials_add(a, &c, f->service, &token);
    if (r >= 0)
        r = sv_buf_reserve(b, token.id_len + token.password_len + 2 * sizeof(f->service) + 100);
    return r < 0 ? r : yarn_credentials_write(&c, b);
}

static void got(struct file_system *f, int64_t life_ms)
{
    struct sv_buf b = SV_BUF_INIT(3 * YARN_TOKEN_ID_MAX);
    int r = write_credentials(f, &b);

    if (r < 0) {
        sv_buf_wipe(&b);
        failed(f, r, r == -ENOMEM ? "out of memory" : "the NameNode's token is malformed");
        return;
    }
    sv_buf_wipe(&f->credentials);
    f->credentials = b;
    f->got_ms = sv_now_ms();
    f->replace_ms = f->asked_ms + life_ms / 4 * 3;
    f->end_ms = f->asked_ms + life_ms;
    f->code = 0;
    f->t->received++;
    sv_log_info("HDFS at %s: has given a token for PUBLIC resources, for %lld s", f->servers,
                (long long)life_ms / 1000);
    over(f);
}

static void on_renewed(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct file_system *f = userdata;
    const Hadoop__Common__RenewDelegationTokenResponseProto *m = (const void *)r->response;
    int64_t life = UNKNOWN_MS, longest;

    if (r->status < 0 && r->status != -EREMOTEIO) {
        failed(f, r->status, err->text);
        return;
    }
    if (__builtin_sub_overflow(f->id.max_ms, f->id.issue_ms, &longest) ||
        (m && (m->newexpirytime > INT64_MAX ||
               __builtin_sub_overflow((int64_t)m->newexpirytime, f->id.issue_ms, &life))))
        life = 0;
    life = SV_MIN(SV_MIN(life, longest), LIFE_MAX_MS);
    if (life <= 0)
        failed(f, -EBADMSG, "the NameNode's token has ended before it began");
    else
        got(f, life);
}

static void on_token(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct file_system *f = userdata;
    const Hadoop__Common__GetDelegationTokenResponseProto *m = (const void *)r->response;
    Hadoop__Common__RenewDelegationTokenRequestProto q =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    int k;

    if (r->status < 0) {
        if (ipc_failure_of(r) == IPC_FAILURE_AUTH)
            ipc_proxy_fail_over(f->proxy); /* the next request asks the next one */
        failed(f, r->status, err->text);
        return;
    }
    if (!m->token) {
        failed(
            f, -EOPNOTSUPP,
            "the NameNode issues no tokens (its hadoop.security.authentication is not kerberos?)");
        return;
    }
    if (!sv_streq(m->token->kind, YARN_KIND_HDFS_DELEGATION) ||
        yarn_delegation_token_decode(m->token->identifier.data, m->token->identifier.len, &f->id,
                                     NULL) < 0) {
        failed(f, -EBADMSG, "the NameNode's token is malformed");
        return;
    }
    f->given = m->token;
    f->arena = SV_TAKE(*r->arena);
    q.token = m->token;
    k = ipc_proxy_call(f->proxy, "renewDelegationToken", &q.base,
                       &hadoop__common__renew_delegation_token_response_proto__descriptor,
                       HDFS_TOKEN_CALL_MS, on_renewed, f, NULL);
    if (k < 0)
        failed(f, k, strerror(-k));
}

static int ask(struct file_system *f, struct sv_error *err)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    int r;

    q.renewer = (char *)(uintptr_t)f->t->config.renewer;
    r = ipc_proxy_call(f->proxy, "getDelegationToken", &q.base,
                       &hadoop__common__get_delegation_token_response_proto__descriptor,
                       HDFS_TOKEN_CALL_MS, on_token, f, NULL);
    if (r < 0)
        return sv_error_errno(err, r, "HDFS at %s: token", f->servers);
    f->asked = true;
    f->asked_ms = sv_now_ms();
    return 0;
}

/* ---- File systems ---- */

static void file_system_free(struct file_system *f)
{
    f->proxy = ipc_proxy_free(f->proxy); /* ends its calls */
    f->arena = sv_arena_wipe(f->arena);
    sv_buf_wipe(&f->credentials);
    free(f);
}

static int open_proxy(struct file_system *f, const struct hdfs_site *site, struct sv_error *err)
{
    const struct nm_hdfs_tokens_config *config = &f->t->config;
    const struct hdfs_login login = { .event = config->event,
                                      .kerberos = config->kerberos,
                                      .qop_mask = config->qop_mask,
                                      .wait_ms = config->wait_ms };

    return hdfs_proxy_new(&login, site, &f->proxy, err);
}

static int add(struct nm_hdfs_tokens *t, const struct hdfs_site *site, const char *servers,
               struct file_system **ret, struct sv_error *err)
{
    struct file_system *f = calloc(1, sizeof(*f));
    int r;

    if (!f)
        return sv_error_errno(err, -ENOMEM, "HDFS at %s", servers);
    f->t = t;
    (void)snprintf(f->servers, sizeof(f->servers), "%s", servers);
    (void)snprintf(f->service, sizeof(f->service), "%s:%u", site->servers[0].host,
                   site->servers[0].port);
    r = open_proxy(f, site, err);
    if (r < 0) {
        file_system_free(f);
        return r;
    }
    DL_APPEND(t->list, f);
    *ret = f;
    return 0;
}

/* The NameNodes of "hdfs://host:port", in lower case: a job writes them as it likes. */
static int find_site(const struct nm_hdfs_tokens *t, const char *host, uint16_t port,
                     struct hdfs_site *ret, char servers[HDFS_SERVERS_TEXT_MAX + 1],
                     struct sv_error *err)
{
    int r = hdfs_conf_site(t->config.conf, host, port, ret, err);

    if (r < 0)
        return r;
    for (unsigned i = 0; i < ret->n_servers; i++)
        for (char *c = ret->servers[i].host; *c; c++)
            *c = (char)tolower((unsigned char)*c);
    return hdfs_servers_text(ret, servers) < 0
               ? sv_error_set(err, -E2BIG, "the addresses of its NameNodes are too long")
               : 0;
}

static struct file_system *find(const struct nm_hdfs_tokens *t, const char *servers)
{
    struct file_system *f;

    DL_FOREACH (t->list, f)
        if (strcmp(f->servers, servers) == 0)
            return f;
    return NULL;
}

static int find_or_add(struct nm_hdfs_tokens *t, const char *host, uint16_t port,
                       struct file_system **ret, struct sv_error *err)
{
    char servers[HDFS_SERVERS_TEXT_MAX + 1];
    const struct hdfs_server *foreign;
    struct hdfs_site site;
    int r = find_site(t, host, port, &site, servers, err);

    if (r < 0)
        return r;
    *ret = find(t, servers);
    if (*ret)
        return 0;
    foreign = hdfs_cluster_foreign(t->cluster, &site);
    if (foreign)
        return sv_error_set(err, -EACCES,
                            "the NameNode %s:%u is not in this node's configuration "
                            "(" HDFS_CLUSTER_KEYS
                            "): the NodeManager does not log in there to read "
                            "PUBLIC resources; name it there, or make the resource PRIVATE",
                            foreign->host, foreign->port);
    return add(t, &site, servers, ret, err);
}

/* ---- For localization ---- */

int nm_hdfs_tokens_get(struct nm_hdfs_tokens *t, const char *host, uint16_t port,
                       const struct sv_buf **ret, struct sv_error *err)
{
    struct file_system *f = NULL;
    struct sv_error ignored = { 0 };
    int64_t now = sv_now_ms();
    bool valid, rests;
    int r = find_or_add(t, host, port, &f, err);

    if (r < 0)
        return r;
    valid = f->credentials.len > 0 && now < f->end_ms;
    rests = f->code < 0 && now - f->failed_ms < REST_MS;
    if (valid) {
        if (now >= f->replace_ms && !f->asked && !rests)
            (void)!ask(f, &ignored); /* the next request tries again, ignoring */
        *ret = &f->credentials;
        return 0;
    }
    if (f->asked)
        return -EAGAIN;
    if (rests)
        return sv_error_set(err, f->code, "no token of HDFS at %s: %s", f->servers, f->why);
    r = ask(f, err);
    return r < 0 ? r : -EAGAIN;
}

bool nm_hdfs_tokens_refused(struct nm_hdfs_tokens *t, const char *host, uint16_t port)
{
    char servers[HDFS_SERVERS_TEXT_MAX + 1];
    struct hdfs_site site;
    struct file_system *f =
        find_site(t, host, port, &site, servers, NULL) < 0 ? NULL : find(t, servers);

    if (!f)
        return false;
    if (f->credentials.len > 0 && sv_now_ms() - f->got_ms < YOUNG_MS)
        return false;
    sv_buf_wipe(&f->credentials);
    return true;
}

void nm_hdfs_tokens_counts(const struct nm_hdfs_tokens *t, struct nm_hdfs_tokens_counts *ret)
{
    const int64_t now = sv_now_ms();
    const struct file_system *f;

    *ret = (struct nm_hdfs_tokens_counts){ .received = t->received, .failed = t->failed };
    DL_FOREACH (t->list, f) {
        ret->valid += f->credentials.len > 0 && now < f->end_ms;
        ret->failing += f->code < 0;
    }
}

int nm_hdfs_tokens_new(const struct nm_hdfs_tokens_config *cfg, struct nm_hdfs_tokens **ret)
{
    struct nm_hdfs_tokens *t = calloc(1, sizeof(*t));
    int r;

    if (!t)
        return -ENOMEM;
    t->config = *cfg;
    r = hdfs_cluster_new(cfg->conf, &t->cluster);
    if (r < 0) {
        free(t);
        return r;
    }
    *ret = t;
    return 0;
}

struct nm_hdfs_tokens *nm_hdfs_tokens_free(struct nm_hdfs_tokens *t)
{
    struct file_system *f, *next;

    if (!t)
        return NULL;
    t->closing = true;
    DL_FOREACH_SAFE (t->list, f, next)
        file_system_free(f);
    hdfs_cluster_free(t->cluster);
    free(t);
    return NULL;
}
