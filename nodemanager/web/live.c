/* See live.h. A row of an event is a name, a share and a text. Hostile: the health report quotes
 * the cause of the node's failure, and paths are the administrator's. */
#include "nodemanager/web/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cgroups/cg.h"
#include "common/clock.h"
#include "common/user-groups.h"
#include "common/web/html.h"
#include "common/web/live-event.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/rm/node-status-updater.h"

/* An event is at most SV_HTTP_EVENT_MAX bytes, of which JSON may use six for each byte here. */
#define DISKS_MAX 8
#define DISK_NAME_MAX 48 /* bytes of a path */
#define HEALTH_TEXT_MAX 500
#define DISK_SILENT_MS 3000 /* a slower disk hangs, or nearly */

struct figures {
    struct cg_usage use;
    int64_t memory_mb; /* maximum of `use` */
    int vcores;
};

static void put_memory(struct sv_live *live, const struct figures *f)
{
    double limit = (double)f->memory_mb * 1048576;
    char used[SV_HTML_WORD], most[SV_HTML_WORD], text[2 * SV_HTML_WORD + 8];

    if (f->use.memory_current == 0 || limit <= 0) /* no controller */
        return;
    (void)snprintf(text, sizeof(text), "%s of %s", sv_html_bytes(f->use.memory_current, used),
                   sv_html_mb(f->memory_mb, most));
    sv_live_row(live, "Memory", (double)f->use.memory_current / limit, text);
}

/* CPU since the previous event; none in the first one. */
static void put_cpu(struct sv_live *live, const struct figures *f, struct sv_http_reading *before)
{
    uint64_t now_us = (uint64_t)sv_now_ms() * 1000;
    double cores = 0;
    char text[64] = "–";

    if (before->at_us && now_us > before->at_us && f->use.cpu_usec >= before->value) {
        cores = (double)(f->use.cpu_usec - before->value) / (double)(now_us - before->at_us);
        (void)snprintf(text, sizeof(text), "%.2f of %d cores", cores, f->vcores);
    }
    sv_live_row(live, "CPU", f->vcores > 0 ? cores / f->vcores : 0, text);
    *before = (struct sv_http_reading){ .value = f->use.cpu_usec, .at_us = now_us };
}

static void put_wait(struct sv_live *live, const char *name, const struct cg_stall *s)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%.1f %%", s->some_avg10 / 100.0);
    sv_live_row(live, name, s->some_avg10 / 10000.0, text);
}

/* ---- Disks and health of the node ---- */

/* True within a UTF-8 character, where a text must not be cut. */
static bool in_character(const char *at)
{
    return ((unsigned char)*at & 0xc0) == 0x80;
}

/* A row for each file system, of the first directory on it. A long path is shown by its end. */
static void put_disk(struct sv_live *live, const struct nm_dir_space *s)
{
    size_t n = strlen(s->path);
    const char *cut = n > DISK_NAME_MAX ? s->path + n - DISK_NAME_MAX : s->path;
    char name[DISK_NAME_MAX + 16], text[64 + 2 * SV_HTML_WORD], used[SV_HTML_WORD],
        all[SV_HTML_WORD];

    while (in_character(cut))
        cut++;
    (void)snprintf(name, sizeof(name), "Disk %s%s", cut == s->path ? "" : "…", cut);
    if (s->silent_ms >= DISK_SILENT_MS)
        (void)snprintf(text, sizeof(text), "no answer for %lld s", (long long)s->silent_ms / 1000);
    else
        (void)snprintf(text, sizeof(text), "%s of %s", sv_html_bytes(s->used_bytes, used),
                       sv_html_bytes(s->all_bytes, all));
    sv_live_row(live, name, s->used_percent / 100, text);
}

static void put_disks(struct sv_live *live, struct nm_dirs *dirs)
{
    uint64_t seen[DISKS_MAX];
    size_t n = 0;
    struct nm_dir_space s;

    nm_dirs_measure(dirs);
    for (int i = 0; n < DISKS_MAX && nm_dirs_space(dirs, i, &s); i++) {
        bool known = false;

        for (size_t k = 0; k < n; k++)
            known = known || seen[k] == s.device;
        if (known || s.all_bytes == 0)
            continue;
        seen[n++] = s.device;
        put_disk(live, &s);
    }
}

const char *nm_live_directory(const struct nm_dir_space *s, char ret[static NM_LIVE_STATE_MAX],
                              const char **ret_class)
{
    bool good = s->usable && !*s->why;
    const char *what = s->usable     ? "nothing new is placed there"
                       : s->readable ? "full or read-only"
                                     : "bad";

    *ret_class = good ? "good" : "bad";
    if (good)
        (void)snprintf(ret, NM_LIVE_STATE_MAX, "good");
    else
        (void)snprintf(ret, NM_LIVE_STATE_MAX, "%s: %s", what, s->why);
    return ret;
}

static void put_directories(struct sv_live *live, const struct nm_dirs *dirs)
{
    char id[16], text[NM_LIVE_STATE_MAX];
    struct nm_dir_space s;
    const char *class;

    for (int i = 0; i < NM_LIVE_DIRECTORIES && nm_dirs_space(dirs, i, &s); i++) {
        (void)snprintf(id, sizeof(id), NM_LIVE_DIRECTORY, i);
        (void)nm_live_directory(&s, text, &class);
        sv_live_fact(live, id, text, class);
    }
}

static void put_health(struct sv_live *live, const struct nm_web *w)
{
    char report[NM_HEALTH_REPORT_MAX], text[SV_HTML_WORD];
    bool healthy = nm_health_report(w->ctx->health, report);
    int64_t heard = nm_updater_last_heartbeat_ms(w->updater);
    size_t cut = SV_MIN(strlen(report), (size_t)HEALTH_TEXT_MAX);
    int containers = 0;

    for (const struct nm_container *c = w->ctx->containers; c; c = c->hh.next)
        containers += !nm_container_is_done(c);
    while (in_character(report + cut))
        cut--;
    report[cut] = '\0';
    sv_live_fact(live, NM_LIVE_STATE, healthy ? "RUNNING" : "UNHEALTHY",
                 healthy ? "state good" : "state bad");
    sv_live_fact(live, NM_LIVE_HEALTH, report, "");
    if (heard)
        sv_live_fact(live, NM_LIVE_HEARTBEAT, sv_html_span(sv_wall_ms() - heard, text), "");
    (void)snprintf(text, sizeof(text), "%d", containers);
    sv_live_fact(live, NM_LIVE_CONTAINERS, text, "");
    put_directories(live, w->ctx->dirs);
}

/* ---- Events ---- */

/* -ENOENT: no running container of this name. */
static int read_figures(const struct nm_context *ctx, const char *container, struct figures *ret)
{
    const struct nm_container *c;
    struct cg_leaf *leaf;

    if (!*container) {
        *ret = (struct figures){ .memory_mb = ctx->total.memory_mb, .vcores = ctx->total.vcores };
        return cg_root_usage(ctx->cgroups, &ret->use);
    }
    c = nm_container_find(ctx, container);
    if (!c || nm_container_is_done(c))
        return -ENOENT;
    *ret = (struct figures){ .memory_mb = c->resource.memory_mb, .vcores = c->resource.vcores };
    leaf = c->launch.exe ? exe_container_cgroup(c->launch.exe) : NULL;
    return leaf ? cg_leaf_usage(leaf, &ret->use) : -EAGAIN;
}

static void put_use(struct sv_live *live, const struct figures *f, struct sv_http_reading *before)
{
    put_memory(live, f);
    put_cpu(live, f, before);
    put_wait(live, "Waiting for CPU", &f->use.cpu_stall);
    put_wait(live, "Waiting for memory", &f->use.memory_stall);
    put_wait(live, "Waiting for disks", &f->use.io_stall);
}

static int write_event(const char *container, struct sv_http_reading *before,
                       char ret[static SV_HTTP_EVENT_MAX], void *userdata)
{
    const struct nm_web *w = userdata;
    struct sv_live live;
    struct figures f;
    int r = read_figures(w->ctx, container, &f);

    sv_live_begin(&live);
    if (r >= 0) /* else not launched yet, or a node without cgroups */
        put_use(&live, &f, before);
    if (!*container) {
        put_disks(&live, w->ctx->dirs);
        put_health(&live, w);
    }
    sv_live_end(&live, ret);
    return r == -ENOENT ? r : 0;
}

int nm_live_new(sd_event *event, const struct nm_web *w, struct sv_http_events **ret)
{
    const struct sv_http_events_config config = { .period_ms = NM_LIVE_PERIOD_MS,
                                                  .max = NM_LIVE_STREAMS,
                                                  .max_per_address = NM_LIVE_STREAMS_OF_ADDRESS,
                                                  .sampler = write_event,
                                                  .userdata = (void *)(uintptr_t)w };

    return sv_http_events_new(event, &config, ret);
}

int nm_live_open(const struct nm_web *w, const char *container, const struct sv_http_request *req,
                 struct sv_http_response *ret)
{
    if (sv_groups_missed(w->groups)) /* unknown yet if the caller may view it */
        return -EAGAIN;
    return sv_http_events_open(w->live, req, container, ret);
}
