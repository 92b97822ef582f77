/* See auth-to-local.h. Rules follow each other, with blanks between them or without; the first that
 * applies decides. */
#include "common/identity/auth-to-local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/identity/auth-rule.h"
#include "common/str.h"

#define KEY "hadoop.security.auth_to_local"
#define BLANKS " \t\n\v\f\r"
#define SHOWN_RULES 300 /* bytes of the set in a refusal */

struct sv_auth_to_local {
    enum sv_auth_mechanism mechanism;
    char *default_realm; /* NULL: none */
    struct auth_rule *rules;
    size_t n;
};

enum { K_RULES, K_MECHANISM };

/* clang-format off */
static const struct sv_conf_key keys[] = {
    [K_RULES] = { KEY, SV_CONF_STRING, "", .help = "Rules from principals to accounts, RULE:[n:format] with (match), s/from/to/g and /L behind it, and DEFAULT; unset: DEFAULT." },
    [K_MECHANISM] = { KEY ".mechanism", SV_CONF_STRING, "hadoop", .help = "hadoop: a principal without a rule, or with / or @ in its result, is refused; mit: neither." },
};
/* clang-format on */

const struct sv_conf_key *sv_auth_to_local_keys(size_t *ret_n)
{
    *ret_n = SV_ARRAY_LEN(keys);
    return keys;
}

/* ---- Rules ---- */

struct sv_auth_to_local *sv_auth_to_local_free(struct sv_auth_to_local *a)
{
    if (!a)
        return NULL;
    for (size_t i = 0; i < a->n; i++)
        auth_rule_clear(&a->rules[i]);
    free(a->rules);
    free(a->default_realm);
    free(a);
    return NULL;
}

static int add_rule(struct sv_auth_to_local *a, const char *set, const char **p,
                    struct sv_error *err)
{
    size_t len = 0, at = 0;
    int r;

    if (a->n == SV_AUTH_RULES_MAX)
        return sv_error_set(err, -EINVAL, "more than %d rules", SV_AUTH_RULES_MAX);
    r = auth_rule_parse(*p, &a->rules[a->n], &len, &at, err);
    if (r < 0) {
        char shown[4 * 32 + 1], head[33] = "";

        memcpy(head, *p + at, strnlen(*p + at, sizeof(head) - 1));
        sv_escape(shown, sizeof(shown), head);
        return sv_error_wrap(err, "rule %zu, byte %zu, at \"%s\"", a->n + 1,
                             (size_t)(*p - set) + at + 1, shown);
    }
    a->n++;
    *p += len;
    return 0;
}

static int parse(struct sv_auth_to_local *a, const char *rules, struct sv_error *err)
{
    const char *p = rules;
    int r = 0;

    if (strlen(rules) > SV_AUTH_RULES_TEXT_MAX)
        return sv_error_set(err, -EINVAL, "longer than %d bytes", SV_AUTH_RULES_TEXT_MAX);
    for (p += strspn(p, BLANKS); *p && r >= 0; p += strspn(p, BLANKS))
        r = add_rule(a, rules, &p, err);
    return r;
}

int sv_auth_to_local_new(const char *rules, enum sv_auth_mechanism mechanism,
                         const char *default_realm, struct sv_auth_to_local **ret,
                         struct sv_error *err)
{
    _cleanup_(sv_auth_to_local_freep) struct sv_auth_to_local *a = calloc(1, sizeof(*a));
    bool none = !rules[strspn(rules, BLANKS)];
    int r;

    if (!a || !(a->rules = calloc(SV_AUTH_RULES_MAX, sizeof(*a->rules))) ||
        (default_realm && !(a->default_realm = strdup(default_realm))))
        return sv_error_set(err, -ENOMEM, "%s: out of memory", KEY);
    a->mechanism = mechanism;
    r = parse(a, none ? "DEFAULT" : rules, err);
    if (r < 0)
        return sv_error_wrap(err, "%s", KEY);
    *ret = SV_TAKE(a);
    return 0;
}

size_t sv_auth_to_local_count(const struct sv_auth_to_local *a)
{
    return a->n;
}

int sv_auth_to_local_read(struct sv_conf *c, const char *default_realm,
                          struct sv_auth_to_local **ret, struct sv_error *err)
{
    const char *rules, *mechanism;
    bool mit;
    int r = sv_conf_string(c, &keys[K_RULES], &rules, err);

    if (r >= 0)
        r = sv_conf_string(c, &keys[K_MECHANISM], &mechanism, err);
    if (r < 0)
        return r;
    mit = strcasecmp(mechanism, "mit") == 0;
    if (!mit && strcasecmp(mechanism, "hadoop") != 0) {
        char at[512];

        sv_conf_origin(c, &keys[K_MECHANISM], at, sizeof(at));
        return sv_error_set(err, -EINVAL, "%s is \"%.64s\": expected hadoop or mit", at, mechanism);
    }
    return sv_auth_to_local_new(rules, mit ? SV_AUTH_MIT : SV_AUTH_HADOOP, default_realm, ret, err);
}

/* ---- Principals ---- */

static int refuse_failed(const struct sv_auth_to_local *a, size_t i, const char *principal,
                         int reason, struct sv_error *err)
{
    const char *why = reason == -E2BIG ? "takes too much work to compare; simplify its expressions"
                      : reason == -ENAMETOOLONG
                          ? "makes a name that is too long of it"
                          : "needs a realm, which the principal lacks, or ignores case or "
                            "has \\b, which is defined for ASCII alone";

    return sv_error_set(err, reason == -E2BIG ? -E2BIG : -EACCES,
                        "principal \"%s\": rule %zu of %s, %.200s, %s", principal, i + 1, KEY,
                        a->rules[i].text, why);
}

/* NULL: the result is a name. */
static const char *refused_name(const struct auth_text *name, enum sv_auth_mechanism mechanism)
{
    if (name->n == 0)
        return "leaves nothing of it";
    if (name->n > SV_LOCAL_NAME_MAX)
        return "makes a name that is too long of it";
    for (size_t i = 0; i < name->n; i++)
        if ((unsigned char)name->s[i] < 0x20 || name->s[i] == 0x7f)
            return "makes a name with a control character of it";
    if (mechanism == SV_AUTH_HADOOP && strpbrk(name->s, "/@"))
        return "leaves a / or @ in its name, which the mechanism hadoop refuses";
    return NULL;
}

static bool lower(struct auth_text *name)
{
    for (size_t i = 0; i < name->n; i++) {
        if ((unsigned char)name->s[i] >= 0x80)
            return false;
        if (name->s[i] >= 'A' && name->s[i] <= 'Z')
            name->s[i] = (char)(name->s[i] + ('a' - 'A'));
    }
    return true;
}

static int finish(const struct sv_auth_to_local *a, size_t i, struct auth_text *name,
                  const char *principal, char ret[SV_LOCAL_NAME_MAX + 1], struct sv_error *err)
{
    const char *why = refused_name(name, a->mechanism);

    if (!why && a->rules[i].lower && !lower(name))
        why = "has /L, which is for names of ASCII alone";
    if (why)
        return sv_error_set(err, -EACCES, "principal \"%s\": rule %zu of %s, %.200s, %s", principal,
                            i + 1, KEY, a->rules[i].text, why);
    memcpy(ret, name->s, name->n + 1);
    return 0;
}

static int refuse_without_rule(const struct sv_auth_to_local *a, const char *principal,
                               struct sv_error *err)
{
    char set[SHOWN_RULES + 8] = "";
    size_t n = 0, i = 0;

    for (; i < a->n && n + strlen(a->rules[i].text) + 2 <= SHOWN_RULES; i++)
        n += (size_t)snprintf(set + n, sizeof(set) - n, "%s%s", i ? "; " : "", a->rules[i].text);
    return sv_error_set(err, -EACCES,
                        "principal \"%s\": none of the %zu rules of %s applies (%s%s)%s%s: add one "
                        "for its realm, or refuse its owner",
                        principal, a->n, KEY, set, i < a->n ? " …" : "",
                        a->default_realm ? "; the default realm is " : "",
                        a->default_realm ? a->default_realm : "");
}

static int whole_name(const char *text, char ret[SV_LOCAL_NAME_MAX + 1], struct sv_error *err)
{
    if (strlen(text) > SV_LOCAL_NAME_MAX)
        return sv_error_set(err, -EACCES, "principal \"%s\": longer than a name may be, %d bytes",
                            text, SV_LOCAL_NAME_MAX);
    memcpy(ret, text, strlen(text) + 1);
    return 0;
}

int sv_auth_to_local_decide(struct sv_auth_to_local *a, const char *principal, size_t len,
                            char ret[SV_LOCAL_NAME_MAX + 1], struct sv_auth_decision *ret_by,
                            struct sv_error *err)
{
    const struct sv_auth_decision none = { 0, "" };
    struct sv_java_work work = { 0 };
    char text[SV_PRINCIPAL_MAX + 1];
    struct auth_text name;
    struct sv_principal p;
    int r = sv_principal_parse(principal, len, &p, err);

    if (r < 0)
        return r;
    sv_principal_text(&p, text);
    for (size_t i = 0; i < a->n && (*p.host || *p.realm); i++) {
        r = auth_rule_apply(&a->rules[i], &p, a->default_realm, &work, &name);
        if (r < 0)
            return refuse_failed(a, i, text, r, err);
        if (r == 0)
            continue;
        r = finish(a, i, &name, text, ret, err);
        if (r == 0)
            *ret_by = (struct sv_auth_decision){ i + 1, a->rules[i].text };
        return r;
    }
    if ((*p.host || *p.realm) && a->mechanism == SV_AUTH_HADOOP)
        return refuse_without_rule(a, text, err);
    r = whole_name(text, ret, err);
    if (r == 0)
        *ret_by = none;
    return r;
}

int sv_auth_to_local(struct sv_auth_to_local *a, const char *principal, size_t len,
                     char ret[SV_LOCAL_NAME_MAX + 1], struct sv_error *err)
{
    struct sv_auth_decision by;

    return sv_auth_to_local_decide(a, principal, len, ret, &by, err);
}
