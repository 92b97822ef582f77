/* See call.h. */
#include "router/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"
#include "router/member-stats.h"
#include "router/pool.h"
#include "wire/ipc/retry.h"

struct rtr_call *rtr_call_new(struct router *r, struct ipc_call *call,
                              const ProtobufCMessage *request, const char *method,
                              const ProtobufCMessageDescriptor *response)
{
    const char *user = ipc_call_peer(call)->user;
    struct rtr_call *x = NULL;

    if (r->n_calls >= (size_t)r->conf.max_calls) {
        ipc_call_fail(call, JAVA_RETRIABLE,
                      "the Router has %zu open calls (selvedge.router.max-calls); try again",
                      r->n_calls);
        return NULL;
    }
    x = calloc(1, sizeof(*x));
    if (!x) {
        ipc_call_fail(call, JAVA_RETRIABLE, "the Router has no memory for the call; try again");
        return NULL;
    }
    *x = (struct rtr_call){ .r = r,
                            .call = call,
                            .request = request,
                            .method = method,
                            .response = response,
                            .user = user && *user ? user : "nobody" };
    DL_APPEND(r->calls, x);
    r->n_calls++;
    return x;
}

void rtr_call_free(struct rtr_call *x)
{
    DL_DELETE(x->r->calls, x);
    x->r->n_calls--;
    free(x);
}

void rtr_call_reply(struct rtr_call *x, const ProtobufCMessage *response)
{
    ipc_call_reply(x->call, response);
    rtr_call_free(x);
}

void rtr_call_fail(struct rtr_call *x, const char *java_class, const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* cut where longer, ignoring */
    va_end(ap);
    ipc_call_fail(x->call, java_class, "%s", text);
    rtr_call_free(x);
}

void rtr_call_fail_as(struct rtr_call *x, const struct rtr_failure *f)
{
    rtr_call_fail(x, f->class, "%s", f->err.text);
}

void rtr_call_no_memory(struct rtr_call *x)
{
    rtr_call_fail(x, JAVA_RETRIABLE, "the Router has no memory for the call; try again");
}

static void set_class(struct rtr_failure *f, const char *class)
{
    (void)snprintf(f->class, sizeof(f->class), "%s",
                   class); /* a longer one is nobody's, ignoring */
}

int rtr_call_member(struct rtr_call *x, const struct fed_member *m, const ProtobufCMessage *request,
                    ipc_done done, void *userdata, struct rtr_failure *ret)
{
    const struct rtr_outgoing q = { .address = m->client,
                                    .caller = x->user,
                                    .method = x->method,
                                    .request = request,
                                    .response = x->response,
                                    .stats = rtr_stats_of(&x->r->stats, m->id) };
    struct rtr_failure f = { .absent = true };
    int r = rtr_pool_call(x->r->pool, &q, done, userdata, &f.err);

    if (r >= 0)
        return r;
    if (!f.err.text[0])
        (void)sv_error_errno(&f.err, r, "no call is made");
    (void)sv_error_wrap(&f.err, "sub-cluster %s", m->id);
    set_class(&f, JAVA_RETRIABLE);
    *ret = f;
    return r;
}

/* The exception's own text, without "host:port: METHOD: " of the IPC client. */
static void own_text(struct sv_error *err)
{
    const char *method = strchr(err->text, ' '), *text = method ? strstr(method, ": ") : NULL;

    if (text)
        memmove(err->text, text + 2, strlen(text + 2) + 1);
}

void rtr_failure_of(struct router *r, const char *member, const struct ipc_result *result,
                    const struct sv_error *err, struct rtr_failure *ret)
{
    struct rtr_failure f = {
        .absent = ipc_failure_is_absence(ipc_failure_of(result)),
        .unknown = result->sent && result->status != -EREMOTEIO,
        .err = *err,
    };

    f.absent |= result->status != -EREMOTEIO;
    if (result->status == -EREMOTEIO && !f.absent) {
        set_class(&f, result->java_class);
        own_text(&f.err);
    } else {
        set_class(&f, JAVA_RETRIABLE);
        (void)sv_error_wrap(&f.err, "sub-cluster %s", member);
        fed_cache_flush(r->cache, &(struct fed_request){ .op = FED_MEMBER_LIST });
    }
    *ret = f;
}

void rtr_call_store_failed(struct rtr_call *x, const struct fed_answer *a)
{
    rtr_call_fail(x,
                  fed_error_away(a->error) || a->error == -ECANCELED ? JAVA_RETRIABLE
                                                                     : JAVA_YARN_EXCEPTION,
                  "the federation's state store: %s", *a->reason ? a->reason : strerror(-a->error));
}
