/* `selvedge-gss --check`: what an operator wants to know before a daemon relies on Kerberos:
 * krb5.conf, the keytabs, and for each principal an exchange with the KDC, the KDC's clock and its
 * version of the key. Lines as in findings.h. Blocks as long as libkrb5 does: the caller has a
 * limit. Hostile: the KDCs' answers, which libkrb5 parses behind the sandbox. */
#ifndef SELVEDGE_GSS_CHECK_H
#define SELVEDGE_GSS_CHECK_H

#include "common/base.h"
#include "gss/keytab-check.h"

#define SGSS_CHECKED_MAX 4 /* principals */

struct sgss_check {
    const struct sgss_keytabs *keytabs;
    const char *krb5_conf;                    /* for messages; it is in the environment already */
    const char *principals[SGSS_CHECKED_MAX]; /* full */
    size_t n;
};

/* Finds, and changes nothing. */
void sgss_check(const struct sgss_check *c);

#endif
