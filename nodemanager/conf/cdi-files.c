/* See cdi-spec.h: the directories. A file of somebody else, or one that others may write, could
 * give jobs any device: it is not read. */
#include "nodemanager/conf/cdi-spec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"

struct loader {
    const char *kind;
    uid_t owner;
    nm_cdi_tell tell;
    void *userdata;
    struct nm_cdi *cdi;
};

_printf_(2, 3) static void tell(const struct loader *l, const char *fmt, ...)
{
    char text[PATH_MAX + SV_ERROR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    l->tell(text, l->userdata);
}

/* NULL, or why nothing below it, or of it, is believed. */
static const char *distrusted(const struct loader *l, const struct stat *st)
{
    if (st->st_uid != l->owner)
        return "it is not root's: chown root it";
    return st->st_mode & 022 ? "others than root may write it: chmod go-w it" : NULL;
}

/* The file's bytes, malloc'd; NULL: told. */
static char *read_trusted(const struct loader *l, int dir, const char *name, const char *shown,
                          size_t *ret_len)
{
    _cleanup_close_ int fd =
        openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const char *why = NULL;
    size_t got = 0;
    struct stat st;
    char *text;

    if (fd < 0 || fstat(fd, &st) < 0) {
        tell(l, "%s is not read: %s", shown, errno == ELOOP ? "it is a link" : strerror(errno));
        return NULL;
    }
    why = !S_ISREG(st.st_mode)                  ? "it is no file"
          : st.st_size > (off_t)NM_CDI_FILE_MAX ? "it is larger than 1 MiB"
                                                : distrusted(l, &st);
    if (why) {
        tell(l, "%s is not read: %s", shown, why);
        return NULL;
    }
    text = malloc((size_t)st.st_size + 1);
    while (text && got < (size_t)st.st_size) {
        ssize_t n = read(fd, text + got, (size_t)st.st_size - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    if (!text || got < (size_t)st.st_size) {
        tell(l, "%s is not read: %s", shown, text ? "it changed while it was read" : "no memory");
        free(text);
        return NULL;
    }
    *ret_len = got;
    return text;
}

static void tell_refused(const struct loader *l, const struct nm_cdi_spec *s, const char *device,
                         const struct nm_cdi_edits *e)
{
    if (e->refused)
        tell(
            l,
            "%s: %s: %s: refused: nothing of root's is run for a container, and its groups are its "
            "user's; the other parts apply. Do by a unit of the host what hooks would do "
            "(ldconfig: once, after an update of the driver)",
            s->file, device, e->refused);
}

static void add_file(struct loader *l, int dir, const char *where, const char *name)
{
    _cleanup_free_ char *text = NULL;
    struct nm_cdi_spec *s = NULL;
    struct sv_error err = { 0 };
    char shown[PATH_MAX], escaped[300];
    size_t len;

    sv_escape(escaped, sizeof(escaped), name);
    (void)snprintf(shown, sizeof(shown), "%.64s/%s", where, escaped);
    if (!sv_has_suffix(name, ".json")) {
        if (sv_has_suffix(name, ".yaml") || sv_has_suffix(name, ".yml"))
            tell(l, "%s is not read: JSON is: nvidia-ctk cdi generate --format=json", shown);
        return;
    }
    text = read_trusted(l, dir, name, shown, &len);
    if (!text)
        return;
    if (nm_cdi_parse(text, len, shown, &s, &err) < 0) {
        tell(l, "%s: nothing of this file is used", err.text);
        return;
    }
    if (!sv_streq(s->kind, l->kind) || l->cdi->n == NM_CDI_FILES_MAX) {
        if (l->cdi->n == NM_CDI_FILES_MAX)
            tell(l, "%s is not used: %d files are", shown, NM_CDI_FILES_MAX);
        (void)nm_cdi_spec_free(s);
        return;
    }
    l->cdi->specs[l->cdi->n++] = s;
    tell_refused(l, s, "containerEdits", &s->all);
    for (size_t i = 0; i < s->n; i++)
        tell_refused(l, s, s->devices[i].name, &s->devices[i].edits);
}

static int no_dots(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void add_dir(struct loader *l, const char *root, const char *where)
{
    struct dirent **names = NULL;
    const char *why;
    char path[PATH_MAX];
    struct stat st;
    int n = -1;

    (void)snprintf(path, sizeof(path), "%s%s", root, where);
    _cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && errno == ENOENT)
        return;
    why = dir < 0 || fstat(dir, &st) < 0 ? strerror(errno) : distrusted(l, &st);
    if (!why && (n = scandirat(dir, ".", &names, no_dots, alphasort)) < 0)
        why = strerror(errno);
    if (why)
        tell(l, "%s is not read: %s", where, why);
    for (int i = 0; i < n; i++) {
        add_file(l, dir, where, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

int nm_cdi_load(const char *root, const char *kind, uid_t owner, nm_cdi_tell fn, void *userdata,
                struct nm_cdi **ret)
{
    struct loader l = { .kind = kind, .owner = owner, .tell = fn, .userdata = userdata };

    l.cdi = calloc(1, sizeof(*l.cdi));
    if (!l.cdi)
        return -ENOMEM;
    add_dir(&l, root, "/etc/cdi");
    add_dir(&l, root, "/var/run/cdi");
    *ret = l.cdi;
    return 0;
}

struct nm_cdi *nm_cdi_free(struct nm_cdi *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        (void)nm_cdi_spec_free(c->specs[i]);
    free(c);
    return NULL;
}

const struct nm_cdi_device *nm_cdi_find(const struct nm_cdi *c, const char *name,
                                        const struct nm_cdi_spec **ret_spec)
{
    for (size_t i = c ? c->n : 0; i-- > 0;)
        for (size_t k = 0; k < c->specs[i]->n; k++)
            if (sv_streq(c->specs[i]->devices[k].name, name)) {
                *ret_spec = c->specs[i];
                return &c->specs[i]->devices[k];
            }
    return NULL;
}
