/* See definition-file.h. */
#include "client/service/definition-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fd.h"
#include "service/definition/definition.h"
#include "service/definition/print.h"
#include "service/definition/read.h"

#define ARENA_MAX ((size_t)256 << 20)

static void free_json(json_t **v)
{
    json_decref(*v);
}
#define _cleanup_json_ _cleanup_(free_json)

/* ---- The file ---- */

/* It may be a pipe, too. */
static int read_all(int fd, size_t max, struct sv_buf *b)
{
    char part[65536];
    ssize_t n;

    while ((n = read(fd, part, sizeof(part))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (b->len + (size_t)n > max)
            return -EFBIG;
        if (sv_buf_put(b, part, (size_t)n) < 0)
            return -ENOMEM;
    }
    return sv_buf_put_u8(b, 0) < 0 ? -ENOMEM : 0;
}

int cli_file_read(const char *file, size_t max, char **ret, size_t *ret_len, struct sv_error *err)
{
    bool standard = strcmp(file, "-") == 0;
    _cleanup_close_ int own = standard ? -1 : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(max + 1);
    int r = !standard && own < 0 ? -errno : 0;

    if (r == 0)
        r = read_all(standard ? STDIN_FILENO : own, max, &b);
    if (r == -EFBIG)
        return sv_error_set(err, r, "%s: larger than %zu MiB", file, max >> 20);
    if (r < 0)
        return sv_error_errno(err, r, "%s", standard ? "standard input" : file);
    *ret_len = b.len - 1;
    *ret = (char *)SV_TAKE(b.data);
    return 0;
}

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
