/* See mysql-connection.h.
 *
 * The library runs a call on a stack of its own and returns when it would block, with what it waits
 * for; X_start() begins a call and X_cont() goes on with it. */
#include "federation/store/mysql-connection.h"

#include <arpa/inet.h>
#include <errmsg.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "federation/store/mysql-bind.h"
#include "federation/store/mysql-errors.h"
#include "wire/ipc/resolve.h"

#define REASON_MAX 512
/* A packet of the server: a row, with all its columns. */
#define PACKET_MAX (1u << 20)
/* A call of the library on a dead socket ends after as many steps. */
#define END_STEPS 1000

/* The library's call that is under way. */
enum phase { IDLE, CONNECT, QUERY, PREPARE, EXECUTE, FETCH };

struct fed_connection {
    sd_event *event;
    const struct fed_mysql *lib;
    const struct fed_account *account;
    const struct fed_connection_events *events;
    void *userdata;

    struct ipc_resolve *resolve;
    struct ipc_addresses addresses;
    size_t next_address;
    char host[INET6_ADDRSTRLEN]; /* the library keeps pointers while it connects */

    MYSQL *db; /* NULL: closed, or being resolved */
    MYSQL_STMT *statements[SQL_STATEMENTS];
    sd_event_source *io, *timer, *start;
    enum phase phase;
    int awaited;      /* MYSQL_WAIT_…: what the library waits for; 0: its call has returned */
    MYSQL *connected; /* results of its calls */
    int failed;

    struct fed_sql_run *run;
    const char *query;
    struct fed_binding *binding;
};

void *fed_connection_userdata(const struct fed_connection *c)
{
    return c->userdata;
}

void fed_account_set(struct fed_account *a, const struct fed_mysql_options *o)
{
    a->url = *o->url;
    a->connect_ms = o->connect_ms;
    snprintf(a->user, sizeof(a->user), "%s", o->user ?: o->url->user);
    snprintf(a->password, sizeof(a->password), "%s", o->password ?: o->url->password);
}

/* ---- The library's calls ---- */

static int start_connect(struct fed_connection *c)
{
    const struct fed_mysql_url *u = &c->account->url;
    const struct sockaddr_storage *sa = &c->addresses.sa[c->next_address++];
    const void *ip = sa->ss_family == AF_INET6
                         ? (const void *)&((const struct sockaddr_in6 *)sa)->sin6_addr
                         : &((const struct sockaddr_in *)sa)->sin_addr;

    snprintf(c->host, sizeof(c->host), "localhost");
    if (!u->socket[0])
        (void)inet_ntop(sa->ss_family, ip, c->host, sizeof(c->host)); /* an address, ignoring */
    return c->lib->real_connect_start_(&c->connected, c->db, c->host, c->account->user,
                                       c->account->password, u->database[0] ? u->database : NULL,
                                       u->port, u->socket[0] ? u->socket : NULL, CLIENT_FOUND_ROWS);
}

static int start(struct fed_connection *c)
{
    MYSQL_STMT *st = c->run ? c->statements[c->run->now] : NULL;
    const char *text;

    switch (c->phase) {
    case CONNECT:
        return start_connect(c);
    case QUERY:
        return c->lib->real_query_start_(&c->failed, c->db, c->query, strlen(c->query));
    case PREPARE:
        text = fed_sql_text(c->run->now, FED_MYSQL);
        return c->lib->stmt_prepare_start_(&c->failed, st, text, strlen(text));
    case EXECUTE:
        return c->lib->stmt_execute_start_(&c->failed, st);
    default:
        return c->lib->stmt_fetch_start_(&c->failed, st);
    }
}

static int go_on(struct fed_connection *c, int ready)
{
    MYSQL_STMT *st = c->run ? c->statements[c->run->now] : NULL;

    switch (c->phase) {
    case CONNECT:
        return c->lib->real_connect_cont_(&c->connected, c->db, ready);
    case QUERY:
        return c->lib->real_query_cont_(&c->failed, c->db, ready);
    case PREPARE:
        return c->lib->stmt_prepare_cont_(&c->failed, st, ready);
    case EXECUTE:
        return c->lib->stmt_execute_cont_(&c->failed, st, ready);
    default:
        return c->lib->stmt_fetch_cont_(&c->failed, st, ready);
    }
}

/* ---- Closing ---- */

/* A call that has not returned keeps memory: on a socket that is shut down it returns. */
static void end_call(struct fed_connection *c)
{
    int fd = c->lib->get_socket_(c->db);

    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR); /* it may not be connected yet, ignoring */
    for (int i = 0; c->awaited && i < END_STEPS; i++)
        c->awaited = go_on(c, MYSQL_WAIT_READ | MYSQL_WAIT_WRITE | MYSQL_WAIT_TIMEOUT);
    c->awaited = 0;
}

void fed_connection_close(struct fed_connection *c)
{
    c->resolve = ipc_resolve_free(c->resolve);
    c->io = sd_event_source_disable_unref(c->io);
    (void)sd_event_source_set_enabled(c->timer, SD_EVENT_OFF); /* they exist, ignoring */
    (void)sd_event_source_set_enabled(c->start, SD_EVENT_OFF);
    if (!c->db)
        return;
    if (c->phase != IDLE)
        end_call(c);
    c->lib->close_(c->db);
    c->db = NULL;
    for (size_t i = 0; i < SQL_STATEMENTS; i++)
        if (c->statements[i]) {
            (void)c->lib->stmt_close_(c->statements[i]); /* frees memory alone, ignoring */
            c->statements[i] = NULL;
        }
    c->phase = IDLE;
    c->run = NULL;
    c->query = NULL;
}

/* ---- Ends of calls ---- */

static void reason_of(char *dst, const char *text, int error)
{
    char cut[REASON_MAX - 160];

    sv_escape(cut, sizeof(cut), text);
    snprintf(dst, REASON_MAX, "%s%s", cut[0] ? cut : "no answer", fed_mysql_remedy(error));
}

static void tell(struct fed_connection *c, int error, const char *text)
{
    bool opening = c->phase == CONNECT || !c->db;
    char reason[REASON_MAX];

    reason_of(reason, text, error);
    fed_connection_close(c);
    if (opening)
        c->events->opened(c, error, reason);
    else
        c->events->executed(c, error, reason);
}

static void tell_executed(struct fed_connection *c)
{
    c->phase = IDLE;
    c->run = NULL;
    c->query = NULL;
    c->events->executed(c, 0, "");
}

static void database_failed(struct fed_connection *c)
{
    unsigned code = c->lib->errno_(c->db);

    tell(c, fed_mysql_error(code, c->phase == CONNECT), c->lib->error_(c->db));
}

/* The library says what failed of the statement or of the connection, and of a broken one that was
 * being prepared neither. */
static void statement_failed(struct fed_connection *c)
{
    MYSQL_STMT *st = c->statements[c->run->now];
    unsigned code = c->lib->stmt_errno_(st);
    const char *text = c->lib->stmt_error_(st);

    if (code == 0) {
        code = c->lib->errno_(c->db) ?: CR_SERVER_LOST;
        text = c->lib->error_(c->db);
    }
    if (code == FED_MYSQL_DUPLICATE && c->phase == EXECUTE) {
        c->run->duplicate = true;
        tell_executed(c);
    } else
        tell(c, fed_mysql_error(code, c->phase == PREPARE), text);
}

static int new_handle(struct fed_connection *c);

/* The next address of the host's, with a new handle: the library gives one up after an error. */
static bool another_address(struct fed_connection *c)
{
    if (c->next_address >= c->addresses.n ||
        fed_mysql_error(c->lib->errno_(c->db), true) != -EHOSTDOWN)
        return false;
    fed_connection_close(c);
    return new_handle(c) == 0;
}

/* The phase that follows, or IDLE where the caller was told. */
static enum phase connect_ended(struct fed_connection *c)
{
    if (!c->connected && another_address(c))
        return CONNECT;
    if (!c->connected && c->db)
        database_failed(c);
    else if (!c->connected)
        tell(c, -ENOMEM, "out of memory");
    else {
        c->phase = IDLE;
        c->events->opened(c, 0, "");
    }
    return IDLE;
}

static enum phase prepare_ended(struct fed_connection *c)
{
    if (c->failed)
        statement_failed(c);
    else if (fed_binding_parameters(c->binding, c->statements[c->run->now], c->run))
        return EXECUTE;
    else
        tell(c, -EREMOTEIO, "the statement has another number of parameters");
    return IDLE;
}

static enum phase execute_ended(struct fed_connection *c)
{
    MYSQL_STMT *st = c->statements[c->run->now];

    if (c->failed)
        statement_failed(c);
    else if (!fed_sql_columns(c->run->now)[0]) {
        c->run->changed = c->lib->stmt_affected_rows_(st);
        tell_executed(c);
    } else if (fed_binding_columns(c->binding, st, c->run))
        return FETCH;
    else
        tell(c, -EREMOTEIO, "the answer has another number of columns");
    return IDLE;
}

static enum phase fetch_ended(struct fed_connection *c)
{
    if (c->failed == MYSQL_NO_DATA)
        tell_executed(c);
    else if (c->failed != 0 && c->failed != MYSQL_DATA_TRUNCATED)
        statement_failed(c);
    else if (fed_binding_row(c->binding, c->run))
        return FETCH;
    else
        tell(c, -EREMOTEIO, "the answer has more rows than were asked for");
    return IDLE;
}

static enum phase query_ended(struct fed_connection *c)
{
    if (c->failed)
        database_failed(c);
    else
        tell_executed(c);
    return IDLE;
}

static enum phase ended(struct fed_connection *c)
{
    switch (c->phase) {
    case CONNECT:
        return connect_ended(c);
    case QUERY:
        return query_ended(c);
    case PREPARE:
        return prepare_ended(c);
    case EXECUTE:
        return execute_ended(c);
    default:
        return fetch_ended(c);
    }
}

/* ---- The loop ---- */

/* Waits for the library's socket; while no call is under way, for its end. */
static int watch(struct fed_connection *c, uint32_t events);

static void tell_lost(struct fed_connection *c, int error, const char *text)
{
    bool idle = c->phase == IDLE && !c->run && !c->query;

    if (!idle) {
        tell(c, error, text);
        return;
    }
    fed_connection_close(c);
    c->events->lost(c);
}

static int wait_for(struct fed_connection *c, int awaited)
{
    uint32_t events = (awaited & MYSQL_WAIT_READ ? EPOLLIN : 0u) |
                      (awaited & MYSQL_WAIT_WRITE ? EPOLLOUT : 0u) |
                      (awaited & MYSQL_WAIT_EXCEPT ? EPOLLPRI : 0u);
    int enabled = awaited & MYSQL_WAIT_TIMEOUT ? SD_EVENT_ONESHOT : SD_EVENT_OFF, r;

    r = sd_event_source_set_time_relative(c->timer, 1000ull * c->lib->get_timeout_value_ms_(c->db));
    if (r >= 0)
        r = sd_event_source_set_enabled(c->timer, enabled);
    return r < 0 ? r : watch(c, events);
}

/* Goes on until the library waits, or the caller was told. */
static void drive(struct fed_connection *c, int awaited)
{
    enum phase next;
    int r;

    while (!awaited) {
        next = ended(c);
        if (next == IDLE)
            break;
        c->phase = next;
        awaited = start(c);
    }
    if (!c->db)
        return;
    c->awaited = awaited;
    r = wait_for(c, c->phase == IDLE ? MYSQL_WAIT_READ : awaited);
    if (r < 0)
        tell_lost(c, -ECONNRESET, "the loop cannot watch the connection");
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct fed_connection *c = userdata;
    int ready = (revents & EPOLLIN ? MYSQL_WAIT_READ : 0) |
                (revents & EPOLLOUT ? MYSQL_WAIT_WRITE : 0) |
                (revents & EPOLLPRI ? MYSQL_WAIT_EXCEPT : 0);

    (void)source;
    (void)fd;
    if (c->phase == IDLE) { /* nothing was asked: this is the end of the connection */
        tell_lost(c, -EHOSTDOWN, "the server has closed the connection");
        return 0;
    }
    if (revents & (EPOLLHUP | EPOLLERR))
        ready |= c->awaited & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
    drive(c, go_on(c, ready));
    return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct fed_connection *c = userdata;

    (void)source;
    (void)usec;
    if (c->phase != IDLE)
        drive(c, go_on(c, MYSQL_WAIT_TIMEOUT));
    return 0;
}

static int watch(struct fed_connection *c, uint32_t events)
{
    int fd = c->lib->get_socket_(c->db), r;

    if (fd < 0)
        return -EBADF;
    if (c->io && sd_event_source_get_io_fd(c->io) != fd)
        c->io = sd_event_source_disable_unref(c->io);
    if (!c->io)
        return sd_event_add_io(c->event, &c->io, fd, events, on_io, c);
    r = sd_event_source_set_io_events(c->io, events);
    return r < 0 ? r : sd_event_source_set_enabled(c->io, SD_EVENT_ON);
}

/* ---- Opening ---- */

/* Sets an option; the library copies what it points to. */
static int option(struct fed_connection *c, int *r, enum mysql_option o, const void *value)
{
    if (*r == 0)
        *r = c->lib->optionsv_(c->db, o, value);
    return *r;
}

static int tls_options(struct fed_connection *c)
{
    const struct fed_mysql_url *u = &c->account->url;
    my_bool on = 1, verify = u->tls == FED_TLS_VERIFIED;
    int r = 0;

    if (u->tls == FED_TLS_NONE)
        return 0;
    (void)option(c, &r, MYSQL_OPT_SSL_ENFORCE, &on);
    (void)option(c, &r, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    if (u->ca[0])
        (void)option(c, &r, MYSQL_OPT_SSL_CA, u->ca);
    return r;
}

/* A handle with the options of every connection. -ENOMEM. */
static int new_handle(struct fed_connection *c)
{
    unsigned seconds = (unsigned)((c->account->connect_ms + 999) / 1000);
    unsigned tcp = MYSQL_PROTOCOL_TCP, off = 0;
    size_t packet = PACKET_MAX;
    int r = 0;

    c->db = c->lib->init_(NULL);
    if (!c->db)
        return -ENOMEM;
    (void)option(c, &r, MYSQL_OPT_NONBLOCK, NULL);
    (void)option(c, &r, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    (void)option(c, &r, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    (void)option(c, &r, MYSQL_INIT_COMMAND,
                 "SET time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES'");
    /* A hostile server asks for files of this machine, for the password in the clear, for memory.
     */
    (void)option(c, &r, MYSQL_OPT_LOCAL_INFILE, &off);
    (void)option(c, &r, MARIADB_OPT_RESTRICTED_AUTH,
                 "mysql_native_password,client_ed25519,caching_sha2_password,sha256_password");
    (void)option(c, &r, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet);
    if (!c->account->url.socket[0])
        (void)option(c, &r, MYSQL_OPT_PROTOCOL, &tcp);
    return r != 0 || tls_options(c) != 0 ? -ENOMEM : 0;
}

static void connect_first(struct fed_connection *c)
{
    c->next_address = 0;
    if (new_handle(c) < 0) {
        tell(c, -ENOMEM, "out of memory");
        return;
    }
    c->phase = CONNECT;
    drive(c, start(c));
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct fed_connection *c = userdata;
    char text[320];

    c->resolve = ipc_resolve_free(c->resolve);
    if (status < 0) {
        snprintf(text, sizeof(text), "%s: the name has no address", c->account->url.host);
        tell(c, -EHOSTDOWN, text);
        return;
    }
    c->addresses = *list;
    connect_first(c);
}

static void open_now(struct fed_connection *c)
{
    const struct fed_mysql_url *u = &c->account->url;

    if (ipc_resolve_numeric(u->host, u->port, &c->addresses))
        connect_first(c);
    else if (ipc_resolve_start(c->event, u->host, u->port, on_resolved, c, &c->resolve) < 0)
        tell(c, -ENOMEM, "out of memory");
}

static int on_start(sd_event_source *source, void *userdata)
{
    SV_LOOP_HANDLER();
    struct fed_connection *c = userdata;
    MYSQL_STMT **st = c->run ? &c->statements[c->run->now] : NULL;
    enum phase phase = c->query ? QUERY : EXECUTE;

    (void)source;
    if (!c->db) {
        open_now(c);
        return 0;
    }
    if (st && !*st) {
        *st = c->lib->stmt_init_(c->db);
        phase = PREPARE;
        if (!*st) {
            tell(c, -ENOMEM, "out of memory");
            return 0;
        }
    }
    if (phase == EXECUTE && !fed_binding_parameters(c->binding, *st, c->run)) {
        tell(c, -EREMOTEIO, "the statement has another number of parameters");
        return 0;
    }
    c->phase = phase;
    drive(c, start(c));
    return 0;
}

static void start_soon(struct fed_connection *c)
{
    (void)sd_event_source_set_enabled(c->start, SD_EVENT_ONESHOT); /* it exists, ignoring */
}

void fed_connection_open(struct fed_connection *c)
{
    start_soon(c);
}

void fed_connection_execute(struct fed_connection *c, struct fed_sql_run *run)
{
    run->duplicate = false;
    run->changed = 0;
    c->run = run;
    start_soon(c);
}

void fed_connection_query(struct fed_connection *c, const char *text)
{
    c->query = text;
    start_soon(c);
}

struct fed_connection *fed_connection_free(struct fed_connection *c)
{
    if (!c)
        return NULL;
    fed_connection_close(c);
    sd_event_source_disable_unref(c->timer);
    sd_event_source_disable_unref(c->start);
    fed_binding_free(c->binding);
    free(c);
    return NULL;
}

int fed_connection_new(sd_event *event, const struct fed_mysql *lib,
                       const struct fed_account *account,
                       const struct fed_connection_events *events, void *userdata,
                       struct fed_connection **ret)
{
    struct fed_connection *c = calloc(1, sizeof(*c));
    int r = c ? fed_binding_new(lib, &c->binding) : -ENOMEM;

    if (!c)
        return r;
    c->event = event;
    c->lib = lib;
    c->account = account;
    c->events = events;
    c->userdata = userdata;
    if (r == 0)
        r = sd_event_add_time(event, &c->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_defer(event, &c->start, on_start, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->start, SD_EVENT_OFF);
    if (r < 0) {
        fed_connection_free(c);
        return r;
    }
    *ret = c;
    return 0;
}
