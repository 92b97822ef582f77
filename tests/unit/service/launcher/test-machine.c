/* service/launcher/machine.c: every edge of the table, and what each leaves in the status. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/engine/exit-table.h"
#include "service/launcher/machine.h"

#define W SVC_LR_WAITING
#define C SVC_LR_CREATED
#define L SVC_LR_LAUNCHED
#define A SVC_LR_APP_WAITING
#define R SVC_LR_APP_RUNNING
#define D SVC_LR_RETRIEVING
#define E SVC_LR_APP_COMPLETED
#define F SVC_LR_COMPLETED

/* The next state by event (columns, from CREATE on) in each state; 0: refused. */
static const int next[SVC_LR_N_STATES][SVC_LR_N_EVENTS] = {
    /*       create submitted not-sub recover waiting running ended lost diag retry give-up stop */
    [W] = { 0, C, 0, 0, W, 0, 0, 0, 0, 0, 0, 0, F },
    [C] = { 0, 0, L, D, C, 0, 0, 0, 0, 0, 0, 0, F },
    [L] = { 0, 0, L, 0, L, A, R, D, D, 0, 0, 0, F },
    [A] = { 0, 0, A, 0, A, A, R, D, D, 0, 0, 0, F },
    [R] = { 0, 0, R, 0, R, A, R, D, D, 0, 0, 0, F },
    [D] = { 0, 0, D, 0, D, 0, 0, 0, 0, E, 0, 0, F },
    [E] = { 0, 0, 0, 0, E, 0, 0, 0, 0, 0, W, F, F },
    [F] = { 0, 0, 0, 0, F, 0, 0, 0, 0, 0, 0, 0, F },
};

static const struct svc_fw_retry_policy once = { false, 1 };

static struct svc_lr_input input(void)
{
    return (struct svc_lr_input){ .now_ms = 5000,
                                  .policy = &once,
                                  .delay_min_s = 600,
                                  .delay_max_s = 3600,
                                  .app = { 17, 3 },
                                  .user = "ann" };
}

static void every_edge(void **state)
{
    (void)state;
    for (int s = 1; s < SVC_LR_N_STATES; s++)
        for (int e = 1; e < SVC_LR_N_EVENTS; e++) {
            struct svc_lr_status st = { .exit.trigger_index = -1 };
            struct svc_lr_input in = input();
            int r;

            svc_lr_status_reset(&st, 1);
            st.state = s;
            r = svc_lr_run(&st, (enum svc_lr_event)e, &in);
            if (r != (next[s][e] ? 0 : -EPROTO) || st.state != (next[s][e] ? next[s][e] : s))
                fail_msg("%s, event %d: %d, %s", svc_lr_state_name(s), e, r,
                         svc_lr_state_name(st.state));
            svc_lr_status_free(&st);
        }
}

static void life(void **state)
{
    struct svc_lr_status s = { .exit.trigger_index = -1 };
    struct svc_lr_input in = input();
    struct svc_lr_exit said = { .known = true,
                                .code = SVC_FW_EXIT_PORT_CONFLICT,
                                .type = SVC_FW_TRANSIENT_NORMAL,
                                .trigger_index = 4 };

    (void)state;
    svc_lr_status_reset(&s, 1);
    assert_int_equal(svc_lr_run(&s, SVC_LR_CREATE, &in), 0);
    assert_int_equal(s.app.id, 3);
    assert_string_equal(s.user, "ann");
    assert_int_equal(s.launched_ms, 0);
    assert_int_equal(svc_lr_run(&s, SVC_LR_SUBMITTED, &in), 0);
    assert_int_equal(s.launched_ms, 5000);
    assert_int_equal(svc_lr_run(&s, SVC_LR_SEEN_RUNNING, &in), 0);
    assert_int_equal(svc_lr_run(&s, SVC_LR_SEEN_ENDED, &in), 0);
    assert_false(s.exit.known);
    in.exit = &said;
    in.now_ms = 6000;
    assert_int_equal(svc_lr_run(&s, SVC_LR_DIAGNOSTICS, &in), 0);
    assert_int_equal(s.app_completed_ms, 6000);
    assert_int_equal(s.exit.code, SVC_FW_EXIT_PORT_CONFLICT);
    assert_int_equal(s.exit.trigger_index, 4);
    assert_int_equal(s.retry_at_ms, 6000);
    assert_int_equal(s.retries.retried, 0); /* with the retry alone */
    assert_int_equal(svc_lr_run(&s, SVC_LR_RETRY, &in), 0);
    assert_true(in.drop_tasks);
    assert_int_equal(s.retries.retried, 1);
    assert_int_equal(s.retries.transient_normal, 1);
    assert_int_equal(s.app.id, 0);
    assert_null(s.user);
    assert_false(s.exit.known);
    assert_int_equal(s.created_ms, 1);
    /* The second end is the last one, and is not counted. */
    assert_int_equal(svc_lr_run(&s, SVC_LR_CREATE, &in), 0);
    in.code = SVC_FW_EXIT_SUBMIT_REJECTED;
    in.words = "no queue";
    assert_int_equal(svc_lr_run(&s, SVC_LR_NOT_SUBMITTED, &in), 0);
    assert_true(in.kill);
    in.exit = NULL;
    assert_int_equal(svc_lr_run(&s, SVC_LR_DIAGNOSTICS, &in), 0);
    assert_int_equal(s.exit.code, SVC_FW_EXIT_SUBMIT_REJECTED);
    assert_int_equal(s.exit.type, SVC_FW_NON_TRANSIENT);
    assert_string_equal(s.exit.diagnostics, "no queue");
    assert_int_equal(s.retry_at_ms, -1);
    assert_int_equal(s.retries.retried, 1);
    assert_int_equal(svc_lr_run(&s, SVC_LR_GIVE_UP, &in), 0);
    assert_int_equal(s.completed_ms, 6000);
    svc_lr_status_free(&s);
}

/* The ResourceManager's word counts more than the master's. */
static void words_of_both(void **state)
{
    static const struct {
        bool has_code;
        int32_t code, said, want;
    } rows[] = {
        { true, 0, SVC_FW_EXIT_GANG_TIMEOUT, 0 },
        { true, SVC_FW_EXIT_APP_KILLED, 0, SVC_FW_EXIT_APP_KILLED },
        { false, 0, SVC_FW_EXIT_GANG_TIMEOUT, SVC_FW_EXIT_GANG_TIMEOUT },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct svc_lr_status s = { .exit.trigger_index = -1 };
        struct svc_lr_input in = input();
        char why[] = "FailedTaskCount 1 has reached";
        struct svc_lr_exit said = {
            .known = true, .code = rows[i].said, .trigger = why, .trigger_index = 2
        };

        svc_lr_status_reset(&s, 1);
        s.state = R;
        in.has_code = rows[i].has_code;
        in.code = rows[i].code;
        assert_int_equal(svc_lr_run(&s, SVC_LR_SEEN_ENDED, &in), 0);
        in.exit = &said;
        assert_int_equal(svc_lr_run(&s, SVC_LR_DIAGNOSTICS, &in), 0);
        assert_int_equal(s.exit.code, rows[i].want);
        assert_string_equal(s.exit.trigger, why);
        assert_int_equal(s.exit.trigger_index, 2);
        svc_lr_status_free(&s);
    }
}

static void backoff_after_a_conflict(void **state)
{
    static const struct svc_fw_retry_policy fancy = { true, 0 };
    struct svc_lr_exit said = { .known = true,
                                .code = SVC_FW_EXIT_GANG_TIMEOUT,
                                .type = SVC_FW_TRANSIENT_CONFLICT,
                                .trigger_index = -1 };

    (void)state;
    for (int conflicts = 0; conflicts < 10; conflicts++) {
        struct svc_lr_status s = { .exit.trigger_index = -1 };
        struct svc_lr_input in = input();
        int64_t delay;

        in.policy = &fancy;
        in.exit = &said;
        in.random = UINT64_MAX / 3;
        svc_lr_status_reset(&s, 1);
        s.state = D;
        s.retries.transient_conflict = conflicts;
        assert_int_equal(svc_lr_run(&s, SVC_LR_DIAGNOSTICS, &in), 0);
        delay = (s.retry_at_ms - in.now_ms) / 1000;
        assert_true(conflicts ? delay >= 600 && delay <= 600 + 500 * SV_MIN(conflicts, 6)
                              : delay == 600);
        svc_lr_status_free(&s);
    }
}

static void stop_is_one_write(void **state)
{
    (void)state;
    for (int from = W; from < F; from++) {
        struct svc_lr_status s = { .exit.trigger_index = -1 };
        struct svc_lr_input in = input();

        svc_lr_status_reset(&s, 1);
        s.state = from;
        s.app.id = 9;
        assert_int_equal(svc_lr_run(&s, SVC_LR_STOP, &in), 0);
        assert_int_equal(s.exit.code, SVC_FW_EXIT_STOP_REQUESTED);
        assert_int_equal(s.exit.type, SVC_FW_NON_TRANSIENT);
        assert_int_equal(s.app.id, 9);
        assert_int_equal(s.completed_ms, 5000);
        assert_int_equal(in.kill, svc_lr_live(from));
        svc_lr_status_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge),        cmocka_unit_test(life),
        cmocka_unit_test(words_of_both),     cmocka_unit_test(backoff_after_a_conflict),
        cmocka_unit_test(stop_is_one_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
