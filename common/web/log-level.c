/* See log-level.h. */
#include "common/web/log-level.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/web/web-user.h"

/* A line of the results; `hadoop daemonlog` prints these, without their elements. */
#define OUTPUT "<!-- OUTPUT -->"

/* The first name of a level is the one shown. OFF is none: errors are always logged. */
static const struct {
    const char *name;
    enum sv_log_level level;
} levels[] = {
    { "ERROR", SV_LOG_ERR }, { "WARN", SV_LOG_WARNING },    { "NOTICE", SV_LOG_NOTICE },
    { "INFO", SV_LOG_INFO }, { "DEBUG", SV_LOG_DEBUG },     { "FATAL", SV_LOG_ERR },
    { "ERR", SV_LOG_ERR },   { "WARNING", SV_LOG_WARNING }, { "TRACE", SV_LOG_DEBUG },
    { "ALL", SV_LOG_DEBUG },
};

static const char *name_of(enum sv_log_level level)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(levels); i++)
        if (levels[i].level == level)
            return levels[i].name;
    return "";
}

int sv_log_level_parse(const char *text, enum sv_log_level *ret)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(levels); i++)
        if (strcasecmp(text, levels[i].name) == 0) {
            *ret = levels[i].level;
            return 0;
        }
    return -EINVAL;
}

/* The record of a change, before one that would hide it, else behind it. */
static void set(enum sv_log_level level, const char *user)
{
    enum sv_log_level before = sv_log_get_level();

    if (level > before)
        sv_log_set_level(level);
    sv_log_warning("log level: %s instead of %s, set by %s over HTTP until the next restart or "
                   "reload",
                   name_of(level), name_of(before), user);
    sv_log_set_level(level);
}

/* A link or form of another site, which a browser of an administrator follows. Other clients, and a
 * typed address, send nothing or "none". */
static bool is_foreign(const struct sv_http_request *req)
{
    const char *from = sv_http_header(req, "Sec-Fetch-Site");

    return from && !sv_streq(from, "same-origin") && !sv_streq(from, "none");
}

_printf_(4, 5) static int refuse(const struct sv_html_site *site, const struct sv_http_request *req,
                                 struct sv_http_response *ret, const char *fmt, ...)
{
    va_list ap;
    int r;

    va_start(ap, fmt);
    r = sv_html_refuse(site, req, 403, ret, fmt, ap);
    va_end(ap);
    return r;
}

static void put_results(struct sv_html *h, const char *name, const char *level, const char *user)
{
    enum sv_log_level wanted;

    sv_html(h, "<h2>Results</h2>\n" OUTPUT "Submitted Class Name: <b>%.300s</b><br>\n", name);
    if (level)
        sv_html(h, OUTPUT "Submitted Level: <b>%.32s</b><br>\n", level);
    if (level && sv_log_level_parse(level, &wanted) < 0) {
        sv_html(h, OUTPUT "Bad Level : <b>%.32s</b><br>\n", level);
    } else if (level) {
        set(wanted, user);
        sv_html(h, OUTPUT "Setting Level to %s ...<br>\n", name_of(wanted));
    }
    sv_html(h, OUTPUT "Effective Level: <b>%s</b><br>\n", name_of(sv_log_get_level()));
}

static void put_form(struct sv_html *h, const char *button, bool level)
{
    sv_html(h, "<form action=\"/logLevel\">Class name: <input name=\"log\" size=\"50\"> ");
    if (level)
        sv_html(h, "Level: <input name=\"level\"> ");
    if (h->user)
        sv_html(h, "<input type=\"hidden\" name=\"user.name\" value=\"%s\">", h->user);
    sv_html(h, "<button>%s</button></form>\n", button);
}

/* 0: the user may change the level. Else a refusal has been written. */
static int check(const struct sv_html_site *site, const struct sv_web_auth *auth,
                 struct sv_groups *groups, const char *instead, const struct sv_http_request *req,
                 struct sv_http_response *ret, char ret_user[SV_AUTH_USER_MAX])
{
    static const char unchanged[] = "The log level was not changed";

    if (!auth->acl_enabled)
        return refuse(site, req, ret,
                      "%s: without yarn.acl.enable nobody is known to be an "
                      "administrator. Instead, %s.",
                      unchanged, instead);
    sv_web_user(auth, req, ret_user);
    if (!*ret_user || !sv_web_is_admin(auth, ret_user, groups))
        return refuse(site, req, ret, "%s: \"%.64s\" is no administrator (yarn.admin.acl).",
                      unchanged, ret_user);
    if (is_foreign(req))
        return refuse(site, req, ret, "%s: the request is from another site.", unchanged);
    return 0;
}

int sv_log_level_answer(const struct sv_html_site *site, const struct sv_web_auth *auth,
                        struct sv_groups *groups, const char *instead,
                        const struct sv_http_request *req, struct sv_http_response *ret)
{
    const char *name = sv_http_query(req, "log"), *level = sv_http_query(req, "level");
    const struct sv_html_frame frame = { .site = site, .title = "Log level" };
    char user[SV_AUTH_USER_MAX] = "";
    struct sv_html h;
    int r;

    if (!name || !*name || (level && !*level))
        level = NULL;
    if (level) {
        r = check(site, auth, groups, instead, req, ret, user);
        if (r < 0 || ret->status == 403)
            return r;
    }
    sv_html_begin(&h, req, &frame);
    if (name && *name)
        put_results(&h, name, level, user);
    sv_html(&h,
            "<h2>Get or set</h2>\n<p>The daemon has one level: every name of a class stands for "
            "it.</p>\n");
    put_form(&h, "Get log level", false);
    put_form(&h, "Set log level", true);
    return sv_html_end(&h, 200, ret);
}
