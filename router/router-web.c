/* See router-web.h. Hostile: requests. */
#include "router/router-web.h"

#include <string.h>

#include "common/log.h"
#include "common/web/http.h"
#include "common/web/series.h"
#include "router/router-series.h"
#include "router/router.h"

#define SERIES_MAX ((size_t)16 << 20) /* of FED_MEMBERS_MAX members some megabytes */

/* Whoever looks at the members has their list read again, for the next look. */
static void on_members(const struct fed_answer *a, void *userdata)
{
    (void)a;
    (void)userdata;
}

static void read_members(struct router *r)
{
    const struct fed_request q = { .op = FED_MEMBER_LIST };

    (void)!fed_cache_get(r->cache, &q, on_members, NULL, NULL); /* the last list stays, ignoring */
}

static int metrics(struct router *r, struct sv_http_response *ret)
{
    struct sv_buf text = SV_BUF_INIT(SERIES_MAX);
    int e;

    read_members(r);
    e = rtr_series(r, &text);
    if (e < 0) {
        sv_buf_free(&text);
        return e;
    }
    *ret = (struct sv_http_response){ .status = 200,
                                      .content_type = SV_PROMETHEUS_TYPE,
                                      .body = (char *)text.data,
                                      .body_len = text.len };
    return 0;
}

static int on_request(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    if (strcmp(req->path, "/metrics") != 0 && strcmp(req->path, "/prom") != 0)
        return 0; /* 404 */
    if (strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0)
        return metrics(userdata, ret);
    ret->status = 405;
    return 0;
}

int rtr_web_start(struct router *r, struct sv_error *err)
{
    int e;

    if (!r->conf.web_host)
        return 0;
    e = sv_http_new(r->event, r->conf.web_host, r->conf.web_port, on_request, r, &r->web, err);
    if (e < 0)
        return sv_error_wrap(err, "yarn.router.webapp.address");
    read_members(r);
    sv_log_info("web on %s:%u", r->conf.web_host, sv_http_port(r->web));
    return 0;
}

void rtr_web_stop(struct router *r)
{
    r->web = sv_http_free(r->web);
}
