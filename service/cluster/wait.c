/* Waiting for a call until the deadline. */
#include <errno.h>

#include "common/clock.h"
#include "service/cluster/internal.h"

void svc_wait_end(struct svc_wait *w, int status, const struct sv_error *err)
{
    w->done = true;
    w->status = status;
    if (status < 0 && err && w->err)
        *w->err = *err;
}

/* One turn of the loop, of at most `ms`. */
static int turn(struct svc_cluster *c, int64_t ms)
{
    int64_t left = c->until_ms - sv_now_ms();

    if (left <= 0)
        return -ETIMEDOUT;
    return sd_event_run(c->event, (uint64_t)SV_MIN(left, ms) * 1000);
}

int svc_wait_for(struct svc_cluster *c, const struct svc_wait *w)
{
    int r = 0;

    while (!w->done && r >= 0)
        r = turn(c, INT64_MAX / 1000);
    return r < 0 ? r : 0;
}

int svc_wait_ms(struct svc_cluster *c, int64_t ms)
{
    int64_t end = sv_now_ms() + ms, left;
    int r = 0;

    while (r >= 0 && (left = end - sv_now_ms()) > 0)
        r = turn(c, left);
    return r < 0 ? r : 0;
}
