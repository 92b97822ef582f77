/* See log-elsewhere.h. */
#include "nodemanager/web/log-elsewhere.h"

#include <stdlib.h>

#include "nodemanager/core/context.h"
#include "nodemanager/web/log-server.h"

bool nm_log_is_elsewhere(const struct nm_context *ctx)
{
    return ctx->conf->logs.aggregate && *ctx->conf->logs.service && ctx->conf->web.logs_enabled;
}

int nm_log_go_elsewhere(const struct nm_context *ctx, const char *container, const char *file,
                        const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const char *const names[] = { "format", "size", "start", "end", "user.name" };
    struct nm_log_query query[SV_ARRAY_LEN(names) + 2];
    char *location;
    size_t n = 0;
    int r;

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        query[n++] = (struct nm_log_query){ names[i], sv_http_query(req, names[i]) };
    query[n++] = (struct nm_log_query){ "redirected_from_node", "true" };
    query[n] = (struct nm_log_query){ 0 };
    r = nm_log_service_url(ctx->conf->logs.service, container, file, query, &location);
    if (r < 0)
        return r;
    free(ret->body);
    ret->body = NULL;
    ret->body_len = 0;
    ret->content_type = NULL;
    ret->location = location;
    ret->status = 307;
    return 0;
}
