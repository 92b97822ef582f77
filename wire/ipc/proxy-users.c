/* See proxy-users.h. A thread knows a `struct proxy_table` and nothing else. */
#include "wire/ipc/proxy-users.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/address.h"
#include "common/log.h"
#include "common/str.h"
#include "common/worker.h"
#include "wire/ipc/resolve.h"

#define PREFIX "hadoop.proxyuser."

enum { HOSTS, GROUPS, USERS, N_SUFFIXES };
static const char *const suffixes[N_SUFFIXES] = { ".hosts", ".groups", ".users" };

struct proxy_user {
    UT_hash_handle hh;
    char *name;
    char *values[N_SUFFIXES]; /* without blanks; NULL: no row */
    char *acl;                /* "users groups", or "*" */
    struct sv_network *networks;
    size_t n_networks;
    char **hosts; /* names to resolve */
};

struct proxy_table {
    struct proxy_user *users;
};

struct ipc_proxy_users {
    sd_event *event;
    void (*known)(void *userdata);
    void *userdata;
    struct proxy_table *table; /* NULL: no rows */
    struct sv_worker *worker;
    unsigned n_resolving; /* tables that will replace it */
};

static void user_free(struct proxy_user *u)
{
    for (size_t i = 0; i < N_SUFFIXES; i++)
        free(u->values[i]);
    free(u->name);
    free(u->acl);
    free(u->networks);
    sv_strv_free(u->hosts);
    free(u);
}

static struct proxy_table *table_free(struct proxy_table *t)
{
    struct proxy_user *u, *next;

    if (!t)
        return NULL;
    HASH_ITER (hh, t->users, u, next) {
        HASH_DEL(t->users, u);
        user_free(u);
    }
    free(t);
    return NULL;
}

static void table_freep(struct proxy_table **t)
{
    *t = table_free(*t);
}

/* ---- Rows ---- */

struct reading {
    struct proxy_table *table;
    struct sv_conf *conf;
    struct sv_error *err;
};

static struct proxy_user *user_of(struct proxy_table *t, const char *name, size_t len)
{
    struct proxy_user *u;

    HASH_FIND(hh, t->users, name, len, u);
    if (u)
        return u;
    u = calloc(1, sizeof(*u));
    if (!u)
        return NULL;
    u->name = strndup(name, len);
    if (!u->name) {
        free(u);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, t->users, u->name, len, u);
    return u;
}

static char *without_blanks(const char *text)
{
    char *copy = strdup(text), *to = copy;

    for (const char *from = text; copy && *from; from++)
        if (!strchr(" \t\r\n", *from))
            *to++ = *from;
    if (copy)
        *to = 0;
    return copy;
}

static int on_key(const char *name, const char *value, void *userdata)
{
    struct reading *g = userdata;
    struct sv_conf_key key = { name, SV_CONF_STRING, "", .help = "" };
    struct proxy_user *u;
    int r;

    (void)value; /* without its variables expanded */
    if (!sv_has_prefix(name, PREFIX))
        return 0;
    for (size_t i = 0; i < N_SUFFIXES; i++) {
        size_t len = strlen(name), cut = strlen(PREFIX) + strlen(suffixes[i]);
        const char *text;

        if (len <= cut || !sv_streq(name + len - strlen(suffixes[i]), suffixes[i]))
            continue;
        if ((r = sv_conf_string(g->conf, &key, &text, g->err)) < 0)
            return r;
        u = user_of(g->table, name + strlen(PREFIX), len - cut);
        if (!u || !(u->values[i] = without_blanks(text)))
            return sv_error_errno(g->err, -ENOMEM, "%s", name);
        return 0;
    }
    return 0;
}

static bool has_star(const char *list)
{
    _cleanup_strv_ char **v = NULL;
    bool found = false;

    if (sv_strv_split(list, ',', &v) < 0)
        return false;
    for (char **s = v; s && *s && !found; s++)
        found = sv_streq(*s, "*");
    return found;
}

static int complete(struct proxy_user *u, struct sv_error *err)
{
    const char *users = u->values[USERS] ?: "", *groups = u->values[GROUPS] ?: "";
    _cleanup_strv_ char **list = NULL;
    bool all = has_star(users) || has_star(groups);
    size_t n, named = 0;

    if (sv_asprintf(&u->acl, "%s%s%s", all ? "*" : users, all ? "" : " ", all ? "" : groups) < 0 ||
        sv_strv_split(u->values[HOSTS] ?: "", ',', &list) < 0)
        return -ENOMEM;
    n = sv_strv_len(list);
    u->networks = calloc(n + 1, sizeof(*u->networks));
    u->hosts = calloc(n + 1, sizeof(*u->hosts));
    if (!u->networks || !u->hosts)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        int r = sv_network_parse(list[i], &u->networks[u->n_networks]);

        if (r >= 0)
            u->n_networks++;
        else if (r == -EINVAL && strchr(list[i], '/'))
            return sv_error_set(err, r, PREFIX "%s.hosts: \"%s\" is not ADDRESS/BITS", u->name,
                                list[i]);
        else if (r == -EINVAL && *list[i])
            u->hosts[named++] = SV_TAKE(list[i]);
        else if (r != -EINVAL)
            return r;
    }
    return 0;
}

/* ---- Hosts, on a thread ---- */

static void resolve_user(struct proxy_user *u)
{
    for (char **host = u->hosts; *host; host++) {
        struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
        struct sv_network *more;
        size_t n = 0;

        if (getaddrinfo(*host, NULL, &hints, &list) != 0)
            continue;
        for (struct addrinfo *a = list; a; a = a->ai_next)
            n++;
        more = reallocarray(u->networks, u->n_networks + n, sizeof(*more));
        for (struct addrinfo *a = list; a && more; a = a->ai_next) {
            struct sockaddr_storage sa = { 0 };

            memcpy(&sa, a->ai_addr, SV_MIN((size_t)a->ai_addrlen, sizeof(sa)));
            more[u->n_networks++] = (struct sv_network){ ipc_address_ip(&sa), 128 };
        }
        u->networks = more ?: u->networks;
        freeaddrinfo(list);
    }
}

static void resolve_table(void *data)
{
    struct proxy_table *const *t = data;

    for (struct proxy_user *u = (*t)->users; u; u = u->hh.next)
        resolve_user(u);
}

static void job_free(void *data)
{
    struct proxy_table **t = data;

    table_free(*t);
    free(t);
}

static void on_resolved(int status, void *data, void *userdata)
{
    struct ipc_proxy_users *p = userdata;
    struct proxy_table **t = data;

    p->n_resolving--;
    if (status < 0) {
        sv_log_warning(PREFIX "*.hosts: the name service has not resolved them within %d s; the "
                              "earlier rows are in force; give addresses, or mend it",
                       IPC_PROXY_RESOLVE_MS / 1000);
    } else {
        table_free(p->table);
        p->table = SV_TAKE(*t);
    }
    p->known(p->userdata);
}

/* Takes the table, also when it fails. */
static int resolve(struct ipc_proxy_users *p, struct proxy_table *t)
{
    struct proxy_table **data = malloc(sizeof(struct proxy_table *));
    struct sv_job job = { data, p, resolve_table, on_resolved, job_free, IPC_PROXY_RESOLVE_MS };
    int r = data ? 0 : -ENOMEM;

    if (!data) {
        table_free(t);
        return r;
    }
    *data = t;
    if (!p->worker)
        r = sv_worker_new(p->event, "proxy-hosts", &p->worker);
    if (r >= 0)
        r = sv_worker_run(p->worker, &job);
    if (r < 0)
        job_free(data);
    else
        p->n_resolving++;
    return r;
}

/* ---- Life ---- */

static bool has_names(const struct proxy_table *t)
{
    for (const struct proxy_user *u = t->users; u; u = u->hh.next)
        if (*u->hosts)
            return true;
    return false;
}

int ipc_proxy_users_new(sd_event *event, void (*known)(void *userdata), void *userdata,
                        struct ipc_proxy_users **ret)
{
    struct ipc_proxy_users *p = calloc(1, sizeof(*p));

    if (!p)
        return -ENOMEM;
    *p = (struct ipc_proxy_users){ .event = event, .known = known, .userdata = userdata };
    *ret = p;
    return 0;
}

int ipc_proxy_users_read(struct ipc_proxy_users *p, struct sv_conf *conf, struct sv_error *err)
{
    __attribute__((cleanup(table_freep))) struct proxy_table *t = calloc(1, sizeof(*t));
    struct reading reading = { t, conf, err };
    int r;

    if (!t)
        return sv_error_errno(err, -ENOMEM, "proxy users");
    r = sv_conf_each(conf, on_key, &reading);
    for (struct proxy_user *u = t->users; u && r >= 0; u = u->hh.next) {
        r = complete(u, err);
        if (r < 0 && r != -EINVAL)
            return sv_error_errno(err, r, "%s%s", PREFIX, u->name);
    }
    if (r < 0)
        return r;
    if (has_names(t) || p->n_resolving) { /* the last one read is the last one in use */
        r = resolve(p, SV_TAKE(t));
        return r < 0 ? sv_error_errno(err, r, PREFIX "*.hosts") : 0;
    }
    table_free(p->table);
    p->table = SV_TAKE(t);
    return 0;
}

struct ipc_proxy_users *ipc_proxy_users_free(struct ipc_proxy_users *p)
{
    if (!p)
        return NULL;
    sv_worker_free(p->worker);
    table_free(p->table);
    free(p);
    return NULL;
}

/* ---- Check ---- */

static bool from_its_hosts(const struct proxy_user *u, const struct in6_addr *ip)
{
    for (size_t i = 0; i < u->n_networks; i++)
        if (sv_network_has(&u->networks[i], ip))
            return true;
    return false;
}

static const char *address_text(const struct in6_addr *ip, char ret[INET6_ADDRSTRLEN])
{
    if (IN6_IS_ADDR_V4MAPPED(ip))
        return inet_ntop(AF_INET, ip->s6_addr + 12, ret, INET6_ADDRSTRLEN);
    return inet_ntop(AF_INET6, ip, ret, INET6_ADDRSTRLEN);
}

int ipc_proxy_users_check(const struct ipc_proxy_users *p, struct sv_groups *groups,
                          const struct ipc_peer *peer, struct sv_error *err)
{
    const char *real = peer->principal ?: peer->real_user;
    const struct proxy_user *u = NULL;
    char ip[INET6_ADDRSTRLEN];
    bool admitted;

    if (p->n_resolving)
        return -EAGAIN;
    if (p->table)
        HASH_FIND_STR(p->table->users, peer->real_user, u);
    (void)sv_groups_missed(groups); /* missed by others, ignoring */
    admitted = u && sv_acl_admits(u->acl, peer->user, groups);
    if (!admitted && sv_groups_missed(groups))
        return -EAGAIN;
    if (!admitted)
        return sv_error_set(err, -EACCES, "User: %s is not allowed to impersonate %s", real,
                            peer->principal ? peer->full_user : peer->user);
    if (!from_its_hosts(u, &peer->ip))
        return sv_error_set(err, -EACCES, "Unauthorized connection for super-user: %s from IP %s",
                            real, address_text(&peer->ip, ip));
    return 0;
}
