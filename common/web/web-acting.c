/* See web-acting.h. Refusals have the words and the form of Hadoop's, which its clients make an
 * exception of. */
#include "common/web/web-acting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/web/web-user.h"

#define AUTHENTICATION "org.apache.hadoop.security.authentication.client.AuthenticationException"
#define AUTHORIZATION "org.apache.hadoop.security.authorize.AuthorizationException"
#define MESSAGE_MAX 1024

/* The text within a JSON string: printable ASCII alone, since parts of it are the client's. */
static void to_json(const char *text, char ret[static MESSAGE_MAX])
{
    size_t n = 0;

    for (; *text && n + 3 < MESSAGE_MAX; text++) {
        const char c = *text;

        if (c == '"' || c == '\\')
            ret[n++] = '\\';
        ret[n++] = (c < ' ' || c > '~') ? '?' : c;
    }
    ret[n] = 0;
}

static int refuse(struct sv_http_response *ret, const char *class, const char *text)
{
    char message[MESSAGE_MAX];

    to_json(text, message);
    if (sv_asprintf(&ret->body,
                    "{\"RemoteException\":{\"message\":\"%s\",\"exception\":\"%s\","
                    "\"javaClassName\":\"%s\"}}",
                    message, strrchr(class, '.') + 1, class) < 0)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    ret->content_type = "application/json";
    ret->status = 403;
    return SV_HTTP_REFUSED;
}

static int set(char **to, const char *text)
{
    char *copy = strdup(text);

    if (!copy)
        return -ENOMEM;
    free(*to);
    *to = copy;
    return 0;
}

/* ---- Tokens ---- */

const char *sv_web_bearer_text(const struct sv_http_request *req)
{
    const char *text = sv_http_header(req, "X-Hadoop-Delegation-Token");

    if (!text || !*text)
        text = sv_http_header(req, "Hadoop-YARN-Auth-Delegation-Token");
    if (!text || !*text)
        text = sv_http_query(req, "delegation");
    return text;
}

int sv_web_take_bearer(const struct sv_web_rights *rights, const char *text,
                       struct sv_http_caller *caller, struct sv_http_response *ret)
{
    struct sv_web_bearer who = { .real = "" };
    struct sv_error err = { 0 };
    int r = rights->bearer(text, &who, &err, rights->userdata);

    if (r == -EACCES)
        return refuse(ret, AUTHENTICATION, err.text);
    if (r >= 0 && !sv_web_is_user_name(who.user))
        return refuse(ret, AUTHENTICATION, "the token's owner has a name that no account has");
    if (r >= 0)
        r = set(&caller->user, who.user);
    if (r >= 0)
        r = set(&caller->full, who.full);
    if (r >= 0 && *who.real)
        r = set(&caller->real, who.real);
    caller->proof = SV_HTTP_TOKEN;
    return r;
}

/* ---- Operations ---- */

const char *sv_web_operation_named(const char *op, const char **ret_method,
                                   enum sv_web_operation *ret)
{
    static const struct {
        const char *name, *method;
        enum sv_web_operation what;
    } all[] = { { "GETDELEGATIONTOKEN", "GET", SV_WEB_GET_TOKEN },
                { "RENEWDELEGATIONTOKEN", "PUT", SV_WEB_RENEW_TOKEN },
                { "CANCELDELEGATIONTOKEN", "PUT", SV_WEB_CANCEL_TOKEN } };

    *ret = SV_WEB_NO_OPERATION;
    for (size_t i = 0; op && i < SV_ARRAY_LEN(all); i++)
        if (strcasecmp(op, all[i].name) == 0) {
            *ret_method = all[i].method;
            *ret = all[i].what;
            return all[i].name;
        }
    return NULL;
}

enum sv_web_operation sv_web_operation(const struct sv_http_request *req)
{
    enum sv_web_operation what;
    const char *method;

    if (!sv_web_operation_named(sv_http_query(req, "op"), &method, &what) ||
        sv_streq(req->method, "OPTIONS"))
        return SV_WEB_NO_OPERATION;
    return sv_streq(req->method, method) ? what : SV_WEB_WRONG_METHOD;
}

/* ---- doAs ---- */

static int account_of(struct sv_auth_to_local *rules, const char *full,
                      char ret[SV_LOCAL_NAME_MAX + 1])
{
    struct sv_error err = { 0 };

    if (rules)
        return sv_auth_to_local(rules, full, strlen(full), ret, &err);
    return snprintf(ret, SV_LOCAL_NAME_MAX + 1, "%s", full) > SV_LOCAL_NAME_MAX ? -EINVAL : 0;
}

static int become(struct sv_http_caller *c, const struct sv_web_actor *who)
{
    int r = set(&c->real, who->full);

    if (r >= 0)
        r = set(&c->user, who->for_user);
    return r < 0 ? r : set(&c->full, who->for_full);
}

int sv_web_act(const struct sv_web_rights *rights, struct sv_auth_to_local *rules,
               const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *whom = sv_http_query(req, "doAs");
    struct sv_http_caller *c = req->caller;
    char account[SV_LOCAL_NAME_MAX + 1];
    struct sv_web_actor who = { .user = c->user,
                                .full = c->full,
                                .for_user = account,
                                .for_full = whom,
                                .from = sv_http_peer(req),
                                .proven = c->proof == SV_HTTP_TICKET };
    struct sv_error err = { 0 };
    int r;

    if (!whom || !c->user || c->proof == SV_HTTP_TOKEN)
        return 0;
    if (account_of(rules, whom, account) < 0 || !sv_web_is_user_name(account))
        return refuse(ret, AUTHORIZATION, "doAs names nobody who has an account");
    r = rights->may_act(&who, &err, rights->userdata);
    if (r == -EACCES)
        return refuse(ret, AUTHORIZATION, err.text);
    return r < 0 ? r : become(c, &who);
}
