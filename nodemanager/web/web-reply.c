/* See web-reply.h. */
#include "nodemanager/web/web-reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int nm_web_json(struct sv_http_response *ret, unsigned status, json_t *j)
{
    char *body = j ? json_dumps(j, JSON_COMPACT) : NULL;

    json_decref(j);
    if (!body)
        return -ENOMEM;
    ret->status = status;
    ret->content_type = "application/json; charset=utf-8";
    ret->body = body;
    ret->body_len = strlen(body);
    return 0;
}

int nm_web_exception(struct sv_http_response *ret, unsigned status, const char *exception,
                     const char *fmt, ...)
{
    char text[512], class[128];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    snprintf(class, sizeof(class), "org.apache.hadoop.yarn.webapp.%s", exception);
    return nm_web_json(ret, status,
                       json_pack("{s:{s:s,s:s,s:s}}", "RemoteException", "exception", exception,
                                 "message", text, "javaClassName", class));
}
