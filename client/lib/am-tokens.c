/* See am.h. The tokens of a master: its own for the ResourceManager, and those of the job, which
 * its containers get. Trusted: the file, which the NodeManager has written. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/am-internal.h"
#include "common/fd.h"
#include "common/str.h"

/* Nobody but the master speaks to the ResourceManager in its name. */
static int keep(struct cli_am *am, const struct yarn_credentials *all, struct sv_arena *a,
                struct sv_error *err)
{
    struct yarn_credentials job = *all;
    int r = 0;

    job.n_tokens = 0;
    job.tokens = sv_arena_calloc(a, all->n_tokens + 1, sizeof(*job.tokens));
    if (!job.tokens)
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < all->n_tokens; i++)
        if (!sv_streq(all->tokens[i].token.kind, YARN_KIND_AMRM))
            job.tokens[job.n_tokens++] = all->tokens[i];
    am->job_tokens = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    if (r == 0 && job.n_tokens + job.n_secrets > 0)
        r = yarn_credentials_write(&job, &am->job_tokens);
    return r < 0 ? sv_error_errno(err, r, "the job's tokens") : 0;
}

static int read_file(const char *path, struct sv_arena *a, struct yarn_credentials *ret,
                     struct sv_error *err)
{
    _cleanup_free_ char *bytes = NULL;
    size_t n;
    int r = sv_read_file_at(AT_FDCWD, path, YARN_CREDENTIALS_MAX, &bytes, &n);

    if (r < 0)
        return sv_error_errno(err, r, "%s", path);
    r = a ? yarn_credentials_parse((uint8_t *)bytes, n, a, ret, err) : -ENOMEM;
    explicit_bzero(bytes, n);
    return r < 0 ? sv_error_wrap(err, "%s", path) : 0;
}

int cli_am_read_tokens(struct cli_am *am, const char *path, struct sv_arena *a,
                       const struct yarn_token **ret, struct sv_error *err)
{
    struct yarn_credentials all;
    struct yarn_amrm_token id;
    int r;

    if (!path)
        path = getenv("HADOOP_TOKEN_FILE_LOCATION");
    if (!path)
        return sv_error_set(err, -ENOKEY,
                            "HADOOP_TOKEN_FILE_LOCATION is not set: an "
                            "ApplicationMaster runs in a container of YARN");
    r = read_file(path, a, &all, err);
    if (r == 0)
        r = keep(am, &all, a, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < all.n_tokens; i++) {
        const struct yarn_token *t = &all.tokens[i].token;

        if (!sv_streq(t->kind, YARN_KIND_AMRM))
            continue;
        r = yarn_amrm_token_decode(t->id, t->id_len, &id, err);
        if (r < 0)
            return sv_error_wrap(err, "%s", path);
        am->attempt = id.attempt;
        *ret = t;
        return 0;
    }
    return sv_error_set(err, -ENOKEY, "%s: no token of kind " YARN_KIND_AMRM, path);
}

const uint8_t *cli_am_tokens(const struct cli_am *am, size_t *ret_len)
{
    *ret_len = am->job_tokens.len;
    return am->job_tokens.len > 0 ? am->job_tokens.data : NULL;
}
