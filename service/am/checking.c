/* Readiness checks of the engine's instances, and the addresses of their containers, which nodes
 * tell. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/am/master-internal.h"

static void on_address(struct cli_am *yarn, struct yarn_container_id id, int status,
                       const struct cli_container_status *s, const struct sv_error *err,
                       void *userdata)
{
    struct svc_master *m = userdata;
    struct svc_container *c = svc_containers_find(&m->containers, id);
    char ip[64];
    int r;

    (void)yarn;
    (void)err;
    if (status == -ECANCELED)
        return; /* the master ends */
    if (c && status == 0) {
        (void)snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(s->ips, ","), s->ips);
        r = svc_container_address(c, ip, s->host);
        svc_master_need(r);
        if (r > 0) {
            const struct svc_probe_addresses a = { c->ip, c->host, c->node.host };

            svc_master_need(svc_checks_address(m->checks, id, &a));
            svc_master_record(m, c);
            svc_status_changed(m->status);
        }
    }
    svc_addresses_answered(m->addresses, id);
}

static int query_address(struct yarn_container_id id, void *userdata)
{
    struct svc_master *m = userdata;

    return cli_am_status(m->yarn, id, on_address, m);
}

static bool lacks_address(struct yarn_container_id id, void *userdata)
{
    const struct svc_master *m = userdata;
    const struct svc_container *c = svc_containers_find(&m->containers, id);

    return c && !c->ip;
}

/* The URL's tokens but ${THIS_HOST} are the instance's. */
void svc_master_check(struct svc_master *m, const struct svc_op *op)
{
    struct svc_container *c = svc_containers_find(&m->containers, op->container);
    const struct svc_component_plan *p = svc_master_plan_of(m, op->component);
    _cleanup_tokens_ struct svc_tokens *t = svc_tokens_new(m->tokens);
    _cleanup_free_ char *url = NULL;
    struct svc_probe_addresses a;
    struct svc_probe probe;
    int r = t ? 0 : -ENOMEM;

    if (!c || !p)
        return;
    probe = p->probe;
    if (r == 0)
        r = svc_tokens_set(t, SVC_TOKEN_COMPONENT_NAME, op->component->name);
    if (r == 0)
        r = svc_tokens_set(t, SVC_TOKEN_COMPONENT_INSTANCE_NAME, op->instance);
    if (r == 0 && probe.type == SVC_READY_HTTP)
        r = svc_tokens_text(t, probe.url, SVC_PROBE_URL_MAX, &url);
    if (r == 0 && url)
        probe.url = url;
    a = (struct svc_probe_addresses){ c->ip, c->host, c->node.host };
    svc_master_need(svc_checks_add(m->checks, op->container, &probe, &a));
    if (!c->ip)
        svc_master_need(svc_addresses_add(m->addresses, op->container));
}

int svc_master_checking_new(struct svc_master *m)
{
    const struct svc_addresses_config cfg = { query_address, lacks_address, m };

    return svc_addresses_new(m->event, &cfg, &m->addresses);
}
