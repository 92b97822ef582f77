/* Audit and summary lines. See audit.h.
 *
 * The texts hold names that users chose: separators in them are escaped, so that a
 * name cannot add a field or a line. */
#include "rm-lite/core/audit.h"

#include <stdio.h>
#include <string.h>

#include "rm-lite/core/app-usage.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/tracking.h"

static const char *const final_names[] = { "UNDEFINED", "SUCCEEDED", "FAILED", "KILLED", "ENDED" };

struct line {
    char text[4096];
    size_t len;
};

static void add(struct line *l, const char *key, const char *value)
{
    char safe[1024];
    size_t o = 0;
    int n;

    if (!value)
        return;
    for (const char *p = value; *p && o + 2 < sizeof(safe); p++) /* tabs separate the fields */
        safe[o++] = *p == '\t' || *p == '\n' || *p == '\r' ? ' ' : *p;
    safe[o] = 0;
    n = snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s%s=%s", l->len ? "\t" : "", key,
                 safe);
    if (n > 0)
        l->len = SV_MIN(l->len + (size_t)n, sizeof(l->text) - 1);
}

static void audit(const struct rm_audit *a, const char *result)
{
    struct line l = { .len = 0 };

    add(&l, "USER", a->user ? a->user : "UNKNOWN");
    add(&l, "IP", a->ip);
    add(&l, "OPERATION", a->operation);
    add(&l, "TARGET", a->target);
    add(&l, "RESULT", result);
    add(&l, "DESCRIPTION", a->description);
    add(&l, "PERMISSIONS", a->permissions);
    add(&l, "APPID", a->app);
    add(&l, "APPATTEMPTID", a->attempt);
    add(&l, "CONTAINERID", a->container);
    add(&l, "QUEUENAME", a->queue);
    sv_log(SV_LOG_INFO, a->container ? a->container : a->app, "RMAuditLogger: %s", l.text);
}

void rm_audit_ok(const struct rm_audit *a)
{
    audit(a, "SUCCESS");
}

void rm_audit_fail(const struct rm_audit *a)
{
    audit(a, "FAILURE");
}

void rm_audit_app_end(const struct rm_app *app)
{
    struct rm_audit a = { .user = app->user, .target = "RMAppManager", .app = app->id_str };

    switch (app->state) {
    case RM_APP_ST_FAILED:
        a.operation = "Application Finished - Failed";
        a.description = app->diagnostics;
        a.permissions = "App failed with state: FAILED";
        rm_audit_fail(&a);
        break;
    case RM_APP_ST_KILLED:
        a.operation = "Application Finished - Killed";
        rm_audit_ok(&a);
        break;
    default:
        a.operation = "Application Finished - Succeeded";
        rm_audit_ok(&a);
        break;
    }
}

void rm_audit_escape(char *dst, size_t size, const char *src)
{
    size_t o = 0;

    for (; src && *src && o + 2 < size; src++) {
        char c = *src;

        if (c == ',' || c == '=' || c == '\\' || c == '\n' || c == '\r')
            dst[o++] = '\\';
        dst[o++] = c == '\n' ? 'n' : c == '\r' ? 'r' : c;
    }
    dst[o] = 0;
}

/* "1 MB-seconds, 2 vcore-seconds, 3 yarn.io/gpu-seconds", escaped. */
static void seconds_text(const struct rm_app *app, bool preempted, char *dst, size_t size)
{
    struct rm_usage_row rows[RM_USAGE_ROWS];
    int n = rm_app_usage_rows(app, rows);
    char text[512] = "";
    size_t len = 0;

    for (int i = 0; i < n && len < sizeof(text); i++)
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "%s%lld %.100s-seconds", i ? ", " : "",
                             (long long)(preempted ? rows[i].preempted_ms : rows[i].used_ms) / 1000,
                             i == 0   ? "MB"
                             : i == 1 ? "vcore"
                                      : rows[i].type);
    rm_audit_escape(dst, size, text);
}

void rm_audit_summary(const struct rm_app *app)
{
    char name[512], user[512], queue[512], type[64], url[512], diag[512], tags[512], raw[512] = "";
    char used[512], gone[512];
    const struct rm_preempted *p = &app->preempted;
    int64_t mb, vc;
    size_t n = 0;

    rm_app_seconds(app, &mb, &vc);
    seconds_text(app, false, used, sizeof(used));
    seconds_text(app, true, gone, sizeof(gone));
    rm_audit_escape(name, sizeof(name), app->name);
    rm_audit_escape(user, sizeof(user), app->user);
    rm_audit_escape(queue, sizeof(queue), app->queue);
    rm_audit_escape(type, sizeof(type), app->type);
    rm_audit_escape(diag, sizeof(diag), app->diagnostics);
    for (char **t = app->tags; t && *t && n + 1 < sizeof(raw); t++)
        n += (size_t)snprintf(raw + n, sizeof(raw) - n, "%s%s", n ? "," : "", *t);
    raw[sizeof(raw) - 1] = 0;
    rm_audit_escape(tags, sizeof(tags), raw);
    if (app->current) {
        char plain[512];

        rm_tracking_url(app->current, plain, sizeof(plain));
        rm_audit_escape(url, sizeof(url), plain);
    } else {
        memcpy(url, "N/A", 4);
    }
    sv_log(SV_LOG_INFO, app->id_str,
           "ApplicationSummary: appId=%s,name=%s,user=%s,queue=%s,state=%s,trackingUrl=%s,"
           "appMasterHost=%s,submitTime=%lld,startTime=%lld,launchTime=%lld,finishTime=%lld,"
           "finalStatus=%s,memorySeconds=%lld,vcoreSeconds=%lld,preemptedMemorySeconds=%lld,"
           "preemptedVcoreSeconds=%lld,preemptedAMContainers=%d,preemptedNonAMContainers=%d,"
           "preemptedResources=<memory:%lld\\, vCores:%lld>,applicationType=%s,"
           "resourceSeconds=%s,preemptedResourceSeconds=%s,applicationTags=%s,"
           "applicationNodeLabel=,diagnostics=%s,totalAllocatedContainers=%d",
           app->id_str, name, user, queue, rm_app_wire_state_name(app), url,
           app->current && app->current->host ? app->current->host : "N/A",
           (long long)app->submit_ms, (long long)app->start_ms, (long long)app->launch_ms,
           (long long)app->finish_ms, final_names[rm_app_wire_final(app)], (long long)mb,
           (long long)vc, (long long)p->seconds.memory_ms / 1000,
           (long long)p->seconds.vcore_ms / 1000, p->masters, p->containers,
           (long long)p->resource.mem, (long long)p->resource.vcores, type, used, gone, tags, diag,
           app->total_containers);
}
