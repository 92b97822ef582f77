/* libFuzzer target: the configuration that a job sends with its tokens. A refusal has its text;
 * what is kept has the names that are read, and no variable. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/security/token-conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_key(const char *name, const char *value, void *userdata)
{
    size_t *n = userdata;

    if (strncmp(name, "dfs.", 4) != 0 || strchr(value, '$') || ++*n > RM_TOKEN_CONF_KEPT_MAX)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = NULL;
    struct sv_error err = { 0 };
    size_t n = 0;
    int r = rm_token_conf_parse(data, size, &c, &err);

    if (r < 0) {
        if (!*err.text || c)
            abort();
        return 0;
    }
    if (sv_conf_each(c, on_key, &n) < 0)
        abort();
    return 0;
}
