/* See zk-servers.h. */
#include "common/zookeeper/zk-servers.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/worker.h"
#include "common/zookeeper/zk.h"

#define HOST_MAX 255
#define LOOK_UP_MS 30000

struct server {
    char host[HOST_MAX + 1], port[6];
};
struct sv_zk_servers {
    struct server list[SV_ZK_SERVERS_MAX];
    size_t n;
    struct sv_worker *worker;
    sv_zk_found found;
    void *userdata;
};
struct look_up {
    struct server list[SV_ZK_SERVERS_MAX];
    size_t n;
    char addresses[SV_ZK_ADDRESSES_MAX];
};

/* ---- The list ---- */

/* "host", "host:port", "[v6]", "[v6]:port", or an IPv6 address by itself. */
static int parse_server(char *entry, struct server *ret)
{
    char *host = entry, *port = NULL, *end;
    uint64_t number = SV_ZK_PORT;

    if (*entry == '[') {
        host++;
        end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':'))
            return -EINVAL;
        port = end[1] ? end + 2 : NULL;
        *end = '\0';
    } else if ((end = strchr(entry, ':')) && !strchr(end + 1, ':')) {
        *end = '\0';
        port = end + 1;
    }
    if (port && sv_parse_u64(port, 1, UINT16_MAX, &number) < 0)
        return -EINVAL;
    if (!*host || strlen(host) > HOST_MAX || strpbrk(host, " \t/@,"))
        return -EINVAL;
    (void)snprintf(ret->host, sizeof(ret->host), "%s", host);
    (void)snprintf(ret->port, sizeof(ret->port), "%u", (unsigned)number);
    return 0;
}

static int parse_list(struct sv_zk_servers *s, const char *list, struct sv_error *err)
{
    _cleanup_strv_ char **entries = NULL;
    char shown[HOST_MAX + 1];
    int r = sv_strv_split(list, ',', &entries);

    if (r < 0)
        return sv_error_errno(err, r, "ZooKeeper's servers");
    if (sv_strv_len(entries) == 0 || sv_strv_len(entries) > SV_ZK_SERVERS_MAX)
        return sv_error_set(err, -EINVAL, "%zu ZooKeeper servers: 1 to %d of HOST:PORT",
                            sv_strv_len(entries), SV_ZK_SERVERS_MAX);
    for (char **e = entries; r == 0 && *e; e++) {
        sv_escape(shown, sizeof(shown), *e);
        r = parse_server(*e, &s->list[s->n++]);
        if (r < 0)
            return sv_error_set(err, r,
                                "ZooKeeper server \"%s\": HOST[:PORT], a port of 1 to "
                                "65535",
                                shown);
    }
    return 0;
}

/* ---- Addresses ---- */

static void append(struct look_up *l, const struct addrinfo *a, const char *port)
{
    size_t used = strlen(l->addresses);
    char ip[NI_MAXHOST];

    if (getnameinfo(a->ai_addr, a->ai_addrlen, ip, sizeof(ip), NULL, 0, NI_NUMERICHOST) != 0 ||
        strlen(ip) + strlen(port) + 3 > sizeof(l->addresses) - used)
        return;
    (void)snprintf(l->addresses + used, sizeof(l->addresses) - used, "%s%s:%s", used ? "," : "", ip,
                   port);
}

/* On the thread. */
static void run(void *data)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct look_up *l = data;

    for (size_t i = 0; i < l->n; i++) {
        struct addrinfo *list = NULL;

        if (getaddrinfo(l->list[i].host, l->list[i].port, &hints, &list) != 0)
            continue; /* the others will do */
        for (const struct addrinfo *a = list; a; a = a->ai_next)
            append(l, a, l->list[i].port);
        freeaddrinfo(list);
    }
}

static void on_done(int status, void *data, void *userdata)
{
    const struct look_up *l = data;
    struct sv_zk_servers *s = userdata;

    s->found(status == 0 && *l->addresses ? l->addresses : NULL, s->userdata);
}

int sv_zk_servers_look_up(struct sv_zk_servers *s)
{
    struct look_up *l = calloc(1, sizeof(*l));
    const struct sv_job job = { .data = l,
                                .userdata = s,
                                .run = run,
                                .done = on_done,
                                .free = free,
                                .deadline_ms = LOOK_UP_MS };
    int r;

    if (!l)
        return -ENOMEM;
    memcpy(l->list, s->list, sizeof(l->list));
    l->n = s->n;
    r = sv_worker_run(s->worker, &job);
    if (r < 0)
        free(l);
    return r;
}

/* ---- Life ---- */

int sv_zk_servers_new(sd_event *event, const char *list, sv_zk_found found, void *userdata,
                      struct sv_zk_servers **ret, struct sv_error *err)
{
    struct sv_zk_servers *s = calloc(1, sizeof(*s));
    int r = s ? parse_list(s, list, err) : sv_error_errno(err, -ENOMEM, "ZooKeeper's servers");

    if (r == 0 && (r = sv_worker_new(event, "zookeeper-names", &s->worker)) < 0)
        (void)sv_error_errno(err, r, "ZooKeeper's servers");
    if (r < 0) {
        free(s);
        return r;
    }
    s->found = found;
    s->userdata = userdata;
    *ret = s;
    return 0;
}

struct sv_zk_servers *sv_zk_servers_free(struct sv_zk_servers *s)
{
    if (!s)
        return NULL;
    sv_worker_free(s->worker);
    free(s);
    return NULL;
}
