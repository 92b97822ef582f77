/* One rule of hadoop.security.auth_to_local; for auth-to-local.c alone. */
#ifndef SELVEDGE_COMMON_IDENTITY_AUTH_RULE_H
#define SELVEDGE_COMMON_IDENTITY_AUTH_RULE_H

#include "common/base.h"
#include "common/error.h"
#include "common/identity/java-regex.h"
#include "common/identity/principal.h"

#define AUTH_TEXT_MAX 1024 /* bytes while a rule works; a result is shorter */

/* A bounded text. */
struct auth_text {
    char s[AUTH_TEXT_MAX + 1];
    size_t n;
};

struct auth_rule {
    char *text; /* as written */
    bool is_default;
    int64_t components;
    char *format;                /* of RULE:[n:format] */
    struct sv_java_regex *match; /* NULL: applies to all */
    struct sv_java_regex *from;  /* NULL: nothing is replaced */
    char *to;
    bool all, lower;
};

/* Reads the rule at `text`, behind blanks; *ret_len: its bytes. -EINVAL: the error begins with "at
 * byte N", which *ret_at counts from 0. */
int auth_rule_parse(const char *text, struct auth_rule *ret, size_t *ret_len, size_t *ret_at,
                    struct sv_error *err) _must_use_;
void auth_rule_clear(struct auth_rule *r);

/* Applies the rule to the principal. 1; 0: it does not apply; -EINVAL: it needs a realm that the
 * principal lacks, or characters that are ASCII; -ENAMETOOLONG; -E2BIG: the work is used up. */
int auth_rule_apply(const struct auth_rule *r, const struct sv_principal *p,
                    const char *default_realm, struct sv_java_work *work, struct auth_text *ret)
    _must_use_;

#endif
