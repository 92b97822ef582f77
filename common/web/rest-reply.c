/* See rest-reply.h. Hostile: parts of requests in the texts of refusals. */
#include "common/web/rest-reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/web/json-xml.h"

#define XML_MAX ((size_t)256 << 20)

static int as_xml(struct sv_http_response *ret, const char *element, json_t *tree)
{
    struct sv_buf b = SV_BUF_INIT(XML_MAX);
    int r = sv_json_to_xml(tree, element, &b);

    if (r < 0) {
        sv_buf_free(&b);
        return r;
    }
    ret->content_type = SV_XML_TYPE;
    ret->body = (char *)b.data; /* freed by the server */
    ret->body_len = b.len;
    return 0;
}

static int as_json(struct sv_http_response *ret, const json_t *tree)
{
    ret->body = json_dumps(tree, JSON_COMPACT);
    if (!ret->body)
        return -ENOMEM;
    ret->content_type = SV_JSON_TYPE;
    ret->body_len = strlen(ret->body);
    return 0;
}

int sv_rest_tree(struct sv_http_response *ret, unsigned status, const char *element, json_t *tree)
{
    int r = !tree ? -ENOMEM : ret->xml ? as_xml(ret, element, tree) : as_json(ret, tree);

    json_decref(tree);
    if (r >= 0)
        ret->status = status;
    return r;
}

int sv_rest_error(struct sv_http_response *ret, unsigned status, const char *exception,
                  const char *fmt, ...)
{
    char text[512], safe[4 * sizeof(text)], class[128];
    const char *last = strrchr(exception, '.');
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_escape(safe, sizeof(safe), text); /* the text has parts of the request */
    (void)snprintf(class, sizeof(class), "%s%s", last ? "" : "org.apache.hadoop.yarn.webapp.",
                   exception);
    exception = last ? last + 1 : exception;
    return sv_rest_tree(ret, status, NULL,
                        json_pack("{s:{s:s, s:s, s:s}}", "RemoteException", "exception", exception,
                                  "message", safe, "javaClassName", class));
}
