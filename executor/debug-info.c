/* See debug-info.h.
 *
 * One walk in place of cp, chmod, ls and find twice, which took half of the processor time of a
 * short container. */
#include "executor/debug-info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT "launch_container.sh"
#define DEPTH 5
#define HALF_A_YEAR (31556952 / 2)

/* "drwxr-sr-t" */
static void mode_text(mode_t mode, char buf[11])
{
    static const char types[] = "?pc?d?b?-?l?s???", all[] = "rwxrwxrwx";
    buf[0] = types[mode >> 12 & 15];
    for (int i = 0; i < 9; i++)
        buf[1 + i] = mode & (0400 >> i) ? all[i] : '-';
    if (mode & S_ISUID)
        buf[3] = mode & S_IXUSR ? 's' : 'S';
    if (mode & S_ISGID)
        buf[6] = mode & S_IXGRP ? 's' : 'S';
    if (mode & S_ISVTX)
        buf[9] = mode & S_IXOTH ? 't' : 'T';
    buf[10] = '\0';
}

/* Names are looked up once: the files of a container have one owner or two. */
static const char *user_name(uid_t uid)
{
    static char name[64];
    static uid_t last;
    if (*name && last == uid)
        return name;
    const struct passwd *p = getpwuid(uid);
    if (p)
        (void)snprintf(name, sizeof(name), "%s", p->pw_name);
    else
        (void)snprintf(name, sizeof(name), "%u", (unsigned)uid);
    last = uid;
    return name;
}

static const char *group_name(gid_t gid)
{
    static char name[64];
    static gid_t last;
    if (*name && last == gid)
        return name;
    const struct group *g = getgrgid(gid);
    if (g)
        (void)snprintf(name, sizeof(name), "%s", g->gr_name);
    else
        (void)snprintf(name, sizeof(name), "%u", (unsigned)gid);
    last = gid;
    return name;
}

/* "Nov 22 18:52", or the year if it is older than half a year. */
static void time_text(time_t t, char buf[16])
{
    static time_t now;
    struct tm tm;
    now = now ? now : time(NULL);
    const bool recent = t > now - HALF_A_YEAR && t <= now;
    if (!localtime_r(&t, &tm) || strftime(buf, 16, recent ? "%b %e %H:%M" : "%b %e  %Y", &tm) == 0)
        (void)snprintf(buf, 16, "?");
}

static void size_text(const struct stat *st, char buf[32])
{
    if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
        (void)snprintf(buf, 32, "%u, %3u", major(st->st_rdev), minor(st->st_rdev));
    else
        (void)snprintf(buf, 32, "%jd", (intmax_t)st->st_size);
}

/* ---- ls -l ----------------------------------------------------------------------------------*/

struct widths {
    int links, user, group, size;
    intmax_t blocks;
};

static int shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int wider(int width, int n)
{
    return n > width ? n : width;
}

static void measure(const struct stat *st, struct widths *w)
{
    char text[32];
    w->links = wider(w->links, snprintf(text, sizeof(text), "%ju", (uintmax_t)st->st_nlink));
    w->user = wider(w->user, (int)strlen(user_name(st->st_uid)));
    w->group = wider(w->group, (int)strlen(group_name(st->st_gid)));
    size_text(st, text);
    w->size = wider(w->size, (int)strlen(text));
    w->blocks += st->st_blocks;
}

static void put_target(FILE *out, const char *path, void (*put)(FILE *, const char *))
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target) - 1);
    if (n < 0)
        return;
    target[n] = '\0';
    (void)fputs(" -> ", out);
    put(out, target);
}

static void put_plain(FILE *out, const char *s)
{
    (void)fputs(s, out);
}

static void list_short(FILE *out)
{
    struct dirent **names;
    struct widths w = { 0 };
    struct stat st;
    char mode[11], size[32], when[16];
    int n = scandir(".", &names, shown, alphasort);
    if (n < 0) {
        (void)fprintf(out, "'.': %s\n", strerror(errno));
        return;
    }
    for (int i = 0; i < n; i++)
        if (lstat(names[i]->d_name, &st) == 0)
            measure(&st, &w);
    (void)fprintf(out, "total %jd\n", w.blocks / 2);
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        if (lstat(name, &st) == 0) {
            mode_text(st.st_mode, mode);
            size_text(&st, size);
            time_text(st.st_mtime, when);
            (void)fprintf(out, "%s %*ju %-*s %-*s %*s %s %s", mode, w.links, (uintmax_t)st.st_nlink,
                          w.user, user_name(st.st_uid), w.group, group_name(st.st_gid), w.size,
                          size, when, name);
            if (S_ISLNK(st.st_mode))
                put_target(out, name, put_plain);
            (void)fputc('\n', out);
        }
        free(names[i]);
    }
    free(names);
}

/* ---- find -L . -maxdepth 5 -ls ------------------------------------------------------------*/

struct level { /* a directory being read */
    const struct level *above;
    int depth;
    dev_t dev;
    ino_t ino;
};

/* Escapes blanks and unprintable characters as find does. */
static void put_escaped(FILE *out, const char *s)
{
    static const char from[] = "\\\n\b\r\t\f \"", to[] = "\\nbrtf \"";
    for (; *s; s++) {
        const char *special = strchr(from, *s);
        if (special)
            (void)fprintf(out, "\\%c", to[special - from]);
        else if (*s > ' ' && *s < 0x7f)
            (void)fputc(*s, out);
        else
            (void)fprintf(out, "\\%03o", (unsigned char)*s);
    }
}

static void put_row(FILE *out, const char *path, const struct stat *st)
{
    char mode[11], size[32], when[16];
    mode_text(st->st_mode, mode);
    size_text(st, size);
    time_text(st->st_mtime, when);
    (void)fprintf(out, "%9ju %6jd %s %3ju %-8s %-8s %8s %s ", (uintmax_t)st->st_ino,
                  (intmax_t)(st->st_blocks + 1) / 2, mode, (uintmax_t)st->st_nlink,
                  user_name(st->st_uid), group_name(st->st_gid), size, when);
    put_escaped(out, path);
    if (S_ISLNK(st->st_mode))
        put_target(out, path, put_escaped);
    (void)fputc('\n', out);
}

static void note(FILE *out, const char *path, const char *why)
{
    (void)fputc('\'', out);
    put_escaped(out, path);
    (void)fprintf(out, "': %s\n", why);
}

static bool is_above(const struct level *l, const struct stat *st)
{
    for (; l; l = l->above)
        if (l->dev == st->st_dev && l->ino == st->st_ino)
            return true;
    return false;
}

static void list_directory(FILE *out, FILE *broken, char path[PATH_MAX], const struct level *l);

/* Lists one entry and its children. Follows links; a broken link is a row of its own, in `broken`,
 * too. */
static void list_one(FILE *out, FILE *broken, char path[PATH_MAX], const struct level *above)
{
    struct stat st;
    if (stat(path, &st) < 0 && (errno != ENOENT || lstat(path, &st) < 0)) {
        note(out, path, strerror(errno));
        return;
    }
    if (S_ISDIR(st.st_mode) && is_above(above, &st)) {
        note(out, path, "loop of directories");
        return;
    }
    put_row(out, path, &st);
    if (S_ISLNK(st.st_mode))
        put_row(broken, path, &st);
    const struct level l = { above, above ? above->depth + 1 : 0, st.st_dev, st.st_ino };
    if (S_ISDIR(st.st_mode) && l.depth < DEPTH)
        list_directory(out, broken, path, &l);
}

static void list_directory(FILE *out, FILE *broken, char path[PATH_MAX], const struct level *l)
{
    const size_t n = strlen(path);
    DIR *d = opendir(path);
    if (!d) {
        note(out, path, strerror(errno));
        return;
    }
    for (const struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            n + 1 + strlen(e->d_name) >= PATH_MAX)
            continue;
        (void)snprintf(path + n, PATH_MAX - n, "/%s", e->d_name);
        list_one(out, broken, path, l);
        path[n] = '\0';
    }
    (void)closedir(d);
}

/* ---- both files -----------------------------------------------------------------------------*/

static void failed(const char *what)
{
    (void)fprintf(stderr, "container-debug-info: %s: %s\n", what, strerror(errno));
}

static void write_listing(int dir)
{
    char path[PATH_MAX] = ".", *text = NULL;
    size_t n = 0;
    int fd =
        openat(dir, "directory.info", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "a"), *broken = open_memstream(&text, &n);
    if (out && broken) {
        (void)fputs("ls -l:\n", out);
        list_short(out);
        (void)fputs("find -L . -maxdepth 5 -ls:\n", out);
        list_one(out, broken, path, NULL);
        (void)fputs("broken symlinks(find -L . -maxdepth 5 -type l -ls):\n", out);
        if (fflush(broken) == 0)
            (void)fwrite(text, 1, n, out);
    }
    if (!out || !broken || fflush(out) != 0)
        failed("directory.info");
}

static void copy_script(int dir)
{
    char buf[16384];
    ssize_t n = -1;
    int from = open(SCRIPT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = from < 0
                 ? -1
                 : openat(dir, SCRIPT, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (to >= 0 && fchmod(to, 0640) == 0)
        while ((n = read(from, buf, sizeof(buf))) > 0 && (n = write(to, buf, (size_t)n)) > 0)
            ;
    if (n != 0)
        failed(SCRIPT);
}

void debug_info_write(const char *log_dir)
{
    int dir = open(log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        failed(log_dir);
        return;
    }
    copy_script(dir);
    write_listing(dir);
    (void)close(dir);
}
