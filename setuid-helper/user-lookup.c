/* user-lookup NAME [names]: an account that is not in /etc/passwd (LDAP, SSSD, …), for
 * container-executor, which runs this as an account of its own with an empty environment. Loads NSS
 * modules, holds no privilege; the helper checks the form of its output, but cannot check that it
 * is true. So nobody MUST be able to trace this process, and the id MUST be this name's: a service
 * that answers for a name with the id of another one is not believed. Writes a struct hlp_account;
 * home, shell and the names of the groups only with the second argument, and of those what the
 * service answers in time. */
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "setuid-helper/lookup.h"

/* Seconds from the start, of the ten that the helper waits, and for names alone: they are not worth
 * more. */
#define SECONDS_ALL 8
#define SECONDS_NAMES 3

static struct hlp_account account;
/* Complete entries of `names`: a signal may come while the next one is written. */
static volatile sig_atomic_t named;

_Noreturn static void answer(size_t len)
{
    _exit(write(1, &account, len) == (ssize_t)len ? 0 : 1);
}

/* Also the handler of SIGALRM. */
_Noreturn static void answer_with_names(int signal)
{
    (void)signal;
    answer(offsetof(struct hlp_account, names) + (size_t)named * HLP_FIELD_MAX);
}

/* A text that does not fit is left out: a part of it would be another name. */
static void set(char field[HLP_FIELD_MAX], const char *text)
{
    if (text && strlen(text) < HLP_FIELD_MAX)
        memcpy(field, text, strlen(text));
}

static time_t now(void)
{
    struct timespec t = { 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

int main(int argc, char **argv)
{
    gid_t groups[HLP_GROUPS_MAX];
    int n = HLP_GROUPS_MAX;
    const time_t start = now();
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || argc < 2 || geteuid() == 0)
        return 2;
    const struct passwd *p = getpwnam(argv[1]);
    if (!p)
        return 1;
    account.uid = p->pw_uid;
    account.gid = p->pw_gid;
    set(account.home, p->pw_dir);
    set(account.shell, p->pw_shell);
    if (getgrouplist(argv[1], p->pw_gid, groups, &n) < 0)
        n = HLP_GROUPS_MAX; /* more than fit: the first 64 */
    account.n_groups = (uint32_t)n;
    for (int i = 0; i < n; i++)
        account.groups[i] = groups[i];
    p = getpwuid(account.uid);
    if (!p || strcmp(p->pw_name, argv[1]) != 0)
        return 1;
    const time_t left = SECONDS_ALL - (now() - start);
    if (argc == 2)
        answer(offsetof(struct hlp_account, home));
    if (left <= 0)
        answer_with_names(0);
    (void)signal(SIGALRM, answer_with_names);
    (void)alarm(left < SECONDS_NAMES ? (unsigned)left : SECONDS_NAMES);
    for (; named < n; named++) {
        const struct group *g = getgrgid(account.groups[named]);
        if (g)
            set(account.names[named], g->gr_name);
    }
    answer_with_names(0);
}
