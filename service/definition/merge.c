/* See merge.h. */
#include "service/definition/merge.h"

#include <errno.h>
#include <string.h>

#include "service/definition/map.h"

static struct svc_file *file_to(struct svc_file *files, size_t n, const char *dest)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(files[i].dest, dest))
            return &files[i];
    return NULL;
}

static int merge_files(struct svc_configuration *c, const struct svc_configuration *more,
                       struct sv_arena *a)
{
    struct svc_file *files = sv_newn(a, struct svc_file, c->n_files + more->n_files + 1), *same;
    size_t n = c->n_files;
    int r;

    if (!files)
        return -ENOMEM;
    if (n)
        memcpy(files, c->files, n * sizeof *files);
    for (size_t i = 0; i < more->n_files; i++) {
        same = file_to(files, c->n_files, more->files[i].dest);
        r = same ? svc_map_merge(&same->properties, &more->files[i].properties, a) : 0;
        if (r < 0)
            return r;
        if (!same)
            files[n++] = more->files[i];
    }
    if (n > SVC_FILES_MAX)
        return -E2BIG;
    c->files = files;
    c->n_files = n;
    return 0;
}

int svc_configuration_merge(struct svc_configuration *c, const struct svc_configuration *more,
                            struct sv_arena *a)
{
    int r = svc_map_merge(&c->properties, &more->properties, a);

    if (r == 0)
        r = svc_map_merge(&c->env, &more->env, a);
    return r < 0 || !more->n_files ? r : merge_files(c, more, a);
}
