/* Bodies of a FrameworkDescriptor: one that is accepted prints, and reads back as the same; one
 * that is refused has a violation. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "service/framework/descriptor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static char *printed(const struct svc_fw_descriptor *d)
{
    json_t *o = svc_fw_json(d);
    char *text;

    MUST(o);
    text = json_dumps(o, JSON_COMPACT);
    MUST(text);
    json_decref(o);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_descriptor *d = NULL, *again = NULL;
    char *bad = NULL, *first, *second;
    int r;

    MUST(a);
    r = svc_fw_parse((const char *)data, size, true, a, &d, &bad);
    MUST(r == 0 || r == -EFBIG || (r == -EINVAL && bad && strchr(bad, '\n')));
    if (r == 0) {
        first = printed(d);
        MUST(svc_fw_parse(first, strlen(first), true, a, &again, &bad) == 0);
        second = printed(again);
        MUST(strcmp(first, second) == 0);
        free(first);
        free(second);
    }
    free(bad);
    return 0;
}
