/* Hosts on which another program has a port that a task's definition names: the next container is
 * requested elsewhere for a while, and not where it would only end the same way. The engine has
 * reasons of its own for the same list: a host leaves it when neither wants it there. */
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "service/am/framework/master-internal.h"

#define AVOID_MS 3000
#define AVOIDED_MAX 1000 /* of a list that the ResourceManager keeps for the application */

static void arm(struct svc_fwm *m, int64_t ms)
{
    (void)sd_event_source_set_time_relative(m->avoid_timer,
                                            (uint64_t)SV_MAX(ms, (int64_t)0) * 1000);
    (void)sd_event_source_set_enabled(m->avoid_timer, SD_EVENT_ONESHOT); /* exists, ignoring */
}

static void forget(struct svc_fwm *m, struct svc_fwm_avoided *a)
{
    DL_DELETE(m->avoided, a);
    free(a->host);
    free(a);
}

/* In the order of their times. */
static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;
    int64_t now = sv_now_ms();

    (void)s;
    (void)usec;
    while (m->avoided && m->avoided->until <= now) {
        if (!svc_engine_blacklists(m->engine, m->avoided->host))
            svc_fwm_need(cli_am_blacklist(m->yarn, m->avoided->host, false));
        forget(m, m->avoided);
    }
    if (m->avoided)
        arm(m, m->avoided->until - now);
    return 0;
}

static bool names_a_port(const struct svc_fw_resource *r)
{
    for (size_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].start != 0)
            return true;
    return false;
}

static struct svc_fwm_avoided *find(const struct svc_fwm *m, const char *host, size_t *ret_n)
{
    struct svc_fwm_avoided *a;

    *ret_n = 0;
    DL_FOREACH (m->avoided, a) {
        if (strcmp(a->host, host) == 0)
            return a;
        ++*ret_n;
    }
    return NULL;
}

void svc_fwm_avoid(struct svc_fwm *m, const char *host, size_t role)
{
    struct svc_fwm_avoided *a;
    size_t n;

    if (m->ending || !names_a_port(&m->spec->roles[role].resource))
        return;
    a = find(m, host, &n);
    if (!a && n >= AVOIDED_MAX)
        return;
    if (!a) {
        a = calloc(1, sizeof(*a));
        if (!a || !(a->host = strdup(host)))
            sv_out_of_memory();
        svc_fwm_need(cli_am_blacklist(m->yarn, host, true));
    } else {
        DL_DELETE(m->avoided, a);
    }
    a->until = sv_now_ms() + AVOID_MS;
    DL_APPEND(m->avoided, a);
    arm(m, m->avoided->until - sv_now_ms());
}

void svc_fwm_blacklist(struct svc_fwm *m, const char *host, bool on)
{
    size_t n;

    if (on || !find(m, host, &n)) /* else it is taken off when its time is over */
        svc_fwm_need(cli_am_blacklist(m->yarn, host, on));
}

int svc_fwm_avoid_new(struct svc_fwm *m)
{
    int r =
        sd_event_add_time_relative(m->event, &m->avoid_timer, CLOCK_MONOTONIC, 0, 1000, on_time, m);

    return r < 0 ? r : sd_event_source_set_enabled(m->avoid_timer, SD_EVENT_OFF);
}

void svc_fwm_avoid_free(struct svc_fwm *m)
{
    sd_event_source_disable_unref(m->avoid_timer);
    while (m->avoided)
        forget(m, m->avoided);
}
