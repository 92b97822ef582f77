/* service/launcher/poll.c: applications that the ResourceManager is asked for. */
#include "service/launcher/internal.h"
#include "tests/unit/service/launcher-fixture.h"

/* Those that have ended, and whose frameworks have, are not asked for any more. */
static void history(void **state)
{
    struct fake k = { 0 };

    (void)state;
    fake_start(&k);
    for (int i = 0; i < 5; i++) {
        char uri[40];

        (void)snprintf(uri, sizeof(uri), "/v1/Frameworks/f%d", i);
        assert_int_equal(status_of(&k, "PUT", uri, BODY(1, "")), 202);
        fake_run(&k);
    }
    for (int i = 0; i < 4; i++) {
        k.apps[i].ended = true;
        k.apps[i].final = SVC_LR_FINAL_SUCCEEDED;
    }
    fake_poll(&k);
    assert_int_equal(k.reports, 5);
    k.reports = 0;
    fake_poll(&k);
    fake_poll(&k);
    assert_int_equal(k.reports, 2); /* of the one that lives */
    fake_stop(&k);
}

static void launched(struct fake *k, int i)
{
    struct yarn_app_id none = { 0 };
    struct svc_framework *f;
    char uri[40];

    (void)snprintf(uri, sizeof(uri), "/v1/Frameworks/f%d", i);
    assert_int_equal(status_of(k, "PUT", uri, BODY(1, "")), 202);
    f = svc_lr_find(&k->l->all, uri + strlen("/v1/Frameworks/"));
    assert_non_null(f);
    svc_lr_dequeue(k->l, f);
    f->st.state = SVC_LR_APP_RUNNING;
    f->st.app = (struct yarn_app_id){ CLUSTER_TS, i + 1 };
    svc_lr_index_app(&k->l->all, f, none);
}

/* Where very many have ended at once a poll asks for some, the next one for the others first. */
static void many_at_once(void **state)
{
    struct yarn_app_id ids[SVC_LR_MISSING_MAX];
    struct fake k = { .dead = true };

    (void)state;
    fake_start(&k);
    for (int i = 0; i < SVC_LR_MISSING_MAX + 10; i++)
        launched(&k, i);
    svc_lr_poll_begin(k.l);
    assert_int_equal(svc_lr_poll_missing(k.l, ids), SVC_LR_MISSING_MAX);
    assert_int_equal(ids[0].id, 1);
    assert_true(k.l->again);
    svc_lr_poll_end(k.l);
    assert_true(k.l->again); /* soon */
    svc_lr_poll_begin(k.l);
    for (int i = 0; i < SVC_LR_MISSING_MAX; i++) { /* others are live */
        struct svc_lr_report r = { .app = { CLUSTER_TS, i + 1 }, .state = SVC_LR_IS_RUNNING };

        if (i != 3)
            assert_false(svc_lr_poll_seen(k.l, &r)); /* and nothing has changed */
    }
    assert_int_equal(svc_lr_poll_missing(k.l, ids), 11);
    assert_int_equal(ids[0].id, SVC_LR_MISSING_MAX + 1);
    assert_int_equal(ids[10].id, 4);
    svc_lr_poll_end(k.l);
    assert_false(k.l->again);
    fake_stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history),
        cmocka_unit_test(many_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
