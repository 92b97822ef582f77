/* See web-query.h. Queries are hostile. */
#include "rm-lite/web/rest/web-query.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "proto/yarn.pb-c.h"
#include "rm-lite/web/rest/web-json.h"

#define SHOWN 64 /* characters of a wrong value in a refusal */
#define NO_CONSTANT "No enum constant org.apache.hadoop.yarn.api.records."

/* ---- Enumerations ---- */

struct word {
    const char *p;
    size_t n;
};

/* The next member of a list, and *p behind its comma. False: no more. */
static bool next_word(const char **p, struct word *ret)
{
    if (!*p)
        return false;
    *ret = (struct word){ *p, strcspn(*p, ",") };
    *p = (*p)[ret->n] ? *p + ret->n + 1 : NULL;
    return true;
}

static void trim(struct word *w)
{
    while (w->n > 0 && (*w->p == ' ' || *w->p == '\t'))
        w->p++, w->n--;
    while (w->n > 0 && (w->p[w->n - 1] == ' ' || w->p[w->n - 1] == '\t'))
        w->n--;
}

static bool is(const struct word *w, const char *name)
{
    return strlen(name) == w->n && strncasecmp(name, w->p, w->n) == 0;
}

static int app_state_error(const struct word *w, struct sv_error *err)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__yarn_application_state_proto__descriptor;
    char all[256] = "";

    for (size_t i = 0, at = 0; i < d->n_values && at < sizeof(all); i++)
        at +=
            (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "", d->values[i].name);
    return sv_error_set(err, -EINVAL,
                        "Invalid application-state %.*s specified. It should be one of [%s]",
                        (int)SV_MIN(w->n, (size_t)SHOWN), w->p, all);
}

/* Adds the states of a list to *states. */
static int add_app_states(const char *list, uint32_t *states, struct sv_error *err)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__yarn_application_state_proto__descriptor;
    struct word w;
    size_t i;

    while (next_word(&list, &w)) {
        trim(&w);
        for (i = 0; i < d->n_values && !is(&w, d->values[i].name); i++)
            ;
        if (i < d->n_values)
            *states |= UINT32_C(1) << d->values[i].value;
        else if (w.n > 0)
            return app_state_error(&w, err);
    }
    return 0;
}

static int final_states(const char *list, uint32_t *ret, struct sv_error *err)
{
    uint32_t states = 0;
    struct word w;
    int i;

    while (next_word(&list, &w)) {
        trim(&w);
        for (i = 0; i < RM_JSON_FINALS && !is(&w, rm_json_final(i)); i++)
            ;
        if (i < RM_JSON_FINALS)
            states |= UINT32_C(1) << i;
        else if (w.n > 0)
            return sv_error_set(err, -EDOM, NO_CONSTANT "FinalApplicationStatus.%.*s",
                                (int)SV_MIN(w.n, (size_t)SHOWN), w.p);
    }
    *ret = states ? states : UINT32_MAX;
    return 0;
}

static int node_state_error(const struct word *w, struct sv_error *err)
{
    char upper[SHOWN + 1] = "";

    for (size_t i = 0; i < SV_MIN(w->n, (size_t)SHOWN); i++)
        upper[i] = (char)toupper((unsigned char)w->p[i]);
    return sv_error_set(err, -EDOM, NO_CONSTANT "NodeState.%s", upper);
}

/* As RMWebServices.getNodes: blanks are part of a name, and empty names are errors, except at the
 * end, where String.split drops them. */
int rm_query_nodes(const struct sv_http_request *req, uint32_t *ret_states, struct sv_error *err)
{
    const ProtobufCEnumDescriptor *d = &hadoop__yarn__node_state_proto__descriptor;
    const char *list = sv_http_query(req, "states");
    uint32_t states = list ? 0 : UINT32_MAX;
    bool empty = list && !*list; /* has one name, the empty one */
    struct word w;
    size_t i;

    while (next_word(&list, &w)) {
        if (!empty && strspn(w.p, ",") == strlen(w.p))
            break;
        for (i = 0; i < d->n_values && !is(&w, d->values[i].name + strlen("NS_")); i++)
            ;
        if (i == d->n_values)
            return node_state_error(&w, err);
        states |= UINT32_C(1) << d->values[i].value;
    }
    *ret_states = states;
    return 0;
}

/* ---- Numbers ---- */

static int read_time(const struct sv_http_request *req, const char *key, int64_t *ret,
                     struct sv_error *err)
{
    const char *text = sv_http_query(req, key);

    if (!text || !*text)
        return 0;
    if (sv_parse_i64(text, INT64_MIN, INT64_MAX, ret) < 0)
        return sv_error_set(err, -EINVAL, "%s: \"%.64s\" is not a number", key, text);
    return *ret < 0 ? sv_error_set(err, -EINVAL, "%s must be greater than 0", key) : 0;
}

static int read_numbers(const struct sv_http_request *req, struct rm_app_filter *f,
                        int64_t *ret_limit, struct sv_error *err)
{
    const struct {
        const char *key;
        int64_t *to;
    } times[] = {
        { "startedTimeBegin", &f->start[0] },
        { "startedTimeEnd", &f->start[1] },
        { "finishedTimeBegin", &f->finish[0] },
        { "finishedTimeEnd", &f->finish[1] },
    };
    const char *limit = sv_http_query(req, "limit");
    int r = 0;

    *ret_limit = INT64_MAX;
    if (limit && *limit && sv_parse_i64(limit, 1, INT64_MAX, ret_limit) < 0)
        return sv_error_set(err, -EINVAL, "limit value must be greater then 0");
    for (size_t i = 0; i < SV_ARRAY_LEN(times) && r >= 0; i++)
        r = read_time(req, times[i].key, times[i].to, err);
    return r;
}

/* ---- Applications ---- */

static int read_states(const struct sv_http_request *req, struct rm_app_filter *f,
                       struct sv_error *err)
{
    uint32_t states = 0;
    int r = add_app_states(sv_http_query(req, "state"), &states, err);

    if (r >= 0)
        r = add_app_states(sv_http_query(req, "states"), &states, err);
    if (r >= 0)
        r = final_states(sv_http_query(req, "finalStatus"), &f->finals, err);
    if (states)
        f->states = states;
    return r;
}

static int read_names(const struct sv_http_request *req, struct rm_app_filter *f,
                      struct sv_error *err)
{
    static const struct {
        enum rm_filter_names which;
        const char *key;
        enum rm_name_case letters;
    } lists[] = {
        { RM_FILTER_TYPES, "applicationTypes", RM_NAMES_ANY_CASE },
        { RM_FILTER_TAGS, "applicationTags", RM_NAMES_ANY_CASE },
        { RM_FILTER_USERS, "user", RM_NAMES_EXACT },
        { RM_FILTER_QUEUES, "queue", RM_NAMES_EXACT },
        { RM_FILTER_QUEUES_TOO, "queues", RM_NAMES_EXACT },
    };
    const char *name = sv_http_query(req, "name");
    int r = 0;

    for (size_t i = 0; i < SV_ARRAY_LEN(lists) && r >= 0; i++)
        r = rm_name_filter_of_text(&f->names[lists[i].which], sv_http_query(req, lists[i].key),
                                   lists[i].letters, lists[i].key, err);
    if (r >= 0 && name && !(f->name = strdup(name)))
        r = -ENOMEM;
    return r;
}

int rm_query_apps(const struct sv_http_request *req, struct rm_app_filter *ret, int64_t *ret_limit,
                  struct sv_error *err)
{
    int r;

    rm_app_filter_init(ret);
    r = read_numbers(req, ret, ret_limit, err);
    if (r >= 0)
        r = read_states(req, ret, err);
    return r < 0 ? r : read_names(req, ret, err);
}
