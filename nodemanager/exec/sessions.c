/* See sessions.h. */
#include "nodemanager/exec/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/utf8.h"
#include "common/web/exec-words.h"
#include "common/web/http-upgrade.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/exec/relay.h"

#define OPERATION "Exec Container Request"
#define TARGET "ContainerShell"
#define FAILED_CODE 255 /* of a session whose program has not run */
#define ROWS 24         /* of a client that does not say */
#define COLUMNS 80
#define TICK_US 1000000 /* idle sessions are looked for so often */
#define LAST_MS 10000   /* for a client to take its last message */
#define POLL_WORD "1{}" /* with which Hadoop's client asks for output, ten times in a second */

struct nm_sessions {
    sd_event *event;
    const struct nm_context *ctx;
    struct nm_session *list;
    sd_event_source *ticks; /* while there are any */
    unsigned n;
    int64_t refused_ms;
};

struct nm_session {
    struct nm_sessions *all;
    struct nm_session *prev, *next;
    char container[YARN_ID_TEXT_MAX], user[SV_AUTH_USER_MAX], ip[80];
    char shell[16];                /* "": the client says what to run */
    struct sv_http_upgraded *conn; /* NULL: `fd` is a socket of our own, or there is none yet */
    int fd;                        /* owned; -1 */
    struct nm_relay *relay;
    struct exe_session *exe;
    bool asked;       /* the program is asked for */
    int64_t told_ms;  /* monotonic: when the client was told how it ended; 0: not yet */
    bool over;        /* the program has ended, or there is none */
    int code;         /* of an ended one */
    char why[256];    /* "": its program has run */
    int64_t began_ms; /* monotonic */
    uint8_t part[4];  /* the beginning of a character, for a text message */
    size_t n_part;
};

/* ---- The list ---- */

static void session_free(struct nm_session *s)
{
    struct nm_sessions *all = s->all;

    DL_DELETE(all->list, s);
    all->n--;
    if (!all->list)
        all->ticks = sd_event_source_disable_unref(all->ticks);
    (void)exe_session_free(s->exe); /* kills the program */
    (void)nm_relay_free(s->relay);
    if (s->conn)
        sv_http_upgraded_close(s->conn);
    s->fd = sv_close(s->fd);
    free(s);
}

int nm_sessions_new(sd_event *event, const struct nm_context *ctx, struct nm_sessions **ret)
{
    struct nm_sessions *all = calloc(1, sizeof(*all));

    if (!all)
        return -ENOMEM;
    all->event = event;
    all->ctx = ctx;
    *ret = all;
    return 0;
}

struct nm_sessions *nm_sessions_free(struct nm_sessions *all)
{
    while (all && all->list)
        session_free(all->list);
    free(all);
    return NULL;
}

unsigned nm_sessions_count(const struct nm_sessions *all)
{
    return all->n;
}

bool nm_sessions_log_refusal(struct nm_sessions *all)
{
    const int64_t now = sv_now_ms();

    if (all->refused_ms && now - all->refused_ms < 1000)
        return false;
    all->refused_ms = now;
    return true;
}

static void fail(struct nm_session *s, const char *why);

/* Ends those that nobody uses; one whose client does not read is not used, either. */
static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_sessions *all = userdata;
    const int64_t limit = all->ctx->conf->exec.idle_ms, now = sv_now_ms();
    struct nm_session *s, *next;
    int r;

    DL_FOREACH_SAFE (all->list, s, next) {
        const int64_t idle = now - (s->relay ? nm_relay_used_ms(s->relay) : s->began_ms);

        if (idle >= limit + LAST_MS || (s->told_ms && now - s->told_ms >= LAST_MS)) {
            session_free(s);
        } else if (idle >= limit && s->relay) {
            fail(s, "it was not used for the time of selvedge.nodemanager.exec.idle-timeout");
            nm_relay_turn(s->relay);
        }
    }
    if (!all->list)
        return 0;
    (void)usec;
    r = sd_event_source_set_time_relative(source, TICK_US);
    return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static unsigned count_of(const struct nm_sessions *all, const char *user)
{
    const struct nm_session *s;
    unsigned n = 0;

    DL_FOREACH (all->list, s)
        n += sv_streq(s->user, user);
    return n;
}

int nm_session_new(struct nm_sessions *all, const struct nm_session_ask *q, struct nm_session **ret)
{
    struct nm_session *s;
    int r = 0;

    if (all->n >= NM_SESSIONS_MAX || count_of(all, q->user) >= NM_SESSIONS_OF_USER)
        return -EBUSY;
    if (!all->ticks)
        r = sd_event_add_time_relative(all->event, &all->ticks, CLOCK_MONOTONIC, TICK_US, 0,
                                       on_tick, all);
    s = r < 0 ? NULL : calloc(1, sizeof(*s));
    if (!s)
        return r < 0 ? r : -ENOMEM;
    s->all = all;
    s->fd = -1;
    s->began_ms = sv_now_ms();
    (void)snprintf(s->container, sizeof(s->container), "%s", q->c->text);
    (void)snprintf(s->user, sizeof(s->user), "%s", q->user);
    (void)snprintf(s->ip, sizeof(s->ip), "%s", q->ip ? q->ip : "");
    (void)snprintf(s->shell, sizeof(s->shell), "%s", q->shell ? q->shell : "");
    DL_APPEND(all->list, s);
    all->n++;
    *ret = s;
    return 0;
}

void nm_session_left(void *session)
{
    session_free(session);
}

/* ---- Its end ---- */

/* The client gets its last message when everything before it is on its way. */
static int tell_end(struct nm_session *s)
{
    _cleanup_buf_ struct sv_buf m = SV_BUF_INIT(4096);
    struct sv_exec_end e = { .reason = *s->why ? SV_EXEC_FAILED : SV_EXEC_EXITED,
                             .code = (uint8_t)s->code };
    char words[sizeof(s->why) + 32];
    int r = 0;

    s->told_ms = sv_now_ms();
    (void)snprintf(e.text, sizeof(e.text), "%s", s->why);
    if (*s->why)
        (void)snprintf(words, sizeof(words), "%s", s->why);
    else
        (void)snprintf(words, sizeof(words), "the program has ended with %d", s->code);
    if (!*s->shell) {
        r = sv_exec_put_end(&m, &e);
        if (r >= 0)
            r = nm_relay_send(s->relay, SV_WS_BINARY, m.data, m.len);
    }
    return r < 0 ? r : nm_relay_close(s->relay, *s->why ? SV_WS_INTERNAL : SV_WS_NORMAL, words);
}

static void fail(struct nm_session *s, const char *why)
{
    if (s->over)
        return;
    s->over = true;
    s->code = FAILED_CODE;
    s->exe = exe_session_free(s->exe);
    (void)snprintf(s->why, sizeof(s->why), "%s", why);
    nm_relay_program_ended(s->relay);
    sv_log(SV_LOG_NOTICE, s->container, "%s: session of %s ends: %s", s->container, s->user, why);
}

static void on_ended(int error, int code, void *userdata)
{
    struct nm_session *s = userdata;

    s->exe = exe_session_free(s->exe);
    s->code = code;
    if (error == -ESRCH)
        fail(s, "the container has ended");
    else if (error == -EBUSY)
        fail(s, "the container has as many sessions as one may have");
    else if (error == -ETIMEDOUT)
        fail(s, "the container does not answer: it may be frozen");
    else if (error == -EPROTONOSUPPORT)
        fail(s, "the container was launched by another release of Selvedge");
    else if (error)
        fail(s, strerrordesc_np(-error) ? strerrordesc_np(-error) : "an unknown error");
    if (!error) {
        s->over = true;
        sv_log(SV_LOG_NOTICE, s->container,
               "%s: session of %s: the program has ended with %d after %lld s", s->container,
               s->user, code, (long long)(sv_now_ms() - s->began_ms) / 1000);
    }
    nm_relay_program_ended(s->relay);
    nm_relay_turn(s->relay);
}

/* ---- Its start ---- */

static void on_started(const struct exe_session_io *io, void *userdata)
{
    struct nm_session *s = userdata;

    if (nm_relay_program(s->relay, io) < 0)
        fail(s, "out of memory");
    nm_relay_turn(s->relay);
}

#define VARIABLES 8

/* The session's own, not those of the launch script, which bash alone can tell. */
static void make_variables(const struct nm_session *s, const struct nm_container *c,
                           const char *term, char text[VARIABLES][512], const char **ret)
{
    size_t n = 0;

    (void)snprintf(text[n++], 512,
                   "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    (void)snprintf(text[n++], 512, "HOME=%s", s->all->ctx->conf->user_home);
    (void)snprintf(text[n++], 512, "USER=%s", c->app->user);
    (void)snprintf(text[n++], 512, "LOGNAME=%s", c->app->user);
    (void)snprintf(text[n++], 512, "CONTAINER_ID=%s", c->text);
    (void)snprintf(text[n++], 512, "LANG=C.UTF-8");
    if (*term)
        (void)snprintf(text[n++], 512, "TERM=%s", term);
    for (size_t i = 0; i < n; i++)
        ret[i] = text[i];
    ret[n] = NULL;
}

static void start(struct nm_session *s, const struct sv_exec_start *q)
{
    static const struct exe_session_ops ops = { .started = on_started, .ended = on_ended };
    struct nm_container *c = nm_container_find(s->all->ctx, s->container);
    const char *variables[VARIABLES + 1];
    char text[VARIABLES][512], why[128];
    int r = c && c->app && c->launch.exe ? 0 : -ESRCH;

    s->asked = true;
    if (r == 0) {
        make_variables(s, c, q->term, text, variables);
        r = exe_session_open(c->launch.exe,
                             &(struct exe_session_request){ .terminal = q->terminal,
                                                            .rows = q->rows,
                                                            .columns = q->columns,
                                                            .arguments = q->arguments,
                                                            .variables = variables },
                             &ops, s, &s->exe);
    }
    if (r == -ENOENT)
        (void)snprintf(why, sizeof(why),
                       "the container was launched before "
                       "selvedge.nodemanager.exec.enabled was true");
    else if (r == -ESRCH)
        (void)snprintf(why, sizeof(why), "the container does not run");
    else if (r == -EBUSY)
        (void)snprintf(why, sizeof(why), "too many wait for this container");
    else if (r < 0)
        (void)snprintf(why, sizeof(why), "it cannot be opened: %s", strerrordesc_np(-r));
    if (r < 0)
        fail(s, why);
    if (c && r >= 0)
        nm_audit_success(s->user, *s->ip ? s->ip : NULL, OPERATION, TARGET, c);
}

static void start_shell(struct nm_session *s)
{
    start(s, &(struct sv_exec_start){ .terminal = true,
                                      .rows = ROWS,
                                      .columns = COLUMNS,
                                      .term = "dumb",
                                      .arguments = { s->shell, NULL } });
}

/* ---- Messages ---- */

static int on_binary(struct nm_session *s, const struct sv_ws_frame *f)
{
    const uint8_t *data = f->data + 1;
    const size_t n = f->len - 1;
    struct sv_exec_start q;
    uint16_t rows, columns;
    int r = 0;

    if (f->len == 0 || !f->first || !f->last || (f->data[0] == SV_EXEC_START) != !s->asked)
        return -EBADMSG;
    switch (f->data[0]) {
    case SV_EXEC_START:
        r = n > SV_EXEC_START_MAX ? -EBADMSG : sv_exec_read_start(data, n, &q);
        if (r >= 0)
            start(s, &q);
        return r;
    case SV_EXEC_INPUT:
        if (n == 0)
            nm_relay_input_ends(s->relay);
        return n == 0 ? 0 : nm_relay_input(s->relay, data, n);
    case SV_EXEC_SIZE:
        r = sv_exec_read_size(data, n, &rows, &columns);
        if (r >= 0)
            nm_relay_resize(s->relay, rows, columns);
        return r;
    default:
        return -EBADMSG;
    }
}

/* Keys that Hadoop's client sends, and its word for asking. */
static int on_text(struct nm_session *s, const struct sv_ws_frame *f)
{
    if (f->len == strlen(POLL_WORD) && memcmp(f->data, POLL_WORD, f->len) == 0)
        return 0;
    return nm_relay_input(s->relay, f->data, f->len);
}

static void on_frame(const struct sv_ws_frame *f, void *userdata)
{
    struct nm_session *s = userdata;
    int r = 0;

    if (s->told_ms)
        return;
    switch (f->opcode) {
    case SV_WS_PING:
        r = nm_relay_send(s->relay, SV_WS_PONG, f->data, f->len);
        break;
    case SV_WS_PONG:
        break;
    case SV_WS_CLOSE:
        fail(s, "its client has closed it");
        break;
    default:
        r = *s->shell ? on_text(s, f) : f->opcode == SV_WS_BINARY ? on_binary(s, f) : -EBADMSG;
    }
    if (r < 0)
        fail(s, r == -EBADMSG ? "its client sent what is no message of " SV_EXEC_PROTOCOL
                              : "out of memory");
}

/* A text message is whole characters: the beginning of one waits for its rest, and what is none is
 * replaced. */
static int send_text(struct nm_session *s, const uint8_t *data, size_t n)
{
    uint8_t joined[NM_RELAY_CHUNK + sizeof(s->part)];
    char text[3 * sizeof(joined) + 1]; /* each byte may become U+FFFD */
    size_t all = s->n_part + n, keep = 0;
    uint32_t c;

    memcpy(joined, s->part, s->n_part);
    memcpy(joined + s->n_part, data, n);
    for (size_t k = 1; k <= 3 && k <= all; k++) {
        const uint8_t b = joined[all - k];

        if (b < 0x80)
            break;
        if (b >= 0xc0) { /* a first byte */
            keep = sv_utf8_at(joined + all - k, k, &c) ? 0 : k;
            break;
        }
    }
    s->n_part = keep;
    memcpy(s->part, joined + all - keep, keep);
    all -= keep;
    (void)sv_utf8_copy(text, sizeof(text), joined, all); /* all of it */
    return *text ? nm_relay_send(s->relay, SV_WS_TEXT, text, strlen(text)) : 0;
}

static void on_output(enum nm_relay_stream from, const uint8_t *data, size_t n, void *userdata)
{
    struct nm_session *s = userdata;
    uint8_t message[1 + NM_RELAY_CHUNK];
    int r;

    if (s->told_ms)
        return;
    if (*s->shell) {
        r = send_text(s, data, n);
    } else {
        message[0] = from == NM_RELAY_ERR ? SV_EXEC_ERRORS : SV_EXEC_OUTPUT;
        memcpy(message + 1, data, n);
        r = nm_relay_send(s->relay, SV_WS_BINARY, message, 1 + n);
    }
    if (r < 0)
        fail(s, "out of memory");
}

static void on_turn(bool gone, int broken, void *userdata)
{
    struct nm_session *s = userdata;

    if (broken)
        fail(s, "its client breaks the protocol of WebSockets");
    if (gone)
        fail(s, "its client is gone");
    if (!gone && s->over && !s->told_ms && (broken || nm_relay_is_drained(s->relay))) {
        if (tell_end(s) >= 0) {
            nm_relay_turn(s->relay); /* comes here again, and may free it */
            return;
        }
        gone = true;
    }
    if (gone || (s->told_ms && nm_relay_is_sent(s->relay)))
        session_free(s);
}

static int relay_new(struct nm_session *s, int fd)
{
    static const struct nm_relay_ops ops = { .frame = on_frame,
                                             .output = on_output,
                                             .turn = on_turn };

    return nm_relay_new(s->all->event, fd, &ops, s, &s->relay);
}

void nm_session_begin(struct sv_http_upgraded *u, int fd, const void *early, size_t n,
                      void *session)
{
    struct nm_session *s = session;

    s->conn = u;
    if (relay_new(s, fd) < 0 || (n > 0 && nm_relay_early(s->relay, early, n) < 0)) {
        sv_log_err("%s: session: out of memory", s->container);
        return; /* it ends as one that is not used */
    }
    if (*s->shell)
        start_shell(s);
}

int nm_session_serve(struct nm_session *s, int fd)
{
    int r;

    s->fd = fd;
    r = relay_new(s, fd);
    if (r < 0)
        session_free(s);
    return r;
}
