/* libFuzzer target: a node of ZooKeeper as a row of the launcher's store: the path up to the first
 * NUL, then the value. What is accepted is written again as the same node. */
#include <stdlib.h>
#include <string.h>

#include "service/ha/nodes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, 0, size);
    size_t n = end ? (size_t)(end - data) : size, len = end ? size - n - 1 : 0;
    _cleanup_free_ char *path = strndup((const char *)data, n), *value = malloc(len + 1);
    _cleanup_free_ char *name = path ? strdup(path) : NULL;
    _cleanup_buf_ struct sv_buf again = SV_BUF_INIT(1 << 24);
    char node[SVC_HA_PATH_MAX];
    struct svc_lr_row row;

    if (n >= SVC_HA_PATH_MAX)
        return 0; /* longer than any that is read here */
    MUST(path && value && name);
    if (len)
        memcpy(value, end + 1, len);
    value[len] = '\0';
    if (svc_ha_node_read(path, value, len, &row) < 0)
        return 0;
    MUST(svc_ha_node_path(&row, node) == 0 && svc_ha_node_value(&row, &again) == 0);
    MUST(strcmp(node, name) == 0);
    MUST(again.len == len && (len == 0 || memcmp(again.data, end + 1, len) == 0));
    return 0;
}
