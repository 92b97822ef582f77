/* nodemanager/amrmproxy/member-line.c: what failed calls mean, and a line whose address and token
 * change while calls are open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/nodemanager/fake-members.h"

int nm_amrm_dial(const struct nm_amrm_env *env, const struct nm_amrm_dial *d,
                 struct ipc_proxy **ret, struct sv_error *err)
{
    (void)env;
    (void)d;
    (void)ret;
    (void)err;
    fail();
    return -EINVAL;
}

static enum nm_member_fault fault(int status, const char *class, const char *text,
                                  int32_t *ret_expected)
{
    const struct ipc_result r = { .status = status, .java_class = class };
    struct sv_error err = { 0 };

    (void)snprintf(err.text, sizeof(err.text), "%s", text);
    return nm_member_fault_of(&r, &err, ret_expected);
}

#define WRONG_ID                                                                                   \
    "h:1: allocate: Invalid responseId in AllocateRequest from application attempt: a, "

static void faults(void **state)
{
    int32_t id = -1;

    (void)state;
    assert_int_equal(fault(-ECONNREFUSED, NULL, "", &id), NM_FAULT_ABSENT);
    assert_int_equal(fault(-ECANCELED, NULL, "", &id), NM_FAULT_ABSENT);
    assert_int_equal(fault(-EREMOTEIO, JAVA_STANDBY, "", &id), NM_FAULT_ABSENT);
    assert_int_equal(fault(-EREMOTEIO, JAVA_RETRIABLE, "", &id), NM_FAULT_ABSENT);
    assert_int_equal(fault(-EREMOTEIO, JAVA_AM_NOT_REGISTERED, "", &id), NM_FAULT_NOT_REGISTERED);
    assert_int_equal(fault(-EREMOTEIO, JAVA_ATTEMPT_NOT_FOUND, "", &id), NM_FAULT_LOST);
    assert_int_equal(fault(-EREMOTEIO, JAVA_APP_NOT_FOUND, "", &id), NM_FAULT_LOST);
    assert_int_equal(fault(-EREMOTEIO, JAVA_INVALID_TOKEN, "", &id), NM_FAULT_LOST);
    assert_int_equal(fault(-EREMOTEIO, JAVA_YARN_EXCEPTION, "", &id), NM_FAULT_REFUSED);
    assert_int_equal(fault(-EREMOTEIO, JAVA_INVALID_AM_REQUEST,
                           "Application Master is already registered : application_1_0001", &id),
                     NM_FAULT_REGISTERED);
    assert_int_equal(fault(-EREMOTEIO, JAVA_INVALID_AM_REQUEST, "other", &id), NM_FAULT_REFUSED);
    assert_int_equal(id, -1);
    assert_int_equal(fault(-EREMOTEIO, JAVA_INVALID_AM_REQUEST,
                           WRONG_ID "expect responseId to be 41, but get 3", &id),
                     NM_FAULT_RESPONSE_ID);
    assert_int_equal(id, 41);
    for (size_t i = 0; i < 3; i++) {
        static const char *const hostile[] = { WRONG_ID "expect responseId to be -1",
                                               WRONG_ID
                                               "expect responseId to be 99999999999999999999",
                                               WRONG_ID "expect responseId to be x" };

        assert_int_equal(fault(-EREMOTEIO, JAVA_INVALID_AM_REQUEST, hostile[i], &id),
                         NM_FAULT_REFUSED);
    }
    assert_int_equal(id, 41);
}

static void texts(void **state)
{
    const struct sv_error err = { .text = "h:1: allocate: Invalid: allocate: x" };
    const struct sv_error other = { .text = "no method" };

    (void)state;
    assert_string_equal(nm_member_fault_text(&err, "allocate"), "Invalid: allocate: x");
    assert_string_equal(nm_member_fault_text(&other, "allocate"), "no method");
}

/* ---- The line ---- */

static int n_done, last_status;

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)err;
    (void)userdata;
    n_done++;
    last_status = r->status;
}

static int finish_call(struct nm_member_line *l)
{
    Hadoop__Yarn__FinishApplicationMasterRequestProto q =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    struct sv_error err = { 0 };

    return nm_member_line_call(l, "finishApplicationMaster", &q.base,
                               &hadoop__yarn__finish_application_master_response_proto__descriptor,
                               on_done, NULL, &err);
}

static struct yarn_token token(const char *id)
{
    return (struct yarn_token){ .id = (const uint8_t *)id,
                                .id_len = strlen(id),
                                .password = (const uint8_t *)"pw",
                                .password_len = 2,
                                .kind = YARN_KIND_AMRM,
                                .service = "" };
}

static void run(void)
{
    while (sd_event_run(fakes.event, 0) > 0)
        ;
}

static void line(void **state)
{
    struct nm_member_line l = { .wire = &fake_wire, .service = YARN_RM_SCHEDULER };
    struct yarn_token first = token("first"), second = token("second");
    sd_event *event;

    (void)state;
    assert_int_equal(sd_event_new(&event), 0);
    fakes_open(event);
    assert_int_equal(finish_call(&l), -EDESTADDRREQ);
    assert_int_equal(nm_member_line_set_token(&l, &first), 0);
    assert_int_equal(nm_member_line_set_address(&l, "a:1"), 0);
    assert_int_equal(finish_call(&l), 0);
    assert_int_equal(finish_call(&l), -EBUSY);
    assert_int_equal(nm_member_line_set_token(&l, &second), 0); /* for the next one */
    run();
    assert_int_equal(n_done, 1);
    assert_string_equal(fakes.v[0].token, "first");
    assert_int_equal(finish_call(&l), 0);
    run();
    assert_string_equal(fakes.v[0].token, "second");
    /* Another address: the open call fails. The same one: nothing happens. */
    assert_int_equal(finish_call(&l), 0);
    assert_int_equal(nm_member_line_set_address(&l, "a:1"), 0);
    assert_int_equal(n_done, 2);
    assert_int_equal(nm_member_line_set_address(&l, "a:2"), 0);
    assert_int_equal(n_done, 3);
    assert_int_equal(last_status, -ECANCELED);
    assert_int_equal(finish_call(&l), 0);
    run();
    assert_int_equal(fakes.v[1].n_finished, 1);
    /* Dropped: nobody is told. */
    assert_int_equal(finish_call(&l), 0);
    nm_member_line_drop(&l);
    run();
    assert_int_equal(n_done, 4);
    assert_int_equal(finish_call(&l), 0);
    nm_member_line_clear(&l);
    assert_int_equal(n_done, 4);
    fakes_close();
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(texts),
        cmocka_unit_test(line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
