/* See reload.h. A key is applied at once where its field is read at each use, and its type has no
 * memory of its own. Intervals change with the next expiry of their timer. */
#include "nodemanager/reload.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "nodemanager/conf/conf-unread.h"

#define NM "yarn.nodemanager."
#define OWN "selvedge.nodemanager."
#define FIELD(f) offsetof(struct nm_conf, f), sizeof(((struct nm_conf *)0)->f)

static const struct live {
    const char *name;
    size_t offset, size;
} live[] = {
    { OWN "log.level", FIELD(log_level) },
    { OWN "webapp.logs.enabled", FIELD(web.logs_enabled) },
    { NM "disk-health-checker.interval-ms", FIELD(disk_check_ms) },
    { NM "disk-health-checker.min-healthy-disks", FIELD(min_healthy_disks) },
    { NM "disk-health-checker.disk-utilization-threshold.enabled", FIELD(utilization_checked) },
    { NM "disk-health-checker.max-disk-utilization-per-disk-percentage",
      FIELD(max_disk_utilization) },
    { NM "disk-health-checker.disk-utilization-watermark-low-per-disk-percentage",
      FIELD(low_disk_utilization) },
    { NM "disk-health-checker.disk-free-space-threshold.enabled", FIELD(free_space_checked) },
    { NM "disk-health-checker.min-free-space-per-disk-mb", FIELD(min_free_mb) },
    { NM "disk-health-checker.min-free-space-per-disk-watermark-high-mb", FIELD(high_free_mb) },
    { NM "disk-health-checker.working-dir-content-accessibility-validation.enabled",
      FIELD(content_checked) },
    { NM "health-checker.interval-ms", FIELD(health.interval_ms) },
    { NM "health-checker.timeout-ms", FIELD(health.timeout_ms) },
    { OWN "disk-health-checker.min-free-inodes", FIELD(min_free_inodes) },
    { "yarn.resourcemanager.work-preserving-recovery.enabled", FIELD(work_preserving) },
    { NM "recovery.supervised", FIELD(recovery_supervised) },
    { NM "log-container-debug-info.enabled", FIELD(debug_info) },
    { NM "container.stderr.tail.bytes", FIELD(stderr_tail_bytes) },
    { NM "container-diagnostics-maximum-size", FIELD(diagnostics_max) },
    { NM "sleep-delay-before-sigkill.ms", FIELD(sigkill_delay_ms) },
    { NM "process-kill-wait.ms", FIELD(kill_wait_ms) },
    { NM "delete.debug-delay-sec", FIELD(delete_debug_delay_ms) },
    { NM "log.retain-seconds", FIELD(log_retain_ms) },
    { NM "container-monitor.interval-ms", FIELD(monitor_ms) },
    /* read by name: labels/described.c */
    { NM "node-labels.provider.configured-node-partition", 0, 0 },
    { NM "node-attributes.provider.configured-node-attributes", 0, 0 },
    { NM "resource-monitor.interval-ms", FIELD(monitor_ms) },
};

bool nm_reload_applies(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(live); i++)
        if (sv_streq(live[i].name, name))
            return true;
    return false;
}

size_t nm_reload_count(void)
{
    return SV_ARRAY_LEN(live);
}

struct walk {
    struct nm_conf *now, *next;
    struct nm_reload_result *result;
    bool removed; /* walking the keys of `now`: those that `next` no longer sets */
};

/* The effective value as text, default included. */
static const char *effective(struct sv_conf *c, const struct sv_conf_key *k)
{
    const char *text = NULL;

    return sv_conf_string(c, k, &text, NULL) < 0 || !text ? "" : text;
}

static int told(struct walk *w, const char *name, const char *text)
{
    if (!nm_reload_applies(name)) {
        w->result->pending++;
        sv_log_notice("configuration: %s has changed; a restart of the NodeManager applies it",
                      name);
        return 0;
    }
    w->result->applied++;
    sv_log_notice("configuration: %s is now %s", name, *text ? text : "unset");
    return sv_conf_set(w->now->conf, name, text); /* for /conf and the next comparison */
}

static int compare_rows(struct walk *w)
{
    const struct sv_conf_key *row;
    int r = 0;

    for (size_t i = 0; r >= 0 && (row = nm_conf_row(i)); i++) {
        const char *text = effective(w->next->conf, row);

        if (strcmp(effective(w->now->conf, row), text) != 0)
            r = told(w, row->name, text);
    }
    return r;
}

/* Keys that other tables and components read by name. */
static int on_key(const char *name, const char *value, void *userdata)
{
    struct walk *w = userdata;
    struct sv_conf *other = w->removed ? w->next->conf : w->now->conf;
    const char *there = sv_conf_raw(other, name);

    if (!nm_conf_is_used(name) || nm_conf_has_row(name))
        return 0;
    if (w->removed ? !there : !there || strcmp(there, value ? value : "") != 0)
        return told(w, name, value ? value : "");
    return 0;
}

static int compare(struct walk *w)
{
    int r = compare_rows(w);

    if (r >= 0)
        r = sv_conf_each(w->next->conf, on_key, w);
    w->removed = true;
    return r < 0 ? r : sv_conf_each(w->now->conf, on_key, w);
}

/* Turned on or off by hadoop.security.authorization it needs a restart, as the key's line says. */
static void take_policy(struct nm_conf *now, struct nm_conf *next)
{
    struct sv_policy *old = now->policy;

    if (!old || !next->policy)
        return;
    now->policy = next->policy;
    now->policy_missing = next->policy_missing;
    next->policy = old;
    nm_conf_policy_log(now);
}

int nm_reload(struct nm_conf *conf, const char *dir, char *const *overrides,
              struct nm_reload_result *ret, struct sv_error *err)
{
    struct nm_conf next;
    int r = nm_conf_load_again(&next, conf, dir, overrides, err);

    if (r >= 0) {
        *ret = (struct nm_reload_result){ 0 };
        r = compare(&(struct walk){ .now = conf, .next = &next, .result = ret });
        if (r < 0)
            (void)sv_error_errno(err, r, "configuration");
    }
    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(live); i++)
        memcpy((char *)conf + live[i].offset, (const char *)&next + live[i].offset, live[i].size);
    if (r >= 0)
        take_policy(conf, &next);
    nm_conf_free(&next);
    return r;
}
