/* The first check of the helper, for which a starting daemon waits: see exe_check_first. It has its
 * own event loop, so that nothing else of the daemon runs meanwhile. */
#include <errno.h>
#include <unistd.h>

#include "common/clock.h"
#include "executor/internal.h"

struct first_check {
    bool done, failed;
    struct exe_failure failure;
};

static void on_checked(const struct exe_failure *f, void *userdata)
{
    struct first_check *q = userdata;
    q->done = true;
    q->failed = f != NULL;
    if (f)
        q->failure = *f;
}

/* Waits for the answer and until the process is reaped. */
static void wait_for_answer(sd_event *event, const struct exe *asking, const struct first_check *q)
{
    const int64_t end = sv_now_ms() + EXE_FIRST_CHECK_MS;
    int64_t left = EXE_FIRST_CHECK_MS;
    int r = 0;
    while (r >= 0 && left > 0 && (!q->done || asking->calls)) {
        r = sd_event_run(event, (uint64_t)left * 1000);
        left = end - sv_now_ms();
    }
}

int exe_check_first(struct exe *x, const struct exe_settings *s, struct exe_failure *ret)
{
    struct first_check q = { 0 };
    struct exe *asking = NULL;
    sd_event *event = NULL;
    if (s->socket && access(s->socket, F_OK) < 0)
        return 0; /* no process to wait for */
    int r = sd_event_new(&event);
    if (r >= 0)
        r = exe_new(event, s, &asking, NULL);
    if (r >= 0)
        r = exe_check(asking, false, on_checked, &q);
    if (r >= 0) {
        wait_for_answer(event, asking, &q);
        x->version = asking->version;
    }
    asking = exe_free(asking);
    (void)sd_event_unref(event);
    if (!q.failed || !exe_failure_refuses(&q.failure))
        return 0;
    *ret = q.failure;
    return -EPERM;
}
