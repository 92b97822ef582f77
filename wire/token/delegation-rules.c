/* See delegation-rules.h. */
#include "wire/token/delegation-rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/str.h"
#include "wire/exceptions.h"

int yarn_delegation_refuse(struct sv_error *err, const char **ret_class, const char *class,
                           const char *fmt, ...)
{
    char text[SV_ERROR_TEXT_MAX];
    va_list ap;

    *ret_class = class;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* cut where longer, ignoring */
    va_end(ap);
    return sv_error_set(err, -EACCES, "%s", text);
}

const char *yarn_delegation_shown(const struct yarn_delegation_token *t,
                                  char ret[YARN_DELEGATION_SHOWN_MAX])
{
    (void)snprintf(ret, YARN_DELEGATION_SHOWN_MAX,
                   "(" YARN_KIND_RM_DELEGATION " owner=%s, renewer=%s, realUser=%s, "
                   "issueDate=%lld, maxDate=%lld, sequenceNumber=%d, masterKeyId=%d)",
                   t->owner, t->renewer, t->real_user, (long long)t->issue_ms, (long long)t->max_ms,
                   t->sequence, t->key_id);
    return ret;
}

#define DATE_MAX 40

static const char *date(int64_t ms, char ret[DATE_MAX])
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    char day[24] = "";

    if (gmtime_r(&s, &tm))
        (void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
    (void)snprintf(ret, DATE_MAX, "%s,%03d+0000", day, (int)(ms % 1000));
    return ret;
}

int yarn_delegation_may_renew(const struct yarn_delegation_token *t,
                              const struct yarn_token_caller *who, bool self, int64_t now_ms,
                              const char **ret_class, struct sv_error *err)
{
    char text[YARN_DELEGATION_SHOWN_MAX], max[DATE_MAX], current[DATE_MAX];

    if (t->max_ms < now_ms)
        return yarn_delegation_refuse(
            err, ret_class, JAVA_INVALID_TOKEN,
            "%s tried to renew an expired token %s max expiration date: %s currentTime: %s",
            who->user, yarn_delegation_shown(t, text), date(t->max_ms, max), date(now_ms, current));
    if (!*t->renewer)
        return yarn_delegation_refuse(err, ret_class, JAVA_ACCESS_CONTROL,
                                      "%s tried to renew a token %s without a renewer", who->user,
                                      yarn_delegation_shown(t, text));
    if (!sv_streq(t->renewer, who->user) && !self)
        return yarn_delegation_refuse(err, ret_class, JAVA_ACCESS_CONTROL,
                                      "%s tries to renew a token %s with non-matching renewer %s",
                                      who->user, yarn_delegation_shown(t, text), t->renewer);
    return 0;
}

int yarn_delegation_may_cancel(const struct yarn_delegation_token *t,
                               const struct yarn_token_caller *who, const char **ret_class,
                               struct sv_error *err)
{
    char text[YARN_DELEGATION_SHOWN_MAX];

    if (sv_streq(who->full_name, t->owner) || (*t->renewer && sv_streq(who->user, t->renewer)))
        return 0;
    return yarn_delegation_refuse(err, ret_class, JAVA_ACCESS_CONTROL,
                                  "%s is not authorized to cancel the token %s", who->full_name,
                                  yarn_delegation_shown(t, text));
}

int yarn_delegation_unknown(const struct yarn_delegation_token *t, bool cancel,
                            const char **ret_class, struct sv_error *err)
{
    char text[YARN_DELEGATION_SHOWN_MAX];

    return yarn_delegation_refuse(err, ret_class, JAVA_INVALID_TOKEN, "%s %s",
                                  cancel ? "Token not found" : "Renewal request for unknown token",
                                  yarn_delegation_shown(t, text));
}

int yarn_delegation_wrong_password(const struct yarn_delegation_token *t, const char *user,
                                   bool cancel, const char **ret_class, struct sv_error *err)
{
    char text[YARN_DELEGATION_SHOWN_MAX];

    return yarn_delegation_refuse(err, ret_class, JAVA_ACCESS_CONTROL,
                                  "%s is trying to %s a token %s with wrong password", user,
                                  cancel ? "cancel" : "renew", yarn_delegation_shown(t, text));
}

int yarn_delegation_not_found(struct sv_error *err)
{
    return sv_error_set(err, -EACCES, "Token for real user: , can't be found in cache");
}

int yarn_delegation_expired(const struct yarn_delegation_token *t, int64_t now_ms, int64_t renew_ms,
                            struct sv_error *err)
{
    char current[DATE_MAX], until[DATE_MAX];

    return sv_error_set(err, -EACCES,
                        "Token %s has expired, current time: %s expected renewal time: %s",
                        t->real_user, date(now_ms, current), date(renew_ms, until));
}

int yarn_delegation_names(struct yarn_delegation_token *t, const char *owner, const char *renewer,
                          const char *real_user, const char **ret_class, struct sv_error *err)
{
    const struct {
        const char *what, *value;
        char *to;
    } all[] = { { "owner", owner, t->owner },
                { "renewer", renewer, t->renewer },
                { "real user", real_user ? real_user : "", t->real_user } };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        size_t len = strlen(all[i].value);

        if (len >= sizeof(t->owner))
            return yarn_delegation_refuse(err, ret_class, JAVA_ILLEGAL_ARGUMENT,
                                          "the %s's name has %zu bytes, more than %zu", all[i].what,
                                          len, sizeof(t->owner) - 1);
        memcpy(all[i].to, all[i].value, len + 1);
    }
    return 0;
}
