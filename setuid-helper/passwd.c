/* Parsers of /etc/passwd and /etc/group, in bounds and strict. The files are root's, so this guards
 * against mistakes in them. Also run by unit tests and by a fuzzer. */
#include <errno.h>
#include <string.h>

#include "setuid-helper/helper.h"

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

bool hlp_group_refused(const char *text, size_t len, gid_t gid, gid_t nm_gid)
{
    if (gid == 0 || gid == nm_gid)
        return true;
    for (const char *s = text, *stop = text + len; s < stop;) {
        const char *end = memchr(s, '\n', (size_t)(stop - s));
        end = end ? end : stop;
        size_t n_name = 0, n_gid = 0;
        const char *name = field(s, end, 0, &n_name), *f = field(s, end, 2, &n_gid);
        uint32_t this;
        s = end + 1;
        if (f && number(f, n_gid, &this) == 0 && this == gid &&
            group_refused(name, n_name, gid, nm_gid))
            return true;
    }
    return false;
}

void hlp_group_filter(const char *text, size_t len, struct hlp_user *u, gid_t nm_gid)
{
    size_t kept = 0;
    for (size_t i = 0; i < u->n_groups; i++)
        if (!hlp_group_refused(text, len, u->groups[i], nm_gid))
            u->groups[kept++] = u->groups[i];
    u->n_groups = kept;
}
