/* Fuzzes the answers of HTTP servers that the command line reads without libcurl: one that is taken
 * lies within what came, is bounded, and is not there before its last byte. The first byte is the
 * largest body. */
#include <errno.h>
#include <stdlib.h>

#include "client/http/plain-answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    struct cli_plain_answer a;
    size_t len;
    int r;

    if (size == 0)
        return 0;
    len = size - 1;
    r = cli_plain_answer(text, len, *data, &a);
    MUST(r == 0 || r == -EAGAIN || r == -EPROTO);
    if (r == -EAGAIN && len > CLI_PLAIN_HEAD_MAX)
        MUST(len < CLI_PLAIN_HEAD_MAX + *data);
    if (r < 0)
        return 0;
    MUST(a.status >= 200 && a.status <= 599);
    MUST(a.len <= *data && a.body <= CLI_PLAIN_HEAD_MAX && a.body + a.len == len);
    if (len > 0)
        MUST(cli_plain_answer(text, len - 1, *data, &a) == -EAGAIN);
    return 0;
}
