/* See policy.h. */
#include "localizer/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/str.h"

#define SHOWN 400 /* bytes of an escaped name in a text */

static bool has_control(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            return true;
    return false;
}

/* True for a name that is absolute or leaves the tree if '\' is a separator: only hostile tools
 * write these. */
static bool is_windows_escape(const char *s)
{
    bool drive = (s[0] >= 'A' && s[0] <= 'Z') || (s[0] >= 'a' && s[0] <= 'z');

    if ((drive && s[1] == ':' && (s[2] == '\\' || s[2] == '/' || s[2] == 0)) || s[0] == '\\')
        return true;
    while (*s) {
        size_t n = strcspn(s, "/\\");

        if (n == 2 && s[0] == '.' && s[1] == '.')
            return true;
        s += n;
        s += *s ? 1 : 0;
    }
    return false;
}

static const char *over(const char *what, uint32_t limit, const char *unit)
{
    static char text[80];

    (void)snprintf(text, sizeof(text), "%s %u %s", what, limit, unit);
    return text;
}

int loc_policy_path(const struct loc_limits *l, const char *raw, char path[LOC_PATH_MAX + 1],
                    const char **why)
{
    size_t len = 0, depth = 0;
    const char *s = raw;

    *why = "empty name";
    if (!raw || !raw[0])
        return -EPERM;
    *why = over("path is longer than", l->path, "bytes");
    if (strnlen(raw, l->path + 1) > l->path)
        return -ENAMETOOLONG;
    *why = "absolute path";
    if (raw[0] == '/')
        return -EPERM;
    *why = "control byte in name";
    if (has_control(raw))
        return -EPERM;
    *why = "'..' or drive in path";
    if (is_windows_escape(raw))
        return -EPERM;
    while (*s) {
        size_t n = strcspn(s, "/");

        if (n > 0 && !(n == 1 && s[0] == '.')) {
            *why = "component is longer than 255 bytes";
            if (n > LOC_COMPONENT_MAX)
                return -ENAMETOOLONG;
            *why = over("path is deeper than", l->depth, "components");
            if (++depth > l->depth)
                return -ENAMETOOLONG;
            if (len > 0)
                path[len++] = '/';
            memcpy(path + len, s, n); /* never longer than raw */
            len += n;
        }
        s += n;
        s += *s ? 1 : 0;
    }
    path[len] = 0;
    *why = NULL;
    return 0;
}

int loc_policy_symlink(const struct loc_limits *l, const char *path, const char *target,
                       const char **why)
{
    size_t depth = 0, up = 0; /* depth of the directory that holds the link */
    bool down = false;
    const char *s = target;

    for (const char *p = path; *p; p++)
        depth += *p == '/';
    *why = "empty link target";
    if (!target || !target[0])
        return -EPERM;
    *why = over("link target is longer than", l->path, "bytes");
    if (strnlen(target, l->path + 1) > l->path)
        return -ENAMETOOLONG;
    *why = "absolute link target";
    if (target[0] == '/')
        return -EPERM;
    *why = "control byte in link target";
    if (has_control(target))
        return -EPERM;
    while (*s) {
        size_t n = strcspn(s, "/");

        if (n == 2 && s[0] == '.' && s[1] == '.') {
            *why = "link target has '..' after a name";
            if (down)
                return -EPERM;
            *why = "link target leads out of the archive";
            if (++up > depth)
                return -EPERM;
        } else if (n > 0 && !(n == 1 && s[0] == '.')) {
            *why = "component of link target is longer than 255 bytes";
            if (n > LOC_COMPONENT_MAX)
                return -ENAMETOOLONG;
            down = true;
        }
        s += n;
        s += *s ? 1 : 0;
    }
    *why = NULL;
    return 0;
}

static int refuse(const struct loc_policy *p, struct sv_error *err, int code, const char *path,
                  const char *why)
{
    char shown[SHOWN];

    sv_escape(shown, sizeof(shown), path ? path : "");
    return sv_error_set(err, code == -ENAMETOOLONG ? -EFBIG : code, "%s refused: entry \"%s\": %s",
                        p->what, shown, why);
}

static int count_entry(struct loc_policy *p, const char *path, struct sv_error *err)
{
    if (p->entries >= p->limits.entries)
        return refuse(p, err, -EFBIG, path, "too many entries");
    p->entries++;
    return 0;
}

int loc_policy_implied_dir(struct loc_policy *p, const char *path, struct sv_error *err)
{
    return count_entry(p, path, err);
}

static int kind_of(const struct loc_entry *e, enum loc_entry_kind *ret, const char **why)
{
    if (e->hardlink) { /* tar stores the mode of the target */
        *why = "hard link to something else than a file";
        if (!S_ISREG(e->mode) && (e->mode & S_IFMT) != 0)
            return -EPERM;
        *ret = LOC_ENTRY_HARDLINK;
    } else if (S_ISREG(e->mode)) {
        *why = "file with a link target";
        if (e->symlink)
            return -EPERM;
        *ret = LOC_ENTRY_FILE;
    } else if (S_ISDIR(e->mode)) {
        *ret = LOC_ENTRY_DIR;
    } else if (S_ISLNK(e->mode)) {
        *ret = LOC_ENTRY_SYMLINK;
    } else {
        *why = S_ISCHR(e->mode) || S_ISBLK(e->mode) ? "device node"
               : S_ISFIFO(e->mode)                  ? "FIFO"
               : S_ISSOCK(e->mode)                  ? "socket"
                                                    : "unknown type of entry";
        return -EPERM;
    }
    return 0;
}

int loc_policy_entry(struct loc_policy *p, const struct loc_entry *e, char path[LOC_PATH_MAX + 1],
                     enum loc_entry_kind *ret_kind, struct sv_error *err)
{
    enum loc_entry_kind kind = 0;
    const char *why = NULL;
    char link[LOC_PATH_MAX + 1];
    int r;

    r = count_entry(p, e->path, err);
    if (r < 0)
        return r;
    r = loc_policy_path(&p->limits, e->path, path, &why);
    if (r == 0)
        r = kind_of(e, &kind, &why);
    if (r == 0 && path[0] == 0 && kind != LOC_ENTRY_DIR) {
        why = "root of the archive is not a directory";
        r = -EPERM;
    }
    if (r == 0 && kind == LOC_ENTRY_SYMLINK)
        r = loc_policy_symlink(&p->limits, path, e->symlink, &why);
    if (r == 0 && kind == LOC_ENTRY_HARDLINK) {
        r = loc_policy_path(&p->limits, e->hardlink, link, &why);
        if (r == 0 && link[0] == 0) {
            why = "hard link to a directory";
            r = -EPERM;
        }
    }
    if (r == 0 && kind == LOC_ENTRY_FILE &&
        (e->size < -1 || (e->size >= 0 && (uint64_t)e->size > p->limits.bytes - p->bytes))) {
        why = "larger than the limit";
        r = -EFBIG;
    }
    if (r < 0)
        return refuse(p, err, r, e->path, why);
    *ret_kind = kind;
    return 0;
}

int loc_policy_bytes(struct loc_policy *p, uint64_t n, uint64_t packed, const char *path,
                     struct sv_error *err)
{
    if (n > p->limits.bytes - p->bytes)
        return refuse(p, err, -EFBIG, path, "the content is more than the limit");
    p->bytes += n;
    if (p->bytes > LOC_RATIO_FROM && p->bytes / p->limits.ratio > packed)
        return refuse(p, err, -EFBIG, path,
                      over("archive unpacks to more than", p->limits.ratio, "times its size"));
    return 0;
}
