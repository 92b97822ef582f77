/* Rows of a federation's database as records: members, homes, reservations, policies, the Router's
 * keys, tokens and counters, the version. The first byte is the operation, then rows of values:
 * type, two bytes of length (a number: eight bytes), bytes. With the first byte's highest bit: its
 * rest is a kind, and the bytes are the value of a node in ZooKeeper. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "federation/store/member-epoch.h"
#include "federation/store/sql.h"
#include "federation/store/token-info.h"
#include "federation/store/zk-values.h"
#include "wire/token/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static struct fed_call *the_call;
static sd_event *event;
static bool answered;

static bool is_line(const char *s, size_t characters)
{
    size_t n = s ? strlen(s) : 0;

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
            return false;
    return n > 0 && n <= characters * 4;
}

/* A text that is read is the same after it is written and read again. */
static void check_info(const char *text)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fed_token_info info, again;

    if (!a || fed_token_info_read(a, text, &info) < 0)
        return;
    MUST(info.password_len > 0 && info.password_len <= YARN_TOKEN_PASSWORD_MAX);
    MUST(info.renew_ms >= 0);
    MUST(fed_token_info_read(a, fed_token_info_write(a, &info), &again) == 0);
    MUST(yarn_bytes_equal(info.password, info.password_len, again.password, again.password_len));
    MUST(info.renew_ms == again.renew_ms);
}

static void check_record(const struct fed_answer *a, enum fed_kind kind, size_t i)
{
    switch (kind) {
    case FED_MEMBER:
        MUST(is_line(a->members[i].id, FED_NAME_MAX) && is_line(a->members[i].web, FED_NAME_MAX));
        MUST(strrchr(a->members[i].am, ':') && a->members[i].last_heartbeat_ms >= 0);
        MUST(a->members[i].state >= FED_NEW && a->members[i].state <= FED_DECOMMISSIONED);
        MUST(strlen(a->members[i].capability) <= FED_CAPABILITY_MAX * 4);
        MUST(fed_member_epoch(a->members[i].capability) >= -1);
        break;
    case FED_HOME:
        MUST(a->homes[i].app.id > 0 && is_line(a->homes[i].home, FED_NAME_MAX));
        MUST(a->homes[i].context_len <= FED_CONTEXT_MAX && a->homes[i].created_ms >= 0);
        break;
    case FED_RESERVATION:
        MUST(!strncmp(a->reservations[i].id, "reservation_", 12));
        MUST(is_line(a->reservations[i].home, FED_NAME_MAX));
        break;
    case FED_POLICY:
        MUST(is_line(a->policies[i].queue, FED_NAME_MAX));
        MUST(is_line(a->policies[i].type, FED_NAME_MAX));
        MUST(a->policies[i].params_len <= FED_PARAMS_MAX);
        break;
    case FED_KEY:
        MUST(a->keys[i].len > 0 && a->keys[i].len <= FED_KEY_MAX && a->keys[i].expiry_ms >= 0);
        break;
    case FED_TOKEN:
        MUST(a->tokens[i].identifier_len > 0 && a->tokens[i].identifier_len <= FED_TOKEN_TEXT_MAX);
        MUST(strlen(a->tokens[i].info) <= FED_TOKEN_INFO_MAX);
        check_info(a->tokens[i].info);
        break;
    case FED_SEQUENCE:
        MUST(a->sequences[i].value > 0);
        break;
    default:
        break;
    }
}

static void on_answer(const struct fed_answer *a, void *userdata)
{
    enum fed_op op = *(enum fed_op *)userdata;

    answered = true;
    MUST(a->error == 0 || a->n == 0);
    MUST((a->reason[0] != 0) == (a->error < 0 || a->n_broken > 0));
    for (size_t i = 0; i < a->n; i++)
        check_record(a, fed_operations[op].kind, i);
}

static void begin(struct fed_store *s, struct fed_call *c)
{
    (void)s;
    the_call = c;
}

static void forget(struct fed_store *s, struct fed_call *c)
{
    (void)s;
    (void)c;
}

static void no_free(void *backend)
{
    (void)backend;
}

static const struct fed_backend functions = { begin, forget, no_free };

/* Takes a value off the input; false: it is used up. */
static bool take_value(const uint8_t **p, size_t *n, char type, struct fed_value *ret)
{
    size_t max = fed_sql_column_max(type), len;

    if (*n < 3)
        return false;
    ret->type = (*p)[0] % 4;
    len = (size_t)(*p)[1] << 8 | (*p)[2];
    *p += 3;
    *n -= 3;
    if (ret->type == FED_NUMBER)
        len = sizeof(ret->number);
    len = len < *n ? len : *n;
    if (ret->type == FED_NUMBER)
        memcpy(&ret->number, *p, len);
    ret->n = len;
    ret->p = len > max ? NULL : len > 0 ? (const void *)*p : "";
    *p += len;
    *n -= len;
    return true;
}

/* The statement whose rows the operation reads. */
static enum fed_sql statement_of(enum fed_op op)
{
    static const enum fed_sql statements[] = {
        SQL_MEMBER_LIST, SQL_HOME_GET,  SQL_RESERVATION_LIST, SQL_POLICY_LIST,
        SQL_KEY_GET,     SQL_TOKEN_GET, SQL_SEQUENCE_GET,     SQL_VERSION_GET,
    };

    return op == FED_HOME_LIST ? SQL_HOME_LIST : statements[fed_operations[op].kind];
}

static void feed(struct fed_sql_run *run, const uint8_t *p, size_t n)
{
    const char *types = fed_sql_columns(run->now);
    struct fed_value values[FED_SQL_VALUES];

    for (int rows = 0; rows < 8; rows++) {
        memset(values, 0, sizeof(values));
        for (size_t i = 0; types[i]; i++)
            if (!take_value(&p, &n, types[i], &values[i]))
                return;
        if (!fed_sql_row(run, values))
            return;
    }
}

/* A value in ZooKeeper becomes a checked record, or is broken; what is written back is read. */
static void read_node(enum fed_kind kind, struct fed_zk_bytes v)
{
    static const char *const names[FED_KINDS] = {
        "SC-1", "application_1_0001", "reservation_1_1", "*", "7", "7", "0", "0",
    };
    const struct fed_request beat = {
        .op = FED_MEMBER_HEARTBEAT,
        .member = { .id = "SC-1", .state = FED_RUNNING, .capability = "{}" }
    };
    struct sv_arena *a = sv_arena_new(8u << 20);
    union fed_zk_record r, taken;
    struct fed_zk_bytes changed;
    const char *rule = NULL;
    int32_t n;

    MUST(a);
    if (kind == FED_SEQUENCE)
        MUST(fed_zk_count_read(v, &n) < 0 || n >= 0);
    else if (fed_zk_value_read(a, kind, names[kind], v, &r, &rule) == 0)
        MUST(fed_record_take(a, kind, fed_record_stored(kind), &r, &taken, NULL) <= 0);
    else
        MUST(rule);
    if (kind == FED_MEMBER && fed_zk_value_change(a, &beat, 1, v, &changed, &rule) == 0 &&
        fed_zk_value_read(a, kind, names[kind], changed, &r, &rule) == 0)
        MUST(r.member.state == FED_RUNNING && !strcmp(r.member.capability, "{}"));
    sv_arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct fed_request requests[] = {
        { .op = FED_MEMBER_LIST },
        { .op = FED_MEMBER_GET, .member = { .id = "SC-1" } },
        { .op = FED_HOME_LIST },
        { .op = FED_HOME_GET, .home = { .app = { 1, 1 } } },
        { .op = FED_RESERVATION_LIST },
        { .op = FED_POLICY_LIST },
        { .op = FED_KEY_GET, .key = { .id = 1 } },
        { .op = FED_TOKEN_GET, .token = { .sequence = 1 } },
        { .op = FED_SEQUENCE_GET },
        { .op = FED_VERSION_CHECK },
        { .op = FED_TOKEN_LIST, .token = { .sequence = 9 } },
    };
    const struct fed_request *q;
    struct fed_sql_run run;
    struct fed_store *s;

    if (size == 0)
        return 0;
    if (data[0] & 0x80) {
        read_node((data[0] & 0x7f) % FED_KINDS, (struct fed_zk_bytes){ data + 1, size - 1 });
        return 0;
    }
    if (!event)
        MUST(sd_event_new(&event) >= 0);
    q = &requests[data[0] % SV_ARRAY_LEN(requests)];
    MUST(fed_store_new(event, &functions, NULL, "fuzz", &s) == 0);
    MUST(fed_store_call(s, q, on_answer, (void *)(uintptr_t)&q->op, NULL) == 0);
    run = (struct fed_sql_run){ .call = the_call, .now = statement_of(q->op) };
    feed(&run, data + 1, size - 1);
    fed_call_done(the_call);
    answered = false;
    while (!answered)
        MUST(sd_event_run(event, UINT64_MAX) > 0);
    fed_store_free(s);
    return 0;
}
