/* Stored definitions of the services API: names, loading, checking, saving. See call.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/api/call.h"

#define NAME_MAX_BYTES 63 /* of a part of a name in DNS */

int svc_check_name(struct svc_call *c, const char *name)
{
    if (!name || !*name)
        return svc_fail(c, SVC_FAIL_ARGUMENT, "Name can not be empty!");
    if (strchr(name, '_'))
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "Invalid format: %s, can not use '_', as DNS hostname does not allow '_'. "
                        "Use '-' Instead. ",
                        name);
    if (strlen(name) > NAME_MAX_BYTES)
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "Invalid format %.80s, must be no more than 63 characters ", name);
    if (!svc_name_valid(name))
        return svc_fail(c, SVC_FAIL_ARGUMENT,
                        "Invalid name %s does not match the pattern [a-z][a-z0-9-]* ", name);
    return 0;
}

int svc_load(struct svc_call *c, const char *service, json_t **ret)
{
    _cleanup_free_ char *text = NULL;
    json_error_t why;
    json_t *tree;
    int r = c->b->read(c->b->userdata, service, NULL, &text, &c->err);

    if (r < 0)
        return svc_fail_of(c, r);
    tree = json_loads(text, 0, &why);
    if (!json_is_object(tree)) {
        json_decref(tree);
        return svc_fail(c, SVC_FAIL_IO, "%s: the stored definition is no JSON object: line %d: %s",
                        service, why.line, why.text);
    }
    *ret = tree;
    return 0;
}

/* Loads another service of the caller's, for a component with the artifact SERVICE. */
static int load_other(void *arg, const char *service, struct sv_arena *a,
                      const struct svc_definition **ret, struct sv_error *err)
{
    struct svc_call *c = arg;
    _cleanup_free_ char *text = NULL;
    struct svc_definition *d;
    int r = svc_name_valid(service)
                ? c->b->read(c->b->userdata, service, NULL, &text, err)
                : sv_error_set(err, -EINVAL, "\"%.80s\" is no name of a service", service);

    if (r == 0)
        r = svc_definition_parse(text, strlen(text), SVC_HADOOP, a, &d, err);
    if (r < 0)
        return sv_error_wrap(err, "external service %.80s", service);
    *ret = d;
    return 0;
}

enum svc_dialect svc_dialect_of(const struct svc_call *c)
{
    const char *unknown = svc_uri_value(c->uri, "unknown");

    return unknown && strcmp(unknown, "ignored") == 0 ? SVC_HADOOP : SVC_STRICT;
}

int svc_complete(struct svc_call *c, const json_t *tree, enum svc_dialect dialect,
                 struct svc_definition **ret)
{
    _cleanup_free_ char *text = json_dumps(tree, JSON_COMPACT);
    int r;

    if (!text)
        return svc_fail(c, SVC_FAIL_IO, "out of memory");
    r = svc_definition_parse(text, strlen(text), dialect, c->arena, ret, &c->err);
    if (r >= 0)
        r = svc_definition_expand(*ret, load_other, c, c->arena, &c->err);
    if (r < 0)
        return svc_fail_of(c, r);
    if (tree == c->body && svc_look(c, *ret) < 0)
        return -1;
    r = svc_definition_resolve(*ret, c->arena, &c->err);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

int svc_save(struct svc_call *c, const char *service, const json_t *tree)
{
    struct svc_definition *d;
    _cleanup_free_ char *text = NULL;
    int r = svc_complete(c, tree, SVC_HADOOP, &d);

    if (r < 0)
        return r;
    text = json_dumps(tree, JSON_INDENT(2)); /* with keys that only Hadoop knows */
    if (!text)
        return svc_fail(c, SVC_FAIL_IO, "out of memory");
    r = c->b->replace(c->b->userdata, service, text, &c->err);
    return r < 0 ? svc_fail_of(c, r) : 0;
}

int svc_id_of(struct svc_call *c, const json_t *service, struct yarn_app_id *ret)
{
    const char *id = svc_text(service, "id");

    if (!id || !*id)
        return 0;
    if (yarn_app_id_parse(id, ret) < 0)
        return svc_fail(c, SVC_FAIL_IO,
                        "the stored definition has the id \"%.60s\", which is none "
                        "of an application",
                        id);
    return 1;
}
