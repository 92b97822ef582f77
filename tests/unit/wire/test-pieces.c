/* wire/pieces.c: a message read and written a few members at a time is that of one go, whatever the
 * turns; what is broken, or too large, is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/yarn_service.pb-c.h"
#include "wire/ids.h"
#include "wire/pieces.h"

#define APP ((struct yarn_app_id){ 1000, 7 })
#define CONTAINERS 300

typedef Hadoop__Yarn__AllocateResponseProto answer_proto;

static const ProtobufCMessageDescriptor *const type =
    &hadoop__yarn__allocate_response_proto__descriptor;
static struct sv_arena *arena;

static int set_up(void **state)
{
    (void)state;
    sv_arena_free(arena);
    arena = sv_arena_new(0);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    arena = sv_arena_free(arena);
    return 0;
}

static answer_proto *make(void)
{
    answer_proto *m = sv_new(arena, answer_proto);

    hadoop__yarn__allocate_response_proto__init(m);
    m->has_response_id = m->has_num_cluster_nodes = true;
    m->response_id = 7;
    m->num_cluster_nodes = 40;
    m->limit = yarn_resource_to(arena, (struct yarn_resource){ .memory_mb = 9, .vcores = 1 });
    m->allocated_containers = sv_newn(arena, Hadoop__Yarn__ContainerProto *, CONTAINERS);
    m->completed_container_statuses =
        sv_newn(arena, Hadoop__Yarn__ContainerStatusProto *, CONTAINERS);
    for (int64_t i = 0; i < CONTAINERS; i++) {
        struct yarn_container_id id = { { APP, 1 }, i };
        Hadoop__Yarn__ContainerProto *c = sv_new(arena, Hadoop__Yarn__ContainerProto);
        Hadoop__Yarn__ContainerStatusProto *s = sv_new(arena, Hadoop__Yarn__ContainerStatusProto);

        hadoop__yarn__container_proto__init(c);
        hadoop__yarn__container_status_proto__init(s);
        c->id = yarn_container_id_to(arena, id);
        s->container_id = c->id;
        s->diagnostics = sv_arena_printf(arena, "number %ld", (long)i);
        m->allocated_containers[m->n_allocated_containers++] = c;
        m->completed_container_statuses[m->n_completed_container_statuses++] = s;
    }
    return m;
}

/* Turns of `each`; < 0: the error. */
static int write_all(const ProtobufCMessage *m, int64_t each, struct sv_buf *out, int *ret_turns)
{
    struct ipc_writing w = { .m = m, .out = out };
    int r = IPC_PIECES_MORE;

    for (*ret_turns = 0; r == IPC_PIECES_MORE; ++*ret_turns) {
        int64_t left = each;

        r = ipc_writing_run(&w, &left);
        assert_true(left > -2);
    }
    return r;
}

static int read_all(const uint8_t *p, size_t n, int64_t each, ProtobufCMessage **ret,
                    int *ret_turns)
{
    uint8_t *moved = malloc(n + 1);
    struct ipc_reading *reading;
    int r = IPC_PIECES_MORE;

    *ret = NULL;
    assert_int_equal(ipc_reading_new(arena, type, p, n, &reading), 0);
    memcpy(moved, p, n);
    for (*ret_turns = 0; r == IPC_PIECES_MORE; ++*ret_turns) {
        int64_t left = each;

        r = ipc_reading_run(reading, &left, ret);
        ipc_reading_move(reading, moved);
    }
    ipc_reading_end(reading);
    free(moved);
    return r;
}

static void assert_same(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
    size_t n = protobuf_c_message_get_packed_size(a);
    uint8_t *x = malloc(n + 1), *y = malloc(n + 1);

    assert_int_equal(protobuf_c_message_get_packed_size(b), n);
    (void)protobuf_c_message_pack(a, x);
    (void)protobuf_c_message_pack(b, y);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

static void both_ways(void **state)
{
    static const int64_t turns[] = { 1, 7, 100, INT64_MAX };
    const answer_proto *m = make();

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(turns); i++) {
        _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
        int64_t members = 2 * CONTAINERS, wanted = members / turns[i] + (members % turns[i] != 0);
        ProtobufCMessage *whole, *read;
        int n;

        assert_int_equal(write_all(&m->base, turns[i], &out, &n), 0);
        assert_int_equal(n, wanted);
        assert_int_equal(ipc_unpack(arena, type, out.data, out.len, &whole), 0);
        assert_same(whole, &m->base);
        assert_int_equal(read_all(out.data, out.len, turns[i], &read, &n), 0);
        assert_in_range(n, wanted, wanted + 3); /* with the fields that are no lists */
        assert_same(read, &m->base);
    }
}

static void nothing(void **state)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    answer_proto empty = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    ProtobufCMessage *read;
    int n;

    (void)state;
    assert_int_equal(write_all(&empty.base, 1, &out, &n), 0);
    assert_int_equal(out.len, 0);
    assert_int_equal(read_all((const uint8_t *)"", 0, 1, &read, &n), 0);
    assert_same(read, &empty.base);
}

/* Cut anywhere, with a byte turned anywhere: refused, or read as the whole is. */
static void broken(void **state)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    answer_proto *m = make();
    int n;

    m->n_allocated_containers = m->n_completed_container_statuses = 2;
    assert_int_equal(write_all(&m->base, 1, &out, &n), 0);
    for (size_t i = 0; i < out.len; i++)
        for (int k = 0; k < 9; k++) {
            ProtobufCMessage *whole, *read;
            size_t len = k ? out.len : i;
            int a, b;

            assert_int_equal(set_up(state), 0);
            out.data[i] ^= (uint8_t)(k ? 1u << (k - 1) : 0);
            a = ipc_unpack(arena, type, out.data, len, &whole);
            b = read_all(out.data, len, 1, &read, &n);
            out.data[i] ^= (uint8_t)(k ? 1u << (k - 1) : 0);
            assert_int_equal(a < 0, b < 0);
            if (a == 0)
                assert_same(whole, read);
        }
}

/* A member of a list with too many messages, and a rest that is too long. */
static void too_much(void **state)
{
    const size_t n = IPC_REQUEST_ITEMS_MAX + 1;
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    Hadoop__Yarn__PreemptionContractProto contract = HADOOP__YARN__PREEMPTION_CONTRACT_PROTO__INIT;
    Hadoop__Yarn__PreemptionMessageProto preempt = HADOOP__YARN__PREEMPTION_MESSAGE_PROTO__INIT;
    Hadoop__Yarn__PreemptionContainerProto one = HADOOP__YARN__PREEMPTION_CONTAINER_PROTO__INIT;
    answer_proto m = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    ProtobufCMessage *read;
    int turns;

    (void)state;
    m.preempt = &preempt;
    preempt.contract = &contract;
    contract.container = calloc(n, sizeof(Hadoop__Yarn__PreemptionContainerProto *));
    contract.n_container = n;
    for (size_t i = 0; i < n; i++)
        contract.container[i] = &one;
    assert_int_equal(write_all(&m.base, 1, &out, &turns), 0);
    assert_int_equal(read_all(out.data, out.len, 1, &read, &turns), -EMSGSIZE);
    free(contract.container);
    out.len = 0;
    while (out.len <= IPC_PIECES_REST_MAX)
        assert_int_equal(sv_buf_put(&out, "\x10\x07", 2), 0); /* response_id */
    assert_int_equal(read_all(out.data, out.len, 1, &read, &turns), -EMSGSIZE);
    {
        struct sv_buf small = SV_BUF_INIT(1000);

        assert_int_equal(write_all(&make()->base, 10, &small, &turns), -EMSGSIZE);
        sv_buf_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(both_ways, set_up),
        cmocka_unit_test_setup(nothing, set_up),
        cmocka_unit_test_setup(broken, set_up),
        cmocka_unit_test_setup(too_much, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
