/* The policy parser of container-executor: any bytes. Results point inside the input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "setuid-helper/prepare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Never reached by the reader. */
_Noreturn void hlp_fail(enum exe_status status, int error, const char *what)
{
    (void)status;
    (void)error;
    (void)what;
    abort();
}

static bool inside(const char **text, void *argument)
{
    const struct hlp_policy *p = argument;
    const char *end = (const char *)p + p->length;
    if (*text < p->text || *text >= end || !memchr(*text, '\0', (size_t)(end - *text)))
        abort();
    return true;
}

/* Two inputs in one: the first byte selects whether the header is corrected. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hlp_policy p;
    if (size < 1 || size - 1 > sizeof(p))
        return 0;
    memset(&p, 0, sizeof(p));
    memcpy(&p, data + 1, size - 1);
    if (data[0] & 1) {
        p.magic = HLP_POLICY_MAGIC;
        p.id = HLP_POLICY_ID;
        p.length = size - 1;
    }
    if (!hlp_policy_place(&p, size - 1))
        return 0;
    if (!hlp_policy_texts(&p, inside, &p) || p.nm.uid == 0 || p.monitor.uid == 0 || p.nm_gid == 0)
        abort();
    for (int i = 0; i < HLP_FILTERS; i++)
        if ((const char *)p.filters[i].filter < p.text ||
            (const char *)(p.filters[i].filter + p.filters[i].len) > (const char *)&p + p.length)
            abort();
    return 0;
}
