/* See web-reply.h. */
#include "rm-lite/web/rest/web-reply.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/core/tracking.h"

int rm_web_hidden(const char *user, const char *app, struct sv_http_response *ret)
{
    return rm_web_error(ret, 403, "ForbiddenException",
                        "User [%s] is not authorized to view %s: with yarn.acl.enable its owner, "
                        "its VIEW_APP list and administrators are",
                        user, app);
}

int rm_web_text(struct sv_http_response *ret, unsigned status, const char *text)
{
    ret->body = strdup(text);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(text);
    ret->content_type = SV_JSON_TYPE;
    ret->status = status;
    return 0;
}

int rm_web_location(const struct rm *rm, struct sv_http_response *ret,
                    const struct sv_http_request *req, const char *app, const char *rest)
{
    const char *host = sv_http_header(req, "Host");

    return sv_asprintf(&ret->location, "%s://%.300s/ws/v1/cluster/apps/%s%s", rm_web_scheme(rm),
                       host ? host : "", app, rest) < 0
               ? -ENOMEM
               : 0;
}

int rm_web_redirect(struct sv_http_response *ret, const char *to)
{
    ret->status = 302;
    ret->location = strdup(to);
    return ret->location ? 0 : -ENOMEM;
}
