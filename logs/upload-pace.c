/* See upload-pace.h. */
#include "logs/upload-pace.h"

#include <poll.h>
#include <sys/socket.h>

#include "common/clock.h"

#define WAIT_MS_MAX 1000

static void restart(struct logs_pace *p, uint64_t rate)
{
    p->rate = rate;
    p->sent = 0;
    p->since_ms = sv_now_ms();
}

static void take_rate(struct logs_pace *p)
{
    uint64_t rate;

    while (recv(p->channel, &rate, sizeof(rate), MSG_DONTWAIT) == (ssize_t)sizeof(rate))
        restart(p, rate);
}

/* Milliseconds until `sent` bytes are due; computed in double precision, since both operands may be
 * large. */
static int64_t due(const struct logs_pace *p)
{
    double ms = p->rate > 0 ? (double)p->sent * 1000 / (double)p->rate : 0;
    int64_t passed = sv_now_ms() - p->since_ms;

    return ms > (double)passed ? (int64_t)SV_MIN(ms - (double)passed, (double)WAIT_MS_MAX) + 1 : 0;
}

void logs_pace_wait(struct logs_pace *p, size_t n)
{
    int64_t wait;

    take_rate(p);
    if (p->rate == 0)
        return;
    if (p->since_ms == 0)
        restart(p, p->rate);
    p->sent += n;
    while ((wait = due(p)) > 0) {
        struct pollfd f = { .fd = p->channel, .events = POLLIN };

        (void)poll(&f, 1, (int)wait); /* the clock decides, ignoring */
        if (f.revents & (POLLHUP | POLLERR))
            return; /* the NodeManager closed it; container-monitor will end this process */
        take_rate(p);
    }
}
