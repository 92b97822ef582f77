/* See tokens.h. Few of a job's tokens are of these kinds; their number bounds the comparison of
 * aliases. */
#include "fs/tokens.h"

#include <errno.h>
#include <string.h>

#include "common/arena.h"
#include "common/str.h"
#include "wire/token/token.h"

/* Parsed credentials may be larger than their bytes: arrays of the smallest entries sixty times. */
#define ARENA_MAX ((size_t)8 << 20)
/* Begins the name of a "secret" with the url of the key server of a file system's zones. */
#define KEY_SERVER "dfs-kms-"

static bool is_of_files(const char *kind)
{
    static const char *const kinds[] = { YARN_KIND_HDFS_DELEGATION, "WEBHDFS delegation",
                                         "SWEBHDFS delegation", "kms-dt", "KMS_DELEGATION_TOKEN" };

    for (size_t i = 0; i < SV_ARRAY_LEN(kinds); i++)
        if (sv_streq(kind, kinds[i]))
            return true;
    return false;
}

static bool has_token(const struct yarn_credentials *c, const char *alias)
{
    for (size_t i = 0; i < c->n_tokens; i++)
        if (sv_streq(c->tokens[i].alias, alias))
            return true;
    return false;
}

static bool has_secret(const struct yarn_credentials *c, const char *alias)
{
    for (size_t i = 0; i < c->n_secrets; i++)
        if (sv_streq(c->secrets[i].alias, alias))
            return true;
    return false;
}

/* Adds what `c` has to `g`, whose arrays have room for FS_TOKENS_MAX. */
static int add(struct yarn_credentials *g, const struct yarn_credentials *c)
{
    for (size_t i = 0; i < c->n_tokens; i++) {
        if (!is_of_files(c->tokens[i].token.kind) || has_token(g, c->tokens[i].alias))
            continue;
        if (g->n_tokens == FS_TOKENS_MAX)
            return -EMSGSIZE;
        g->tokens[g->n_tokens++] = c->tokens[i];
    }
    for (size_t i = 0; i < c->n_secrets; i++) {
        if (!sv_has_prefix(c->secrets[i].alias, KEY_SERVER) || has_secret(g, c->secrets[i].alias))
            continue;
        if (g->n_secrets == FS_TOKENS_MAX)
            return -EMSGSIZE;
        g->secrets[g->n_secrets++] = c->secrets[i];
    }
    return 0;
}

static int take(struct yarn_credentials *g, const struct fs_credentials *part, struct sv_arena *a,
                struct sv_error *err)
{
    struct yarn_credentials c;
    int r = yarn_credentials_parse(part->p, part->n, a, &c, err);

    return r == 0 && add(g, &c) < 0
               ? sv_error_set(err, -EMSGSIZE, "credentials: more than %d tokens of file systems",
                              FS_TOKENS_MAX)
               : r;
}

static int append(const struct yarn_credentials *g, struct sv_buf *out, struct sv_error *err)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(FS_TOKENS_BYTES_MAX);
    int r = sv_buf_reserve(&b, FS_TOKENS_BYTES_MAX);

    if (r == 0)
        r = yarn_credentials_write(g, &b);
    if (r == -EMSGSIZE)
        return sv_error_set(err, r,
                            "credentials: the tokens of file systems have more than %u bytes",
                            FS_TOKENS_BYTES_MAX);
    if (r == 0)
        r = sv_buf_put(out, b.data, b.len);
    return r < 0 ? sv_error_errno(err, r, "credentials") : 0;
}

int fs_tokens_gather(const struct fs_credentials *parts, size_t n, struct sv_buf *out,
                     struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    struct yarn_credentials g = { 0 };
    int r = 0;

    if (a) {
        g.tokens = sv_arena_calloc(a, FS_TOKENS_MAX, sizeof(*g.tokens));
        g.secrets = sv_arena_calloc(a, FS_TOKENS_MAX, sizeof(*g.secrets));
    }
    if (!g.tokens || !g.secrets)
        return sv_error_errno(err, -ENOMEM, "credentials");
    for (size_t i = n; r >= 0 && i-- > 0;)
        r = take(&g, &parts[i], a, err);
    if (r < 0)
        return r;
    return g.n_tokens > 0 ? append(&g, out, err) : 0;
}
