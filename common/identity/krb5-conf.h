/* krb5.conf as MIT's libkrb5 reads it, as far as default_realm: a daemon needs the name for its
 * rules and is not linked to that library. What libkrb5 would not read is refused here as well.
 * Trusted: the files, root's; bounded, since they may be anything by mistake. */
#ifndef SELVEDGE_COMMON_IDENTITY_KRB5_CONF_H
#define SELVEDGE_COMMON_IDENTITY_KRB5_CONF_H

#include "common/base.h"
#include "common/error.h"

#define SV_KRB5_CONF "/etc/krb5.conf"
#define SV_KRB5_FILE_MAX ((size_t)256 << 10)
#define SV_KRB5_LINE_MAX 4096
#define SV_KRB5_FILES_MAX 64 /* with those that `include` and `includedir` name */
#define SV_KRB5_NESTED_MAX 8 /* levels of these */
#define SV_REALM_MAX 255     /* bytes, without the NUL */

/* default_realm of [libdefaults], the first one that the file and those that it includes have.
 * -ENODATA: there is none; -EINVAL, with file and line: libkrb5 would not read it, or it loads a
 * module (`module`); -E2BIG, -EFBIG: beyond the limits; -errno: a file cannot be read. */
int sv_krb5_default_realm(const char *path, char ret[SV_REALM_MAX + 1], struct sv_error *err)
    _must_use_;

/* One text alone; `name` is for messages. Includes are handed to `include`. `realm` is ""
 * at first, and stays so if there is none. */
typedef int (*sv_krb5_include)(const char *path, bool directory, void *userdata,
                               struct sv_error *err);
int sv_krb5_parse(const char *name, const char *text, size_t len, sv_krb5_include include,
                  void *userdata, char realm[SV_REALM_MAX + 1], struct sv_error *err) _must_use_;

#endif
