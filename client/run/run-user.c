/* `selvedge run --user`: lets root start a job for another user. The whole process switches to that
 * user, so that files are read and staged, and the job is owned, by that user alone. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "client/run/run.h"

int cli_run_become(const struct run_options *o)
{
    const char *user = o->user;
    const struct passwd *pw = user ? getpwnam(user) : NULL;

    if (!user)
        return 0;
    if (!pw)
        (void)cli_fail("%s: --user %s: no such account", o->subcommand, user);
    else if (pw->pw_uid == geteuid())
        return 0;
    else if (geteuid() != 0)
        (void)cli_fail("%s: --user %s: only root starts jobs of other users", o->subcommand, user);
    else if (initgroups(user, pw->pw_gid) < 0 ||
             setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
             setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
        (void)cli_fail("%s: --user %s: %s", o->subcommand, user, strerror(errno));
    else
        return 0;
    return 2;
}
