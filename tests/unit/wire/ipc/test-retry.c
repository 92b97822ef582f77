/* Tests wire/ipc/retry.c with a simulated clock: which failures are retried, where, after which
 * delay and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "wire/ipc/retry.h"

static const struct ipc_retry_policy rm = { .kind = IPC_RETRY_RM,
                                            .connect_retries = 3,
                                            .connect_timeout_retries = 2,
                                            .connect_interval_ms = 1000,
                                            .max_wait_ms = 60000,
                                            .interval_ms = 10000 };
static const struct ipc_retry_policy failover = {
    .kind = IPC_RETRY_FAILOVER, .max_failovers = 5, .base_ms = 500, .max_ms = 3000, .max_wait_ms = 1
};
static const struct ipc_retry_policy nm = { .kind = IPC_RETRY_NM,
                                            .max_wait_ms = 180000,
                                            .interval_ms = 10000 };
static const struct ipc_retry_policy never = { .kind = IPC_RETRY_NEVER, .connect_retries = 10 };

static void test_names(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *class;
        bool sent;
        enum ipc_failure wanted;
    } rows[] = {
        { -ECONNREFUSED, NULL, false, IPC_FAILURE_CONNECT },
        { -EHOSTUNREACH, NULL, false, IPC_FAILURE_CONNECT },
        { -ENETUNREACH, NULL, false, IPC_FAILURE_CONNECT },
        { -ETIMEDOUT, NULL, false, IPC_FAILURE_CONNECT_TIMEOUT },
        { -ETIMEDOUT, NULL, true, IPC_FAILURE_TIMEOUT },
        { -ECONNRESET, NULL, true, IPC_FAILURE_LOST },
        { -EPIPE, NULL, false, IPC_FAILURE_LOST },
        { -EPROTO, NULL, true, IPC_FAILURE_LOCAL },
        { -EBADMSG, NULL, true, IPC_FAILURE_LOCAL },
        { -EACCES, NULL, false, IPC_FAILURE_AUTH },
        { -EAGAIN, NULL, false, IPC_FAILURE_NO_TICKET },
        { -ECANCELED, NULL, true, IPC_FAILURE_FINAL },
        { -ENOMEM, NULL, true, IPC_FAILURE_FINAL },
        { -EREMOTEIO, "org.apache.hadoop.ipc.StandbyException", true, IPC_FAILURE_STANDBY },
        { -EREMOTEIO, "org.apache.hadoop.ipc.RetriableException", true, IPC_FAILURE_RETRIABLE },
        { -EREMOTEIO, "org.apache.hadoop.yarn.exceptions.NMNotYetReadyException", true,
          IPC_FAILURE_NOT_READY },
        { -EREMOTEIO, "org.apache.hadoop.security.token.SecretManager$InvalidToken", false,
          IPC_FAILURE_AUTH },
        { -EREMOTEIO, "org.apache.hadoop.security.AccessControlException", false,
          IPC_FAILURE_AUTH },
        { -EREMOTEIO, "org.apache.hadoop.security.authorize.AuthorizationException", true,
          IPC_FAILURE_AUTH },
        { -EREMOTEIO, "javax.security.sasl.SaslException", false, IPC_FAILURE_AUTH },
        { -EREMOTEIO, "org.apache.hadoop.yarn.exceptions.YarnException", true, IPC_FAILURE_REMOTE },
        { -EREMOTEIO, "org.apache.hadoop.ipc.StandbyException2", true, IPC_FAILURE_REMOTE },
        { -EREMOTEIO, "", true, IPC_FAILURE_REMOTE },
        { -EREMOTEIO, NULL, true, IPC_FAILURE_REMOTE },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct ipc_result r = { .status = rows[i].status,
                                .java_class = rows[i].class,
                                .sent = rows[i].sent };
        if (ipc_failure_of(&r) != rows[i].wanted)
            fail_msg("row %zu: %s", i, ipc_failure_name(ipc_failure_of(&r)));
    }
    assert_true(ipc_method_repeatable("nodeHeartbeat"));
    assert_true(ipc_method_repeatable("addToClusterNodeLabels"));
    assert_true(ipc_method_repeatable("updateNodeResource"));
    assert_false(ipc_method_repeatable("startContainers"));
    assert_false(ipc_method_repeatable("signalToContainer"));
    assert_false(ipc_method_repeatable(""));
    assert_true(ipc_retry_safe(&nm, "stopContainers"));
    assert_false(ipc_retry_safe(&nm, "startContainers"));
    assert_false(ipc_retry_safe(&rm, "signalToContainer"));
}

/* Decision of each policy on the first failure of each kind, with no retries left on the lower
 * level. */
static void test_table(void **state)
{
    (void)state;
    static const char letters[] = "-sn"; /* of enum ipc_retry_decision: fail, the same, the next */
    static const struct {
        const struct ipc_retry_policy *policy;
        bool sent, repeatable;
        char wanted[IPC_FAILURE_COUNT + 1]; /* in the order of enum ipc_failure */
    } rows[] = {
        { &never, true, true, "------------" },      { &rm, true, true, "sssssss-s---" },
        { &rm, true, false, "sssssss-s---" },        { &nm, true, true, "sss---sss---" },
        { &failover, true, true, "nnnnnns-s---" },   { &failover, true, false, "nn---ns-s---" },
        { &failover, false, false, "nnnnnns-s---" }, { &nm, true, false, "ss----sss---" },
        { &nm, false, false, "sss---sss---" },
    };
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        for (int f = 0; f < IPC_FAILURE_COUNT; f++) {
            struct ipc_retry_state s = { .attempts_here = 99 };
            const char *why = NULL;
            int64_t wait = -1;
            enum ipc_retry_decision d = ipc_retry_decide(rows[i].policy, &s, f, rows[i].sent,
                                                         rows[i].repeatable, 1000, 7, &wait, &why);
            if (letters[d] != rows[i].wanted[f] || (d != IPC_FAIL && wait < 0))
                fail_msg("row %zu, a server that %s: %d", i, ipc_failure_name(f), d);
        }
}

/* Refused: three quick retries, then the policy's longer ones, until the time limit. */
static void test_one_rm(void **state)
{
    (void)state;
    static const int64_t upper[] = { 100, 200, 400, 100, 100, 200, 400, 200, 100, 200, 400, 400 };
    struct ipc_retry_state s = { 0 };
    const char *why = NULL;
    int64_t now = 5000, wait;
    size_t n = 0;
    while (ipc_retry_decide(&rm, &s, IPC_FAILURE_CONNECT, false, true, now, 0, &wait, &why) ==
           IPC_RETRY_SAME) {
        if (n < SV_ARRAY_LEN(upper))
            assert_int_equal(wait, upper[n]);
        assert_in_range(wait, 1, 10000);
        now += wait;
        n++;
    }
    assert_in_range(now, 65000, 75000); /* sixty seconds plus the excess of the last wait */
    assert_in_range(n, 20, 50);
    assert_non_null(strstr(why, "as long as is configured"));

    struct ipc_retry_policy forever = rm, once = rm;
    forever.max_wait_ms = -1;
    s = (struct ipc_retry_state){ 0 };
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(ipc_retry_decide(&forever, &s, IPC_FAILURE_CONNECT, false, true, now,
                                          UINT64_MAX, &wait, &why),
                         IPC_RETRY_SAME);
        assert_in_range(wait, 1, 10000);
        now += 100000;
    }
    once.max_wait_ms = 0;
    s = (struct ipc_retry_state){ 0 };
    assert_int_equal(
        ipc_retry_decide(&once, &s, IPC_FAILURE_CONNECT, false, true, now, 0, &wait, &why),
        IPC_FAIL);
}

/* The first failover at once, the later ones after base << n, at most max, times 0.5 to 1.5. */
static void test_failover(void **state)
{
    (void)state;
    static const int64_t middle[] = { 0, 1000, 2000, 3000, 3000 };
    const char *why;
    int64_t wait;
    for (uint64_t noise = 0; noise < 5000; noise += 37) {
        struct ipc_retry_state s = { 0 };
        for (size_t i = 0; i < SV_ARRAY_LEN(middle); i++) {
            assert_int_equal(ipc_retry_decide(&failover, &s, IPC_FAILURE_STANDBY, true, false, 1,
                                              noise, &wait, &why),
                             IPC_RETRY_NEXT);
            assert_in_range(wait, middle[i] / 2, middle[i] / 2 + middle[i]);
        }
        assert_int_equal(ipc_retry_decide(&failover, &s, IPC_FAILURE_STANDBY, true, false, 1, noise,
                                          &wait, &why),
                         IPC_FAIL);
        assert_non_null(strstr(why, "every server"));
    }
    struct ipc_retry_state s = { 0 };
    assert_int_equal(
        ipc_retry_decide(&failover, &s, IPC_FAILURE_LOST, true, false, 1, 0, &wait, &why),
        IPC_FAIL);
    assert_non_null(strstr(why, "twice"));
    /* yarn.client.failover-retries: some tries at one ResourceManager before the next */
    struct ipc_retry_policy stubborn = failover;
    stubborn.connect_retries = 2;
    stubborn.connect_interval_ms = 50;
    s = (struct ipc_retry_state){ 0 };
    for (int i = 0; i < 4; i++) {
        static const enum ipc_retry_decision wanted[] = { IPC_RETRY_SAME, IPC_RETRY_SAME,
                                                          IPC_RETRY_NEXT, IPC_RETRY_SAME };
        assert_int_equal(
            ipc_retry_decide(&stubborn, &s, IPC_FAILURE_CONNECT, false, false, 1, 0, &wait, &why),
            wanted[i]);
        assert_in_range(wait, 0, 50);
    }
}

/* A KDC that is away: the same server, after waits that grow, and it is no server that is away.
 * Authentication that failed is final however much time is left. */
static void test_kerberos(void **state)
{
    (void)state;
    static const struct ipc_retry_policy *const all[] = { &rm, &failover, &nm };
    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        struct ipc_retry_policy p = *all[i];
        struct ipc_retry_state s = { 0 };
        const char *why = NULL;
        int64_t wait, before = -1, now = 1;
        int n = 0;
        p.max_wait_ms = -1;
        p.max_failovers = 1000;
        for (; n < 20; n++) {
            assert_int_equal(
                ipc_retry_decide(&p, &s, IPC_FAILURE_NO_TICKET, false, false, now, 0, &wait, &why),
                IPC_RETRY_SAME);
            assert_true(wait >= before && wait <= 10000);
            before = wait;
            now += wait;
        }
        assert_true(before >= 1000);
        assert_int_equal(
            ipc_retry_decide(&p, &s, IPC_FAILURE_AUTH, false, true, now, 0, &wait, &why), IPC_FAIL);
        assert_null(why);
    }
    assert_false(ipc_failure_is_absence(IPC_FAILURE_NO_TICKET));
    assert_false(ipc_failure_is_absence(IPC_FAILURE_AUTH));
    assert_true(ipc_failure_is_absence(IPC_FAILURE_STANDBY));
}

static void test_edges(void **state)
{
    (void)state;
    struct ipc_retry_policy p = { .kind = IPC_RETRY_FAILOVER,
                                  .max_failovers = INT32_MAX,
                                  .base_ms = INT64_MAX,
                                  .max_ms = INT64_MAX };
    struct ipc_retry_state s = { .failovers = INT32_MAX - 1 };
    const char *why;
    int64_t wait;
    assert_int_equal(
        ipc_retry_decide(&p, &s, IPC_FAILURE_CONNECT, false, true, 1, UINT64_MAX, &wait, &why),
        IPC_RETRY_NEXT);
    assert_true(wait >= 0);
    assert_int_equal(ipc_retry_decide(&p, &s, IPC_FAILURE_CONNECT, false, true, 1, 0, &wait, &why),
                     IPC_FAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_table),
        cmocka_unit_test(test_one_rm),   cmocka_unit_test(test_failover),
        cmocka_unit_test(test_kerberos), cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
