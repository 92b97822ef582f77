/* See names.h. Hostile: the names. */
#include "logs/names.h"

#include <errno.h>
#include <string.h>

#include "common/str.h"

#define TMP ".tmp"

struct listing {
    struct logs_names names;
    const char *dir;
    struct sv_error *err;
};

static int add(struct logs_names *names, const char *name)
{
    size_t n = names->n;

    if ((n & (n - 1)) == 0) { /* 0 or a power of two; one more for the NULL */
        char **more = reallocarray(names->v, (n ? 2 * n : 1) + 1, sizeof(*more));

        if (!more)
            return -ENOMEM;
        names->v = more;
    }
    names->v[n] = strdup(name);
    if (!names->v[n])
        return -ENOMEM;
    names->v[++names->n] = NULL;
    return 0;
}

static int on_child(void *userdata, const struct fs_child *c)
{
    struct listing *l = userdata;
    int r;

    if (c->st.kind != FS_FILE || sv_has_suffix(c->name, TMP))
        return 0;
    if (l->names.n == LOGS_REMOTE_FILES_MAX)
        return sv_error_set(l->err, -E2BIG, "%s: more than %d files", l->dir,
                            LOGS_REMOTE_FILES_MAX);
    r = add(&l->names, c->name);
    return r < 0 ? sv_error_errno(l->err, r, "%s", l->dir) : 0;
}

int logs_names_list(struct fs *fs, const char *dir, struct logs_names *ret, struct sv_error *err)
{
    struct listing l = { { calloc(1, sizeof(char *)), 0 }, dir, err };
    int r =
        l.names.v ? fs_list(fs, dir, on_child, &l, err) : sv_error_errno(err, -ENOMEM, "%s", dir);

    if (r < 0) {
        sv_strv_free(l.names.v);
        l.names = (struct logs_names){ 0 };
    }
    *ret = l.names;
    return r;
}
