/* aux-services/aux-outbox.c: the order of events, the number that may be unanswered, the bound of
 * the queue. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/aux-services/aux-outbox.h"

static struct nm_aux_outbox box;
static unsigned made;

/* Applications with an odd number are over. */
static json_t *make(const char *app, bool recovered, void *userdata)
{
    (void)userdata;
    made++;
    return strtoul(app, NULL, 10) % 2 ? NULL
                                      : json_pack("{s:s,s:s,s:b}", "type", "application-init",
                                                  "applicationId", app, "recovered", recovered);
}

static json_t *event(const char *type)
{
    return json_pack("{s:s,s:s}", "type", type, "containerId", "container_1");
}

/* The next frame. */
static json_t *next(void)
{
    const uint8_t *p;
    uint32_t n;

    assert_int_equal(sv_buf_get_u32(&box.bytes, &n), 0);
    assert_int_equal(sv_buf_get_ref(&box.bytes, &p, n), 0);
    return json_loadb((const char *)p, n, 0, NULL);
}

static void order(void **state)
{
    static const char *const types[] = { "container-init", "application-init", "container-stop" };
    struct nm_aux_unanswered u;

    (void)state;
    nm_aux_outbox_open(&box);
    assert_int_equal(nm_aux_outbox_push(&box, NULL), -ENOMEM);
    assert_int_equal(nm_aux_outbox_push(&box, event("container-init")), 0);
    assert_int_equal(nm_aux_outbox_push_app(&box, "1", true), 0);
    assert_int_equal(nm_aux_outbox_push_app(&box, "2", true), 0);
    assert_int_equal(nm_aux_outbox_push(&box, event("container-stop")), 0);
    assert_int_equal(made, 0);
    assert_int_equal(nm_aux_outbox_fill(&box, make, NULL), 0);
    assert_int_equal(made, 2);
    for (unsigned i = 0; i < 3; i++) {
        json_t *j = next();

        assert_string_equal(json_string_value(json_object_get(j, "type")), types[i]);
        assert_int_equal(json_integer_value(json_object_get(j, "seq")), i + 1);
        json_decref(j);
    }
    assert_int_equal(sv_buf_left(&box.bytes), 0);
    assert_false(nm_aux_outbox_answered(&box, 0, &u));
    assert_false(nm_aux_outbox_answered(&box, 4, &u));
    assert_true(nm_aux_outbox_answered(&box, 2, &u));
    assert_string_equal(u.what, "application-init 2");
    assert_false(nm_aux_outbox_answered(&box, 2, &u));
    assert_true(nm_aux_outbox_oldest_ms(&box) > 0);
    assert_true(nm_aux_outbox_answered(&box, 1, &u) && nm_aux_outbox_answered(&box, 3, &u));
    assert_string_equal(u.what, "container-stop container_1");
    assert_int_equal(nm_aux_outbox_oldest_ms(&box), 0);
    nm_aux_outbox_close(&box);
}

static void bounds(void **state)
{
    struct nm_aux_unanswered u;

    (void)state;
    nm_aux_outbox_open(&box);
    for (unsigned i = 0; i < NM_AUX_QUEUE_MAX; i++)
        assert_int_equal(nm_aux_outbox_push(&box, event("ping")), 0);
    assert_int_equal(nm_aux_outbox_push(&box, event("ping")), -ENOBUFS);
    assert_int_equal(nm_aux_outbox_push_app(&box, "2", false), -ENOBUFS);
    assert_int_equal(nm_aux_outbox_fill(&box, make, NULL), 0);
    assert_int_equal(box.n_unanswered, NM_AUX_UNANSWERED_MAX);
    assert_int_equal(box.n_queued, NM_AUX_QUEUE_MAX - NM_AUX_UNANSWERED_MAX);
    assert_true(nm_aux_outbox_answered(&box, 30, &u));
    assert_int_equal(nm_aux_outbox_fill(&box, make, NULL), 0);
    assert_int_equal(box.last_seq, NM_AUX_UNANSWERED_MAX + 1);
    assert_true(nm_aux_outbox_answered(&box, NM_AUX_UNANSWERED_MAX + 1, &u));
    nm_aux_outbox_close(&box);
    assert_int_equal(box.n_queued + box.n_unanswered, 0);
}

/* 256 KiB or a little more are encoded in one turn of the loop; the next one goes on. */
static void bytes_of_a_turn(void **state)
{
    char text[100001];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    nm_aux_outbox_open(&box);
    for (int i = 0; i < 20; i++)
        assert_int_equal(nm_aux_outbox_push(&box, event(text)), 0);
    assert_int_equal(nm_aux_outbox_fill(&box, make, NULL), 0);
    assert_int_equal(box.n_unanswered, 3);
    assert_int_equal(nm_aux_outbox_fill(&box, make, NULL), 0);
    assert_int_equal(box.n_unanswered, 6);
    nm_aux_outbox_close(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(order), cmocka_unit_test(bounds),
                                        cmocka_unit_test(bytes_of_a_turn) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
