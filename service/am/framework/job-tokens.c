/* See job-tokens.h. */
#include "service/am/framework/job-tokens.h"

#include <errno.h>

#include "common/arena.h"
#include "common/str.h"
#include "wire/token/token.h"

/* Keeps the order of the others. */
static bool take_out(struct yarn_credentials *c, const char *kind)
{
    size_t kept = 0, n = c->n_tokens;

    for (size_t i = 0; i < n; i++)
        if (!sv_streq(c->tokens[i].token.kind, kind))
            c->tokens[kept++] = c->tokens[i];
    c->n_tokens = kept;
    return kept < n;
}

int svc_job_tokens_read(const uint8_t *p, size_t n, struct svc_job_tokens *ret,
                        struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    struct svc_job_tokens t = { .tasks = SV_BUF_INIT(YARN_CREDENTIALS_MAX) };
    struct yarn_credentials all = { 0 };
    int r = a ? 0 : sv_error_errno(err, -ENOMEM, "tokens");

    if (r == 0 && n > 0)
        r = yarn_credentials_parse(p, n, a, &all, err);
    if (r < 0)
        return r;
    t.of_rm = take_out(&all, YARN_KIND_RM_DELEGATION);
    if (all.n_tokens + all.n_secrets > 0) {
        r = sv_buf_reserve(&t.tasks, n + 64); /* no copies are left behind */
        if (r == 0)
            r = yarn_credentials_write(&all, &t.tasks);
    }
    if (r < 0) {
        svc_job_tokens_free(&t);
        return sv_error_errno(err, r, "tokens of tasks");
    }
    *ret = t;
    return 0;
}

void svc_job_tokens_free(struct svc_job_tokens *t)
{
    sv_buf_wipe(&t->tasks);
}
