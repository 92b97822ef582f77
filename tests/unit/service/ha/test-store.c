/* service/ha/store.c: it holds what holds of every store, across servers; values that no node has
 * room for are refused by name; nodes that are no rows; changes that are not parted. ZooKeeper is
 * zookeeper-fixture.h's. */
#include "common/clock.h"
#include "service/ha/batch.h"
#include "service/ha/ha.h"
#include "service/ha/nodes.h"
#include "tests/unit/service/store-fixture.h"
#include "tests/unit/service/zookeeper-fixture.h"

struct place {
    sd_event *event;
    struct svc_ha *h;
    struct svc_lr_store *store;
};

static void on_active(struct svc_lr_store *store, void *userdata)
{
    ((struct place *)userdata)->store = store;
}
static void on_other(void *userdata)
{
    (void)userdata;
}

/* Another server opens it, while the session of the one before is not over for it. */
static struct svc_lr_store *again(void *u, struct svc_lr_store *s)
{
    static struct sv_zk_settings settings = { .servers = "z:2181", .session_ms = FAKE_SESSION_MS };
    struct place *p = u;
    const struct svc_ha_config cfg = { p->event,  &settings, "/launcher", "http://a:1",
                                       on_active, on_other,  on_other,    p };
    struct sv_error err = { 0 };
    int64_t until = sv_now_ms() + 20000;

    (void)svc_lr_store_close(s); /* NULL */
    p->h = svc_ha_free(p->h);
    p->store = NULL;
    assert_int_equal(svc_ha_new(&cfg, &p->h, &err), 0);
    fake_zk_up(fake_zk.last);
    while (!p->store) {
        assert_true(sv_now_ms() < until);
        assert_true(sd_event_run(p->event, 10000) >= 0);
        fake_zk_run(NULL);
    }
    return p->store;
}
static void keep(void *u, struct svc_lr_store *s)
{
    (void)u;
    (void)s;
    fake_zk_run(NULL);
}

static void as_every_place(void **state)
{
    struct place p = { 0 };
    const struct store_place place = { &p, again, keep };
    struct svc_lr_store *s;
    char *large = calloc(1, 1000001);

    (void)state;
    assert_non_null(large);
    memset(large, 'x', 1000000);
    assert_int_equal(sd_event_new(&p.event), 0);
    store_check(&place);
    s = again(&p, NULL);
    assert_true(svc_lr_store_value_max(s) < SIZE_MAX);
    svc_lr_store_begin(s);
    svc_lr_store_request(s, "f-3", large, 13);
    assert_int_equal(svc_lr_store_commit(s), -EIO);
    assert_non_null(strstr(svc_lr_store_why(s), "Requests/f-3: the value of 1000000 bytes"));
    assert_false(svc_lr_store_may_act(s)); /* memory has what the store has not */
    free(large);
    (void)svc_lr_store_close(s); /* NULL */
    p.h = svc_ha_free(p.h);
    fake_zk_clear();
    sd_event_unref(p.event);
}

static void not_rows(void **state)
{
    static const char *const bad[][2] = {
        { "Requests/f", "{}" },
        { "Requests/f", "-1\n{}" },
        { "Requests/f", "01\n{}" },
        { "Requests/f", "99999999999999999999\n{}" },
        { "Requests/f/g", "1\n{}" },
        { "Requests/f g", "1\n{}" },
        { "Requests", "" },
        { "Requests/", "" },
        { "Statuses/a%", "" },
        { "Statuses/.", "" },
        { "Launcher/..", "" },
        { "Other/f", "" },
        { "Kills/application_1_0001", "ann" },
        { "Kills/application_1_0001", "\nf" },
        { "Kills/application_1_0001", "ann\na/b" },
        { "TaskStatuses/1/W/0", "" },
        { "TaskStatuses/1/W:0", "" },
        { "TaskStatuses/1/W:1/0", "" },
        { "TaskStatuses/1/W:0/50001", "" },
        { "TaskStatuses/x/W:0/1", "" },
        { "TaskStatuses/1/:0/1", "" },
        { "TaskStatuses/1/W:0/1/2", "" },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        char *path = strdup(bad[i][0]), *value = strdup(bad[i][1]);
        struct svc_lr_row row;

        assert_int_equal(svc_ha_node_read(path, value, strlen(value), &row), -EUCLEAN);
        free(path);
        free(value);
    }
}

static void add(struct svc_ha_batch *b, const char *owner, const char *path, size_t len)
{
    char value[100] = { 0 };

    assert_int_equal(svc_ha_batch_add(b, owner, svc_ha_change_new(path, value, len)), 0);
}
static void cut_is(struct svc_ha_batch *b, size_t bytes, size_t n, const char *paths)
{
    struct svc_ha_change *list = svc_ha_batch_cut(b, bytes, n), *c;
    char found[200] = "";

    DL_FOREACH (list, c)
        (void)snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s ", c->path);
    assert_string_equal(found, paths);
    svc_ha_changes_free(list);
}

static void parted(void **state)
{
    struct svc_ha_batch b = { 0 };

    (void)state;
    add(&b, "", "/t1", 10);
    add(&b, "f", "/f1", 10);
    add(&b, "", "/t2", 10);
    add(&b, "g", "/g1", 50);
    add(&b, "f", "/f2", 10);
    add(&b, "", "/t1", 20);       /* replaces */
    add(&b, "g", "/f1", 5);       /* stays where it was */
    cut_is(&b, 1, 1, "/f2 /f1 "); /* never parted */
    cut_is(&b, 60, 10, "/g1 ");
    cut_is(&b, 15, 10, "/t2 "); /* nobody's come last */
    cut_is(&b, 20, 10, "/t1 ");
    assert_true(svc_ha_batch_is_empty(&b));
    add(&b, "", "/kill", 10);
    add(&b, "f", "/f1", 10);
    add(&b, "f", "/kill", 10); /* with the framework whose it is now */
    cut_is(&b, 1, 1, "/f1 /kill ");
    assert_true(svc_ha_batch_is_empty(&b));
    for (int i = 0; i < 5; i++) {
        const char path[] = { '/', (char)('a' + i), '\0' };

        add(&b, path, path, 10);
    }
    cut_is(&b, 1000, 2, "/a /b ");
    cut_is(&b, 25, 9, "/c /d ");
    svc_ha_batch_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_every_place),
        cmocka_unit_test(not_rows),
        cmocka_unit_test(parted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
