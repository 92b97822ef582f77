/* rm-lite/security/queue-access.h: the lists of a queue and of those above it, with users and
 * groups. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <stdlib.h>

#include "common/user-groups.h"
#include "rm-lite/security/queue-access.h"

#define CS "yarn.scheduler.capacity."

static const char *const lists[][2] = {
    { "yarn.acl.enable", "true" },
    { CS "root.queues", "a,b" },
    { CS "root.a.capacity", "50" },
    { CS "root.b.capacity", "50" },
    { CS "root.acl_submit_applications", " " },
    { CS "root.acl_administer_queue", "boss" },
    { CS "root.a.acl_submit_applications", "ann staff" },
    { CS "root.b.acl_administer_queue", " ops" },
    { NULL, NULL },
};
static const char *const open_root[][2] = { { "yarn.acl.enable", "true" }, { NULL, NULL } };

static char **groups_of(void *data, const char *user, char *why, size_t why_size)
{
    char **list = calloc(2, sizeof(*list));

    (void)data, (void)why, (void)why_size;
    if (list)
        list[0] = strdup(strcmp(user, "bob") == 0    ? "staff"
                         : strcmp(user, "olga") == 0 ? "ops"
                                                     : "x");
    return list;
}

static void on_known(void *userdata)
{
    (void)userdata;
}

static void setup_groups(struct fix *f, const char *const (*keys)[2])
{
    const struct sv_groups_conf conf = {
        .cache_ms = 60000, .negative_ms = 60000, .source = { .names = groups_of }, .known = on_known
    };

    setup_with(f, keys);
    f->rm->groups = sv_groups_free(f->rm->groups);
    assert_true(sv_groups_new(f->event, &conf, &f->rm->groups) >= 0);
}

static int may_submit(struct fix *f, const char *queue, const char *user, struct sv_error *err)
{
    struct yarn_app_id id = { f->rm->started_ms, 1 };

    return rm_queue_may_submit(f->rm, queue, user, id, err);
}

static int may_move(struct fix *f, const char *queue, const char *user, struct sv_error *err)
{
    struct yarn_app_id id = { f->rm->started_ms, 1 };

    return rm_queue_may_move(f->rm, queue, user, id, err);
}

static void know(struct fix *f, const char *user)
{
    char *const *groups;

    while (sv_groups_of(f->rm->groups, user, &groups) == -EAGAIN)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    (void)sv_groups_missed(f->rm->groups);
}

static void test_users_and_groups(void **state)
{
    struct sv_error err = { 0 };
    struct fix f;

    (void)state;
    setup_groups(&f, lists);
    assert_int_equal(may_submit(&f, "a", "ann", &err), 0);
    assert_int_equal(may_submit(&f, "root.a", "boss", &err), 0);
    /* The first question about a group is too early; a client asks for an id before, which asks. */
    assert_int_equal(may_submit(&f, "a", "bob", &err), -EACCES);
    assert_non_null(strstr(err.text, "User bob does not have permission to submit application_"));
    assert_non_null(strstr(err.text, "submit again"));
    know(&f, "bob");
    assert_int_equal(may_submit(&f, "a", "bob", &err), 0);
    assert_int_equal(may_submit(&f, "b", "bob", &err), -EACCES);
    assert_null(strstr(err.text, "submit again"));
    rm_queue_access_prepare(f.rm, "olga");
    know(&f, "olga");
    assert_int_equal(may_submit(&f, "b", "olga", &err), 0);
    assert_int_equal(may_move(&f, "b", "olga", &err), 0);
    assert_int_equal(may_move(&f, "b", "bob", &err), -EACCES);
    assert_non_null(strstr(err.text, "User bob cannot submit applications to target queue or the "
                                     "target queue doesn't exist: b while moving application_"));
    assert_int_equal(may_move(&f, "nowhere", "boss", &err), -EACCES);
    assert_true(rm_queue_administers(f.rm, "b", "olga"));
    assert_true(rm_queue_administers(f.rm, "b", "boss"));
    assert_false(rm_queue_administers(f.rm, "a", "olga"));
    assert_false(rm_queue_administers(f.rm, "a", "ann"));
    teardown(&f);
}

/* Hadoop's default: everybody has access to the root. Everybody submits; nobody may kill others'
 * applications. */
static void test_default(void **state)
{
    struct sv_error err = { 0 };
    struct fix f;

    (void)state;
    setup_groups(&f, open_root);
    assert_int_equal(may_submit(&f, "default", "eve", &err), 0);
    assert_false(rm_queue_administers(f.rm, "default", "eve"));
    teardown(&f);
    setup(&f); /* without yarn.acl.enable */
    rm_queue_access_prepare(f.rm, "eve");
    assert_int_equal(may_submit(&f, "default", "eve", &err), 0);
    teardown(&f);
}

/* The submission itself is refused, before an application is made. */
static void test_submission(void **state)
{
    struct submission s;
    struct sv_error err = { 0 };
    const char *class;
    struct fix f;

    (void)state;
    setup_groups(&f, lists);
    submission_init(&f, &s);
    s.ctx.queue = (char *)(uintptr_t) "root.b";
    assert_int_equal(rm_app_submit(f.rm, &s.ctx, "ann", &class, &err), -EACCES);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    assert_null(rm_app_find(f.rm, s.app_id));
    s.ctx.queue = (char *)(uintptr_t) "a";
    assert_int_equal(rm_app_submit(f.rm, &s.ctx, "ann", &class, &err), 0);
    assert_non_null(rm_app_find(f.rm, s.app_id));
    teardown(&f);
}

/* queue-mappings from the submission to the store; the groups are asked for first. */
static void test_mapped_submission(void **state)
{
    static const char *const keys[][2] = {
        { CS "root.queues", "default,b" },
        { CS "root.default.capacity", "50" },
        { CS "root.b.capacity", "50" },
        { CS "queue-mappings", "g:x:b" },
        { NULL, NULL },
    };
    struct sv_error err = { 0 };
    struct submission s;
    const char *class;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_groups(&f, keys);
    submission_init(&f, &s);
    assert_int_equal(rm_app_submit(f.rm, &s.ctx, "ann", &class, &err), -EAGAIN);
    assert_non_null(strstr(err.text, "not known yet, submit again"));
    know(&f, "ann");
    app = submit_ctx(&f, &s);
    assert_string_equal(app->queue, "root.b");
    stop(&f);
    f.keys = NULL; /* after a restart without the mapping it is still there */
    start(&f);
    app = rm_app_find(f.rm, s.app_id);
    assert_string_equal(app->queue, "root.b");
    teardown(&f);
}

/* The answer of getQueueUserAcls. */
static void test_rights(void **state)
{
    static const struct {
        const char *queue, *user;
        bool submit, administer;
    } cases[] = {
        { "root.a", "ann", true, false },  { "root.a", "bob", true, false },
        { "root.b", "bob", false, false }, { "root.b", "olga", true, true },
        { "root.a", "boss", true, true },  { "root", "eve", false, false },
    };
    bool submit, administer;
    struct fix f;

    (void)state;
    setup_groups(&f, lists);
    know(&f, "bob");
    know(&f, "olga");
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        rm_queue_rights(f.rm, cases[i].queue, cases[i].user, &submit, &administer);
        if (submit != cases[i].submit || administer != cases[i].administer)
            fail_msg("%s in %s: %d %d", cases[i].user, cases[i].queue, submit, administer);
    }
    teardown(&f);
    setup(&f);
    rm_queue_rights(f.rm, "root.default", "eve", &submit, &administer);
    assert_true(submit && administer);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mapped_submission), cmocka_unit_test(test_users_and_groups),
        cmocka_unit_test(test_default),           cmocka_unit_test(test_rights),
        cmocka_unit_test(test_submission),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
