/* Localizer processes: started by the helper, watched by the connection to their monitor. */
#include <errno.h>
#include <stdlib.h>
#include <utlist.h>

#include "common/fd.h"
#include "executor/internal.h"

struct exe_localizer {
    struct exe *exe;
    struct exe_localizer *prev, *next;
    struct exe_call *call;
    struct exe_localizer_ops ops;
    void *userdata;
    bool started;
};

struct exe_localizer *exe_localizer_free(struct exe_localizer *l)
{
    if (!l)
        return NULL;
    DL_DELETE(l->exe->localizers, l);
    if (l->call) { /* closing the socket ends its monitor, and that the localizer */
        exe_call_hang_up(l->call);
        exe_call_forget(l->call);
    }
    free(l);
    return NULL;
}

void exe_localizers_free(struct exe *x)
{
    while (x->localizers)
        (void)exe_localizer_free(x->localizers);
}

static void on_localizer(const struct exe_reply *reply, int pidfd, int status, void *userdata)
{
    struct exe_localizer *l = userdata;
    struct exe_failure f;
    (void)sv_close(pidfd);
    if (reply && reply->status == EXE_STATUS_OK) {
        l->started = true;
        if (l->ops.started) /* optional: a caller may only wait for the channel */
            l->ops.started(l, reply->pid, l->userdata);
        return;
    }
    exe_failure_from(reply, status, "container-localizer", &f);
    exe_call_forget(l->call);
    l->call = NULL;
    l->ops.ended(l, &f, status, l->userdata);
}

static void on_localizer_end(int status, void *userdata)
{
    struct exe_localizer *l = userdata;
    l->call = NULL;
    l->ops.ended(l, NULL, status, l->userdata);
}

int exe_localizer_start(struct exe *x, const struct exe_localizer_start *s,
                        const struct exe_localizer_ops *ops, void *userdata,
                        struct exe_localizer **ret, struct sv_error *err)
{
    static const struct exe_call_ops call_ops = { .answer = on_localizer,
                                                  .ended = on_localizer_end };
    struct exe_request r = { .op = EXE_OP_LOCALIZE,
                             .what = (uint8_t)s->visibility,
                             .local_mask = s->local_mask,
                             .log_mask = s->log_mask };
    struct exe_localizer *l = calloc(1, sizeof(*l));
    if (!l)
        return sv_error_errno(err, -ENOMEM, "container-localizer");
    *l = (struct exe_localizer){ .exe = x, .ops = *ops, .userdata = userdata };
    DL_APPEND(x->localizers, l);
    if (s->app)
        exe_request_app(&r, *s->app);
    exe_request_categories(&r, s->categories);
    int e = s->submitter ? exe_request_owner(&r, s->user, s->submitter)
            : s->user    ? exe_request_user(&r, s->user)
                         : 0;
    e = e < 0 ? sv_error_set(err, e, "container-localizer: user name is too long")
              : exe_call_start(x, &r, &s->channel, 1, &call_ops, l, &l->call, err);
    if (e < 0) {
        (void)exe_localizer_free(l);
        return e;
    }
    *ret = l;
    return 0;
}
