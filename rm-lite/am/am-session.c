/* ApplicationMasters as callers; see am-session.h. They are users' programs, authenticated by their
 * AMRMToken; the attempt in the token is the identity. */
#include "rm-lite/am/am-session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/core/text.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/security/tokens.h"
#include "wire/ipc/methods.h"

int rm_am_verify_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                       size_t *ret_password_len, char ret_user[256], const char **ret_class,
                       struct sv_error *err, void *userdata)
{
    struct rm *rm = userdata;
    struct yarn_amrm_token t;
    struct rm_attempt *att;
    char text[YARN_ID_TEXT_MAX];
    int r = yarn_amrm_token_decode(id, id_len, &t, err);

    (void)ret_class; /* InvalidToken */
    if (r < 0)
        return r;
    yarn_attempt_id_text(t.attempt, text);
    att = rm_attempt_find(rm, t.attempt);
    if (!att || !att->token_live)
        return sv_error_set(err, -EACCES, "%s not found in AMRMTokenSecretManager.", text);
    r = rm_secrets_password(rm->secrets, RM_SECRET_AMRM, t.key_id, id, id_len, ret_password,
                            ret_password_len);
    if (r < 0)
        return sv_error_set(err, r, "Invalid AMRMToken from %s", text);
    (void)snprintf(ret_user, 256, "%s", text);
    return 0;
}

struct rm_attempt *rm_am_named(const struct ipc_call *call, struct rm *rm)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct yarn_amrm_token t;

    if (!peer->token || yarn_amrm_token_decode(peer->token_id, peer->token_id_len, &t, NULL) < 0)
        return NULL;
    return rm_attempt_find(rm, t.attempt);
}

struct rm_attempt *rm_am_caller(struct ipc_call *call, struct rm *rm)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct rm_attempt *att = rm_am_named(call, rm);

    if (!att || !att->token_live || att != att->app->current) {
        ipc_call_fail(call, JAVA_ATTEMPT_NOT_FOUND,
                      "Application attempt %s doesn't exist in ApplicationMasterService cache.",
                      peer->user ? peer->user : "null");
        return NULL;
    }
    att->seen_ms = sv_now_ms();
    return att;
}

bool rm_am_address_fits(struct ipc_call *call, const struct rm_attempt *att, const char *what,
                        const char *text)
{
    size_t n = text ? strlen(text) : 0;

    if (n <= RM_ADDRESS_MAX)
        return true;
    ipc_call_fail(call, JAVA_INVALID_AM_REQUEST,
                  "%s: the %s of its ApplicationMaster has %zu bytes, more than %d: give a shorter "
                  "one",
                  att->id_str, what, n, RM_ADDRESS_MAX);
    return false;
}

Hadoop__Yarn__ContainerProto *rm_am_container(struct sv_arena *a, const struct rm_container *c)
{
    Hadoop__Yarn__ContainerProto *m = sv_new(a, Hadoop__Yarn__ContainerProto);

    if (!m)
        return NULL;
    hadoop__yarn__container_proto__init(m);
    m->id = yarn_container_id_to(a, c->id);
    m->nodeid = yarn_node_id_to(a, &c->node_id);
    m->node_http_address = c->node_http;
    m->resource = rm_res_to(a, c->resource);
    m->priority = rm_priority_to(a, c->priority);
    m->container_token = rm_token_container(a, c);
    m->has_execution_type = true;
    m->execution_type = (Hadoop__Yarn__ExecutionTypeProto)rm_container_wire_type(c->opportunistic);
    m->has_allocation_request_id = true;
    m->allocation_request_id = c->allocation_id;
    m->has_version = true;
    m->version = c->version;
    m->allocation_tags = c->tags;
    m->n_allocation_tags = sv_strv_len(c->tags);
    return m->id && m->nodeid && m->resource && m->priority && m->container_token ? m : NULL;
}

bool rm_am_more_tokens(struct sv_arena *a, Hadoop__Yarn__AllocateResponseProto *resp, size_t n)
{
    Hadoop__Yarn__NMTokenProto **list =
        RM_ANSWER_ARRAY(a, Hadoop__Yarn__NMTokenProto, resp->n_nm_tokens + n);

    if (!list)
        return false;
    for (size_t i = 0; i < resp->n_nm_tokens; i++)
        list[i] = resp->nm_tokens[i];
    resp->nm_tokens = list;
    return true;
}

Hadoop__Yarn__NMTokenProto *rm_am_nm_token(struct sv_arena *a, struct rm_attempt *att,
                                           const struct yarn_node_id *node)
{
    int32_t key_id = rm_secrets_signing(att->rm->secrets, RM_SECRET_NM)->key_id;
    Hadoop__Yarn__NMTokenProto *m;
    struct rm_name_set *have;
    char key[300];

    yarn_node_id_text(node, key);
    have = rm_set_get(att->nm_tokens, key);
    if (have && have->number == key_id)
        return NULL;
    m = sv_new(a, Hadoop__Yarn__NMTokenProto);
    if (!m)
        return NULL;
    hadoop__yarn__nmtoken_proto__init(m);
    m->nodeid = yarn_node_id_to(a, node);
    m->token = rm_token_nm(a, att, node);
    if (!m->nodeid || !m->token)
        return NULL;
    rm_set_add(&att->nm_tokens, key)->number = key_id;
    return m;
}
