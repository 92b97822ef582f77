/* See peers.h. Each component has a number that grows with each change of its instances; what was
 * built for a component holds as long as the sum of the numbers of those that it depends on. */
#include "service/am/facts/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"

struct svc_peers {
    struct svc_tokens *tokens;
    struct sv_buf hosts; /* empty: none */
    size_t n;
    unsigned users; /* atomic */
};
struct component {
    UT_hash_handle hh;
    uint64_t changes;
    struct svc_peers *peers; /* NULL: not built yet */
    const struct svc_component *of;
    uint64_t sum;
    int64_t built_ms;
    char name[SVC_NAME_MAX + 1];
};
struct svc_names {
    struct svc_names_config cfg;
    char *heading, *suffix;
    struct component *table;
    uint64_t changes; /* of all components */
};

/* ---- Shared ---- */

struct svc_peers *svc_peers_ref(struct svc_peers *p)
{
    (void)__atomic_add_fetch(&p->users, 1, __ATOMIC_ACQ_REL);
    return p;
}

struct svc_peers *svc_peers_unref(struct svc_peers *p)
{
    if (!p || __atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL) > 0)
        return NULL;
    svc_tokens_free(p->tokens);
    sv_buf_free(&p->hosts);
    free(p);
    return NULL;
}

const struct svc_tokens *svc_peers_tokens(const struct svc_peers *p)
{
    return p->tokens;
}

const char *svc_peers_hosts(const struct svc_peers *p)
{
    return p->hosts.data ? (const char *)p->hosts.data : NULL;
}

/* ---- Changes ---- */

static struct component *find(struct svc_names *n, const char *name, size_t len)
{
    struct component *c;

    if (len > SVC_NAME_MAX)
        return NULL;
    HASH_FIND(hh, n->table, name, len, c);
    if (c || !(c = calloc(1, sizeof(*c))))
        return c;
    memcpy(c->name, name, len);
    HASH_ADD_KEYPTR(hh, n->table, c->name, len, c);
    return c;
}

void svc_names_changed(struct svc_names *n, const char *instance)
{
    const char *number = instance ? strrchr(instance, '-') : NULL;
    struct component *c = n && number ? find(n, instance, (size_t)(number - instance)) : NULL;

    if (n)
        n->changes++;
    if (c)
        c->changes++;
}

static uint64_t sum_of(struct svc_names *n, const struct svc_component *c, bool all)
{
    uint64_t sum = 0;

    if (all)
        return n->changes;
    for (size_t i = 0; i < c->n_dependencies; i++) {
        const struct component *d = find(n, c->dependencies[i], strlen(c->dependencies[i]));

        sum += d ? d->changes : 0;
    }
    return sum;
}

/* ---- Building ---- */

static bool is_address(const char *text)
{
    struct in6_addr six;
    struct in_addr four;

    return inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1;
}

/* "10.0.0.7 db-0.shop.alice.example.org db-0" */
static int put_host(const struct svc_names *n, struct svc_peers *p, const char *name,
                    const char *ip)
{
    if (!ip || !is_address(ip) || p->n++ >= SVC_HOSTS_MAX)
        return 0;
    return n->suffix ? sv_buf_printf(&p->hosts, "%s %s%s %s\n", ip, name, n->suffix, name)
                     : sv_buf_printf(&p->hosts, "%s %s\n", ip, name);
}

static bool depends(const struct svc_component *c, const char *name)
{
    for (size_t i = 0; i < c->n_dependencies; i++)
        if (strcmp(c->dependencies[i], name) == 0)
            return true;
    return false;
}

static int add_instances(const struct svc_names *n, struct svc_peers *p, size_t component,
                         bool token)
{
    struct svc_instance_view i;
    size_t cursor = 0;
    int r = 0;

    while (r == 0 && svc_engine_instance(n->cfg.engine, component, &cursor, &i)) {
        const struct svc_container *at =
            i.has_container ? svc_containers_find(n->cfg.containers, i.container) : NULL;

        if (!at)
            continue;
        if (token)
            r = svc_tokens_set_peer(p->tokens, i.name, at->host ? at->host : at->node.host, at->ip);
        if (r == 0)
            r = put_host(n, p, i.name, at->ip);
    }
    return r;
}

static int fill(const struct svc_names *n, const struct svc_component *c, bool all,
                struct svc_peers *p)
{
    struct svc_component_view v;
    int r = sv_buf_put_str(&p->hosts, n->heading);

    for (size_t k = 0; r == 0 && k < svc_engine_components(n->cfg.engine); k++) {
        bool wanted;

        svc_engine_component(n->cfg.engine, k, &v);
        wanted = depends(c, v.component->name);
        if (all || wanted)
            r = add_instances(n, p, k, wanted);
    }
    if (r == 0 && p->n > SVC_HOSTS_MAX)
        r = sv_buf_printf(&p->hosts, "# %zu more are left out\n", p->n - SVC_HOSTS_MAX);
    if (r == 0)
        r = sv_buf_put_u8(&p->hosts, '\0');
    if (r == 0 && !all && c->n_dependencies == 0)
        sv_buf_free(&p->hosts);
    return r;
}

static struct svc_peers *build(const struct svc_names *n, const struct svc_component *c, bool all)
{
    struct svc_peers *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->users = 1;
    p->hosts = SV_BUF_INIT(0);
    p->tokens = svc_tokens_new(n->cfg.tokens);
    if (!p->tokens || fill(n, c, all, p) == -ENOMEM)
        return svc_peers_unref(p);
    return p;
}

static bool holds(const struct component *known, const struct svc_component *c, uint64_t sum)
{
    if (!known->peers || known->of != c)
        return false;
    return known->sum == sum ||
           (known->peers->n > SVC_PEERS_MANY && sv_now_ms() - known->built_ms < SVC_PEERS_FRESH_MS);
}

struct svc_peers *svc_names_peers(struct svc_names *n, const struct svc_component *c, bool all)
{
    struct component *known = find(n, c->name, strlen(c->name));
    uint64_t sum = sum_of(n, c, all);
    struct svc_peers *p;

    if (!known)
        return NULL;
    if (!holds(known, c, sum)) {
        p = build(n, c, all);
        if (!p)
            return NULL;
        svc_peers_unref(known->peers);
        known->peers = p;
        known->of = c;
        known->sum = sum;
        known->built_ms = sv_now_ms();
    }
    return svc_peers_ref(known->peers);
}

/* ---- Life ---- */

int svc_names_new(const struct svc_names_config *cfg, struct svc_names **ret)
{
    struct svc_names *n = calloc(1, sizeof(*n));

    if (!n)
        return -ENOMEM;
    n->cfg = *cfg;
    n->heading = strdup(cfg->heading);
    n->suffix = cfg->suffix ? strdup(cfg->suffix) : NULL;
    if (!n->heading || (cfg->suffix && !n->suffix)) {
        svc_names_free(n);
        return -ENOMEM;
    }
    *ret = n;
    return 0;
}

struct svc_names *svc_names_free(struct svc_names *n)
{
    struct component *c, *next;

    if (!n)
        return NULL;
    HASH_ITER (hh, n->table, c, next) {
        HASH_DEL(n->table, c);
        svc_peers_unref(c->peers);
        free(c);
    }
    free(n->heading);
    free(n->suffix);
    free(n);
    return NULL;
}
