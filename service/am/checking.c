/* Readiness checks of the engine's instances, and the addresses of their containers, which nodes
 * tell. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/loop-guard.h"
#include "service/am/master-internal.h"

#define ADDRESS_MS 1000
#define ADDRESS_TRIES 30

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
    if (!c || status < 0)
        return; /* the next check retries, ignoring */
    (void)snprintf(ip, sizeof(ip), "%.*s", (int)strcspn(s->ips, ","), s->ips);
    r = svc_container_address(c, ip, s->host);
    svc_master_need(r);
    if (r > 0) {
        const struct svc_probe_addresses a = { c->ip, c->host, c->node.host };

        svc_master_need(svc_checks_address(m->checks, id, &a));
        svc_status_changed(m->status);
    }
}

/* Asks the nodes for the addresses of containers that have none yet. */
static int on_address_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_master *m = userdata;
    bool more = false;

    (void)usec;
    for (struct svc_container *c = m->containers.table; c; c = c->hh.next) {
        if (c->started_ms == 0 || c->ip || c->looked_up >= ADDRESS_TRIES)
            continue;
        c->looked_up++;
        more = true;
        (void)!cli_am_status(m->yarn, c->id, on_address, m); /* the next check retries, ignoring */
    }
    if (!more)
        return 0;
    (void)sd_event_source_set_time_relative(s, ADDRESS_MS * 1000); /* exists, ignoring */
    return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
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
    if (!c->ip) {
        (void)sd_event_source_set_time_relative(m->address_timer, 0); /* exists, ignoring */
        (void)sd_event_source_set_enabled(m->address_timer, SD_EVENT_ONESHOT);
    }
}

int svc_master_checking_new(struct svc_master *m)
{
    int r = sd_event_add_time_relative(m->event, &m->address_timer, CLOCK_MONOTONIC, 0, 1000,
                                       on_address_time, m);

    return r < 0 ? r : sd_event_source_set_enabled(m->address_timer, SD_EVENT_OFF);
}
