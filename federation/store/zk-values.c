/* See zk-values.h. */
#include "federation/store/zk-values.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/str.h"
#include "federation/store/store-backend.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_federation.pb-c.h"
#include "proto/yarn_server.pb-c.h"
#include "proto/yarn_token.pb-c.h"
#include "wire/depth.h"
#include "wire/token/writable.h"

#define KEY_VALUE_MAX (FED_KEY_MAX + 32)

typedef Hadoop__Yarn__SubClusterInfoProto member_message;
typedef Hadoop__Yarn__ApplicationHomeSubClusterProto home_message;
typedef Hadoop__Yarn__SubClusterIdProto id_message;
typedef Hadoop__Yarn__SubClusterPolicyConfigurationProto policy_message;
typedef Hadoop__Yarn__RouterStoreTokenProto token_message;

/* A message in the arena; NULL: it is none. */
static void *unpack(struct sv_arena *a, const ProtobufCMessageDescriptor *d, struct fed_zk_bytes v)
{
    if (v.n > FED_ZK_VALUE_MAX || ipc_depth_check(v.p, v.n, d, IPC_DEPTH_MAX) < 0)
        return NULL;
    return protobuf_c_message_unpack(d, sv_arena_protobuf(a), v.n, v.p);
}

static int pack(struct sv_arena *a, const ProtobufCMessage *m, struct fed_zk_bytes *ret)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *p = sv_arena_alloc(a, n + 1);

    if (!p)
        return -ENOMEM;
    *ret = (struct fed_zk_bytes){ p, protobuf_c_message_pack(m, p) };
    return 0;
}

/* Borrows a text for a message, which does not change it. */
static char *borrow(const char *text)
{
    return (char *)(uintptr_t)text;
}

static int broken(const char **ret_rule, const char *rule)
{
    *ret_rule = rule;
    return -EBADMSG;
}

/* ---- Reading ---- */

static int read_member(struct sv_arena *a, const char *name, struct fed_zk_bytes v,
                       struct fed_member *ret, const char **ret_rule)
{
    const member_message *m = unpack(a, &hadoop__yarn__sub_cluster_info_proto__descriptor, v);

    if (!m)
        return broken(ret_rule, "its value is no SubClusterInfoProto");
    if (!m->sub_cluster_id || !sv_streq(m->sub_cluster_id->id, name))
        return broken(ret_rule, "its value is of another member");
    *ret = (struct fed_member){ .id = m->sub_cluster_id->id,
                                .am = m->amrm_service_address,
                                .client = m->client_rm_service_address,
                                .admin = m->rm_admin_service_address,
                                .web = m->rm_web_service_address,
                                .state = m->has_state ? (enum fed_state)m->state : 0,
                                .last_heartbeat_ms = m->lastheartbeat,
                                .last_start_ms = m->laststarttime,
                                .capability = m->capability ?: "" };
    return 0;
}

static int read_home(struct sv_arena *a, const char *name, struct fed_zk_bytes v,
                     struct fed_home *ret, const char **ret_rule)
{
    const home_message *m =
        unpack(a, &hadoop__yarn__application_home_sub_cluster_proto__descriptor, v);
    struct fed_zk_bytes context = { 0 };
    struct yarn_app_id app;

    if (yarn_app_id_parse(name, &app) < 0)
        return broken(ret_rule, "its node's name is no application");
    if (!m)
        return broken(ret_rule, "its value is no ApplicationHomeSubClusterProto");
    if (!m->application_id || m->application_id->id != app.id ||
        m->application_id->cluster_timestamp != app.cluster_ts)
        return broken(ret_rule, "its value is of another application");
    if (m->app_submit_context && pack(a, &m->app_submit_context->base, &context) < 0)
        return -ENOMEM;
    *ret = (struct fed_home){ .app = app,
                              .home = m->home_sub_cluster ? m->home_sub_cluster->id : NULL,
                              .created_ms = m->create_time,
                              .context = context.p,
                              .context_len = context.n };
    return 0;
}

static int read_reservation(struct sv_arena *a, const char *name, struct fed_zk_bytes v,
                            struct fed_reservation *ret, const char **ret_rule)
{
    const id_message *m = unpack(a, &hadoop__yarn__sub_cluster_id_proto__descriptor, v);

    if (!m)
        return broken(ret_rule, "its value is no SubClusterIdProto");
    *ret = (struct fed_reservation){ name, m->id };
    return 0;
}

static int read_policy(struct sv_arena *a, const char *name, struct fed_zk_bytes v,
                       struct fed_policy *ret, const char **ret_rule)
{
    const policy_message *m =
        unpack(a, &hadoop__yarn__sub_cluster_policy_configuration_proto__descriptor, v);

    if (!m)
        return broken(ret_rule, "its value is no SubClusterPolicyConfigurationProto");
    if (!sv_streq(m->queue, name))
        return broken(ret_rule, "its value is of another queue");
    *ret = (struct fed_policy){ .queue = m->queue,
                                .type = m->type,
                                .params = m->has_params ? m->params.data : NULL,
                                .params_len = m->params.len };
    return 0;
}

static int number_of(const char *name, int32_t *ret)
{
    uint64_t n;
    bool negative = name[0] == '-';

    if (sv_parse_u64(name + negative, 0, (uint64_t)INT32_MAX + negative, &n) < 0)
        return -EINVAL;
    *ret = (int32_t)(negative ? -(int64_t)n : (int64_t)n);
    return 0;
}

/* DelegationKey as a Writable: VInt id, VLong end, VInt length, bytes. */
static int read_key(const char *name, struct fed_zk_bytes v, struct fed_key *ret,
                    const char **ret_rule)
{
    struct sv_buf b = SV_BUF_VIEW(v.p, v.n);
    struct fed_key k = { 0 };
    int64_t id;

    if (number_of(name, &k.id) < 0 || ipc_writable_get_vlong(&b, &id) < 0 || id != k.id ||
        ipc_writable_get_vlong(&b, &k.expiry_ms) < 0 || ipc_writable_get_len(&b, &k.len) < 0 ||
        sv_buf_get_ref(&b, &k.bytes, k.len) < 0)
        return broken(ret_rule, "its value is no DelegationKey of its number");
    *ret = k;
    return 0;
}

static int read_token(struct sv_arena *a, const char *name, struct fed_zk_bytes v,
                      struct fed_token *ret, const char **ret_rule)
{
    const token_message *m = unpack(a, &hadoop__yarn__router_store_token_proto__descriptor, v);
    struct fed_token t = { 0 };
    struct fed_zk_bytes identifier;

    if (!m || !m->token_identifier || number_of(name, &t.sequence) < 0)
        return broken(ret_rule, "its value is no RouterStoreTokenProto");
    if (pack(a, &m->token_identifier->base, &identifier) < 0)
        return -ENOMEM;
    t.identifier = identifier.p;
    t.identifier_len = identifier.n;
    t.info = m->token_info ?: "";
    t.renew_ms = m->renew_date;
    *ret = t;
    return 0;
}

static int read_version(struct sv_arena *a, struct fed_zk_bytes v, struct fed_version *ret,
                        const char **ret_rule)
{
    const Hadoop__Yarn__VersionProto *m = unpack(a, &hadoop__yarn__version_proto__descriptor, v);

    if (!m)
        return broken(ret_rule, "its value is no VersionProto");
    *ret = (struct fed_version){ m->major_version, m->minor_version };
    return 0;
}

int fed_zk_value_read(struct sv_arena *a, enum fed_kind kind, const char *name,
                      struct fed_zk_bytes value, union fed_zk_record *ret, const char **ret_rule)
{
    switch (kind) {
    case FED_MEMBER:
        return read_member(a, name, value, &ret->member, ret_rule);
    case FED_HOME:
        return read_home(a, name, value, &ret->home, ret_rule);
    case FED_RESERVATION:
        return read_reservation(a, name, value, &ret->reservation, ret_rule);
    case FED_POLICY:
        return read_policy(a, name, value, &ret->policy, ret_rule);
    case FED_KEY:
        return read_key(name, value, &ret->key, ret_rule);
    case FED_TOKEN:
        return read_token(a, name, value, &ret->token, ret_rule);
    default:
        return read_version(a, value, &ret->version, ret_rule);
    }
}

int fed_zk_count_read(struct fed_zk_bytes value, int32_t *ret)
{
    struct sv_buf b = SV_BUF_VIEW(value.p, value.n);
    uint32_t n = 0;

    if (value.n > 0 && (value.n != sizeof(n) || sv_buf_get_u32(&b, &n) < 0 || n > INT32_MAX))
        return -EBADMSG;
    *ret = (int32_t)n;
    return 0;
}

/* ---- Writing ---- */

static int write_member(struct sv_arena *a, const struct fed_member *m, int64_t now_ms,
                        struct fed_zk_bytes *ret)
{
    id_message id = HADOOP__YARN__SUB_CLUSTER_ID_PROTO__INIT;
    member_message to = HADOOP__YARN__SUB_CLUSTER_INFO_PROTO__INIT;

    id.id = borrow(m->id);
    to.sub_cluster_id = &id;
    to.amrm_service_address = borrow(m->am);
    to.client_rm_service_address = borrow(m->client);
    to.rm_admin_service_address = borrow(m->admin);
    to.rm_web_service_address = borrow(m->web);
    to.has_lastheartbeat = to.has_state = to.has_laststarttime = 1;
    to.lastheartbeat = now_ms;
    to.state = (Hadoop__Yarn__SubClusterStateProto)m->state;
    to.laststarttime = m->last_start_ms;
    to.capability = borrow(m->capability ?: "");
    return pack(a, &to.base, ret);
}

static int write_home(struct sv_arena *a, const struct fed_home *h, int64_t created_ms,
                      struct fed_zk_bytes *ret, const char **ret_rule)
{
    Hadoop__Yarn__ApplicationIdProto app = HADOOP__YARN__APPLICATION_ID_PROTO__INIT;
    id_message id = HADOOP__YARN__SUB_CLUSTER_ID_PROTO__INIT;
    home_message to = HADOOP__YARN__APPLICATION_HOME_SUB_CLUSTER_PROTO__INIT;

    app.has_id = app.has_cluster_timestamp = 1;
    app.id = h->app.id;
    app.cluster_timestamp = h->app.cluster_ts;
    id.id = borrow(h->home);
    to.application_id = &app;
    to.home_sub_cluster = &id;
    to.has_create_time = 1;
    to.create_time = created_ms;
    if (h->context) {
        to.app_submit_context =
            unpack(a, &hadoop__yarn__application_submission_context_proto__descriptor,
                   (struct fed_zk_bytes){ h->context, h->context_len });
        if (!to.app_submit_context) {
            *ret_rule = "its submission context is no ApplicationSubmissionContextProto";
            return -EINVAL;
        }
    }
    return pack(a, &to.base, ret);
}

static int write_reservation(struct sv_arena *a, const struct fed_reservation *r,
                             struct fed_zk_bytes *ret)
{
    id_message to = HADOOP__YARN__SUB_CLUSTER_ID_PROTO__INIT;

    to.id = borrow(r->home);
    return pack(a, &to.base, ret);
}

static int write_policy(struct sv_arena *a, const struct fed_policy *p, struct fed_zk_bytes *ret)
{
    policy_message to = HADOOP__YARN__SUB_CLUSTER_POLICY_CONFIGURATION_PROTO__INIT;

    to.queue = borrow(p->queue);
    to.type = borrow(p->type);
    to.has_params = 1; /* as Hadoop writes it, also without any */
    to.params = (ProtobufCBinaryData){ p->params_len, (uint8_t *)(uintptr_t)p->params };
    return pack(a, &to.base, ret);
}

static int write_key(struct sv_arena *a, const struct fed_key *k, struct fed_zk_bytes *ret)
{
    _cleanup_buf_wipe_ struct sv_buf b = SV_BUF_INIT(KEY_VALUE_MAX);
    int r = sv_buf_reserve(&b, KEY_VALUE_MAX);

    if (r == 0)
        r = ipc_writable_put_vlong(&b, k->id);
    if (r == 0)
        r = ipc_writable_put_vlong(&b, k->expiry_ms);
    if (r == 0)
        r = ipc_writable_put_bytes(&b, k->bytes, k->len);
    if (r < 0)
        return -ENOMEM;
    *ret = (struct fed_zk_bytes){ sv_arena_memdup(a, b.data, b.len), b.len };
    return ret->p ? 0 : -ENOMEM;
}

static int write_token(struct sv_arena *a, const struct fed_token *t, struct fed_zk_bytes *ret,
                       const char **ret_rule)
{
    token_message to = HADOOP__YARN__ROUTER_STORE_TOKEN_PROTO__INIT;

    to.token_identifier =
        unpack(a, &hadoop__yarn__yarndelegation_token_identifier_proto__descriptor,
               (struct fed_zk_bytes){ t->identifier, t->identifier_len });
    if (!to.token_identifier) {
        *ret_rule = "its identifier is no YARNDelegationTokenIdentifierProto";
        return -EINVAL;
    }
    to.has_renew_date = 1;
    to.renew_date = t->renew_ms;
    to.token_info = borrow(t->info);
    return pack(a, &to.base, ret);
}

static int write_count(struct sv_arena *a, int32_t n, struct fed_zk_bytes *ret)
{
    uint32_t value = (uint32_t)n;
    const uint8_t bytes[] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value };

    *ret = (struct fed_zk_bytes){ sv_arena_memdup(a, bytes, sizeof(bytes)), sizeof(bytes) };
    return ret->p ? 0 : -ENOMEM;
}

/* 1.1. */
static int write_version(struct sv_arena *a, struct fed_zk_bytes *ret)
{
    Hadoop__Yarn__VersionProto to = HADOOP__YARN__VERSION_PROTO__INIT;

    to.has_major_version = to.has_minor_version = 1;
    to.major_version = to.minor_version = 1;
    return pack(a, &to.base, ret);
}

static int write_any(struct sv_arena *a, const struct fed_request *q, enum fed_kind kind,
                     int64_t now_ms, struct fed_zk_bytes *ret, const char **ret_rule)
{
    switch (kind) {
    case FED_MEMBER:
        return write_member(a, &q->member, now_ms, ret);
    case FED_HOME:
        return write_home(a, &q->home, now_ms, ret, ret_rule);
    case FED_RESERVATION:
        return write_reservation(a, &q->reservation, ret);
    case FED_POLICY:
        return write_policy(a, &q->policy, ret);
    case FED_KEY:
        return write_key(a, &q->key, ret);
    case FED_TOKEN:
        return write_token(a, &q->token, ret, ret_rule);
    case FED_SEQUENCE:
        return write_count(a, q->sequence.value, ret);
    default:
        return write_version(a, ret);
    }
}

int fed_zk_value_write(struct sv_arena *a, const struct fed_request *q, int64_t now_ms,
                       struct fed_zk_bytes *ret, const char **ret_rule)
{
    return write_any(a, q, fed_operations[q->op].kind, now_ms, ret, ret_rule);
}

/* ---- Changing ---- */

/* Everything but state, heartbeat and capability stays. */
static int change_member(struct sv_arena *a, const struct fed_request *q, int64_t now_ms,
                         struct fed_zk_bytes old, struct fed_zk_bytes *ret, const char **ret_rule)
{
    member_message *m = unpack(a, &hadoop__yarn__sub_cluster_info_proto__descriptor, old);

    if (!m)
        return broken(ret_rule, "its value is no SubClusterInfoProto");
    m->has_state = 1;
    m->state = (Hadoop__Yarn__SubClusterStateProto)q->member.state;
    if (q->op == FED_MEMBER_HEARTBEAT) {
        m->has_lastheartbeat = 1;
        m->lastheartbeat = now_ms;
        m->capability = borrow(q->member.capability);
    }
    return pack(a, &m->base, ret);
}

int fed_zk_value_change(struct sv_arena *a, const struct fed_request *q, int64_t now_ms,
                        struct fed_zk_bytes old, struct fed_zk_bytes *ret, const char **ret_rule)
{
    const home_message *home;

    if (q->op <= FED_MEMBER_LIST)
        return change_member(a, q, now_ms, old, ret, ret_rule);
    if (q->op != FED_HOME_UPDATE)
        return fed_zk_value_write(a, q, now_ms, ret, ret_rule);
    home = unpack(a, &hadoop__yarn__application_home_sub_cluster_proto__descriptor, old);
    if (!home)
        return broken(ret_rule, "its value is no ApplicationHomeSubClusterProto");
    return fed_zk_value_write(a, q, home->create_time, ret, ret_rule);
}
