/* Failures and answers of the services API, in the form of Hadoop's ApiServer. See call.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/web/json-text.h"
#include "service/api/call.h"

int svc_fail(struct svc_call *c, enum svc_failure f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    c->failure = f;
    c->err.code = -EINVAL;
    (void)vsnprintf(c->err.text, sizeof(c->err.text), fmt, ap);
    va_end(ap);
    return -1;
}

int svc_fail_of(struct svc_call *c, int r)
{
    switch (r) {
    case -ENOENT:
        c->failure = SVC_FAIL_ABSENT;
        break;
    case -EACCES:
    case -EPERM:
        c->failure = SVC_FAIL_DENIED;
        break;
    case -EEXIST:
    case -EREMOTEIO:
        c->failure = SVC_FAIL_YARN;
        break;
    case -ETIMEDOUT:
        c->failure = SVC_FAIL_LATE;
        break;
    case -EINVAL:
    case -EFBIG:
        c->failure = SVC_FAIL_ARGUMENT;
        break;
    default:
        c->failure = SVC_FAIL_IO;
    }
    if (!c->err.code)
        (void)sv_error_errno(&c->err, r, "service %s", c->service ? c->service : "");
    return -1;
}

/* Takes the tree. */
static int answer(struct svc_call *c, unsigned status, json_t *tree)
{
    char *text = tree ? json_dumps(tree, JSON_COMPACT) : NULL;

    json_decref(tree);
    free(c->ret->body);
    c->ret->status = status;
    c->ret->body = text;
    c->ret->body_len = text ? strlen(text) : 0;
    if (!text)
        return svc_fail(c, SVC_FAIL_IO, "out of memory");
    return 0;
}

static int put(json_t *o, const char *key, const char *text)
{
    return text && *text ? json_object_set_new(o, key, sv_json_text(text)) : 0;
}

int svc_say(struct svc_call *c, unsigned status, const char *uri, const char *diagnostics,
            const char *state)
{
    json_t *o = json_object();

    if (!o || put(o, "uri", uri) < 0 || put(o, "diagnostics", diagnostics) < 0 ||
        put(o, "state", state) < 0) {
        json_decref(o);
        o = NULL;
    }
    return answer(c, status, o);
}

int svc_say_code(struct svc_call *c, unsigned status, const char *diagnostics, int code)
{
    json_t *o = json_object();

    if (!o || put(o, "diagnostics", diagnostics) < 0 ||
        (code && json_object_set_new(o, "code", json_integer(code)) < 0)) {
        json_decref(o);
        o = NULL;
    }
    return answer(c, status, o);
}

int svc_say_json(struct svc_call *c, json_t *value)
{
    return answer(c, 200, value);
}

int svc_say_exception(struct svc_call *c, unsigned status, const char *name, const char *package,
                      const char *message)
{
    char class[128];
    json_t *o = json_object();

    (void)snprintf(class, sizeof(class), "%s.%s", package, name);
    if (!o || put(o, "exception", name) < 0 || put(o, "message", message) < 0 ||
        put(o, "javaClassName", class) < 0) {
        json_decref(o);
        o = NULL;
    }
    return answer(c, status, o);
}

/* ---- Reading JSON ---- */

const char *svc_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_t *svc_components(const json_t *service)
{
    json_t *list = json_object_get(service, "components");

    return json_is_array(list) ? list : NULL;
}

json_t *svc_component_of(const json_t *service, const char *name)
{
    json_t *list = svc_components(service), *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *has = svc_text(one, "name");

        if (has && strcmp(has, name) == 0)
            return one;
    }
    return NULL;
}
