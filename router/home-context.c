/* See home-context.h. */
#include "router/home-context.h"

#include "federation/store/store.h"
#include "proto/yarn.pb-c.h"

void rtr_home_context(struct sv_arena *a, const Hadoop__Yarn__ApplicationSubmissionContextProto *c,
                      const uint8_t **ret, size_t *ret_len)
{
    Hadoop__Yarn__ApplicationSubmissionContextProto kept = *c;
    uint8_t *bytes;
    size_t n;

    kept.base.n_unknown_fields = 0;
    kept.base.unknown_fields = NULL;
    kept.am_container_spec = NULL;
    kept.resource = NULL;
    kept.reservation_id = NULL;
    kept.n_am_container_resource_request = 0;
    kept.am_container_resource_request = NULL;
    n = protobuf_c_message_get_packed_size(&kept.base);
    bytes = n <= FED_CONTEXT_MAX ? sv_arena_alloc(a, n + 1) : NULL;
    *ret_len = bytes ? protobuf_c_message_pack(&kept.base, bytes) : 0;
    *ret = bytes;
}
