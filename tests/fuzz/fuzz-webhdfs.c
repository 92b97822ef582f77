/* Fuzzes answers of WebHDFS: accepted answers keep the promises of fs/webhdfs-json.h. The
 * first byte selects the operation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/webhdfs-json.h"
#include "rm-lite/security/web-tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check(const struct webhdfs_status *s)
{
    MUST(s->length >= 0 && s->mtime_ms >= 0 && s->mode <= 07777 && !(s->file && s->directory));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct webhdfs_listing l;
    struct webhdfs_status s;
    struct webhdfs_owner o;

    if (size < 1)
        return 0;
    if (data[0] == 'S' && fs_webhdfs_parse_status((const char *)data + 1, size - 1, &s) == 0)
        check(&s);
    if (data[0] == 'S' && fs_webhdfs_parse_owner((const char *)data + 1, size - 1, &o) == 0)
        MUST(*o.user && strlen(o.user) < sizeof(o.user) && strlen(o.group) < sizeof(o.group));
    if (data[0] == 'T') { /* of RENEWDELEGATIONTOKEN */
        int64_t expires = 0;

        MUST(rm_web_tokens_parse((const char *)data + 1, size - 1, &expires) < 0 || expires > 0);
    }
    if (data[0] == 'X') {
        char text[100];
        int r = fs_webhdfs_parse_exception((const char *)data + 1, size - 1, text, sizeof(text));

        MUST(r < 0 && strlen(text) < sizeof(text) && (r != -EBADMSG || !*text));
    }
    if (data[0] != 'L' || fs_webhdfs_parse_listing((const char *)data + 1, size - 1, &l) < 0)
        return 0;
    MUST(l.n > 0 || !l.more);
    for (size_t i = 0; i < l.n; i++) {
        MUST(fs_name_valid(l.children[i].name));
        check(&l.children[i].st);
    }
    free(l.children);
    return 0;
}
