/* See exec-relay.h. */
#include "client/exec/exec-relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <termios.h>
#include <unistd.h>

#include "client/core/session.h"
#include "common/fd.h"
#include "common/web/exec-words.h"
#include "common/web/websocket.h"

#define HELD ((size_t)64 << 10) /* input that waits for the node, before no more is read */

struct relay {
    struct cli_exec_link *link;
    const struct cli_exec_session *s;
    struct sv_ws_reader reader;
    struct sv_buf received, waiting;
    bool escaped[3]; /* descriptor 1, 2: a terminal that is not the program's */
    bool input_open, ended;
    int code;
};

static volatile sig_atomic_t resized, asked_to_end;

static void on_signal(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else
        asked_to_end = number;
}

/* ---- Messages to the node ---- */

static int put(struct relay *r, enum sv_ws_opcode opcode, const void *data, size_t n)
{
    uint8_t mask[4];

    if (getrandom(mask, sizeof(mask), 0) != sizeof(mask))
        return -EIO;
    sv_buf_compact(&r->waiting);
    return sv_ws_put(&r->waiting, opcode, mask, data, n);
}

static struct winsize size_of(void)
{
    struct winsize w;

    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_row == 0 || w.ws_col == 0)
        w = (struct winsize){ .ws_row = 24, .ws_col = 80 };
    return w;
}

static int put_start(struct relay *r)
{
    _cleanup_buf_ struct sv_buf m = SV_BUF_INIT(SV_WS_FRAME_MAX);
    const struct winsize w = size_of();
    const char *term = getenv("TERM");
    struct sv_exec_start s = { .terminal = r->s->terminal,
                               .rows = w.ws_row,
                               .columns = w.ws_col,
                               .term = r->s->terminal && term ? term : "" };
    size_t n = 0;

    for (; r->s->arguments[n]; n++) {
        if (n == SV_EXEC_ARGUMENTS_MAX)
            return -E2BIG;
        s.arguments[n] = r->s->arguments[n];
    }
    int k = sv_exec_put_start(&m, &s);
    return k < 0 ? k : put(r, SV_WS_BINARY, m.data, m.len);
}

static int put_input(struct relay *r, const void *data, size_t n)
{
    uint8_t m[1 + SV_EXEC_DATA_MAX] = { SV_EXEC_INPUT };

    memcpy(m + 1, data, n);
    return put(r, SV_WS_BINARY, m, 1 + n);
}

static int put_size(struct relay *r)
{
    const struct winsize w = size_of();
    const uint8_t m[] = { SV_EXEC_SIZE, (uint8_t)(w.ws_row >> 8), (uint8_t)w.ws_row,
                          (uint8_t)(w.ws_col >> 8), (uint8_t)w.ws_col };

    return put(r, SV_WS_BINARY, m, sizeof(m));
}

/* ---- Messages of the node ---- */

/* On a terminal that is the user's, control characters of the program are shown and not obeyed. */
static int write_escaped(int fd, const uint8_t *data, size_t n)
{
    static char text[SV_WS_FRAME_MAX];
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        const uint8_t c = data[i];

        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            k += (size_t)snprintf(text + k, sizeof(text) - k, "\\x%02x", c);
        else
            text[k++] = (char)c;
        if (k > sizeof(text) - 8) {
            int r = sv_write_all(fd, text, k);

            if (r < 0)
                return r;
            k = 0;
        }
    }
    return sv_write_all(fd, text, k);
}

static int on_data(const struct relay *r, int fd, const uint8_t *data, size_t n)
{
    return r->escaped[fd] ? write_escaped(fd, data, n) : sv_write_all(fd, data, n);
}

static int on_end(struct relay *r, const uint8_t *data, size_t n)
{
    struct sv_exec_end e;

    if (sv_exec_read_end(data, n, &e) < 0)
        return -EBADMSG;
    r->ended = true;
    r->code = e.reason == SV_EXEC_EXITED ? e.code : CLI_EXEC_FAILED;
    if (e.reason == SV_EXEC_FAILED)
        (void)cli_fail("%s%s", e.text, r->s->terminal ? "\r" : "");
    return 0;
}

static int on_frame(struct relay *r, const struct sv_ws_frame *f)
{
    if (f->opcode == SV_WS_PING)
        return put(r, SV_WS_PONG, f->data, f->len);
    if (f->opcode == SV_WS_CLOSE)
        return -ECONNRESET; /* without END before it */
    if (f->opcode == SV_WS_PONG)
        return 0;
    if (f->opcode != SV_WS_BINARY || !f->first || !f->last || f->len == 0)
        return -EBADMSG;
    switch (f->data[0]) {
    case SV_EXEC_OUTPUT:
        return on_data(r, STDOUT_FILENO, f->data + 1, f->len - 1);
    case SV_EXEC_ERRORS:
        return on_data(r, STDERR_FILENO, f->data + 1, f->len - 1);
    case SV_EXEC_END:
        return on_end(r, f->data + 1, f->len - 1);
    default:
        return -EBADMSG;
    }
}

/* All that is there: libcurl may hold bytes that poll() does not tell of. */
static int receive(struct relay *r)
{
    uint8_t data[16384];
    ssize_t n = 1;

    while (n > 0 && !r->ended) {
        struct sv_ws_frame f;
        int k = 0;

        n = cli_exec_receive(r->link, data, sizeof(data));
        if (n == -EAGAIN)
            return 0;
        if (n <= 0)
            return -ECONNRESET;
        sv_buf_compact(&r->received);
        k = sv_buf_put(&r->received, data, (size_t)n);
        while (k >= 0 && !r->ended && (k = sv_ws_read(&r->reader, &r->received, &f)) > 0)
            k = on_frame(r, &f);
        if (k < 0)
            return k;
    }
    return 0;
}

/* ---- The loop ---- */

static int send_waiting(struct relay *r)
{
    struct sv_buf *b = &r->waiting;

    while (sv_buf_left(b) > 0) {
        ssize_t n = cli_exec_send(r->link, b->data + b->pos, sv_buf_left(b));

        if (n <= 0)
            return n == -EAGAIN ? 0 : -ECONNRESET;
        b->pos += (size_t)n;
    }
    return 0;
}

static int read_input(struct relay *r)
{
    uint8_t data[SV_EXEC_DATA_MAX];
    ssize_t n = read(STDIN_FILENO, data, sizeof(data));

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n <= 0) {
        r->input_open = false;
        n = 0; /* and with it its end */
    }
    return put_input(r, data, (size_t)n);
}

static int run(struct relay *r)
{
    int k = put_start(r);

    if (k >= 0 && !r->input_open)
        k = put_input(r, NULL, 0);
    while (k >= 0 && !r->ended && !asked_to_end) {
        struct pollfd p[2] = { { .fd = cli_exec_link_fd(r->link), .events = POLLIN },
                               { .fd = -1, .events = POLLIN } };

        k = send_waiting(r);
        if (k >= 0)
            k = receive(r);
        if (k < 0 || r->ended)
            break;
        if (sv_buf_left(&r->waiting) > 0)
            p[0].events |= POLLOUT;
        if (r->input_open && sv_buf_left(&r->waiting) < HELD)
            p[1].fd = STDIN_FILENO;
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return -errno;
        if (resized && r->s->terminal) {
            resized = 0;
            k = put_size(r);
        }
        if (k >= 0 && p[1].fd >= 0 && p[1].revents)
            k = read_input(r);
    }
    return k;
}

/* ---- The terminal ---- */

static void catch_signals(void)
{
    static const int numbers[] = { SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT };
    struct sigaction a = { .sa_handler = on_signal }; /* without SA_RESTART: poll() ends */

    for (size_t i = 0; i < SV_ARRAY_LEN(numbers); i++)
        (void)sigaction(numbers[i], &a, NULL); /* of a number that there is, ignoring */
    (void)signal(SIGPIPE, SIG_IGN);
}

static bool make_raw(struct termios *before)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, before) < 0)
        return false;
    raw = *before;
    cfmakeraw(&raw);
    return tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

int cli_exec_relay(struct cli_exec_link *link, const struct cli_exec_session *s)
{
    struct relay r = { .link = link,
                       .s = s,
                       .received = SV_BUF_INIT(2 * (SV_WS_FRAME_MAX + SV_WS_HEAD_MAX)),
                       .waiting = SV_BUF_INIT(HELD + 2 * (SV_WS_FRAME_MAX + SV_WS_HEAD_MAX)),
                       .input_open = s->input || s->terminal,
                       .code = CLI_EXEC_FAILED };
    struct termios before;
    bool raw;
    int k;

    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        r.escaped[fd] = !s->terminal && isatty(fd);
    catch_signals();
    raw = s->terminal && make_raw(&before);
    k = run(&r);
    if (raw)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before); /* best effort, ignoring */
    sv_buf_free(&r.received);
    sv_buf_free(&r.waiting);
    if (asked_to_end)
        return 128 + asked_to_end;
    if (k == -E2BIG)
        (void)cli_fail("the command is longer than %d bytes or %d words", SV_EXEC_START_MAX,
                       SV_EXEC_ARGUMENTS_MAX);
    else if (k == -ECONNRESET)
        (void)cli_fail("the connection to the node is lost; the program was ended");
    else if (k < 0)
        (void)cli_fail("%s", strerrordesc_np(-k));
    return k < 0 ? CLI_EXEC_FAILED : r.code;
}
