/* libFuzzer target: the file of exit codes. What is accepted gives codes of 1 to 255 alone, none of
 * which means success, and each is found as it is listed. */
#include <stdlib.h>
#include <string.h>

#include "service/engine/exit-table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(svc_fw_exits_freep) struct svc_fw_exits *u = NULL;
    struct svc_fw_exit_row row;
    struct sv_error err = { 0 };
    struct svc_fw_exit x;

    if (svc_fw_exits_parse((const char *)data, size, &u, &err) < 0) {
        MUST(*err.text);
        return 0;
    }
    for (size_t cursor = 0; svc_fw_exit_walk(u, &cursor, &row);) {
        if (row.exit.code <= 0)
            continue;
        MUST(row.exit.code <= 255 && row.exit.type != SVC_FW_SUCCEEDED);
        svc_fw_exit_of_raw(u, row.raw, "", &x);
        MUST(x.code == row.exit.code && x.type == row.exit.type &&
             strcmp(x.description, row.exit.description) == 0);
    }
    svc_fw_exit_of_raw(u, 0, NULL, &x);
    MUST(x.type == SVC_FW_SUCCEEDED);
    return 0;
}
