/* One log-uploader: its request, its answer, its end; see log-aggregation.h. Hostile: the answer,
 * as the process belongs to the job's account. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "common/exit-meaning.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/core/application.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/logs/log-internal.h"

#define LIMIT_USEC (3600ull * 1000000) /* a process that takes longer is killed */

void nm_upload_stop(struct nm_upload *u)
{
    sd_event_source_disable_unref(u->io);
    sd_event_source_disable_unref(u->limit);
    sd_event_source_disable_unref(u->reap);
    u->io = u->limit = u->reap = NULL;
    u->channel = sv_close(u->channel);
    u->exe = exe_localizer_free(u->exe);
}

static void failed(struct nm_upload *u, const char *text)
{
    struct logs_answer a = { .outcome = LOGS_FAILED };

    (void)snprintf(a.text, sizeof(a.text), "%.399s", text);
    u->g->answered(u, &a);
}

/* Not from inside the callback of the process, which is freed. */
static int on_reap(sd_event_source *s, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_upload *u = userdata;

    (void)s;
    failed(u, u->diagnostics);
    return 0;
}

static void on_ended(struct exe_localizer *x, const struct exe_failure *f, int status,
                     void *userdata)
{
    struct nm_upload *u = userdata;

    (void)x;
    if (u->reap || !u->io)
        return;
    if (!f && sv_recv(u->channel, &(char){ 0 }, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        return; /* its answer has been read */
    if (f)
        (void)snprintf(u->diagnostics, sizeof(u->diagnostics), "log-uploader: %.400s", f->text);
    else
        (void)sv_exit_text("log-uploader", status, u->diagnostics, sizeof(u->diagnostics));
    if (sd_event_add_defer(u->g->ctx->event, &u->reap, on_reap, u) < 0)
        sv_log_err("%s: out of memory: its upload ends with its time limit", u->text);
}

static int on_answer(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_upload *u = userdata;
    char buf[sizeof(struct logs_answer) + 1];
    ssize_t n = sv_recv(fd, buf, sizeof(buf), MSG_DONTWAIT); /* a rate may be unread */
    struct logs_answer a;

    (void)events;
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n > 0 && logs_answer_parse(buf, (size_t)n, &a) == 0)
        u->g->answered(u, &a);
    else if (n > 0)
        failed(u, "log-uploader's answer is malformed");
    else                                                    /* on_ended follows, with the reason */
        (void)sd_event_source_set_enabled(s, SD_EVENT_OFF); /* ours, ignoring */
    return 0;
}

static int on_limit(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    failed(userdata, "log-uploader did not end within an hour");
    return 0;
}

/* The node's rate divided by the running uploads; 0: no limit. */
static uint64_t share(const struct nm_log_aggregation *g, unsigned running)
{
    uint64_t rate = (uint64_t)g->ctx->conf->logs.bytes_per_second;

    return rate > 0 ? SV_MAX(rate / SV_MAX(running, 1u), UINT64_C(1)) : 0;
}

void nm_uploads_share(const struct nm_log_aggregation *g)
{
    uint64_t rate = share(g, g->running);
    const struct nm_upload *u;

    if (rate == 0)
        return;
    DL_FOREACH (g->list, u)
        if (u->io) /* on a full channel a newer rate follows, ignoring */
            (void)!send(u->channel, &rate, sizeof(rate), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int request(const struct nm_upload *u, const struct sv_buf *more, bool has_credentials,
                   struct sv_error *err)
{
    const struct nm_context *ctx = u->g->ctx;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(LOGS_UPLOAD_MAX);
    const uint8_t credentials = has_credentials;
    int fd, r = nm_log_remote_put(&u->g->remote, &ctx->conf->logs, ctx->node_id_text, &b);

    if (r == 0)
        r = sv_buf_put(&b, u->fields.data, u->fields.len);
    if (r == 0)
        r = logs_upload_put_u64(&b, LOGS_TAG_RATE, share(u->g, u->g->running + 1));
    if (r == 0)
        r = logs_upload_put(&b, LOGS_TAG_CREDENTIALS, &credentials, 1);
    if (r == 0 && more->len > 0)
        r = sv_buf_put(&b, more->data, more->len);
    fd = r < 0 ? r : sv_memfd_readonly("log-upload", b.data, b.len);
    return fd < 0 ? sv_error_errno(err, fd, "request") : fd;
}

#define DESCRIPTORS_MAX 3

static int send_descriptors(int channel, const int *fds, size_t n, struct sv_error *err)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))] = { 0 };
    struct iovec v = { &(char){ 'U' }, 1 };
    struct msghdr m = { .msg_iov = &v,
                        .msg_iovlen = 1,
                        .msg_control = control,
                        .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n * sizeof(int));
    return sendmsg(channel, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == 1
               ? 0
               : sv_error_errno(err, -errno, "request");
}

static int send_request(const struct nm_upload *u, const struct sv_buf *more, struct sv_error *err)
{
    _cleanup_close_ int credentials = -1, memfd = -1;
    int fds[DESCRIPTORS_MAX], r = nm_log_remote_ready(&u->g->remote, err);
    size_t n = 0;

    if (r == 0)
        r = nm_upload_credentials(u, &credentials, err);
    if (r == 0)
        r = memfd = request(u, more, credentials >= 0, err);
    if (r < 0)
        return r;
    fds[n++] = memfd;
    if (credentials >= 0)
        fds[n++] = credentials;
    if (u->g->remote.root >= 0)
        fds[n++] = u->g->remote.root;
    return send_descriptors(u->channel, fds, n, err);
}

static int start_process(struct nm_upload *u, int theirs, struct sv_error *err)
{
    static const struct exe_localizer_ops ops = { .ended = on_ended };
    struct nm_context *ctx = u->g->ctx;
    const struct exe_localizer_start s = {
        .user = u->account,
        .app = &u->app,
        .visibility =
            u->state == NM_UPLOAD_ROLLS ? EXE_VISIBILITY_ROLLED_LOGS : EXE_VISIBILITY_LOGS,
        .log_mask = nm_dirs_log_usable(ctx->dirs) & u->head.log_dirs,
        .categories = u->head.categories,
        .channel = theirs,
    };

    if (s.log_mask == 0)
        return sv_error_set(err, -EIO, "no log directory with its logs is good");
    return exe_localizer_start(ctx->exe, &s, &ops, u, &u->exe, err);
}

int nm_upload_start(struct nm_upload *u, const struct sv_buf *more, struct sv_error *err)
{
    sd_event *event = u->g->ctx->event;
    _cleanup_close_ int theirs = -1;
    int fds[2], r;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
        return sv_error_errno(err, -errno, "log-uploader: channel");
    u->channel = fds[0];
    theirs = fds[1];
    r = send_request(u, more, err);
    if (r == 0)
        r = sd_event_add_io(event, &u->io, u->channel, EPOLLIN, on_answer, u);
    if (r >= 0)
        r = sd_event_add_time_relative(event, &u->limit, CLOCK_BOOTTIME, LIMIT_USEC, 0, on_limit,
                                       u);
    if (r >= 0)
        r = start_process(u, theirs, err);
    if (r < 0)
        nm_upload_stop(u);
    return r;
}
