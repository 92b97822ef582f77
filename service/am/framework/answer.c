/* See answer.h. */
#include "service/am/framework/answer.h"

#include <errno.h>
#include <string.h>

struct reading {
    struct sv_arena *a;
    struct sv_error *err;
    struct svc_answer *to;
};

static int wrong(const struct reading *in, const char *key, const char *rule)
{
    return sv_error_set(in->err, -EBADMSG, "%s: %s", key, rule);
}

static const json_t *member(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    return json_is_null(v) ? NULL : v;
}

static int read_number(const struct reading *in, const json_t *o, const char *key, int64_t *ret)
{
    const json_t *v = member(o, key);

    *ret = json_integer_value(v);
    return (v && !json_is_integer(v)) || *ret < 0 ? wrong(in, key, "not a number") : 0;
}

static int read_descriptor(const struct reading *in, const json_t *v)
{
    _cleanup_free_ char *text = NULL, *violations = NULL;
    int r;

    if (!v)
        return 0;
    text = json_dumps(v, JSON_COMPACT);
    if (!text)
        return sv_error_errno(in->err, -ENOMEM, "descriptor");
    r = svc_fw_parse(text, strlen(text), true, in->a, &in->to->descriptor, &violations);
    if (r == -ENOMEM)
        return sv_error_errno(in->err, r, "descriptor");
    return r < 0 ? sv_error_set(in->err, -EBADMSG, "descriptor: %s",
                                violations ? violations : strerror(-r))
                 : 0;
}

static int read_migrate(const struct reading *in, const json_t *list)
{
    size_t n = SV_MIN(json_array_size(list), (size_t)SVC_ANSWER_MIGRATE_MAX);

    in->to->migrate = sv_newn(in->a, struct yarn_container_id, n + 1);
    if (!in->to->migrate)
        return sv_error_errno(in->err, -ENOMEM, "migrate");
    for (size_t i = 0; i < n; i++) { /* a client may have named anything */
        const char *id = json_string_value(json_array_get(list, i));
        struct yarn_container_id *to = &in->to->migrate[in->to->n_migrate];

        if (id && yarn_container_id_parse(id, to) == 0)
            in->to->n_migrate++;
    }
    return 0;
}

static int read_progress(const struct reading *in, const json_t *v)
{
    in->to->progress = v ? json_number_value(v) : -1;
    return v && (!json_is_number(v) || in->to->progress < 0 || in->to->progress > 1)
               ? wrong(in, "progress", "not from 0 to 1")
               : 0;
}

static int read_role(const struct reading *in, const char *name, const json_t *list)
{
    struct svc_answer_role *to = &in->to->roles[in->to->n_roles];
    int r = 0;

    if (!json_is_array(list) || json_array_size(list) > SVC_FW_TASKS_MAX)
        return wrong(in, "statuses", "not a list of tasks");
    to->name = sv_arena_strdup(in->a, name);
    to->tasks = sv_newn(in->a, struct svc_fw_task, json_array_size(list) + 1);
    if (!to->name || !to->tasks)
        return sv_error_errno(in->err, -ENOMEM, "statuses");
    for (; r == 0 && to->n < json_array_size(list); to->n++)
        r = svc_fw_task_read(json_array_get(list, to->n), name, in->a, &to->tasks[to->n], in->err);
    in->to->n_roles++;
    if (r == -EINVAL)
        in->err->code = r = -EBADMSG;
    return r < 0 ? sv_error_wrap(in->err, "statuses") : 0;
}

static int read_statuses(const struct reading *in, const json_t *v)
{
    const char *name;
    json_t *list;
    int r;

    if (v && (!json_is_object(v) || json_object_size(v) > SVC_FW_ROLES_MAX))
        return wrong(in, "statuses", "not an object of roles");
    in->to->roles = sv_newn(in->a, struct svc_answer_role, json_object_size(v) + 1);
    if (!in->to->roles)
        return sv_error_errno(in->err, -ENOMEM, "statuses");
    json_object_foreach((json_t *)(uintptr_t)v, name, list)
    {
        r = read_role(in, name, list);
        if (r < 0)
            return r;
    }
    return 0;
}

int svc_answer_parse(const char *json, size_t len, struct sv_arena *a, struct svc_answer *ret,
                     struct sv_error *err)
{
    struct sv_error own = { 0 };
    struct svc_answer answer = { 0 };
    const struct reading in = { a, err ? err : &own, &answer };
    json_error_t where;
    json_t *tree = json_loadb(json, len, JSON_REJECT_DUPLICATES, &where);
    int r;

    if (!json_is_object(tree)) {
        json_decref(tree);
        return sv_error_set(err, -EBADMSG, "not a JSON object: %s", tree ? "" : where.text);
    }
    r = read_number(&in, tree, "revision", &answer.revision);
    if (r == 0)
        r = read_number(&in, tree, "sequence", &answer.sequence);
    if (r == 0)
        r = read_number(&in, tree, "pauseMs", &answer.pause_ms);
    if (r == 0)
        r = read_descriptor(&in, member(tree, "descriptor"));
    if (r == 0)
        r = read_migrate(&in, member(tree, "migrate"));
    if (r == 0)
        r = read_progress(&in, member(tree, "progress"));
    if (r == 0)
        r = read_statuses(&in, member(tree, "statuses"));
    if (r < 0) {
        json_decref(tree);
        return r;
    }
    answer.cluster = member(tree, "clusterConfiguration");
    answer.exits = member(tree, "exitSpec");
    answer.tree = tree;
    *ret = answer;
    return 0;
}

void svc_answer_clear(struct svc_answer *answer)
{
    json_decref(answer->tree);
    *answer = (struct svc_answer){ 0 };
}
