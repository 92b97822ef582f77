/* See namenodes.h. Hostile: services of tokens. There are at most as many connections as the
 * configuration has NameNodes and nameservices. */
#include "rm-lite/security/namenodes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "hdfs/conf-cluster.h"
#include "hdfs/conf.h"
#include "wire/ipc/resolve.h"

#define LOOK_UP_AGAIN_US ((uint64_t)300 * 1000000)
#define ONE_LOOK_UP_US ((uint64_t)1000)
#define HA_PREFIX "ha-hdfs:"

struct site {
    struct site *prev, *next;
    char servers[HDFS_SERVERS_TEXT_MAX + 1];
    struct ipc_proxy *proxy;
};

struct rm_namenodes {
    struct sv_conf *conf;
    struct hdfs_login login;
    struct hdfs_cluster *cluster;
    struct ipc_addresses *addresses; /* [n_names], of the cluster's servers */
    const struct hdfs_server *names;
    size_t n_names, at; /* `at`: the next one to look up */
    bool looked_up;     /* all, once */
    struct ipc_resolve *resolve;
    sd_event_source *timer;
    struct site *sites;
};

/* ---- Addresses of names ---- */

static void look_up_later(struct rm_namenodes *n, uint64_t in_us)
{
    int r = sd_event_source_set_time_relative(n->timer, in_us);

    if (r >= 0)
        r = sd_event_source_set_enabled(n->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_warning("NameNodes' addresses: timer: %s", strerror(-r));
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct rm_namenodes *n = userdata;

    n->resolve = ipc_resolve_free(n->resolve);
    if (status == 0)
        n->addresses[n->at] = *list;
    else
        sv_log_warning("NameNode %s: its name has no address", n->names[n->at].host);
    n->at++;
    look_up_later(n, ONE_LOOK_UP_US);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_namenodes *n = userdata;
    const struct hdfs_server *name;

    (void)s;
    (void)usec;
    if (n->at >= n->n_names) {
        n->looked_up = true;
        n->at = 0;
        look_up_later(n, LOOK_UP_AGAIN_US);
        return 0;
    }
    name = &n->names[n->at];
    if (ipc_resolve_start(n->login.event, name->host, name->port, on_resolved, n, &n->resolve) <
        0) {
        n->at++;
        look_up_later(n, ONE_LOOK_UP_US);
    }
    return 0;
}

/* The name in the configuration of "ip:port". NULL: none. */
static const struct hdfs_server *name_of(const struct rm_namenodes *n,
                                         const struct ipc_addresses *ip, uint16_t port)
{
    const struct in6_addr wanted = ipc_address_ip(&ip->sa[0]);

    for (size_t i = 0; i < n->n_names; i++)
        for (size_t k = 0; n->names[i].port == port && k < n->addresses[i].n; k++) {
            const struct in6_addr has = ipc_address_ip(&n->addresses[i].sa[k]);

            if (memcmp(&has, &wanted, sizeof(has)) == 0)
                return &n->names[i];
        }
    return NULL;
}

/* ---- Sites ---- */

/* A name and its port, 0 of a nameservice. */
static int parse_service(const struct rm_namenodes *n, const char *service, struct hdfs_server *ret,
                         struct sv_error *err)
{
    const char *at = sv_has_prefix(service, HA_PREFIX) ? service + strlen(HA_PREFIX) : service;
    const struct hdfs_server *name;
    struct ipc_addresses ip;

    if (hdfs_server_parse(at, strlen(at), ret) < 0)
        return sv_error_set(err, -EINVAL, "its service is no address of a NameNode");
    if (at != service) {
        ret->port = 0;
        return 0;
    }
    if (!ipc_resolve_numeric(ret->host, ret->port, &ip))
        return 0;
    name = name_of(n, &ip, ret->port);
    if (name)
        *ret = *name;
    else if (!n->looked_up)
        return sv_error_set(err, -EAGAIN, "the NameNodes' names are being looked up");
    return 0;
}

static int find_site(const struct rm_namenodes *n, const char *service, struct hdfs_site *ret,
                     struct sv_error *err)
{
    const struct hdfs_server *foreign;
    struct hdfs_server at;
    int r = parse_service(n, service, &at, err);

    if (r < 0)
        return r;
    r = hdfs_conf_site(n->conf, at.host, at.port, ret, err);
    if (r < 0)
        return r;
    foreign = hdfs_cluster_foreign(n->cluster, ret);
    if (foreign)
        return sv_error_set(
            err, -EACCES,
            "the NameNode %s:%u is in neither core-site.xml nor hdfs-site.xml of the "
            "ResourceManager: name it there, or submit with a token whose renewer "
            "is empty",
            foreign->host, foreign->port);
    return 0;
}

int rm_namenodes_find(struct rm_namenodes *n, const char *service, struct ipc_proxy **ret,
                      struct sv_error *err)
{
    char servers[HDFS_SERVERS_TEXT_MAX + 1];
    struct hdfs_site at;
    struct site *s;
    int r = find_site(n, service, &at, err);

    if (r < 0)
        return r;
    if (hdfs_servers_text(&at, servers) < 0)
        return sv_error_set(err, -E2BIG, "the addresses of its NameNodes are too long");
    DL_FOREACH (n->sites, s)
        if (strcasecmp(s->servers, servers) == 0) {
            *ret = s->proxy;
            return 0;
        }
    s = calloc(1, sizeof(*s));
    if (!s)
        return sv_error_errno(err, -ENOMEM, "NameNode %s", servers);
    memcpy(s->servers, servers, sizeof(servers));
    r = hdfs_proxy_new(&n->login, &at, &s->proxy, err);
    if (r < 0) {
        free(s);
        return r;
    }
    DL_APPEND(n->sites, s);
    *ret = s->proxy;
    return 0;
}

int rm_namenodes_new(struct sv_conf *conf, const struct hdfs_login *login,
                     struct rm_namenodes **ret)
{
    struct rm_namenodes *n = calloc(1, sizeof(*n));
    int r;

    if (!n)
        return -ENOMEM;
    n->conf = conf;
    n->login = *login;
    r = hdfs_cluster_new(conf, &n->cluster);
    if (r >= 0)
        n->names = hdfs_cluster_servers(n->cluster, &n->n_names);
    if (r >= 0 && n->n_names > 0) {
        n->addresses = calloc(n->n_names, sizeof(*n->addresses));
        r = n->addresses ? 0 : -ENOMEM;
    }
    if (r >= 0)
        r = sd_event_add_time_relative(login->event, &n->timer, CLOCK_MONOTONIC, 0, 0, on_timer, n);
    if (r < 0) {
        rm_namenodes_free(n);
        return r;
    }
    *ret = n;
    return 0;
}

struct rm_namenodes *rm_namenodes_free(struct rm_namenodes *n)
{
    struct site *s, *next;

    if (!n)
        return NULL;
    sd_event_source_disable_unref(n->timer);
    ipc_resolve_free(n->resolve);
    DL_FOREACH_SAFE (n->sites, s, next) {
        ipc_proxy_free(s->proxy);
        free(s);
    }
    hdfs_cluster_free(n->cluster);
    free(n->addresses);
    free(n);
    return NULL;
}
