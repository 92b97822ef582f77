/* See conf-web.h. The file of the secret is root's or the daemon's: trusted, but not to be
 * protected. */
#include "nodemanager/conf-web.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/acl.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"

#define SECRET_MAX 4096
#define SECRET_KEY "hadoop.http.authentication.signature.secret.file"

/* Its bytes are the key as they are, a newline at the end included, as in Hadoop. */
static int read_secret(struct nm_conf_web *c, struct sv_error *err)
{
    struct stat st;
    int r;

    if (stat(c->secret_file, &st) < 0)
        return sv_error_errno(err, -errno, SECRET_KEY ": %s", c->secret_file);
    if (st.st_mode & S_IRWXO)
        return sv_error_set(err, -EPERM,
                            SECRET_KEY ": %s is open to every account of this machine, so that any "
                                       "job could sign a cookie; take these permissions away "
                                       "(chmod o= FILE)",
                            c->secret_file);
    r = sv_read_file_at(AT_FDCWD, c->secret_file, SECRET_MAX, &c->secret, &c->secret_len);
    if (r < 0)
        return sv_error_errno(err, r, SECRET_KEY ": %s", c->secret_file);
    if (c->secret_len == 0)
        return sv_error_set(err, -EINVAL, SECRET_KEY ": %s is empty", c->secret_file);
    return 0;
}

static int check_type(const struct nm_conf_web *c, struct sv_error *err)
{
    bool kerberos = sv_streq(c->auth_type, "kerberos");

    if (!kerberos && !sv_streq(c->auth_type, "simple"))
        return sv_error_set(err, -EOPNOTSUPP,
                            "hadoop.http.authentication.type=%s: with yarn.acl.enable this version "
                            "knows simple and kerberos",
                            c->auth_type);
    if (kerberos && !c->secret)
        return sv_error_set(err, -EINVAL,
                            "hadoop.http.authentication.type=kerberos: this version accepts only "
                            "cookies that another daemon has signed; set " SECRET_KEY);
    return 0;
}

static void warn(const struct nm_conf_web *c)
{
    if (sv_acl_allows_all(c->admin_acl))
        sv_log_warning("yarn.admin.acl=*: everybody is an administrator, so that yarn.acl.enable "
                       "hides nothing; name the administrators");
    if (sv_acl_names_groups(c->admin_acl))
        sv_log_warning("yarn.admin.acl: its groups do not count in this version; name their users");
    if (sv_streq(c->auth_type, "simple"))
        sv_log_warning(
            "hadoop.http.authentication.type=simple: over HTTP the user is the name that "
            "a client writes; yarn.acl.enable stops mistakes, not lies");
}

int nm_conf_web_complete(struct nm_conf_web *c, struct sv_error *err)
{
    const struct passwd *pw;
    int r = 0;

    if (!c->acl_enabled && !sv_streq(c->auth_type, "simple"))
        return sv_error_set(err, -EOPNOTSUPP,
                            "hadoop.http.authentication.type=%s: without yarn.acl.enable this "
                            "version shows everything to everybody; enable that, or set simple",
                            c->auth_type);
    if (!c->acl_enabled)
        return 0;
    if (c->secret_file && *c->secret_file)
        r = read_secret(c, err);
    if (r >= 0)
        r = check_type(c, err);
    if (r < 0)
        return r;
    pw = getpwuid(geteuid());
    c->daemon_user = strdup(pw ? pw->pw_name : "");
    if (!c->daemon_user)
        return sv_error_errno(err, -ENOMEM, "configuration");
    warn(c);
    return 0;
}

void nm_conf_web_free(struct nm_conf_web *c)
{
    if (c->secret)
        explicit_bzero(c->secret, c->secret_len);
    free(c->secret);
    free(c->daemon_user);
    c->secret = c->daemon_user = NULL;
}
