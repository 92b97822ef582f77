/* See doctor-rules.h. Hostile: nothing; principals are the operator's words. */
#include "client/doctor/doctor-rules.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "common/identity/auth-to-local.h"
#include "common/str.h"

#define AREA "rules"

/* By which rule, in words. */
static const char *rule_text(const struct sv_auth_decision *by, char *buf, size_t size)
{
    if (by->number)
        (void)snprintf(buf, size, "rule %zu, %.300s", by->number, by->text);
    else
        (void)snprintf(buf, size, "no rule");
    return buf;
}

static void check_account(struct doctor *d, const char *principal, const char *account,
                          const char *by)
{
    const struct passwd *pw = getpwnam(account);
    const char *remedy = "an account with a uid from min.user.id of container-executor.cfg, or "
                         "allowed.system.users there";

    if (!pw)
        cli_doctor_report(d, DOCTOR_BAD, AREA,
                          "create the account on this node, or correct the rules or the name "
                          "service (getent passwd)",
                          "%s is %s by %s: this account does not exist here: its containers fail",
                          principal, account, by);
    else if (pw->pw_uid == 0)
        cli_doctor_report(d, DOCTOR_BAD, AREA, "correct the rules: nobody is to become root",
                          "%s is %s by %s: uid 0", principal, account, by);
    else if (d->policy.known && pw->pw_uid < d->policy.min_uid)
        cli_doctor_report(d, DOCTOR_WEAK, AREA, remedy,
                          "%s is %s by %s: uid %u is below min.user.id, %u: its containers are "
                          "refused",
                          principal, account, by, pw->pw_uid, d->policy.min_uid);
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "%s is %s by %s: uid %u", principal, account,
                          by, pw->pw_uid);
}

static void check_user(struct doctor *d, const char *principal)
{
    char account[SV_LOCAL_NAME_MAX + 1], by[400];
    struct sv_auth_decision decision;
    struct sv_error err = { 0 };

    if (sv_auth_to_local_decide(d->conf.kerberos.own.rules, principal, strlen(principal), account,
                                &decision, &err) < 0)
        cli_doctor_report(d, DOCTOR_BAD, AREA,
                          "a rule for it in hadoop.security.auth_to_local, if it is to be served",
                          "%s", err.text);
    else
        check_account(d, principal, account, rule_text(&decision, by, sizeof(by)));
}

/* Daemons run no containers. */
static void check_node(struct doctor *d, const char *principal)
{
    char account[SV_LOCAL_NAME_MAX + 1], by[400];
    struct sv_auth_decision decision;
    struct sv_error err = { 0 };

    if (sv_auth_to_local_decide(d->conf.kerberos.own.rules, principal, strlen(principal), account,
                                &decision, &err) < 0)
        cli_doctor_report(d, DOCTOR_WEAK, AREA,
                          "a rule for the daemons, such as "
                          "RULE:[2:$1@$0]([rn]m@EXAMPLE\\.COM)s/.*/yarn/",
                          "%s", err.text);
    else
        cli_doctor_report(d, DOCTOR_OK, AREA, NULL, "%s is %s by %s", principal, account,
                          rule_text(&decision, by, sizeof(by)));
}

void cli_doctor_rules(struct doctor *d)
{
    size_t n = sv_auth_to_local_count(d->conf.kerberos.own.rules);

    check_node(d, d->conf.kerberos.own.principal);
    for (size_t i = 0; i < d->n_principals; i++)
        check_user(d, d->principals[i]);
    if (d->n_principals == 0)
        cli_doctor_report(d, DOCTOR_NOTE, AREA, NULL,
                          "hadoop.security.auth_to_local has %zu rule%s; --principal NAME tries "
                          "them",
                          n, n == 1 ? "" : "s");
}
