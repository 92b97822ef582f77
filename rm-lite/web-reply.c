/* See web-reply.h; called by web.c and the files of its paths. */
#include "rm-lite/web-reply.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

int rm_web_json(struct sv_http_response *ret, unsigned status, json_t *root)
{
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

    json_decref(root);
    if (!text)
        return -ENOMEM;
    ret->status = status;
    ret->content_type = "application/json;charset=utf-8";
    ret->body = text;
    ret->body_len = strlen(text);
    return 0;
}

int rm_web_error(struct sv_http_response *ret, unsigned status, const char *exception,
                 const char *fmt, ...)
{
    char text[512], safe[4 * sizeof(text)], class[128];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_escape(safe, sizeof(safe), text); /* parts come from the request */
    (void)snprintf(class, sizeof(class), "org.apache.hadoop.yarn.webapp.%s", exception);
    return rm_web_json(ret, status,
                       json_pack("{s:{s:s, s:s, s:s}}", "RemoteException", "exception", exception,
                                 "message", safe, "javaClassName", class));
}

json_t *rm_web_text(const char *s)
{
    json_t *j = json_string(s ? s : "");
    char safe[4096];

    if (j)
        return j;
    sv_escape(safe, sizeof(safe), s);
    return json_string(safe);
}

int rm_web_redirect(struct sv_http_response *ret, const char *to)
{
    ret->status = 302;
    ret->location = strdup(to);
    return ret->location ? 0 : -ENOMEM;
}
