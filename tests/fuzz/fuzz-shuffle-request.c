/* Fuzzes the shuffle server's request parser: accepted names become paths below a job's
 * directory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shuffle/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct shf_request r;
    struct shf_refusal why = { 0 };
    const char *text = (const char *)data;
    int n = shf_request_parse(text, size, &r, &why);

    if (n == -EAGAIN) {
        MUST(size < SHF_REQUEST_MAX);
        return 0;
    }
    if (n < 0) {
        MUST((why.status == 400 || why.status == 403 || why.status == 405) && why.text);
        return 0;
    }
    MUST((size_t)n <= size && n <= (int)SHF_REQUEST_MAX &&
         memcmp(text + n - 4, "\r\n\r\n", 4) == 0);
    MUST(r.uri >= text && r.uri + r.uri_len < text + n && r.uri[0] == '/');
    MUST(strlen(r.job) > 0 && strspn(r.job, "job_0123456789") == strlen(r.job));
    MUST(r.maps > 0 && r.maps <= SHF_MAPS_MAX && strlen(r.url_hash) <= SHF_URL_HASH_MAX);
    for (size_t i = 0; i < r.maps; i++) {
        const char *map = shf_request_map(&r, i);

        MUST(*map && strlen(map) <= SHF_ID_MAX && !strpbrk(map, "/.,%& "));
    }
    return 0;
}
