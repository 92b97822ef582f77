/* Fuzzes the index of an IndexedFile: whatever the stream holds, names lie in it, a refusal has a
 * text, and the logs of a container stand together. */
#include <string.h>

#include "logs/indexed-meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static bool within(struct logs_java_string s, const uint8_t *p, size_t n)
{
    return s.p >= p && s.p <= p + n && s.n <= (size_t)(p + n - s.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct logs_indexed_meta m = { 0 };
    struct sv_error err = { 0 };

    if (logs_indexed_meta_parse(data, size, &m, &err) < 0) {
        MUST(err.text[0]);
        return 0;
    }
    for (size_t i = 0; i < m.n; i++) {
        MUST(within(m.files[i].container, data, size) && within(m.files[i].name, data, size));
        MUST(i == 0 || m.files[i - 1].upload <= m.files[i].upload);
    }
    logs_indexed_meta_clear(&m);
    return 0;
}
