/* The store in memory, of one process: for tests, and the model that the other back ends are
 * compared with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "common/clock.h"
#include "federation/store/store-backend.h"

#define ROW_MAX (1u << 20) /* bytes */

union record {
    struct fed_member member;
    struct fed_home home;
    struct fed_reservation reservation;
    struct fed_policy policy;
    struct fed_key key;
    struct fed_token token;
};

struct row {
    char *key; /* in the arena */
    union record record;
    struct sv_arena *arena;
    UT_hash_handle hh;
};

struct memory {
    struct row *rows[FED_KINDS];
    int32_t counters[FED_COUNTERS];
};

static struct row *row_free(struct row *row)
{
    if (row)
        sv_arena_wipe(row->arena);
    free(row);
    return NULL;
}

static void drop(struct memory *m, enum fed_kind kind, struct row *row)
{
    HASH_DEL(m->rows[kind], row);
    row_free(row);
}

/* ---- Rows ---- */

/* The key of the request's row, as text. */
static char *key_of(struct sv_arena *a, const struct fed_request *q)
{
    char text[YARN_ID_TEXT_MAX];

    switch (fed_operations[q->op].kind) {
    case FED_MEMBER:
        return sv_arena_strdup(a, q->member.id);
    case FED_HOME:
        return sv_arena_strdup(a, yarn_app_id_text(q->home.app, text));
    case FED_RESERVATION:
        return sv_arena_strdup(a, q->reservation.id);
    case FED_POLICY:
        return sv_arena_strdup(a, q->policy.queue);
    case FED_KEY:
        return sv_arena_printf(a, "%d", q->key.id);
    default:
        return sv_arena_printf(a, "%d", q->token.sequence);
    }
}

static struct row *find(struct memory *m, struct fed_call *c)
{
    char *key = key_of(c->arena, &c->request);
    struct row *row = NULL;

    if (key)
        HASH_FIND_STR(m->rows[fed_operations[c->request.op].kind], key, row);
    return row;
}

/* A row of the request's record, in place of one of the same key. NULL without memory. */
static struct row *put(struct memory *m, struct fed_call *c)
{
    const struct fed_operation *op = &fed_operations[c->request.op];
    struct row *row = calloc(1, sizeof(*row)), *old = find(m, c);
    int r = -ENOMEM;

    if (row)
        row->arena = sv_arena_new(ROW_MAX);
    if (row && row->arena)
        row->key = key_of(row->arena, &c->request);
    if (row && row->key)
        r = fed_record_take(row->arena, op->kind, op->fields, &c->request.member, &row->record,
                            NULL);
    if (r < 0)
        return row_free(row);
    if (old)
        drop(m, op->kind, old);
    HASH_ADD_KEYPTR(hh, m->rows[op->kind], row->key, strlen(row->key), row);
    return row;
}

/* ---- Operations ---- */

static void finish(struct fed_call *c, bool done)
{
    if (done)
        fed_call_done(c);
    else
        fed_call_fail(c, -ENOMEM, "out of memory");
}

static bool start_taken(struct memory *m, const struct fed_member *by)
{
    struct row *row, *next;

    HASH_ITER (hh, m->rows[FED_MEMBER], row, next)
        if (row->record.member.last_start_ms == by->last_start_ms &&
            strcmp(row->record.member.id, by->id) != 0)
            return true;
    return false;
}

static void member_register(struct memory *m, struct fed_call *c)
{
    struct row *row;

    while (start_taken(m, &c->request.member))
        c->request.member.last_start_ms++;
    row = put(m, c);
    if (row) {
        row->record.member.last_heartbeat_ms = sv_wall_ms();
        (void)fed_call_add(c, &row->record); /* fed_call_done() says so, ignoring */
    }
    finish(c, row);
}

/* A text of a row that changes often: the row is made anew. */
static void member_change(struct memory *m, struct fed_call *c)
{
    struct row *row = find(m, c);
    struct fed_member changed;
    bool heartbeat = c->request.op == FED_MEMBER_HEARTBEAT;

    if (!row) {
        fed_call_fail(c, -ENOENT, "it does not exist");
        return;
    }
    changed = row->record.member;
    changed.state = c->request.member.state;
    if (heartbeat) {
        changed.capability = c->request.member.capability;
        changed.last_heartbeat_ms = sv_wall_ms();
    }
    c->request.op = FED_MEMBER_REGISTER; /* whose fields the row has */
    c->request.member = changed;
    row = put(m, c);
    c->request.op = heartbeat ? FED_MEMBER_HEARTBEAT : FED_MEMBER_DEREGISTER;
    if (row)
        row->record.member.last_heartbeat_ms = changed.last_heartbeat_ms;
    finish(c, row);
}

/* The first writer wins. */
static void add_home(struct memory *m, struct fed_call *c)
{
    struct row *row = find(m, c);

    if (!row) {
        row = put(m, c);
        if (row && fed_operations[c->request.op].kind == FED_HOME)
            row->record.home.created_ms = sv_wall_ms();
    }
    if (row) {
        union record record = row->record;

        if (fed_operations[c->request.op].kind == FED_HOME)
            record.home.context = NULL;
        (void)fed_call_add(c, &record); /* fed_call_done() says so, ignoring */
    }
    finish(c, row);
}

static void add_new(struct memory *m, struct fed_call *c)
{
    if (find(m, c))
        fed_call_fail(c, -EEXIST, "it exists");
    else
        finish(c, put(m, c));
}

static void set(struct memory *m, struct fed_call *c)
{
    finish(c, put(m, c));
}

static void update(struct memory *m, struct fed_call *c)
{
    struct row *row = find(m, c);
    int64_t created_ms = row ? row->record.home.created_ms : 0;

    if (!row) {
        fed_call_fail(c, -ENOENT, "it does not exist");
        return;
    }
    row = put(m, c);
    if (row && fed_operations[c->request.op].kind == FED_HOME)
        row->record.home.created_ms = created_ms;
    finish(c, row);
}

static void get(struct memory *m, struct fed_call *c)
{
    struct row *row = find(m, c);

    if (row)
        (void)fed_call_add(c, &row->record); /* fed_call_done() says so, ignoring */
    fed_call_done(c);
}

static void remove_row(struct memory *m, struct fed_call *c)
{
    struct row *row = find(m, c);

    if (!row) {
        fed_call_fail(c, -ENOENT, "it does not exist");
        return;
    }
    drop(m, fed_operations[c->request.op].kind, row);
    fed_call_done(c);
}

static int by_key(const struct row *a, const struct row *b)
{
    return strcmp(a->key, b->key);
}

/* The latest first; of one time, by application. */
static int by_creation(const struct row *a, const struct row *b)
{
    const struct fed_home *x = &a->record.home, *y = &b->record.home;

    if (x->created_ms != y->created_ms)
        return x->created_ms < y->created_ms ? 1 : -1;
    return strcmp(a->key, b->key);
}

/* The highest first. */
static int by_sequence(const struct row *a, const struct row *b)
{
    const int32_t x = a->record.token.sequence, y = b->record.token.sequence;

    return (x < y) - (x > y);
}

static void list(struct memory *m, struct fed_call *c)
{
    enum fed_kind kind = fed_operations[c->request.op].kind;
    const char *home = kind == FED_HOME ? c->request.home.home : NULL;
    struct row *row, *next;

    if (kind == FED_HOME)
        HASH_SORT(m->rows[kind], by_creation);
    else if (kind == FED_TOKEN)
        HASH_SORT(m->rows[kind], by_sequence);
    else
        HASH_SORT(m->rows[kind], by_key);
    HASH_ITER (hh, m->rows[kind], row, next) {
        union record record = row->record;

        if (home && strcmp(record.home.home, home) != 0)
            continue;
        if (kind == FED_TOKEN && record.token.sequence > c->request.token.sequence)
            continue;
        if (kind == FED_HOME)
            record.home.context = NULL;
        if (!fed_call_add(c, &record))
            break;
    }
    fed_call_done(c);
}

static void count(struct memory *m, struct fed_call *c)
{
    struct fed_sequence *q = &c->request.sequence;
    int32_t *counter = &m->counters[q->counter];

    if (*counter == 0)
        *counter = 1;
    if (c->request.op == FED_SEQUENCE_SET)
        *counter = q->value;
    else if (c->request.op == FED_SEQUENCE_NEXT && *counter == INT32_MAX) {
        fed_call_fail(c, -EREMOTEIO, "it is at its end");
        return;
    } else if (c->request.op == FED_SEQUENCE_NEXT)
        ++*counter;
    if (fed_operations[c->request.op].has_records)
        (void)fed_call_add(c, &(struct fed_sequence){ q->counter, *counter }); /* as above */
    fed_call_done(c);
}

static void version(struct memory *m, struct fed_call *c)
{
    (void)m;
    (void)fed_call_add(c, &(struct fed_version){ 1, 1 }); /* fed_call_done() says so, ignoring */
    fed_call_done(c);
}

static void (*const operations[FED_OPS])(struct memory *m, struct fed_call *c) = {
    [FED_MEMBER_REGISTER] = member_register,
    [FED_MEMBER_DEREGISTER] = member_change,
    [FED_MEMBER_HEARTBEAT] = member_change,
    [FED_MEMBER_GET] = get,
    [FED_MEMBER_LIST] = list,
    [FED_HOME_ADD] = add_home,
    [FED_HOME_UPDATE] = update,
    [FED_HOME_GET] = get,
    [FED_HOME_LIST] = list,
    [FED_HOME_DELETE] = remove_row,
    [FED_RESERVATION_ADD] = add_home,
    [FED_RESERVATION_UPDATE] = update,
    [FED_RESERVATION_GET] = get,
    [FED_RESERVATION_LIST] = list,
    [FED_RESERVATION_DELETE] = remove_row,
    [FED_POLICY_SET] = set,
    [FED_POLICY_GET] = get,
    [FED_POLICY_LIST] = list,
    [FED_POLICY_DELETE] = remove_row,
    [FED_KEY_ADD] = add_new,
    [FED_KEY_GET] = get,
    [FED_KEY_DELETE] = remove_row,
    [FED_TOKEN_ADD] = add_new,
    [FED_TOKEN_UPDATE] = update,
    [FED_TOKEN_GET] = get,
    [FED_TOKEN_LIST] = list,
    [FED_TOKEN_DELETE] = remove_row,
    [FED_SEQUENCE_GET] = count,
    [FED_SEQUENCE_NEXT] = count,
    [FED_SEQUENCE_SET] = count,
    [FED_VERSION_CHECK] = version,
    [FED_VERSION_GET] = version,
};

static void begin(struct fed_store *s, struct fed_call *c)
{
    operations[c->request.op](fed_store_backend(s), c);
}

static void forget(struct fed_store *s, struct fed_call *c)
{
    (void)s;
    (void)c;
}

static void memory_free(void *backend)
{
    struct memory *m = backend;
    struct row *row, *next;

    for (size_t i = 0; i < FED_KINDS; i++)
        HASH_ITER (hh, m->rows[i], row, next)
            drop(m, (enum fed_kind)i, row);
    free(m);
}

static const struct fed_backend functions = { begin, forget, memory_free };

int fed_store_open_memory(sd_event *event, struct fed_store **ret)
{
    struct memory *m = calloc(1, sizeof(*m));

    return m ? fed_store_new(event, &functions, m, "memory", ret) : -ENOMEM;
}
