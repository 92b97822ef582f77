/* core/container.c and container-status.c: diagnostics, restored records, messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/container-status.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/store/state-store.h"

#define TEXT "container_1_0001_01_000001"

static struct nm_conf conf = { .diagnostics_max = 200 };
static struct nm_context ctx = { .conf = &conf };
static const struct yarn_container_token token = {
    .container = { { { 1, 1 }, 1 }, 1 },
    .resource = { 64, 1, 0 },
    .execution_type = 1,
};

/* A packed request with a token, in the arena. */
static const uint8_t *pack(struct sv_arena *a, const struct yarn_container_token *t, size_t *ret)
{
    Hadoop__Yarn__StartContainerRequestProto q;
    Hadoop__Yarn__ContainerLaunchContextProto clc;
    Hadoop__Common__TokenProto m;
    const uint8_t *id;
    uint8_t *packed;

    hadoop__yarn__start_container_request_proto__init(&q);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    hadoop__common__token_proto__init(&m);
    assert_int_equal(yarn_container_token_encode(a, t, &id, &m.identifier.len), 0);
    m.identifier.data = (uint8_t *)(uintptr_t)id;
    m.kind = m.service = (char *)(uintptr_t) "";
    q.container_launch_context = &clc;
    q.container_token = &m;
    packed = sv_arena_alloc(a, hadoop__yarn__start_container_request_proto__get_packed_size(&q));
    *ret = hadoop__yarn__start_container_request_proto__pack(&q, packed);
    return packed;
}

static struct nm_stored_container record(struct sv_arena *a)
{
    struct nm_stored_container s = {
        .id = TEXT,
        .app = "application_1_0001",
        .start_ms = 11,
        .launch_ms = 12,
        .local_dir = 3,
        .log_dir = 4,
        .exit_code = -1000,
        .kill_code = -1000,
        .diagnostics = "",
        .assigned = "",
        .retry = "",
        .ended_ms = -1,
    };

    s.request = pack(a, &token, &s.request_len);
    return s;
}

static struct nm_container *restore(const struct nm_stored_container *s, int expected)
{
    struct nm_container *c = NULL;

    assert_int_equal(nm_container_restore(&ctx, s, &c), expected);
    return c;
}

static void restored_states(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_stored_container s = record(a);
    struct nm_container *c = restore(&s, 0);

    (void)state;
    assert_string_equal(c->text, TEXT);
    assert_true(c->recorded && c->recovering && c->recovered == NM_RECOVERED_REQUESTED);
    assert_int_equal(c->launch.local_dir, 3);
    assert_int_equal(c->launch.log_dir, 4);
    assert_int_equal(c->start_ms, 11);
    assert_int_equal(c->state, NM_CONTAINER_NEW);
    nm_container_free(c);

    s.launched = s.killed = true;
    s.kill_code = YARN_EXIT_KILLED_BY_APPMASTER;
    c = restore(&s, 0);
    assert_int_equal(c->recovered, NM_RECOVERED_LAUNCHED);
    assert_true(c->kill_requested);
    assert_int_equal(c->kill_code, YARN_EXIT_KILLED_BY_APPMASTER);
    nm_container_free(c);

    s.completed = s.done = true;
    s.exit_code = 7;
    s.diagnostics = "words";
    c = restore(&s, 0);
    assert_int_equal(c->recovered, NM_RECOVERED_COMPLETED);
    assert_false(c->recovering);
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_int_equal(c->exit_code, 7);
    assert_string_equal(c->diagnostics, "words");
    assert_null(c->clc);
    nm_container_free(c);
}

static void restored_update(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_stored_container s = record(a);
    struct yarn_container_token t = token;
    const uint8_t *id;
    struct nm_container *c;

    (void)state;
    t.resource.memory_mb = 128;
    t.version = 2;
    assert_int_equal(yarn_container_token_encode(a, &t, &id, &s.updated_len), 0);
    s.updated = id;
    c = restore(&s, 0);
    assert_int_equal(c->resource.memory_mb, 128);
    assert_int_equal(c->version, 2);
    nm_container_free(c);

    t.container.id = 2; /* of another container */
    assert_int_equal(yarn_container_token_encode(a, &t, &id, &s.updated_len), 0);
    s.updated = id;
    c = restore(&s, 1);
    assert_int_equal(c->resource.memory_mb, 64);
    nm_container_free(c);
}

static void restored_retries(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_stored_container s = record(a);
    struct nm_container *c = restore(&s, 0);

    (void)state;
    assert_true(!c->launch.again && c->launch.ended_ms == -1);
    nm_container_free(c);
    s.retry = "2 17 18";
    s.ended_ms = 17;
    c = restore(&s, 0);
    assert_true(c->launch.again && c->launch.ended_ms == 17 && c->retry.remaining == 2);
    nm_container_free(c);
    s.retry = "two";
    c = restore(&s, 1);
    assert_true(c->launch.again);
    nm_container_free(c);
}

static void restored_reinits(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_stored_container s = record(a);
    struct nm_container *c;

    (void)state;
    s.late = 3;
    s.has_previous = true;
    s.reinit = NM_REINIT_ROLLBACK | NM_STORED_REINIT_KILLS;
    c = restore(&s, 0);
    assert_true(c->reinit.kind == NM_REINIT_ROLLBACK && c->reinit.kills && c->reinit.can_rollback);
    assert_int_equal(c->late_resources, 3);
    nm_container_free(c);
    s.reinit = NM_REINIT_ROLLBACK + 1;
    c = restore(&s, 1);
    assert_true(c->reinit.kind == NM_REINIT_NONE && !c->reinit.kills);
    nm_container_free(c);
}

static void malformed_records(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_stored_container s = record(a);

    (void)state;
    s.id = "container_1_0001_01_000002";
    assert_null(restore(&s, -EBADMSG));
    s.id = TEXT;
    s.request_len /= 2;
    assert_null(restore(&s, -EBADMSG));
    s.request_len = 0;
    assert_null(restore(&s, -EBADMSG));
}

static struct nm_container *new_container(struct sv_arena *a)
{
    struct nm_container *c;
    size_t len;
    const uint8_t *request = pack(a, &token, &len);

    assert_int_equal(nm_container_new(&ctx, &token, request, len, &c), 0);
    return c;
}

static void diagnostics_keep_the_end(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_container *c = new_container(a);

    (void)state;
    for (int i = 0; i < 100; i++)
        nm_container_add_diagnostics(c, "\xc3\xa4\xc3\xb6 0123456789\n");
    assert_true(strlen(c->diagnostics) <= 200);
    assert_true((c->diagnostics[0] & 0xc0) != 0x80);
    nm_container_free(c);
}

static void statuses(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct nm_container *c = new_container(a);
    Hadoop__Yarn__ContainerStatusProto *m;

    (void)state;
    c->state = NM_CONTAINER_RUNNING;
    m = nm_container_status(c, a);
    assert_int_equal(m->container_sub_state, HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_RUNNING);
    c->state = NM_CONTAINER_PAUSED;
    m = nm_container_status(c, a);
    assert_int_equal(m->state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING);
    assert_int_equal(m->container_sub_state, HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_PAUSED);
    assert_int_equal(m->n_container_attributes, 2);
    c->state = NM_CONTAINER_KILLING; /* which thaws it */
    m = nm_container_status(c, a);
    assert_int_equal(m->state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING);
    assert_int_equal(m->container_sub_state, HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_RUNNING);
    c->state = NM_CONTAINER_DONE;
    m = nm_container_status(c, a);
    assert_int_equal(m->state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE);
    assert_non_null(nm_container_nm_status(c, a));
    nm_container_free(c);
}

/* After a restart of the ResourceManager it has the tags from here. */
static void tags(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_token tagged = token;
    Hadoop__Yarn__NMContainerStatusProto *m;
    struct nm_container *c;
    const uint8_t *request;
    size_t len;

    (void)state;
    tagged.n_tags = 2;
    memcpy(tagged.tags, "zk\0web", sizeof("zk\0web"));
    request = pack(a, &tagged, &len);
    assert_int_equal(nm_container_new(&ctx, &tagged, request, len, &c), 0);
    m = nm_container_nm_status(c, a);
    assert_non_null(m);
    assert_int_equal(m->n_allocation_tags, 2);
    assert_string_equal(m->allocation_tags[0], "zk");
    assert_string_equal(m->allocation_tags[1], "web");
    nm_container_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restored_states),   cmocka_unit_test(restored_update),
        cmocka_unit_test(restored_reinits),  cmocka_unit_test(restored_retries),
        cmocka_unit_test(malformed_records), cmocka_unit_test(diagnostics_keep_the_end),
        cmocka_unit_test(statuses),          cmocka_unit_test(tags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
