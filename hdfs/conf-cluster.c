/* See conf-cluster.h. The configuration is the operator's; a site comes from a job's url. */
#include "hdfs/conf-cluster.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "hdfs/conf.h"

#define HDFS "hdfs://"
#define ADDRESS "dfs.namenode.rpc-address"

struct hdfs_cluster {
    struct sv_conf *c; /* while the keys are read */
    struct hdfs_server *servers;
    size_t n;
};

static int add(struct hdfs_cluster *k, const struct hdfs_server *s)
{
    if ((k->n & (k->n - 1)) == 0) { /* 0 or a power of two */
        struct hdfs_server *more = reallocarray(k->servers, k->n ? 2 * k->n : 1, sizeof(*more));

        if (!more)
            return -ENOMEM;
        k->servers = more;
    }
    k->servers[k->n++] = *s;
    return 0;
}

/* "host:port"; another text names none. */
static int add_address(struct hdfs_cluster *k, const char *text)
{
    struct hdfs_server s;

    return hdfs_server_parse(text, strlen(text), &s) == 0 ? add(k, &s) : 0;
}

/* `at`: of a url, behind "hdfs://"; a name without a port may be a nameservice. */
static int add_authority(struct hdfs_cluster *k, const char *at)
{
    size_t n = strcspn(at, "/, \t\r\n");
    bool has_port = n > 0 && (at[0] == '[' ? memmem(at, n, "]:", 2) : memchr(at, ':', n)) != NULL;
    struct hdfs_server first;
    struct hdfs_site site;
    int r = 0;

    if (hdfs_server_parse(at, n, &first) < 0 ||
        hdfs_conf_site(k->c, first.host, has_port ? first.port : 0, &site, NULL) < 0)
        return 0;
    for (unsigned i = 0; r == 0 && i < site.n_servers; i++)
        r = add(k, &site.servers[i]);
    return r;
}

/* Every hdfs: url in a value, which may be a list; "webhdfs://" is none. */
static int add_urls(struct hdfs_cluster *k, const char *value)
{
    int r = 0;

    for (const char *p = value; r == 0 && (p = strcasestr(p, HDFS)); p += strlen(HDFS))
        if (p == value || !isalpha((unsigned char)p[-1]))
            r = add_authority(k, p + strlen(HDFS));
    return r;
}

static int on_key(const char *name, const char *value, void *userdata)
{
    if (sv_streq(name, ADDRESS) || sv_has_prefix(name, ADDRESS "."))
        return add_address(userdata, value);
    if (sv_streq(name, "fs.defaultFS") && !strstr(value, "://"))
        return add_address(userdata, value); /* an older form */
    if (sv_streq(name, "fs.defaultFS") || sv_streq(name, "mapreduce.job.hdfs-servers") ||
        sv_has_prefix(name, "fs.viewfs.mounttable."))
        return add_urls(userdata, value);
    return 0;
}

int hdfs_cluster_new(struct sv_conf *c, struct hdfs_cluster **ret)
{
    _cleanup_(hdfs_cluster_freep) struct hdfs_cluster *k = calloc(1, sizeof(*k));
    int r;

    if (!k)
        return -ENOMEM;
    k->c = c;
    r = sv_conf_each(c, on_key, k);
    if (r < 0)
        return r;
    k->c = NULL;
    *ret = SV_TAKE(k);
    return 0;
}

struct hdfs_cluster *hdfs_cluster_free(struct hdfs_cluster *k)
{
    if (k)
        free(k->servers);
    free(k);
    return NULL;
}

static bool has(const struct hdfs_cluster *k, const struct hdfs_server *s)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->servers[i].port == s->port && strcasecmp(k->servers[i].host, s->host) == 0)
            return true;
    return false;
}

const struct hdfs_server *hdfs_cluster_foreign(const struct hdfs_cluster *k,
                                               const struct hdfs_site *site)
{
    for (unsigned i = 0; i < site->n_servers; i++)
        if (!has(k, &site->servers[i]))
            return &site->servers[i];
    return NULL;
}

const struct hdfs_server *hdfs_cluster_servers(const struct hdfs_cluster *k, size_t *ret_n)
{
    *ret_n = k->n;
    return k->servers;
}
