/* See definition-file.h. */
#include "client/service/definition-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/input-file.h"
#include "service/definition/definition.h"
#include "service/definition/print.h"
#include "service/definition/read.h"

#define ARENA_MAX ((size_t)256 << 20)

static void free_json(json_t **v)
{
    json_decref(*v);
}
#define _cleanup_json_ _cleanup_(free_json)

/* ---- The definition ---- */

/* The text with another name, malloc'd. */
static int rename_in(const char *text, size_t len, const char *name, char **ret,
                     struct sv_error *err)
{
    _cleanup_json_ json_t *tree = NULL;
    int r = svc_json_load(text, len, &tree, err);

    if (r < 0)
        return r;
    if (json_object_set_new(tree, "name", json_string(name)) < 0 ||
        !(*ret = json_dumps(tree, JSON_COMPACT)))
        return sv_error_errno(err, -ENOMEM, "definition");
    return 0;
}

static int parse(const char *text, size_t len, const struct cli_definition_options *o, json_t **ret,
                 struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(ARENA_MAX);
    _cleanup_free_ char *renamed = NULL;
    struct svc_definition *d = NULL;
    int r = a ? 0 : sv_error_errno(err, -ENOMEM, "definition");

    if (r == 0 && o->name)
        r = rename_in(text, len, o->name, &renamed, err);
    if (r == 0)
        r = svc_definition_parse(renamed ? renamed : text, renamed ? strlen(renamed) : len,
                                 o->hadoop ? SVC_HADOOP : SVC_STRICT, a, &d, err);
    if (r < 0)
        return r;
    d->id = d->saved_state = ""; /* of a file that was stored */
    *ret = svc_definition_json(d);
    return *ret ? 0 : sv_error_errno(err, -ENOMEM, "definition");
}

int cli_definition_read(const char *file, const struct cli_definition_options *o, json_t **ret,
                        struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    size_t len = 0;
    int r = cli_file_read(file, SVC_JSON_MAX, &text, &len, err);

    if (r < 0)
        return r;
    r = parse(text, len, o, ret, err);
    return r < 0 ? sv_error_wrap(err, "%s", file) : 0;
}
