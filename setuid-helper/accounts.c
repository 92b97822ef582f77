/* Who is who. /etc/passwd and /etc/group are root's and parsed here, in bounds; a user that is not in
 * them is asked for in a child without privileges (user-lookup, which may load NSS modules). Ids
 * never come from the request. Errors leave no id behind: structures start as "nobody may". */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

#define ACCOUNTS_MAX (4 * 1024 * 1024)
#define LOOKUP_TIMEOUT_MS 10000

static char accounts[ACCOUNTS_MAX]; /* touched only as far as the file goes */

/* Field `n` (0…) of the line [s, end), as a pointer and length; NULL when there is none. */
static const char *field(const char *s, const char *end, unsigned n, size_t *ret_len)
{
    for (; n > 0; n--) {
        const char *colon = memchr(s, ':', (size_t)(end - s));
        if (!colon)
            return NULL;
        s = colon + 1;
    }
    const char *colon = memchr(s, ':', (size_t)(end - s));
    *ret_len = (size_t)((colon ? colon : end) - s);
    return s;
}

/* A plain decimal id below HLP_ID_MAX: "", "+1", "01", " 1", "0x1" and -1 are none. */
static int number(const char *s, size_t n, uint32_t *ret)
{
    uint64_t v = 0;
    if (n == 0 || n > 10 || (s[0] == '0' && n > 1))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return -EINVAL;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    if (v > HLP_ID_MAX)
        return -EINVAL;
    *ret = (uint32_t)v;
    return 0;
}

/* The line whose first field is `name`; NULL at the end. */
static const char *find_line(const char *text, size_t len, const char *name, const char **ret_end)
{
    size_t want = strlen(name);
    for (const char *s = text, *stop = text + len; s < stop;) {
        const char *end = memchr(s, '\n', (size_t)(stop - s));
        end = end ? end : stop;
        if ((size_t)(end - s) > want && s[want] == ':' && memcmp(s, name, want) == 0) {
            *ret_end = end;
            return s;
        }
        s = end + 1;
    }
    return NULL;
}

int hlp_passwd_find(const char *text, size_t len, const char *name, struct hlp_user *ret)
{
    const char *end, *s = find_line(text, len, name, &end);
    size_t n = 0;
    uint32_t uid, gid;
    if (!s)
        return 0;
    if (memchr(s, '\0', (size_t)(end - s)) || strlen(name) > EXE_USER_MAX)
        return -EINVAL;
    const char *f = field(s, end, 2, &n);
    if (!f || number(f, n, &uid) < 0)
        return -EINVAL;
    f = field(s, end, 3, &n);
    if (!f || number(f, n, &gid) < 0)
        return -EINVAL;
    memset(ret, 0, sizeof(*ret));
    memcpy(ret->name, name, strlen(name));
    ret->uid = uid;
    ret->gid = gid;
    return 1;
}

int hlp_group_find(const char *text, size_t len, const char *name, gid_t *ret)
{
    const char *end, *s = find_line(text, len, name, &end);
    size_t n = 0;
    uint32_t gid;
    if (!s)
        return 0;
    const char *f = field(s, end, 2, &n);
    if (!f || number(f, n, &gid) < 0)
        return -EINVAL;
    *ret = gid;
    return 1;
}

/* Groups whose members are root in all but name, and ours: never a container's. */
static bool group_refused(const char *name, size_t n, gid_t gid, gid_t nm_gid)
{
    static const char *const refused[] = { "disk", "kmem", "shadow", "docker", "lxd", "incus",
                                           "libvirt", "podman", "systemd-journal" };
    if (gid == 0 || gid == nm_gid)
        return true;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (strlen(refused[i]) == n && memcmp(refused[i], name, n) == 0)
            return true;
    return false;
}

void hlp_group_members(const char *text, size_t len, struct hlp_user *u, gid_t nm_gid)
{
    size_t want = strlen(u->name);
    for (const char *s = text, *stop = text + len; s < stop;) {
        const char *end = memchr(s, '\n', (size_t)(stop - s));
        end = end ? end : stop;
        size_t n_name = 0, n_gid = 0, n = 0;
        const char *name = field(s, end, 0, &n_name), *f = field(s, end, 2, &n_gid);
        const char *member = field(s, end, 3, &n), *last = member ? member + n : NULL;
        uint32_t gid;
        s = end + 1;
        if (!f || !member || number(f, n_gid, &gid) < 0 || gid == u->gid ||
            group_refused(name, n_name, gid, nm_gid))
            continue;
        while (member < last && u->n_groups < HLP_GROUPS_MAX) {
            const char *comma = memchr(member, ',', (size_t)(last - member));
            size_t one = (size_t)((comma ? comma : last) - member);
            if (one == want && memcmp(member, u->name, want) == 0) {
                u->groups[u->n_groups++] = gid;
                break;
            }
            member += one + 1;
        }
    }
}

/* What user-lookup answered: fixed layout, checked like a line of passwd. */
static bool lookup_answer(const uint32_t *v, size_t bytes, struct hlp_user *u, gid_t nm_gid)
{
    if (bytes < 12 || v[2] > HLP_GROUPS_MAX || bytes != 12 + 4 * (size_t)v[2] ||
        v[0] > HLP_ID_MAX || v[1] > HLP_ID_MAX)
        return false;
    u->uid = v[0];
    u->gid = v[1];
    for (uint32_t i = 0; i < v[2]; i++)
        if (v[3 + i] != 0 && v[3 + i] != nm_gid && v[3 + i] <= HLP_ID_MAX && v[3 + i] != u->gid)
            u->groups[u->n_groups++] = v[3 + i];
    return true;
}

/* Asks user-lookup, which runs as nobody with an empty environment and a dead line. */
static bool look_up(struct hlp *h)
{
    static const struct hlp_user nobody = { .name = "nobody", .uid = 65534, .gid = 65534 };
    uint32_t answer[3 + HLP_GROUPS_MAX];
    size_t got = 0;
    int p[2], program = hlp_open_trusted(LIBEXECDIR "/user-lookup", O_PATH, EXE_STATUS_USER_LOOKUP,
                                         EXE_STATUS_USER_LOOKUP);
    if (pipe2(p, O_CLOEXEC) < 0)
        hlp_fail(EXE_STATUS_USER_LOOKUP, errno, "pipe");
    pid_t pid = fork();
    if (pid < 0)
        hlp_fail(EXE_STATUS_USER_LOOKUP, errno, "fork");
    if (pid == 0) {
        char *argv[] = { (char *)"user-lookup", h->req.user, NULL }, *envp[] = { NULL };
        if (dup2(p[1], 1) < 0 || dup2(2, 0) < 0)
            _exit(1);
        hlp_drop(&nobody);
        (void)execveat(program, "", argv, envp, AT_EMPTY_PATH);
        _exit(1);
    }
    (void)close(p[1]);
    (void)close(program);
    int64_t until = hlp_wall_ms() + LOOKUP_TIMEOUT_MS;
    for (;;) {
        struct pollfd pf = { .fd = p[0], .events = POLLIN };
        int64_t left = until - hlp_wall_ms();
        if (left <= 0 || left > LOOKUP_TIMEOUT_MS || poll(&pf, 1, (int)left) <= 0) {
            (void)kill(pid, SIGKILL); /* ours, not yet waited for */
            hlp_fail(EXE_STATUS_USER_LOOKUP, ETIMEDOUT, h->req.user);
        }
        ssize_t n = read(p[0], (char *)answer + got, sizeof(answer) - got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    (void)close(p[0]);
    int status = 1;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return false;
    return lookup_answer(answer, got, &h->user, h->nm_gid);
}

static size_t load(const char *path)
{
    return hlp_read_trusted(path, accounts, sizeof(accounts), EXE_STATUS_USER_LOOKUP,
                            EXE_STATUS_USER_LOOKUP);
}

static void service(size_t len, const char *name, struct hlp_user *ret)
{
    if (hlp_passwd_find(accounts, len, name, ret) != 1 || ret->uid == 0 || ret->gid == 0)
        hlp_fail(EXE_STATUS_SERVICE_ACCOUNT, 0, name);
}

void hlp_service_accounts(struct hlp *h)
{
    size_t len = load("/etc/passwd");
    service(len, h->cfg.nm_user, &h->nm);
    service(len, h->cfg.monitor_user, &h->monitor);
    service(len, h->cfg.public_user, &h->public);
    if (h->nm.uid == h->monitor.uid || h->nm.uid == h->public.uid ||
        h->monitor.uid == h->public.uid)
        hlp_fail(EXE_STATUS_SERVICE_ACCOUNT, EINVAL, "two service accounts have one user id");
    len = load("/etc/group");
    if (hlp_group_find(accounts, len, h->cfg.group, &h->nm_gid) != 1 || h->nm_gid == 0)
        hlp_fail(EXE_STATUS_SERVICE_ACCOUNT, 0, h->cfg.group);
}

static bool listed(const struct hlp_list *l, const char *name)
{
    for (unsigned i = 0; i < l->n; i++)
        if (strcmp(l->v[i], name) == 0)
            return true;
    return false;
}

void hlp_job_user(struct hlp *h)
{
    struct hlp_user *u = &h->user, other;
    u->uid = u->gid = (uid_t)-1;
    size_t len = load("/etc/passwd");
    int r = hlp_passwd_find(accounts, len, h->req.user, u);
    if (r < 0)
        hlp_fail(EXE_STATUS_USER_LOOKUP, -r, h->req.user);
    bool local = r == 1;
    if (!local) {
        memcpy(u->name, h->req.user, sizeof(u->name));
        if (!look_up(h))
            hlp_fail(EXE_STATUS_USER_UNKNOWN, 0, h->req.user);
        len = load("/etc/passwd");
    }
    bool system = listed(&h->cfg.allowed_system, u->name);
    if (u->uid == 0 || u->uid > HLP_ID_MAX || u->gid == 0 || u->gid > HLP_ID_MAX ||
        u->uid == h->nm.uid || u->uid == h->monitor.uid || u->uid == h->public.uid ||
        u->gid == h->nm_gid || (u->uid < h->cfg.min_uid && !system) ||
        (u->uid == 65534 && !system) || listed(&h->cfg.banned, u->name))
        hlp_fail(EXE_STATUS_USER_REFUSED, 0, u->name);
    /* Banned by id as well: an alias of a banned account is that account. */
    for (unsigned i = 0; i < h->cfg.banned.n; i++)
        if (hlp_passwd_find(accounts, len, h->cfg.banned.v[i], &other) == 1 && other.uid == u->uid)
            hlp_fail(EXE_STATUS_USER_REFUSED, 0, u->name);
    if (local) {
        len = load("/etc/group");
        hlp_group_members(accounts, len, u, h->nm_gid);
    }
}
