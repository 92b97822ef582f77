/* See relay.h. */
#include "nodemanager/exec/relay.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "common/web/http.h"

#define FRAME_SPACE (SV_WS_FRAME_MAX + SV_WS_HEAD_MAX)

/* A descriptor and its events; a terminal's is one for both directions. */
struct end {
    int fd; /* -1: closed */
    sd_event_source *source;
};

struct nm_relay {
    sd_event *event;
    struct nm_relay_ops ops;
    void *userdata;
    struct end client, in, out, err; /* client: borrowed; of a terminal `in` is `out`'s, too */
    bool attached, terminal, program_ended, input_ends, client_gone;
    int broken; /* errno of the client's protocol, or 0 */
    struct sv_ws_reader reader;
    struct sv_buf received, to_client, to_program;
    int64_t used_ms;
};

static int on_client(sd_event_source *s, int fd, uint32_t events, void *userdata);
static int on_program(sd_event_source *s, int fd, uint32_t events, void *userdata);

/* ---- Events ---- */

static void close_end(struct end *e)
{
    e->source = sd_event_source_disable_unref(e->source);
    e->fd = sv_close(e->fd);
}

/* Level-triggered: a source without wanted events is off, or a hang-up would spin. */
static int want(struct end *e, uint32_t events)
{
    int r;

    if (!e->source)
        return 0;
    r = events ? sd_event_source_set_io_events(e->source, events) : 0;
    return r < 0 ? r : sd_event_source_set_enabled(e->source, events ? SD_EVENT_ON : SD_EVENT_OFF);
}

static bool takes_input(const struct nm_relay *r)
{
    return !r->attached || r->in.fd >= 0 || (r->terminal && r->out.fd >= 0);
}

static int arm(struct nm_relay *r)
{
    const bool room = sv_buf_left(&r->to_client) < NM_RELAY_HELD;
    const uint32_t reads = room ? EPOLLIN : 0;
    const uint32_t writes = sv_buf_left(&r->to_program) ? EPOLLOUT : 0;
    int k = want(&r->client,
                 (!r->client_gone && sv_buf_left(&r->to_program) < NM_RELAY_HELD ? EPOLLIN : 0) |
                     (sv_buf_left(&r->to_client) ? EPOLLOUT : 0));

    if (k >= 0)
        k = want(&r->out, reads | (r->terminal ? writes : 0));
    if (k >= 0)
        k = want(&r->err, reads);
    return k < 0 ? k : want(&r->in, writes);
}

static int watch(struct nm_relay *r, struct end *e, int fd, sd_event_io_handler_t fn)
{
    int k;

    e->fd = fd;
    if (fd < 0)
        return 0;
    k = sd_event_add_io(r->event, &e->source, fd, 0, fn, r);
    return k < 0 ? k : sd_event_source_set_priority(e->source, SV_HTTP_PRIORITY);
}

int nm_relay_new(sd_event *event, int client, const struct nm_relay_ops *ops, void *userdata,
                 struct nm_relay **ret)
{
    struct nm_relay *r = calloc(1, sizeof(*r));
    int k;

    if (!r)
        return -ENOMEM;
    *r = (struct nm_relay){ .event = event,
                            .ops = *ops,
                            .userdata = userdata,
                            .in.fd = -1,
                            .out.fd = -1,
                            .err.fd = -1,
                            .reader.masked = true,
                            .received = SV_BUF_INIT(FRAME_SPACE),
                            .to_client = SV_BUF_INIT(NM_RELAY_HELD + 2 * FRAME_SPACE),
                            .to_program = SV_BUF_INIT(NM_RELAY_HELD + SV_WS_FRAME_MAX),
                            .used_ms = sv_now_ms() };
    k = watch(r, &r->client, client, on_client);
    if (k >= 0) /* a first turn comes at once: bytes may be there already */
        k = want(&r->client, EPOLLIN | EPOLLOUT);
    if (k < 0) {
        (void)nm_relay_free(r);
        return k;
    }
    *ret = r;
    return 0;
}

struct nm_relay *nm_relay_free(struct nm_relay *r)
{
    if (!r)
        return NULL;
    r->client.fd = -1;
    close_end(&r->client);
    close_end(&r->in);
    close_end(&r->out);
    close_end(&r->err);
    sv_buf_free(&r->received);
    sv_buf_free(&r->to_client);
    sv_buf_free(&r->to_program);
    free(r);
    return NULL;
}

/* ---- The client ---- */

int nm_relay_send(struct nm_relay *r, enum sv_ws_opcode opcode, const void *data, size_t n)
{
    sv_buf_compact(&r->to_client);
    return sv_ws_put(&r->to_client, opcode, NULL, data, n);
}

int nm_relay_close(struct nm_relay *r, unsigned code, const char *words)
{
    sv_buf_compact(&r->to_client);
    return sv_ws_put_close(&r->to_client, NULL, code, words);
}

/* Frames that are there, one after the other, unless what they bring has no room. */
static void read_frames(struct nm_relay *r)
{
    struct sv_ws_frame f;
    int k = 0;

    while (!r->broken && sv_buf_left(&r->to_program) < NM_RELAY_HELD &&
           (k = sv_ws_read(&r->reader, &r->received, &f)) > 0)
        r->ops.frame(&f, r->userdata);
    if (k < 0)
        r->broken = -k;
    sv_buf_compact(&r->received);
}

int nm_relay_early(struct nm_relay *r, const void *data, size_t n)
{
    return sv_buf_put(&r->received, data, n);
}

static void receive(struct nm_relay *r)
{
    uint8_t data[NM_RELAY_CHUNK];
    const size_t room = FRAME_SPACE - sv_buf_left(&r->received);
    ssize_t n = recv(r->client.fd, data, SV_MIN(sizeof(data), room), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        r->client_gone = true;
        return;
    }
    r->used_ms = sv_now_ms();
    if (sv_buf_put(&r->received, data, (size_t)n) < 0)
        r->broken = ENOMEM;
}

static void send_waiting(struct nm_relay *r)
{
    struct sv_buf *b = &r->to_client;
    ssize_t n = 1;

    while (sv_buf_left(b) > 0 && n > 0) {
        n = send(r->client.fd, b->data + b->pos, sv_buf_left(b), MSG_NOSIGNAL | MSG_DONTWAIT);
        b->pos += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        r->client_gone = true;
}

/* ---- The program ---- */

int nm_relay_program(struct nm_relay *r, const struct exe_session_io *io)
{
    int k;

    r->attached = true;
    r->terminal = io->out < 0;
    k = watch(r, &r->out, r->terminal ? io->in : io->out, on_program);
    r->err.fd = io->err; /* owned from here on, also on failure */
    r->in.fd = r->terminal ? -1 : io->in;
    if (k >= 0)
        k = watch(r, &r->err, io->err, on_program);
    return k < 0 ? k : watch(r, &r->in, r->in.fd, on_program);
}

int nm_relay_input(struct nm_relay *r, const void *data, size_t n)
{
    if (!takes_input(r))
        return 0;
    sv_buf_compact(&r->to_program);
    return sv_buf_put(&r->to_program, data, n);
}

void nm_relay_input_ends(struct nm_relay *r)
{
    r->input_ends = true;
}

void nm_relay_resize(struct nm_relay *r, uint16_t rows, uint16_t columns)
{
    const struct winsize size = { .ws_row = rows, .ws_col = columns };

    if (r->terminal && r->out.fd >= 0)
        (void)ioctl(r->out.fd, TIOCSWINSZ, &size); /* the terminal keeps its size, ignoring */
}

void nm_relay_program_ended(struct nm_relay *r)
{
    r->program_ended = true;
}

/* One read of a stream. After the program's end nothing more than what is there is awaited. */
static void read_stream(struct nm_relay *r, struct end *e, enum nm_relay_stream which)
{
    uint8_t data[NM_RELAY_CHUNK];
    ssize_t n;

    if (e->fd < 0 || sv_buf_left(&r->to_client) >= NM_RELAY_HELD)
        return;
    n = read(e->fd, data, sizeof(data));
    if (n > 0) {
        r->used_ms = sv_now_ms();
        r->ops.output(which, data, (size_t)n, r->userdata);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR) || r->program_ended) {
        close_end(e); /* EIO: nobody has the terminal any more */
    }
}

static void write_waiting(struct nm_relay *r)
{
    struct end *e = r->terminal ? &r->out : &r->in;
    struct sv_buf *b = &r->to_program;

    if (e->fd >= 0 && sv_buf_left(b) > 0) {
        ssize_t n = write(e->fd, b->data + b->pos, sv_buf_left(b));

        if (n > 0)
            b->pos += (size_t)n;
        else if (n < 0 && errno != EAGAIN && errno != EINTR && !r->terminal)
            close_end(e);
    }
    if (!takes_input(r))
        b->pos = b->len;
    if (r->input_ends && !r->terminal && sv_buf_left(b) == 0)
        close_end(&r->in);
}

/* ---- Turns ---- */

/* No event tells that nothing more comes. */
static void drain(struct nm_relay *r)
{
    while (!nm_relay_is_drained(r) && sv_buf_left(&r->to_client) < NM_RELAY_HELD) {
        read_stream(r, &r->out, NM_RELAY_OUT);
        read_stream(r, &r->err, NM_RELAY_ERR);
    }
}

void nm_relay_turn(struct nm_relay *r)
{
    read_frames(r);
    write_waiting(r);
    if (r->program_ended)
        drain(r);
    send_waiting(r);
    if (arm(r) < 0)
        r->client_gone = true;
    r->ops.turn(r->client_gone, r->broken, r->userdata);
}

static int on_client(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_relay *r = userdata;

    (void)s;
    (void)fd;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        receive(r);
    nm_relay_turn(r);
    return 0;
}

static int on_program(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_relay *r = userdata;
    struct end *e = fd == r->out.fd ? &r->out : fd == r->err.fd ? &r->err : &r->in;

    (void)s;
    if (e == &r->in && events & (EPOLLERR | EPOLLHUP))
        close_end(e); /* the program has closed its input */
    else if (e != &r->in && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        read_stream(r, e, e == &r->err ? NM_RELAY_ERR : NM_RELAY_OUT);
    nm_relay_turn(r);
    return 0;
}

bool nm_relay_is_drained(const struct nm_relay *r)
{
    return r->out.fd < 0 && r->err.fd < 0;
}

bool nm_relay_is_sent(const struct nm_relay *r)
{
    return sv_buf_left(&r->to_client) == 0;
}

int64_t nm_relay_used_ms(const struct nm_relay *r)
{
    return r->used_ms;
}
