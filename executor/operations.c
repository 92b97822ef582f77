/* The helper's operations that end with their answer: check, init, signal, delete, link. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/fd.h"
#include "executor/internal.h"

struct operation {
    struct operation *prev, *next; /* of exe->operations */
    struct exe *exe;
    exe_done done;
    exe_signalled signalled;
    void *userdata;
    bool check;
    uint8_t what; /* of a CHECK */
    char object[EXE_TEXT_MAX];
};

static bool retry_older(struct operation *o, const struct exe_reply *reply);

static void on_answer(const struct exe_reply *reply, int pidfd, int status, void *userdata)
{
    struct operation *o = userdata;
    struct exe_failure f;
    char why[256], sent[EXE_TEXT_MAX] = "";
    bool failed = !reply || reply->status != EXE_STATUS_OK;
    (void)sv_close(pidfd);
    if (failed && o->check && reply && retry_older(o, reply))
        return;
    DL_DELETE(o->exe->operations, o);
    if (failed) {
        exe_failure_from(reply, status, o->object, &f);
    } else if (o->check) {
        enum exe_status said = exe_policy_compare(o->exe, reply, why, sizeof(why));
        failed = said != EXE_STATUS_OK;
        if (failed)
            exe_failure_set(&f, said, 0, o->object, why);
    }
    if (o->signalled && !failed) /* no C string; from a process of the job's user */
        (void)snprintf(sent, sizeof(sent), "%.*s", (int)reply->text_len, reply->text);
    if (o->signalled)
        o->signalled(failed ? &f : NULL, sent, o->userdata);
    else if (o->done)
        o->done(failed ? &f : NULL, o->userdata);
    free(o);
}

static const struct exe_call_ops operation_ops = { .answer = on_answer };

/* True if the helper has refused our version of the protocol, and its own is the older one that we
 * support: all later requests use that. */
static bool retry_older(struct operation *o, const struct exe_reply *reply)
{
    struct exe *x = o->exe;
    struct exe_request r = { .op = EXE_OP_CHECK, .what = o->what };
    if (reply->status != EXE_STATUS_VERSION || !exe_version_ok(reply->version) ||
        reply->version >= x->version)
        return false;
    x->version = reply->version;
    return exe_call_start(x, &r, NULL, 0, &operation_ops, o, NULL, NULL) >= 0;
}

void exe_operations_free(struct exe *x)
{
    while (x->operations) {
        struct operation *o = x->operations;
        DL_DELETE(x->operations, o);
        free(o);
    }
}

static int start(const struct operation *ops, struct exe_request *r, const int *fds, size_t n_fds,
                 const char *object)
{
    struct operation *o = malloc(sizeof(*o));
    struct exe *x = ops->exe;
    if (!o)
        return -ENOMEM;
    *o = *ops;
    o->check = r->op == EXE_OP_CHECK;
    o->what = r->what;
    (void)snprintf(o->object, sizeof(o->object), "%s", object);
    int e = exe_call_start(x, r, fds, n_fds, &operation_ops, o, NULL, NULL);
    if (e < 0)
        free(o);
    else
        DL_APPEND(x->operations, o);
    return e;
}

int exe_operate(struct exe *x, struct exe_request *r, const int *fds, size_t n_fds,
                const char *object, exe_done done, void *userdata)
{
    const struct operation o = { .exe = x, .done = done, .userdata = userdata };
    return start(&o, r, fds, n_fds, object);
}

int exe_operate_signal(struct exe *x, struct exe_request *r, int init, const char *object,
                       exe_signalled done, void *userdata)
{
    const struct operation o = { .exe = x, .signalled = done, .userdata = userdata };
    return start(&o, r, &init, 1, object);
}

int exe_check(struct exe *x, bool rebuild, exe_done done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_CHECK, .what = rebuild ? EXE_CHECK_REBUILD : 0 };
    return exe_operate(x, &r, NULL, 0, "container-executor", done, userdata);
}

int exe_init_app(struct exe *x, struct yarn_app_id app, const char *user, const char *submitter,
                 uint32_t local_mask, uint32_t log_mask, const uint16_t *categories, exe_done done,
                 void *userdata)
{
    struct exe_request r = { .op = EXE_OP_INIT_APP,
                             .local_mask = local_mask,
                             .log_mask = log_mask };
    char object[EXE_TEXT_MAX];
    exe_request_app(&r, app);
    exe_request_categories(&r, categories);
    exe_app_text(&r, object);
    int e = exe_request_owner(&r, user, submitter);
    return e < 0 ? e : exe_operate(x, &r, NULL, 0, object, done, userdata);
}

static int put_more(struct exe_request *r, const struct exe_delete_what *d)
{
    if (d->n_more > EXE_MORE_MAX)
        return -EINVAL;
    for (size_t i = 0; i < d->n_more; i++) {
        const int64_t n = d->more[i] - d->container.id;
        if (n <= 0 || n > UINT32_MAX)
            return -EINVAL;
        r->more[i] = (uint32_t)n;
    }
    r->n_more = (uint8_t)d->n_more;
    return 0;
}

int exe_delete(struct exe *x, const struct exe_delete_what *d, exe_done done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_DELETE, .what = (uint8_t)d->what };
    const bool resource = d->what == EXE_DELETE_RESOURCE;
    const bool logs = d->what == EXE_DELETE_APP_LOGS || d->what == EXE_DELETE_CONTAINER_LOGS;
    const bool public =
        d->what == EXE_DELETE_PUBLIC || (resource && d->visibility == EXE_VISIBILITY_PUBLIC);
    char object[EXE_TEXT_MAX];
    if (d->what == EXE_DELETE_CONTAINER || d->what == EXE_DELETE_CONTAINER_LOGS)
        exe_request_container(&r, d->container);
    else if (d->what == EXE_DELETE_APP || d->what == EXE_DELETE_APP_LOGS ||
             (resource && d->visibility == EXE_VISIBILITY_APPLICATION))
        exe_request_app(&r, d->app);
    if (!public &&
        (!d->user || exe_request_owner(&r, d->user, d->submitter ? d->submitter : "") < 0))
        return -EINVAL;
    if (put_more(&r, d) < 0)
        return -EINVAL;
    r.local_mask = logs ? 0 : d->local_mask;
    r.log_mask = logs ? d->log_mask : 0;
    if (resource) {
        r.visibility = (uint8_t)d->visibility;
        r.resource_id = d->resource_id;
        r.resource_dir = d->resource_dir;
    }
    if (r.container)
        exe_container_text(&r, object);
    else if (r.app)
        exe_app_text(&r, object);
    else
        (void)snprintf(object, sizeof(object), "%s", d->submitter ? d->submitter : "public cache");
    return exe_operate(x, &r, NULL, 0, object, done, userdata);
}

int exe_link(struct exe *x, struct yarn_container_id id, const char *user, const char *submitter,
             unsigned work_dir, const void *list, size_t len, exe_done done, void *userdata)
{
    struct exe_request r = { .op = EXE_OP_LINK, .local_mask = 1u << work_dir };
    _cleanup_close_ int fd = -1;
    char object[EXE_TEXT_MAX];
    if (len > EXE_FILE_MAX || work_dir >= EXE_DIRS_MAX ||
        exe_request_owner(&r, user, submitter) < 0)
        return -EINVAL;
    exe_request_container(&r, id);
    exe_container_text(&r, object);
    fd = sv_memfd_sealed("links", list, len);
    return fd < 0 ? fd : exe_operate(x, &r, &fd, 1, object, done, userdata);
}
