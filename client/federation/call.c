/* One call to the federation's store; see federation.h. */
#include <errno.h>
#include <string.h>

#include "client/federation/federation.h"
#include "federation/store/store-conf.h"

struct call {
    struct cli_ctx *ctx;
    struct fed_store *store;
    const struct fed_request *request;
    void (*done)(struct cli_ctx *ctx, const struct fed_answer *a);
};

static void on_answer(const struct fed_answer *a, void *userdata)
{
    struct call *c = userdata;

    if (a->error == -ECANCELED)
        return;
    if (a->error < 0) {
        cli_stop(c->ctx, cli_fail("%s", a->reason));
        return;
    }
    if (a->n_broken > 0)
        (void)cli_fail("%s%s", a->reason, a->n_broken > 1 ? "; more rows are left out" : "");
    if (c->done)
        c->done(c->ctx, a);
    else
        cli_stop(c->ctx, 0);
}

static void on_version(const struct fed_answer *a, void *userdata)
{
    struct call *c = userdata;

    if (a->error < 0)
        on_answer(a, userdata);
    else if (fed_store_call(c->store, c->request, on_answer, c, NULL) < 0)
        cli_stop(c->ctx, cli_fail("out of memory"));
}

/* The default is a store in the memory of each daemon. */
static int has_store(struct cli_ctx *ctx)
{
    struct sv_error err = { 0 };
    const char *name;

    if (fed_store_class(ctx->conf, &name, &err) < 0)
        return cli_fail("%s", err.text);
    if (strstr(name, "MemoryFederationStateStore"))
        return cli_fail("yarn.federation.state-store.class: the store is in the memory of each "
                        "daemon: set it to " FED_CLASS_SQL " or " FED_CLASS_SQLITE);
    return 0;
}

int cli_federation_call(struct cli_ctx *ctx, const struct fed_request *q,
                        void (*done)(struct cli_ctx *ctx, const struct fed_answer *a))
{
    struct call c = { .ctx = ctx, .request = q, .done = done };
    const struct fed_request check = { .op = FED_VERSION_CHECK };
    struct sv_error err = { 0 };
    int code = cli_load_conf(ctx), r;

    if (code == 0)
        code = has_store(ctx);
    if (code != 0)
        return code;
    r = sd_event_new(&ctx->event);
    if (r < 0)
        return cli_fail("event loop: %s", strerror(-r));
    if (fed_store_open(ctx->event, ctx->conf, &c.store, &err) < 0)
        return cli_fail("%s", err.text);
    if (fed_store_call(c.store, &check, on_version, &c, NULL) < 0)
        code = cli_fail("out of memory");
    else
        code = cli_loop(ctx);
    fed_store_free(c.store);
    return code;
}
