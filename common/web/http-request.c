/* Fields of a request, for handlers. See http.h. */
#include "common/web/http.h"

#include <microhttpd.h>
#include <string.h>

static const char *find_value(const struct sv_http_request *req, enum MHD_ValueKind kind,
                              const char *key)
{
    const char *value = NULL;

    if (MHD_lookup_connection_value_n(req->conn, kind, key, strlen(key), &value, NULL) != MHD_YES)
        return NULL;
    return value ? value : ""; /* "?key" without "=" */
}

const char *sv_http_query(const struct sv_http_request *req, const char *key)
{
    return find_value(req, MHD_GET_ARGUMENT_KIND, key);
}

const char *sv_http_header(const struct sv_http_request *req, const char *key)
{
    return find_value(req, MHD_HEADER_KIND, key);
}

const struct sockaddr *sv_http_peer(const struct sv_http_request *req)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(req->conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    return info ? info->client_addr : NULL;
}
