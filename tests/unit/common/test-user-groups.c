/* common/user-groups.c, with a source that the tests hold back. */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/user-groups.h"

static sd_event *event;
static struct sv_groups *groups;
static int told;

/* The source: every look-up waits while `held`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool held;
static int calls, inside, most_inside;

static char **source(void *data, const char *user, char *why, size_t why_size)
{
    char **names = calloc(3, sizeof(*names));

    (void)data, (void)why, (void)why_size;
    pthread_mutex_lock(&lock);
    calls++;
    inside++;
    most_inside = SV_MAX(most_inside, inside);
    pthread_cond_broadcast(&changed);
    while (held)
        pthread_cond_wait(&changed, &lock);
    inside--;
    pthread_mutex_unlock(&lock);
    assert_non_null(names);
    if (strncmp(user, "none", 4) != 0) {
        names[0] = strdup("staff");
        names[1] = strdup("dev");
    }
    return names;
}

static void hold(bool on)
{
    pthread_mutex_lock(&lock);
    held = on;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Waits until so many look-ups are in the source. */
static void wait_inside(int n)
{
    pthread_mutex_lock(&lock);
    while (inside < n)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void known(void *userdata)
{
    assert_ptr_equal(userdata, &told);
    told++;
}

static int setup(void **state)
{
    static const struct sv_groups_conf conf = { .cache_ms = 300000,
                                                .negative_ms = 30000,
                                                .source = { .names = source },
                                                .known = known,
                                                .userdata = &told };

    (void)state;
    told = calls = inside = most_inside = 0;
    held = false;
    sv_clock_set_test(1000000, 1700000000000);
    return sd_event_new(&event) < 0 || sv_groups_new(event, &conf, &groups) < 0;
}

static int teardown(void **state)
{
    (void)state;
    hold(false);
    groups = sv_groups_free(groups);
    event = sd_event_unref(event);
    sv_clock_reset();
    return 0;
}

static char *const *names_of(const char *user)
{
    char *const *names = NULL;

    while (sv_groups_of(groups, user, &names) == -EAGAIN)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    return names;
}

static void cached(void **state)
{
    char *const *names;

    (void)state;
    assert_int_equal(sv_groups_of(groups, "alice", &names), -EAGAIN);
    assert_true(sv_groups_missed(groups));
    assert_false(sv_groups_missed(groups));
    names = names_of("alice");
    assert_int_equal(told, 1);
    assert_string_equal(names[0], "dev");                             /* sorted */
    assert_string_equal(sv_groups_primary(groups, "alice"), "staff"); /* as the source has it */
    assert_string_equal(names[1], "staff");
    assert_null(names[2]);
    (void)sv_groups_missed(groups);
    sv_clock_set_test(1000000 + 299999, 0);
    assert_int_equal(sv_groups_of(groups, "alice", &names), 0);
    assert_false(sv_groups_missed(groups));
    assert_int_equal(calls, 1);
    sv_clock_set_test(1000000 + 300000, 0);
    assert_int_equal(sv_groups_of(groups, "alice", &names), -EAGAIN);
    (void)names_of("alice");
    assert_int_equal(calls, 2);
    sv_groups_forget(groups);
    (void)names_of("alice");
    assert_int_equal(calls, 3);
}

static void without_groups(void **state)
{
    char *const *names;

    (void)state;
    assert_null(*names_of("none"));
    sv_clock_set_test(1000000 + 29999, 0);
    assert_int_equal(sv_groups_of(groups, "none", &names), 0);
    sv_clock_set_test(1000000 + 30000, 0);
    assert_int_equal(sv_groups_of(groups, "none", &names), -EAGAIN);
    (void)names_of("none");
    assert_int_equal(calls, 2);
}

/* A list that names the user needs no look-up; one by group needs one. */
static void lists(void **state)
{
    (void)state;
    assert_true(sv_acl_admits("alice staff", "alice", groups));
    assert_false(sv_acl_admits("alice", "bob", groups));
    assert_false(sv_groups_missed(groups));
    assert_int_equal(calls, 0);
    assert_false(sv_acl_admits("alice staff", "bob", groups));
    assert_true(sv_groups_missed(groups));
    (void)names_of("bob");
    assert_true(sv_acl_admits("alice staff", "bob", groups));
    assert_false(sv_acl_admits("alice admins", "bob", groups));
    assert_false(sv_acl_admits("alice staff", "bob", NULL));
    assert_int_equal(calls, 1);
}

/* A client that asks for ever more names: threads, pending look-ups and the cache are bounded. */
static void bounds(void **state)
{
    char user[32];
    char *const *names;
    int waiting = 0;

    (void)state;
    hold(true);
    for (int i = 0; i < 3 * SV_GROUPS_PENDING_MAX; i++) {
        snprintf(user, sizeof(user), "user%d", i);
        waiting += sv_groups_of(groups, user, &names) == -EAGAIN;
    }
    assert_int_equal(waiting, SV_GROUPS_PENDING_MAX);
    assert_null(*names);
    wait_inside(SV_GROUPS_THREADS);
    hold(false);
    for (int i = 0; i < 2 * SV_GROUPS_USERS_MAX; i++) {
        snprintf(user, sizeof(user), "user%d", i);
        assert_non_null(*names_of(user));
    }
    assert_int_equal(most_inside, SV_GROUPS_THREADS);
    assert_int_equal(sv_groups_of(groups, "user0", &names), -EAGAIN); /* gave way */
}

/* A name service that does not answer: the user has no groups, until it does. */
static void hanging(void **state)
{
    char *const *names;

    (void)state;
    hold(true);
    assert_int_equal(sv_groups_of(groups, "alice", &names), -EAGAIN);
    sv_clock_set_test(1000000 + SV_GROUPS_TIMEOUT_MS, 0);
    for (int i = 0; i < SV_GROUPS_THREADS; i++) { /* their timers are due */
        char user[16];

        snprintf(user, sizeof(user), "more%d", i);
        assert_int_equal(sv_groups_of(groups, user, &names), -EAGAIN);
    }
    while (!told)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_int_equal(sv_groups_of(groups, "alice", &names), 0);
    assert_null(*names);
    hold(false);
    assert_non_null(*names_of("more3")); /* had to wait for a thread */
    sv_clock_set_test(1000000 + SV_GROUPS_TIMEOUT_MS + 30000, 0);
    assert_non_null(*names_of("alice"));
}

/* Compares with this machine's name service for root. */
static void name_service(void **state)
{
    const struct sv_groups_conf conf = { 300000, 30000, .known = known, .userdata = &told };
    const struct group *gr;
    char *const *names;

    (void)state;
    groups = sv_groups_free(groups);
    assert_int_equal(sv_groups_new(event, &conf, &groups), 0);
    names = names_of("root");
    assert_non_null(*names);
    gr = getgrgid(0);
    assert_non_null(gr);
    while (*names && strcmp(*names, gr->gr_name) != 0)
        names++;
    assert_non_null(*names);
    assert_null(*names_of("no-such-user-here"));
}

/* Users of the configuration: no look-up, whatever the name service has for them. */
static void overrides(void **state)
{
    struct sv_groups_conf conf = { .cache_ms = 300000,
                                   .negative_ms = 30000,
                                   .source = { .names = source },
                                   .known = known,
                                   .userdata = &told,
                                   .overrides = "ann= ops ,dev,admin; dr.who=;bob=staff" };
    char *const *names;

    (void)state;
    groups = sv_groups_free(groups);
    assert_int_equal(sv_groups_new(event, &conf, &groups), 0);
    assert_int_equal(sv_groups_of(groups, "ann", &names), 0);
    assert_string_equal(names[0], "admin");
    assert_string_equal(names[1], "dev");
    assert_string_equal(names[2], "ops");
    assert_null(names[3]);
    assert_string_equal(sv_groups_primary(groups, "ann"), "ops");
    assert_int_equal(sv_groups_of(groups, "dr.who", &names), 0);
    assert_null(*names);
    assert_null(sv_groups_primary(groups, "dr.who"));
    assert_true(sv_acl_admits(" ops", "ann", groups));
    sv_groups_forget(groups);
    assert_true(sv_acl_admits(" staff", "bob", groups));
    assert_false(sv_groups_missed(groups));
    assert_int_equal(calls, 0);
    assert_string_equal(*names_of("carol"), "dev");
    assert_int_equal(calls, 1);
}

/* ---- A source with a life of its own ---- */

static int refs; /* atomic */

static void *take(void *data)
{
    __atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
    return data;
}

static void let_go(void *data)
{
    __atomic_sub_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
}

static char **away(void *data, const char *user, char *why, size_t why_size)
{
    assert_ptr_equal(data, &refs);
    if (strcmp(user, "ann") != 0)
        (void)snprintf(why, why_size, "the directory\nis away");
    return strcmp(user, "ann") != 0 ? NULL : source(NULL, user, why, why_size);
}

/* A source that fails leaves its user without groups; the last look-up, which may outlive all,
 * lets go of it. */
static void source_of_its_own(void **state)
{
    struct sv_groups_conf conf = { .cache_ms = 300000,
                                   .negative_ms = 30000,
                                   .source = { away, take, let_go, &refs },
                                   .known = known,
                                   .userdata = &told };
    char *const *names;

    (void)state;
    sv_groups_free(groups);
    refs = 1;
    assert_int_equal(sv_groups_new(event, &conf, &groups), 0);
    sv_groups_source_unref(&conf.source);
    assert_string_equal(*names_of("ann"), "dev");
    assert_null(*names_of("bob"));
    assert_null(*names_of("carol"));
    hold(true);
    assert_int_equal(sv_groups_of(groups, "ann", &names), 0); /* remembered */
    sv_groups_forget(groups);
    assert_int_equal(sv_groups_of(groups, "ann", &names), -EAGAIN);
    wait_inside(1);
    groups = sv_groups_free(groups);
    assert_int_equal(__atomic_load_n(&refs, __ATOMIC_SEQ_CST), 1);
    hold(false);
    while (__atomic_load_n(&refs, __ATOMIC_SEQ_CST) > 0) /* ends by the test's limit if it stays */
        sched_yield();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cached, setup, teardown),
        cmocka_unit_test_setup_teardown(without_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(lists, setup, teardown),
        cmocka_unit_test_setup_teardown(bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(hanging, setup, teardown),
        cmocka_unit_test_setup_teardown(name_service, setup, teardown),
        cmocka_unit_test_setup_teardown(overrides, setup, teardown),
        cmocka_unit_test_setup_teardown(source_of_its_own, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
