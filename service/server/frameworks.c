/* See frameworks.h. Here: the world of the launcher, start and end. */
#include "service/server/frameworks.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "service/cluster/kerberos-conf.h"
#include "service/launcher/link.h"
#include "service/server/frameworks-internal.h"

#define TICK_MS 1000
#define PATH_BYTES 1024

/* ---- The world of the launcher ---- */

static int64_t wall_ms(void *u)
{
    (void)u;
    return sv_wall_ms();
}

static uint64_t random_number(void *u)
{
    uint64_t n = 0;

    (void)u;
    (void)!getrandom(&n, sizeof(n), 0); /* 0 is a number, too, ignoring */
    return n;
}

struct wanted_id {
    struct svc_frameworks *s;
    uint64_t life, generation;
    char name[SVC_FW_NAME_MAX + 1];
};

static void on_id(int status, struct yarn_app_id app, struct yarn_resource maximum,
                  const struct sv_error *err, void *userdata)
{
    _cleanup_free_ struct wanted_id *w = userdata;

    (void)maximum;
    if (status == -ECANCELED) /* the end of the program */
        return;
    if (status < 0)
        sv_log_debug("framework %s: no application id: %s", w->name, err->text);
    if (w->s->l && w->s->life == w->life)
        svc_lr_on_id(w->s->l, w->name, w->generation, status, app);
}

static int new_id(void *u, const char *framework, uint64_t generation)
{
    struct svc_frameworks *s = u;
    struct wanted_id *w = calloc(1, sizeof(*w));
    int r;

    if (!w)
        return -ENOMEM;
    *w = (struct wanted_id){ .s = s, .life = s->life, .generation = generation };
    (void)snprintf(w->name, sizeof(w->name), "%s", framework);
    r = cli_rm_new_application(s->rm, on_id, w);
    if (r < 0)
        free(w);
    return r;
}

/* The timer of the tick is due at once. */
static void tick_soon(void *u)
{
    struct svc_frameworks *s = u;

    if (s->tick)
        (void)sd_event_source_set_time_relative(s->tick, 0); /* it is a timer, ignoring */
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_frameworks *s = userdata;

    (void)usec;
    (void)sd_event_source_set_time_relative(source, TICK_MS * 1000); /* a timer, ignoring */
    if (s->l)
        svc_lr_tick(s->l); /* the timer may be due sooner */
    if (s->ha)
        svc_frameworks_check(s);
    svc_frameworks_wake_late(s);
    return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* ---- Start and end ---- */

static bool is_any(const char *host)
{
    return !*host || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* Before the loop: names are looked up. */
static void find_self(struct svc_frameworks *s)
{
    const char *host = s->cfg.conf->host;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;

    if (is_any(host)) {
        if (gethostname(s->host, sizeof(s->host) - 1) < 0)
            (void)snprintf(s->host, sizeof(s->host), "localhost");
    } else {
        (void)snprintf(s->host, sizeof(s->host), "%s", host);
    }
    if (getaddrinfo(s->host, NULL, &hints, &found) == 0 && found)
        (void)getnameinfo(found->ai_addr, found->ai_addrlen, s->ip, sizeof(s->ip), NULL, 0,
                          NI_NUMERICHOST); /* "" then, ignoring */
    if (found)
        freeaddrinfo(found);
    if (s->cfg.settings->address)
        (void)snprintf(s->link, sizeof(s->link), "%s", s->cfg.settings->address);
    else
        (void)snprintf(s->link, sizeof(s->link), "http://%s:%u", s->host, s->cfg.port);
}

static int open_rm(struct svc_frameworks *s, struct sv_error *err)
{
    const struct svc_kerberos_conf *k = &s->cfg.conf->kerberos;
    int r;

    if (!s->cfg.kerberos)
        return cli_rm_new(s->cfg.event, s->cfg.conf->conf, NULL, &s->rm, err);
    sgss_service_init(&s->rm_service, s->cfg.kerberos, SVC_RM_PRINCIPAL, k->rm_principal,
                      k->rm_pattern, k->host);
    r = cli_rm_new_secure(s->cfg.event, s->cfg.conf->conf, &s->rm_service.ipc, k->qop_mask, NULL,
                          &s->rm, err);
    return r;
}

static int begin(struct svc_frameworks *s, struct svc_lr_store *store, struct sv_error *err)
{
    const struct svc_lr_world world = { .userdata = s,
                                        .wall_ms = wall_ms,
                                        .random = random_number,
                                        .new_id = new_id,
                                        .submit = svc_frameworks_submit,
                                        .kill = svc_frameworks_kill,
                                        .poll = svc_frameworks_poll_soon,
                                        .soon = tick_soon,
                                        .changed = svc_frameworks_changed };
    int r = svc_lr_new(s->cfg.settings, &world, store, &s->l, err);

    if (r < 0)
        return r;
    s->life++;
    (void)snprintf(s->l->host, sizeof(s->l->host), "%s", s->host);
    (void)snprintf(s->l->ip, sizeof(s->l->ip), "%s", s->ip);
    svc_frameworks_poll_soon(s);
    return 0;
}

static int open_launcher(struct svc_frameworks *s, struct sv_error *err)
{
    struct svc_lr_store *store = NULL;
    char path[PATH_BYTES];
    int r;

    if (s->cfg.settings->shared)
        return svc_frameworks_share(s, begin, err);
    if (snprintf(path, sizeof(path), "%s/frameworks.db", s->cfg.settings->dir) >= PATH_BYTES)
        return sv_error_errno(err, -ENAMETOOLONG, "selvedge.framework.state-dir");
    r = svc_lr_store_open(path, &store, err);
    return r < 0 ? r : begin(s, store, err);
}

static int open_timers(struct svc_frameworks *s, struct sv_error *err)
{
    int r = sd_event_add_time_relative(s->cfg.event, &s->tick, CLOCK_MONOTONIC, 0, 0, on_tick, s);

    if (r >= 0)
        r = svc_frameworks_poll_new(s);
    return r < 0 ? sv_error_errno(err, r, "frameworks: timers") : 0;
}

int svc_frameworks_new(const struct svc_frameworks_config *cfg, struct svc_frameworks **ret,
                       struct sv_error *err)
{
    struct svc_frameworks *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "frameworks");
    s->cfg = *cfg;
    s->authenticated = cfg->conf->kerberos.on || sv_streq(cfg->conf->auth.auth_type, "kerberos");
    find_self(s);
    r = open_launcher(s, err);
    if (r >= 0)
        r = open_rm(s, err);
    if (r >= 0)
        r = open_timers(s, err);
    if (r < 0) {
        (void)svc_frameworks_free(s);
        return r;
    }
    sv_log_notice("frameworks below /v1, for masters at %s%s", s->link,
                  s->authenticated ? ""
                                   : "; the header UserName is no identity: without "
                                     "hadoop.http.authentication.type=kerberos everybody may run "
                                     "frameworks as everybody");
    *ret = s;
    return 0;
}

struct svc_frameworks *svc_frameworks_free(struct svc_frameworks *s)
{
    if (s) {
        s->tick = sd_event_source_disable_unref(s->tick);
        s->rm = cli_rm_free(s->rm);
        svc_frameworks_poll_free(s);
        svc_frameworks_leave(s);
        s->reader = sv_worker_free(s->reader);
        svc_frameworks_close(s);
        s->end = sd_event_source_disable_unref(s->end);
        s->l = svc_lr_free(s->l);
        s->ha = svc_ha_free(s->ha);
        free(s);
    }
    return NULL;
}

void svc_frameworks_woken(struct svc_frameworks *s)
{
    svc_frameworks_collect(s);
    if (s->l)
        svc_lr_tick(s->l);
}

/* ---- Series ---- */

static void put_states(const struct svc_lr *l, struct sv_series *out)
{
    static const char states[] = "selvedge_frameworks";
    size_t in[SVC_LR_N_STATES] = { 0 };
    const struct svc_framework *f;
    char labels[SV_SERIES_LABELS];

    for (f = l->all.by_name; f; f = f->hh.next)
        in[f->st.state]++;
    sv_series_head(out, states, "gauge", "Frameworks, by their state.");
    for (int i = 1; i < SVC_LR_N_STATES; i++)
        sv_series_value(out, states, sv_series_labels(labels, "state", svc_lr_state_name(i), NULL),
                        (double)in[i]);
}

void svc_frameworks_series(const struct svc_frameworks *s, struct sv_series *out)
{
    const struct svc_lr_counts *n;

    sv_series_one(out, "selvedge_frameworks_active", "gauge",
                  "1: this server keeps the frameworks; 0: another one does, or none.",
                  svc_frameworks_stands_by(s) ? 0 : 1);
    if (!s->l)
        return;
    n = &s->l->counts;
    put_states(s->l, out);
    sv_series_one(out, "selvedge_frameworks_tasks", "gauge", "Tasks that frameworks ask for.",
                  (double)s->l->all.n_tasks);
    sv_series_one(out, "selvedge_frameworks_task_bytes", "gauge",
                  "Bytes of what masters have told of tasks.", (double)s->l->all.text_bytes);
    sv_series_one(out, "selvedge_frameworks_masters_waiting", "gauge",
                  "Masters whose request waits for news.", (double)s->n_waits);
    sv_series_one(out, "selvedge_frameworks_submitted_total", "counter", "Masters submitted.",
                  (double)n->submitted);
    sv_series_one(out, "selvedge_frameworks_refused_total", "counter",
                  "Masters that could not be submitted.", (double)n->refused);
    sv_series_one(out, "selvedge_frameworks_retried_total", "counter", "Retries of frameworks.",
                  (double)n->retried);
    sv_series_one(out, "selvedge_frameworks_completed_total", "counter", "Frameworks that ended.",
                  (double)n->completed);
    sv_series_one(out, "selvedge_frameworks_told_total", "counter", "Requests of masters.",
                  (double)n->told);
    sv_series_one(out, "selvedge_frameworks_polls_total", "counter",
                  "Answers of the ResourceManager about live applications.", (double)s->polls);
    sv_series_one(out, "selvedge_frameworks_failed_polls_total", "counter",
                  "Such questions that failed.", (double)s->failed_polls);
    sv_series_one(out, "selvedge_frameworks_store_failures_total", "counter",
                  "Changes that could not be written.", (double)svc_lr_store_failures(s->l->store));
}
