/* See login.h. */
#include "client/lib/login.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/fd.h"
#include "common/str.h"
#include "hdfs/conf.h"
#include "hdfs/namenode.h"
#include "wire/sasl/auth-conf.h"
#include "wire/sasl/qop.h"

enum {
    K_PRINCIPAL,
    K_KEYTAB,
    K_CACHE,
    K_RM,
    K_RM_PATTERN,
    K_NAMENODE,
    K_NAMENODE_PATTERN,
    K_PROTECTION,
    K_COUNT
};

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_PRINCIPAL] = { "selvedge.client.kerberos.principal", SV_CONF_STRING, NULL, .help = "With Kerberos: whose tickets selvedge and libselvedge-client use, as --principal. Unset: a token of $HADOOP_TOKEN_FILE_LOCATION, else the ticket of kinit." },
    [K_KEYTAB] = { "selvedge.client.kerberos.keytab", SV_CONF_STRING, NULL, .help = "A file with that principal's key, as --keytab: tickets are taken with it, and renewed for as long as the program runs." },
    [K_CACHE] = { "hadoop.security.kerberos.ticket.cache.path", SV_CONF_STRING, NULL, .help = "Where the user's tickets are. Unset: $KRB5CCNAME, or krb5.conf's default_ccache_name: FILE, DIR, KEYRING or KCM." },
    [K_RM] = { CLI_RM_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who the ResourceManager must be, NAME/_HOST@REALM; _HOST is its host as its address has it." },
    [K_RM_PATTERN] = { CLI_RM_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead." },
    [K_NAMENODE] = { CLI_NAMENODE_PRINCIPAL, SV_CONF_STRING, NULL, .help = "With Kerberos: who a NameNode must be, likewise." },
    [K_NAMENODE_PATTERN] = { CLI_NAMENODE_PRINCIPAL ".pattern", SV_CONF_STRING, NULL, .help = "A glob of principals that it may be instead." },
    [K_PROTECTION] = { "hadoop.rpc.protection", SV_CONF_STRING, "authentication", .help = "Protection of connections that are authenticated: a list of authentication, integrity, privacy; the strongest that the server offers is taken." },
};
/* clang-format on */
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

struct cli_login {
    struct hdfs_tickets hdfs;
    struct sv_conf *conf;
    const char *value[K_COUNT]; /* the configuration's; NULL: not set, or empty */
    struct ipc_ticket *ticket;
    uint32_t qop_mask;
    char *file; /* bytes of the token file */
    size_t file_len;
    int fd;
    struct sv_arena *arena; /* of the tokens */
    const struct yarn_token *token;
    char owner[256];
};

const struct sv_conf_key *cli_login_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* ---- Tokens ---- */

static bool names_server(const char *service, const struct ipc_proxy_server *s, const char *host)
{
    char text[300];
    size_t n = (size_t)snprintf(text, sizeof(text), "%s:%u", host, s->port);

    for (const char *p = service; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == n && strncasecmp(p, text, n) == 0)
            return true;
    return false;
}

static bool names_address(const char *service, const struct ipc_proxy_server *s)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    char address[NI_MAXHOST];
    bool found = false;

    if (getaddrinfo(s->host, NULL, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *i = list; i && !found; i = i->ai_next)
        found = getnameinfo(i->ai_addr, i->ai_addrlen, address, sizeof(address), NULL, 0,
                            NI_NUMERICHOST) == 0 &&
                names_server(service, s, address);
    freeaddrinfo(list);
    return found;
}

static bool is_for(const char *service, const struct ipc_proxy_config *rm)
{
    for (size_t i = 0; i < rm->n_servers; i++)
        if (names_server(service, &rm->servers[i], rm->servers[i].host) ||
            names_address(service, &rm->servers[i]))
            return true;
    return false;
}

const struct yarn_token *cli_login_choose(const struct yarn_credentials *all,
                                          const struct ipc_proxy_config *rm)
{
    const struct yarn_token *only = NULL;
    size_t n = 0;

    for (size_t i = 0; i < all->n_tokens; i++)
        if (sv_streq(all->tokens[i].token.kind, YARN_KIND_RM_DELEGATION)) {
            only = &all->tokens[i].token;
            n++;
        }
    if (n < 2)
        return only;
    for (size_t i = 0; i < all->n_tokens; i++) {
        const struct yarn_token *t = &all->tokens[i].token;

        if (sv_streq(t->kind, YARN_KIND_RM_DELEGATION) && is_for(t->service, rm))
            return t;
    }
    return NULL;
}

static int read_file(struct cli_login *l, struct yarn_credentials *ret, struct sv_error *err)
{
    const char *path = getenv("HADOOP_TOKEN_FILE_LOCATION");
    int r;

    if (!path || !*path)
        return 0;
    l->arena = sv_arena_new(0);
    l->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    r = l->fd < 0 ? -errno : l->arena ? 0 : -ENOMEM;
    if (r == 0)
        r = sv_read_file_at(AT_FDCWD, path, YARN_CREDENTIALS_MAX, &l->file, &l->file_len);
    if (r < 0)
        return sv_error_errno(err, r, "$HADOOP_TOKEN_FILE_LOCATION, %s", path);
    r = yarn_credentials_parse((uint8_t *)l->file, l->file_len, l->arena, ret, err);
    return r < 0 ? sv_error_wrap(err, "$HADOOP_TOKEN_FILE_LOCATION, %s", path) : 0;
}

static int find_token(struct cli_login *l, struct sv_error *err)
{
    struct yarn_credentials all = { 0 };
    struct yarn_delegation_token id;
    struct ipc_proxy_config rm;
    int r = read_file(l, &all, err);

    if (r == 0)
        r = yarn_rm_proxy_config(l->conf, YARN_RM_CLIENTS, &rm, err);
    if (r < 0)
        return r;
    l->token = cli_login_choose(&all, &rm);
    if (!l->token)
        return 0;
    r = yarn_delegation_token_decode(l->token->id, l->token->id_len, &id, err);
    if (r < 0)
        return sv_error_wrap(err, "$HADOOP_TOKEN_FILE_LOCATION: " YARN_KIND_RM_DELEGATION);
    (void)snprintf(l->owner, sizeof(l->owner), "%s", id.owner);
    return 0;
}

/* ---- Tickets ---- */

struct namenode_login { /* for one loop */
    struct ipc_ticket_service service;
};

static int open_hdfs(const struct hdfs_tickets *t, sd_event *event, struct ipc_kerberos **ret)
{
    struct namenode_login *n = calloc(1, sizeof(*n));

    if (!n)
        return -ENOMEM;
    cli_login_namenode_service((const struct cli_login *)t, event, &n->service);
    *ret = &n->service.ipc;
    return 0;
}

static void close_hdfs(struct ipc_kerberos *k)
{
    free(k); /* the first member of the first member */
}

static int find_ticket(struct cli_login *l, struct sv_error *err)
{
    const char *const *v = l->value;
    const struct ipc_ticket_config cfg = { .principal = v[K_PRINCIPAL],
                                           .keytab = v[K_KEYTAB],
                                           .cache = v[K_CACHE] };
    int r = ipc_ticket_new(&cfg, &l->ticket, err);

    if (r == -ENOKEY && l->file_len > 0)
        return sv_error_wrap(err, "no " YARN_KIND_RM_DELEGATION
                                  " for this ResourceManager in $HADOOP_TOKEN_FILE_LOCATION, and");
    return r;
}

/* ---- Life ---- */

static int read_keys(struct cli_login *l, struct sv_error *err)
{
    int r = hdfs_conf_load(l->conf, err);

    for (size_t i = 0; r >= 0 && i < K_COUNT; i++) {
        r = sv_conf_string(l->conf, &keys[i], &l->value[i], err);
        if (r >= 0 && l->value[i] && !*l->value[i])
            l->value[i] = NULL;
    }
    if (r >= 0 && l->value[K_KEYTAB] && !l->value[K_PRINCIPAL])
        r = sv_error_set(err, -EINVAL, "%s=%s: whose key is to be used? Set %s, or --principal",
                         keys[K_KEYTAB].name, l->value[K_KEYTAB], keys[K_PRINCIPAL].name);
    if (r >= 0)
        r = ipc_qop_parse(l->value[K_PROTECTION], &l->qop_mask, err);
    return r < 0 ? r : 0;
}

/* Hadoop's clients act for that user; servers say whether the ticket's owner may. */
static const char *proxy_user(void)
{
    const char *name = getenv("HADOOP_PROXY_USER");

    return name && *name ? name : NULL;
}

int cli_login_new(struct sv_conf *conf, enum yarn_rm_service service, struct cli_login **ret,
                  struct sv_error *err)
{
    _cleanup_(cli_login_freep) struct cli_login *l = NULL;
    bool kerberos;
    int r = yarn_auth_kerberos(conf, &kerberos, err);

    if (r < 0)
        return r;
    *ret = NULL;
    if (!kerberos)
        return 0;
    l = calloc(1, sizeof(*l));
    if (!l)
        return sv_error_errno(err, -ENOMEM, "Kerberos");
    l->hdfs = (struct hdfs_tickets){ .open = open_hdfs, .close = close_hdfs };
    l->hdfs.for_user = proxy_user();
    l->conf = conf;
    l->fd = -1;
    r = read_keys(l, err);
    if (r == 0 && !l->value[K_PRINCIPAL] && service != YARN_RM_ADMIN)
        r = find_token(l, err);
    if (r == 0 && !l->token)
        r = find_ticket(l, err);
    if (r == 0)
        *ret = SV_TAKE(l);
    return r;
}

struct cli_login *cli_login_free(struct cli_login *l)
{
    if (!l)
        return NULL;
    ipc_ticket_free(l->ticket);
    l->arena = sv_arena_wipe(l->arena);
    if (l->file)
        explicit_bzero(l->file, l->file_len);
    free(l->file);
    sv_close(l->fd);
    free(l);
    return NULL;
}

const char *cli_login_principal(const struct cli_login *l)
{
    return l->token ? l->owner : ipc_ticket_principal(l->ticket);
}

const char *cli_login_for_user(const struct cli_login *l)
{
    return l->ticket ? l->hdfs.for_user : NULL;
}

const struct ipc_ticket *cli_login_ticket(const struct cli_login *l)
{
    return l->ticket;
}

const struct yarn_token *cli_login_token(const struct cli_login *l)
{
    return l->token;
}

uint32_t cli_login_qop(const struct cli_login *l)
{
    return l->qop_mask;
}

const uint8_t *cli_login_credentials(const struct cli_login *l, size_t *ret_len)
{
    *ret_len = l->file_len;
    return l->file ? (const uint8_t *)l->file : (const uint8_t *)"";
}

int cli_login_credentials_fd(const struct cli_login *l)
{
    return l->fd;
}

const struct hdfs_tickets *cli_login_hdfs(const struct cli_login *l)
{
    return l->ticket ? &l->hdfs : NULL;
}

void cli_login_rm_service(const struct cli_login *l, sd_event *event,
                          struct ipc_ticket_service *ret)
{
    ipc_ticket_service_init(ret, l->ticket, event, CLI_RM_PRINCIPAL, l->value[K_RM],
                            l->value[K_RM_PATTERN]);
}

void cli_login_namenode_service(const struct cli_login *l, sd_event *event,
                                struct ipc_ticket_service *ret)
{
    ipc_ticket_service_init(ret, l->ticket, event, CLI_NAMENODE_PRINCIPAL, l->value[K_NAMENODE],
                            l->value[K_NAMENODE_PATTERN]);
}
