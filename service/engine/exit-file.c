/* The file of exit codes, YAML. Hostile: none should be, as it is an administrator's; its size and
 * its values are bounded as if it were. */
#include "service/engine/exit-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/run/yaml-tree.h"
#include "common/str.h"
#include "common/utf8.h"
#include "service/framework/status.h"

struct svc_fw_exits {
    struct sv_arena *texts;
    struct svc_fw_exit codes[SVC_FW_TASK_CODE_MAX + 1];
    bool given[SVC_FW_TASK_CODE_MAX + 1];
};

const struct svc_fw_exit *svc_fw_exits_find(const struct svc_fw_exits *x, int32_t code)
{
    return code >= 0 && code <= SVC_FW_TASK_CODE_MAX && x->given[code] ? &x->codes[code] : NULL;
}

static int text_of(const struct cli_yaml *item, const char *key, const char **ret,
                   struct sv_error *err)
{
    const struct cli_yaml *y = cli_yaml_get(item, key);

    *ret = NULL;
    if (!y)
        return 0;
    if (y->kind != CLI_YAML_SCALAR)
        return sv_error_set(err, -EINVAL, "line %d: %s: a list or a map", y->line, key);
    if (y->quoted || (strcmp(y->text, "null") != 0 && strcmp(y->text, "~") != 0 && *y->text))
        *ret = y->text;
    return 0;
}

static const char *description_of(struct svc_fw_exits *x, const char *text)
{
    size_t n = text ? sv_utf8_cut(text, SVC_FW_DESCRIPTION_MAX) : 0;
    char *copy = sv_arena_memdup(x->texts, text ? text : "", n + 1);

    if (copy)
        copy[n] = '\0';
    return copy;
}

static int take(struct svc_fw_exits *x, const struct cli_yaml *item, struct sv_error *err)
{
    struct svc_fw_exit exit = { .type = SVC_FW_UNKNOWN, .name = "" };
    const char *code, *type, *description;
    int64_t number;
    int r;

    if (item->kind != CLI_YAML_MAP)
        return sv_error_set(err, -EINVAL, "line %d: not a map of code, type and description",
                            item->line);
    if ((r = text_of(item, "code", &code, err)) < 0 ||
        (r = text_of(item, "type", &type, err)) < 0 ||
        (r = text_of(item, "description", &description, err)) < 0)
        return r;
    if (!code || sv_parse_i64(code, INT32_MIN, INT32_MAX, &number) < 0)
        return sv_error_set(err, -EINVAL, "line %d: code: a number must be given", item->line);
    if (type && svc_fw_type_named(type, &exit.type) < 0)
        return sv_error_set(err, -EINVAL,
                            "line %d: type: \"%.64s\": one of TRANSIENT_NORMAL, "
                            "TRANSIENT_CONFLICT, NON_TRANSIENT, UNKNOWN",
                            item->line, type);
    if (number < 1 || number > SVC_FW_TASK_CODE_MAX || exit.type == SVC_FW_SUCCEEDED)
        return 0;
    exit.code = (int32_t)number;
    exit.description = description_of(x, description);
    if (!exit.description)
        return sv_error_errno(err, -ENOMEM, "exit codes");
    x->codes[number] = exit;
    x->given[number] = true;
    return 0;
}

static int take_all(struct svc_fw_exits *x, const struct cli_yaml *root, struct sv_error *err)
{
    const struct cli_yaml *list = root;
    int r = 0;

    if (root->kind == CLI_YAML_MAP)
        list = cli_yaml_get(root, "spec");
    if (!list || list->kind == CLI_YAML_SCALAR)
        return list && *list->text ? sv_error_set(err, -EINVAL, "line %d: not a list", list->line)
                                   : 0;
    if (list->kind != CLI_YAML_LIST)
        return sv_error_set(err, -EINVAL, "line %d: spec: not a list", list->line);
    for (const struct cli_yaml *item = list->first; item && r >= 0; item = item->next)
        r = take(x, item, err);
    return r;
}

int svc_fw_exits_parse(const char *yaml, size_t len, struct svc_fw_exits **ret,
                       struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_(svc_fw_exits_freep) struct svc_fw_exits *x = calloc(1, sizeof(*x));
    struct cli_yaml *root;
    int r;

    if (len > SVC_FW_EXITS_TEXT_MAX)
        return sv_error_set(err, -EFBIG, "exit codes: larger than 512 KiB");
    if (x)
        x->texts = sv_arena_new(0);
    if (!a || !x || !x->texts)
        return sv_error_errno(err, -ENOMEM, "exit codes");
    r = cli_yaml_parse(yaml, len, a, &root, err);
    if (r >= 0)
        r = take_all(x, root, err);
    if (r < 0)
        return r == -ENOMEM ? r : -EINVAL;
    *ret = SV_TAKE(x);
    return 0;
}

struct svc_fw_exits *svc_fw_exits_free(struct svc_fw_exits *x)
{
    if (x)
        x->texts = sv_arena_free(x->texts);
    free(x);
    return NULL;
}
