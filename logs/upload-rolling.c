/* See upload-rolling.h. */
#include "logs/upload-rolling.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "logs/names.h"
#include "logs/upload-containers.h"

/* ---- Deletion of uploaded logs ---- */

/* Race: between the check and the unlink the job may give the name to another file. */
static void delete_in(struct logs_list *l, int app, const char *container)
{
    int fd = sv_open_beneath(app, container, O_RDONLY | O_DIRECTORY, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!d) {
        (void)sv_close(fd);
        return;
    }
    while ((e = readdir(d))) {
        struct stat st;

        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
            logs_list_deletable(l, &st) && unlinkat(dirfd(d), e->d_name, 0) == 0)
            logs_list_forget(l, &st);
    }
    (void)closedir(d); /* was only read, ignoring */
}

static void delete_current(struct logs_list *l, int dir)
{
    static const struct logs_ids none;
    _cleanup_strv_ char **containers = NULL;
    size_t n = 0;

    if (logs_list_current(l) == 0 || logs_containers_find(&dir, 1, &none, &containers, &n) < 0)
        return; /* the logs are kept, and are on the list */
    for (size_t i = 0; i < n; i++)
        delete_in(l, dir, containers[i]);
}

/* ---- Lists ---- */

static int settle(struct logs_rolling *r, size_t i, struct logs_store *s, struct sv_error *err)
{
    struct logs_list *l = r->lists[i];
    int there;

    if (!*logs_list_unsettled(l))
        return 0;
    there = logs_store_exists(s, logs_list_unsettled(l), err);
    if (there < 0)
        return there;
    logs_list_settle(l, there > 0);
    if (!r->u->app_runs)
        return 0;
    if (r->u->delete_uploaded)
        delete_current(l, r->dirs[i]);
    return logs_list_write(l, err);
}

int logs_rolling_start(struct logs_rolling *r, struct logs_store *s, const int *dirs, size_t n,
                       char note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err)
{
    int k = 0;

    *r = (struct logs_rolling){ .u = s->u, .dirs = dirs, .n = n };
    for (size_t i = 0; k == 0 && *s->u->text[LOGS_ROLLED_INCLUDE] && i < n; i++) {
        bool malformed = false;

        k = logs_list_read(dirs[i], &r->lists[i], &malformed, err);
        if (malformed)
            (void)snprintf(note, LOGS_UPLOAD_TEXT_MAX,
                           "%s of a log directory is malformed: some logs may be uploaded twice",
                           LOGS_LIST_NAME);
        if (k == 0)
            k = settle(r, i, s, err);
    }
    return k;
}

void logs_rolling_end(struct logs_rolling *r)
{
    for (size_t i = 0; i < r->n; i++)
        r->lists[i] = logs_list_free(r->lists[i]);
}

bool logs_rolling_wants(struct logs_rolling *r, size_t dir, const struct stat *st, bool *ret_full)
{
    struct logs_list *l = r->lists[dir];

    *ret_full = false;
    if (!l)
        return true;
    if (logs_list_has(l, st))
        return false;
    *ret_full = r->u->app_runs && logs_list_add(l, st) < 0;
    return !*ret_full;
}

void logs_rolling_again(struct logs_rolling *r)
{
    for (size_t i = 0; r->u->app_runs && i < r->n; i++)
        if (r->lists[i])
            logs_list_start_again(r->lists[i]);
}

int logs_rolling_announce(struct logs_rolling *r, const struct logs_store *s, struct sv_error *err)
{
    int k = 0;

    for (size_t i = 0; r->u->app_runs && k == 0 && i < r->n; i++)
        if (r->lists[i] && logs_list_current(r->lists[i]) > 0)
            k = logs_list_announce(r->lists[i], s->name, err);
    return k;
}

int logs_rolling_done(struct logs_rolling *r, struct sv_error *err)
{
    int k = 0;

    for (size_t i = 0; r->u->app_runs && k == 0 && i < r->n; i++) {
        if (!r->lists[i] || logs_list_current(r->lists[i]) == 0)
            continue;
        if (r->u->delete_uploaded)
            delete_current(r->lists[i], r->dirs[i]);
        k = logs_list_write(r->lists[i], err);
    }
    return k;
}

/* ---- Remote files ---- */

/* Returns the milliseconds of "NODE_TIME", 0 for "NODE", -1 for another node's file. */
static int64_t time_of(const char *name, const char *node)
{
    size_t n = strlen(node);
    uint64_t t = 0;

    if (strncmp(name, node, n) != 0)
        return -1;
    if (!name[n])
        return 0;
    return name[n] == '_' && sv_parse_u64(name + n + 1, 1, INT64_MAX, &t) == 0 ? (int64_t)t : -1;
}

static int by_time(const void *a, const void *b, void *node)
{
    int64_t x = time_of(*(char *const *)a, node), y = time_of(*(char *const *)b, node);

    return x < y ? -1 : x > y;
}

void logs_rolling_remove_oldest(struct logs_store *s)
{
    struct logs_names names = { 0 };
    char *node = s->u->text[LOGS_FILE];
    struct sv_error err = { 0 };
    size_t own = 0;
    int r = logs_names_list(s->fs, "", &names, &err);

    for (size_t i = 0; r == 0 && i < names.n; i++)
        if (time_of(names.v[i], node) >= 0) {
            char *name = names.v[own];

            names.v[own++] = names.v[i];
            names.v[i] = name;
        }
    if (r == 0 && own > s->u->files_max)
        qsort_r(names.v, own, sizeof(*names.v), by_time, node);
    for (size_t i = 0; r == 0 && i + s->u->files_max < own; i++)
        r = fs_remove(s->fs, names.v[i], &err);
    if (r < 0)
        sv_log_info("%s: cannot delete old remote logs: %s; the next upload retries, ignoring",
                    s->u->text[LOGS_APP], err.text);
    sv_strv_free(names.v);
}
