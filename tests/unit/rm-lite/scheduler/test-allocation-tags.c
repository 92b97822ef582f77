/* rm-lite/scheduler/allocation-tags.c: after any order of requests, ends, nodes that leave and
 * attempts that end, the numbers are those of the containers that are there, and no node has two
 * containers that keep apart. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/scheduler/scheduler-impl.h"
#include "tests/unit/rm-lite/scheduler-fixture.h"

#include "tests/unit/rm-lite/placement-fixture.h"

#define APPS 3
#define NODES 6
#define EVENTS 20000

static const char *const words[] = { "zk", "web", "db" };

struct world {
    struct fix f;
    struct sv_arena *a;
    uint64_t seed;
    int32_t attempt[APPS + 1];
};

static int pick(struct world *w, int n)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((w->seed >> 33) % (uint64_t)n);
}

static void add_app(struct world *w, int i)
{
    static const char *const both[] = { "batch", "night" };
    struct rm_sched_event ev = { .type = RM_SCHED_APP_ADDED,
                                 .app_added = { .app = app_id(i),
                                                .user = i == 1 ? "ann" : "bob",
                                                .queue = "default",
                                                .tags = both,
                                                .n_tags = (size_t)i - 1 } };

    assert_int_equal(go(&w->f, ev), 0);
    w->attempt[i] = 1;
    assert_int_equal(
        go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_ATTEMPT_ADDED,
                                           .attempt_added = { .app = app_id(i), .attempt = 1 } }),
        0);
}

static void ask_some(struct world *w)
{
    int i = 1 + pick(w, APPS), kind = pick(w, 4);
    const char *tag = words[pick(w, 3)];
    Constraint *c = kind == 0   ? tags(w->a, "node", 0, 0, "all", "zk")
                    : kind == 1 ? tags(w->a, "rack", 0, 3, "not-self", tag)
                    : kind == 2 ? tags(w->a, "node", 1, INT_MAX, "app-tag/batch", tag)
                                : NULL;
    /* Each kind has ids of its own: only the number of a request may change. */
    Request *q = request(w->a, kind * 10 + (tag[0] % 7), pick(w, 5), kind == 0 ? "zk" : tag, c);
    struct rm_sched_event ev = { .type = RM_SCHED_ASK,
                                 .ask = { .app = app_id(i), .requests = &q, .n_requests = 1 } };

    if (kind != 0 && strcmp(tag, "zk") == 0) /* zk is what keeps apart: no other request has it */
        return;
    q->allocationrequestid = kind == 0 ? 0 : q->allocationrequestid;
    assert_int_equal(go(&w->f, ev), 0);
}

static void end_one(struct world *w)
{
    struct rm_sched_app *app = rm_sched_app_find(w->f.s, app_id(1 + pick(w, APPS)));
    struct rm_sched_container *c = rm_app_first(w->f.s, app);
    struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_DONE };

    for (int skip = pick(w, 5); c && skip > 0; skip--)
        c = rm_app_next(w->f.s, c);
    if (!c)
        return;
    ev.container_done.container = rm_container_id(c);
    ev.container_done.put_ask_back = pick(w, 4) == 0;
    assert_int_equal(go(&w->f, ev), 0);
}

static void replace_node(struct world *w)
{
    int i = 1 + pick(w, NODES);
    struct yarn_node_id id = node_id(i);

    assert_int_equal(go(&w->f, (struct rm_sched_event){ .type = RM_SCHED_NODE_REMOVED,
                                                        .node_removed = { .node = &id } }),
                     0);
    node(&w->f, i, i % 2 ? "/r1" : "/r2", 8192, 64);
}

static void next_attempt(struct world *w)
{
    int i = 1 + pick(w, APPS);
    struct rm_sched_event gone = { .type = RM_SCHED_ATTEMPT_REMOVED,
                                   .attempt_removed = { .app = app_id(i),
                                                        .keep_containers = pick(w, 2) } };
    struct rm_sched_event next = { .type = RM_SCHED_ATTEMPT_ADDED,
                                   .attempt_added = { .app = app_id(i),
                                                      .attempt = ++w->attempt[i] } };

    assert_int_equal(go(&w->f, gone), 0);
    assert_int_equal(go(&w->f, next), 0);
}

static int64_t containers_on(struct world *w, const struct rm_sched_node *n, const char *rack,
                             const struct rm_word *tag)
{
    int64_t all = 0;

    for (const struct rm_sched_node *m = w->f.s->node_list; m; m = m->next) {
        if (n ? m != n : strcmp(m->rack, rack) != 0)
            continue;
        for (int32_t i = 0; i < m->n_containers; i++) {
            const struct rm_sched_container *c =
                rm_pool_at(&w->f.s->container_pool, m->containers[i]);

            for (size_t k = 0; c->placed && k < c->placement->n_tags; k++)
                all += c->placement->tags[k] == tag;
        }
    }
    return all;
}

static void check(struct world *w)
{
    struct rm_sched *s = w->f.s;
    struct rm_word *zk = rm_word_find(s, "zk");

    for (const struct rm_sched_node *n = s->node_list; n; n = n->next) {
        for (size_t i = 0; i < SV_ARRAY_LEN(words); i++) {
            struct rm_word *tag = rm_word_find(s, words[i]), *rack = rm_word_find(s, n->rack);

            if (!tag)
                continue;
            assert_int_equal(rm_tags_of(s, s, n, tag), containers_on(w, n, NULL, tag));
            assert_int_equal(rack ? rm_tags_of(s, s, rack, tag) : 0,
                             containers_on(w, NULL, n->rack, tag));
        }
        assert_true(!zk || rm_tags_of(s, s, n, zk) <= 1);
    }
}

static void test_any_order(void **state)
{
    struct world w = { .seed = 7, .a = sv_arena_new((size_t)256 << 20) };

    (void)state;
    one_queue(&w.f);
    fix_start(&w.f);
    for (int i = 1; i <= NODES; i++)
        node(&w.f, i, i % 2 ? "/r1" : "/r2", 8192, 64);
    for (int i = 1; i <= APPS; i++)
        add_app(&w, i);
    for (int i = 0; i < EVENTS; i++) {
        int kind = pick(&w, 100);

        if (kind < 40)
            (void)beat(&w.f, 1 + pick(&w, NODES));
        else if (kind < 65)
            ask_some(&w);
        else if (kind < 95)
            end_one(&w);
        else if (kind < 98)
            replace_node(&w);
        else
            next_attempt(&w);
        if (i % 50 == 0)
            check(&w);
    }
    check(&w);
    for (int i = 1; i <= APPS; i++)
        assert_int_equal(go(&w.f, (struct rm_sched_event){ .type = RM_SCHED_APP_REMOVED,
                                                           .app_removed = { .app = app_id(i) } }),
                         0);
    assert_null(w.f.s->tag_counts);
    assert_null(w.f.s->words);
    fix_end(&w.f);
    sv_arena_free(w.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
