/* The store in a MariaDB or MySQL database: a pool of connections, a call on each.
 *
 * Calls wait for a connection in the order in which they were made. A call whose connection breaks
 * is executed once more where that is harmless; otherwise its caller learns that it may have been
 * executed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "federation/store/backends.h"
#include "federation/store/mysql-connection.h"

struct pool;

struct slot {
    struct pool *pool;
    struct fed_connection *connection;
    enum { CLOSED, OPENING, FREE, BUSY } state;
    struct fed_sql_run run;
    int64_t opened_ms, used_ms; /* monotonic */
};

struct pool {
    struct fed_account account;
    int64_t idle_ms, life_ms;
    struct slot *slots;
    size_t n_slots;
    struct fed_call *waiting;
    sd_event_source *idle; /* closes connections that are not used */
};

static void dispatch(struct pool *p);

/* ---- One call ---- */

static void next_statement(struct slot *slot)
{
    struct fed_call *c = slot->run.call;

    if (fed_sql_step(&slot->run)) {
        c->sent = true;
        fed_connection_execute(slot->connection, &slot->run);
        return;
    }
    c->run = NULL;
    slot->state = FREE;
    slot->used_ms = sv_now_ms();
    dispatch(slot->pool);
}

static void assign(struct slot *slot, struct fed_call *c)
{
    DL_DELETE2(slot->pool->waiting, c, wait_prev, wait_next);
    c->run = slot;
    slot->state = BUSY;
    slot->run = (struct fed_sql_run){ .call = c };
    next_statement(slot);
}

/* A call whose connection is closed. */
static void interrupted(struct pool *p, struct fed_call *c, int error, const char *reason)
{
    c->run = NULL;
    if (fed_error_away(error) && !c->repeated &&
        (!c->sent || fed_operations[c->request.op].repeatable)) {
        fed_call_again(c);
        c->repeated = true;
        DL_PREPEND2(p->waiting, c, wait_prev, wait_next);
        return;
    }
    if (error == -EHOSTDOWN && c->sent)
        error = -ECONNRESET;
    fed_call_fail(c, error, "%s", reason);
}

/* ---- Connections ---- */

static struct slot *slot_in(struct pool *p, unsigned state)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].state == state)
            return &p->slots[i];
    return NULL;
}

/* Gives calls to free connections, and opens as many as there are calls for. */
static void dispatch(struct pool *p)
{
    struct fed_call *c;
    struct slot *slot;
    size_t opening = 0, waiting = 0;

    while (p->waiting && (slot = slot_in(p, FREE)))
        assign(slot, p->waiting);
    for (size_t i = 0; i < p->n_slots; i++)
        opening += p->slots[i].state == OPENING;
    DL_COUNT2(p->waiting, c, waiting, wait_next);
    while (opening < waiting && (slot = slot_in(p, CLOSED))) {
        slot->state = OPENING;
        fed_connection_open(slot->connection);
        opening++;
    }
}

static void arm_idle(struct pool *p);

/* No connection can be made and none is open: no call is served. */
static void fail_waiting(struct pool *p, int error, const char *reason)
{
    struct fed_call *c;

    while ((c = p->waiting)) {
        DL_DELETE2(p->waiting, c, wait_prev, wait_next);
        c->repeated = true;
        interrupted(p, c, error, reason);
    }
}

static void on_opened(struct fed_connection *connection, int error, const char *reason)
{
    struct slot *slot = fed_connection_userdata(connection);
    struct pool *p = slot->pool;

    slot->state = error < 0 ? CLOSED : FREE;
    slot->opened_ms = slot->used_ms = sv_now_ms();
    if (error == 0)
        arm_idle(p);
    else if (!slot_in(p, FREE) && !slot_in(p, BUSY) && !slot_in(p, OPENING))
        fail_waiting(p, error, reason);
    if (error == 0)
        dispatch(p);
}

static void on_executed(struct fed_connection *connection, int error, const char *reason)
{
    struct slot *slot = fed_connection_userdata(connection);
    struct fed_call *c = slot->run.call;

    if (error == 0) {
        next_statement(slot);
        return;
    }
    slot->state = CLOSED;
    if (error == -EHOSTDOWN && slot->run.step == 1 && !c->repeated)
        c->sent = false; /* its first statement was refused */
    interrupted(slot->pool, c, error, reason);
    dispatch(slot->pool);
}

static void on_lost(struct fed_connection *connection)
{
    struct slot *slot = fed_connection_userdata(connection);

    slot->state = CLOSED;
}

static const struct fed_connection_events events = { on_opened, on_executed, on_lost };

/* ---- Connections that are not used ---- */

/* When a free connection is to be closed; INT64_MAX: never. */
static int64_t end_of(const struct pool *p, const struct slot *slot)
{
    int64_t end = p->idle_ms > 0 ? slot->used_ms + p->idle_ms : INT64_MAX;

    return p->life_ms > 0 ? SV_MIN(end, slot->opened_ms + p->life_ms) : end;
}

static void arm_idle(struct pool *p)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].state != CLOSED)
            first = SV_MIN(first, SV_MAX(end_of(p, &p->slots[i]), sv_now_ms() + 1000));
    if (first == INT64_MAX)
        return;
    (void)sd_event_source_set_time(p->idle, (uint64_t)first * 1000); /* it exists, ignoring */
    (void)sd_event_source_set_enabled(p->idle, SD_EVENT_ONESHOT);
}

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct pool *p = userdata;

    (void)source;
    (void)usec;
    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].state == FREE && end_of(p, &p->slots[i]) <= sv_now_ms()) {
            fed_connection_close(p->slots[i].connection);
            p->slots[i].state = CLOSED;
        }
    arm_idle(p);
    return 0;
}

/* ---- The back end ---- */

static void begin(struct fed_store *s, struct fed_call *c)
{
    struct pool *p = fed_store_backend(s);

    DL_APPEND2(p->waiting, c, wait_prev, wait_next);
    dispatch(p);
}

static void forget(struct fed_store *s, struct fed_call *c)
{
    struct pool *p = fed_store_backend(s);
    struct slot *slot = c->run;

    if (!slot) {
        DL_DELETE2(p->waiting, c, wait_prev, wait_next);
        return;
    }
    fed_connection_close(slot->connection);
    slot->state = CLOSED;
    c->run = NULL;
    dispatch(p);
}

static void pool_free(void *backend)
{
    struct pool *p = backend;

    for (size_t i = 0; i < p->n_slots; i++)
        fed_connection_free(p->slots[i].connection);
    free(p->slots);
    sd_event_source_disable_unref(p->idle);
    explicit_bzero(&p->account, sizeof(p->account));
    free(p);
}

static const struct fed_backend functions = { begin, forget, pool_free };

static int fill(struct pool *p, sd_event *event, const struct fed_mysql *lib, unsigned connections)
{
    int r = sd_event_add_time(event, &p->idle, CLOCK_BOOTTIME, 0, 1000000, on_idle, p);

    if (r >= 0)
        r = sd_event_source_set_enabled(p->idle, SD_EVENT_OFF);
    p->slots = calloc(connections, sizeof(*p->slots));
    if (r >= 0 && !p->slots)
        r = -ENOMEM;
    for (; r >= 0 && p->n_slots < connections; p->n_slots++) {
        struct slot *slot = &p->slots[p->n_slots];

        slot->pool = p;
        r = fed_connection_new(event, lib, &p->account, &events, slot, &slot->connection);
    }
    return r;
}

int fed_store_open_mysql(sd_event *event, const struct fed_mysql_options *o, struct fed_store **ret,
                         struct sv_error *err)
{
    const struct fed_mysql *lib;
    struct pool *p;
    int r = fed_mysql_load(&lib, err);

    if (r < 0)
        return r;
    p = calloc(1, sizeof(*p));
    if (!p)
        return sv_error_set(err, -ENOMEM, "federation store %s: out of memory", o->url->text);
    fed_account_set(&p->account, o);
    p->idle_ms = o->idle_ms;
    p->life_ms = o->life_ms;
    r = fill(p, event, lib, o->connections);
    if (r < 0) {
        pool_free(p);
        return sv_error_errno(err, r, "federation store %s", o->url->text);
    }
    r = fed_store_new(event, &functions, p, o->url->text, ret);
    return r < 0 ? sv_error_errno(err, r, "federation store %s", o->url->text) : 0;
}
