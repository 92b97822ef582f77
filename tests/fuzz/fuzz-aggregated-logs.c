/* Fuzzes the reader of aggregated logs: for any input, names end with a NUL within their limits, a
 * log has no more bytes than its length, and an error has a text. */
#include <string.h>

#include "logs/aggregated.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)
#define BYTES_MAX (4u << 20) /* of one input: a compressed one may hold far more */

struct input {
    const uint8_t *p;
    size_t n;
};

static int read_at(void *userdata, uint64_t offset, void *p, size_t n)
{
    const struct input *in = userdata;

    MUST(offset <= in->n && n <= in->n - offset);
    memcpy(p, in->p + offset, n);
    return 0;
}

static ssize_t read_log(struct logs_reader *r, uint64_t length, uint64_t *total,
                        struct sv_error *err)
{
    uint8_t buf[4096];
    uint64_t got = 0;
    ssize_t k;

    while ((k = logs_reader_get(r, buf, sizeof(buf), err)) > 0) {
        got += (uint64_t)k;
        *total += (uint64_t)k;
        MUST(got <= length);
        if (*total > BYTES_MAX)
            return 0;
    }
    MUST(k < 0 || got <= length); /* less in an IndexedFile alone */
    return k;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct logs_source source = { read_at, &in, size };
    _cleanup_(logs_reader_freep) struct logs_reader *r = NULL;
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];
    struct sv_error err = { 0 };
    uint64_t length = 0, total = 0;
    ssize_t k = logs_reader_new(&source, &r, &err);

    while (k >= 0 && total <= BYTES_MAX && (k = logs_reader_container(r, id, &err)) > 0) {
        MUST(strlen(id) <= LOGS_ID_MAX);
        total++;
        while (total <= BYTES_MAX && (k = logs_reader_file(r, name, &length, &err)) > 0) {
            MUST(strlen(name) <= LOGS_FILE_NAME_MAX);
            total++;
            k = read_log(r, length, &total, &err);
            if (k < 0)
                break;
        }
    }
    MUST((k < 0) == (err.text[0] != 0));
    return 0;
}
