/* See web-delegation.h. Hostile: bodies, and tokens in headers. An answer waits until the token is
 * on disk, as those of RPC. */
#include "rm-lite/web/rest/web-delegation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/web/rest/web-body.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-stored.h"
#include "wire/ipc/ipc-server.h"

#define HEADER "Hadoop-YARN-RM-Delegation-Token"
#define ARENA_MAX ((size_t)512 << 10)

/* ---- Callers ---- */

#define NO_KERBEROS_LOGIN                                                                          \
    "Delegation token operations can only be carried out on a Kerberos authenticated channel. "    \
    "Expected auth type is kerberos, got type "

/* Hadoop's names of how a caller is known. */
static const char *method_of(const struct sv_http_request *req)
{
    return req->caller && req->caller->user ? "SIMPLE" : "null";
}

/* A ticket alone gets a token, renews or cancels one: a token is no way to a token. 1: admitted;
 * otherwise it was answered. */
static int admitted(struct rm *rm, const struct sv_http_request *req,
                    struct yarn_token_caller *ret_who, char user[SV_AUTH_USER_MAX],
                    struct sv_http_response *ret)
{
    char text[sizeof(NO_KERBEROS_LOGIN) + 16];

    rm_web_caller(rm, req, user);
    if (!*user)
        return rm_web_error(ret, 403, "ForbiddenException",
                            "Unable to obtain user name, user not authenticated");
    if (req->caller && req->caller->proof == SV_HTTP_TOKEN)
        return rm_web_text(ret, 403,
                           "Delegation token operations cannot be carried out using delegation "
                           "token authentication.");
    if (!req->caller || req->caller->proof != SV_HTTP_TICKET) {
        (void)snprintf(text, sizeof(text), NO_KERBEROS_LOGIN "%s", method_of(req));
        return rm_web_text(ret, 403, text);
    }
    *ret_who = (struct yarn_token_caller){ .user = user, .full_name = req->caller->full };
    return 1;
}

static struct rm_audit audit_of(const struct yarn_token_caller *who, const char *operation)
{
    return (
        struct rm_audit){ .user = who->user, .operation = operation, .target = "ClientRMService" };
}

/* A refusal in Hadoop's form for its class. */
static int refused(struct rm_audit audit, const char *class, const struct sv_error *err,
                   struct sv_http_response *ret)
{
    audit.description = err->text;
    rm_audit_fail(&audit);
    if (sv_streq(class, JAVA_ACCESS_CONTROL))
        return rm_web_text(ret, 403, err->text);
    if (sv_streq(class, JAVA_INVALID_TOKEN))
        return rm_web_bad_request(ret, "%s", err->text);
    return rm_web_error(ret, 400, class, "%s", err->text);
}

/* ---- Issue ---- */

static json_t *shown(struct rm *rm, struct sv_arena *a, const struct yarn_token *t,
                     const char *renewer)
{
    struct yarn_delegation_token what;
    const char *text;

    if (yarn_delegation_token_decode(t->id, t->id_len, &what, NULL) < 0 ||
        yarn_token_text(a, t, &text) < 0)
        return NULL;
    return json_pack("{s:s, s:o, s:o, s:s, s:I, s:I}", "token", text, "renewer",
                     sv_json_text(renewer), "owner", sv_json_text(what.owner), "kind", t->kind,
                     "expiration-time", (json_int_t)rm_delegation_expires(rm, t), "max-validity",
                     (json_int_t)what.max_ms);
}

static int issue(struct rm *rm, const struct sv_http_request *req,
                 const struct yarn_token_caller *who, const json_t *body,
                 struct sv_http_response *ret)
{
    static const char operation[] = "Get Delegation Token";
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    const char *renewer = "", *class = NULL;
    struct rm_audit audit = audit_of(who, operation);
    struct sv_error err = { 0 };
    struct yarn_token t;
    json_t *answer;
    int r = a ? rm_body_text(body, "renewer", &renewer, &err) : -ENOMEM;

    if (r == -EINVAL)
        return rm_web_bad_request(ret, "%s", err.text);
    if (r >= 0)
        r = rm_delegation_issue(rm, a, who->full_name, renewer, req->caller->real, &t, &class,
                                &err);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return refused(audit, class, &err, ret);
    answer = shown(rm, a, &t, renewer);
    if (!answer) /* nobody has the token: it expires */
        return -ENOMEM;
    rm_audit_ok(&audit);
    return rm_web_answer_later(rm, req, answer);
}

int rm_web_token_issue(struct rm *rm, const struct sv_http_request *req, const char *rest,
                       struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];
    struct yarn_token_caller who;
    json_t *body;
    int r;

    (void)rest;
    if (req->kept && req->kept->data)
        return rm_web_answer_now(req, "delegation-token", ret);
    body = rm_web_body(req, "delegation-token", ret);
    if (!body)
        return 0;
    r = admitted(rm, req, &who, user, ret);
    if (r > 0)
        r = issue(rm, req, &who, body, ret);
    json_decref(body);
    return r;
}

/* ---- Renew and cancel ---- */

/* 1: found; otherwise it was answered. */
static int token_of(const struct sv_http_request *req, struct sv_arena *a,
                    struct yarn_token *ret_token, struct sv_http_response *ret)
{
    const char *text = sv_http_header(req, HEADER);
    int r = text ? yarn_token_parse(a, text, ret_token) : 0;

    if (r == -ENOMEM)
        return r;
    if (!text)
        return rm_web_bad_request(ret, "Header '" HEADER "' containing encoded token not found");
    if (r < 0)
        return rm_web_bad_request(ret, "Could not decode encoded token");
    if (!sv_streq(ret_token->kind, YARN_KIND_RM_DELEGATION))
        return rm_web_bad_request(ret, "%.64s is not a token of the ResourceManager",
                                  ret_token->kind);
    return 1;
}

static int renew(struct rm *rm, const struct sv_http_request *req,
                 const struct yarn_token_caller *who, const struct yarn_token *t,
                 struct sv_http_response *ret)
{
    struct rm_audit audit = audit_of(who, "Renew Delegation Token");
    const char *class;
    struct sv_error err = { 0 };
    int64_t until;
    json_t *answer;

    if (rm_delegation_renew(rm, t, who, &until, &class, &err) < 0)
        return refused(audit, class, &err, ret);
    rm_audit_ok(&audit);
    answer = json_pack("{s:I}", "expiration-time", (json_int_t)until);
    return answer ? rm_web_answer_later(rm, req, answer) : -ENOMEM;
}

static int cancel(struct rm *rm, const struct sv_http_request *req,
                  const struct yarn_token_caller *who, const struct yarn_token *t,
                  struct sv_http_response *ret)
{
    struct rm_audit audit = audit_of(who, "Cancel Delegation Token");
    const char *class;
    struct sv_error err = { 0 };

    if (rm_delegation_cancel(rm, t, who, &class, &err) < 0)
        return refused(audit, class, &err, ret);
    rm_audit_ok(&audit);
    return rm_web_answer_later(rm, req, NULL);
}

typedef int (*token_handler)(struct rm *rm, const struct sv_http_request *req,
                             const struct yarn_token_caller *who, const struct yarn_token *t,
                             struct sv_http_response *ret);

static int with_token(struct rm *rm, const struct sv_http_request *req, token_handler handler,
                      struct sv_http_response *ret)
{
    _cleanup_arena_ struct sv_arena *a = NULL;
    char user[SV_AUTH_USER_MAX];
    struct yarn_token_caller who;
    struct yarn_token t;
    int r;

    if (req->kept && req->kept->data)
        return rm_web_answer_now(req, "delegation-token", ret);
    r = admitted(rm, req, &who, user, ret);
    if (r <= 0)
        return r;
    a = sv_arena_new(ARENA_MAX);
    if (!a)
        return -ENOMEM;
    r = token_of(req, a, &t, ret);
    return r > 0 ? handler(rm, req, &who, &t, ret) : r;
}

int rm_web_token_renew(struct rm *rm, const struct sv_http_request *req, const char *rest,
                       struct sv_http_response *ret)
{
    (void)rest;
    return with_token(rm, req, renew, ret);
}

int rm_web_token_cancel(struct rm *rm, const struct sv_http_request *req, const char *rest,
                        struct sv_http_response *ret)
{
    (void)rest;
    return with_token(rm, req, cancel, ret);
}
