/* FrameworkInfo.json in the framework's directory, which tasks read: every 30 s, if a task has
 * changed. It is put together in turns of the loop, since a framework can have 50,000 tasks. */
#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "common/oom.h"
#include "service/am/framework/master-internal.h"

#define INTERVAL_MS 30000
#define TURN_TASKS 200
#define INFO_MAX ((size_t)96 << 20)

/* Beyond INFO_MAX the file is not written: 100,000 tasks, or long diagnostics, can be more. */
static void put(struct svc_fwm *m, const char *text)
{
    int r = sv_buf_put_str(&m->info, text);

    svc_fwm_need(r);
    m->info_full |= r < 0;
}

/* Takes the reference. */
static void put_json(struct svc_fwm *m, json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    json_decref(o);
    if (!text)
        sv_out_of_memory();
    put(m, text);
    free(text);
}

static json_t *framework_status(const struct svc_fwm *m)
{
    struct svc_fw_state state;

    svc_fw_state(m->engine, &state);
    return json_pack("{s:s,s:i,s:s,s:f}", "frameworkName", m->options->name, "frameworkVersion",
                     (int)m->spec->version, "applicationId", m->application, "applicationProgress",
                     m->progress >= 0 ? m->progress : state.progress);
}

static void begin(struct svc_fwm *m)
{
    sv_buf_free(&m->info);
    m->info = SV_BUF_INIT(INFO_MAX);
    m->info_open = true;
    m->info_stale = m->info_full = false;
    m->info_role = m->info_cursor = 0;
    put(m, "{\"summarizedFrameworkInfo\":null,\"aggregatedFrameworkRequest\":{\"frameworkRequest\":"
           "{\"frameworkName\":");
    put_json(m, json_string(m->options->name));
    put(m, ",\"frameworkDescriptor\":");
    put_json(m, svc_fw_json(m->spec));
    put(m, "}},\"aggregatedFrameworkStatus\":{\"frameworkStatus\":");
    put_json(m, framework_status(m));
    put(m, ",\"aggregatedTaskRoleStatuses\":{");
}

static void on_stored(int status, const struct sv_error *err, void *userdata)
{
    struct svc_fwm *m = userdata;

    m->publishing = false;
    if (status < 0) {
        m->info_stale = true;
        sv_log_warning("FrameworkInfo.json was not stored: %s", err->text);
    }
}

static void end(struct svc_fwm *m)
{
    put(m, "}}}\n");
    m->info_open = false;
    if (m->info_full) {
        sv_buf_free(&m->info);
        sv_log_warning("FrameworkInfo.json is larger than %zu MiB and was not stored",
                       INFO_MAX >> 20);
        return;
    }
    m->publishing = true;
    svc_fwm_need(svc_work_replace(m->work, SVC_TASK_INFO_FILE, &m->info, on_stored, m));
}

static void begin_role(struct svc_fwm *m)
{
    put(m, m->info_role ? "," : "");
    put_json(m, json_string(m->spec->roles[m->info_role].name));
    put(m, ":{\"taskStatuses\":{\"taskRoleName\":");
    put_json(m, json_string(m->spec->roles[m->info_role].name));
    put(m, ",\"frameworkVersion\":");
    put_json(m, json_integer(m->spec->version));
    put(m, ",\"taskStatusArray\":[");
}

static int on_turn(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_task task;
    struct svc_fw_view v;

    if (!a)
        sv_out_of_memory();
    if (m->info_cursor == 0)
        begin_role(m);
    for (int n = 0; n < TURN_TASKS; n++) {
        bool first = m->info_cursor == 0;

        if (!svc_fw_walk(m->engine, m->info_role, &m->info_cursor, &v)) {
            put(m, "]}}");
            m->info_cursor = 0;
            m->info_role++;
            break;
        }
        svc_fwm_view(m, &v, a, &task);
        put(m, first ? "" : ",");
        put_json(m, svc_fw_task_json(&task, m->spec->roles[v.role].name));
    }
    if (m->info_role == m->spec->n_roles || m->info_full)
        end(m);
    else
        (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* exists, ignoring */
    return 0;
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct svc_fwm *m = userdata;

    (void)usec;
    (void)sd_event_source_set_time_relative(s, INTERVAL_MS * 1000ull);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT); /* exists, ignoring */
    if (!m->begun || !m->info_stale || m->info_open || m->publishing || m->ending)
        return 0;
    begin(m);
    (void)sd_event_source_set_enabled(m->publish_turn, SD_EVENT_ONESHOT); /* exists, ignoring */
    return 0;
}

int svc_fwm_publish_new(struct svc_fwm *m)
{
    int r = sd_event_add_defer(m->event, &m->publish_turn, on_turn, m);

    if (r >= 0)
        r = sd_event_source_set_enabled(m->publish_turn, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_time_relative(m->event, &m->publish_timer, CLOCK_MONOTONIC, 1000000, 1000,
                                       on_time, m);
    return r;
}
