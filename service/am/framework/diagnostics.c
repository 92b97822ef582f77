/* See diagnostics.h. */
#include "service/am/framework/diagnostics.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "common/str.h"
#include "common/utf8.h"

static json_t *text(const char *s, size_t max)
{
    size_t len = s ? strlen(s) : 0;
    json_t *v;

    if (!s)
        return json_null();
    v = json_stringn(s, len > max ? sv_utf8_cut(s, max) : len);
    return v ? v : json_string(""); /* not UTF-8 */
}

static char *print(const struct svc_fw_end *e, size_t diagnostics, size_t trigger)
{
    json_t *o = json_pack(
        "{s:i,s:o,s:o,s:s,s:o,s:o,s:o}", "applicationExitCode", (int)e->code,
        "applicationExitDescription", text(e->description, SVC_FW_DESCRIPTION_MAX),
        "applicationExitDiagnostics", text(e->diagnostics, diagnostics), "applicationExitType",
        svc_fw_type_text(e->type), "applicationExitTriggerMessage", text(e->trigger, trigger),
        "applicationExitTriggerTaskRoleName", text(e->role, SVC_FW_NAME_MAX),
        "applicationExitTriggerTaskIndex", e->role ? json_integer(e->task) : json_null());
    char *json = o ? json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;

    json_decref(o);
    return json;
}

/* JSON escapes: a text of n bytes can take 6 n. */
int svc_am_diagnostics(const struct svc_fw_end *end, char **ret)
{
    const size_t max =
        SVC_FW_DIAGNOSTICS_MAX - strlen(SVC_FW_DIAGNOSTICS_START SVC_FW_DIAGNOSTICS_END);
    size_t diagnostics = max, trigger = max;
    _cleanup_free_ char *json = print(end, diagnostics, trigger);

    while (json && strlen(json) > max && (diagnostics > 0 || trigger > 0)) {
        free(json);
        if (diagnostics > 0)
            diagnostics = diagnostics < 64 ? 0 : diagnostics / 2;
        else
            trigger = trigger < 64 ? 0 : trigger / 2;
        json = print(end, diagnostics, trigger);
    }
    if (!json)
        return -ENOMEM;
    return sv_asprintf(ret, SVC_FW_DIAGNOSTICS_START "%s" SVC_FW_DIAGNOSTICS_END, json) < 0
               ? -ENOMEM
               : 0;
}
