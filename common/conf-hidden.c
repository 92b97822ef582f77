/* See conf-hidden.h. The patterns are the operator's. */
#include "common/conf-hidden.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PATTERNS_MAX 256
#define SENSITIVE "hadoop.security.sensitive-config-keys"
/* Hadoop's default (core-default.xml). */
static const char default_patterns[] =
    "secret$ password$ ssl.keystore.pass$ fs.s3a.server-side-encryption.key "
    "fs.s3a.*.server-side-encryption.key fs.s3a.encryption.algorithm fs.s3a.encryption.key "
    "fs.s3a.secret.key fs.s3a.*.secret.key fs.s3a.session.key fs.s3a.*.session.key "
    "fs.s3a.session.token fs.s3a.*.session.token fs.azure.account.key.* fs.azure.oauth2.* "
    "fs.adl.oauth2.* fs.gs.encryption.* fs.gs.proxy.* fs.gs.auth.* credential$ oauth.*secret "
    "oauth.*password oauth.*token " SENSITIVE;

struct sv_conf_hidden {
    regex_t patterns[PATTERNS_MAX];
    size_t n;
    bool all; /* a pattern does not compile: hide all */
};

static void compile(struct sv_conf_hidden *h, const char *patterns)
{
    _cleanup_free_ char *copy = strdup(patterns);
    char *rest = copy, *one;

    if (!copy)
        h->all = true;
    while (copy && (one = strsep(&rest, ", \t\r\n"))) {
        if (!*one)
            continue;
        if (h->n == PATTERNS_MAX ||
            regcomp(&h->patterns[h->n], one, REG_EXTENDED | REG_NOSUB) != 0) {
            h->all = true;
            return;
        }
        h->n++;
    }
}

struct sv_conf_hidden *sv_conf_hidden_new(struct sv_conf *c)
{
    struct sv_conf_hidden *h = calloc(1, sizeof(*h));
    const char *patterns = sv_conf_raw(c, SENSITIVE);

    if (h)
        compile(h, patterns ? patterns : default_patterns);
    return h;
}

struct sv_conf_hidden *sv_conf_hidden_free(struct sv_conf_hidden *h)
{
    for (size_t i = 0; h && i < h->n; i++)
        regfree(&h->patterns[i]);
    free(h);
    return NULL;
}

bool sv_conf_is_hidden(const struct sv_conf_hidden *h, const char *name)
{
    bool found = !h || h->all;

    for (size_t i = 0; !found && i < h->n; i++)
        found = regexec(&h->patterns[i], name, 0, NULL, 0) == 0;
    return found;
}
