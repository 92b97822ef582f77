/* See store-cases.h. */
#include "tests/lib/store-cases.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/str.h"

static struct sv_buf answer_text;
static char reason[2048];
static int64_t first_time;
static bool answered;

/* ---- An answer as text ---- */

static void add(const char *fmt, ...) _printf_(1, 2);
static void add(const char *fmt, ...)
{
    char line[40000];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    assert_int_equal(sv_buf_put_str(&answer_text, line), 0);
}

static void add_bytes(const uint8_t *p, size_t n)
{
    add(p ? " " : " none");
    for (size_t i = 0; p && i < n; i++)
        add("%02x", p[i]);
}

static void add_record(const struct fed_answer *a, enum fed_op op, size_t i)
{
    char app[YARN_ID_TEXT_MAX];

    if (op <= FED_MEMBER_LIST) {
        const struct fed_member *m = &a->members[i];

        add("%s %s %s %s %s %s %" PRId64 " %s\n", m->id, m->am, m->client, m->admin, m->web,
            fed_state_name(m->state), m->last_start_ms, m->capability);
        first_time = i == 0 ? m->last_heartbeat_ms : first_time;
    } else if (op <= FED_HOME_DELETE) {
        add("%s %s", yarn_app_id_text(a->homes[i].app, app), a->homes[i].home);
        add_bytes(a->homes[i].context, a->homes[i].context_len);
        add("\n");
        first_time = i == 0 ? a->homes[i].created_ms : first_time;
    } else if (op <= FED_RESERVATION_DELETE)
        add("%s %s\n", a->reservations[i].id, a->reservations[i].home);
    else if (op <= FED_POLICY_DELETE) {
        add("%s %s", a->policies[i].queue, a->policies[i].type);
        add_bytes(a->policies[i].params, a->policies[i].params_len);
        add("\n");
    } else if (op <= FED_KEY_DELETE) {
        add("%d %" PRId64, a->keys[i].id, a->keys[i].expiry_ms);
        add_bytes(a->keys[i].bytes, a->keys[i].len);
        add("\n");
    } else if (op <= FED_TOKEN_DELETE) {
        add("%d %s %" PRId64, a->tokens[i].sequence, a->tokens[i].info, a->tokens[i].renew_ms);
        add_bytes(a->tokens[i].identifier, a->tokens[i].identifier_len);
        add("\n");
    } else if (op <= FED_SEQUENCE_SET)
        add("%d\n", a->sequences[i].value);
    else
        add("%d.%d\n", a->versions[i].major, a->versions[i].minor);
}

static void on_answer(const struct fed_answer *a, void *userdata)
{
    const struct fed_request *q = userdata;

    answered = true;
    assert_non_null(a->reason);
    snprintf(reason, sizeof(reason), "%s", a->reason);
    if (a->error < 0) {
        assert_true(a->n == 0 && a->reason[0]);
        add("%s", strerrorname_np(-a->error));
    }
    for (size_t i = 0; i < a->n; i++)
        add_record(a, q->op, i);
    if (a->n_broken > 0)
        add("%zu broken\n", a->n_broken);
}

const char *store_do(sd_event *event, struct fed_store *s, const struct fed_request *q)
{
    sv_buf_free(&answer_text);
    answered = false;
    assert_int_equal(fed_store_call(s, q, on_answer, (void *)(uintptr_t)q, NULL), 0);
    assert_false(answered); /* from the loop alone */
    while (!answered)
        assert_true(sd_event_run(event, 60000000) > 0);
    assert_int_equal(sv_buf_put_u8(&answer_text, 0), 0);
    return (const char *)answer_text.data;
}

const char *store_reason(void)
{
    return reason;
}

int64_t store_time(void)
{
    return first_time;
}

#define DO(...) store_do(event, s, &(struct fed_request){ __VA_ARGS__ })
#define GIVES(text, ...) assert_string_equal(DO(__VA_ARGS__), text)

/* ---- Cases ---- */

#define CAPABILITY "{\"clusterMetrics\":{\"availableMB\":1024,\"text\":\"\xc3\xa4\\n\"}}"

void store_case_members(sd_event *event, struct fed_store *s)
{
    struct fed_member a = { "SC-1",
                            "10.0.0.1:8030",
                            "rm.example.org:8032",
                            "10.0.0.1:8033",
                            "[fe80::1]:8088",
                            FED_NEW,
                            5,
                            1700000000000,
                            NULL };
    struct fed_member b = a;
    int64_t registered;

#define REST "10.0.0.1:8030 rm.example.org:8032 10.0.0.1:8033 [fe80::1]:8088"
    GIVES("1.1\n", .op = FED_VERSION_CHECK);
    GIVES("1.1\n", .op = FED_VERSION_CHECK);
    GIVES("", .op = FED_MEMBER_LIST);
    GIVES("ENOENT", .op = FED_MEMBER_GET, .member = { .id = "SC-1" });
    assert_non_null(strstr(store_reason(), "get member SC-1: it does not exist"));
    GIVES("ENOENT", .op = FED_MEMBER_HEARTBEAT,
          .member = { .id = "SC-1", .state = FED_RUNNING, .capability = "{}" });
    GIVES("ENOENT", .op = FED_MEMBER_DEREGISTER, .member = { .id = "SC-1", .state = FED_LOST });
    GIVES("SC-1 " REST " SC_NEW 1700000000000 \n", .op = FED_MEMBER_REGISTER, .member = a);
    registered = store_time();
    assert_true(registered > 1600000000000);
    /* The start is unique: another member's is later by 1 ms. */
    b.id = "SC-2";
    GIVES("SC-2 " REST " SC_NEW 1700000000001 \n", .op = FED_MEMBER_REGISTER, .member = b);
    b.id = "SC-3";
    GIVES("SC-3 " REST " SC_NEW 1700000000002 \n", .op = FED_MEMBER_REGISTER, .member = b);
    /* One that is registered keeps its start. */
    b.id = "SC-2";
    b.last_start_ms = 1700000000001;
    GIVES("SC-2 " REST " SC_NEW 1700000000001 \n", .op = FED_MEMBER_REGISTER, .member = b);
    GIVES("", .op = FED_MEMBER_HEARTBEAT,
          .member = { .id = "SC-1", .state = FED_RUNNING, .capability = CAPABILITY });
    /* Twice in a second: the row is found, though it does not change. */
    GIVES("", .op = FED_MEMBER_HEARTBEAT,
          .member = { .id = "SC-1", .state = FED_RUNNING, .capability = CAPABILITY });
    GIVES("SC-1 " REST " SC_RUNNING 1700000000000 " CAPABILITY "\n", .op = FED_MEMBER_GET,
          .member = { .id = "SC-1" });
    assert_true(store_time() >= registered);
    GIVES("", .op = FED_MEMBER_DEREGISTER, .member = { .id = "SC-2", .state = FED_LOST });
    GIVES("", .op = FED_MEMBER_DEREGISTER, .member = { .id = "SC-2", .state = FED_LOST });
    GIVES("SC-1 " REST " SC_RUNNING 1700000000000 " CAPABILITY "\n"
          "SC-2 " REST " SC_LOST 1700000000001 \n"
          "SC-3 " REST " SC_NEW 1700000000002 \n",
          .op = FED_MEMBER_LIST);
    /* Names that differ in case are two. */
    GIVES("ENOENT", .op = FED_MEMBER_GET, .member = { .id = "sc-1" });
    a.capability = "{}";
    a.state = FED_RUNNING;
    GIVES("SC-1 " REST " SC_RUNNING 1700000000000 {}\n", .op = FED_MEMBER_REGISTER, .member = a);
#undef REST
}

static const uint8_t context[] = { 0x12, 0x03, 'a', 'p', 'p' }; /* application_name */

void store_case_homes(sd_event *event, struct fed_store *s)
{
    struct yarn_app_id app = { 1700000000000, 1 }, other = { 1700000000000, 12345 };
    struct fed_home h = { .app = app, .home = "SC-1", .context = context, .context_len = 5 };
    struct fed_home plain = { .app = other, .home = "SC-2" };

#define APP "application_1700000000000_0001"
#define OTHER "application_1700000000000_12345"
    GIVES("ENOENT", .op = FED_HOME_GET, .home = { .app = app });
    GIVES("ENOENT", .op = FED_HOME_UPDATE, .home = h);
    GIVES("ENOENT", .op = FED_HOME_DELETE, .home = { .app = app });
    GIVES(APP " SC-1 none\n", .op = FED_HOME_ADD, .home = h);
    assert_true(store_time() > 1600000000000);
    GIVES(APP " SC-1 none\n", .op = FED_HOME_ADD, .home = h);
    h.home = "SC-9"; /* the first writer has won */
    GIVES(APP " SC-1 none\n", .op = FED_HOME_ADD, .home = h);
    GIVES(APP " SC-1 1203617070\n", .op = FED_HOME_GET, .home = { .app = app });
    GIVES(OTHER " SC-2 none\n", .op = FED_HOME_ADD, .home = plain);
    GIVES(OTHER " SC-2 none\n", .op = FED_HOME_GET, .home = { .app = other });
    GIVES(OTHER " SC-2 none\n", .op = FED_HOME_LIST, .home = { .home = "SC-2" });
    GIVES("", .op = FED_HOME_LIST, .home = { .home = "SC-9" });
    GIVES("", .op = FED_HOME_UPDATE, .home = h);
    GIVES("", .op = FED_HOME_UPDATE, .home = h); /* found, though not changed */
    h.context = NULL;
    GIVES(APP " SC-9 1203617070\n", .op = FED_HOME_GET, .home = { .app = app });
    GIVES("", .op = FED_HOME_UPDATE, .home = h);
    GIVES(APP " SC-9 none\n", .op = FED_HOME_GET, .home = { .app = app });
    assert_int_equal(strlen(DO(.op = FED_HOME_LIST)),
                     strlen(APP OTHER) + 2 * strlen(" SC-1 none\n"));
    assert_int_equal(strlen(DO(.op = FED_HOME_LIST, .limit = 1)) > 0, 1);
    assert_null(strstr(strchr(DO(.op = FED_HOME_LIST, .limit = 1), '\n'), "SC-"));
    GIVES("", .op = FED_HOME_DELETE, .home = { .app = app });
    GIVES("ENOENT", .op = FED_HOME_DELETE, .home = { .app = app });
    GIVES(OTHER " SC-2 none\n", .op = FED_HOME_LIST);
    assert_non_null(strstr(DO(.op = FED_HOME_GET, .home = { .app = app }), "ENOENT"));
    assert_non_null(strstr(store_reason(), "get home of " APP ": it does not exist"));
#undef APP
#undef OTHER
}

void store_case_reservations(sd_event *event, struct fed_store *s)
{
#define ID "reservation_1700000000000_0001"
    GIVES("ENOENT", .op = FED_RESERVATION_GET, .reservation = { ID });
    GIVES("ENOENT", .op = FED_RESERVATION_UPDATE, .reservation = { ID, "SC-1" });
    GIVES(ID " SC-1\n", .op = FED_RESERVATION_ADD, .reservation = { ID, "SC-1" });
    GIVES(ID " SC-1\n", .op = FED_RESERVATION_ADD, .reservation = { ID, "SC-2" });
    GIVES(ID " SC-1\n", .op = FED_RESERVATION_GET, .reservation = { ID });
    GIVES("", .op = FED_RESERVATION_UPDATE, .reservation = { ID, "SC-3" });
    GIVES("reservation_1_2 SC-1\n", .op = FED_RESERVATION_ADD,
          .reservation = { "reservation_1_2", "SC-1" });
    GIVES(ID " SC-3\nreservation_1_2 SC-1\n", .op = FED_RESERVATION_LIST);
    GIVES(ID " SC-3\n", .op = FED_RESERVATION_LIST, .limit = 1);
    GIVES("", .op = FED_RESERVATION_DELETE, .reservation = { ID });
    GIVES("ENOENT", .op = FED_RESERVATION_DELETE, .reservation = { ID });
#undef ID
}

void store_case_policies(sd_event *event, struct fed_store *s)
{
    static const uint8_t params[] = { '{', 0x00, 0xff, '}' }; /* bytes, not text */
    static uint8_t large[FED_PARAMS_MAX];
    const char *got;

    GIVES("ENOENT", .op = FED_POLICY_GET, .policy = { .queue = "*" });
    GIVES("", .op = FED_POLICY_SET, .policy = { "*", "org.Some", params, sizeof(params) });
    GIVES("* org.Some 7b00ff7d\n", .op = FED_POLICY_GET, .policy = { .queue = "*" });
    GIVES("", .op = FED_POLICY_SET, .policy = { .queue = "root.\xc3\xa4", .type = "org.Other" });
    GIVES("", .op = FED_POLICY_SET, .policy = { .queue = "*", .type = "org.New" });
    GIVES("* org.New none\nroot.\xc3\xa4 org.Other none\n", .op = FED_POLICY_LIST);
    memset(large, 'x', sizeof(large));
    GIVES("", .op = FED_POLICY_SET, .policy = { "large", "org.Some", large, sizeof(large) });
    got = DO(.op = FED_POLICY_GET, .policy = { .queue = "large" });
    assert_int_equal(strlen(got), strlen("large org.Some \n") + 2 * sizeof(large));
    GIVES("", .op = FED_POLICY_DELETE, .policy = { .queue = "*" });
    GIVES("ENOENT", .op = FED_POLICY_DELETE, .policy = { .queue = "*" });
}

void store_case_router(sd_event *event, struct fed_store *s)
{
#define ROW "  1700000000001 0a026162\n"
    static const uint8_t key[] = { 1, 0, 0xfb, 0xff };
    static const uint8_t identifier[] = { 0x0a, 0x02, 0x61, 0x62 };
    struct fed_token t = { 7, identifier, sizeof(identifier), "a b", 1700000000000 };
    int now, next;

    GIVES("ENOENT", .op = FED_KEY_GET, .key = { .id = 3 });
    GIVES("", .op = FED_KEY_ADD, .key = { 3, 1700000000000, key, sizeof(key) });
    GIVES("EEXIST", .op = FED_KEY_ADD, .key = { 3, 1700000000000, key, sizeof(key) });
    GIVES("3 1700000000000 0100fbff\n", .op = FED_KEY_GET, .key = { .id = 3 });
    GIVES("", .op = FED_KEY_DELETE, .key = { .id = 3 });
    GIVES("ENOENT", .op = FED_KEY_DELETE, .key = { .id = 3 });
    GIVES("ENOENT", .op = FED_TOKEN_UPDATE, .token = t);
    GIVES("", .op = FED_TOKEN_ADD, .token = t);
    GIVES("EEXIST", .op = FED_TOKEN_ADD, .token = t);
    t.renew_ms++;
    t.info = "";
    GIVES("", .op = FED_TOKEN_UPDATE, .token = t);
    GIVES("7" ROW, .op = FED_TOKEN_GET, .token = { .sequence = 7 });
    t.sequence = 10;
    GIVES("", .op = FED_TOKEN_ADD, .token = t);
    t.sequence = 9;
    GIVES("", .op = FED_TOKEN_ADD, .token = t);
    GIVES("10" ROW "9" ROW "7" ROW, .op = FED_TOKEN_LIST, .token = { .sequence = INT32_MAX });
    GIVES("9" ROW "7" ROW, .op = FED_TOKEN_LIST, .token = { .sequence = 9 });
    GIVES("9" ROW, .op = FED_TOKEN_LIST, .token = { .sequence = 9 }, .limit = 1);
    GIVES("", .op = FED_TOKEN_LIST, .token = { .sequence = 6 });
    GIVES("", .op = FED_TOKEN_DELETE, .token = { .sequence = 10 });
    GIVES("", .op = FED_TOKEN_DELETE, .token = { .sequence = 9 });
    GIVES("", .op = FED_TOKEN_DELETE, .token = { .sequence = 7 });
    GIVES("ENOENT", .op = FED_TOKEN_GET, .token = { .sequence = 7 });
#undef ROW
    assert_int_equal(
        sscanf(DO(.op = FED_SEQUENCE_GET, .sequence = { FED_TOKEN_SEQUENCE }), "%d", &now), 1);
    assert_true(now >= 1);
    assert_int_equal(
        sscanf(DO(.op = FED_SEQUENCE_NEXT, .sequence = { FED_TOKEN_SEQUENCE }), "%d", &next), 1);
    assert_int_equal(next, now + 1);
    GIVES("", .op = FED_SEQUENCE_SET, .sequence = { FED_KEY_SEQUENCE, 100 });
    GIVES("101\n", .op = FED_SEQUENCE_NEXT, .sequence = { FED_KEY_SEQUENCE });
    GIVES("101\n", .op = FED_SEQUENCE_GET, .sequence = { FED_KEY_SEQUENCE });
}

/* ---- Refusals ---- */

static void refused(sd_event *event, struct fed_store *s, const struct fed_request *q,
                    const char *says)
{
    assert_string_equal(store_do(event, s, q), "EINVAL");
    if (!strstr(store_reason(), says))
        fail_msg("\"%s\" does not say \"%s\"", store_reason(), says);
}

#define REFUSED(says, ...) refused(event, s, &(struct fed_request){ __VA_ARGS__ }, says)

static void refused_members(sd_event *event, struct fed_store *s)
{
    static char wide[FED_CAPABILITY_MAX + 2];
    static const char *const addresses[] = { "",          "host",   ":1",         "host:65536",
                                             "host:x",    "a:b:1",  "http://h:1", "h:1/path",
                                             "[::1:8030", "a\nb:1", "u@h:1",      "h:-1" };
    struct fed_member m = { "SC-1", "a:1", "a:1", "a:1", "a:1", FED_NEW, 0, 1, "" };

    for (size_t i = 0; i < SV_ARRAY_LEN(addresses); i++) {
        m.web = addresses[i];
        REFUSED("the web address must be", .op = FED_MEMBER_REGISTER, .member = m);
    }
    m.web = "a:1";
    m.id = "";
    REFUSED("its id is missing", .op = FED_MEMBER_REGISTER, .member = m);
    m.id = "\xff";
    REFUSED("its id must be UTF-8", .op = FED_MEMBER_REGISTER, .member = m);
    memset(wide, 'x', FED_NAME_MAX + 1);
    REFUSED("its id is too long", .op = FED_MEMBER_GET, .member = { .id = wide });
    m.id = "SC-1";
    m.last_start_ms = -1;
    REFUSED("its start is a time before 1970", .op = FED_MEMBER_REGISTER, .member = m);
    m.last_start_ms = 0;
    m.state = 0;
    REFUSED("the state is none", .op = FED_MEMBER_REGISTER, .member = m);
    REFUSED("must be a final one", .op = FED_MEMBER_DEREGISTER,
            .member = { .id = "SC-1", .state = FED_RUNNING });
    REFUSED("the capability is missing", .op = FED_MEMBER_HEARTBEAT,
            .member = { .id = "SC-1", .state = FED_RUNNING, .capability = "" });
    memset(wide, 'x', sizeof(wide) - 1);
    REFUSED("the capability is too long", .op = FED_MEMBER_HEARTBEAT,
            .member = { .id = "SC-1", .state = FED_RUNNING, .capability = wide });
}

void store_case_refusals(sd_event *event, struct fed_store *s)
{
    static uint8_t large[FED_CONTEXT_MAX + 1];

    refused_members(event, s);
    REFUSED("the application is none", .op = FED_HOME_GET);
    REFUSED("its home is missing", .op = FED_HOME_ADD, .home = { .app = { 1, 1 } });
    REFUSED("its submission context is too long", .op = FED_HOME_ADD,
            .home = { { 1, 1 }, "SC-1", 0, large, sizeof(large) });
    REFUSED("the reservation is none", .op = FED_RESERVATION_GET, .reservation = { "job_1_2" });
    REFUSED("the reservation is none", .op = FED_RESERVATION_GET,
            .reservation = { "reservation_1_2x" });
    REFUSED("the queue is missing", .op = FED_POLICY_GET);
    REFUSED("its class is missing", .op = FED_POLICY_SET, .policy = { .queue = "*" });
    REFUSED("its parameter is too long", .op = FED_POLICY_SET,
            .policy = { "*", "org.Some", large, FED_PARAMS_MAX + 1 });
    REFUSED("its secret is missing", .op = FED_KEY_ADD, .key = { .id = 1 });
    REFUSED("its secret is too long", .op = FED_KEY_ADD, .key = { 1, 1, large, FED_KEY_MAX + 1 });
    REFUSED("its identifier is missing", .op = FED_TOKEN_ADD, .token = { .sequence = 1 });
    REFUSED("its value must be above 0", .op = FED_SEQUENCE_SET);
    REFUSED("the counter is none", .op = FED_SEQUENCE_GET, .sequence = { FED_COUNTERS });
    assert_int_equal(
        fed_store_call(s, &(struct fed_request){ .op = FED_OPS }, on_answer, NULL, NULL), -EINVAL);
}

/* ---- Random histories ---- */

static unsigned random_below(unsigned n)
{
    return (unsigned)random() % n;
}

/* Few keys, so that operations meet. */
struct fed_request store_random_request(void)
{
    static const char *const ids[] = { "SC-1", "SC-2", "SC-3" };
    static const char *const queues[] = { "*", "root.a", "root.b" };
    static const char *const reservations[] = { "reservation_1_1", "reservation_1_2" };
    static const uint8_t bytes[] = { 0x12, 0x01, 'x' };
    struct fed_request q = { .op = (enum fed_op)random_below(FED_VERSION_CHECK + 1) };

    if (q.op <= FED_MEMBER_LIST)
        q.member =
            (struct fed_member){ ids[random_below(3)],      "a:1", "a:2",           "a:3", "a:4",
                                 FED_NEW + random_below(7), 0,     random_below(3), "{}" };
    else if (q.op <= FED_HOME_DELETE)
        q.home = (struct fed_home){ { 1, 1 + (int32_t)random_below(3) },
                                    ids[random_below(3)],
                                    0,
                                    random_below(2) ? bytes : NULL,
                                    sizeof(bytes) };
    else if (q.op <= FED_RESERVATION_DELETE)
        q.reservation =
            (struct fed_reservation){ reservations[random_below(2)], ids[random_below(3)] };
    else if (q.op <= FED_POLICY_DELETE)
        q.policy =
            (struct fed_policy){ queues[random_below(3)], random_below(2) ? "org.A" : "org.B",
                                 random_below(2) ? bytes : NULL, sizeof(bytes) };
    else if (q.op <= FED_KEY_DELETE)
        q.key = (struct fed_key){ (int32_t)random_below(3), 1, bytes, sizeof(bytes) };
    else if (q.op <= FED_TOKEN_DELETE)
        q.token = (struct fed_token){ (int32_t)random_below(3), bytes, sizeof(bytes), "t", 1 };
    else if (q.op <= FED_SEQUENCE_SET)
        q.sequence = (struct fed_sequence){ random_below(2), 1 + (int32_t)random_below(1000) };
    return q;
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Homes of one second are listed in any order. */
static char *sorted(const char *text)
{
    char **lines, *all = strdup("");

    assert_int_equal(sv_strv_split(text, '\n', &lines), 0);
    qsort(lines, sv_strv_len(lines), sizeof(*lines), by_line);
    for (size_t i = 0; lines[i]; i++) {
        char *more;

        assert_int_equal(sv_asprintf(&more, "%s%s\n", all, lines[i]), 0);
        free(all);
        all = more;
    }
    sv_strv_free(lines);
    return all;
}

void store_case_random(sd_event *event, struct fed_store *s, struct fed_store *model,
                       unsigned steps, unsigned seed)
{
    srandom(seed);
    for (unsigned i = 0; i < FED_COUNTERS; i++) {
        struct fed_request q = { .op = FED_SEQUENCE_SET, .sequence = { i, 5 } };

        assert_string_equal(store_do(event, s, &q), "");
        assert_string_equal(store_do(event, model, &q), "");
    }
    for (unsigned i = 0; i < steps; i++) {
        struct fed_request q = store_random_request();
        char *expected = sorted(store_do(event, model, &q));
        char *got = sorted(store_do(event, s, &q));

        if (strcmp(expected, got) != 0)
            fail_msg("step %u of seed %u, %s: \"%s\", not \"%s\" (%s)", i, seed, fed_op_name(q.op),
                     got, expected, store_reason());
        free(expected);
        free(got);
    }
}

static bool is_away(const char *answer)
{
    return !strcmp(answer, "EHOSTDOWN") || !strcmp(answer, "ECONNRESET");
}

/* An operation that has been executed without an answer says so when it is repeated. */
static bool is_repetition(enum fed_op op, const char *answer)
{
    if (op == FED_KEY_ADD || op == FED_TOKEN_ADD)
        return !strcmp(answer, "EEXIST\n");
    return (op == FED_HOME_DELETE || op == FED_RESERVATION_DELETE || op == FED_POLICY_DELETE ||
            op == FED_KEY_DELETE || op == FED_TOKEN_DELETE) &&
           !strcmp(answer, "ENOENT\n");
}

void store_case_cut(sd_event *event, struct fed_store *s, struct fed_store *model, unsigned steps,
                    unsigned seed)
{
    srandom(seed);
    for (unsigned i = 0; i < steps; i++) {
        struct fed_request q = store_random_request();
        char *expected, *got;
        unsigned tries = 0;

        if (q.op >= FED_SEQUENCE_GET && q.op <= FED_SEQUENCE_SET)
            continue; /* a number may be lost */
        expected = sorted(store_do(event, model, &q));
        while (is_away(store_do(event, s, &q)))
            if (++tries > 100)
                fail_msg("%s: %s", fed_op_name(q.op), store_reason());
        got = sorted((const char *)answer_text.data);
        if (strcmp(expected, got) != 0 && !(tries > 0 && is_repetition(q.op, got)))
            fail_msg("step %u, %s: \"%s\", not \"%s\" (%s)", i, fed_op_name(q.op), got, expected,
                     store_reason());
        free(expected);
        free(got);
    }
}

void store_ignore(const struct fed_answer *a, void *userdata)
{
    (void)a;
    (void)userdata;
}
