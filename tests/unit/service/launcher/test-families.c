/* service/launcher/families.c: large families are stopped and deleted in turns, and a start in
 * between goes on. */
#include "service/launcher/internal.h"
#include "tests/unit/service/launcher-fixture.h"

#define N 300
#define TURN 64

static unsigned put_child(struct fake *k, const char *name, const char *parent)
{
    _cleanup_free_ char *body = NULL, *uri = NULL;

    assert_true(sv_asprintf(&body,
                            "{\"version\":1,\"parentFramework\":{\"parentFrameworkName\":\"%s\","
                            "\"deleteOnParentDeleted\":true,\"stopOnParentStopped\":true},%s",
                            parent, &BODY(1, "")[strlen("{\"version\":1,")]) >= 0);
    assert_true(sv_asprintf(&uri, "/v1/Frameworks/%s", name) >= 0);
    return status_of(k, "PUT", uri, body);
}

/* p has c0…, each third of which is a child of the one before; "other" is nobody's. */
static void begin(struct fake *k)
{
    char name[16], parent[16];

    k->dead = true;
    fake_start(k);
    assert_int_equal(status_of(k, "PUT", "/v1/Frameworks/p", BODY(1, "")), 202);
    assert_int_equal(status_of(k, "PUT", "/v1/Frameworks/other", BODY(1, "")), 202);
    for (int i = 0; i < N; i++) {
        (void)snprintf(name, sizeof(name), "c%d", i);
        (void)snprintf(parent, sizeof(parent), "c%d", i - 1);
        assert_int_equal(put_child(k, name, i % 3 == 2 ? parent : "p"), 202);
    }
}

static void restart(struct fake *k)
{
    struct sv_error err = { 0 };

    svc_lr_clear(k->l);
    assert_int_equal(svc_lr_load(k->l, &err), 0);
}

static void deletes_in_turns(void **state)
{
    struct fake k = { 0 };

    (void)state;
    begin(&k);
    k.soon = false;
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/p", NULL), 202);
    assert_true(k.l->all.n >= N + 2 - TURN); /* there are still some */
    assert_true(k.soon);
    /* They are gone for all who ask. */
    assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/p", NULL), 404);
    assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/c2", NULL), 404);
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/p", NULL), 202);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/p", BODY(1, "")), 503);
    assert_int_equal(put_child(&k, "new", "p"), 400);
    {
        _cleanup_said_ struct said s = ask(&k, "GET", "/v1/Frameworks", NULL);

        assert_null(strstr(s.body, "\"c"));
        assert_non_null(strstr(s.body, "\"other\""));
    }
    for (int turn = 0; k.l->families; turn++) {
        size_t before = k.l->all.n;

        if (turn == 1) { /* the program ends here, and starts */
            restart(&k);
            assert_int_equal(k.l->all.n, before);
            assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/c2", NULL), 404);
        }
        svc_lr_tick(k.l);
        assert_true(before - k.l->all.n <= TURN);
        assert_true(turn < N);
    }
    assert_int_equal(k.l->all.n, 1);
    assert_null(k.l->all.parents);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/p", BODY(1, "")), 202);
    restart(&k);
    assert_int_equal(k.l->all.n, 2);
    assert_null(k.l->families);
    fake_stop(&k);
}

static int stopped(const struct fake *k)
{
    const struct svc_framework *f;
    int n = 0;

    for (f = k->l->all.by_name; f; f = f->hh.next)
        n += f->d->stop;
    return n;
}

static void stops_in_turns(void **state)
{
    static const char stop[] = "{\"executionType\":\"STOP\"}",
                      start[] = "{\"executionType\":\"START\"}";
    struct fake k = { 0 };
    int before;

    (void)state;
    begin(&k);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/p/ExecutionType", stop), 202);
    assert_true(stopped(&k) <= 1 + TURN);
    assert_true(svc_lr_find(&k.l->all, "p")->d->stop);
    /* A change that the next turns would undo is refused; a child that comes is stopped. */
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/p/ExecutionType", start), 503);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/c0/ExecutionType", start), 503);
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/p", NULL), 503);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/c0", BODY(1, "")), 503);
    assert_int_equal(put_child(&k, "new", "c0"), 202);
    assert_true(svc_lr_find(&k.l->all, "new")->d->stop);
    before = stopped(&k);
    restart(&k);
    assert_int_equal(stopped(&k), before);
    for (int turn = 0; k.l->families; turn++) {
        before = stopped(&k);
        svc_lr_tick(k.l);
        assert_true(stopped(&k) - before <= TURN);
        assert_true(turn < N);
    }
    assert_int_equal(stopped(&k), N + 2);
    assert_false(svc_lr_find(&k.l->all, "other")->d->stop);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/c0/ExecutionType", start), 202);
    restart(&k);
    assert_int_equal(stopped(&k), N + 1);
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/p", NULL), 202);
    fake_stop(&k); /* and memory is freed in the middle of it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deletes_in_turns),
        cmocka_unit_test(stops_in_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
