/* See keytab-check.h. The files are the operator's; the principal is the daemon's, which may have
 * been taken over. */
#include "gss/keytab-check.h"

#include <errno.h>
#include <krb5.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/str.h"
#include "gss/protocol.h"
#include "gss/words.h"

#define ENTRIES_MAX 256 /* of a keytab, for the message */

/* True if `path` is `dir` or below it; both are resolved. */
static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    while (n > 1 && dir[n - 1] == '/')
        n--;
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == 0 || n == 1);
}

/* systemd gives root's file to the unit's account by an access list where the file system has them;
 * the group's bits then are the list's mask, not a group's right. */
static mode_t forbidden_bits(const struct sgss_keytabs *k, const char *resolved,
                             const struct stat *st)
{
    bool credential = k->credentials && is_below(resolved, k->credentials) && st->st_uid == 0;

    return credential ? 037 : 077;
}

static int check_file(const struct sgss_keytabs *k, const char *path, const char *resolved,
                      struct sv_error *err)
{
    struct stat st;

    if (stat(resolved, &st) < 0)
        return sv_error_errno(err, -errno, "keytab %s", path);
    if (!S_ISREG(st.st_mode))
        return sv_error_set(err, -EACCES, "keytab %s: not a regular file", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return sv_error_set(err, -EACCES,
                            "keytab %s: belongs to uid %u, neither root nor this program's account "
                            "(uid %u): chown it",
                            path, st.st_uid, geteuid());
    if (st.st_mode & forbidden_bits(k, resolved, &st))
        return sv_error_set(err, -EACCES,
                            "keytab %s: mode %04o lets group or others at it: chmod 0400", path,
                            st.st_mode & 07777);
    return 0;
}

int sgss_keytab_check(const struct sgss_keytabs *k, const char *path, struct sv_error *err)
{
    char resolved[PATH_MAX], dir[PATH_MAX];

    if (!realpath(path, resolved))
        return sv_error_errno(err, -errno, "keytab %s", path);
    for (size_t i = 0; i < k->n_local; i++)
        if (is_below(resolved, realpath(k->local_dirs[i], dir) ? dir : k->local_dirs[i]))
            return sv_error_set(err, -EACCES,
                                "keytab %s: lies below %s, a directory of jobs: move it", path,
                                k->local_dirs[i]);
    return check_file(k, path, resolved, err);
}

/* Appends the principals of a keytab, each once in a row. */
static void list_principals(krb5_context k, krb5_keytab keytab, char *text, size_t size)
{
    char last[256] = "";
    krb5_kt_cursor at;
    krb5_keytab_entry entry;
    size_t n = strlen(text);

    if (krb5_kt_start_seq_get(k, keytab, &at))
        return;
    for (int i = 0; i < ENTRIES_MAX && krb5_kt_next_entry(k, keytab, &entry, &at) == 0; i++) {
        char *name = NULL;

        if (krb5_unparse_name(k, entry.principal, &name) == 0 && !sv_streq(name, last) &&
            n < size) {
            n += (size_t)snprintf(text + n, size - n, "%s%s", last[0] ? ", " : " ", name);
            snprintf(last, sizeof(last), "%s", name);
        }
        krb5_free_unparsed_name(k, name);
        (void)krb5_free_keytab_entry_contents(k, &entry); /* frees, ignoring */
    }
    (void)krb5_kt_end_seq_get(k, keytab, &at); /* closes, ignoring */
}

static krb5_error_code find_key(krb5_context k, krb5_keytab keytab, krb5_principal who)
{
    krb5_keytab_entry entry;
    krb5_error_code why = krb5_kt_get_entry(k, keytab, who, 0, 0, &entry);

    if (!why)
        (void)krb5_free_keytab_entry_contents(k, &entry); /* frees, ignoring */
    return why;
}

static krb5_error_code find_web_key(krb5_context k, krb5_keytab keytab)
{
    krb5_kt_cursor at;
    krb5_keytab_entry entry;
    krb5_error_code why = krb5_kt_start_seq_get(k, keytab, &at);
    bool found = false;

    if (why)
        return why;
    while (!found && krb5_kt_next_entry(k, keytab, &entry, &at) == 0) {
        char *name = NULL;

        found = krb5_unparse_name(k, entry.principal, &name) == 0 &&
                sv_has_prefix(name, SGSS_WEB_PREFIX);
        krb5_free_unparsed_name(k, name);
        (void)krb5_free_keytab_entry_contents(k, &entry); /* frees, ignoring */
    }
    (void)krb5_kt_end_seq_get(k, keytab, &at); /* closes, ignoring */
    return found ? 0 : KRB5_KT_NOTFOUND;
}

/* 1: it has a key; 0: none, and the path with its principals is appended to `seen`. `who` NULL: of
 * any web server. */
static int has_key(krb5_context k, const char *path, krb5_principal who, char *seen, size_t size,
                   struct sv_error *err)
{
    krb5_keytab keytab;
    char name[PATH_MAX + 8];
    krb5_error_code why;
    int r = 1;

    snprintf(name, sizeof(name), "FILE:%s", path);
    why = krb5_kt_resolve(k, name, &keytab);
    if (why)
        return sgss_krb5_error(err, -EIO, k, why, "keytab %s", path);
    why = who ? find_key(k, keytab, who) : find_web_key(k, keytab);
    if (why == KRB5_KT_NOTFOUND) {
        size_t n = strlen(seen);

        snprintf(seen + n, size - n, "%s%s has", n ? "; " : "", path);
        list_principals(k, keytab, seen, size);
        r = 0;
    } else if (why) {
        r = sgss_krb5_error(err, -EIO, k, why, "keytab %s", path);
    }
    (void)krb5_kt_close(k, keytab); /* frees, ignoring */
    return r;
}

static int find(const struct sgss_keytabs *k, krb5_context context, krb5_principal who,
                const char *principal, const char **ret, struct sv_error *err)
{
    char seen[600] = "";
    int r;

    for (size_t i = 0; i < k->n; i++) {
        r = sgss_keytab_check(k, k->paths[i], err);
        if (r == 0)
            r = has_key(context, k->paths[i], who, seen, sizeof(seen), err);
        if (r < 0)
            return r;
        if (r > 0) {
            *ret = k->paths[i];
            return 0;
        }
    }
    return sv_error_set(err, -ENOKEY, "no keytab has a key of %s: %s",
                        who ? principal : SGSS_WEB_PREFIX "*", k->n ? seen : "none is configured");
}

int sgss_keytab_find(const struct sgss_keytabs *k, const char *principal, const char **ret,
                     struct sv_error *err)
{
    krb5_context context;
    krb5_principal who = NULL; /* of any web server */
    krb5_error_code why = krb5_init_context(&context);
    int r;

    if (why)
        return sgss_krb5_error(err, -EIO, NULL, why, "krb5.conf");
    why = sv_streq(principal, SGSS_WEB_ANY) ? 0 : krb5_parse_name(context, principal, &who);
    if (why) {
        r = sgss_krb5_error(err, -EINVAL, context, why, "principal %s", principal);
    } else {
        r = find(k, context, who, principal, ret, err);
        krb5_free_principal(context, who);
    }
    krb5_free_context(context);
    return r;
}
