/* The checks that every place passes where the launcher's state is kept. */
#ifndef SELVEDGE_TESTS_STORE_FIXTURE_H
#define SELVEDGE_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/launcher/store.h"

struct store_place {
    void *userdata;
    /* Closes the store, which may be NULL, and opens it anew. */
    struct svc_lr_store *(*again)(void *u, struct svc_lr_store *s);
    void (*keep)(void *u, struct svc_lr_store *s); /* waits for its last commit */
};

struct store_seen {
    int frameworks, tasks, kills, metas, dropped, other;
    int64_t highest;
    char text[400];
};

static int seen_framework(void *u, const char *name, const char *request, const char *status,
                          int64_t tasks)
{
    struct store_seen *s = u;

    s->frameworks++;
    if (strcmp(name, ".") == 0)
        (void)snprintf(s->text, sizeof(s->text), "%s %s %d", request, status, (int)tasks);
    return 0;
}
static int seen_dropped(void *u, int64_t tasks)
{
    struct store_seen *s = u;

    s->dropped++;
    s->highest = tasks > s->highest ? tasks : s->highest;
    return 0;
}
static int seen_task(void *u, const char *name, const char *role, int32_t index, const char *text)
{
    struct store_seen *s = u;
    char want[32];

    (void)snprintf(want, sizeof(want), "\"%d\"", index);
    s->tasks++;
    s->other += strcmp(name, ".") != 0 || strcmp(role, "a.b~") != 0 || strcmp(text, want) != 0;
    return 0;
}
static int seen_kill(void *u, const char *app, const char *user, const char *name)
{
    struct store_seen *s = u;

    s->kills++;
    s->other += strncmp(app, "application_1_000", 17) != 0 || strcmp(user, "ann o'x") != 0 ||
                strcmp(name, app[17] == '1' ? "" : "f-1") != 0;
    return 0;
}
static int seen_meta(void *u, const char *key, const char *value)
{
    struct store_seen *s = u;

    s->metas++;
    s->other += strcmp(key, "k") != 0 || strcmp(value, "{\"a\":\"\\n\"}") != 0;
    return 0;
}

static struct store_seen store_read(struct svc_lr_store *s)
{
    static const struct svc_lr_rows rows = { seen_framework, seen_dropped, seen_task, seen_kill,
                                             seen_meta };
    struct store_seen seen = { 0 };
    struct sv_error err = { 0 };
    int r = svc_lr_store_load(s, &rows, &seen, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
    assert_int_equal(seen.other, 0);
    return seen;
}

static void store_task(struct svc_lr_store *s, int64_t set, int32_t index)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "\"%d\"", index);
    svc_lr_store_task(s, set, "a.b~", index, text);
}

static void store_commit(const struct store_place *p, struct svc_lr_store *s)
{
    assert_int_equal(svc_lr_store_commit(s), 0);
    p->keep(p->userdata, s);
    assert_true(svc_lr_store_keeps(s, svc_lr_store_ticket(s)));
}

#define STORE_TASKS 2500
#define STORE_FRAMEWORKS 450

static struct svc_lr_store *store_fill(const struct store_place *p, struct svc_lr_store *s)
{
    _cleanup_free_ char *large = calloc(1, 400001);
    struct store_seen seen;
    char name[32];

    assert_non_null(large);
    memset(large, 'x', 400000);
    svc_lr_store_begin(s);
    svc_lr_store_request(s, ".", large, 1);
    svc_lr_store_request(s, ".", "{}", 1);
    svc_lr_store_status(s, ".", "s");
    for (int i = 0; i < STORE_TASKS; i++)
        store_task(s, 1, i);
    store_task(s, 1, 49999);
    svc_lr_store_task(s, 1, "a.b~", 7, NULL);
    for (int i = 0; i < STORE_FRAMEWORKS; i++) {
        (void)snprintf(name, sizeof(name), "f-%d", i);
        svc_lr_store_request(s, name, i < 4 ? large : "{}", 10 + i);
        svc_lr_store_status(s, name, i < 4 ? large : "s");
    }
    svc_lr_store_kill(s, &(struct svc_lr_store_kill){ "application_1_0001", "ann o'x", "", "." });
    svc_lr_store_kill(s,
                      &(struct svc_lr_store_kill){ "application_1_0002", "ann o'x", "f-1", NULL });
    svc_lr_store_meta(s, "k", "{\"a\":\"\\n\"}");
    store_commit(p, s);
    s = p->again(p->userdata, s);
    seen = store_read(s);
    assert_int_equal(seen.frameworks, STORE_FRAMEWORKS + 1);
    assert_string_equal(seen.text, "{} s 1");
    assert_int_equal(seen.tasks, STORE_TASKS);
    assert_int_equal(seen.kills, 2);
    assert_int_equal(seen.metas, 1);
    return s;
}

/* A set that was dropped is gone at once, and from the place in turns. */
static struct svc_lr_store *store_drop(const struct store_place *p, struct svc_lr_store *s)
{
    struct store_seen seen;

    svc_lr_store_begin(s);
    svc_lr_store_drop_tasks(s, 1);
    svc_lr_store_request(s, ".", "{}", 1000);
    store_task(s, 1000, 3);
    svc_lr_store_killed(s, "application_1_0001");
    store_commit(p, s);
    s = p->again(p->userdata, s);
    seen = store_read(s);
    assert_int_equal(seen.tasks, 1);
    assert_int_equal(seen.kills, 1);
    assert_int_equal(seen.dropped, 1);
    assert_int_equal(seen.highest, 1);
    for (int i = 0; i < 20; i++) { /* more than it takes */
        assert_int_equal(svc_lr_store_sweep(s), 0);
        p->keep(p->userdata, s);
    }
    s = p->again(p->userdata, s);
    seen = store_read(s);
    assert_int_equal(seen.dropped, 0);
    assert_int_equal(seen.tasks, 1);
    return s;
}

static __attribute__((unused)) void store_check(const struct store_place *p)
{
    struct svc_lr_store *s = p->again(p->userdata, NULL);
    struct store_seen seen = store_read(s);

    assert_int_equal(seen.frameworks + seen.tasks + seen.kills + seen.metas + seen.dropped, 0);
    s = store_fill(p, s);
    s = store_drop(p, s);
    svc_lr_store_begin(s); /* what is not committed is not there */
    svc_lr_store_remove(s, ".");
    svc_lr_store_rollback(s);
    svc_lr_store_begin(s);
    svc_lr_store_remove(s, "f-1");
    svc_lr_store_remove(s, "f-2");
    svc_lr_store_request(s, "f-2", "{}", 2000); /* made anew at once */
    svc_lr_store_status(s, "f-2", "s");
    store_commit(p, s);
    s = p->again(p->userdata, s);
    seen = store_read(s);
    assert_int_equal(seen.frameworks, STORE_FRAMEWORKS);
    assert_int_equal(seen.tasks, 1);
    (void)svc_lr_store_close(s); /* NULL */
}

#endif
