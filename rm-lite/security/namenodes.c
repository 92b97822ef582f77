/* See namenodes.h. Hostile: services of tokens. There are at most as many connections as the
 * configuration has NameNodes and nameservices. */
#include "rm-lite/security/namenodes.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "common/str.h"
#include "hdfs/conf-cluster.h"
#include "hdfs/conf.h"
#include "rm-lite/security/known-hosts.h"

#define HA_PREFIX "ha-hdfs:"

struct rm_namenode {
    struct rm_namenode *prev, *next;
    char servers[HDFS_SERVERS_TEXT_MAX + 1];
    struct ipc_proxy *proxy;
    bool of_job; /* a job's configuration has put it together */
    size_t used; /* tokens */
};

struct rm_namenodes {
    struct sv_conf *conf;
    struct hdfs_login login;
    struct hdfs_cluster *cluster;
    struct rm_known_hosts *hosts; /* the cluster's servers */
    struct rm_namenode *sites;
    size_t n_of_jobs;
};

/* ---- Sites ---- */

static int not_yet(struct sv_error *err)
{
    return sv_error_set(err, -EAGAIN, "the NameNodes' names are being looked up");
}

/* A name and its port, 0 of a nameservice. */
static int parse_service(const struct rm_namenodes *n, const char *service, struct hdfs_server *ret,
                         struct sv_error *err)
{
    const char *at = sv_has_prefix(service, HA_PREFIX) ? service + strlen(HA_PREFIX) : service;
    const struct hdfs_server *name;
    int r;

    if (hdfs_server_parse(at, strlen(at), ret) < 0)
        return sv_error_set(err, -EINVAL, "its service is no address of a NameNode");
    if (at != service) {
        ret->port = 0;
        return 0;
    }
    r = rm_known_hosts_find(n->hosts, ret, &name);
    if (r == 0)
        *ret = *name;
    return r == -EAGAIN ? not_yet(err) : 0;
}

static int is_foreign(const struct hdfs_server *foreign, struct sv_error *err)
{
    return sv_error_set(err, -EACCES,
                        "the NameNode %s:%u is in neither core-site.xml nor hdfs-site.xml of the "
                        "ResourceManager: name it there, or submit with a token whose renewer "
                        "is empty",
                        foreign->host, foreign->port);
}

static int by_name(const void *a, const void *b)
{
    const struct hdfs_server *x = a, *y = b;
    int c = strcasecmp(x->host, y->host);

    return c ? c : (int)x->port - (int)y->port;
}

/* A nameservice as the job has it. Its servers in order, so that jobs share it. 0: the job says
 * nothing of it. */
static int site_of_job(const struct rm_namenodes *n, struct sv_conf *job,
                       const struct hdfs_server *at, struct hdfs_site *ret, struct sv_error *err)
{
    const struct hdfs_server *foreign, *name;
    int r = job && at->port == 0 ? hdfs_conf_site(job, at->host, 0, ret, err) : 0;

    if (r < 0 || !job || !*ret->nameservice)
        return r;
    for (unsigned i = 0; i < ret->n_servers; i++) {
        r = rm_known_hosts_find(n->hosts, &ret->servers[i], &name);
        if (r == -EAGAIN)
            return not_yet(err);
        if (r == 0)
            ret->servers[i] = *name;
    }
    foreign = hdfs_cluster_foreign(n->cluster, ret);
    if (foreign)
        return is_foreign(foreign, err);
    qsort(ret->servers, ret->n_servers, sizeof(*ret->servers), by_name);
    return 1;
}

static int find_site(const struct rm_namenodes *n, const char *service, struct sv_conf *job,
                     struct hdfs_site *ret, bool *ret_of_job, struct sv_error *err)
{
    struct hdfs_site theirs = { 0 };
    const struct hdfs_server *foreign;
    struct hdfs_server at;
    int r = parse_service(n, service, &at, err), of_job;

    if (r < 0)
        return r;
    of_job = site_of_job(n, job, &at, &theirs, err);
    if (of_job < 0)
        return of_job;
    r = hdfs_conf_site(n->conf, at.host, at.port, ret, err);
    if (r < 0)
        return r;
    if (of_job) {
        memcpy(ret->servers, theirs.servers, sizeof(ret->servers));
        ret->n_servers = theirs.n_servers;
    }
    *ret_of_job = of_job > 0;
    foreign = hdfs_cluster_foreign(n->cluster, ret);
    return foreign ? is_foreign(foreign, err) : 0;
}

static int add_site(struct rm_namenodes *n, const struct hdfs_site *at, const char *servers,
                    bool of_job, struct rm_namenode **ret, struct sv_error *err)
{
    struct rm_namenode *s;
    int r;

    if (of_job && n->n_of_jobs >= RM_NAMENODES_OF_JOBS_MAX)
        return sv_error_set(err, -EAGAIN,
                            "the configurations of jobs name %d nameservices already, the limit: "
                            "name this one in the ResourceManager's hdfs-site.xml",
                            RM_NAMENODES_OF_JOBS_MAX);
    s = calloc(1, sizeof(*s));
    if (!s)
        return sv_error_errno(err, -ENOMEM, "NameNode %s", servers);
    memcpy(s->servers, servers, strlen(servers) + 1);
    s->of_job = of_job;
    r = hdfs_proxy_new(&n->login, at, &s->proxy, err);
    if (r < 0) {
        free(s);
        return r;
    }
    n->n_of_jobs += of_job;
    DL_APPEND(n->sites, s);
    *ret = s;
    return 0;
}

int rm_namenodes_find(struct rm_namenodes *n, const char *service, struct sv_conf *job,
                      struct rm_namenode **ret, struct sv_error *err)
{
    char servers[HDFS_SERVERS_TEXT_MAX + 1];
    struct hdfs_site at = { 0 };
    struct rm_namenode *s;
    bool of_job = false;
    int r = find_site(n, service, job, &at, &of_job, err);

    if (r < 0)
        return r;
    *at.nameservice = 0; /* the servers are what counts */
    if (hdfs_servers_text(&at, servers) < 0)
        return sv_error_set(err, -E2BIG, "the addresses of its NameNodes are too long");
    DL_FOREACH (n->sites, s)
        if (strcasecmp(s->servers, servers) == 0)
            break;
    if (!s && (r = add_site(n, &at, servers, of_job, &s, err)) < 0)
        return r;
    s->used++;
    *ret = s;
    return 0;
}

struct ipc_proxy *rm_namenode_proxy(const struct rm_namenode *s)
{
    return s->proxy;
}

static void site_free(struct rm_namenodes *n, struct rm_namenode *s)
{
    DL_DELETE(n->sites, s);
    n->n_of_jobs -= s->of_job;
    ipc_proxy_free(s->proxy);
    free(s);
}

void rm_namenodes_release(struct rm_namenodes *n, struct rm_namenode *s)
{
    if (--s->used == 0 && s->of_job)
        site_free(n, s);
}

/* ---- The cluster's own file system ---- */

/* Its first IPv4 address, as Java prefers, else the first. */
static void ip_text(const struct ipc_addresses *list, char ret[INET6_ADDRSTRLEN])
{
    struct in6_addr ip = ipc_address_ip(&list->sa[0]);

    for (size_t i = 1; i < list->n && !IN6_IS_ADDR_V4MAPPED(&ip); i++) {
        const struct in6_addr other = ipc_address_ip(&list->sa[i]);

        if (IN6_IS_ADDR_V4MAPPED(&other))
            ip = other;
    }
    if (IN6_IS_ADDR_V4MAPPED(&ip))
        (void)inet_ntop(AF_INET, &ip.s6_addr[12], ret, INET6_ADDRSTRLEN);
    else
        (void)inet_ntop(AF_INET6, &ip, ret, INET6_ADDRSTRLEN);
}

static int service_text(const struct rm_namenodes *n, const struct hdfs_site *site, bool use_ip,
                        char ret[RM_NAMENODE_SERVICE_MAX], struct sv_error *err)
{
    const struct hdfs_server *s = &site->servers[0];
    const struct ipc_addresses *ip;
    char text[INET6_ADDRSTRLEN];
    int r;

    if (*site->nameservice) {
        (void)snprintf(ret, RM_NAMENODE_SERVICE_MAX, HA_PREFIX "%s", site->nameservice);
        return 0;
    }
    (void)snprintf(ret, RM_NAMENODE_SERVICE_MAX, "%s:%u", s->host, s->port);
    for (char *c = ret; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!use_ip)
        return 0;
    r = rm_known_hosts_addresses(n->hosts, s, &ip);
    if (r == -EAGAIN)
        return not_yet(err);
    if (r < 0)
        return sv_error_set(err, r, "the NameNode's name %s has no address", s->host);
    ip_text(ip, text);
    (void)snprintf(ret, RM_NAMENODE_SERVICE_MAX, "%s:%u", text, s->port);
    return 0;
}

int rm_namenodes_default(struct rm_namenodes *n, struct hdfs_site *ret,
                         char ret_service[RM_NAMENODE_SERVICE_MAX], struct sv_error *err)
{
    static const struct sv_conf_key use_ip = { "hadoop.security.token.service.use_ip", SV_CONF_BOOL,
                                               "true" };
    bool ip = true;
    int r = sv_conf_bool(n->conf, &use_ip, &ip, err);

    if (r >= 0)
        r = hdfs_conf_site(n->conf, "", 0, ret, err);
    return r < 0 ? r : service_text(n, ret, ip, ret_service, err);
}

int rm_namenodes_new(struct sv_conf *conf, const struct hdfs_login *login,
                     struct rm_namenodes **ret)
{
    struct rm_namenodes *n = calloc(1, sizeof(*n));
    const struct hdfs_server *servers;
    size_t n_servers;
    int r;

    if (!n)
        return -ENOMEM;
    n->conf = conf;
    n->login = *login;
    r = hdfs_cluster_new(conf, &n->cluster);
    if (r >= 0) {
        servers = hdfs_cluster_servers(n->cluster, &n_servers);
        r = rm_known_hosts_new(login->event, "NameNode", servers, n_servers, &n->hosts);
    }
    if (r < 0) {
        rm_namenodes_free(n);
        return r;
    }
    *ret = n;
    return 0;
}

struct rm_namenodes *rm_namenodes_free(struct rm_namenodes *n)
{
    struct rm_namenode *s, *next;

    if (!n)
        return NULL;
    rm_known_hosts_free(n->hosts);
    DL_FOREACH_SAFE (n->sites, s, next)
        site_free(n, s);
    hdfs_cluster_free(n->cluster);
    free(n);
    return NULL;
}
