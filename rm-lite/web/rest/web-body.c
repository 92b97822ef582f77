/* See web-body.h. */
#include "rm-lite/web/rest/web-body.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/web/web-user.h"
#include "rm-lite/web/rest/body-xml.h"
#include "rm-lite/web/rest/web-reply.h"

/* "application/json; charset=utf-8" */
static bool is_type(const char *type, const char *wanted)
{
    size_t n = strlen(wanted);

    return type && strncasecmp(type, wanted, n) == 0 && strchr("; \t", type[n]);
}

static json_t *xml_body(const struct sv_http_request *req, const char *root,
                        struct sv_http_response *ret)
{
    struct sv_error err = { 0 };
    json_t *o;

    if (rm_body_from_xml(req->body, req->body_len, root, &o, &err) >= 0)
        return o;
    if (rm_web_bad_request(ret, "%s", err.text) < 0)
        ret->status = 400; /* without an error text */
    return NULL;
}

/* A body that is no submission has some members; its parts cost no more than those of a query. */
#define SMALL_MAX ((size_t)16 << 10)

json_t *rm_web_body(const struct sv_http_request *req, const char *root,
                    struct sv_http_response *ret)
{
    const char *type = sv_http_header(req, "Content-Type");
    json_error_t why;
    json_t *o;
    int r;

    if (req->body_len > SMALL_MAX && !sv_streq(root, "application-submission-context")) {
        if (rm_web_error(ret, 413, "BadRequestException", "%s: the body is larger than %zu KiB",
                         root, SMALL_MAX >> 10) < 0)
            ret->status = 413; /* without an error text */
        return NULL;
    }
    if (is_type(type, "application/xml"))
        return xml_body(req, root, ret);
    if (!is_type(type, "application/json")) {
        r = rm_web_error(ret, 415, "UnsupportedMediaTypeException",
                         "Content-Type: %.100s: only application/json and application/xml are read",
                         type ? type : "none");
        if (r < 0)
            ret->status = 415; /* without an error text */
        return NULL;
    }
    o = req->body_len ? json_loadb(req->body, req->body_len, JSON_REJECT_DUPLICATES, &why) : NULL;
    if (json_is_object(o))
        return o;
    r = rm_web_bad_request(ret, "the body is no JSON object%s%s", o || !req->body_len ? "" : ": ",
                           o || !req->body_len ? "" : why.text);
    if (r < 0)
        ret->status = 400; /* without an error text */
    json_decref(o);
    return NULL;
}

void rm_web_caller(struct rm *rm, const struct sv_http_request *req,
                   char ret_user[SV_AUTH_USER_MAX])
{
    sv_web_user(&rm->conf.auth, req, ret_user);
    if (!*ret_user && !rm->conf.acl_enable && !rm->conf.web_server.tickets)
        (void)snprintf(ret_user, SV_AUTH_USER_MAX, "%s", rm->conf.static_user);
}

/* ---- Members ---- */

static json_t *member(const json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);

    return json_is_null(v) ? NULL : v;
}

static int bad(struct sv_error *err, const char *key, const char *wanted)
{
    return sv_error_set(err, -EINVAL, "%s: not %s", key, wanted);
}

int rm_body_text(const json_t *o, const char *key, const char **ret, struct sv_error *err)
{
    const json_t *v = member(o, key);

    if (!v)
        return 0;
    if (!json_is_string(v))
        return bad(err, key, "a text");
    *ret = json_string_value(v);
    return 1;
}

int rm_body_int(const json_t *o, const char *key, int64_t min, int64_t max, int64_t *ret,
                struct sv_error *err)
{
    const json_t *v = member(o, key);
    int64_t n;

    if (!v)
        return 0;
    if (json_is_integer(v))
        n = json_integer_value(v);
    else if (!json_is_string(v) || sv_parse_i64(json_string_value(v), INT64_MIN, INT64_MAX, &n) < 0)
        return bad(err, key, "a whole number");
    if (n < min || n > max)
        return sv_error_set(err, -EINVAL, "%s: %lld is not from %lld to %lld", key, (long long)n,
                            (long long)min, (long long)max);
    *ret = n;
    return 1;
}

int rm_body_bool(const json_t *o, const char *key, bool *ret, struct sv_error *err)
{
    const json_t *v = member(o, key);
    const char *text = json_string_value(v);

    if (!v)
        return 0;
    if (json_is_boolean(v))
        *ret = json_is_true(v);
    else if (text && strcasecmp(text, "true") == 0)
        *ret = true;
    else if (text && strcasecmp(text, "false") == 0)
        *ret = false;
    else
        return bad(err, key, "true or false");
    return 1;
}

int rm_body_object(const json_t *o, const char *key, json_t **ret, struct sv_error *err)
{
    json_t *v = member(o, key);

    if (!v || (json_is_string(v) && !json_string_length(v))) /* an empty element */
        return 0;
    if (!json_is_object(v))
        return bad(err, key, "an object");
    *ret = v;
    return 1;
}
