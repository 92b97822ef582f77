/* rm-lite/security/delegation.c and delegation-calls.c: tokens are issued, renewed, cancelled,
 * expire, end with their key and survive a restart; the holder of a token connects as its owner. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <stdlib.h>

#include "rm-lite/security/delegation.h"
#include "wire/ipc/ipc-client.h"

#define T0 1700000000000
#define HOUR 3600000LL
#define DAY (24 * HOUR)

static const char *const few[][2] = {
    { "selvedge.rm.delegation-tokens-per-user", "2" },
    { "yarn.resourcemanager.recovery.enabled", "false" },
    { 0 },
};

static void setup_at(struct fix *f, const char *const (*keys)[2])
{
    sv_clock_set_test(1000000, T0);
    setup_with(f, keys);
}

static void restart_at(struct fix *f, int64_t wall_ms)
{
    stop(f);
    sv_clock_set_test(1000000, wall_ms);
    start(f);
}

static void at(int64_t wall_ms)
{
    sv_clock_set_test(1000000 + wall_ms - T0, wall_ms);
}

static struct yarn_token issue(struct fix *f, struct sv_arena *a, const char *owner,
                               const char *renewer)
{
    const char *class = NULL;
    struct sv_error err = { 0 };
    struct yarn_token t = { 0 };

    if (rm_delegation_issue(f->rm, a, owner, renewer, NULL, &t, &class, &err) < 0)
        fail_msg("%s: %s", class, err.text);
    settle(f);
    return t;
}

static struct yarn_delegation_token decode(const struct yarn_token *t)
{
    struct yarn_delegation_token d;

    assert_int_equal(yarn_delegation_token_decode(t->id, t->id_len, &d, NULL), 0);
    return d;
}

/* True if a connection with the token is accepted; `why`: part of the refusal. */
static bool accepted(struct fix *f, const struct yarn_token *t, const char *why)
{
    uint8_t password[64];
    size_t len = 0;
    char user[256] = "";
    const char *class = NULL;
    struct sv_error err = { 0 };
    int r = rm_delegation_verify(t->id, t->id_len, password, &len, user, &class, &err, f->rm);

    if (r < 0) {
        assert_null(class); /* InvalidToken */
        if (!why || !strstr(err.text, why))
            fail_msg("\"%s\" lacks \"%s\"", err.text, why ? why : "(no reason)");
        return false;
    }
    assert_string_equal(user, decode(t).owner);
    assert_true(yarn_bytes_equal(password, len, t->password, t->password_len));
    return true;
}

static void refused_renewal(struct fix *f, const struct yarn_token *t, const char *user,
                            const char *wanted_class, const char *why)
{
    int64_t ms;
    const char *class = NULL;
    struct sv_error err = { 0 };

    assert_true(rm_delegation_renew(f->rm, t, &(struct yarn_token_caller){ user, user }, &ms,
                                    &class, &err) < 0);
    assert_string_equal(class, wanted_class);
    if (!strstr(err.text, why))
        fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

static int64_t renew(struct fix *f, const struct yarn_token *t, const char *user)
{
    int64_t ms = 0;
    const char *class;
    struct sv_error err = { 0 };

    if (rm_delegation_renew(f->rm, t, &(struct yarn_token_caller){ user, user }, &ms, &class,
                            &err) < 0)
        fail_msg("%s", err.text);
    return ms;
}

static int cancel(struct fix *f, const struct yarn_token *t, const char *user, const char **class,
                  struct sv_error *err)
{
    int r = rm_delegation_cancel(f->rm, t, &(struct yarn_token_caller){ user, user }, class, err);

    settle(f);
    return r;
}

static void test_issue(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *class = NULL;
    struct sv_error err = { 0 };
    struct fix f;
    struct yarn_token t, other;
    struct yarn_delegation_token d;
    char longer[257];

    (void)state;
    setup_at(&f, NULL);
    t = issue(&f, a, "ann", "rob");
    d = decode(&t);
    assert_string_equal(t.kind, "RM_DELEGATION_TOKEN");
    assert_string_equal(t.service, "");
    assert_string_equal(d.owner, "ann");
    assert_string_equal(d.renewer, "rob");
    assert_string_equal(d.real_user, "");
    assert_true(d.issue_ms == T0 && d.max_ms == T0 + 7 * DAY);
    assert_int_equal(d.sequence, 1);
    assert_int_equal(d.key_id, 1);
    assert_int_equal(t.password_len, 20);
    assert_true(accepted(&f, &t, NULL));
    other = issue(&f, a, "ann", "rob");
    assert_int_equal(decode(&other).sequence, 2);
    assert_int_equal(rm_delegation_count(f.rm), 2);
    memset(longer, 'x', 256);
    longer[256] = 0;
    assert_true(rm_delegation_issue(f.rm, a, "ann", longer, NULL, &t, &class, &err) < 0);
    assert_non_null(strstr(err.text, "renewer"));
    assert_int_equal(rm_delegation_count(f.rm), 2);
    teardown(&f);
}

static void test_unknown_and_expired(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct yarn_token t, forged;
    uint8_t id[256];

    (void)state;
    setup_at(&f, NULL);
    t = issue(&f, a, "ann", "rob");
    assert_in_range(t.id_len, 1, sizeof(id));
    for (size_t i = 0; i < t.id_len; i++) { /* whatever byte is changed */
        uint8_t password[64];
        char user[256];
        const char *class = NULL;
        size_t len;

        memcpy(id, t.id, t.id_len);
        id[i] ^= 1;
        assert_true(rm_delegation_verify(id, t.id_len, password, &len, user, &class, NULL, f.rm) <
                    0);
    }
    forged = t;
    forged.id_len = 0;
    assert_false(accepted(&f, &forged, "can't be found in cache"));
    at(T0 + DAY);
    assert_true(accepted(&f, &t, NULL));
    at(T0 + DAY + 1);
    assert_false(accepted(&f, &t, "has expired, current time: 2023-11-15 22:13:20,001+0000"));
    teardown(&f);
}

static void test_renew(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct yarn_token t, bad, none;

    (void)state;
    setup_at(&f, NULL);
    t = issue(&f, a, "ann", "rob");
    none = issue(&f, a, "ann", "");
    bad = t;
    bad.password = (const uint8_t *)"01234567890123456789";
    refused_renewal(&f, &t, "ann", JAVA_ACCESS_CONTROL, "with non-matching renewer rob");
    refused_renewal(&f, &none, "ann", JAVA_ACCESS_CONTROL, "without a renewer");
    refused_renewal(&f, &bad, "rob", JAVA_ACCESS_CONTROL, "with wrong password");
    at(T0 + HOUR);
    assert_true(renew(&f, &t, "rob") == T0 + HOUR + DAY);
    assert_true(renew(&f, &t, f.rm->login_user) == T0 + HOUR + DAY);
    at(T0 + DAY + HOUR);
    assert_true(accepted(&f, &t, NULL));
    assert_false(accepted(&f, &none, "has expired"));
    for (int day = 2; day < 7; day++) {
        at(T0 + day * DAY);
        (void)renew(&f, &t, "rob");
    }
    assert_true(renew(&f, &t, "rob") == T0 + 7 * DAY); /* not beyond its latest date */
    at(T0 + 7 * DAY + 1);
    refused_renewal(&f, &t, "rob", JAVA_INVALID_TOKEN, "tried to renew an expired token");
    teardown(&f);
}

static void test_cancel(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *class = NULL;
    struct sv_error err = { 0 };
    struct fix f;
    struct yarn_token t, other, bad;

    (void)state;
    setup_at(&f, NULL);
    t = issue(&f, a, "ann", "rob");
    other = issue(&f, a, "ann", "rob");
    bad = t;
    bad.password = (const uint8_t *)"01234567890123456789";
    assert_true(cancel(&f, &bad, "ann", &class, &err) < 0);
    assert_string_equal(class, JAVA_ACCESS_CONTROL);
    assert_non_null(strstr(err.text, "ann is trying to cancel a token (RM_DELEGATION_"));
    assert_true(accepted(&f, &t, NULL));
    assert_true(cancel(&f, &t, "eve", &class, &err) < 0);
    assert_string_equal(class, JAVA_ACCESS_CONTROL);
    assert_non_null(strstr(err.text, "eve is not authorized to cancel the token (RM_DELEGATION_"));
    assert_int_equal(cancel(&f, &t, "ann", &class, &err), 0);
    assert_false(accepted(&f, &t, "can't be found in cache"));
    assert_true(accepted(&f, &other, NULL));
    assert_int_equal(cancel(&f, &other, "rob", &class, &err), 0);
    assert_true(cancel(&f, &t, "ann", &class, &err) < 0);
    assert_string_equal(class, JAVA_INVALID_TOKEN);
    refused_renewal(&f, &t, "rob", JAVA_INVALID_TOKEN, "Renewal request for unknown token");
    assert_int_equal(rm_delegation_count(f.rm), 0);
    teardown(&f);
}

static void test_limit_of_a_user(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *class = NULL;
    struct sv_error err = { 0 };
    struct fix f;
    struct yarn_token first, t;

    (void)state;
    setup_at(&f, few);
    first = issue(&f, a, "ann", "rob");
    (void)issue(&f, a, "ann", "rob");
    (void)issue(&f, a, "bob", "rob");
    assert_true(rm_delegation_issue(f.rm, a, "ann", "rob", NULL, &t, &class, &err) < 0);
    assert_non_null(strstr(err.text, "selvedge.rm.delegation-tokens-per-user"));
    /* Tokens of a proxy user count in his own account. */
    assert_int_equal(rm_delegation_issue(f.rm, a, "ann", "rob", "eve", &t, &class, &err), 0);
    assert_string_equal(decode(&t).real_user, "eve");
    assert_int_equal(cancel(&f, &first, "ann", &class, &err), 0);
    (void)issue(&f, a, "ann", "rob");
    /* Expired ones are dropped, an hour late at most. */
    at(T0 + DAY + HOUR + 1);
    rm_delegation_tick(f.rm);
    rm_delegation_tick(f.rm);
    assert_int_equal(rm_delegation_count(f.rm), 0);
    (void)issue(&f, a, "ann", "rob");
    restart_at(&f, T0 + DAY + HOUR + 2); /* without recovery */
    assert_int_equal(rm_delegation_count(f.rm), 0);
    teardown(&f);
}

static void test_keys(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct yarn_token t, later;

    (void)state;
    setup_at(&f, NULL);
    t = issue(&f, a, "ann", "rob");
    at(T0 + DAY - 1);
    rm_delegation_tick(f.rm);
    later = issue(&f, a, "ann", "rob");
    assert_int_equal(decode(&later).key_id, 1);
    at(T0 + DAY);
    rm_delegation_tick(f.rm);
    later = issue(&f, a, "ann", "rob");
    assert_int_equal(decode(&later).key_id, 2);
    assert_true(accepted(&f, &t, NULL));
    assert_true(accepted(&f, &later, NULL));
    restart_at(&f, T0 + DAY + HOUR); /* the second key is used on */
    t = issue(&f, a, "ann", "rob");
    assert_int_equal(decode(&t).key_id, 2);
    assert_true(accepted(&f, &later, NULL));
    teardown(&f);
}

static void test_restart(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const char *class = NULL;
    struct sv_error err = { 0 };
    struct fix f;
    struct yarn_token kept, gone, old;

    (void)state;
    setup_at(&f, NULL);
    kept = issue(&f, a, "ann", "rob");
    gone = issue(&f, a, "ann", "rob");
    old = issue(&f, a, "ann", "rob");
    at(T0 + HOUR);
    assert_true(renew(&f, &kept, "rob") == T0 + HOUR + DAY);
    assert_int_equal(cancel(&f, &gone, "ann", &class, &err), 0);
    restart_at(&f, T0 + DAY + 1);
    assert_true(accepted(&f, &kept, NULL));
    assert_false(accepted(&f, &gone, "can't be found in cache"));
    assert_false(accepted(&f, &old, "has expired"));
    assert_true(renew(&f, &kept, "rob") == T0 + 2 * DAY + 1);
    rm_delegation_tick(f.rm);
    assert_int_equal(rm_delegation_count(f.rm), 1);
    assert_int_equal(cancel(&f, &kept, "ann", &class, &err), 0);
    restart_at(&f, T0 + DAY + 2); /* the numbers go on where no token is left */
    gone = issue(&f, a, "ann", "rob");
    assert_int_equal(decode(&gone).sequence, 4);
    teardown(&f);
}

/* ------------------------------------------------------- over real connections */

struct client {
    struct fix *f;
    const char *user;
    const struct yarn_token *token;
    struct sv_arena *a;
    struct sv_error err;
    const char *class;
};

static int call(struct client *c, const char *method, const ProtobufCMessage *request,
                const ProtobufCMessageDescriptor *answer, ProtobufCMessage **ret)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = c->f->rm->client_port,
                                           .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                           .version = 1,
                                           .user = c->user,
                                           .token = c->token };
    struct ipc_client *client;
    int r;

    assert_int_equal(ipc_client_new(c->f->event, &cfg, &client, NULL), 0);
    r = ipc_client_call_sync(client, method, request, answer, c->a, ret, &c->class, &c->err);
    ipc_client_free(client);
    return r;
}

static int get_token(struct client *c, struct yarn_token *ret)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    ProtobufCMessage *m = NULL;
    int r;

    q.renewer = (char *)(uintptr_t) "rob";
    r = call(c, "getDelegationToken", &q.base,
             &hadoop__common__get_delegation_token_response_proto__descriptor, &m);
    return r < 0 ? r
                 : yarn_token_from(((Hadoop__Common__GetDelegationTokenResponseProto *)m)->token,
                                   c->a, ret);
}

static int use(struct client *c)
{
    Hadoop__Yarn__GetClusterMetricsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_METRICS_REQUEST_PROTO__INIT;
    ProtobufCMessage *m = NULL;

    return call(c, "getClusterMetrics", &q.base,
                &hadoop__yarn__get_cluster_metrics_response_proto__descriptor, &m);
}

static int64_t renew_call(struct client *c, const struct yarn_token *t)
{
    Hadoop__Common__RenewDelegationTokenRequestProto q =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    ProtobufCMessage *m = NULL;
    int r;

    q.token = yarn_token_to(c->a, t);
    r = call(c, "renewDelegationToken", &q.base,
             &hadoop__common__renew_delegation_token_response_proto__descriptor, &m);
    return r < 0 ? r
                 : (int64_t)((Hadoop__Common__RenewDelegationTokenResponseProto *)m)->newexpirytime;
}

static int cancel_call(struct client *c, const struct yarn_token *t)
{
    Hadoop__Common__CancelDelegationTokenRequestProto q =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    ProtobufCMessage *m = NULL;

    q.token = yarn_token_to(c->a, t);
    return call(c, "cancelDelegationToken", &q.base,
                &hadoop__common__cancel_delegation_token_response_proto__descriptor, &m);
}

static void test_over_connections(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct yarn_token t, second, bad;
    struct client ann = { .f = &f, .user = "ann", .a = a },
                  rob = { .f = &f, .user = "rob", .a = a };
    struct client holder = { .f = &f, .token = &t, .a = a };
    struct client forger = { .f = &f, .token = &bad, .a = a };

    (void)state;
    setup(&f);
    assert_int_equal(get_token(&ann, &t), 0);
    assert_string_equal(decode(&t).owner, "ann");
    assert_int_equal(use(&holder), 0);
    bad = t;
    bad.password = (const uint8_t *)"01234567890123456789";
    assert_true(use(&forger) < 0);
    /* A holder is the owner: its tokens are the owner's. */
    assert_int_equal(get_token(&holder, &second), 0);
    assert_string_equal(decode(&second).owner, "ann");
    assert_true(renew_call(&rob, &t) > decode(&t).issue_ms);
    assert_int_equal(renew_call(&ann, &t), -EREMOTEIO);
    assert_string_equal(ann.class, JAVA_YARN_EXCEPTION);
    assert_non_null(strstr(ann.err.text, JAVA_ACCESS_CONTROL ": ann tries to renew a token"));
    assert_int_equal(cancel_call(&holder, &t), 0);
    assert_true(use(&holder) < 0);
    assert_non_null(strstr(holder.err.text, "can't be found in cache"));
    bad = second;
    bad.kind = "HDFS_DELEGATION_TOKEN";
    assert_int_equal(cancel_call(&ann, &bad), -EREMOTEIO);
    assert_int_equal(cancel_call(&ann, &second), 0);
    teardown(&f);
}

static int reset(void **state)
{
    (void)state;
    sv_clock_reset();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_issue, reset),
        cmocka_unit_test_teardown(test_unknown_and_expired, reset),
        cmocka_unit_test_teardown(test_renew, reset),
        cmocka_unit_test_teardown(test_cancel, reset),
        cmocka_unit_test_teardown(test_limit_of_a_user, reset),
        cmocka_unit_test_teardown(test_keys, reset),
        cmocka_unit_test_teardown(test_restart, reset),
        cmocka_unit_test(test_over_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
