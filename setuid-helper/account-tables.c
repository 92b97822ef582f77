/* /etc/passwd and /etc/group of a sandbox for an account that root's do not have (LDAP, SSSD): no
 * socket of a name service is opened to a job, so its account is in the tables of files, and no
 * other of the service is. Runs in the launched child, so that the memory is charged to the
 * process' own cgroup. Hostile: the names that user-lookup brings.
 *
 * Root's lines MUST come first, so that none of them is replaced. A text of the service MUST stay
 * one field of one line. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "setuid-helper/mounts.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* No separator, no control character, and at the front nothing that a reader of the tables takes
 * for something else. */
static bool is_field(const char text[HLP_FIELD_MAX])
{
    const size_t n = strnlen(text, HLP_FIELD_MAX);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' || strchr(":,\x7f", text[i]))
            return false;
    return n > 0 && n < HLP_FIELD_MAX && !strchr(" +-#", text[0]);
}

static const char *path_or(const char text[HLP_FIELD_MAX], const char *otherwise)
{
    return is_field(text) && text[0] == '/' ? text : otherwise;
}

static void put(int to, const char *text, size_t n)
{
    if (write(to, text, n) != (ssize_t)n)
        hlp_fail(EXE_STATUS_MOUNT, errno, "account tables");
}

static void passwd_line(const struct hlp *h, int to)
{
    char line[2 * HLP_FIELD_MAX + EXE_USER_MAX + 32];
    const struct hlp_user *u = &h->user;
    put(to, line,
        hlp_format(line, sizeof(line), "%s:x:%u:%u::%s:%s\n", u->name, u->uid, u->gid,
                   path_or(h->account->home, "/"), path_or(h->account->shell, "/bin/sh")));
}

/* The account is a member of each, for those who ask for the groups of a name. A group without a
 * usable name has no line: programs then show its number. */
static void group_lines(const struct hlp *h, int to)
{
    char line[HLP_FIELD_MAX + EXE_USER_MAX + 16];
    const struct hlp_account *a = h->account;
    for (uint32_t i = 0; i < a->n_groups; i++)
        if (is_field(a->names[i]) && !hlp_id_refused(&h->cfg.refused_gids, a->groups[i]))
            put(to, line,
                hlp_format(line, sizeof(line), "%s:x:%u:%s\n", a->names[i], a->groups[i],
                           h->user.name));
}

/* Copies a table of root's, as this sandbox has it, up to the end of its last line. */
static void copy_table(int root, const char *path, int to)
{
    char last = '\n';
    off_t end = 0;
    ssize_t n;
    int from = hlp_openat2(root, path, O_RDONLY, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    while ((n = sendfile(to, from, &end, 1 << 20)) > 0)
        ;
    if (n < 0 || (end > 0 && pread(from, &last, 1, end - 1) != 1))
        hlp_fail(EXE_STATUS_MOUNT, errno, path);
    if (last != '\n')
        put(to, "\n", 1);
    (void)close(from);
}

void hlp_add_account(const struct hlp *h, int root)
{
    static hlp_options with = { { "mode", "0755" }, { "size", "50%" }, { NULL, NULL } };
    static const struct {
        const char *path, *name;
        void (*add)(const struct hlp *h, int to);
    } tables[] = { { "etc/passwd", "passwd", passwd_line }, { "etc/group", "group", group_lines } };
    int own = hlp_new_mount("tmpfs", with, HLP_BASELINE | MOUNT_ATTR_NOEXEC);
    hlp_attach(dup(own), root, "proc"); /* where it will be covered */
    for (size_t i = 0; i < COUNT(tables); i++) {
        int fd = openat(own, tables[i].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
        copy_table(root, tables[i].path, fd);
        tables[i].add(h, fd);
        (void)close(fd);
        int file = hlp_copy(own, tables[i].name, 0);
        hlp_set_attributes(file, 0, HLP_RO, 0, tables[i].path);
        hlp_attach(file, root, tables[i].path);
    }
    (void)close(own);
}
