/* See diagnostics.h. */
#include "service/launcher/diagnostics.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "service/engine/exit-table.h"
#include "service/framework/link.h"
#include "service/framework/reader.h"
#include "service/framework/status.h"

/* A copy of at most SVC_FW_DIAGNOSTICS_MAX bytes, of characters alone. */
static char *bounded(const char *s)
{
    size_t n = s ? strnlen(s, SVC_FW_DIAGNOSTICS_MAX) : 0, size = 3 * n + 1;
    char *text = s ? malloc(size) : NULL;

    if (text)
        (void)sv_utf8_copy(text, size, s, n); /* a character that was cut is replaced, ignoring */
    return text;
}

static char *text_of(const json_t *o, const char *key)
{
    return bounded(json_string_value(json_object_get(o, key)));
}

static int read_code(const json_t *o, int32_t *ret)
{
    json_int_t n = json_integer_value(json_object_get(o, "applicationExitCode"));

    if (!json_is_integer(json_object_get(o, "applicationExitCode")) || n < INT32_MIN ||
        n > INT32_MAX)
        return -EBADMSG;
    *ret = (int32_t)n;
    return 0;
}

static int read_exit(const json_t *o, struct svc_lr_exit *x)
{
    const char *type = json_string_value(json_object_get(o, "applicationExitType"));
    const json_t *index = json_object_get(o, "applicationExitTriggerTaskIndex");
    const json_t *role = json_object_get(o, "applicationExitTriggerTaskRoleName");

    if (read_code(o, &x->code) < 0)
        return -EBADMSG;
    if (type ? svc_fw_type_named(type, &x->type) < 0
             : json_object_get(o, "applicationExitType") != NULL)
        return -EBADMSG;
    if (json_is_string(role) && !svc_fw_name_valid(json_string_value(role)))
        return -EBADMSG;
    if (!type) {
        struct svc_fw_exit known;

        svc_fw_exit_of_code(NULL, x->code, &known);
        x->type = known.type;
    }
    if (json_is_integer(index) && json_integer_value(index) >= 0 &&
        json_integer_value(index) < SVC_FW_TASKS_MAX)
        x->trigger_index = (int32_t)json_integer_value(index);
    x->known = true;
    x->description = text_of(o, "applicationExitDescription");
    x->diagnostics = text_of(o, "applicationExitDiagnostics");
    x->trigger = text_of(o, "applicationExitTriggerMessage");
    x->trigger_role = text_of(o, "applicationExitTriggerTaskRoleName");
    return 0;
}

int svc_lr_diagnostics(const char *text, struct svc_lr_exit *ret)
{
    const char *begin = strstr(text, SVC_FW_DIAGNOSTICS_START), *end;
    struct svc_lr_exit x = { .trigger_index = -1 };
    char *bad = NULL;
    json_t *o = NULL;
    int r;

    if (!begin)
        return -ENOENT;
    begin += strlen(SVC_FW_DIAGNOSTICS_START);
    end = strstr(begin, SVC_FW_DIAGNOSTICS_END);
    if (!end || end - begin > SVC_FW_DIAGNOSTICS_MAX)
        return -EBADMSG;
    r = svc_fw_load(begin, (size_t)(end - begin), &o, &bad);
    free(bad);
    if (r == 0)
        r = json_is_object(o) ? read_exit(o, &x) : -EBADMSG;
    json_decref(o);
    if (r < 0) {
        svc_lr_exit_free(&x);
        return -EBADMSG;
    }
    *ret = x;
    return 0;
}

void svc_lr_diagnostics_lost(int32_t code, const char *text, struct svc_lr_exit *ret)
{
    struct svc_fw_exit known;

    svc_fw_exit_of_code(NULL, code, &known);
    *ret = (struct svc_lr_exit){ .known = true,
                                 .code = code,
                                 .type = known.type,
                                 .description = bounded(known.description),
                                 .diagnostics = bounded(text),
                                 .trigger_index = -1 };
}
