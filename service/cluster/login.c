/* See login.h. Hostile: what a NameNode answers, as far as a token has limits; the helper. */
#include "service/cluster/login.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/identity/principal.h"
#include "common/log.h"
#include "common/str.h"
#include "gss/daemon.h"
#include "hdfs/conf.h"
#include "service/cluster/internal.h"
#include "service/cluster/kerberos-conf.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/ipc/methods.h"
#include "wire/ipc/proxy.h"
#include "wire/token/token.h"

#define LOOK_MS 5      /* between two looks whether the ticket is there */
#define CALL_MS 20000  /* one attempt at a NameNode */
#define CANCEL_MS 2000 /* to give a token back, beyond the request's time */
#define ANSWER_MAX ((size_t)1 << 20)
#define INTERVAL_MS 1000
#define SERVICE_MAX (NI_MAXHOST + 16) /* bytes of a token's service */

struct login_token { /* of one server */
    struct svc_login *l;
    struct ipc_proxy *proxy;
    struct sv_arena *arena;
    const Hadoop__Common__TokenProto *given; /* NULL: none, or it was handed on */
};

struct svc_login {
    struct svc_cluster *c;
    struct sgss_daemon *daemon;
    struct sgss_service rm, namenode;
    struct login_token of_hdfs, of_rm;
    struct sv_arena *arena;      /* of `all` */
    struct yarn_credentials all; /* both, for the application */
    struct sv_buf credentials;   /* their bytes */
    int fd;                      /* a file with the token of HDFS; -1: none yet */
};

static const struct svc_kerberos_conf *kerberos_of(const struct svc_cluster *c)
{
    return c->cfg.kerberos;
}

/* ---- The ticket ---- */

static int start(struct svc_login *l, struct sv_error *err)
{
    const struct svc_kerberos_conf *k = kerberos_of(l->c);
    const char *const keytabs[] = { k->keytab, NULL };
    const struct sgss_daemon_config cfg = { .event = l->c->event,
                                            .principal = k->principal,
                                            .helper = k->helper,
                                            .keytabs = keytabs,
                                            .krb5_conf = k->krb5_conf };
    int r = sgss_daemon_new(&cfg, &l->daemon, err);

    if (r < 0)
        return sv_error_wrap(err, "Kerberos");
    sgss_service_init(&l->rm, l->daemon, SVC_RM_PRINCIPAL, k->rm_principal, k->rm_pattern, k->host);
    sgss_service_init(&l->namenode, l->daemon, SVC_NAMENODE_PRINCIPAL, k->namenode_principal,
                      k->namenode_pattern, k->host);
    return 0;
}

static int wait_for_ticket(struct svc_login *l, struct sv_error *err)
{
    struct sgss_daemon_state s = sgss_daemon_state(l->daemon);
    int r = 0;

    while (r == 0 && s.until == 0 && s.pending) {
        r = svc_wait_ms(l->c, LOOK_MS);
        s = sgss_daemon_state(l->daemon);
    }
    if (r < 0)
        return sv_error_set(err, r, "Kerberos: no ticket for %s in time",
                            kerberos_of(l->c)->principal);
    return s.until
               ? 0
               : sv_error_set(err, -EKEYREJECTED, "Kerberos: this server has no ticket for %s: %s",
                              kerberos_of(l->c)->principal, s.words);
}

int svc_login_open(struct svc_cluster *c, struct sv_error *err)
{
    struct svc_login *l;
    int r;

    if (c->login)
        return 0;
    l = c->login = calloc(1, sizeof(*l));
    if (!l)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    l->c = c;
    l->fd = -1;
    l->credentials = SV_BUF_INIT(6 * YARN_TOKEN_ID_MAX);
    l->of_hdfs.l = l->of_rm.l = l;
    l->arena = sv_arena_new(0);
    r = l->arena ? start(l, err) : sv_error_errno(err, -ENOMEM, "Kerberos");
    if (r == 0)
        r = wait_for_ticket(l, err);
    if (r < 0)
        c->login = svc_login_free(l);
    return r;
}

const struct ipc_kerberos *svc_login_rm(const struct svc_login *l)
{
    return &l->rm.ipc;
}

/* ---- Tokens ---- */

static void forget(struct login_token *t)
{
    t->proxy = ipc_proxy_free(t->proxy);
    t->given = NULL;
    t->arena = sv_arena_wipe(t->arena);
}

/* The ResourceManager's principal, who renews them. */
static int renewer_of(const struct svc_cluster *c, char ret[SV_PRINCIPAL_MAX + 1],
                      struct sv_error *err)
{
    const struct svc_kerberos_conf *k = kerberos_of(c);
    struct ipc_proxy_config rm;
    int r = yarn_rm_proxy_config(c->cfg.conf, YARN_RM_CLIENTS, &rm, err);

    if (r == 0)
        r = sv_principal_for_host(k->rm_principal, rm.servers[0].host, k->host, ret, err);
    return r < 0 ? sv_error_wrap(err, SVC_RM_PRINCIPAL) : 0;
}

static int open_namenode(struct svc_login *l, const struct hdfs_site *site, struct sv_error *err)
{
    struct ipc_proxy_config cfg = {
        .client = { .protocol = HDFS_CLIENT_PROTOCOL,
                    .version = 1,
                    .kerberos = &l->namenode.ipc,
                    .for_user = l->c->cfg.user,
                    .qop_mask = kerberos_of(l->c)->qop_mask,
                    .call_ms = CALL_MS,
                    .max_frame = ANSWER_MAX },
        .n_servers = site->n_servers,
        .retry = { .kind = site->n_servers > 1 ? IPC_RETRY_FAILOVER : IPC_RETRY_RM,
                   .connect_interval_ms = INTERVAL_MS,
                   .max_wait_ms = CALL_MS,
                   .interval_ms = INTERVAL_MS,
                   .max_failovers = (int)site->failover.attempts,
                   .base_ms = site->failover.base_ms,
                   .max_ms = site->failover.max_ms },
    };

    for (unsigned i = 0; i < site->n_servers; i++) {
        cfg.servers[i].host = site->servers[i].host;
        cfg.servers[i].port = site->servers[i].port;
    }
    return ipc_proxy_new(l->c->event, &cfg, &l->of_hdfs.proxy, err);
}

static void on_token(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct svc_wait *w = userdata;
    struct login_token *t = w->out;

    if (r->status == 0) {
        const Hadoop__Common__GetDelegationTokenResponseProto *m = (const void *)r->response;

        t->given = m->token;
        t->arena = SV_TAKE(*r->arena);
    }
    svc_wait_end(w, r->status, err);
}

static int ask(struct login_token *t, const char *kind, struct sv_error *err)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    char renewer[SV_PRINCIPAL_MAX + 1];
    struct svc_wait w = { .err = err, .out = t };
    int r = renewer_of(t->l->c, renewer, err);

    if (r < 0)
        return r;
    q.renewer = renewer;
    r = ipc_proxy_call(t->proxy, "getDelegationToken", &q.base,
                       &hadoop__common__get_delegation_token_response_proto__descriptor, CALL_MS,
                       on_token, &w, NULL);
    if (r == 0)
        r = svc_wait_for(t->l->c, &w);
    if (r < 0) { /* ends the call, whose callback writes into *w */
        t->proxy = ipc_proxy_free(t->proxy);
        return sv_error_set(err, r, "it does not answer in time");
    }
    if (w.status == 0 && (!t->given || !sv_streq(t->given->kind, kind))) {
        t->given = NULL;
        return sv_error_set(err, -EBADMSG, "it gives no delegation token");
    }
    return w.status;
}

static size_t room_for(const struct yarn_credentials *all)
{
    size_t n = 64;

    for (size_t i = 0; i < all->n_tokens; i++) {
        const struct yarn_token *t = &all->tokens[i].token;

        n += t->id_len + t->password_len + 2 * strlen(t->service) + strlen(t->kind) + 64;
    }
    return n;
}

/* Adds it to what the application gets. */
static int keep(struct login_token *t, const char *service, struct sv_error *err)
{
    struct svc_login *l = t->l;
    struct yarn_token token;
    int r = yarn_token_from(t->given, l->arena, &token);

    if (r == 0) {
        token.service = sv_arena_strdup(l->arena, service);
        r = token.service ? yarn_credentials_add(l->arena, &l->all, token.service, &token)
                          : -ENOMEM;
    }
    sv_buf_wipe(&l->credentials);
    if (r == 0)
        r = sv_buf_reserve(&l->credentials, room_for(&l->all)); /* no copies are left behind */
    if (r == 0)
        r = yarn_credentials_write(&l->all, &l->credentials);
    return r < 0 ? sv_error_errno(err, r, "token") : 0;
}

/* A server as a token's service has it: by its address, unless
 * hadoop.security.token.service.use_ip is false. */
static void name_server(const struct svc_cluster *c, const char *host, unsigned port,
                        char ret[SERVICE_MAX])
{
    const char *use_ip = sv_conf_raw(c->cfg.conf, "hadoop.security.token.service.use_ip");
    const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    char address[NI_MAXHOST];
    struct addrinfo *list = NULL;

    (void)snprintf(ret, SERVICE_MAX, "%s:%u", host, port);
    if (!(use_ip && strcasecmp(use_ip, "false") == 0) &&
        getaddrinfo(host, NULL, &hints, &list) == 0 &&
        getnameinfo(list->ai_addr, list->ai_addrlen, address, sizeof(address), NULL, 0,
                    NI_NUMERICHOST) == 0)
        (void)snprintf(ret, SERVICE_MAX, "%s:%u", address, port);
    if (list)
        freeaddrinfo(list);
}

/* ---- HDFS ---- */

/* The name by which Hadoop's clients find the token: of the nameservice, or of the NameNode. */
static void name_hdfs(const struct svc_cluster *c, const struct hdfs_site *site,
                      char ret[SERVICE_MAX])
{
    if (site->nameservice[0])
        (void)snprintf(ret, SERVICE_MAX, "ha-hdfs:%s", site->nameservice);
    else
        name_server(c, site->servers[0].host, site->servers[0].port, ret);
}

static int make_file(struct svc_login *l, struct sv_error *err)
{
    const struct sv_buf *b = &l->credentials;
    int r = l->fd = memfd_create("credentials", MFD_CLOEXEC);

    if (r >= 0 && write(l->fd, b->data, b->len) != (ssize_t)b->len)
        r = -EIO;
    return r < 0 ? sv_error_errno(err, r, "token") : 0;
}

/* Gets the token for the file system of the definitions; a local one needs none. */
static int get_token(struct svc_login *l, struct sv_error *err)
{
    char service[SERVICE_MAX];
    struct hdfs_site site;
    struct fs_url at;
    int r;

    forget(&l->of_hdfs); /* of a call before that has failed */
    r = svc_store_place(l->c->cfg.conf, l->c->cfg.user, &at, err);

    if (r < 0 || at.scheme == FS_SCHEME_FILE)
        return r;
    if (at.scheme != FS_SCHEME_HDFS)
        return sv_error_set(err, -EOPNOTSUPP,
                            "definitions of services are on a file system of another scheme than "
                            "hdfs: with Kerberos only hdfs: and file: are served "
                            "(fs.defaultFS, yarn.service.base.path)");
    r = hdfs_conf_site(l->c->cfg.conf, at.host, at.port, &site, err);
    if (r == 0)
        r = open_namenode(l, &site, err);
    if (r == 0)
        r = ask(&l->of_hdfs, YARN_KIND_HDFS_DELEGATION, err);
    if (r == 0) {
        name_hdfs(l->c, &site, service);
        r = keep(&l->of_hdfs, service, err);
    }
    if (r == 0)
        r = make_file(l, err);
    return r < 0 ? sv_error_wrap(err, "HDFS at %s, as %s for %s", at.host,
                                 kerberos_of(l->c)->principal, l->c->cfg.user)
                 : 0;
}

int svc_login_credentials(struct svc_cluster *c, int *ret, struct sv_error *err)
{
    int r = 0;

    *ret = -1;
    if (!c->cfg.kerberos)
        return 0;
    r = svc_login_open(c, err);
    if (r == 0 && c->login->fd < 0)
        r = get_token(c->login, err);
    if (r == 0)
        *ret = c->login->fd;
    return r;
}

/* ---- The ResourceManager ---- */

/* The name lists all there are: "10.0.0.1:8032,10.0.0.2:8032". */
static int name_rm(const struct svc_cluster *c, const struct ipc_proxy_config *rm,
                   struct sv_buf *out)
{
    char one[SERVICE_MAX];
    int r = 0;

    for (size_t i = 0; r == 0 && i < rm->n_servers; i++) {
        name_server(c, rm->servers[i].host, rm->servers[i].port, one);
        r = i > 0 ? sv_buf_put_str(out, ",") : 0;
        if (r == 0)
            r = sv_buf_put_str(out, one);
    }
    return r < 0 ? r : sv_buf_put_u8(out, 0);
}

static int get_rm_token(struct svc_login *l, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf name = SV_BUF_INIT(IPC_PROXY_SERVERS_MAX * SERVICE_MAX);
    struct ipc_proxy_config cfg;
    int r = yarn_rm_proxy_config(l->c->cfg.conf, YARN_RM_CLIENTS, &cfg, err);

    if (r < 0)
        return r;
    r = name_rm(l->c, &cfg, &name);
    if (r < 0)
        return sv_error_errno(err, r, "token");
    cfg.client.protocol = YARN_APPLICATION_CLIENT_PROTOCOL;
    cfg.client.kerberos = &l->rm.ipc;
    cfg.client.for_user = l->c->cfg.user;
    cfg.client.qop_mask = kerberos_of(l->c)->qop_mask;
    r = ipc_proxy_new(l->c->event, &cfg, &l->of_rm.proxy, err);
    if (r == 0)
        r = ask(&l->of_rm, YARN_KIND_RM_DELEGATION, err);
    return r < 0 ? r : keep(&l->of_rm, (const char *)name.data, err);
}

int svc_login_rm_token(struct svc_cluster *c, struct sv_error *err)
{
    int r;

    if (!c->cfg.kerberos)
        return 0;
    r = svc_login_open(c, err);
    if (r == 0 && !c->login->of_rm.proxy)
        r = get_rm_token(c->login, err);
    return r < 0 ? sv_error_wrap(err, "delegation token of the ResourceManager, as %s for %s",
                                 kerberos_of(c)->principal, c->cfg.user)
                 : 0;
}

/* ---- For the application ---- */

void svc_login_tokens(const struct svc_cluster *c, const uint8_t **ret, size_t *ret_len)
{
    *ret = c->login ? c->login->credentials.data : NULL;
    *ret_len = c->login ? c->login->credentials.len : 0;
}

void svc_login_handed(struct svc_cluster *c)
{
    if (c->login)
        c->login->of_hdfs.given = c->login->of_rm.given = NULL;
}

/* ---- The end ---- */

static void on_cancelled(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    if (r->status < 0)
        sv_log_debug("a delegation token is not cancelled: %s", err->text);
    svc_wait_end(userdata, r->status, NULL);
}

static void cancel(struct login_token *t)
{
    Hadoop__Common__CancelDelegationTokenRequestProto q =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    struct svc_cluster *c = t->l->c;
    struct svc_wait w = { 0 };
    int r;

    if (!t->given || !t->proxy)
        return;
    q.token = (Hadoop__Common__TokenProto *)(uintptr_t)t->given;
    c->until_ms = SV_MAX(c->until_ms, sv_now_ms() + CANCEL_MS);
    r = ipc_proxy_call(t->proxy, "cancelDelegationToken", &q.base,
                       &hadoop__common__cancel_delegation_token_response_proto__descriptor,
                       CANCEL_MS, on_cancelled, &w, NULL);
    if (r == 0)
        r = svc_wait_for(c, &w);
    if (r < 0)
        sv_log_debug("a delegation token is not cancelled: %s", strerror(-r));
    t->proxy = ipc_proxy_free(t->proxy); /* before `w` goes */
}

struct svc_login *svc_login_free(struct svc_login *l)
{
    if (!l)
        return NULL;
    cancel(&l->of_rm);
    cancel(&l->of_hdfs);
    forget(&l->of_rm);
    forget(&l->of_hdfs);
    l->arena = sv_arena_wipe(l->arena);
    sv_buf_wipe(&l->credentials);
    l->fd = sv_close(l->fd);
    l->daemon = sgss_daemon_free(l->daemon);
    free(l);
    return NULL;
}
