/* rm-lite/security/renewals.c: applications wait for their tokens' first renewal, tokens are
 * renewed at 90 % of their life, shared, cancelled at the end; a dark service delays its own tokens
 * alone. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base.h"
#include "common/log.h"
#include "rm-lite/security/renewals.h"

#define T0 1700000000000
#define OPEN_MAX 400
#define TOLD_MAX 64

struct told {
    int32_t app;
    char why[600];
};

struct fix {
    struct rm_renewals *r;
    struct rm_renewal *open[OPEN_MAX];
    size_t n_open, n_cancels;
    struct told told[TOLD_MAX];
    size_t n_told, released;
    int32_t lost, gone; /* the last application */
    int64_t
        answer_ms; /* a renewal is answered inside of its begin, with this end; 0: it stays open */
};

static void on_renew(void *userdata, struct rm_renewal *t)
{
    struct fix *f = userdata;

    if (f->answer_ms) {
        rm_renewal_renewed(t, 0, f->answer_ms, NULL, T0);
        return;
    }
    assert_true(f->n_open < OPEN_MAX);
    f->open[f->n_open++] = t;
}

static void on_cancel(void *userdata, struct rm_renewal *t)
{
    struct fix *f = userdata;

    f->n_cancels++;
    rm_renewal_cancelled(t);
}

static void on_admitted(void *userdata, struct yarn_app_id app, const char *why)
{
    struct fix *f = userdata;

    assert_true(f->n_told < TOLD_MAX);
    f->told[f->n_told].app = app.id;
    snprintf(f->told[f->n_told++].why, sizeof(f->told[0].why), "%s", why ? why : "");
}

static void on_lost(void *userdata, struct yarn_app_id app, const struct yarn_token *token)
{
    struct fix *f = userdata;

    assert_non_null(token->id);
    f->lost = app.id;
}

static void on_gone(void *userdata, struct yarn_app_id app)
{
    struct fix *f = userdata;

    f->gone = app.id;
}

static void on_released(void *userdata, void *kept)
{
    struct fix *f = userdata;

    assert_ptr_equal(kept, f);
    f->released++;
}

static int setup(void **state)
{
    struct fix *f = calloc(1, sizeof(*f));
    const struct rm_renewals_settings s = { .tries = 3 };
    const struct rm_renewals_ops ops = { .renew = on_renew,
                                         .cancel = on_cancel,
                                         .admitted = on_admitted,
                                         .lost = on_lost,
                                         .gone = on_gone,
                                         .released = on_released,
                                         .userdata = f };

    assert_non_null(f);
    f->r = rm_renewals_new(&s, &ops);
    assert_non_null(f->r);
    sv_log_set_level(SV_LOG_ERR);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fix *f = *state;

    rm_renewals_free(f->r);
    free(f);
    return 0;
}

static struct yarn_token token(const char *service, const char *id)
{
    return (struct yarn_token){ .id = (const uint8_t *)id,
                                .id_len = strlen(id),
                                .password = (const uint8_t *)"secret",
                                .password_len = 6,
                                .kind = YARN_KIND_HDFS_DELEGATION,
                                .service = service };
}

static struct yarn_app_id app(int32_t n)
{
    return (struct yarn_app_id){ .cluster_ts = 1, .id = n };
}

static int add(struct fix *f, int32_t n, const struct yarn_token *v, size_t n_tokens, bool cancel)
{
    struct sv_error err = { 0 };
    int r = rm_renewals_add(
        f->r,
        &(struct rm_renewals_app){
            .id = app(n), .tokens = v, .n_tokens = n_tokens, .cancel_at_end = cancel },
        T0, &err);

    rm_renewals_tick(f->r, T0);
    return r;
}

static void answer(struct fix *f, size_t i, int status, int64_t expires_ms, int64_t now_ms)
{
    struct rm_renewal *t = f->open[i];

    memmove(&f->open[i], &f->open[i + 1], (f->n_open - i - 1) * sizeof(f->open[0]));
    f->n_open--;
    rm_renewal_renewed(t, status, expires_ms, "it says no", now_ms);
}

static struct rm_renewals_counts counts(const struct fix *f)
{
    struct rm_renewals_counts c;

    rm_renewals_counts(f->r, &c);
    return c;
}

static void test_first_renewal(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v[] = { token("nn1:8020", "a"), token("nn2:8020", "a") };

    assert_int_equal(add(f, 1, v, 0, true), 1); /* nothing to wait for */
    assert_int_equal(add(f, 2, v, 2, true), 0);
    assert_int_equal(add(f, 2, v, 2, true), -EEXIST);
    assert_int_equal(f->n_open, 2);
    answer(f, 0, 0, T0 + 100000, T0);
    assert_int_equal(f->n_told, 0);
    answer(f, 0, 0, T0 + 100000, T0);
    assert_int_equal(f->n_told, 1);
    assert_int_equal(f->told[0].app, 2);
    assert_string_equal(f->told[0].why, "");
    assert_int_equal(add(f, 3, v, 1, true), 1); /* lives already */
}

static void test_time_of_renewal(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v[] = { token("nn1:8020", "a"), token("nn1:8020", "b") };

    assert_int_equal(add(f, 1, v, 2, true), 0);
    answer(f, 0, 0, T0 + 100000, T0);
    answer(f, 0, 0, T0 + 50000, T0);
    rm_renewals_tick(f->r, T0 + 44999);
    assert_int_equal(f->n_open, 0);
    rm_renewals_tick(f->r, T0 + 45000);
    assert_int_equal(f->n_open, 1);
    assert_memory_equal(rm_renewal_token(f->open[0])->id, "b", 1);
    answer(f, 0, 0, T0 + 95000, T0 + 45000);
    rm_renewals_tick(f->r, T0 + 90000);
    assert_int_equal(f->n_open, 2);
}

static void test_refused_at_first(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v[] = { token("nn1:8020", "a"), token("nn1:8020", "b") };

    assert_int_equal(add(f, 1, v, 2, true), 0);
    answer(f, 1, -EACCES, 0, T0);
    assert_int_equal(f->n_told, 1);
    assert_non_null(strstr(f->told[0].why, "Failed to renew token: Kind: HDFS_DELEGATION_TOKEN, "
                                           "Service: nn1:8020: it says no"));
    answer(f, 0, 0, T0 + 100000, T0); /* nobody has it any more */
    assert_int_equal(f->n_cancels, 1);
    assert_int_equal(counts(f).tokens, 0);
    assert_int_equal(counts(f).applications, 0);
}

static void test_no_answer_is_tried_again(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v = token("nn1:8020", "a");

    assert_int_equal(add(f, 1, &v, 1, true), 0);
    answer(f, 0, -EAGAIN, 0, T0);
    rm_renewals_tick(f->r, T0 + 999);
    assert_int_equal(f->n_open, 0);
    rm_renewals_tick(f->r, T0 + 1000);
    answer(f, 0, -EAGAIN, 0, T0 + 1000);
    assert_int_equal(f->n_told, 0);
    rm_renewals_tick(f->r, T0 + 3000);
    answer(f, 0, -EAGAIN, 0, T0 + 3000); /* the third try was the last */
    assert_int_equal(f->n_told, 1);
    assert_true(f->told[0].why[0] != 0);
}

static void test_failures_while_it_lives(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v = token("nn1:8020", "a");

    assert_int_equal(add(f, 1, &v, 1, true), 0);
    answer(f, 0, 0, T0 + 100000, T0);
    for (int64_t now = T0 + 90000; now < T0 + 100000; now += 1000) {
        rm_renewals_tick(f->r, now);
        if (f->n_open)
            answer(f, 0, -EACCES, 0, now);
    }
    assert_int_equal(counts(f).failing, 1);
    rm_renewals_tick(f->r, T0 + 99999);
    rm_renewals_tick(f->r, T0 + 110000);
    assert_int_equal(f->n_open, 1);
    answer(f, 0, -EACCES, 0, T0 + 110000); /* its end has passed */
    assert_int_equal(counts(f).tokens, 0);
    assert_int_equal(counts(f).applications, 1);
    assert_int_equal(f->n_told, 1); /* it runs on */
}

static void test_shared_and_cancelled(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v = token("nn1:8020", "a"), w = token("nn1:8020", "b");

    f->answer_ms = T0 + 100000;
    assert_int_equal(add(f, 1, &v, 1, true), 0); /* is told from inside */
    assert_int_equal(add(f, 2, &v, 1, true), 1);
    assert_int_equal(add(f, 3, &w, 1, false), 0);
    rm_renewals_end(f->r, app(1), T0 + 10);
    rm_renewals_end(f->r, app(3), T0 + 10);
    rm_renewals_tick(f->r, T0 + 10);
    assert_int_equal(f->n_cancels, 0); /* one is shared, the other to be kept */
    assert_int_equal(counts(f).tokens, 1);
    rm_renewals_end(f->r, app(2), T0 + 20);
    rm_renewals_keep_alive(f->r, app(2), T0 + 5000);
    rm_renewals_tick(f->r, T0 + 4999);
    assert_int_equal(f->n_cancels, 0);
    rm_renewals_tick(f->r, T0 + 5000);
    assert_int_equal(f->n_cancels, 1);
    assert_int_equal(counts(f).tokens, 0);
}

static void test_end_while_it_waits(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v = token("nn1:8020", "a");

    assert_int_equal(add(f, 1, &v, 1, true), 0);
    rm_renewals_end(f->r, app(1), T0 + 1000);
    assert_int_equal(counts(f).applications, 0);
    answer(f, 0, 0, T0 + 100000, T0);
    assert_int_equal(f->n_cancels, 1); /* it lives, and its only application has gone */
    assert_int_equal(f->n_told, 0);
    assert_int_equal(counts(f).tokens, 0);
}

static void test_recovered_is_not_waited_for(void **state)
{
    struct fix *f = *state;
    const struct yarn_token v = token("nn1:8020", "a");
    struct sv_error err = { 0 };
    const struct rm_renewals_app a = {
        .id = app(1), .tokens = &v, .n_tokens = 1, .recovered = true
    };

    assert_int_equal(rm_renewals_add(f->r, &a, T0, &err), 1);
    rm_renewals_tick(f->r, T0);
    answer(f, 0, -EACCES, 0, T0);
    assert_int_equal(f->n_told, 0);
    assert_int_equal(counts(f).tokens, 0);
    assert_int_equal(counts(f).applications, 1);
}

static void test_dark_service(void **state)
{
    struct fix *f = *state;
    const struct yarn_token bright = token("nn2:8020", "a");
    char ids[100][8];

    for (int i = 0; i < 100; i++) {
        struct yarn_token v;

        snprintf(ids[i], sizeof(ids[i]), "%d", i);
        v = token("nn1:8020", ids[i]);
        assert_int_equal(add(f, i + 1, &v, 1, true), 0);
    }
    assert_int_equal(f->n_open, RM_RENEWALS_OPEN_OF_SERVICE_MAX);
    assert_int_equal(add(f, 101, &bright, 1, true), 0);
    assert_int_equal(f->n_open, RM_RENEWALS_OPEN_OF_SERVICE_MAX + 1);
    answer(f, RM_RENEWALS_OPEN_OF_SERVICE_MAX, 0, T0 + 100000, T0);
    assert_int_equal(f->n_told, 1);
    assert_int_equal(f->told[0].app, 101);
    answer(f, 0, -EAGAIN, 0, T0); /* the next one of the dark service follows */
    assert_int_equal(f->n_open, RM_RENEWALS_OPEN_OF_SERVICE_MAX);
}

static void test_bounds(void **state)
{
    struct fix *f = *state;
    static struct yarn_token v[RM_RENEWALS_OF_APP_MAX + 1];
    static char names[RM_RENEWALS_OF_APP_MAX + 1][24];

    for (size_t i = 0; i < SV_ARRAY_LEN(v); i++) {
        snprintf(names[i], sizeof(names[i]), "nn%zu:8020", i);
        v[i] = token(names[i], "a");
    }
    assert_int_equal(add(f, 1, v, RM_RENEWALS_OF_APP_MAX + 1, true), -E2BIG);
    assert_int_equal(add(f, 1, v, RM_RENEWALS_OF_APP_MAX, true), 0);
    assert_int_equal(f->n_open, RM_RENEWALS_OPEN_MAX);
    assert_int_equal(counts(f).tokens, RM_RENEWALS_OF_APP_MAX);
}

/* 20,000 random steps against what must hold at any time. */
static int replace(struct fix *f, int32_t n, const struct yarn_token *t, int64_t max_ms,
                   int64_t now)
{
    const struct rm_renewals_app in = {
        .id = app(n), .tokens = t, .n_tokens = 1, .cancel_at_end = true, .recovered = true
    };
    int r = rm_renewals_replace(f->r, &in, max_ms, now);

    rm_renewals_tick(f->r, now);
    return r;
}

/* A token that ends is replaced, and left to its end: containers still have it. */
static void test_replaced(void **state)
{
    struct fix *f = *state;
    const struct yarn_token old = token("nn1:8020", "old"), fresh = token("nn1:8020", "new");

    assert_int_equal(add(f, 1, &old, 1, true), 0);
    rm_renewal_keep(f->open[0], f);
    assert_int_equal(rm_renewal_expires(f->open[0]), 0);
    answer(f, 0, 0, T0 + 100000, T0);
    rm_renewals_tick(f->r, T0 + 90000);
    assert_int_equal(f->n_open, 1);
    assert_int_equal(rm_renewal_expires(f->open[0]), T0 + 100000);
    assert_int_equal(replace(f, 1, &fresh, T0 + 700000, T0 + 90000), 0);
    assert_int_equal(f->n_open, 2); /* the new one is renewed at once */
    assert_int_equal(rm_renewal_expires(f->open[1]), 0);
    answer(f, 0, 0, T0 + 100000, T0 + 90000); /* the old one's call ends */
    assert_int_equal(f->released, 1);
    assert_int_equal(f->n_cancels, 0);
    assert_int_equal(counts(f).tokens, 1);
    answer(f, 0, 0, T0 + 190000, T0 + 90000);
    assert_int_equal(replace(f, 1, &fresh, T0 + 700000, T0 + 90000), -EEXIST);
    rm_renewals_end(f->r, app(1), T0 + 90000);
    rm_renewals_tick(f->r, T0 + 90000);
    assert_int_equal(f->n_cancels, 1);
    assert_int_equal(f->gone, 1);
    assert_int_equal(counts(f).applications, 0);
}

/* An application that has brought no token gets one. */
static void test_first_of_ours(void **state)
{
    struct fix *f = *state;
    const struct yarn_token fresh = token("nn1:8020", "new"), other = token("nn1:8020", "other");

    assert_int_equal(replace(f, 1, &fresh, T0 + 700000, T0), 0);
    assert_true(rm_renewals_has(f->r, app(1)));
    assert_int_equal(f->n_told, 0);
    answer(f, 0, -EAGAIN, 0, T0); /* it lives: tried again */
    assert_int_equal(counts(f).failing, 1);
    for (int i = 0; i < 50; i++) { /* each leaves its slot to the next */
        char id[8];
        struct yarn_token t;

        snprintf(id, sizeof(id), "t%d", i);
        t = token("nn1:8020", id);
        assert_int_equal(replace(f, 1, &t, T0 + 700000, T0), 0);
        answer(f, 0, 0, T0 + 100000, T0);
    }
    assert_int_equal(replace(f, 1, &other, T0 + 700000, T0), 0);
    assert_int_equal(counts(f).tokens, 1);
}

static void test_lost(void **state)
{
    struct fix *f = *state;
    const struct yarn_token t = token("nn1:8020", "a");

    assert_int_equal(add(f, 1, &t, 1, true), 0);
    answer(f, 0, 0, T0 + 1000, T0);
    rm_renewals_tick(f->r, T0 + 1500);
    answer(f, 0, -EACCES, 0, T0 + 1500); /* its end has passed */
    assert_int_equal(f->lost, 1);
    assert_true(rm_renewals_has(f->r, app(1)));
}

static void test_random_histories(void **state)
{
    struct fix *f = *state;
    uint32_t x = 12345;
    int64_t now = T0;
    char ids[5][2] = { "a", "b", "c", "d", "e" };

    for (int step = 0; step < 20000; step++) {
        struct yarn_token v[2];
        uint32_t dice;

        x = x * 1664525u + 1013904223u;
        dice = x >> 8;
        v[0] = token(dice & 1 ? "nn1:1" : "nn2:1", ids[dice % 5]);
        v[1] = token("nn3:1", ids[dice / 7 % 5]);
        now += dice % 700;
        f->n_told = 0;
        switch (dice / 16 % 4) {
        case 0:
            (void)!add(f, (int32_t)(1 + dice / 64 % 12), v, 1 + dice % 2, dice & 2);
            break;
        case 1:
            rm_renewals_end(f->r, app((int32_t)(1 + dice / 64 % 12)), now + dice % 100);
            break;
        case 2:
            if (f->n_open)
                answer(f, dice % f->n_open,
                       dice % 5 == 0 ? -EACCES
                       : dice % 3    ? 0
                                     : -EAGAIN,
                       now + dice % 20000, now);
            break;
        default:
            rm_renewals_tick(f->r, now);
        }
        assert_int_equal(counts(f).open, f->n_open);
        assert_true(counts(f).applications <= 12);
        assert_true(counts(f).tokens <= 15);
    }
    while (f->n_open)
        answer(f, 0, 0, now + 100000, now);
    for (int32_t i = 1; i <= 12; i++)
        rm_renewals_end(f->r, app(i), now);
    rm_renewals_tick(f->r, now);
    while (f->n_open)
        answer(f, 0, -EACCES, 0, now);
    rm_renewals_tick(f->r, now + 200000);
    while (f->n_open)
        answer(f, 0, -EACCES, 0, now + 200000);
    assert_int_equal(counts(f).applications, 0);
    assert_int_equal(counts(f).tokens, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_first_renewal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_time_of_renewal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_at_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_answer_is_tried_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures_while_it_lives, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_and_cancelled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end_while_it_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recovered_is_not_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(test_dark_service, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_first_of_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_histories, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
