/* Connections whose peer is not authenticated yet, and which of them gives way when there are too
 * many. Hostile: peers that begin logins without end and finish none, or that let the server wait
 * in the middle of one.
 *
 * A login in which the server owes the next step is never ended for a newcomer, and one that waits
 * for its peer not before the server's patience is over: thousands of nodes that come back at once
 * would else end each other's logins, most of them for nothing. Newcomers stay in the kernel's
 * queue meanwhile. Each login that succeeds doubles the patience, each that gives way halves it, so
 * that strangers who only hold connections have none. */
#include <errno.h>
#include <sys/ioctl.h>
#include <utlist.h>

#include "common/clock.h"
#include "wire/ipc/ipc-conn.h"

void ipc_unproved_add(struct ipc_server *s, struct ipc_conn *c)
{
    DL_APPEND2(s->pre, c, pre_prev, pre_next);
    c->in_pre = true;
    c->step_ms = c->since_ms;
    s->n_pre++;
}

/* From now on it is served as all others are. Without memory for that it stays where it is. */
static void move_up(struct ipc_conn *c)
{
    struct ipc_server *s = c->server;

    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, c->fd,
                  &(struct epoll_event){ c->events, { .ptr = c } }) < 0)
        return;
    (void)epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->fd, NULL); /* it is in the set, ignoring */
    c->epoll = s->epoll;
}

void ipc_unproved_leave(struct ipc_conn *c)
{
    if (!c->in_pre)
        return;
    DL_DELETE2(c->server->pre, c, pre_prev, pre_next);
    if (!c->proved) {
        c->server->n_pre--;
        ipc_server_room(c->server);
    }
    c->in_pre = false;
}

void ipc_unproved_ready(struct ipc_conn *c)
{
    if (c->epoll == c->server->logins)
        move_up(c);
    ipc_unproved_leave(c);
}

void ipc_unproved_end(struct ipc_conn *c)
{
    struct ipc_server *s = c->server;

    s->patience_ms = SV_MIN(2 * s->patience_ms + 10, s->limits.patience_ms);
    s->n_pre--;
    ipc_server_room(s);
    c->proved = true;
    move_up(c);
}

void ipc_unproved_stepped(struct ipc_conn *c)
{
    if (!c->in_pre)
        return;
    c->step_ms = sv_now_ms();
    DL_DELETE2(c->server->pre, c, pre_prev, pre_next);
    DL_APPEND2(c->server->pre, c, pre_prev, pre_next);
}

static bool awaits_peer(const struct ipc_conn *c)
{
    int unread = 0;

    if (c->computes || c->asks || c->eof)
        return false;
    return ioctl(c->fd, FIONREAD, &unread) < 0 || unread == 0;
}

bool ipc_unproved_gives_way(const struct ipc_conn *c)
{
    return awaits_peer(c) && (c->proved || sv_now_ms() - c->step_ms >= c->server->patience_ms);
}

void ipc_unproved_gave_way(struct ipc_server *s, const struct ipc_conn *c)
{
    if (c->in_pre)
        s->patience_ms /= 2;
}

int ipc_unproved_room(const struct ipc_server *s, struct ipc_conn **ret_gives_way)
{
    struct ipc_conn *c, *computes = NULL;
    int64_t now = sv_now_ms();
    bool goes_on = false;

    *ret_gives_way = NULL;
    if (s->n_pre < s->limits.max_preauth)
        return 0;
    DL_FOREACH2(s->pre, c, pre_next)
    {
        if (c->proved)
            continue;
        if (now - c->step_ms < s->patience_ms) { /* as all behind it */
            goes_on = true;
            break;
        }
        if (awaits_peer(c)) {
            *ret_gives_way = c;
            return 0;
        }
        goes_on = goes_on || !c->computes;
        computes = computes ? computes : c->computes ? c : NULL;
    }
    if (goes_on)
        return -EAGAIN;
    *ret_gives_way = computes; /* their helper is late, and a newcomer may have a token */
    return 0;
}
