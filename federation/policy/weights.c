/* Weights of sub-clusters as JSON; see weights.h. Hostile: the text. */
#include "federation/policy/weights.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "common/str.h"
#include "federation/policy/java-text.h"
#include "federation/store/store.h"

#define NUMBER_TEXT_MAX 64

struct reader {
    struct sv_arena *arena;
    struct sv_error *err;
    const char *list; /* the member that is being read, for errors */
};

static void drop_json(json_t **j)
{
    json_decref(*j);
}
#define _cleanup_json_ _cleanup_(drop_json)

/* jansson recurses once a level. */
static bool too_deep(const uint8_t *p, size_t n)
{
    int depth = 0;
    bool text = false;

    for (size_t i = 0; i < n; i++) {
        if (text)
            i += p[i] == '\\';
        else if (p[i] == '{' || p[i] == '[')
            depth++;
        else if (p[i] == '}' || p[i] == ']')
            depth--;
        if (i < n && p[i] == '"')
            text = !text;
        if (depth > FED_WEIGHTS_DEPTH_MAX)
            return true;
    }
    return false;
}

/* ---- Numbers ---- */

static int refuse_number(const struct reader *r, const char *what)
{
    return sv_error_set(r->err, -EINVAL,
                        "weights: %s of %s is not a number from -1e9 to 1e9: write it as \"0.5\"",
                        what, r->list);
}

static int number_of_text(const struct reader *r, const char *s, const char *what, float *ret)
{
    char *end;
    size_t n;

    while (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
        s++;
    n = strspn(s, "0123456789+-.eE");
    if (n == 0 || n >= NUMBER_TEXT_MAX || s[n + strspn(s + n, " \t\r\n")] != '\0')
        return refuse_number(r, what);
    *ret = strtof(s, &end);
    return end == s + n ? 0 : refuse_number(r, what);
}

static int read_number(const struct reader *r, const json_t *j, const char *what, float *ret)
{
    float v = 0;
    int e = 0;

    if (json_is_number(j))
        v = (float)json_number_value(j);
    else if (json_is_string(j))
        e = number_of_text(r, json_string_value(j), what, &v);
    else
        e = refuse_number(r, what);
    if (e < 0)
        return e;
    if (!(fabsf(v) <= FED_WEIGHT_MAX))
        return refuse_number(r, what);
    *ret = v;
    return 0;
}

/* ---- Entries ---- */

/* A bare number is a text to Java. NULL: not an id; or out of memory, which is refused alike. */
static const char *read_id(const struct reader *r, const json_t *j)
{
    size_t n = json_string_length(j);

    if (json_is_integer(j))
        return sv_arena_printf(r->arena, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
    if (n == 0 || n > FED_NAME_MAX || strlen(json_string_value(j)) != n)
        return NULL;
    return sv_arena_strdup(r->arena, json_string_value(j));
}

static int read_entry(const struct reader *r, const json_t *j, struct fed_weight *ret)
{
    ret->id = read_id(r, json_object_get(json_object_get(j, "key"), "id"));
    if (!ret->id)
        return sv_error_set(r->err, -EINVAL,
                            "weights: an entry of %s has no sub-cluster: write {\"key\":{\"id\":"
                            "\"SC-1\"},\"value\":\"1.0\"}, an id of at most %d bytes",
                            r->list, FED_NAME_MAX);
    return read_number(r, json_object_get(j, "value"), "a weight", &ret->value);
}

/* A later entry replaces an earlier one, as in Java's map. */
static void put_entry(struct fed_weight *v, size_t *n, const struct fed_weight *w)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(v[i].id, w->id) == 0) {
            v[i] = *w;
            return;
        }
    v[(*n)++] = *w;
}

static int read_entries(const struct reader *r, const json_t *entry, struct fed_weight_list *ret)
{
    size_t count = json_is_array(entry) ? json_array_size(entry) : 1, n = 0;
    struct fed_weight *v;

    if (count > FED_MEMBERS_MAX)
        return sv_error_set(r->err, -EINVAL,
                            "weights: %s has %zu entries: a federation has at most %d members",
                            r->list, count, FED_MEMBERS_MAX);
    v = sv_newn(r->arena, struct fed_weight, count + 1);
    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct fed_weight w;
        int e = read_entry(r, json_is_array(entry) ? json_array_get(entry, i) : entry, &w);

        if (e < 0)
            return e;
        put_entry(v, &n, &w);
    }
    *ret = (struct fed_weight_list){ v, n };
    return 0;
}

static bool is_nothing(const json_t *j)
{
    return !j || json_is_null(j) || (json_is_string(j) && *json_string_value(j) == '\0');
}

static int read_list(struct reader *r, const json_t *root, const char *name,
                     struct fed_weight_list *ret)
{
    const json_t *list = json_object_get(root, name), *entry;

    r->list = name;
    if (json_is_array(list) && json_array_size(list) == 1)
        list = json_array_get(list, 0);
    entry = json_object_get(list, "entry");
    if (is_nothing(list) || (json_is_object(list) && (!entry || json_is_null(entry))))
        return 0;
    if (!json_is_object(list))
        return sv_error_set(r->err, -EINVAL,
                            "weights: %s is not an object: write {\"entry\":[...]}", name);
    return read_entries(r, entry, ret);
}

static int read_alpha(struct reader *r, const json_t *root, float *ret)
{
    const json_t *alpha = json_object_get(root, "headroomAlpha");
    int e;

    if (is_nothing(alpha))
        return 0;
    r->list = "the policy";
    e = read_number(r, alpha, "headroomAlpha", ret);
    if (e == 0 && !(*ret >= 0 && *ret <= 1))
        e = sv_error_set(
            r->err, -EINVAL,
            "weights: headroomAlpha is %g: write a number from 0 (by weights alone) to "
            "1 (by free memory alone)",
            (double)*ret);
    return e;
}

int fed_weights_read(struct sv_arena *a, const uint8_t *p, size_t n, struct fed_weights *ret,
                     struct sv_error *err)
{
    _cleanup_json_ json_t *root = NULL;
    struct reader r = { a, err, NULL };
    struct fed_weights w = { 0 };
    json_error_t why;
    int e;

    if (n > FED_PARAMS_MAX)
        return sv_error_set(err, -EINVAL, "weights: %zu bytes are more than %d", n, FED_PARAMS_MAX);
    if (too_deep(p, n))
        return sv_error_set(err, -EINVAL, "weights: the JSON is nested deeper than %d levels",
                            FED_WEIGHTS_DEPTH_MAX);
    root = json_loadb((const char *)p, n, 0, &why);
    if (!root)
        return sv_error_set(err, -EINVAL, "weights: line %d of the JSON: %s", why.line, why.text);
    if (!json_is_object(root))
        return sv_error_set(err, -EINVAL, "weights: the JSON is not an object");
    e = read_list(&r, root, "routerPolicyWeights", &w.router);
    if (e == 0)
        e = read_list(&r, root, "amrmPolicyWeights", &w.amrm);
    if (e == 0)
        e = read_alpha(&r, root, &w.headroom_alpha);
    if (e == 0)
        *ret = w;
    return e == -ENOMEM ? sv_error_set(err, e, "weights: out of memory") : e;
}

/* ---- Writing ---- */

static json_t *entry_of(const struct fed_weight *w)
{
    char text[FED_FLOAT_TEXT];

    fed_java_float(w->value, text);
    return json_pack("{s:{s:s},s:s}", "key", "id", w->id, "value", text);
}

/* NULL: out of memory. One entry is an object, more are a list in the order of Java's map. */
static json_t *entries_of(const struct fed_weight_list *list)
{
    _cleanup_free_ size_t *order = calloc(list->n, sizeof(*order));
    _cleanup_free_ const char **ids = calloc(list->n, sizeof(*ids));
    _cleanup_json_ json_t *all = json_array();

    if (!order || !ids || !all)
        return NULL;
    for (size_t i = 0; i < list->n; i++)
        ids[i] = list->v[i].id;
    fed_java_order(ids, list->n, order);
    for (size_t i = 0; i < list->n; i++)
        if (json_array_append_new(all, entry_of(&list->v[order[i]])) < 0)
            return NULL;
    return list->n == 1 ? json_incref(json_array_get(all, 0)) : SV_TAKE(all);
}

static int put_list(json_t *root, const char *name, const struct fed_weight_list *list)
{
    json_t *inner;

    if (list->n == 0)
        return json_object_set_new(root, name, json_null()) < 0 ? -ENOMEM : 0;
    inner = json_pack("{s:o}", "entry", entries_of(list));
    return json_object_set_new(root, name, inner) < 0 ? -ENOMEM : 0;
}

int fed_weights_write(const struct fed_weights *w, char **ret)
{
    _cleanup_json_ json_t *root = json_object();
    char alpha[FED_FLOAT_TEXT], *text;

    fed_java_float(w->headroom_alpha, alpha);
    if (!root || put_list(root, "routerPolicyWeights", &w->router) < 0 ||
        put_list(root, "amrmPolicyWeights", &w->amrm) < 0 ||
        json_object_set_new(root, "headroomAlpha", json_string(alpha)) < 0)
        return -ENOMEM;
    text = json_dumps(root, JSON_COMPACT);
    if (!text)
        return -ENOMEM;
    if (strlen(text) > FED_PARAMS_MAX) {
        free(text);
        return -EMSGSIZE;
    }
    *ret = text;
    return 0;
}

float fed_weight_of(const struct fed_weight_list *list, const char *id)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->v[i].id, id) == 0)
            return list->v[i].value;
    return 0;
}
