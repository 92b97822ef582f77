/* See library.h: tokens of jobs. */
#include <errno.h>
#include <utlist.h>

#include "client/lib/library-internal.h"
#include "client/lib/tokens.h"

struct lib_tokens {
    struct lib_tokens *prev, *next;
    struct lib_rm *rm;
    struct cli_tokens *fetch;
    selvedge_tokens_fn fn;
    void *userdata;
};

static void tokens_free(struct lib_tokens *t)
{
    DL_DELETE(t->rm->tokens, t);
    cli_tokens_free(t->fetch);
    free(t);
}

static void on_tokens(int status, const uint8_t *p, size_t n, const struct sv_error *err,
                      void *userdata)
{
    struct lib_tokens *t = userdata;

    t->rm->o.depth++;
    t->fn(status, cli_lib_reason(status, err), p, n, t->userdata);
    t->rm->o.depth--;
    tokens_free(t);
}

void cli_lib_tokens_free(struct lib_rm *rm)
{
    struct lib_tokens *t, *next;

    DL_FOREACH_SAFE (rm->tokens, t, next) {
        t->fn(-ECANCELED, cli_lib_reason(-ECANCELED, NULL), NULL, 0, t->userdata);
        tokens_free(t);
    }
}

int selvedge_rm_tokens(selvedge_rm handle, const char *const *urls, selvedge_tokens_fn fn,
                       void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct sv_error err = { 0 };
    struct lib_tokens *t;
    size_t n = 0;
    int r;

    if (!rm)
        return -EBADF;
    if (!urls || !fn)
        return -EINVAL;
    while (urls[n])
        n++;
    t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    *t = (struct lib_tokens){ .rm = rm, .fn = fn, .userdata = userdata };
    r = cli_tokens_fetch(cli_lib_event(rm->o.loop), rm->conf, cli_rm_login(rm->client), urls, n,
                         on_tokens, t, &t->fetch, &err);
    if (r < 0)
        free(t);
    else
        DL_APPEND(rm->tokens, t);
    return r;
}

int selvedge_am_tokens(selvedge_am handle, const void **ret, size_t *ret_len)
{
    struct lib_am *a = cli_lib_am(handle);

    if (!a)
        return -EBADF;
    if (!ret || !ret_len)
        return -EINVAL;
    *ret = cli_am_tokens(a->am, ret_len);
    return 0;
}
