/* See aux-service.h. Hostile: the service's messages and their timing. */
#include "nodemanager/aux-services/aux-service.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/aux-services/aux-connect.h"
#include "nodemanager/aux-services/aux-frame.h"
#include "nodemanager/aux-services/aux-log.h"
#include "nodemanager/aux-services/aux-outbox.h"
#include "nodemanager/aux-services/aux-process.h"

#define READ_MAX 65536 /* bytes per turn of the loop */
#define BACK_OFF_MIN_MS 1000
#define BACK_OFF_MAX_MS 60000
#define GOOD_MS 60000 /* time ready after which the back-off is reset */
#define PING_MS 10000 /* also the interval of its metrics */
#define END_MS 2000   /* to wait for the exit of a service when the daemon ends */

enum service_state {
    SERVICE_DOWN,     /* until the timer */
    SERVICE_STARTING, /* init is sent */
    SERVICE_READY,
    SERVICE_ENDING, /* killed; its end is awaited */
};

struct nm_aux_service {
    sd_event *event;
    const struct nm_aux_conf *conf;
    int64_t start_timeout_ms, event_timeout_ms;
    struct nm_aux_service_ops ops;
    enum service_state state;
    int64_t first_ms; /* monotonic, of the first start */
    int64_t state_ms; /* monotonic, start of the current state */
    int64_t back_off_ms;
    int64_t ready_wall_ms;
    unsigned restarts;
    bool ever_ready;

    struct nm_aux_process process;
    int fd; /* the connection: process.socket, or to conf->socket */
    sd_event_source *io, *exited, *output, *timer;
    struct sv_buf in;
    struct nm_aux_outbox out;
    struct nm_aux_log log;

    uint8_t *metadata;
    size_t metadata_len;
    struct nm_aux_metrics metrics;
};

static void set_timer(struct nm_aux_service *s, int64_t in_ms)
{
    (void)sd_event_source_set_time_relative(s->timer, (uint64_t)SV_MAX(in_ms, (int64_t)1) * 1000);
    (void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static void set_state(struct nm_aux_service *s, enum service_state state)
{
    s->state = state;
    s->state_ms = sv_now_ms();
}

/* ---- end of a connection ----------------------------------------------------------------------*/

static void close_connection(struct nm_aux_service *s)
{
    s->io = sd_event_source_disable_unref(s->io);
    if (s->fd >= 0 && s->fd != s->process.socket)
        sv_close(s->fd);
    s->process.socket = sv_close(s->process.socket);
    s->fd = -1;
    sv_buf_free(&s->in);
    nm_aux_outbox_close(&s->out);
}

static void wait_for_restart(struct nm_aux_service *s)
{
    set_state(s, SERVICE_DOWN);
    s->restarts++;
    set_timer(s, s->back_off_ms);
    s->back_off_ms = SV_MIN(s->back_off_ms * 2, (int64_t)BACK_OFF_MAX_MS);
}

/* The connection is unusable: kills the process; another is started later. */
static void give_up(struct nm_aux_service *s, const char *why)
{
    if (s->state == SERVICE_DOWN || s->state == SERVICE_ENDING)
        return;
    if (s->state == SERVICE_READY && sv_now_ms() - s->state_ms >= GOOD_MS)
        s->back_off_ms = BACK_OFF_MIN_MS;
    sv_log_warning("auxiliary service %s: %s; next start in %lld s, containers keep running",
                   s->conf->name, why, (long long)(s->back_off_ms / 1000));
    close_connection(s);
    s->ready_wall_ms = 0;
    if (s->process.child.pid) {
        sv_child_kill(&s->process.child);
        set_state(s, SERVICE_ENDING);
        (void)sd_event_source_set_enabled(s->timer, SD_EVENT_OFF); /* ours, ignoring */
    } else {
        wait_for_restart(s);
    }
}

static int on_exited(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_aux_service *s = userdata;
    char how[64], why[128];

    (void)source;
    (void)fd;
    (void)revents;
    sv_child_kill(&s->process.child); /* kills its children */
    sv_child_end_text(sv_child_reap(&s->process.child), how, sizeof(how));
    (void)nm_aux_log_read(&s->log, s->process.log); /* its last output, ignoring errors */
    nm_aux_log_finish(&s->log);
    s->exited = sd_event_source_disable_unref(s->exited);
    s->output = sd_event_source_disable_unref(s->output);
    if (s->state == SERVICE_ENDING) {
        sv_log_info("auxiliary service %s: its process %d %s", s->conf->name,
                    (int)s->process.child.pid, how);
        nm_aux_process_close(&s->process);
        wait_for_restart(s);
        return 0;
    }
    snprintf(why, sizeof(why), "its process %d %s", (int)s->process.child.pid, how);
    if (s->fd == s->process.socket)
        s->fd = -1;
    s->io = sd_event_source_disable_unref(s->io);
    nm_aux_process_close(&s->process);
    give_up(s, why);
    return 0;
}

static int on_output(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_aux_service *s = userdata;

    (void)source;
    (void)revents;
    if (!nm_aux_log_read(&s->log, fd))
        s->output = sd_event_source_disable_unref(s->output);
    return 0;
}

/* ---- sending ----------------------------------------------------------------------------------*/

static json_t *make_app_init(const char *app, bool recovered, void *userdata)
{
    const struct nm_aux_service *s = userdata;

    return s->ops.application(s, app, recovered, s->ops.userdata);
}

static int flush(struct nm_aux_service *s)
{
    int r = nm_aux_outbox_flush(&s->out, s->fd);

    (void)sd_event_source_set_io_events(
        s->io, EPOLLIN | (sv_buf_left(&s->out.bytes) ? EPOLLOUT : 0)); /* ours, ignoring */
    return r;
}

/* Arms the timer for the next deadline. */
static void watch_time(struct nm_aux_service *s)
{
    int64_t now = sv_now_ms(), oldest = nm_aux_outbox_oldest_ms(&s->out);

    if (oldest)
        set_timer(s, oldest + s->event_timeout_ms - now);
    else
        set_timer(s, s->out.sent_ms + PING_MS - now);
}

static void pump_or_give_up(struct nm_aux_service *s)
{
    char why[128];
    int r = nm_aux_outbox_fill(&s->out, make_app_init, s);

    if (r >= 0)
        r = flush(s);
    if (r >= 0) {
        watch_time(s);
        return;
    }
    snprintf(why, sizeof(why), "events cannot be sent: %s", strerror(-r));
    give_up(s, why);
}

static void pushed(struct nm_aux_service *s, int r)
{
    if (r == -ENOBUFS)
        give_up(s, "it does not answer: too many events wait for it");
    else if (r < 0)
        give_up(s, "an event is lost: out of memory");
    else if (s->out.n_unanswered < NM_AUX_UNANSWERED_MAX)
        pump_or_give_up(s);
}

void nm_aux_service_post(struct nm_aux_service *s, json_t *event)
{
    if (s->state == SERVICE_READY)
        pushed(s, nm_aux_outbox_push(&s->out, event));
    else
        json_decref(event);
}

void nm_aux_service_post_app(struct nm_aux_service *s, const char *app, bool recovered)
{
    if (s->state == SERVICE_READY)
        pushed(s, nm_aux_outbox_push_app(&s->out, app, recovered));
}

/* ---- receiving --------------------------------------------------------------------------------*/

static int on_ready(struct nm_aux_service *s, struct nm_aux_answer *a, struct sv_error *err)
{
    if (s->state != SERVICE_STARTING)
        return sv_error_set(err, -EBADMSG, "a second \"ready\"");
    free(s->metadata);
    s->metadata = SV_TAKE(a->metadata);
    s->metadata_len = a->metadata_len;
    set_state(s, SERVICE_READY);
    s->ready_wall_ms = sv_wall_ms();
    s->ever_ready = true;
    s->out.sent_ms = s->state_ms;
    sv_log_info("auxiliary service %s is ready", s->conf->name);
    watch_time(s);
    s->ops.ready(s, s->ops.userdata);
    return 0;
}

static int on_outcome(struct nm_aux_service *s, const struct nm_aux_answer *a, struct sv_error *err)
{
    struct nm_aux_unanswered event;

    if (s->state == SERVICE_STARTING && a->type == NM_AUX_FAILED && a->seq == 0)
        return sv_error_set(err, -EIO, "it cannot start: %s", a->message);
    if (nm_aux_outbox_answered(&s->out, a->seq, &event)) {
        if (a->type == NM_AUX_FAILED)
            sv_log_warning("auxiliary service %s: %s has failed: %s", s->conf->name, event.what,
                           a->message);
        if (a->metrics.n > 0)
            s->metrics = a->metrics;
        return 0;
    }
    return sv_error_set(err, -EBADMSG, "an answer to event %llu, which is not outstanding",
                        (unsigned long long)a->seq);
}

/* Handles all complete frames of the buffer. */
static int take_answers(struct nm_aux_service *s, struct sv_error *err)
{
    int r = 1;

    while (r > 0 && s->fd >= 0) {
        struct nm_aux_answer a = { 0 };

        r = nm_aux_frame_take(&s->in, &a, err);
        if (r > 0) {
            int q = a.type == NM_AUX_READY ? on_ready(s, &a, err) : on_outcome(s, &a, err);

            r = q < 0 ? q : 1;
        }
        nm_aux_answer_free(&a);
    }
    sv_buf_compact(&s->in);
    return r;
}

/* 1: some bytes were read; 0: none available; -errno. */
static int receive(struct nm_aux_service *s)
{
    uint8_t part[READ_MAX];
    ssize_t n = recv(s->fd, part, sizeof(part), 0);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    return n == 0 ? -EPIPE : sv_buf_put(&s->in, part, (size_t)n) < 0 ? -ENOMEM : 1;
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_aux_service *s = userdata;
    struct sv_error err = { 0 };
    char why[SV_ERROR_TEXT_MAX + 32];
    int r = 0;

    (void)source;
    (void)fd;
    if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
        r = receive(s);
    if (r > 0 && take_answers(s, &err) < 0) {
        snprintf(why, sizeof(why), "%s%s", err.code == -EBADMSG ? "breaks the protocol: " : "",
                 err.text);
        give_up(s, why);
        return 0;
    }
    if (r < 0) {
        give_up(s, r == -EPIPE ? "it has closed its connection" : strerror(-r));
        return 0;
    }
    if (s->state == SERVICE_READY)
        pump_or_give_up(s);
    else if (s->fd >= 0 && flush(s) < 0)
        give_up(s, "init cannot be sent");
    return 0;
}

/* ---- start ------------------------------------------------------------------------------------*/

static int send_init(struct nm_aux_service *s, const struct nm_aux_listen *l, struct sv_error *err)
{
    _cleanup_free_ char *text = s->ops.init(s->conf, l->names, l->n, s->ops.userdata);
    int r;

    if (!text)
        return sv_error_errno(err, -ENOMEM, "init");
    r = nm_aux_frame_put(&s->out.bytes, text, strlen(text));
    if (r >= 0)
        r = sd_event_add_io(s->event, &s->io, s->fd, EPOLLIN, on_io, s);
    if (r >= 0)
        r = flush(s);
    return r < 0 ? sv_error_errno(err, r, "init, of %zu bytes", strlen(text)) : 0;
}

static int start_process(struct nm_aux_service *s, const struct nm_aux_listen *l,
                         struct sv_error *err)
{
    const struct nm_aux_command command = { .argv = s->conf->argv,
                                            .listen = l->fds,
                                            .n_listen = l->n,
                                            .memory_bytes = (uint64_t)s->conf->memory_mb << 20,
                                            .files = (uint64_t)s->conf->open_files };
    int r = nm_aux_process_start(&command, &s->process, err);

    if (r < 0)
        return r;
    s->fd = s->process.socket;
    s->log = (struct nm_aux_log){ .service = s->conf->name };
    r = sd_event_add_io(s->event, &s->exited, s->process.child.pidfd, EPOLLIN, on_exited, s);
    if (r >= 0)
        r = sd_event_add_io(s->event, &s->output, s->process.log, EPOLLIN, on_output, s);
    return r < 0 ? sv_error_errno(err, r, "watching its process") : 0;
}

static void start(struct nm_aux_service *s)
{
    struct nm_aux_listen l = { 0 };
    struct sv_error err = { 0 };
    int r;

    set_state(s, SERVICE_STARTING);
    nm_aux_outbox_open(&s->out);
    if (s->conf->argv)
        nm_aux_listen_find(s->ops.held, s->conf->name, &l);
    r = s->conf->argv ? start_process(s, &l, &err) : nm_aux_connect(s->conf, &s->fd, &err);
    if (r >= 0)
        r = send_init(s, &l, &err);
    if (r < 0)
        give_up(s, err.text);
    else
        set_timer(s, s->start_timeout_ms);
}

void nm_aux_service_start(struct nm_aux_service *s)
{
    s->first_ms = sv_now_ms();
    start(s);
}

static void check_time(struct nm_aux_service *s)
{
    int64_t now = sv_now_ms(), oldest = nm_aux_outbox_oldest_ms(&s->out);
    char why[96];

    if (oldest && now - oldest >= s->event_timeout_ms) {
        snprintf(why, sizeof(why), "it has not answered an event in %lld ms",
                 (long long)s->event_timeout_ms);
        give_up(s, why);
    } else if (!oldest && now - s->out.sent_ms >= PING_MS) {
        nm_aux_service_post(s, json_pack("{s:s}", "type", "ping"));
    } else {
        watch_time(s);
    }
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_aux_service *s = userdata;
    char why[96];

    (void)source;
    (void)usec;
    if (s->state == SERVICE_DOWN) {
        start(s);
    } else if (s->state == SERVICE_STARTING) {
        snprintf(why, sizeof(why), "it was not ready in %lld ms", (long long)s->start_timeout_ms);
        give_up(s, why);
    } else if (s->state == SERVICE_READY) {
        check_time(s);
    }
    return 0;
}

int nm_aux_service_new(sd_event *event, const struct nm_aux_conf *conf, int64_t start_timeout_ms,
                       int64_t event_timeout_ms, const struct nm_aux_service_ops *ops,
                       struct nm_aux_service **ret, struct sv_error *err)
{
    struct nm_aux_service *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "auxiliary service %s", conf->name);
    *s = (struct nm_aux_service){ .event = event,
                                  .conf = conf,
                                  .start_timeout_ms = start_timeout_ms,
                                  .event_timeout_ms = event_timeout_ms,
                                  .ops = *ops,
                                  .back_off_ms = BACK_OFF_MIN_MS,
                                  .process = NM_AUX_NO_PROCESS,
                                  .fd = -1,
                                  .in = SV_BUF_INIT(NM_AUX_ANSWER_MAX + 4 + READ_MAX) };
    r = sd_event_add_time_relative(event, &s->timer, CLOCK_BOOTTIME, 0, 0, on_timer, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
    if (r < 0) {
        nm_aux_service_free(s);
        return sv_error_errno(err, r, "auxiliary service %s", conf->name);
    }
    *ret = s;
    return 0;
}

void nm_aux_service_end(struct nm_aux_service *s)
{
    close_connection(s);
}

struct nm_aux_service *nm_aux_service_free(struct nm_aux_service *s)
{
    struct pollfd ended = { .fd = s ? s->process.child.pidfd : -1, .events = POLLIN };

    if (!s)
        return NULL;
    close_connection(s);
    if (s->process.child.pid) {
        (void)poll(&ended, 1, END_MS); /* the daemon's loop has ended, ignoring the result */
        sv_child_kill(&s->process.child);
    }
    sd_event_source_disable_unref(s->exited);
    sd_event_source_disable_unref(s->output);
    sd_event_source_disable_unref(s->timer);
    nm_aux_process_close(&s->process);
    free(s->metadata);
    free(s);
    return NULL;
}

const char *nm_aux_service_name(const struct nm_aux_service *s)
{
    return s->conf->name;
}

bool nm_aux_service_is_ready(const struct nm_aux_service *s)
{
    return s->state == SERVICE_READY;
}

bool nm_aux_service_is_starting(const struct nm_aux_service *s)
{
    return !s->ever_ready && s->first_ms && sv_now_ms() - s->first_ms < s->start_timeout_ms;
}

const uint8_t *nm_aux_service_metadata(const struct nm_aux_service *s, size_t *ret_n)
{
    *ret_n = s->metadata_len;
    return s->metadata_len ? s->metadata : NULL;
}

const struct nm_aux_metrics *nm_aux_service_metrics(const struct nm_aux_service *s)
{
    return &s->metrics;
}

int64_t nm_aux_service_ready_since_ms(const struct nm_aux_service *s)
{
    return s->ready_wall_ms;
}

unsigned nm_aux_service_restarts(const struct nm_aux_service *s)
{
    return s->restarts;
}
