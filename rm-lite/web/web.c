/* The web server (8088): pages, metrics, the configuration, the proxy; REST is web-rest.h's.
 *
 * Every host that reaches the port may call; names in the answers are chosen by users, so jansson
 * generates the JSON. */
#include "rm-lite/web/web.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"
#include "common/web/conf-dump.h"
#include "common/web/json-xml.h"
#include "common/web/log-level.h"
#include "common/web/rest-reply.h"
#include "common/web/web-user.h"
#include "rm-lite/core/context.h"
#include "rm-lite/web/pages/page-frame.h"
#include "rm-lite/web/pages/page-route.h"
#include "rm-lite/web/proxy/services-relay.h"
#include "rm-lite/web/proxy/web-proxy.h"
#include "rm-lite/web/rest/web-history.h"
#include "rm-lite/web/rest/web-reply.h"
#include "rm-lite/web/rest/web-rest.h"
#include "rm-lite/web/rest/web-token-ops.h"
#include "rm-lite/web/web-metrics.h"

/* For load balancers: this ResourceManager is always the active one. */
static int is_active(struct sv_http_response *ret)
{
    ret->body = strdup("I am Active!");
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    ret->status = 200;
    return 0;
}

static int answer(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *p = req->path;
    int r;

    if (rm_page_takes(req))
        return rm_page(rm, req, ret);
    if (rm_rest_takes(req))
        return rm_rest(rm, req, ret);
    if (strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0) {
        ret->status = 405;
        return 0;
    }
    if (strcmp(p, RM_HISTORY_PATH) == 0)
        return rm_web_history(rm, req, ret);
    if (strcmp(p, "/conf") == 0)
        return sv_conf_answer(rm->xml, req, ret);
    if (rm_web_metrics(rm, req, ret, &r))
        return r;
    if (strcmp(p, "/logLevel") == 0)
        return sv_log_level_answer(&rm_page_site, &rm->conf.auth, rm->groups,
                                   "set SELVEDGE_LOG_LEVEL in its unit, and restart it", req, ret);
    if (strcmp(p, "/isActive") == 0)
        return is_active(ret);
    if (strcmp(p, "/") == 0)
        return rm_web_redirect(ret, "/cluster");
    if (sv_has_prefix(p, "/cluster/failure/"))
        return rm_web_failure(p, ret);
    return 0; /* 404 */
}

/* Requests of YARN's services API, for selvedge-services: changes are refused where changes over
 * HTTP are. */
static int services(struct rm *rm, const struct sv_http_request *req, struct sv_http_response *ret)
{
    char user[SV_AUTH_USER_MAX];
    bool reads = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;

    if (!reads && !rm->conf.web_put)
        return sv_rest_error(ret, 403, "ForbiddenException",
                             "selvedge.rm.webapp.put.enabled is false");
    sv_web_user(&rm->conf.auth, req, user);
    return rm_relay_fetch(rm->relay, user, req, ret);
}

/* Discards an answer that was made without a user's groups, which are being looked up. */
int rm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    struct rm *rm = userdata;
    int r;

    if (req->caller && req->caller->operation) /* the caller may be nobody */
        return rm_web_token_operation(rm, req, ret);
    if (sv_has_prefix(req->path, "/proxy/"))
        return rm_web_proxy(rm, req, ret);
    if (rm->relay && rm_relay_takes(req))
        return services(rm, req, ret);
    (void)sv_groups_missed(rm->groups); /* missed by a call, ignoring */
    ret->xml = sv_xml_accepted(sv_http_header(req, "Accept"));
    r = answer(rm, req, ret);
    return sv_groups_missed(rm->groups) ? -EAGAIN : r;
}
