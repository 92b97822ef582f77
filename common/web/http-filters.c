/* See http-filters.h. Names of origins and browsers are compared with wildcards alone, in time that
 * both lengths bound: an expression of the operator meets text of anybody. */
#include "common/web/http-filters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/str.h"

#define CORS "hadoop.http.cross-origin."
#define INITIALIZERS "hadoop.http.filter.initializers"
#define INITIALIZER "org.apache.hadoop.security.HttpCrossOriginFilterInitializer"
#define AUTHENTICATION "org.apache.hadoop.security.AuthenticationFilterInitializer"
#define STATIC_USER "org.apache.hadoop.http.lib.StaticUserWebFilter"
#define REGEX "regex:"
#define TEXT_MAX 1024 /* bytes of a client's header that are compared */

enum { K_ENABLED, K_ORIGINS, K_METHODS, K_HEADERS, K_MAX_AGE, K_INITIALIZERS, K_FRAMES, K_COUNT };

static const struct sv_conf_key keys[] = {
    [K_ENABLED] = { CORS "enabled", SV_CONF_BOOL, "false", 0, 0, 0,
                    "As the daemon's own cross-origin.enabled." },
    [K_ORIGINS] = { CORS "allowed-origins", SV_CONF_LIST, "*", 0, 0, 0,
                    "Origins, with * for any text; regex: is refused." },
    [K_METHODS] = { CORS "allowed-methods", SV_CONF_LIST, "GET,POST,HEAD", 0, 0, 0,
                    "Methods for pages of other origins." },
    [K_HEADERS] = { CORS "allowed-headers", SV_CONF_LIST,
                    "X-Requested-With,Content-Type,Accept,Origin", 0, 0, 0,
                    "Headers for pages of other origins." },
    [K_MAX_AGE] = { CORS "max-age", SV_CONF_STRING, "1800", 0, 0, 0,
                    "Seconds for which a browser may keep that answer." },
    [K_INITIALIZERS] = { INITIALIZERS, SV_CONF_LIST, "", 0, 0, 0,
                         "HttpCrossOriginFilterInitializer allows CORS to be switched on; "
                         "AuthenticationFilterInitializer and StaticUserWebFilter change nothing, "
                         "since hadoop.http.authentication.type decides, as in Hadoop's "
                         "NodeManager; other classes are refused." },
    [K_FRAMES] = { "yarn.webapp.xfs-filter.enabled", SV_CONF_BOOL, "true", 0, 0, 0,
                   "false: any page may show one of this daemon in a frame." },
};
_Static_assert(SV_ARRAY_LEN(keys) == K_COUNT, "one row a key");

const struct sv_conf_key *sv_http_filters_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* ---- Texts with wildcards ---- */

/* Whether all of `text` matches, with * for any text. Goes back to the last * alone, so that it
 * takes at most the product of both lengths. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    pattern += strspn(pattern, "*");
    return !*pattern;
}

static bool list_has(char *const *list, const char *text)
{
    for (; list && *list; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

static bool any_matches(char *const *patterns, const char *text)
{
    for (; patterns && *patterns; patterns++)
        if (matches(*patterns, text))
            return true;
    return false;
}

/* Turns "^Mozilla.*" into "Mozilla*", in place. False: an expression that wildcards cannot say. */
static bool to_wildcards(char *p)
{
    char *to = p;

    if (*p == '^')
        p++;
    for (; *p; p++) {
        if (p[0] == '.' && p[1] == '*') {
            *to++ = '*';
            p++;
        } else if (*p == '\\' && p[1] && strchr(".-/()+ ", p[1])) {
            *to++ = *++p;
        } else if (*p == '$' && !p[1]) {
            break;
        } else if (strchr(".*+?()[]{}|\\^$", *p)) {
            return false;
        } else {
            *to++ = *p;
        }
    }
    *to = 0;
    return true;
}

/* ---- Configuration ---- */

static int join(char *const *list, char **ret, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(65536);
    int r = 0;

    for (char *const *p = list; r == 0 && p && *p; p++) {
        r = p > list ? sv_buf_put_str(&b, ",") : 0;
        if (r == 0)
            r = sv_buf_put_str(&b, *p);
    }
    if (r == 0)
        r = sv_buf_put_u8(&b, 0);
    if (r < 0)
        return sv_error_errno(err, r, "web filters");
    *ret = strdup((const char *)b.data);
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "web filters");
}

/* A class that is not known may be one that keeps strangers out. */
static int read_initializers(struct sv_conf *conf, const char *const *also, char ***ret,
                             struct sv_error *err)
{
    static char *const known[] = { (char *)(uintptr_t)INITIALIZER,
                                   (char *)(uintptr_t)AUTHENTICATION,
                                   (char *)(uintptr_t)STATIC_USER, NULL };
    char at[SV_ERROR_TEXT_MAX / 2];
    int r = sv_conf_list(conf, &keys[K_INITIALIZERS], ret, err);

    for (char **p = *ret; r == 0 && p && *p; p++) {
        if (list_has(known, *p) || list_has((char *const *)(uintptr_t)also, *p))
            continue;
        sv_conf_origin(conf, &keys[K_INITIALIZERS], at, sizeof(at));
        r = sv_error_set(err, -EOPNOTSUPP,
                         "%s: the class %.200s is not known: this version has " AUTHENTICATION
                         ", " STATIC_USER " and " INITIALIZER,
                         at, *p);
    }
    return r;
}

static int read_cors(struct sv_conf *conf, const struct sv_conf_key *rows, const char *const *also,
                     struct sv_http_filters *f, struct sv_error *err)
{
    _cleanup_strv_ char **initializers = NULL;
    bool own = false, all = false;
    int r = sv_conf_bool(conf, &rows[SV_FILTER_CORS], &own, err);

    if (r == 0)
        r = sv_conf_bool(conf, &keys[K_ENABLED], &all, err);
    if (r == 0)
        r = read_initializers(conf, also, &initializers, err);
    if (r < 0 || !(own || all))
        return r;
    f->cors = list_has(initializers, INITIALIZER);
    if (own && !f->cors)
        sv_log_warning("%s=true has no effect: " INITIALIZERS " does not name " INITIALIZER,
                       rows[SV_FILTER_CORS].name);
    if (!f->cors)
        return 0;
    r = sv_conf_list(conf, &keys[K_ORIGINS], &f->origins, err);
    if (r == 0)
        r = sv_conf_list(conf, &keys[K_METHODS], &f->methods, err);
    if (r == 0)
        r = sv_conf_list(conf, &keys[K_HEADERS], &f->headers, err);
    if (r == 0)
        r = sv_conf_string(conf, &keys[K_MAX_AGE], &f->max_age, err);
    if (r == 0)
        r = join(f->methods, &f->methods_text, err);
    if (r == 0)
        r = join(f->headers, &f->headers_text, err);
    f->any_origin = list_has(f->origins, "*");
    for (char **p = f->origins; r == 0 && p && *p; p++)
        if (sv_has_prefix(*p, REGEX))
            r = sv_error_set(err, -EOPNOTSUPP,
                             "%s: \"%.200s\": expressions are not supported; name the origin, with "
                             "* for any text",
                             keys[K_ORIGINS].name, *p);
    return r;
}

static int read_csrf(struct sv_conf *conf, const struct sv_conf_key *rows,
                     struct sv_http_filters *f, struct sv_error *err)
{
    int r = sv_conf_bool(conf, &rows[SV_FILTER_CSRF], &f->csrf, err);

    if (r == 0)
        r = sv_conf_string(conf, &rows[SV_FILTER_HEADER], &f->csrf_header, err);
    if (r == 0)
        r = sv_conf_list(conf, &rows[SV_FILTER_METHODS], &f->ignored, err);
    if (r == 0)
        r = sv_conf_list(conf, &rows[SV_FILTER_AGENTS], &f->agents, err);
    for (char **p = f->agents; r == 0 && f->csrf && p && *p; p++) {
        _cleanup_free_ char *old = strdup(*p);

        if (!to_wildcards(*p))
            r = sv_error_set(err, -EOPNOTSUPP,
                             "%s: \"%.200s\": of expressions only .* is supported",
                             rows[SV_FILTER_AGENTS].name, old ? old : *p);
    }
    return r;
}

static int set_policies(struct sv_http_filters *f, const char *ancestors, struct sv_error *err)
{
    static const char policy[] = "default-src 'none'; style-src 'self'; form-action 'self'; "
                                 "base-uri 'none'";
    const char *name = *ancestors ? "; frame-ancestors " : "";

    if (sv_asprintf(&f->policy, "%s%s%s", policy, name, ancestors) < 0 ||
        sv_asprintf(&f->script_policy, "%s; script-src 'self'; connect-src 'self'", f->policy) < 0)
        return sv_error_errno(err, -ENOMEM, "web filters");
    return 0;
}

/* A URL alone: it goes into the Content-Security-Policy. */
static bool is_ancestor(const char *url)
{
    return (sv_has_prefix(url, "http://") || sv_has_prefix(url, "https://")) &&
           !url[strcspn(url, " \t,;'\"\r\n")];
}

static int read_frame(struct sv_conf *conf, const struct sv_conf_key *rows,
                      struct sv_http_filters *f, struct sv_error *err)
{
    static const char from[] = "ALLOW-FROM ";
    const char *frame;
    bool on;
    int r = sv_conf_bool(conf, &keys[K_FRAMES], &on, err);

    if (r == 0)
        r = sv_conf_string(conf, &rows[SV_FILTER_FRAME], &frame, err);
    if (r < 0)
        return r;
    f->frame = on ? frame : NULL;
    if (!on)
        return set_policies(f, "", err);
    if (strcasecmp(frame, "DENY") == 0)
        return set_policies(f, "'none'", err);
    if (strcasecmp(frame, "SAMEORIGIN") == 0)
        return set_policies(f, "'self'", err);
    if (strncasecmp(frame, from, strlen(from)) == 0 && is_ancestor(frame + strlen(from)))
        return set_policies(f, frame + strlen(from), err);
    return sv_error_set(err, -EINVAL,
                        "%s: \"%.200s\" is none of DENY, SAMEORIGIN and ALLOW-FROM URL",
                        rows[SV_FILTER_FRAME].name, frame);
}

int sv_http_filters_read(struct sv_conf *conf, const struct sv_conf_key *rows,
                         const char *const *also, struct sv_http_filters *ret, struct sv_error *err)
{
    int r;

    *ret = (struct sv_http_filters){ 0 };
    r = read_cors(conf, rows, also, ret, err);
    if (r == 0)
        r = read_csrf(conf, rows, ret, err);
    return r < 0 ? r : read_frame(conf, rows, ret, err);
}

void sv_http_filters_free(struct sv_http_filters *f)
{
    (void)sv_strv_free(f->origins);
    (void)sv_strv_free(f->methods);
    (void)sv_strv_free(f->headers);
    (void)sv_strv_free(f->ignored);
    (void)sv_strv_free(f->agents);
    free(f->methods_text);
    free(f->headers_text);
    free(f->policy);
    free(f->script_policy);
    *f = (struct sv_http_filters){ 0 };
}

/* ---- Requests ---- */

bool sv_http_filters_pass(const struct sv_http_filters *f, const char *method, const char *agent,
                          const char *header)
{
    char start[TEXT_MAX + 1];

    if (!f->csrf || !agent || header || list_has(f->ignored, method))
        return true;
    (void)snprintf(start, sizeof(start), "%s", agent);
    return !any_matches(f->agents, start);
}

/* Comma-separated, each in the list. */
static bool all_allowed(char *const *list, const char *text)
{
    for (;;) {
        char name[128];
        size_t n;

        text += strspn(text, " \t");
        n = strcspn(text, ",");
        while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
            n--;
        if (n >= sizeof(name))
            return false;
        memcpy(name, text, n);
        name[n] = 0;
        if (!list_has(list, name))
            return false;
        text += strcspn(text, ",");
        if (!*text++)
            return true;
    }
}

/* It becomes a header of the answer. */
static bool is_plain(const char *text)
{
    size_t n = strnlen(text, TEXT_MAX);

    if (n == 0 || n == TEXT_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

bool sv_http_filters_origin(const struct sv_http_filters *f, const char *origin, const char *method,
                            const char *headers)
{
    if (!f->cors || !origin || !is_plain(origin) ||
        (!f->any_origin && !any_matches(f->origins, origin)))
        return false;
    return (!method || list_has(f->methods, method)) &&
           (!headers ||
            (strnlen(headers, TEXT_MAX) < TEXT_MAX && all_allowed(f->headers, headers)));
}
