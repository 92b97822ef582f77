/* See api.h. The table of routes, and the status that a failure has in each: Hadoop's ApiServer
 * catches the exceptions of each route differently. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/api/call.h"

#define ABSENT_CODE 404004 /* ERROR_CODE_APP_NAME_INVALID */
#define ARENA_MAX ((size_t)128 << 20)

enum body { BODY_NONE, BODY_OBJECT, BODY_ARRAY };

struct route {
    const char *method;
    const char *path[7]; /* below /v1; "{…}": a part of any text */
    int (*op)(struct svc_call *c);
    enum body body;
    unsigned status[SVC_FAIL_N]; /* 0: 500 */
    bool code;                   /* a 404 has ABSENT_CODE */
};

#define COMMON [SVC_FAIL_DENIED] = 403, [SVC_FAIL_LATE] = 504, [SVC_FAIL_JSON] = 400
/* Routes of components and instances: an IllegalArgumentException is Jersey's to answer. */
#define PARTS                                                                                      \
    {                                                                                              \
        COMMON, [SVC_FAIL_ARGUMENT] = 400, [SVC_FAIL_REQUEST] = 400                                \
    }
#define SERVICE "services", "{service}"

static int say_version(struct svc_call *c);

/* The first match counts: put names before {…}. */
static const struct route routes[] = {
    { "GET", { "services", "version" }, say_version, BODY_NONE, { 0 }, false },
    { "POST",
      { "services" },
      svc_op_create,
      BODY_OBJECT,
      { COMMON, [SVC_FAIL_ARGUMENT] = 400 },
      false },
    { "GET",
      { SERVICE },
      svc_op_status,
      BODY_NONE,
      { COMMON, [SVC_FAIL_ARGUMENT] = 404, [SVC_FAIL_ABSENT] = 404 },
      true },
    { "DELETE",
      { SERVICE },
      svc_op_destroy,
      BODY_NONE,
      { COMMON, [SVC_FAIL_ARGUMENT] = 400, [SVC_FAIL_YARN] = 400, [SVC_FAIL_ABSENT] = 404 },
      false },
    { "PUT",
      { SERVICE },
      svc_op_update,
      BODY_OBJECT,
      { COMMON, [SVC_FAIL_YARN] = 400, [SVC_FAIL_ABSENT] = 404 },
      false },
    { "PUT", { SERVICE, "components" }, svc_op_components, BODY_ARRAY, PARTS, false },
    { "PUT",
      { SERVICE, "components", "{component}" },
      svc_op_component,
      BODY_OBJECT,
      PARTS,
      false },
    { "PUT",
      { SERVICE, "components", "{component}", "component-instances", "{instance}" },
      svc_op_instance_upgrade,
      BODY_OBJECT,
      PARTS,
      false },
    { "PUT",
      { SERVICE, "component-instances" },
      svc_op_instances_upgrade,
      BODY_ARRAY,
      PARTS,
      false },
    { "GET", { SERVICE, "component-instances" }, svc_op_instances, BODY_NONE, PARTS, false },
};

static int say_version(struct svc_call *c)
{
    json_t *o = json_pack("{s:s}", "hadoop_version", SVC_HADOOP_VERSION);

    return o ? svc_say_json(c, o) : svc_fail(c, SVC_FAIL_IO, "out of memory");
}

bool svc_api_takes(const char *uri)
{
    static const char *const prefixes[] = { "/v1/services", "/app/v1/services" };

    for (size_t i = 0; i < SV_ARRAY_LEN(prefixes); i++) {
        size_t n = strlen(prefixes[i]);

        if (strncmp(uri, prefixes[i], n) == 0 && strchr("/?", uri[n]))
            return true;
    }
    return false;
}

/* ---- The route ---- */

static bool matches(const struct route *t, const char *const *parts, size_t n, const char **names)
{
    size_t i = 0, k = 0;

    for (; i < n && i < SV_ARRAY_LEN(t->path) && t->path[i]; i++)
        if (*t->path[i] == '{')
            names[k++] = parts[i];
        else if (strcmp(t->path[i], parts[i]) != 0)
            return false;
    return i == n && (i == SV_ARRAY_LEN(t->path) || !t->path[i]);
}

/* *ret_path: a route of another method has the path. */
static const struct route *find(struct svc_call *c, bool *ret_path)
{
    size_t skip = c->uri->n_parts > 0 && strcmp(c->uri->parts[0], "app") == 0 ? 2 : 1;
    bool read = strcmp(c->q->method, "HEAD") == 0;

    *ret_path = false;
    for (size_t i = 0; i < SV_ARRAY_LEN(routes) && c->uri->n_parts >= skip; i++) {
        const char *names[3] = { NULL };

        if (!matches(&routes[i], c->uri->parts + skip, c->uri->n_parts - skip, names))
            continue;
        *ret_path = true;
        if (strcmp(routes[i].method, read ? "GET" : c->q->method) != 0)
            continue;
        c->service = names[0];
        c->component = names[1];
        c->instance = names[2];
        return &routes[i];
    }
    return NULL;
}

/* ---- The body ---- */

static int read_body(struct svc_call *c, enum body kind)
{
    json_error_t why = { 0 };
    json_t *tree;

    if (kind == BODY_NONE)
        return 0;
    if (c->q->body_len > SVC_JSON_MAX)
        return svc_fail(c, SVC_FAIL_JSON, "the body is larger than %zu MiB", SVC_JSON_MAX >> 20);
    tree = json_loadb(c->q->body ? c->q->body : "", c->q->body_len, 0, &why);
    if (!tree)
        return svc_fail(c, SVC_FAIL_JSON, "line %d, column %d: %s", why.line, why.column, why.text);
    c->body = tree;
    if (kind == BODY_OBJECT ? !json_is_object(tree) : !json_is_array(tree))
        return svc_fail(c, SVC_FAIL_JSON, "the body must be a JSON %s",
                        kind == BODY_OBJECT ? "object" : "array");
    return 0;
}

/* ---- Failures ---- */

static int say_failure(struct svc_call *c, const struct route *t)
{
    unsigned status = t->status[c->failure] ? t->status[c->failure] : 500;
    const char *text = *c->err.text ? c->err.text : "internal error";

    if (c->failure == SVC_FAIL_JSON)
        return svc_say_exception(c, status, "JsonParseException", "com.fasterxml.jackson.core",
                                 text);
    if (c->failure == SVC_FAIL_ARGUMENT && t->op == svc_op_component)
        return svc_say_exception(c, status, "IllegalArgumentException", "java.lang", text);
    if (c->failure == SVC_FAIL_ABSENT && t->code)
        text = sv_arena_printf(c->arena, "Service %s not found", c->service) ?: text;
    return svc_say_code(c, status, text, t->code && status == 404 ? ABSENT_CODE : 0);
}

static void answer(struct svc_call *c)
{
    bool path;
    const struct route *t = find(c, &path);
    int r;

    if (!t) {
        (void)svc_say_code(c, path ? 405 : 404,
                           path ? "the path has no such method" : "no such path", 0);
        return;
    }
    r = read_body(c, t->body);
    if (r == 0)
        r = t->op(c);
    if (r < 0)
        (void)say_failure(c, t); /* a NULL body says so, ignoring */
    json_decref(c->body);
}

void svc_api_answer(const struct svc_backend *b, const struct svc_settings *s,
                    const struct svc_request *q, struct svc_answer *ret)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    struct svc_uri uri;
    struct svc_call c = { .b = b, .settings = s, .q = q, .uri = &uri, .arena = a, .ret = ret };

    *ret = (struct svc_answer){ .status = 500 };
    if (!a)
        return;
    if (svc_uri_parse(a, q->uri, &uri) < 0) {
        (void)svc_say_code(&c, 400, "the path or the query is malformed", 0);
        return;
    }
    answer(&c);
}
