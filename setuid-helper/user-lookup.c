/* user-lookup NAME: ids of an account that is not in /etc/passwd (LDAP, SSSD, …), for
 * container-executor, which runs this as an account of its own with an empty environment. Loads NSS
 * modules, holds no privilege; the helper checks the form of its output, but cannot check that it
 * is true. So nobody MUST be able to trace this process, and the id MUST be this name's: a service
 * that answers for a name with the id of another one is not believed. Writes uid, gid, count,
 * groups as 32-bit numbers of this machine. */
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define GROUPS_MAX 64

int main(int argc, char **argv)
{
    gid_t groups[GROUPS_MAX + 1];
    uint32_t out[3 + GROUPS_MAX];
    int n = GROUPS_MAX;
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || argc != 2 || geteuid() == 0)
        return 2;
    const struct passwd *p = getpwnam(argv[1]);
    if (!p)
        return 1;
    out[0] = p->pw_uid;
    out[1] = p->pw_gid;
    if (getgrouplist(argv[1], p->pw_gid, groups, &n) < 0)
        n = GROUPS_MAX; /* more than fit: the first 64 */
    out[2] = (uint32_t)n;
    for (int i = 0; i < n; i++)
        out[3 + i] = groups[i];
    p = getpwuid(out[0]);
    if (!p || strcmp(p->pw_name, argv[1]) != 0)
        return 1;
    size_t len = 4 * (3 + (size_t)n);
    return write(1, out, len) == (ssize_t)len ? 0 : 1;
}
