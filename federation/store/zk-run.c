/* See zk-run.h. */
#include "federation/store/zk-run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* A request on its way. It outlives the call, which may be given up. */
struct flight {
    struct fed_zk_run *run;
    fed_zk_step step;
    const struct fed_zk_task *task;
    bool writes;
};

/* ---- The end of a call ---- */

static struct fed_call *leave(struct fed_zk_run *r)
{
    struct fed_call *c = r->call;

    r->call = NULL;
    c->run = NULL;
    return c;
}

void fed_zk_done(struct fed_zk_run *r)
{
    if (r->call)
        fed_call_done(leave(r));
}

void fed_zk_fail(struct fed_zk_run *r, int error, const char *fmt, ...)
{
    char reason[SV_ERROR_TEXT_MAX];
    va_list ap;

    if (!r->call)
        return;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    fed_call_fail(leave(r), error, "%s", reason);
}

void fed_zk_fail_status(struct fed_zk_run *r, int status)
{
    switch (status) {
    case -ENOMEM:
        fed_zk_fail(r, -ENOMEM, "out of memory");
        break;
    case -EACCES:
        fed_zk_fail(r, -EACCES,
                    "the node's ACL does not admit it; look at hadoop.zk.acl of the "
                    "program that made the node");
        break;
    case -EINVAL:
        fed_zk_fail(r, -EINVAL,
                    "ZooKeeper takes no node of that name, or hadoop.zk.acl is not "
                    "valid");
        break;
    case -E2BIG:
        fed_zk_fail(r, -EINVAL, "the value is too long for a node of ZooKeeper");
        break;
    default:
        fed_zk_fail(r, -EREMOTEIO, "ZooKeeper: %s", strerror(-status));
        break;
    }
}

static bool may_repeat(const struct fed_call *c)
{
    return fed_operations[c->request.op].repeatable && !c->repeated;
}

/* The connection was lost below a call: it waits for the next one, unless it may be done already.
 * Not begun from here: the session tells of its loss after the requests that were lost. */
static void again(struct fed_zk_run *r)
{
    struct fed_zk *z = r->z;
    struct fed_call *c = leave(r);

    if (r->lost_write && !may_repeat(c)) {
        fed_call_fail(c, -ECONNRESET,
                      "the connection to ZooKeeper was lost; it may have been executed");
        return;
    }
    c->repeated = c->repeated || r->lost_write;
    fed_call_again(c);
    DL_APPEND2(z->waiting, c, wait_prev, wait_next);
}

/* No step of the run is below the caller: it may go. */
static void settle(struct fed_zk_run *r)
{
    if (r->open > 0)
        return;
    if (r->call && r->lost)
        again(r);
    if (r->call)
        fed_zk_fail(r, -EREMOTEIO, "its chain of requests ends early");
    free(r);
}

/* ---- Requests ---- */

static void on_answer(int status, const struct sv_zk_answer *a, void *userdata)
{
    struct flight *f = userdata;
    struct fed_zk_run *r = f->run;

    r->open--;
    if (status == -ENOTCONN || status == -ECANCELED) {
        r->lost = true;
        r->lost_write = r->lost_write || f->writes;
    } else if (r->call && !r->lost) {
        f->step(r, status, a, f->task);
    }
    free(f);
    settle(r);
}

static struct flight *fly(struct fed_zk_run *r, fed_zk_step step, const struct fed_zk_task *t,
                          bool writes)
{
    struct flight *f = r->call && !r->lost ? malloc(sizeof(*f)) : NULL;

    if (!f) {
        if (r->call && !r->lost)
            fed_zk_fail_status(r, -ENOMEM);
        return NULL;
    }
    *f = (struct flight){ r, step, t, writes };
    r->open++;
    r->call->sent = r->call->sent || writes;
    return f;
}

/* ZooKeeper's client has taken the request, or not: `status`. */
static void flown(struct flight *f, int status)
{
    struct fed_zk_run *r = f->run;

    if (status == 0)
        return;
    r->open--;
    free(f);
    if (status == -ENOTCONN)
        r->lost = true;
    else
        fed_zk_fail_status(r, status);
}

void fed_zk_get(struct fed_zk_run *r, const char *path, fed_zk_step step,
                const struct fed_zk_task *t)
{
    struct flight *f = fly(r, step, t, false);

    if (f)
        flown(f, sv_zk_get(r->z->zk, path, on_answer, f));
}

void fed_zk_children(struct fed_zk_run *r, const char *path, fed_zk_step step,
                     const struct fed_zk_task *t)
{
    struct flight *f = fly(r, step, t, false);

    if (f)
        flown(f, sv_zk_children(r->z->zk, path, on_answer, f));
}

void fed_zk_create(struct fed_zk_run *r, const char *path, struct fed_zk_bytes value,
                   fed_zk_step step)
{
    struct flight *f = fly(r, step, NULL, true);

    if (f)
        flown(f, sv_zk_create(r->z->zk, path, value.p, value.n, SV_ZK_PERSISTENT, on_answer, f));
}

void fed_zk_set(struct fed_zk_run *r, const char *path, struct fed_zk_bytes value, int32_t version,
                fed_zk_step step)
{
    struct flight *f = fly(r, step, NULL, true);

    if (f)
        flown(f, sv_zk_set(r->z->zk, path, value.p, value.n, version, on_answer, f));
}

void fed_zk_remove(struct fed_zk_run *r, const char *path, int32_t version, fed_zk_step step)
{
    struct flight *f = fly(r, step, NULL, true);

    if (f)
        flown(f, sv_zk_remove(r->z->zk, path, version, on_answer, f));
}

/* ---- Calls ---- */

static void start(struct fed_zk *z, struct fed_call *c)
{
    struct fed_zk_run *r = calloc(1, sizeof(*r));

    if (!r) {
        fed_call_fail(c, -ENOMEM, "out of memory");
        return;
    }
    r->z = z;
    r->call = c;
    c->run = r;
    z->start(r);
    settle(r);
}

void fed_zk_begin(struct fed_zk *z, struct fed_call *c)
{
    DL_APPEND2(z->waiting, c, wait_prev, wait_next);
    if (sv_zk_connected(z->zk))
        fed_zk_connected(z);
}

/* One that cannot begin goes to the end of the list: it is not begun twice. */
void fed_zk_connected(struct fed_zk *z)
{
    struct fed_call *c, *list = z->waiting;

    z->waiting = NULL;
    while ((c = list)) {
        DL_DELETE2(list, c, wait_prev, wait_next);
        start(z, c);
    }
}

void fed_zk_forget(struct fed_zk *z, struct fed_call *c)
{
    struct fed_zk_run *r = c->run;

    if (r)
        (void)leave(r);
    else
        DL_DELETE2(z->waiting, c, wait_prev, wait_next);
}
