/* See library.h and library-internal.h: copies of launches and of resources. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "client/lib/library-internal.h"
#include "common/buf.h"
#include "common/str.h"
#include "wire/resource-types.h"

#define COMMAND_MAX ((size_t)1 << 20) /* of an argv, quoted: more than a kernel takes */

/* ---- argv ---- */

/* One argument for a shell within double quotes: NodeManagers run `exec /bin/bash -c "<command>"`.
 * Single quotes for the inner shell; what the outer one would expand is escaped; the marks that the
 * NodeManager itself expands, {{…}} and <…>, are cut by two quotes. */
static int put_argument(struct sv_buf *b, const char *text)
{
    int r = sv_buf_put_u8(b, '\'');

    for (const char *p = text; r >= 0 && *p; p++) {
        if (*p == '\'')
            r = sv_buf_put(b, "'\\\\''", strlen("'\\\\''"));
        else if (strchr("\\\"$`", *p))
            r = sv_buf_put(b, (const char[]){ '\\', *p }, 2);
        else
            r = sv_buf_put_u8(b, (uint8_t)*p);
        if (r >= 0 && strchr("<{}", *p))
            r = sv_buf_put(b, "''", 2);
    }
    return r < 0 ? r : sv_buf_put_u8(b, '\'');
}

/* NULL: too long. */
static const char *command_of(struct sv_arena *a, const char *const *argv)
{
    static const char begin[] = "exec ", end[] = "1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
    struct sv_buf b = SV_BUF_INIT(COMMAND_MAX);
    char *text = NULL;
    int r = sv_buf_put(&b, begin, strlen(begin));

    for (size_t i = 0; r >= 0 && argv[i]; i++) {
        r = put_argument(&b, argv[i]);
        if (r >= 0)
            r = sv_buf_put_u8(&b, ' ');
    }
    if (r >= 0)
        r = sv_buf_put(&b, end, sizeof(end));
    if (r >= 0)
        text = sv_arena_memdup(a, b.data, b.len);
    sv_buf_free(&b);
    return text;
}

/* ---- Launches ---- */

static int file_of(struct sv_arena *a, const struct selvedge_file *from, struct cli_resource *ret)
{
    struct stat st;

    if (!from->name || !from->url)
        return -EINVAL;
    *ret = (struct cli_resource){
        .name = sv_arena_strdup(a, from->name),
        .url = sv_arena_strdup(a, from->url),
        .size = from->size,
        .timestamp = from->timestamp_ms,
        .type = from->archive ? CLI_ARCHIVE : CLI_FILE,
        .visibility = from->visibility ? (enum cli_visibility)from->visibility : CLI_APPLICATION,
    };
    if (!ret->name || !ret->url)
        return -ENOMEM;
    if (from->size != -1)
        return 0;
    if (!sv_has_prefix(from->url, "file:///"))
        return -EINVAL;
    if (stat(from->url + strlen("file://"), &st) < 0)
        return -errno;
    ret->size = st.st_size;
    ret->timestamp = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    return 0;
}

static int env_of(struct sv_arena *a, const char *const *from, const struct cli_env *more,
                  struct cli_launch *ret)
{
    struct cli_env *list;
    size_t n = 0;

    while (from && from[n])
        n++;
    list = sv_newn(a, struct cli_env, n + 1);
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        char *name = sv_arena_strdup(a, from[i]), *equals = name ? strchr(name, '=') : NULL;

        if (!name)
            return -ENOMEM;
        if (!equals || equals == name)
            return -EINVAL;
        *equals = '\0';
        list[i] = (struct cli_env){ .name = name, .value = equals + 1 };
    }
    if (more)
        list[n++] = *more;
    ret->env = list;
    ret->n_env = n;
    return 0;
}

int cli_lib_launch(struct sv_arena *a, const struct selvedge_launch *from,
                   const struct cli_env *more_env, struct cli_launch *ret)
{
    struct selvedge_launch known = SELVEDGE_LAUNCH;
    struct cli_resource *files;
    int r;

    if (!from || from->struct_size < offsetof(struct selvedge_launch, files) ||
        from->struct_size > sizeof(known))
        return -EINVAL;
    memcpy(&known, from, from->struct_size);
    if (!known.command == !known.argv || (known.argv && !known.argv[0]) ||
        (known.n_files && !known.files) || (known.tokens_len && !known.tokens))
        return -EINVAL;
    files = sv_newn(a, struct cli_resource, known.n_files + 1);
    if (!files)
        return -ENOMEM;
    for (size_t i = 0; i < known.n_files; i++) {
        r = file_of(a, &known.files[i], &files[i]);
        if (r < 0)
            return r;
    }
    *ret = (struct cli_launch){
        .resources = files,
        .n_resources = known.n_files,
        .command = known.argv ? command_of(a, known.argv) : sv_arena_strdup(a, known.command),
        .tokens = known.tokens_len ? sv_arena_memdup(a, known.tokens, known.tokens_len) : NULL,
        .tokens_len = known.tokens_len,
    };
    if (!ret->command || (known.tokens_len && !ret->tokens))
        return -ENOMEM;
    return env_of(a, known.env, more_env, ret);
}

/* ---- Resources ---- */

int cli_lib_resource(int64_t memory_mb, int32_t vcores, const struct selvedge_resource *more,
                     size_t n, struct yarn_resource *ret)
{
    *ret = (struct yarn_resource){ .memory_mb = memory_mb, .vcores = vcores };
    if (n > 0 && !more)
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        int k;

        if (!more[i].name || more[i].value < 0)
            return -EINVAL;
        if (strcmp(more[i].name, YARN_GPU) == 0) {
            if (more[i].value > INT32_MAX)
                return -EINVAL;
            ret->gpus = (int32_t)more[i].value;
            continue;
        }
        k = yarn_types_index(yarn_types(), more[i].name);
        if (k < 0) /* the ResourceManager says its unit at the registration */
            k = yarn_types_add(more[i].name, "");
        if (k < 0)
            return k;
        ret->extra[k] = more[i].value;
    }
    return 0;
}

size_t cli_lib_resources_of(const struct yarn_resource *r, struct selvedge_resource *ret)
{
    const struct yarn_types *types = yarn_types();
    size_t n = 0;

    if (r->gpus > 0)
        ret[n++] = (struct selvedge_resource){ YARN_GPU, r->gpus };
    for (size_t i = 0; i < types->n; i++)
        if (r->extra[i] > 0)
            ret[n++] = (struct selvedge_resource){ types->types[i].name, r->extra[i] };
    return n;
}
