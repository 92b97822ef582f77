/* An exchange with the KDC for `selvedge-gss --check`. Blocks. Hostile: the KDC's answers. */
#ifndef SELVEDGE_GSS_CHECK_KDC_H
#define SELVEDGE_GSS_CHECK_KDC_H

#include <krb5.h>

#include "common/base.h"
#include "gss/keytab-check.h"

/* Logs the principal in by its key and reports the answer's time or why there is no ticket; the
 * KDC's clock against this machine's; and whether the keytab has the key that the KDC uses for
 * tickets of clients, which it asks for with a ticket to itself. */
void sgss_check_kdc(const struct sgss_keytabs *keytabs, const char *principal, krb5_context k);

#endif
