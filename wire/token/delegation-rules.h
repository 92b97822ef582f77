/* Delegation tokens of YARN's daemons: who may renew and cancel one, in Hadoop's words. Pure.
 * Hostile: names in identifiers that peers present. */
#ifndef SELVEDGE_WIRE_TOKEN_DELEGATION_RULES_H
#define SELVEDGE_WIRE_TOKEN_DELEGATION_RULES_H

#include "wire/token/token.h"

struct yarn_token_caller {
    const char *user;      /* the account */
    const char *full_name; /* with Kerberos the principal for whom it calls; else the account */
};

/* Each refusal: -EACCES, err->text, and in *ret_class the Java class of Hadoop's exception. */
int yarn_delegation_refuse(struct sv_error *err, const char **ret_class, const char *class,
                           const char *fmt, ...) _printf_(4, 5);

/* `self`: the daemon itself, which may renew every token that has a renewer. Not after its last
 * end. */
int yarn_delegation_may_renew(const struct yarn_delegation_token *t,
                              const struct yarn_token_caller *who, bool self, int64_t now_ms,
                              const char **ret_class, struct sv_error *err) _must_use_;
/* Its owner, by his full name, and its renewer. */
int yarn_delegation_may_cancel(const struct yarn_delegation_token *t,
                               const struct yarn_token_caller *who, const char **ret_class,
                               struct sv_error *err) _must_use_;
/* The refusals of a token that is not known any more, has another password, or has expired. */
int yarn_delegation_unknown(const struct yarn_delegation_token *t, bool cancel,
                            const char **ret_class, struct sv_error *err);
int yarn_delegation_wrong_password(const struct yarn_delegation_token *t, const char *user,
                                   bool cancel, const char **ret_class, struct sv_error *err);
int yarn_delegation_not_found(struct sv_error *err);
int yarn_delegation_expired(const struct yarn_delegation_token *t, int64_t now_ms, int64_t renew_ms,
                            struct sv_error *err);

/* The three names of a token. A name that is longer than a token holds is refused. */
int yarn_delegation_names(struct yarn_delegation_token *t, const char *owner, const char *renewer,
                          const char *real_user, const char **ret_class, struct sv_error *err)
    _must_use_;

/* An identifier as Hadoop shows it. */
#define YARN_DELEGATION_SHOWN_MAX 960
const char *yarn_delegation_shown(const struct yarn_delegation_token *t,
                                  char ret[YARN_DELEGATION_SHOWN_MAX]);

#endif
