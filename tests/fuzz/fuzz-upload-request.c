/* Fuzzes log-uploader's request, which the NodeManager also reads back from its state store, and
 * the uploader's answer: what is accepted has texts within its bytes, and lists in their order. */
#include <stdlib.h>
#include <string.h>

#include "logs/upload-request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_text(const struct logs_upload *u, const char *text, size_t size)
{
    const uint8_t *p = (const uint8_t *)text;

    MUST(text);
    MUST(!*text || (p >= u->bytes && p + strlen(text) < u->bytes + size));
}

static void check_ids(const struct logs_upload *u, const struct logs_ids *ids, bool sorted,
                      size_t size)
{
    MUST(ids->n <= LOGS_CONTAINERS_MAX);
    for (size_t i = 0; i < ids->n; i++) {
        check_text(u, ids->v[i], size);
        MUST(!sorted || i == 0 || strcmp(ids->v[i - 1], ids->v[i]) <= 0);
    }
}

static void check(const struct logs_upload *u, size_t size)
{
    for (int i = LOGS_REMOTE; i < LOGS_FIELDS; i++)
        check_text(u, u->text[i], size);
    MUST(u->n_acls <= LOGS_UPLOAD_ACLS_MAX);
    for (size_t i = 0; i < u->n_acls; i++) {
        check_text(u, u->acls[i].right, size);
        check_text(u, u->acls[i].list, size);
    }
    check_ids(u, &u->containers, u->others_before_ms != 0, size);
    check_ids(u, &u->skips, false, size);
    check_ids(u, &u->ended, true, size);
    MUST(!u->older_layout || !*u->text[LOGS_BUCKET]);
    MUST(u->codec == LOGS_NONE || u->codec == LOGS_GZ);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    struct logs_upload u;
    struct logs_answer a;

    MUST(copy);
    if (size > 0)
        memcpy(copy, data, size);
    if (logs_upload_parse(copy, size, &u) == 0) {
        check(&u, size);
        logs_upload_clear(&u);
    }
    if (logs_answer_parse(data, size, &a) == 0) {
        MUST(a.outcome <= LOGS_REFUSED);
        MUST(strlen(a.text) < sizeof(a.text));
    }
    return 0;
}
