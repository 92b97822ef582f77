/* Fuzzes the output of the shuffle server: a map's ShuffleHeader is read again, as a reducer reads
 * Writables, to the same values; the head of a refusal announces the length of its text. Names and
 * lengths of maps come from the job. */
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/buf.h"
#include "shuffle/response.h"
#include "wire/token/writable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

#define NUMBERS 20 /* bytes of the input before the name */

static void check_header(const char *map, const struct shf_segment *s, uint32_t reduce)
{
    uint8_t dst[SHF_MAP_HEADER_MAX];
    size_t n = shf_map_header(dst, map, s, reduce), len;
    struct sv_buf b = SV_BUF_VIEW(dst, n);
    int64_t value;
    const uint8_t *name;

    MUST(n <= sizeof(dst) && ipc_writable_get_len(&b, &len) == 0 && len == strlen(map));
    MUST(sv_buf_get_ref(&b, &name, len) == 0 && memcmp(name, map, len) == 0);
    MUST(ipc_writable_get_vlong(&b, &value) == 0 && value == (int64_t)s->part);
    MUST(ipc_writable_get_vlong(&b, &value) == 0 && value == (int64_t)s->raw);
    MUST(ipc_writable_get_vlong(&b, &value) == 0 && value == (int64_t)reduce);
    MUST(sv_buf_left(&b) == 0);
}

/* Compares with the other writer of the tree: every number has one form. */
static void check_form(const char *map, const struct shf_segment *s, uint32_t reduce)
{
    uint8_t dst[SHF_MAP_HEADER_MAX];
    size_t n = shf_map_header(dst, map, s, reduce);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(4096);

    MUST(ipc_writable_put_bytes(&b, map, strlen(map)) == 0);
    MUST(ipc_writable_put_vlong(&b, (int64_t)s->part) == 0 &&
         ipc_writable_put_vlong(&b, (int64_t)s->raw) == 0 &&
         ipc_writable_put_vlong(&b, (int64_t)reduce) == 0);
    MUST(b.len == n && memcmp(b.data, dst, n) == 0);
}

static void check_refusal(const char *text)
{
    static const unsigned codes[] = { 400, 401, 403, 405, 429, 500 };

    for (size_t i = 0; i < SV_ARRAY_LEN(codes); i++) {
        char dst[SHF_HEAD_MAX];
        size_t n = shf_response_refusal(dst, &(struct shf_refusal){ codes[i], text });
        const char *end = strstr(dst, "\r\n\r\n"), *length = strstr(dst, "\r\ncontent-length: ");

        MUST(n < sizeof(dst) && n == strlen(dst) && end && length && length < end);
        MUST(strtoul(length + 18, NULL, 10) == n - (size_t)(end + 4 - dst));
        MUST(strtoul(dst + 9, NULL, 10) == codes[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char map[SHF_ID_MAX + 1] = { 0 }, text[SHF_HEAD_MAX * 2] = { 0 };
    struct shf_segment s = { 0 };
    uint32_t reduce;

    if (size < NUMBERS)
        return 0;
    memcpy(&s.part, data, 8);
    memcpy(&s.raw, data + 8, 8);
    memcpy(&reduce, data + 16, 4);
    s.part &= INT64_MAX;
    s.raw &= INT64_MAX;
    reduce &= INT32_MAX;
    memcpy(map, data + NUMBERS, SV_MIN(size - NUMBERS, sizeof(map) - 1));
    memcpy(text, data + NUMBERS, SV_MIN(size - NUMBERS, sizeof(text) - 1));
    check_header(map, &s, reduce);
    check_form(map, &s, reduce);
    check_refusal(text);
    return 0;
}
