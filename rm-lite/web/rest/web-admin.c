/* See web-admin.h. Hostile: the request; its user is a claim. */
#include "rm-lite/web/rest/web-admin.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/nodes/overcommit.h"
#include "rm-lite/security/access.h"
#include "rm-lite/web/rest/resource-json.h"
#include "rm-lite/web/rest/web-body.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-usage.h"

/* 1: admitted, with an audit line. 0 or less: answered, or the user's groups are being looked
 * up. */
static int admitted(struct rm *rm, const struct sv_http_request *req, const char *operation,
                    struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];
    struct rm_audit audit = { .operation = operation, .target = "RMWebService" };
    int may;

    rm_web_caller(rm, req, user);
    if (!*user)
        return rm_web_error(ret, 403, "ForbiddenException",
                            "Unable to obtain user name, user not authenticated");
    may = rm_may_administer(rm, user);
    if (may < 0)
        return may;
    audit.user = user;
    if (may > 0) {
        rm_audit_ok(&audit);
        return 1;
    }
    audit.description = "Unauthorized user";
    rm_audit_fail(&audit);
    return rm_web_error(ret, 403, "ForbiddenException",
                        "Only admins can carry out this operation: User [%s] is none", user);
}

/* ---- The resource of a node ---- */

/* Types that the body does not name keep their amounts. */
static int read_resource(const json_t *body, struct rm_res *ret, int64_t *ret_timeout_ms,
                         struct sv_error *err)
{
    struct rm_res r = *ret;
    int64_t timeout = -1;
    json_t *o = NULL;
    int found = rm_body_object(body, "resource", &o, err);

    if (found == 0)
        return sv_error_set(err, -EINVAL, "resource: missing");
    if (found < 0 || rm_resource_from_json(o, 0, &r, err) < 0 ||
        rm_body_int(body, "overCommitTimeout", INT32_MIN, INT32_MAX, &timeout, err) < 0)
        return -EINVAL;
    if (r.mem > RM_RES_MB_MAX)
        return sv_error_set(err, -EINVAL, "memory: above %lld MB", (long long)RM_RES_MB_MAX);
    *ret = r;
    *ret_timeout_ms = timeout;
    return 0;
}

int rm_web_node_resource(struct rm *rm, const struct sv_http_request *req, const char *rest,
                         struct sv_http_response *ret)
{
    SV_DISPATCH_BATCH(rm->dispatcher);
    char key[sizeof(((struct rm_node *)NULL)->key)];
    struct sv_error err = { 0 };
    struct rm_res total;
    int64_t timeout_ms;
    struct rm_node *n;
    json_t *body;
    int r = admitted(rm, req, "updateNodeResource", ret);

    if (r <= 0)
        return r;
    (void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(rest, "/"), rest); /* or not found */
    n = rm_node_find_key(rm, key);
    if (!n)
        return rm_web_not_found(ret, "nodeId, %.300s, is not found", key);
    body = rm_web_body(req, "resourceOption", ret);
    if (!body)
        return 0;
    total = n->total;
    r = read_resource(body, &total, &timeout_ms, &err);
    json_decref(body);
    if (r < 0)
        return rm_web_bad_request(ret, "%s", err.text);
    rm_overcommit_resize(n, total, timeout_ms);
    rm_request_pass(rm);
    return rm_web_json(ret, 200, json_pack("{s:o}", "resourceInfo", rm_json_resource(total)));
}

/* ---- A signal to a container ---- */

static bool command_of(const char *name, int *ret)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__signal_container_command_proto__descriptor;

    for (size_t i = 0; i < d->n_values; i++)
        if (strcasecmp(d->values[i].name, name) == 0) {
            *ret = d->values[i].value;
            return true;
        }
    return false;
}

int rm_web_signal(struct rm *rm, const struct sv_http_request *req, const char *rest,
                  struct sv_http_response *ret)
{
    const char *name = strrchr(rest, '/') + 1;
    char text[YARN_ID_TEXT_MAX];
    struct yarn_container_id id;
    struct rm_container *c;
    int command, r = admitted(rm, req, "Signal Container Request", ret);

    if (r <= 0)
        return r;
    if (!command_of(name, &command))
        return rm_web_bad_request(ret,
                                  "Invalid command: %.100s, valid commands are: "
                                  "[OUTPUT_THREAD_DUMP, GRACEFUL_SHUTDOWN, FORCEFUL_SHUTDOWN]",
                                  name);
    (void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(rest, "/"), rest); /* or no id */
    if (yarn_container_id_parse(text, &id) < 0)
        return rm_web_bad_request(ret, "Invalid ContainerId: %.100s", rest);
    c = rm_container_find(rm, id);
    if (!c || c->finish_ms || !c->node)
        return rm_web_not_found(ret, "Trying to signal an absent container %s", text);
    if (rm_node_signal_container(c->node, id, command) < 0)
        return rm_web_error(ret, 503, "WebApplicationException",
                            "%s: its node has not yet taken %d other signals; try again later",
                            text, RM_NODE_SIGNALS_MAX);
    return rm_web_text(ret, 200, "");
}
