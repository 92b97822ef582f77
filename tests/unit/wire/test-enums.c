/* Tests wire/enums.c and unknown fields: values of a later Hadoop are never an error. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/common_admin.pb-c.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_server.pb-c.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/enums.h"
#include "wire/frame.h"

static struct sv_arena *a;

static int setup(void **state)
{
    (void)state;
    return (a = sv_arena_new(0)) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    a = sv_arena_free(a);
    return 0;
}

static void *unpack(const ProtobufCMessageDescriptor *d, const char *bytes, size_t n)
{
    ProtobufCMessage *m;
    return ipc_unpack(a, d, (const uint8_t *)bytes, n, &m) < 0 ? NULL : m;
}
#define UNPACK(d, bytes) unpack(&d##__descriptor, bytes, sizeof(bytes) - 1)

static void known_values(void **state)
{
    (void)state;
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__container_state_proto__descriptor;
    assert_true(ipc_enum_known(d, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE));
    assert_false(ipc_enum_known(d, 0));
    assert_false(ipc_enum_known(d, 99));
    assert_false(ipc_enum_known(d, -1));
}

/* An optional field is absent and has its default, in the message itself and below it. */
static void optional(void **state)
{
    (void)state;
    Hadoop__Yarn__ContainerStatusProto *s =
        UNPACK(hadoop__yarn__container_status_proto, "\x10\x63\x1a\x02hi");
    assert_non_null(s);
    assert_false(s->has_state);
    s = UNPACK(hadoop__yarn__container_status_proto, "\x10\x03");
    assert_true(s->has_state);
    assert_int_equal(s->state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE);
    /* a node's report of one container in an unknown state: 1 node_status { 3 containersStatuses
     * } */
    Hadoop__Yarn__NodeHeartbeatRequestProto *h =
        UNPACK(hadoop__yarn__node_heartbeat_request_proto, "\x0a\x04\x1a\x02\x10\x63");
    assert_non_null(h);
    assert_int_equal(h->node_status->n_containersstatuses, 1);
    assert_false(h->node_status->containersstatuses[0]->has_state);
    /* with a default of its own */
    Hadoop__Yarn__ExecutionTypeRequestProto *e =
        UNPACK(hadoop__yarn__execution_type_request_proto, "\x08\x37");
    assert_non_null(e);
    assert_false(e->has_execution_type);
    assert_int_equal(e->execution_type, HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED);
}

/* List elements are dropped, single or packed; the others keep their order. */
static void repeated(void **state)
{
    (void)state;
    Hadoop__Yarn__RegisterApplicationMasterResponseProto *r =
        UNPACK(hadoop__yarn__register_application_master_response_proto,
               "\x38\x63\x38\x01\x38\xe7\x07\x38\x00");
    assert_non_null(r);
    assert_int_equal(r->n_scheduler_resource_types, 2);
    assert_int_equal(r->scheduler_resource_types[0], 1);
    assert_int_equal(r->scheduler_resource_types[1], 0);
    r = UNPACK(hadoop__yarn__register_application_master_response_proto, "\x3a\x03\x63\x01\x02");
    assert_non_null(r);
    assert_int_equal(r->n_scheduler_resource_types, 1);
    assert_int_equal(r->scheduler_resource_types[0], 1);
}

static void required(void **state)
{
    (void)state;
    assert_non_null(UNPACK(hadoop__common__hastate_change_request_info_proto, "\x08\x02"));
    assert_null(UNPACK(hadoop__common__hastate_change_request_info_proto, "\x08\x09"));
    assert_null(UNPACK(hadoop__common__hastate_change_request_info_proto,
                       "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")); /* -1 */
}

/* Unknown fields of every wire type are no error. */
static void unknown_fields(void **state)
{
    (void)state;
    Hadoop__Yarn__ApplicationIdProto *m =
        UNPACK(hadoop__yarn__application_id_proto, "\x08\x07\xf8\x3f\x01\xf9\x3f"
                                                   "12345678"
                                                   "\xfa\x3f\x02zz\xfd\x3f"
                                                   "1234"
                                                   "\x10\x09");
    assert_non_null(m);
    assert_int_equal(m->id, 7);
    assert_int_equal(m->cluster_timestamp, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test_setup_teardown(optional, setup, teardown),
        cmocka_unit_test_setup_teardown(repeated, setup, teardown),
        cmocka_unit_test_setup_teardown(required, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_fields, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
