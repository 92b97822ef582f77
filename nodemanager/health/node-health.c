/* See node-health.h. */
#include "nodemanager/health/node-health.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/utf8.h"
#include "executor/exe.h"
#include "nodemanager/health/health-scripts.h"
#include "nodemanager/health/launch-failures.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/mount-watch.h"
#include "nodemanager/store/state-store.h"

#define DRAIN "drain"      /* a setting of the store */
#define PROBE_USEC 1000000 /* between probes of a helper that cannot be reached */

struct nm_health {
    sd_event *event;
    struct exe *exe;
    const struct nm_dirs *dirs;
    struct nm_store *store;
    struct nm_mount_watch *mounts;
    struct nm_launch_failures *launches; /* NULL = not counted */
    struct nm_scripts *scripts;          /* NULL = none are run */
    sd_event_source *probe_timer;
    void (*refused)(const struct exe_failure *f, void *userdata);
    void *userdata;
    char unhealthy[512];             /* "" = no fault */
    char drain[NM_DRAIN_REASON_MAX]; /* "" = not drained */
    char note[2048];                 /* no fault of the node; "" = none */
};

static void arm_probe(struct nm_health *h);

static void on_probed(const struct exe_failure *f, void *userdata)
{
    struct nm_health *h = userdata;

    if (f && f->status != EXE_STATUS_SOCKET) {
        nm_health_set_unhealthy(h, f->text);
    } else if (f) {
        arm_probe(h);
    } else {
        sv_log_notice("container-executor answers again: the node is healthy");
        h->unhealthy[0] = '\0';
    }
}

static int on_probe_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_health *h = userdata;

    (void)s;
    (void)usec;
    h->probe_timer = sd_event_source_disable_unref(h->probe_timer);
    /* Mounts may have changed meanwhile. */
    if (exe_check(h->exe, true, on_probed, h) < 0)
        arm_probe(h);
    return 0;
}

static void arm_probe(struct nm_health *h)
{
    if (!h->probe_timer && sd_event_add_time_relative(h->event, &h->probe_timer, CLOCK_BOOTTIME,
                                                      PROBE_USEC, 0, on_probe_timer, h) < 0)
        sv_log_err("node health: out of memory: unhealthy until restart");
}

void nm_health_set_unhealthy(struct nm_health *h, const char *why)
{
    if (strcmp(h->unhealthy, why) != 0)
        sv_log_err("node is unhealthy: %s", why);
    snprintf(h->unhealthy, sizeof(h->unhealthy), "%s", why);
    if (exe_unreachable(h->exe))
        arm_probe(h);
}

void nm_health_note(struct nm_health *h, const char *text)
{
    snprintf(h->note, sizeof(h->note), "%s", text);
}

int nm_health_count_launches(struct nm_health *h, unsigned limit, int64_t retry_ms,
                             struct sv_error *err)
{
    return nm_launch_failures_new(h->event, limit, retry_ms, &h->launches, err);
}

int nm_health_run_scripts(struct nm_health *h, const struct nm_conf_health *conf,
                          struct sv_error *err)
{
    return nm_scripts_new(h->event, conf, &h->scripts, err);
}

bool nm_health_starting(const struct nm_health *h)
{
    return h->scripts && nm_scripts_starting(h->scripts);
}

void nm_health_launch_failed(struct nm_health *h, struct yarn_app_id app,
                             const struct exe_failure *f)
{
    if (f->node_unhealthy)
        nm_health_set_unhealthy(h, f->text);
    else if (h->launches && exe_failure_is_nodes(f))
        nm_launch_failures_add(h->launches, app, f->text);
}

void nm_health_launch_succeeded(struct nm_health *h)
{
    if (h->launches)
        nm_launch_failures_clear(h->launches);
}

int nm_health_drain(struct nm_health *h, const char *reason, struct sv_error *err)
{
    int r = reason ? nm_store_setting(h->store, DRAIN, reason)
                   : nm_store_setting_remove(h->store, DRAIN);

    if (r >= 0)
        r = nm_store_commit(h->store);
    if (r < 0)
        return sv_error_errno(err, r, "state store: the drain of the node");
    if (reason)
        sv_log_notice("the node is drained: %s", reason);
    else if (*h->drain)
        sv_log_notice("the node is not drained any more");
    snprintf(h->drain, sizeof(h->drain), "%s", reason ? reason : "");
    return 0;
}

const char *nm_health_drain_reason(const struct nm_health *h)
{
    return *h->drain ? h->drain : NULL;
}

static int on_setting(const char *name, const char *value, void *userdata)
{
    struct nm_health *h = userdata;

    if (sv_streq(name, DRAIN)) {
        snprintf(h->drain, sizeof(h->drain), "%s", value);
        sv_log_notice("the node is drained: %s", h->drain);
    }
    return 0;
}

static void append(char report[NM_HEALTH_REPORT_MAX], const char *part)
{
    size_t at = strlen(report);

    if (!*part || at + 1 >= NM_HEALTH_REPORT_MAX)
        return;
    if (at)
        report[at++] = ';';
    (void)sv_utf8_copy(report + at, NM_HEALTH_REPORT_MAX - at, part,
                       strlen(part)); /* cut, ignoring */
}

bool nm_health_report(const struct nm_health *h, char report[NM_HEALTH_REPORT_MAX])
{
    const char *launches = h->launches ? nm_launch_failures_report(h->launches) : NULL;
    const char *dirs, *script, *store = nm_store_failure(h->store);
    bool good = nm_dirs_healthy(h->dirs, &dirs);
    char drain[NM_DRAIN_REASON_MAX + 16] = "";
    const char *const parts[] = { drain, h->unhealthy, launches ? launches : "", store ? store : "",
                                  dirs,  h->note };

    if (*h->drain)
        snprintf(drain, sizeof(drain), "drained: %s", h->drain);
    report[0] = '\0';
    for (size_t i = 0; i < SV_ARRAY_LEN(parts); i++)
        append(report, parts[i]);
    for (size_t i = 0; h->scripts && (script = nm_scripts_report(h->scripts, i)); i++) {
        append(report, script);
        good = good && !*script;
    }
    return good && !store && !launches && !*h->unhealthy && !*h->drain;
}

int64_t nm_health_checked_ms(const struct nm_health *h)
{
    int64_t dirs = nm_dirs_checked_ms(h->dirs);

    return h->scripts ? SV_MAX(dirs, nm_scripts_checked_ms(h->scripts)) : dirs;
}

static void on_checked(const struct exe_failure *f, void *userdata)
{
    struct nm_health *h = userdata;

    if (!f)
        return;
    /* Running containers are still supervised, and ended ones deleted. */
    if (!exe_failure_refuses(f)) {
        nm_health_set_unhealthy(h, f->text);
        return;
    }
    sv_log_err("container-executor refuses: %s", f->text);
    h->refused(f, h->userdata);
}

static void on_prepared(const struct exe_failure *f, void *userdata)
{
    (void)userdata;
    if (f)
        sv_log_err("mounts of the host have changed, and new containers do not see it: %s",
                   f->text);
}

/* The container-visible part of the host was prepared from the mounts at one time. */
static void on_mounts_changed(void *userdata)
{
    struct nm_health *h = userdata;
    int r = exe_check(h->exe, true, on_prepared, h);

    if (r < 0)
        sv_log_err("mounts of the host have changed, and new containers do not see it: %s",
                   strerror(-r));
    else
        sv_log_info(
            "mounts of the host have changed: the container-visible part is prepared again");
}

int nm_health_new(sd_event *event, struct exe *exe, const struct nm_dirs *dirs,
                  struct nm_store *store,
                  void (*refused)(const struct exe_failure *f, void *userdata), void *userdata,
                  struct nm_health **ret, struct sv_error *err)
{
    struct nm_health *h = calloc(1, sizeof(*h));
    int r;

    if (!h)
        return sv_error_errno(err, -ENOMEM, "node health");
    *h = (struct nm_health){ .event = event,
                             .exe = exe,
                             .dirs = dirs,
                             .store = store,
                             .refused = refused,
                             .userdata = userdata };
    r = nm_store_each_setting(store, on_setting, h);
    if (r < 0)
        (void)sv_error_errno(err, r, "state store: settings");
    else if ((r = exe_check(exe, true, on_checked, h)) < 0)
        (void)sv_error_errno(err, r, "container-executor");
    else
        r = nm_mount_watch_new(event, "/proc/self/mountinfo", on_mounts_changed, h, &h->mounts,
                               err);
    if (r < 0) {
        nm_health_free(h);
        return r;
    }
    *ret = h;
    return 0;
}

struct nm_health *nm_health_free(struct nm_health *h)
{
    if (!h)
        return NULL;
    nm_mount_watch_free(h->mounts);
    nm_launch_failures_free(h->launches);
    nm_scripts_free(h->scripts);
    sd_event_source_disable_unref(h->probe_timer);
    free(h);
    return NULL;
}
