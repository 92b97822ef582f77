/* Which keytab has a principal's key, and whether the file may be trusted and kept: a keytab is as
 * good as the daemon's password. */
#ifndef SELVEDGE_GSS_KEYTAB_CHECK_H
#define SELVEDGE_GSS_KEYTAB_CHECK_H

#include "common/base.h"
#include "common/error.h"

#define SGSS_KEYTABS_MAX 4
#define SGSS_LOCAL_DIRS_MAX 64

struct sgss_keytabs {
    const char *paths[SGSS_KEYTABS_MAX]; /* absolute */
    size_t n;
    const char *local_dirs[SGSS_LOCAL_DIRS_MAX]; /* directories of jobs */
    size_t n_local;
    const char *credentials; /* systemd's directory of LoadCredential=; NULL: none */
};

/* A regular file of root's or of this account, which neither group nor others may touch, not below
 * a directory of jobs. -EACCES, -errno; the text names the path. */
int sgss_keytab_check(const struct sgss_keytabs *k, const char *path, struct sv_error *err)
    _must_use_;
/* The first keytab with a key of the principal, or of any web server with SGSS_WEB_ANY. Each is
 * checked up to there: -EACCES; -ENOKEY, with a text that names principal and keytabs. */
int sgss_keytab_find(const struct sgss_keytabs *k, const char *principal, const char **ret,
                     struct sv_error *err) _must_use_;

#endif
