/* Identifiers inside YARN's tokens ⇄ structs. Hostile: bytes whose password is not yet verified:
 * bounded, and no text is truncated silently. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proto/yarn_token.pb-c.h"
#include "wire/frame.h"
#include "wire/token/token-internal.h"

typedef Hadoop__Yarn__ContainerTokenIdentifierProto container_message;
typedef Hadoop__Yarn__NMTokenIdentifierProto nm_message;
typedef Hadoop__Yarn__AMRMTokenIdentifierProto amrm_message;

int yarn_token_unpack(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *id,
                      size_t len, ProtobufCMessage **ret, const char *kind, struct sv_error *err)
{
    if (len == 0 || len > YARN_TOKEN_ID_MAX || ipc_unpack(a, d, id, len, ret) < 0)
        return sv_error_set(err, -EBADMSG, "%s: malformed identifier", kind);
    return 0;
}

bool yarn_token_copy_text(char *dst, size_t size, const char *src)
{
    return (size_t)snprintf(dst, size, "%s", src ? src : "") < size;
}

int yarn_token_pack(struct sv_arena *a, const ProtobufCMessage *m, const uint8_t **ret,
                    size_t *ret_len)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *p = sv_arena_alloc(a, n);
    if (!p)
        return -ENOMEM;
    *ret_len = protobuf_c_message_pack(m, p);
    *ret = p;
    return 0;
}

/* ---- ContainerToken ---- */

/* An unknown enum value counts as absent, as in Java's protobuf. */
static int32_t one_or_two(bool has, int value, int32_t absent)
{
    return has && (value == 1 || value == 2) ? value : absent;
}

static void container_numbers(const container_message *m, struct yarn_container_token *t)
{
    t->expiry_ms = m->expirytimestamp;
    t->key_id = m->masterkeyid;
    t->rm_identifier = m->rmidentifier;
    t->priority = m->priority ? m->priority->priority : 0;
    t->creation_ms = m->creationtime;
    t->container_type = one_or_two(m->has_containertype, (int)m->containertype, 2);
    t->execution_type = one_or_two(m->has_executiontype, (int)m->executiontype, 1);
    t->version = m->version;
    t->allocation_request_id = m->allocation_request_id;
}

static void log_text(struct yarn_container_token *t, char *ret, size_t size, const char *s)
{
    if (!yarn_token_copy_text(ret, size, s)) {
        ret[0] = 0;
        t->log_too_long = true;
    }
}

static void log_context(const Hadoop__Yarn__LogAggregationContextProto *c,
                        struct yarn_container_token *t)
{
    if (!c)
        return;
    if (c->include_pattern && strcmp(c->include_pattern, ".*") != 0)
        log_text(t, t->log_include, sizeof(t->log_include), c->include_pattern);
    log_text(t, t->log_exclude, sizeof(t->log_exclude), c->exclude_pattern);
    log_text(t, t->log_rolled_include, sizeof(t->log_rolled_include),
             c->rolled_logs_include_pattern);
    /* If absent, protobuf's default would exclude everything, but Java's getter returns null. */
    if (c->rolled_logs_exclude_pattern !=
        hadoop__yarn__log_aggregation_context_proto__rolled_logs_exclude_pattern__default_value)
        log_text(t, t->log_rolled_exclude, sizeof(t->log_rolled_exclude),
                 c->rolled_logs_exclude_pattern);
    log_text(t, t->log_policy, sizeof(t->log_policy), c->log_aggregation_policy_class_name);
    log_text(t, t->log_policy_parameters, sizeof(t->log_policy_parameters),
             c->log_aggregation_policy_parameters);
}

static void read_tags(const container_message *m, struct yarn_container_token *t)
{
    size_t at = 0;

    if (m->n_allocation_tags > YARN_TOKEN_TAGS_MAX)
        return;
    for (size_t i = 0; i < m->n_allocation_tags; i++) {
        size_t n = strlen(m->allocation_tags[i]) + 1;

        if (n > sizeof(t->tags) - at) {
            t->n_tags = 0;
            return;
        }
        memcpy(t->tags + at, m->allocation_tags[i], n);
        at += n;
        t->n_tags++;
    }
}

char **yarn_container_token_tags(struct sv_arena *a, const struct yarn_container_token *t)
{
    char **list = sv_newn(a, char *, t->n_tags + 1);
    const char *at = t->tags;

    for (size_t i = 0; list && i < t->n_tags; i++) {
        list[i] = sv_arena_strdup(a, at);
        if (!list[i])
            return NULL;
        at += strlen(at) + 1;
    }
    return list;
}

int yarn_container_token_decode(const uint8_t *id, size_t len, struct yarn_container_token *ret,
                                struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(len));
    struct yarn_container_token t = { 0 };
    ProtobufCMessage *base;
    if (!a)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (yarn_token_is_old(id, len))
        return yarn_container_token_old(id, len, ret) < 0
                   ? sv_error_set(err, -EBADMSG, "%s: malformed identifier", YARN_KIND_CONTAINER)
                   : 0;
    int r = yarn_token_unpack(a, &hadoop__yarn__container_token_identifier_proto__descriptor, id,
                              len, &base, YARN_KIND_CONTAINER, err);
    if (r < 0)
        return r;
    const container_message *m = (const container_message *)base;
    if (yarn_container_id_from(m->containerid, &t.container) < 0 ||
        yarn_resource_from(m->resource, &t.resource) < 0 ||
        !yarn_token_copy_text(t.nm_addr, sizeof(t.nm_addr), m->nmhostaddr) ||
        !yarn_token_copy_text(t.submitter, sizeof(t.submitter), m->appsubmitter) ||
        !yarn_token_copy_text(t.node_label, sizeof(t.node_label), m->nodelabelexpression))
        return sv_error_set(err, -EBADMSG, "%s: identifier out of range", YARN_KIND_CONTAINER);
    container_numbers(m, &t);
    log_context(m->logaggregationcontext, &t);
    read_tags(m, &t);
    yarn_resource_unknown(m->resource, t.unknown_resource, sizeof(t.unknown_resource));
    *ret = t;
    return 0;
}

int yarn_container_token_encode(struct sv_arena *a, const struct yarn_container_token *t,
                                const uint8_t **ret, size_t *ret_len)
{
    container_message m = HADOOP__YARN__CONTAINER_TOKEN_IDENTIFIER_PROTO__INIT;
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    m.containerid = yarn_container_id_to(a, t->container);
    m.resource = yarn_resource_to(a, t->resource);
    if (!m.containerid || !m.resource)
        return -ENOMEM;
    m.nmhostaddr = yarn_token_chars(t->nm_addr);
    m.appsubmitter = yarn_token_chars(t->submitter);
    m.has_expirytimestamp = m.has_masterkeyid = m.has_rmidentifier = m.has_creationtime = 1;
    m.expirytimestamp = t->expiry_ms;
    m.masterkeyid = t->key_id;
    m.rmidentifier = t->rm_identifier;
    m.creationtime = t->creation_ms;
    priority.has_priority = 1;
    priority.priority = t->priority;
    m.priority = &priority;
    m.nodelabelexpression = yarn_token_chars(t->node_label);
    m.has_containertype = t->container_type != 0;
    m.containertype = t->container_type;
    m.has_executiontype = t->execution_type != 0;
    m.executiontype = t->execution_type;
    m.has_version = m.has_allocation_request_id = 1;
    m.version = t->version;
    m.allocation_request_id = t->allocation_request_id;
    m.n_allocation_tags = t->n_tags;
    m.allocation_tags = yarn_container_token_tags(a, t);
    if (!m.allocation_tags)
        return -ENOMEM;
    return yarn_token_pack(a, &m.base, ret, ret_len);
}

/* ---- NMToken ---- */

int yarn_nm_token_decode(const uint8_t *id, size_t len, struct yarn_nm_token *ret,
                         struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(len));
    struct yarn_nm_token t = { 0 };
    ProtobufCMessage *base;
    if (!a)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (yarn_token_is_old(id, len))
        return yarn_nm_token_old(id, len, ret) < 0
                   ? sv_error_set(err, -EBADMSG, "%s: malformed identifier", YARN_KIND_NM)
                   : 0;
    int r = yarn_token_unpack(a, &hadoop__yarn__nmtoken_identifier_proto__descriptor, id, len,
                              &base, YARN_KIND_NM, err);
    if (r < 0)
        return r;
    const nm_message *m = (const nm_message *)base;
    if (yarn_attempt_id_from(m->appattemptid, &t.attempt) < 0 ||
        yarn_node_id_from(m->nodeid, &t.node) < 0 ||
        !yarn_token_copy_text(t.submitter, sizeof(t.submitter), m->appsubmitter))
        return sv_error_set(err, -EBADMSG, "%s: identifier out of range", YARN_KIND_NM);
    t.key_id = m->keyid;
    *ret = t;
    return 0;
}

int yarn_nm_token_encode(struct sv_arena *a, const struct yarn_nm_token *t, const uint8_t **ret,
                         size_t *ret_len)
{
    nm_message m = HADOOP__YARN__NMTOKEN_IDENTIFIER_PROTO__INIT;
    m.appattemptid = yarn_attempt_id_to(a, t->attempt);
    m.nodeid = yarn_node_id_to(a, &t->node);
    if (!m.appattemptid || !m.nodeid)
        return -ENOMEM;
    m.appsubmitter = yarn_token_chars(t->submitter);
    m.has_keyid = 1;
    m.keyid = t->key_id;
    return yarn_token_pack(a, &m.base, ret, ret_len);
}

/* ---- YARN_AM_RM_TOKEN ---- */

int yarn_amrm_token_decode(const uint8_t *id, size_t len, struct yarn_amrm_token *ret,
                           struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ipc_arena_max(len));
    struct yarn_amrm_token t = { 0 };
    ProtobufCMessage *base;
    if (!a)
        return sv_error_set(err, -ENOMEM, "out of memory");
    if (yarn_token_is_old(id, len))
        return yarn_amrm_token_old(id, len, ret) < 0
                   ? sv_error_set(err, -EBADMSG, "%s: malformed identifier", YARN_KIND_AMRM)
                   : 0;
    int r = yarn_token_unpack(a, &hadoop__yarn__amrmtoken_identifier_proto__descriptor, id, len,
                              &base, YARN_KIND_AMRM, err);
    if (r < 0)
        return r;
    const amrm_message *m = (const amrm_message *)base;
    if (yarn_attempt_id_from(m->appattemptid, &t.attempt) < 0)
        return sv_error_set(err, -EBADMSG, "%s: identifier out of range", YARN_KIND_AMRM);
    t.key_id = m->keyid;
    *ret = t;
    return 0;
}

int yarn_amrm_token_encode(struct sv_arena *a, const struct yarn_amrm_token *t, const uint8_t **ret,
                           size_t *ret_len)
{
    amrm_message m = HADOOP__YARN__AMRMTOKEN_IDENTIFIER_PROTO__INIT;
    m.appattemptid = yarn_attempt_id_to(a, t->attempt);
    if (!m.appattemptid)
        return -ENOMEM;
    m.has_keyid = 1;
    m.keyid = t->key_id;
    return yarn_token_pack(a, &m.base, ret, ret_len);
}
