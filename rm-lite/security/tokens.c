/* Tokens. See tokens.h. */
#include "rm-lite/security/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/core/submission.h"
#include "rm-lite/scheduler/resource-types.h"

/* Hadoop's tokens have "ip:port" of the daemon in `service`; clients look tokens up by NodeId, so
 * the node's host and port suffice and no name is resolved on the event loop. */
static char *service_of(struct sv_arena *a, const struct yarn_node_id *node)
{
    return sv_arena_printf(a, "%s:%d", node->host, node->port);
}

static int sign(struct sv_arena *a, const struct rm *rm, enum rm_secret kind, int32_t key_id,
                const uint8_t *id, size_t id_len, const uint8_t **ret, size_t *ret_len)
{
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    size_t len;
    int r = rm_secrets_password(rm->secrets, kind, key_id, id, id_len, password, &len);

    if (r < 0)
        return r;
    *ret = sv_arena_memdup(a, password, len);
    *ret_len = len;
    return *ret ? 0 : -ENOMEM;
}

Hadoop__Common__TokenProto *rm_token_container(struct sv_arena *a, const struct rm_container *c)
{
    const struct rm *rm = c->rm;
    int32_t key_id = rm_secrets_signing(rm->secrets, RM_SECRET_CONTAINER)->key_id;
    Hadoop__Yarn__ContainerTokenIdentifierProto m =
        HADOOP__YARN__CONTAINER_TOKEN_IDENTIFIER_PROTO__INIT;
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    const Hadoop__Yarn__ApplicationSubmissionContextProto *ctx = rm_app_context(c->app);
    struct yarn_token t = { .kind = YARN_KIND_CONTAINER };
    uint8_t *id;

    if (ctx)
        m.logaggregationcontext = ctx->log_aggregation_context;
    priority.has_priority = true;
    priority.priority = c->priority;
    m.containerid = yarn_container_id_to(a, c->id);
    m.nmhostaddr = service_of(a, &c->node_id);
    m.appsubmitter = c->app->user;
    m.resource = rm_res_to(a, c->resource);
    m.has_expirytimestamp = true;
    m.expirytimestamp = sv_wall_ms() + rm->conf.allocation_expiry_ms;
    m.has_masterkeyid = true;
    m.masterkeyid = key_id;
    m.has_rmidentifier = true;
    m.rmidentifier = rm->started_ms;
    m.priority = &priority;
    m.has_creationtime = true;
    m.creationtime = c->created_ms;
    m.nodelabelexpression = (char *)(uintptr_t) "";
    m.has_containertype = true;
    m.containertype = c->is_master ? HADOOP__YARN__CONTAINER_TYPE_PROTO__APPLICATION_MASTER
                                   : HADOOP__YARN__CONTAINER_TYPE_PROTO__TASK;
    m.has_executiontype = true;
    m.executiontype = (Hadoop__Yarn__ExecutionTypeProto)rm_container_wire_type(c->opportunistic);
    m.has_version = true;
    m.version = c->version;
    m.has_allocation_request_id = true;
    m.allocation_request_id = c->allocation_id;
    m.allocation_tags = c->tags;
    m.n_allocation_tags = sv_strv_len(c->tags);
    if (!m.containerid || !m.nmhostaddr || !m.resource)
        return NULL;
    t.id_len = hadoop__yarn__container_token_identifier_proto__get_packed_size(&m);
    id = sv_arena_alloc(a, t.id_len);
    if (!id)
        return NULL;
    hadoop__yarn__container_token_identifier_proto__pack(&m, id);
    t.id = id;
    t.service = m.nmhostaddr;
    if (sign(a, rm, RM_SECRET_CONTAINER, key_id, t.id, t.id_len, &t.password, &t.password_len) < 0)
        return NULL;
    return yarn_token_to(a, &t);
}

int rm_token_nm_struct(struct sv_arena *a, const struct rm_attempt *att,
                       const struct yarn_node_id *node, struct yarn_token *ret)
{
    struct yarn_nm_token nm = {
        .attempt = att->id,
        .node = *node,
        .key_id = rm_secrets_signing(att->rm->secrets, RM_SECRET_NM)->key_id,
    };
    struct yarn_token t = { .kind = YARN_KIND_NM };
    int r;

    (void)snprintf(nm.submitter, sizeof(nm.submitter), "%s", att->app->user);
    r = yarn_nm_token_encode(a, &nm, &t.id, &t.id_len);
    if (r < 0)
        return r;
    t.service = service_of(a, node);
    if (!t.service)
        return -ENOMEM;
    r = sign(a, att->rm, RM_SECRET_NM, nm.key_id, t.id, t.id_len, &t.password, &t.password_len);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}

Hadoop__Common__TokenProto *rm_token_nm(struct sv_arena *a, const struct rm_attempt *att,
                                        const struct yarn_node_id *node)
{
    struct yarn_token t;

    return rm_token_nm_struct(a, att, node, &t) < 0 ? NULL : yarn_token_to(a, &t);
}

int rm_token_amrm(struct sv_arena *a, const struct rm_attempt *att, struct yarn_token *ret)
{
    struct yarn_amrm_token id = {
        .attempt = att->id,
        .key_id = rm_secrets_signing(att->rm->secrets, RM_SECRET_AMRM)->key_id,
    };
    struct yarn_token t = { .kind = YARN_KIND_AMRM, .service = "" };
    int r = yarn_amrm_token_encode(a, &id, &t.id, &t.id_len);

    if (r < 0)
        return r;
    r = sign(a, att->rm, RM_SECRET_AMRM, id.key_id, t.id, t.id_len, &t.password, &t.password_len);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}

/* The key follows from the stored secret and the attempt's id: the same after a restart. */
int rm_client_am_key(const struct rm_attempt *att, struct yarn_master_key *ret)
{
    const struct rm *rm = att->rm;
    char id[YARN_ID_TEXT_MAX];

    *ret = (struct yarn_master_key){ 0 };
    if (!rm->conf.kerberos.own.on)
        return -EOPNOTSUPP;
    yarn_attempt_id_text(att->id, id);
    return rm_secrets_password(rm->secrets, RM_SECRET_CLIENT_AM,
                               rm_secrets_signing(rm->secrets, RM_SECRET_CLIENT_AM)->key_id,
                               (const uint8_t *)id, strlen(id), ret->bytes, &ret->len);
}

Hadoop__Common__TokenProto *rm_token_client_am(struct sv_arena *a, const struct rm_attempt *att,
                                               const char *client)
{
    struct yarn_token t = { .kind = YARN_KIND_CLIENT_AM, .service = "" };
    struct yarn_client_am_token id = { .attempt = att->id };
    struct yarn_master_key key;
    uint8_t *password = sv_arena_alloc(a, YARN_TOKEN_PASSWORD_MAX);

    (void)snprintf(id.client, sizeof(id.client), "%s", client);
    if (!password || rm_client_am_key(att, &key) < 0 ||
        yarn_client_am_token_encode(a, &id, &t.id, &t.id_len) < 0 ||
        yarn_token_password(att->rm->secrets->hmac, &key, t.id, t.id_len, password,
                            &t.password_len) < 0)
        return NULL;
    t.password = password;
    return yarn_token_to(a, &t);
}
