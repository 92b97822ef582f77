/* The launcher's store in a real ZooKeeper: the checks that every place passes, and one server that
 * is fenced while it writes. For test-framework-servers of the interop suite.
 *
 *     launcher-store HOST:PORT ROOT        # the root does not exist */
#include <errno.h>

#include "common/clock.h"
#include "common/log.h"
#include "service/ha/ha.h"
#include "tests/unit/service/store-fixture.h"

#define SESSION_MS 6000 /* the least that a server with the usual ticks grants */

static sd_event *event;
static struct sv_zk_settings settings = { .session_ms = SESSION_MS };
static const char *root;

struct server {
    struct svc_ha *h;
    struct svc_lr_store *store;
    bool lost;
};

static void on_active(struct svc_lr_store *store, void *userdata)
{
    ((struct server *)userdata)->store = store;
}
static void on_lost(void *userdata)
{
    ((struct server *)userdata)->lost = true;
}
static void on_kept(void *userdata)
{
    (void)userdata;
}

#define RUN_UNTIL(condition)                                                                       \
    do {                                                                                           \
        int64_t until_ = sv_now_ms() + 60000;                                                      \
                                                                                                   \
        while (!(condition)) {                                                                     \
            assert_true(sv_now_ms() < until_);                                                     \
            assert_true(sd_event_run(event, 1000000) >= 0);                                        \
        }                                                                                          \
    } while (0)

static void start(struct server *s, const char *url)
{
    const struct svc_ha_config cfg = {
        event, &settings, root, url, on_active, on_lost, on_kept, s
    };
    struct sv_error err = { 0 };

    *s = (struct server){ 0 };
    assert_int_equal(svc_ha_new(&cfg, &s->h, &err), 0);
    RUN_UNTIL(s->store);
}

static struct svc_lr_store *again(void *u, struct svc_lr_store *store)
{
    struct server *s = u;

    (void)svc_lr_store_close(store); /* NULL */
    s->store = NULL;
    s->h = svc_ha_free(s->h);
    start(s, "http://a:1");
    return s->store;
}
static void keep(void *u, struct svc_lr_store *s)
{
    (void)u;
    RUN_UNTIL(svc_lr_store_keeps(s, svc_lr_store_ticket(s)));
}

static void as_every_place(void **state)
{
    struct server s = { 0 };
    const struct store_place place = { &s, again, keep };

    (void)state;
    store_check(&place);
    s.h = svc_ha_free(s.h);
}

/* The one that no longer is active has a session that lives: the fence alone stops it. */
static void fenced(void **state)
{
    struct server a, b;

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(svc_lr_store_may_act(a.store));
    svc_ha_resign(a.h, "the test"); /* Active goes, and its store is kept here */
    assert_true(a.lost);
    svc_lr_store_begin(a.store);
    svc_lr_store_meta(a.store, "k", "late");
    assert_int_equal(svc_lr_store_commit(a.store), -EIO);
    assert_false(svc_lr_store_may_act(a.store));
    start(&b, "http://b:1"); /* at once: not the session's end is awaited */
    assert_int_equal(store_read(b.store).metas, 1);
    RUN_UNTIL(svc_ha_other(a.h));
    assert_string_equal(svc_ha_other(a.h), "http://b:1");
    b.store = svc_lr_store_close(b.store);
    a.store = svc_lr_store_close(a.store);
    b.h = svc_ha_free(b.h);
    a.h = svc_ha_free(a.h);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_every_place),
        cmocka_unit_test(fenced),
    };
    int r;

    if (argc != 3)
        return EXIT_FAILURE;
    sv_log_init("launcher-store");
    settings.servers = argv[1];
    root = argv[2];
    if (sd_event_default(&event) < 0)
        return EXIT_FAILURE;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    event = sd_event_unref(event);
    return r;
}
