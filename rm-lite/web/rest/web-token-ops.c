/* See web-token-ops.h. The gate has asked for a ticket, or a cookie for one; a token is cancelled
 * by whoever has it, or by its owner or renewer. */
#include "rm-lite/web/rest/web-token-ops.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/web-acting.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/security/delegation.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-stored.h"
#include "wire/ipc/ipc-server.h"

#define ARENA_MAX ((size_t)512 << 10)

static int say(struct sv_http_response *ret, unsigned status, const char *text)
{
    ret->body = strdup(text);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    ret->status = status;
    return 0;
}

static struct rm_audit audit_of(const char *user, const char *operation)
{
    return (struct rm_audit){ .user = user, .operation = operation, .target = "ClientRMService" };
}

static int refused(struct rm_audit audit, const struct sv_error *err, unsigned status,
                   const char *words, struct sv_http_response *ret)
{
    audit.description = err->text;
    rm_audit_fail(&audit);
    return say(ret, status, words);
}

static int get(struct rm *rm, const struct sv_http_request *req, struct sv_arena *a,
               struct sv_http_response *ret)
{
    const struct sv_http_caller *c = req->caller;
    const char *renewer = sv_http_query(req, "renewer") ?: c->user;
    const char *service = sv_http_query(req, "service"), *class, *text;
    struct rm_audit audit = audit_of(c->user, "Get Delegation Token");
    struct sv_error err = { 0 };
    struct yarn_token t;
    json_t *answer = NULL;
    int r = rm_delegation_issue(rm, a, c->user, renewer, c->real, &t, &class, &err);

    if (r == -ENOMEM)
        return r;
    if (r < 0)
        return refused(audit, &err, 403, err.text, ret);
    t.service = service ?: "";
    r = yarn_token_text(a, &t, &text);
    if (r >= 0)
        answer = json_pack("{s:{s:s}}", "Token", "urlString", text);
    if (!answer) /* nobody has the token: it expires */
        return r < 0 ? r : -ENOMEM;
    rm_audit_ok(&audit);
    return rm_web_answer_later(rm, req, answer);
}

static int renew(struct rm *rm, const struct sv_http_request *req, const struct yarn_token *t,
                 struct sv_http_response *ret)
{
    const struct yarn_token_caller who = { req->caller->user, req->caller->full };
    struct rm_audit audit = audit_of(who.user, "Renew Delegation Token");
    struct sv_error err = { 0 };
    const char *class;
    int64_t until;
    json_t *answer;

    if (rm_delegation_renew(rm, t, &who, &until, &class, &err) < 0)
        return refused(audit, &err, 403, err.text, ret);
    rm_audit_ok(&audit);
    answer = json_pack("{s:I}", "long", (json_int_t)until);
    return answer ? rm_web_answer_later(rm, req, answer) : -ENOMEM;
}

/* The account of the holder of a token that is good. */
static int holder(struct rm *rm, const struct yarn_token *t, char ret_user[256],
                  struct sv_error *err)
{
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    const char *class;
    size_t len;
    int r = rm_delegation_verify(t->id, t->id_len, password, &len, ret_user, &class, err, rm);

    if (r < 0)
        return r;
    return yarn_bytes_equal(password, len, t->password, t->password_len)
               ? 0
               : sv_error_set(err, -EACCES, "the token is invalid, password doesn't match");
}

/* Hadoop compares the account with the owner: one of RPC, which has its principal, is its
 * renewer's alone here. */
static int cancel(struct rm *rm, const struct sv_http_request *req, const struct yarn_token *t,
                  struct sv_http_response *ret)
{
    static const char words[] = "Invalid delegation token, cannot cancel";
    char user[256] = "";
    const struct yarn_token_caller who = { user, user };
    struct sv_error err = { 0 };
    const char *class;
    int r = 0;

    if (req->caller->user)
        (void)snprintf(user, sizeof(user), "%s", req->caller->user);
    else
        r = holder(rm, t, user, &err);
    if (r >= 0)
        r = rm_delegation_cancel(rm, t, &who, &class, &err);
    struct rm_audit audit = audit_of(*user ? user : "UNKNOWN", "Cancel Delegation Token");
    if (r < 0)
        return refused(audit, &err, 404, words, ret);
    rm_audit_ok(&audit);
    return rm_web_answer_later(rm, req, NULL);
}

static int with_token(struct rm *rm, const struct sv_http_request *req, struct sv_arena *a,
                      bool cancels, struct sv_http_response *ret)
{
    static const char missing[] = "Operation [%s] requires the parameter [token]";
    const char *text = sv_http_query(req, "token");
    char words[128];
    struct yarn_token t;
    int r = text ? yarn_token_parse(a, text, &t) : 0;

    if (r == -ENOMEM)
        return r;
    if (!text) {
        (void)snprintf(words, sizeof(words), missing,
                       cancels ? "CANCELDELEGATIONTOKEN" : "RENEWDELEGATIONTOKEN");
        return say(ret, 400, words);
    }
    if (r < 0 || !sv_streq(t.kind, YARN_KIND_RM_DELEGATION))
        return say(ret, cancels ? 404 : 403, "this is not a token of the ResourceManager");
    return cancels ? cancel(rm, req, &t, ret) : renew(rm, req, &t, ret);
}

static int wrong_method(const struct sv_http_request *req, struct sv_http_response *ret)
{
    enum sv_web_operation what;
    const char *method = "", *op;
    char words[160];

    op = sv_web_operation_named(sv_http_query(req, "op"), &method, &what);
    (void)snprintf(words, sizeof(words),
                   "Wrong HTTP method [%.16s] for operation [%s], it should be [%s]", req->method,
                   op ?: "", method);
    return say(ret, 400, words);
}

static int stored(const struct sv_http_request *req, int what, struct sv_http_response *ret)
{
    int r;

    ret->xml = false; /* whatever the client accepts */
    r = rm_web_answer_now(req, NULL, ret);
    if (r >= 0 && what == SV_WEB_CANCEL_TOKEN)
        ret->content_type = NULL; /* there is no body */
    return r;
}

/* A link that is followed, or the script of a page behind /proxy. Browsers say Sec-Fetch-Site over
 * TLS alone; over plain HTTP there is their name, which most of them let no script change. */
static bool is_browser(const struct sv_http_request *req)
{
    const char *agent = sv_http_header(req, "User-Agent");

    return sv_http_header(req, "Sec-Fetch-Site") ||
           (agent && (sv_has_prefix(agent, "Mozilla") || sv_has_prefix(agent, "Opera")));
}

int rm_web_token_operation(struct rm *rm, const struct sv_http_request *req,
                           struct sv_http_response *ret)
{
    int what = req->caller->operation;
    _cleanup_arena_ struct sv_arena *a = NULL;

    if (what == SV_WEB_WRONG_METHOD)
        return wrong_method(req, ret);
    if (is_browser(req))
        return say(ret, 403, "operations on delegation tokens are not for browsers");
    if (what != SV_WEB_CANCEL_TOKEN && !req->caller->user) /* a path that is open to everybody */
        return say(ret, 403, "an operation on delegation tokens needs a ticket");
    if (req->kept && req->kept->data)
        return stored(req, what, ret);
    a = sv_arena_new(ARENA_MAX);
    if (!a)
        return -ENOMEM;
    return what == SV_WEB_GET_TOKEN ? get(rm, req, a, ret)
                                    : with_token(rm, req, a, what == SV_WEB_CANCEL_TOKEN, ret);
}
