/* service/ha/: one of several servers is active, another goes on with what it has written, and one
 * that no longer is writes nothing; answers that were lost; the launcher, which waits for what the
 * store keeps. ZooKeeper is zookeeper-fixture.h's. */
#include "service/ha/ha.h"

#include "common/clock.h"
#include "tests/unit/service/launcher-fixture.h"
#include "tests/unit/service/zookeeper-fixture.h"

#define ROOT "/apps/launcher"

static sd_event *event;
static struct sv_zk_settings settings = { .servers = "z:2181", .session_ms = FAKE_SESSION_MS };

struct server {
    struct svc_ha *h;
    struct sv_zk *zk;
    struct svc_lr_store *store;
    unsigned actives, losses, keeps;
};

static void on_active(struct svc_lr_store *store, void *userdata)
{
    struct server *s = userdata;

    assert_null(s->store);
    s->store = store;
    s->actives++;
}
static void on_lost(void *userdata)
{
    ((struct server *)userdata)->losses++;
}
static void on_kept(void *userdata)
{
    ((struct server *)userdata)->keeps++;
}

static void start(struct server *s, const char *url)
{
    const struct svc_ha_config cfg = {
        event, &settings, ROOT, url, on_active, on_lost, on_kept, s
    };
    struct sv_error err = { 0 };

    *s = (struct server){ 0 };
    assert_int_equal(svc_ha_new(&cfg, &s->h, &err), 0);
    s->zk = fake_zk.last;
    fake_zk_up(s->zk);
}
static void stop(struct server *s)
{
    s->store = svc_lr_store_close(s->store);
    s->h = svc_ha_free(s->h);
}

/* The loop goes on, with ZooKeeper for `of` alone or all, until the condition holds. */
#define RUN_UNTIL(of, condition)                                                                   \
    do {                                                                                           \
        int64_t until_ = sv_now_ms() + 20000;                                                      \
                                                                                                   \
        fake_zk_run(of);                                                                           \
        while (!(condition)) {                                                                     \
            assert_true(sv_now_ms() < until_);                                                     \
            assert_true(sd_event_run(event, 10000) >= 0);                                          \
            fake_zk_run(of);                                                                       \
        }                                                                                          \
    } while (0)

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(sd_event_new(&event), 0);
    return 0;
}
static int tear_down(void **state)
{
    (void)state;
    fake_zk_clear();
    event = sd_event_unref(event);
    return 0;
}

/* ---- Rows ---- */

static int none_of(void *u, int64_t tasks)
{
    (void)u;
    (void)tasks;
    return 0;
}
static int framework(void *u, const char *name, const char *request, const char *status,
                     int64_t tasks)
{
    char *to = u;

    (void)snprintf(to + strlen(to), 200, "%s %s %s %d;", name, request, status, (int)tasks);
    return 0;
}
static int task(void *u, const char *name, const char *role, int32_t index, const char *text)
{
    (void)u, (void)name, (void)role, (void)index, (void)text;
    return 0;
}
static int kill_of(void *u, const char *app, const char *user, const char *name)
{
    (void)u, (void)app, (void)user, (void)name;
    return 0;
}
static int meta(void *u, const char *key, const char *value)
{
    (void)u, (void)key, (void)value;
    return 0;
}
static void load(struct svc_lr_store *s, char ret[1000])
{
    static const struct svc_lr_rows rows = { framework, none_of, task, kill_of, meta };
    struct sv_error err = { 0 };

    ret[0] = '\0';
    assert_int_equal(svc_lr_store_load(s, &rows, ret, &err), 0);
}
static int write_one(struct svc_lr_store *s, const char *name, const char *status)
{
    svc_lr_store_begin(s);
    svc_lr_store_request(s, name, "{}", 1);
    svc_lr_store_status(s, name, status);
    return svc_lr_store_commit(s);
}
static bool has(const char *node)
{
    char path[200];

    (void)snprintf(path, sizeof(path), ROOT "/%s", node);
    return fake_zk_find(path);
}

/* ---- Tests ---- */

static void taken_over(void **state)
{
    struct server a, b;
    char found[1000];

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    start(&b, "http://b:1");
    RUN_UNTIL(NULL, svc_ha_other(b.h));
    assert_string_equal(svc_ha_other(b.h), "http://a:1");
    assert_null(svc_ha_other(a.h));
    load(a.store, found);
    assert_string_equal(found, "");
    assert_int_equal(write_one(a.store, "f", "s1"), 0);
    assert_int_equal(svc_lr_store_ticket(a.store), 1);
    assert_false(svc_lr_store_keeps(a.store, 1)); /* it is on its way */
    RUN_UNTIL(NULL, svc_lr_store_keeps(a.store, 1));
    assert_int_equal(a.keeps, 1);
    assert_int_equal(b.actives, 0);

    fake_zk_expire(a.zk);
    assert_int_equal(a.losses, 1);
    assert_false(svc_lr_store_may_act(a.store));
    assert_int_equal(write_one(a.store, "g", "s"), -EIO);
    RUN_UNTIL(NULL, b.store);
    load(b.store, found);
    assert_string_equal(found, "f {} s1 1;");
    assert_int_equal(write_one(b.store, "f", "s2"), 0);
    RUN_UNTIL(NULL, svc_lr_store_keeps(b.store, 1));
    a.store = svc_lr_store_close(a.store);
    RUN_UNTIL(NULL, svc_ha_other(a.h));
    assert_string_equal(svc_ha_other(a.h), "http://b:1");
    assert_false(has("Requests/g"));

    fake_zk_expire(b.zk); /* and back */
    RUN_UNTIL(NULL, a.store);
    load(a.store, found);
    assert_string_equal(found, "f {} s2 1;");
    stop(&b);
    stop(&a);
}

/* It was stopped while its session ended, and knows nothing of that. */
static void fenced(void **state)
{
    struct server a, b;
    char found[1000];

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    load(a.store, found);
    assert_int_equal(write_one(a.store, "early", "s"), 0); /* sent, and done after the fence */
    fake_zk_end(a.zk);
    start(&b, "http://b:1");
    RUN_UNTIL(b.zk, b.store);
    load(b.store, found);
    assert_string_equal(found, "");
    RUN_UNTIL(b.zk, !svc_lr_store_may_act(a.store)); /* by its own clock */
    assert_int_equal(write_one(a.store, "late", "s"), 0);
    RUN_UNTIL(NULL, a.losses == 1);
    assert_false(svc_lr_store_keeps(a.store, 1));
    assert_false(has("Requests/early"));
    assert_false(has("Requests/late"));
    assert_int_equal(write_one(a.store, "later", "s"), -EIO);
    fake_zk_run(NULL);
    assert_int_equal(b.losses, 0);
    assert_non_null(strstr(fake_zk_find(ROOT "/Active")->data, "http://b:1")); /* it is b's */
    stop(&a);
    stop(&b);
}

static void lost_answers(void **state)
{
    static const bool done[] = { false, true };
    struct server a;
    char found[1000];

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    load(a.store, found);
    for (unsigned i = 0; i < SV_ARRAY_LEN(done); i++) {
        struct fake_node *n;
        int32_t before = fake_zk_find(ROOT "/Fence")->version;

        assert_int_equal(write_one(a.store, "f", i ? "two" : "one"), 0);
        fake_zk_cut(a.zk, done[i]);
        assert_int_equal(write_one(a.store, "g", i ? "two" : "one"), 0); /* without a connection */
        assert_false(svc_lr_store_keeps(a.store, 2 * i + 1));
        fake_zk_up(a.zk);
        RUN_UNTIL(NULL, svc_lr_store_keeps(a.store, 2 * i + 2));
        assert_int_equal(fake_zk_find(ROOT "/Fence")->version, before + 2); /* once each */
        n = fake_zk_find(ROOT "/Statuses/f");
        assert_string_equal(n->data, i ? "two" : "one");
    }
    assert_int_equal(a.losses, 0);
    stop(&a);
}

/* The node that it asks whether its request was done comes from a server that is behind: it is sent
 * twice, and done once. */
static void done_unseen(void **state)
{
    struct server a;
    struct fake_node *n;
    char found[1000];

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    load(a.store, found);
    assert_int_equal(write_one(a.store, "f", "s"), 0);
    fake_zk_cut(a.zk, true);
    n = fake_zk_find(ROOT "/Fence");
    n->version--;
    fake_zk_up(a.zk);
    fake_zk_run_first(a.zk); /* what it asks first: was it done? */
    n->version++;
    RUN_UNTIL(NULL, svc_lr_store_keeps(a.store, 1));
    assert_int_equal(a.losses, 0);
    assert_string_equal(fake_zk_find(ROOT "/Statuses/f")->data, "s");
    stop(&a);
}

/* Rows that were read are given once: memory would have nothing the second time. */
static void read_once(void **state)
{
    static const struct svc_lr_rows rows = { framework, none_of, task, kill_of, meta };
    struct sv_error err = { 0 };
    struct server a;
    char found[1000];

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    load(a.store, found);
    assert_int_equal(svc_lr_store_load(a.store, &rows, found, &err), -EIO);
    stop(&a);
}

static int none_of_many(void *u, const char *name, const char *request, const char *status,
                        int64_t tasks)
{
    (void)u, (void)name, (void)request, (void)status, (void)tasks;
    return 0;
}

/* Much is read: the session is kept alive meanwhile, and it ends when this server has lost it. */
static void breathes(void **state)
{
    static const struct svc_lr_rows rows = { none_of_many, none_of, task, kill_of, meta };
    const size_t len = (size_t)500 << 10;
    char *large = malloc(len + 1), found[1000];
    struct sv_error err = { 0 };
    struct server a, b;

    (void)state;
    assert_non_null(large);
    memset(large, 'x', len);
    large[len] = '\0';
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    load(a.store, found);
    for (int i = 0; i < 6; i++) {
        (void)snprintf(found, sizeof(found), "f%d", i);
        svc_lr_store_begin(a.store);
        svc_lr_store_request(a.store, found, large, i + 1);
        svc_lr_store_status(a.store, found, "s");
        assert_int_equal(svc_lr_store_commit(a.store), 0);
    }
    RUN_UNTIL(NULL, svc_lr_store_keeps(a.store, 6));
    stop(&a);
    start(&b, "http://b:1");
    RUN_UNTIL(NULL, b.store);
    fake_zk.breaths = 0;
    assert_int_equal(svc_lr_store_load(b.store, &rows, &b, &err), 0);
    assert_int_equal(fake_zk.breaths, 2);
    stop(&b);
    start(&b, "http://b:1");
    RUN_UNTIL(NULL, b.store);
    fake_zk.expires = true;
    assert_int_equal(svc_lr_store_load(b.store, &rows, &b, &err), -EIO);
    fake_zk.expires = false;
    assert_int_equal(b.losses, 1);
    stop(&b);
    free(large);
}

/* A commit without a change is kept with those before it, whose request is under way. */
static void empty_commits(void **state)
{
    struct server a;
    char found[1000];

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    load(a.store, found);
    svc_lr_store_begin(a.store);
    assert_int_equal(svc_lr_store_commit(a.store), 0);
    assert_true(svc_lr_store_keeps(a.store, 1));
    assert_int_equal(write_one(a.store, "f", "s"), 0);
    svc_lr_store_begin(a.store);
    assert_int_equal(svc_lr_store_commit(a.store), 0);
    assert_int_equal(svc_lr_store_ticket(a.store), 3);
    assert_false(svc_lr_store_keeps(a.store, 2));
    fake_zk_run(NULL);
    assert_true(svc_lr_store_keeps(a.store, 3));
    assert_int_equal(a.keeps, 2);
    stop(&a);
}

/* Without an answer it does nothing before its session can have ended, and goes on with the next.
 */
static void lease(void **state)
{
    struct server a;
    unsigned rounds = 0;

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    while (svc_lr_store_may_act(a.store)) {
        assert_true(sd_event_run(event, 100000) >= 0);
        assert_true(rounds++ < 100);
    }
    assert_int_equal(a.losses, 0);
    RUN_UNTIL(NULL, svc_lr_store_may_act(a.store));
    fake_zk_drop(fake_zk_find(ROOT "/Active")); /* somebody removes it */
    RUN_UNTIL(NULL, a.losses == 1);
    a.store = svc_lr_store_close(a.store);
    RUN_UNTIL(NULL, a.store);
    assert_int_equal(a.actives, 2);
    stop(&a);
}

static void bad_nodes(void **state)
{
    static const struct svc_lr_rows rows = { framework, none_of, task, kill_of, meta };
    struct sv_error err = { 0 };
    char found[1000] = "";
    struct server a;

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store);
    assert_int_equal(write_one(a.store, "f", "s"), 0);
    fake_zk_run(NULL);
    free(fake_zk_find(ROOT "/Requests/f")->data);
    fake_zk_find(ROOT "/Requests/f")->data = strdup("12");
    fake_zk_find(ROOT "/Requests/f")->len = 2;
    fake_zk_expire(a.zk);
    a.store = svc_lr_store_close(a.store);
    RUN_UNTIL(NULL, a.store);
    assert_int_equal(svc_lr_store_load(a.store, &rows, found, &err), -EUCLEAN);
    assert_non_null(strstr(err.text, ROOT));
    a.store = svc_lr_store_close(a.store);
    svc_ha_resign(a.h, "it cannot be read"); /* another one may try */
    fake_zk_run(NULL);
    assert_false(has("Active"));
    assert_int_equal(svc_ha_check_root("/a"), 0);
    assert_int_equal(svc_ha_check_root("a"), -EINVAL);
    assert_int_equal(svc_ha_check_root("/"), -EINVAL);
    assert_int_equal(svc_ha_check_root("/a/"), -EINVAL);
    assert_int_equal(svc_ha_check_root("/a//b"), -EINVAL);
    stop(&a);
}

/* ---- The launcher ---- */

static void open_launcher(struct fake *k, struct svc_lr_store *store)
{
    const struct svc_lr_world world = { k,           fake_wall, fake_random,      fake_new_id,
                                        fake_submit, fake_kill, fake_poll_wanted, fake_soon,
                                        fake_changed };
    struct sv_error err = { 0 };

    assert_int_equal(svc_lr_new(&k->settings, &world, store, &k->l, &err), 0);
}

/* A master is submitted when its id is kept, and killed when the kill is; the next server has the
 * framework with that id, and submits it again under it. */
static void waits_for_the_store(void **state)
{
    struct fake k = { .wall = 1000000,
                      .settings = { .resync_s = 30, .max_tasks = 100, .user_share = 100 } };
    struct server a, b;
    struct yarn_app_id app = { CLUSTER_TS, 1 };

    (void)state;
    start(&a, "http://a:1");
    RUN_UNTIL(NULL, a.store && svc_lr_store_may_act(a.store));
    open_launcher(&k, a.store);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/f", BODY(1, "")), 202);
    k.apps[k.n_apps++].id = app;
    assert_int_equal(k.n_ids, 1);
    k.n_ids = 0;
    svc_lr_on_id(k.l, "f", k.ids[0].generation, 0, app);
    assert_int_equal(k.n_submits, 0);
    fake_zk_run(NULL);
    svc_lr_tick(k.l);
    assert_int_equal(k.n_submits, 1);

    fake_zk_expire(a.zk); /* before it is known whether it was */
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/f", NULL), 503);
    svc_lr_tick(k.l);
    assert_int_equal(k.n_kills, 0);
    fake_stop(&k);
    a.store = NULL;
    start(&b, "http://b:1");
    k.n_submits = 0;
    RUN_UNTIL(b.zk, b.store && svc_lr_store_may_act(b.store));
    open_launcher(&k, b.store);
    svc_lr_tick(k.l);
    assert_int_equal(k.n_submits, 0); /* its own fence must hold first */
    fake_zk_run(NULL);
    svc_lr_tick(k.l);
    assert_int_equal(k.n_submits, 1);
    assert_int_equal(yarn_app_id_cmp(k.submits[0], app), 0);
    svc_lr_on_submitted(k.l, app, 0, "");
    assert_int_equal(status_of(&k, "DELETE", "/v1/Frameworks/f", NULL), 202);
    assert_int_equal(k.n_kills, 0);
    fake_zk_run(NULL);
    svc_lr_tick(k.l);
    assert_int_equal(k.n_kills, 1);
    svc_lr_on_killed(k.l, k.kills[0], true);
    fake_zk_run(NULL);
    assert_false(has("Requests/f"));
    assert_false(has("Kills/application_1700000000000_0001"));
    fake_stop(&k);
    b.store = NULL;
    stop(&a);
    stop(&b);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(taken_over), T(fenced),        T(lost_answers), T(done_unseen), T(read_once),
        T(breathes),   T(empty_commits), T(lease),        T(bad_nodes),   T(waits_for_the_store),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
