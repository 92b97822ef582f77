/* libFuzzer target: the role's name, a newline, a TaskStatus as a master tells it. What is accepted
 * is printed as JSON that reads back into the same. */
#include <stdlib.h>
#include <string.h>

#include "service/framework/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check(const json_t *o, const char *role)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct svc_fw_task t, again;
    json_t *printed, *twice;

    MUST(a);
    if (svc_fw_task_read(o, role, a, &t, &err) < 0) {
        MUST(*err.text);
        return;
    }
    printed = svc_fw_task_json(&t, role);
    MUST(printed && svc_fw_task_read(printed, role, a, &again, &err) == 0);
    twice = svc_fw_task_json(&again, role);
    MUST(json_equal(printed, twice));
    json_decref(printed);
    json_decref(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    char role[SVC_FW_NAME_MAX + 1] = "";
    json_t *o;

    if (!end)
        return 0;
    memcpy(role, data, SV_MIN((size_t)(end - data), sizeof(role) - 1));
    o = json_loadb((const char *)end + 1, size - (size_t)(end - data) - 1, JSON_REJECT_DUPLICATES,
                   NULL);
    if (o && *role)
        check(o, role);
    json_decref(o);
    return 0;
}
