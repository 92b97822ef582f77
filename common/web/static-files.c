/* The files that all pages share, page.css and live.js of this folder: the build makes C string
 * literals of them (common/rules.mk). See html.h. */
#include <errno.h>
#include <string.h>

#include "common/web/html.h"

static const char style[] =
#include "common/web/page.css.inc"
    ;
static const char script[] =
#include "common/web/live.js.inc"
    ;

static int answer(struct sv_http_response *ret, const char *text, size_t n, const char *type)
{
    ret->body = strdup(text);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = n;
    ret->content_type = type;
    ret->status = 200;
    return 0;
}

int sv_html_style(struct sv_http_response *ret)
{
    return answer(ret, style, sizeof(style) - 1, "text/css; charset=utf-8");
}

int sv_html_script(struct sv_http_response *ret)
{
    return answer(ret, script, sizeof(script) - 1, "text/javascript; charset=utf-8");
}
