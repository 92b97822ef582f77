/* See tokens.h. One server after the other. */
#include "client/lib/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "client/lib/login.h"
#include "client/lib/token-service.h"
#include "common/identity/principal.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "fs/resolve.h"
#include "fs/tokens.h"
#include "hdfs/conf.h"
#include "hdfs/namenode-proxy.h"
#include "proto/security.pb-c.h"
#include "wire/ipc/methods.h"

struct cli_tokens {
    sd_event *event;
    struct sv_conf *conf;
    const struct cli_login *login;
    cli_tokens_fn fn;
    void *userdata;
    sd_event_source *turn; /* the next NameNode, or the end */
    struct hdfs_site *sites;
    size_t n_sites, of_rm, at; /* behind the sites, 1: the ResourceManager's is wanted, too */
    struct ipc_proxy_config servers;
    struct ipc_ticket_service namenode, rm;
    struct ipc_proxy *proxy; /* of sites[at], or of the ResourceManager */
    const Hadoop__Common__TokenProto *given;
    struct sv_arena *answer; /* of `given` */
    struct cli_service_name *name;
    char renewer[SV_PRINCIPAL_MAX + 1];
    struct sv_arena *arena;
    struct yarn_credentials all;
};

/* ---- File systems ---- */

static bool is_known(const struct cli_tokens *t, const struct hdfs_site *site)
{
    char one[HDFS_SERVERS_TEXT_MAX + 1], other[HDFS_SERVERS_TEXT_MAX + 1];

    if (hdfs_servers_text(site, one) < 0)
        return false;
    for (size_t i = 0; i < t->n_sites; i++)
        if (hdfs_servers_text(&t->sites[i], other) == 0 && strcasecmp(one, other) == 0)
            return true;
    return false;
}

static int add_site(struct cli_tokens *t, const char *url, struct sv_error *err)
{
    struct hdfs_site *site = &t->sites[t->n_sites];
    char below[FS_URL_MAX + 1];
    struct fs_url at;
    const char *slash = sv_has_suffix(url, "/") ? "" : "/";
    int r;

    if (snprintf(below, sizeof(below), "%s%s-", url, slash) >= (int)sizeof(below))
        return sv_error_set(err, -ENAMETOOLONG, "tokens: a url is too long");
    r = fs_resolve_url(t->conf, below, &at, err); /* a name below, since a root is no file's url */
    if (r < 0 || at.scheme != FS_SCHEME_HDFS)
        return r;
    r = hdfs_conf_site(t->conf, at.host, at.port, site, err);
    if (r == 0 && !is_known(t, site))
        t->n_sites++;
    return r;
}

static int add_url(struct cli_tokens *t, const char *url, struct sv_error *err)
{
    if (!sv_streq(url, CLI_TOKENS_OF_RM))
        return add_site(t, url, err);
    t->of_rm = 1;
    return 0;
}

/* ---- One server ---- */

/* A token that is taken now comes before what the file has for the same server. */
static int gather(struct cli_tokens *t, struct sv_buf *out, struct sv_error *err)
{
    _cleanup_buf_wipe_ struct sv_buf files = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct yarn_credentials all = { 0 };
    struct fs_credentials part = { 0 };
    int r;

    part.p = cli_login_credentials(t->login, &part.n);
    r = fs_tokens_gather(&part, 1, &files, err);
    if (r == 0)
        r = yarn_credentials_parse(files.data, files.len, t->arena, &all, err);
    for (size_t i = 0; r == 0 && i < t->all.n_tokens; i++)
        r = yarn_credentials_add(t->arena, &all, t->all.tokens[i].alias, &t->all.tokens[i].token);
    return r < 0 || all.n_tokens == 0 ? r : yarn_credentials_write(&all, out);
}

static void end(struct cli_tokens *t, int status, const struct sv_error *err)
{
    _cleanup_buf_wipe_ struct sv_buf out = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct sv_error why = { 0 };

    if (status == 0 && t->login) {
        status = gather(t, &out, &why);
        err = status < 0 && why.code ? &why : NULL;
    }
    t->fn(status, out.data, status < 0 ? 0 : out.len, err, t->userdata);
}

static int keep(struct cli_tokens *t, const char *service, struct sv_error *err)
{
    struct yarn_token token;
    int r = yarn_token_from(t->given, t->arena, &token);

    if (r == 0) {
        token.service = service;
        r = yarn_credentials_add(t->arena, &t->all, service, &token);
    }
    return r < 0 ? sv_error_errno(err, r, "token") : 0;
}

static void fail(struct cli_tokens *t, int status, struct sv_error *err)
{
    if (t->at < t->n_sites)
        (void)sv_error_wrap(err, "delegation token of HDFS at %s", t->sites[t->at].servers[0].host);
    else
        (void)sv_error_wrap(err, "delegation token of the ResourceManager");
    end(t, status, err);
}

static void on_name(const char *service, void *userdata)
{
    struct cli_tokens *t = userdata;
    struct sv_error err = { 0 };
    int r = keep(t, service, &err);

    t->given = NULL;
    t->answer = sv_arena_wipe(t->answer);
    t->name = cli_service_name_free(t->name);
    if (r < 0) {
        fail(t, r, &err);
        return;
    }
    t->at++;
    (void)sd_event_source_set_enabled(t->turn, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* The name of a token of the file system is its nameservice, or its NameNode. */
static int name_it(struct cli_tokens *t)
{
    struct cli_service_server servers[IPC_PROXY_SERVERS_MAX];
    char logical[sizeof("ha-hdfs:") + HDFS_HOST_MAX];
    size_t n = 0;

    if (t->at < t->n_sites && t->sites[t->at].nameservice[0]) {
        (void)snprintf(logical, sizeof(logical), "ha-hdfs:%s", t->sites[t->at].nameservice);
        on_name(logical, t);
        return 0;
    }
    if (t->at < t->n_sites)
        servers[n++] = (struct cli_service_server){ t->sites[t->at].servers[0].host,
                                                    t->sites[t->at].servers[0].port };
    else
        for (; n < t->servers.n_servers; n++)
            servers[n] = (struct cli_service_server){ t->servers.servers[n].host,
                                                      t->servers.servers[n].port };
    return cli_service_name_find(t->event, t->conf, servers, n, on_name, t, &t->name);
}

static void on_token(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct cli_tokens *t = userdata;
    const Hadoop__Common__GetDelegationTokenResponseProto *m = (const void *)r->response;
    const char *kind = t->at < t->n_sites ? YARN_KIND_HDFS_DELEGATION : YARN_KIND_RM_DELEGATION;
    struct sv_error why = { 0 };
    int status = r->status;

    if (status == -ECANCELED) /* it is being freed */
        return;
    if (status < 0 && err)
        why = *err;
    if (status == 0 && (!m->token || !sv_streq(m->token->kind, kind)))
        status = sv_error_set(&why, -EBADMSG, "no such token is in the answer");
    if (status == 0) {
        t->given = m->token;
        t->answer = SV_TAKE(*r->arena);
        status = name_it(t);
    }
    if (status < 0)
        fail(t, status, &why);
}

static int ask(struct cli_tokens *t, struct sv_error *err)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    int r;

    q.renewer = t->renewer;
    r = ipc_proxy_call(t->proxy, "getDelegationToken", &q.base,
                       &hadoop__common__get_delegation_token_response_proto__descriptor,
                       HDFS_TOKEN_CALL_MS, on_token, t, NULL);
    return r < 0 ? sv_error_errno(err, r, "getDelegationToken") : 0;
}

static int ask_rm(struct cli_tokens *t, struct sv_error *err)
{
    struct ipc_proxy_config cfg = t->servers;
    int r;

    t->proxy = ipc_proxy_free(t->proxy);
    cfg.client.protocol = YARN_APPLICATION_CLIENT_PROTOCOL;
    cfg.client.kerberos = &t->rm.ipc;
    cfg.client.for_user = cli_login_for_user(t->login);
    cfg.client.qop_mask = cli_login_qop(t->login);
    r = ipc_proxy_new(t->event, &cfg, &t->proxy, err);
    return r < 0 ? r : ask(t, err);
}

static int ask_namenode(struct cli_tokens *t, struct sv_error *err)
{
    const struct hdfs_login login = { .event = t->event,
                                      .kerberos = &t->namenode.ipc,
                                      .for_user = cli_login_for_user(t->login),
                                      .qop_mask = cli_login_qop(t->login) };
    int r;

    t->proxy = ipc_proxy_free(t->proxy);
    r = hdfs_proxy_new(&login, &t->sites[t->at], &t->proxy, err);
    return r < 0 ? r : ask(t, err);
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cli_tokens *t = userdata;
    struct sv_error err = { 0 };
    int r = 0;

    (void)s;
    if (t->at < t->n_sites)
        r = ask_namenode(t, &err);
    else if (t->at < t->n_sites + t->of_rm)
        r = ask_rm(t, &err);
    else
        end(t, 0, NULL);
    if (r < 0)
        fail(t, r, &err);
    return 0;
}

/* ---- Begin and end ---- */

/* The ResourceManager's principal, who renews them. */
static int find_renewer(struct cli_tokens *t, struct sv_error *err)
{
    const char *configured = sv_conf_raw(t->conf, CLI_RM_PRINCIPAL);
    int r = yarn_rm_proxy_config(t->conf, YARN_RM_CLIENTS, &t->servers, err);

    if (r == 0 && (!configured || !*configured))
        r = sv_error_set(err, -EINVAL,
                         CLI_RM_PRINCIPAL " is not set: it says who renews the job's tokens, such "
                                          "as rm/_HOST@REALM");
    if (r == 0)
        r = sv_principal_for_host(configured, t->servers.servers[0].host,
                                  t->servers.servers[0].host, t->renewer, err);
    return r;
}

static int prepare(struct cli_tokens *t, const char *const *urls, size_t n, struct sv_error *err)
{
    int r = 0;

    t->arena = sv_arena_new(0);
    t->sites = calloc(n + 1, sizeof(*t->sites));
    if (!t->arena || !t->sites)
        return sv_error_errno(err, -ENOMEM, "tokens");
    if (t->login && cli_login_ticket(t->login)) {
        cli_login_namenode_service(t->login, t->event, &t->namenode);
        cli_login_rm_service(t->login, t->event, &t->rm);
        for (size_t i = 0; r == 0 && i < n; i++)
            r = add_url(t, urls[i], err);
        if (r == 0 && t->n_sites + t->of_rm > 0)
            r = find_renewer(t, err);
    }
    if (r < 0)
        return r;
    r = sd_event_add_defer(t->event, &t->turn, on_turn, t);
    return r < 0 ? sv_error_errno(err, r, "tokens") : 0;
}

int cli_tokens_fetch(sd_event *event, struct sv_conf *conf, const struct cli_login *login,
                     const char *const *urls, size_t n, cli_tokens_fn fn, void *userdata,
                     struct cli_tokens **ret, struct sv_error *err)
{
    struct cli_tokens *t;
    int r;

    if (n > CLI_TOKENS_URLS_MAX)
        return sv_error_set(err, -E2BIG, "tokens: more than %d file systems", CLI_TOKENS_URLS_MAX);
    t = calloc(1, sizeof(*t));
    if (!t)
        return sv_error_errno(err, -ENOMEM, "tokens");
    t->event = event;
    t->conf = conf;
    t->login = login;
    t->fn = fn;
    t->userdata = userdata;
    r = prepare(t, urls, n, err);
    if (r < 0)
        cli_tokens_free(t);
    else
        *ret = t;
    return r;
}

struct cli_tokens *cli_tokens_free(struct cli_tokens *t)
{
    if (!t)
        return NULL;
    ipc_proxy_free(t->proxy);
    cli_service_name_free(t->name);
    sd_event_source_disable_unref(t->turn);
    t->answer = sv_arena_wipe(t->answer);
    t->arena = sv_arena_wipe(t->arena);
    free(t->sites);
    free(t);
    return NULL;
}
