/* See log-files.h. */
#include "nodemanager/core/log-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"

int nm_log_files_dir(const char *top, struct yarn_container_id id, uid_t *ret_owner)
{
    char path[2 * YARN_ID_TEXT_MAX], app[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];
    _cleanup_close_ int parent = -1, dir = -1;
    struct stat st;

    parent = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return -errno;
    snprintf(path, sizeof(path), "%s/%s", yarn_app_id_text(id.attempt.app, app),
             yarn_container_id_text(id, container));
    dir = sv_open_beneath(parent, path, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return dir;
    if (fstat(dir, &st) < 0)
        return -errno;
    *ret_owner = st.st_uid;
    return sv_take_fd(&dir);
}

/* Copies for debugging (yarn.nodemanager.log-container-debug-info.enabled): the script exports the
 * job's environment, where jobs keep passwords. Only their owner can read them, on disk. */
static bool is_debug_info(const char *name)
{
    return sv_streq(name, "launch_container.sh") || sv_streq(name, "directory.info");
}

/* True for a file that may be shown and sent: a regular file of the directory's owner with one
 * link; another could be a link to any file of the account. */
static bool served(const char *name, const struct stat *st, uid_t owner)
{
    return S_ISREG(st->st_mode) && st->st_uid == owner && st->st_nlink == 1 && !is_debug_info(name);
}

void nm_log_list_free(struct nm_log_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->entries[i].name);
    free(l->entries);
    *l = (struct nm_log_list){ 0 };
}

/* Reads the entries of `d`. */
static int read_entries(DIR *d, uid_t owner, struct nm_log_list *l)
{
    const struct dirent *e;
    struct stat st;

    while (l->read < NM_LOG_ENTRIES_MAX && (e = readdir(d))) {
        l->read++;
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !served(e->d_name, &st, owner))
            continue;
        l->entries[l->n] = (struct nm_log_entry){ .name = strdup(e->d_name),
                                                  .size = st.st_size,
                                                  .modified_s = st.st_mtim.tv_sec };
        if (!l->entries[l->n].name)
            return -ENOMEM;
        l->n++;
    }
    return 0;
}

int nm_log_files_list(const char *top, struct yarn_container_id id, struct nm_log_list *ret)
{
    struct nm_log_list l = { 0 };
    uid_t owner = 0;
    int fd = nm_log_files_dir(top, id, &owner), r;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

    if (!d) {
        r = fd < 0 ? fd : -errno;
        sv_close(fd);
        return r;
    }
    l.entries = calloc(NM_LOG_ENTRIES_MAX, sizeof(*l.entries));
    r = l.entries ? read_entries(d, owner, &l) : -ENOMEM;
    closedir(d);
    if (r < 0)
        nm_log_list_free(&l);
    else
        *ret = l;
    return r;
}

int nm_log_files_open(const char *top, struct yarn_container_id id, const char *name,
                      struct stat *ret_stat)
{
    _cleanup_close_ int dir = -1, fd = -1;
    struct stat st;
    uid_t owner = 0;

    dir = nm_log_files_dir(top, id, &owner);
    if (dir < 0)
        return dir;
    fd = sv_open_beneath(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return -errno;
    if (!served(name, &st, owner))
        return -ENOENT;
    *ret_stat = st;
    return sv_take_fd(&fd);
}
