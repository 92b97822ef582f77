/* See upload-containers.h. */
#include "logs/upload-containers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"
#include "logs/aggregated.h"

#define PREFIX "container_"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add(char ***v, size_t *n, const char *name)
{
    if ((*n & (*n - 1)) == 0) { /* 0 or a power of two; one more for the NULL */
        char **more = reallocarray(*v, (*n ? 2 * *n : 1) + 1, sizeof(*more));

        if (!more)
            return -ENOMEM;
        *v = more;
    }
    (*v)[*n] = strdup(name);
    if (!(*v)[*n])
        return -ENOMEM;
    (*v)[++*n] = NULL;
    return 0;
}

static int list(int dir, char ***v, size_t *n)
{
    int fd = sv_open_beneath(dir, ".", O_RDONLY | O_DIRECTORY, 0), r = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!d) {
        (void)sv_close(fd);
        return fd < 0 ? fd : -ENOMEM;
    }
    while (r == 0 && (e = readdir(d)))
        if (sv_has_prefix(e->d_name, PREFIX) && strlen(e->d_name) <= LOGS_ID_MAX &&
            *n < LOGS_CONTAINERS_MAX)
            r = add(v, n, e->d_name);
    (void)closedir(d); /* was only read, ignoring */
    return r;
}

/* Removes duplicates and the ids in `skips`. */
static size_t compact(char **v, size_t n, const struct logs_ids *skips)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        bool twice = kept > 0 && strcmp(v[kept - 1], v[i]) == 0;

        if (twice ||
            (skips->n > 0 && bsearch(&v[i], skips->v, skips->n, sizeof(skips->v[0]), by_name)))
            free(v[i]);
        else
            v[kept++] = v[i];
    }
    v[kept] = NULL;
    return kept;
}

int logs_containers_find(const int *dirs, size_t n_dirs, const struct logs_ids *skips, char ***ret,
                         size_t *ret_n)
{
    _cleanup_strv_ char **v = calloc(1, sizeof(*v));
    size_t n = 0;
    int r = v ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < n_dirs; i++)
        r = list(dirs[i], &v, &n);
    if (r < 0)
        return r;
    if (n > 0)
        qsort(v, n, sizeof(*v), by_name);
    if (skips->n > 0)
        qsort(skips->v, skips->n, sizeof(skips->v[0]), by_name);
    *ret_n = compact(v, n, skips);
    *ret = SV_TAKE(v);
    return 0;
}
