/* nodemanager/exec/relay.c: bytes both ways, their bounds, ends of either side. The client is one
 * end of a socket pair, the program two pipes or a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/exec/relay.h"

struct fixture {
    sd_event *event;
    struct nm_relay *relay;
    int client, ours;          /* the relay's end is `ours` */
    int input, output, errors; /* the program's ends */
    size_t frames, out, err;   /* what came */
    char last[64];             /* of the last frame or output */
    bool gone;
    int broken, turns;
    size_t echo; /* > 0: output is sent on in messages */
};

static void on_frame(const struct sv_ws_frame *f, void *userdata)
{
    struct fixture *g = userdata;
    g->frames++;
    memcpy(g->last, f->data, SV_MIN(f->len, sizeof(g->last)));
    if (f->opcode == SV_WS_BINARY)
        assert_int_equal(nm_relay_input(g->relay, f->data, f->len), 0);
    if (f->opcode == SV_WS_TEXT)
        nm_relay_input_ends(g->relay);
}

static void on_output(enum nm_relay_stream from, const uint8_t *data, size_t n, void *userdata)
{
    struct fixture *g = userdata;
    *(from == NM_RELAY_OUT ? &g->out : &g->err) += n;
    memcpy(g->last, data, SV_MIN(n, sizeof(g->last)));
    if (g->echo)
        assert_int_equal(nm_relay_send(g->relay, SV_WS_BINARY, data, n), 0);
}

static void on_turn(bool gone, int broken, void *userdata)
{
    struct fixture *g = userdata;
    g->turns++;
    g->gone = gone;
    g->broken = broken;
}

static int set_up(void **state)
{
    static const struct nm_relay_ops ops = { on_frame, on_output, on_turn };
    struct fixture *g = calloc(1, sizeof(*g));
    int pair[2];
    assert_non_null(g);
    assert_return_code(sd_event_new(&g->event), 0);
    assert_return_code(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    g->client = pair[0];
    g->ours = pair[1];
    g->input = g->output = g->errors = -1;
    assert_return_code(nm_relay_new(g->event, g->ours, &ops, g, &g->relay), 0);
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *g = *state;
    g->relay = nm_relay_free(g->relay);
    (void)sv_close(g->client);
    (void)sv_close(g->ours);
    (void)sv_close(g->input);
    (void)sv_close(g->output);
    (void)sv_close(g->errors);
    (void)sd_event_unref(g->event);
    free(g);
    return 0;
}

static void attach(struct fixture *g)
{
    int in[2], out[2], err[2];
    assert_return_code(pipe2(in, O_CLOEXEC | O_NONBLOCK), 0);
    assert_return_code(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    assert_return_code(pipe2(err, O_CLOEXEC | O_NONBLOCK), 0);
    g->input = in[0];
    g->output = out[1];
    g->errors = err[1];
    assert_return_code(
        nm_relay_program(g->relay, &(struct exe_session_io){ in[1], out[0], err[0] }), 0);
    nm_relay_turn(g->relay);
}

static void turns(struct fixture *g)
{
    while (sd_event_run(g->event, 10000) > 0)
        ;
}

static ssize_t say(struct fixture *g, enum sv_ws_opcode opcode, const void *data, size_t n)
{
    static const uint8_t mask[] = { 9, 8, 7, 6 };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    assert_int_equal(sv_ws_put(&b, opcode, mask, data, n), 0);
    return send(g->client, b.data, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void test_both_ways(void **state)
{
    struct fixture *g = *state;
    char text[16] = "";
    assert_true(say(g, SV_WS_BINARY, "early", 5) > 0); /* before there is a program */
    turns(g);
    attach(g);
    turns(g);
    assert_int_equal(read(g->input, text, sizeof(text)), 5);
    assert_string_equal(text, "early");
    assert_int_equal(write(g->output, "out", 3), 3);
    assert_int_equal(write(g->errors, "error", 5), 5);
    turns(g);
    assert_int_equal(g->out, 3);
    assert_int_equal(g->err, 5);
    assert_true(say(g, SV_WS_BINARY, "last", 4) > 0);
    assert_true(say(g, SV_WS_TEXT, "", 0) > 0); /* here: the end of input */
    turns(g);
    assert_int_equal(read(g->input, text, sizeof(text)), 4);
    assert_int_equal(read(g->input, text, sizeof(text)), 0);
    assert_false(g->gone);
}

static void test_bytes_that_came_with_the_request(void **state)
{
    struct fixture *g = *state;
    static const uint8_t frame[] = { 0x89, 0x80, 1, 2, 3, 4 };
    assert_int_equal(nm_relay_early(g->relay, frame, sizeof(frame)), 0);
    turns(g);
    assert_int_equal(g->frames, 1);
}

static void test_end_of_the_program(void **state)
{
    struct fixture *g = *state;
    static char data[40000];
    attach(g);
    assert_int_equal(write(g->output, data, sizeof(data)), sizeof(data));
    nm_relay_program_ended(g->relay); /* a grandchild keeps the pipes open */
    nm_relay_turn(g->relay);
    assert_int_equal(g->out, sizeof(data));
    assert_true(nm_relay_is_drained(g->relay));
    assert_int_equal(write(g->output, data, 1), -1); /* nobody reads any more */
    assert_true(say(g, SV_WS_BINARY, "late", 4) > 0);
    turns(g);
    assert_false(g->gone);
}

/* A client that does not read holds the program up, and gets everything when it reads. */
static void test_slow_client(void **state)
{
    struct fixture *g = *state;
    static char data[65536];
    size_t wrote = 0, got = 0;
    ssize_t n;
    g->echo = 1;
    attach(g);
    for (int idle = 0; idle < 3;) {
        n = write(g->output, data, sizeof(data));
        wrote += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        turns(g);
    }
    assert_in_range(wrote, NM_RELAY_HELD,
                    4 << 20); /* what the sockets and pipes hold, and no more */
    assert_in_range(wrote - g->out, 0, 65536);
    (void)sv_close(g->output);
    g->output = -1;
    while ((n = recv(g->client, data, sizeof(data), MSG_DONTWAIT)) > 0 ||
           !nm_relay_is_sent(g->relay)) {
        got += n > 0 ? (size_t)n : 0;
        turns(g);
    }
    assert_int_equal(g->out, wrote);
    assert_true(got > wrote); /* with the frames' heads */
}

/* A program that does not read holds the client up. */
static void test_slow_program(void **state)
{
    struct fixture *g = *state;
    static char data[16384];
    size_t sent = 0, got = 0;
    ssize_t n;
    attach(g);
    for (int idle = 0; idle < 3;) {
        n = say(g, SV_WS_BINARY, data, sizeof(data));
        idle = n > 0 ? 0 : idle + 1;
        sent += n == (ssize_t)sizeof(data) + 8 ? sizeof(data) : 0;
        turns(g);
        if (n > 0 && n != (ssize_t)sizeof(data) + 8)
            break; /* the socket took a part: no whole frame follows */
    }
    assert_in_range(sent, NM_RELAY_HELD, 4 << 20);
    for (int idle = 0; idle < 3;) {
        n = read(g->input, data, sizeof(data));
        got += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        turns(g);
    }
    assert_true(got >= sent);
    assert_int_equal(g->broken, 0);
}

static void test_client_leaves(void **state)
{
    struct fixture *g = *state;
    attach(g);
    (void)sv_close(g->client);
    g->client = -1;
    turns(g);
    assert_true(g->gone);
}

static void test_broken_frames(void **state)
{
    struct fixture *g = *state;
    assert_int_equal(send(g->client, "\x81\x01x", 3, 0), 3); /* not masked */
    turns(g);
    assert_int_equal(g->broken, EBADMSG);
    assert_int_equal(g->frames, 0);
}

static void test_terminal(void **state)
{
    struct fixture *g = *state;
    struct winsize size;
    char text[8];
    int unlocked = 0, master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    assert_return_code(master, errno);
    assert_return_code(ioctl(master, TIOCSPTLCK, &unlocked), errno);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_return_code(slave, errno);
    assert_return_code(nm_relay_program(g->relay, &(struct exe_session_io){ master, -1, -1 }), 0);
    nm_relay_resize(g->relay, 11, 22);
    assert_return_code(ioctl(slave, TIOCGWINSZ, &size), errno);
    assert_true(size.ws_row == 11 && size.ws_col == 22);
    assert_int_equal(write(slave, "hi\n", 3), 3);
    assert_true(say(g, SV_WS_BINARY, "ls\r", 3) > 0);
    turns(g);
    assert_int_equal(read(slave, text, sizeof(text)), 3);
    assert_memory_equal(text, "ls\n", 3);
    assert_true(g->out >= 4);
    (void)close(slave);
    turns(g);
    assert_true(nm_relay_is_drained(g->relay)); /* EIO */
    assert_false(g->gone);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_both_ways),          TEST(test_bytes_that_came_with_the_request),
        TEST(test_end_of_the_program), TEST(test_slow_client),
        TEST(test_slow_program),       TEST(test_client_leaves),
        TEST(test_broken_frames),      TEST(test_terminal),
    };
    (void)signal(SIGPIPE, SIG_IGN); /* as in the daemon */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
