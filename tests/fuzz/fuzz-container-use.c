/* libFuzzer target: what a node tells of a container's use, in heartbeats. An accepted text is in
 * bounds, and is read again as the same from what is written. */
#include <stdlib.h>
#include <string.h>

#include "wire/container-use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = strndup((const char *)data, size);
    char again[YARN_USE_TEXT_MAX];
    struct yarn_use use, same;

    if (!text || yarn_use_parse(text, &use) < 0)
        return 0;
    if (use.bytes < 0 || use.peak_bytes < 0 || use.millicores < 0 ||
        yarn_use_parse(yarn_use_text(&use, again), &same) < 0 || use.bytes != same.bytes ||
        use.peak_bytes != same.peak_bytes || use.millicores != same.millicores)
        abort();
    return 0;
}
