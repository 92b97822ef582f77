/* The files that all pages share, page.css and live.js of this folder, of which the build makes C
 * string literals (common/rules.mk), and the icon. See html.h. */
#include <errno.h>
#include <string.h>

#include "common/web/html.h"

static const char style[] =
#include "common/web/page.css.inc"
    ;
static const char script[] =
#include "common/web/live.js.inc"
    ;
/* A woven edge: three warps under two wefts. */
static const char icon[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" "
    "height=\"16\" rx=\"3\" fill=\"#0757b8\"/><path d=\"M4 1v14M8 1v14M12 1v14\" "
    "stroke=\"#7db4ff\" stroke-width=\"2\"/><path d=\"M1 5.5h14M1 10.5h14\" stroke=\"#fff\" "
    "stroke-width=\"2\"/></svg>";

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

int sv_html_icon(struct sv_http_response *ret)
{
    return answer(ret, icon, sizeof(icon) - 1, "image/svg+xml");
}

int sv_html_script(struct sv_http_response *ret)
{
    return answer(ret, script, sizeof(script) - 1, "text/javascript; charset=utf-8");
}
