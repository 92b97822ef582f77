/* See log-search.h. A container has a directory below each log directory. A file is taken from the
 * one that it was launched with if that has it; of a container that the node has forgotten, from
 * the first disk that finds it: a disk that hangs delays only the logs that it has. A list waits
 * for all. */
#include "nodemanager/services/log-search.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/fd.h"
#include "executor/request.h"
#include "fs/url.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/log-disks.h"

/* The thread's part. */
struct look {
    char *top;
    struct yarn_container_id id;
    char name[NAME_MAX + 1]; /* "": the list */
    int result, fd;
    struct stat st;
    struct nm_log_list list;
};

struct part { /* of one log directory */
    struct nm_log_search *search;
    int disk, result;
    bool pending;
    struct nm_log_list list;
    struct nm_log_file file; /* fd -1: none */
};

struct nm_log_search {
    const struct nm_context *ctx;
    struct part parts[EXE_DIRS_MAX];
    int n, pending;
    int preferred; /* the container's log directory; -1: unknown */
    bool files, ended, freed;
    struct sv_error unread;
    void (*done)(void *userdata);
    void *userdata;
};

/* ---- On the thread ---- */

static void look(void *data)
{
    struct look *l = data;

    if (!*l->name) {
        l->result = nm_log_files_list(l->top, l->id, &l->list);
        return;
    }
    l->fd = nm_log_files_open(l->top, l->id, l->name, &l->st);
    l->result = SV_MIN(l->fd, 0);
}

static void look_free(void *data)
{
    struct look *l = data;

    sv_close(l->fd); /* given up: on the thread */
    nm_log_list_free(&l->list);
    free(l->top);
    free(l);
}

/* ---- The search ---- */

struct nm_log_search *nm_log_search_free(struct nm_log_search *s)
{
    if (!s)
        return NULL;
    s->freed = true;
    if (s->pending)
        return NULL;
    for (int i = 0; i < s->n; i++) {
        nm_log_list_free(&s->parts[i].list);
        if (s->parts[i].file.fd >= 0)
            nm_log_disks_close(s->ctx->log_disks, i, s->parts[i].file.fd);
    }
    free(s);
    return NULL;
}

/* True for a directory that has what is looked for. */
static bool has_it(const struct part *p)
{
    return !p->pending && p->result >= 0;
}

static bool decided(const struct nm_log_search *s)
{
    if (!s->pending)
        return true;
    if (!s->files || (s->preferred >= 0 && s->parts[s->preferred].pending))
        return false;
    for (int i = 0; i < s->n; i++)
        if (has_it(&s->parts[i]))
            return true;
    return false;
}

/* True for an error of the disk or the daemon. Others come from what the job has put there, and
 * mean that it has no such log. */
static bool is_of_disk(int result)
{
    static const int errors[] = { ETIMEDOUT, EIO,    ESTALE, ENOTCONN, EUCLEAN,
                                  EMFILE,    ENFILE, ENOMEM, ECANCELED };

    for (size_t i = 0; i < SV_ARRAY_LEN(errors); i++)
        if (result == -errors[i])
            return true;
    return false;
}

static void on_looked(int status, void *data, void *userdata)
{
    struct part *p = userdata;
    struct nm_log_search *s = p->search;
    struct look *l = data;

    p->pending = false;
    s->pending--;
    p->result = status < 0 ? status : l->result;
    if (status >= 0) {
        p->list = l->list;
        l->list = (struct nm_log_list){ 0 };
        p->file = (struct nm_log_file){ p->disk, sv_take_fd(&l->fd), l->st };
    }
    if (is_of_disk(p->result) && !s->unread.code)
        nm_log_disks_why(s->ctx->log_disks, p->disk, p->result, &s->unread);
    if (s->freed) {
        (void)nm_log_search_free(s);
    } else if (!s->ended && decided(s)) {
        s->ended = true;
        s->done(s->userdata);
    }
}

static int ask(struct nm_log_search *s, struct part *p, struct yarn_container_id id,
               const char *name)
{
    struct look *l = calloc(1, sizeof(*l));
    const struct sv_job job = {
        .data = l, .run = look, .done = on_looked, .free = look_free, .userdata = p
    };
    struct sv_error why = { 0 };
    int r = -ENOMEM;

    if (!l)
        return r;
    *l = (struct look){ .id = id, .fd = -1, .top = strdup(nm_dirs_log(s->ctx->dirs, p->disk)) };
    if (name)
        memcpy(l->name, name, strlen(name) + 1);
    if (l->top)
        r = nm_log_disks_run(s->ctx->log_disks, p->disk, NM_LOG_DISK_READERS, &job, &why);
    if (r < 0) {
        look_free(l);
        if (!s->unread.code)
            s->unread = why;
        return r;
    }
    p->pending = true;
    s->pending++;
    return 0;
}

int nm_log_search_new(const struct nm_context *ctx, struct yarn_container_id id, const char *name,
                      void (*done)(void *userdata), void *userdata, struct nm_log_search **ret)
{
    char text[YARN_ID_TEXT_MAX];
    const struct nm_container *c = nm_container_find(ctx, yarn_container_id_text(id, text));
    struct nm_log_search *s;
    int r = 0;

    if (name && !fs_name_valid(name))
        return -EINVAL;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    *s = (struct nm_log_search){ .ctx = ctx,
                                 .n = nm_dirs_n_log(ctx->dirs),
                                 .preferred = -1,
                                 .files = name,
                                 .done = done,
                                 .userdata = userdata };
    if (c && c->launch.log_dir >= 0 && c->launch.log_dir < s->n)
        s->preferred = c->launch.log_dir;
    for (int i = 0; i < s->n; i++)
        s->parts[i] =
            (struct part){ .search = s, .disk = i, .result = -ENOENT, .file = { i, -1, { 0 } } };
    for (int i = 0; i < s->n && r != -ENOMEM; i++)
        r = ask(s, &s->parts[i], id, name);
    if (r == -ENOMEM) {
        (void)nm_log_search_free(s);
        return r;
    }
    s->ended = !s->pending;
    *ret = s;
    return 0;
}

bool nm_log_search_ended(const struct nm_log_search *s)
{
    return s->ended;
}

/* ---- Results ---- */

const char *nm_log_search_unread(const struct nm_log_search *s)
{
    return s->unread.code ? s->unread.text : NULL;
}

bool nm_log_search_each(const struct nm_log_search *s,
                        void (*fn)(const struct nm_log_entry *e, void *userdata), void *userdata)
{
    bool found = false;
    size_t shown = 0;

    for (int i = 0; i < s->n; i++) {
        const struct part *p = &s->parts[i];

        if (!has_it(p))
            continue;
        found = true;
        for (size_t e = 0; fn && e < p->list.n && shown < NM_LOG_ENTRIES_MAX; e++) {
            fn(&p->list.entries[e], userdata);
            shown++;
        }
    }
    return found;
}

int nm_log_search_entries(const struct nm_log_search *s, bool *ret_cut)
{
    int entries = 0;

    *ret_cut = false;
    for (int i = 0; i < s->n; i++) {
        entries += s->parts[i].list.read;
        *ret_cut = *ret_cut || s->parts[i].list.read == NM_LOG_ENTRIES_MAX;
    }
    *ret_cut = *ret_cut || entries > NM_LOG_ENTRIES_MAX;
    return entries;
}

/* The disk that has the file; -1: none. */
static int disk_of(const struct nm_log_search *s)
{
    if (s->preferred >= 0 && s->parts[s->preferred].file.fd >= 0)
        return s->preferred;
    for (int i = 0; i < s->n; i++)
        if (s->parts[i].file.fd >= 0)
            return i;
    return -1;
}

const struct nm_log_file *nm_log_search_file(const struct nm_log_search *s)
{
    int disk = disk_of(s);

    return disk < 0 ? NULL : &s->parts[disk].file;
}

bool nm_log_search_take(struct nm_log_search *s, struct nm_log_file *ret)
{
    int disk = disk_of(s);

    if (disk < 0)
        return false;
    *ret = s->parts[disk].file;
    s->parts[disk].file.fd = -1;
    return true;
}
