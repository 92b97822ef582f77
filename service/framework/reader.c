/* See reader.h. */
#include "service/framework/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/framework/descriptor.h"

#define DEPTH_MAX 16 /* of a path */

/* Counts the characters that begin or part values: a bound before there is a tree. */
bool svc_fw_fits(const char *json, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; len <= SVC_FW_JSON_MAX && i < len; i++)
        n += json[i] == ',' || json[i] == '{' || json[i] == '[';
    return len <= SVC_FW_JSON_MAX && n <= SVC_FW_JSON_VALUES_MAX;
}

int svc_fw_load(const char *json, size_t len, json_t **ret, char **ret_violations)
{
    json_error_t e;
    json_t *v;

    if (!svc_fw_fits(json, len))
        return -EFBIG;
    v = json_loadb(json, len, 0, &e);
    if (v) {
        *ret = v;
        return 0;
    }
    if (json_error_code(&e) == json_error_out_of_memory)
        return -ENOMEM;
    if (sv_asprintf(ret_violations, "line %d, column %d: %s\n", e.line, e.column, e.text) < 0)
        return -ENOMEM;
    return -EINVAL;
}

int svc_fw_done(struct svc_fw_in *in, char **ret_violations)
{
    int r = in->no_memory ? -ENOMEM : in->n_bad ? -EINVAL : 0;

    if (r == -EINVAL && (in->bad.len == 0 || sv_buf_put(&in->bad, "", 1) < 0))
        r = -ENOMEM;
    if (r == -EINVAL) {
        *ret_violations = (char *)in->bad.data;
        in->bad = SV_BUF_INIT(SVC_FW_VIOLATIONS_MAX);
    }
    sv_buf_free(&in->bad);
    return r;
}

/* ---- Violations ---- */

static int put_path(struct sv_buf *b, const struct svc_fw_at *at)
{
    const struct svc_fw_at *way[DEPTH_MAX];
    size_t n = 0;
    int r = 0;

    for (; at && n < DEPTH_MAX; at = at->up)
        way[n++] = at;
    while (r == 0 && n-- > 0)
        r = way[n]->in_map ? sv_buf_printf(b, "[%.256s]", way[n]->key)
                           : sv_buf_printf(b, "%s%s", b->len > b->pos ? "." : "", way[n]->key);
    return r;
}

void svc_fw_bad(struct svc_fw_in *in, const struct svc_fw_at *at, const char *fmt, ...)
{
    char text[1024];
    size_t before = in->bad.len;
    va_list ap;
    int r;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    in->n_bad++;
    in->bad.pos = before; /* the line's start, for put_path() */
    r = put_path(&in->bad, at);
    if (r == 0)
        r = sv_buf_printf(&in->bad, ": %s\n", text);
    if (r < 0)
        in->bad.len = before;
    in->no_memory |= r == -ENOMEM;
}

/* ---- Numbers ---- */

static bool whole(const json_t *v, int64_t *ret)
{
    if (json_is_integer(v)) {
        *ret = json_integer_value(v);
        return true;
    }
    if (json_is_real(v)) { /* a fraction is cut, as Jackson does */
        double d = trunc(json_real_value(v));

        if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0))
            return false;
        *ret = (int64_t)d;
        return true;
    }
    return json_is_string(v) && sv_parse_i64(json_string_value(v), INT64_MIN, INT64_MAX, ret) == 0;
}

/* The member; NULL: absent, or a violation that is told. */
static const json_t *member(struct svc_fw_in *in, const struct svc_fw_at *at, const json_t *o,
                            bool required)
{
    const json_t *v = o ? json_object_get(o, at->key) : NULL;

    if (v ? json_is_null(v) : required) {
        svc_fw_bad(in, at, "may not be null");
        return NULL;
    }
    return v;
}

void svc_fw_long(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 struct svc_fw_range range, int64_t *ret)
{
    const struct svc_fw_at at = { up, key, false };
    const json_t *v = member(in, &at, o, range.required);
    int64_t n;

    if (!v)
        return;
    if (!whole(v, &n))
        svc_fw_bad(in, &at, "must be an integer");
    else if (n < range.min)
        svc_fw_bad(in, &at, "must be greater than or equal to %" PRId64, range.min);
    else if (n > range.max)
        svc_fw_bad(in, &at, "must be less than or equal to %" PRId64, range.max);
    else
        *ret = n;
}

void svc_fw_int(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                struct svc_fw_range range, int32_t *ret)
{
    int64_t n = *ret;

    svc_fw_long(in, up, o, key, range, &n);
    *ret = (int32_t)n;
}

void svc_fw_bool(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 bool *ret)
{
    const struct svc_fw_at at = { up, key, false };
    const json_t *v = member(in, &at, o, false);
    const char *text = json_string_value(v);

    if (!v)
        return;
    if (json_is_boolean(v))
        *ret = json_is_true(v);
    else if (json_is_integer(v))
        *ret = json_integer_value(v) != 0;
    else if (text && (sv_streq(text, "true") || sv_streq(text, "false")))
        *ret = *text == 't';
    else
        svc_fw_bad(in, &at, "must be true or false");
}

void svc_fw_enum(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 const char *const *names, int n, bool required, int *ret)
{
    const struct svc_fw_at at = { up, key, false };
    const json_t *v = member(in, &at, o, required);
    const char *text = json_string_value(v);
    int64_t number = -1;
    char all[256] = "";
    size_t len = 0;

    if (!v)
        return;
    for (int i = 0; text && i < n; i++)
        if (strcmp(text, names[i]) == 0)
            number = i;
    if (number < 0 && !json_is_real(v) && !whole(v, &number))
        number = -1;
    if (number >= 0 && number < n) {
        *ret = (int)number;
        return;
    }
    for (int i = 0; i < n && len < sizeof(all); i++)
        len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s", i ? ", " : "", names[i]);
    svc_fw_bad(in, &at, "must be one of %s", all);
}

/* ---- Texts ---- */

static const char *text_of(struct svc_fw_in *in, const json_t *v)
{
    const char *text = NULL;

    if (json_is_string(v))
        text = sv_arena_strdup(in->a, json_string_value(v));
    else if (json_is_integer(v))
        text = sv_arena_printf(in->a, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_boolean(v))
        text = json_is_true(v) ? "true" : "false";
    else
        return NULL;
    in->no_memory |= !text;
    return text;
}

void svc_fw_text(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o, const char *key,
                 unsigned kind, size_t max, const char **ret)
{
    const struct svc_fw_at at = { up, key, false };
    const json_t *v = o ? json_object_get(o, key) : NULL;
    const char *text;

    if ((kind & SVC_FW_TEXT_NULL) && (!v || json_is_null(v))) {
        if (v)
            *ret = NULL;
        return;
    }
    if ((kind & SVC_FW_TEXT_FULL) && (!v || json_is_null(v))) {
        svc_fw_bad(in, &at, "may not be empty");
        return;
    }
    v = member(in, &at, o, kind & SVC_FW_TEXT_REQUIRED);
    if (!v)
        return;
    text = text_of(in, v);
    if (!text)
        svc_fw_bad(in, &at, "must be a text");
    else if ((kind & SVC_FW_TEXT_NAME) && !svc_fw_name_valid(text))
        svc_fw_bad(in, &at, "must match \"" SVC_FW_NAME_RULE "\"");
    else if ((kind & SVC_FW_TEXT_FULL) && !*text)
        svc_fw_bad(in, &at, "may not be empty");
    else if (strlen(text) > max)
        svc_fw_bad(in, &at, "size must be between 0 and %zu", max);
    else
        *ret = text;
}

/* ---- Objects ---- */

json_t *svc_fw_object(struct svc_fw_in *in, const struct svc_fw_at *up, const json_t *o,
                      const char *key, bool required, bool null)
{
    const struct svc_fw_at at = { up, key, false };
    json_t *v = o ? json_object_get(o, key) : NULL;

    if (null && json_is_null(v))
        return NULL;
    if (!member(in, &at, o, required))
        return NULL;
    if (json_is_object(v))
        return v;
    svc_fw_bad(in, &at, "must be an object");
    return NULL;
}

json_t *svc_fw_map_value(struct svc_fw_in *in, const struct svc_fw_at *map, const char *key,
                         json_t *v)
{
    const struct svc_fw_at at = { map, key, true };
    bool named = svc_fw_name_valid(key);

    if (!named)
        svc_fw_bad(in, map, "Name [%.300s] " SVC_FW_NO_NAME, key);
    if (json_is_null(v)) {
        svc_fw_bad(in, map, "Map value is null for Map key: [%.300s]", key);
        return NULL;
    }
    if (json_is_object(v))
        return named ? v : NULL;
    svc_fw_bad(in, &at, "must be an object");
    return NULL;
}
