/* A keytab for `selvedge-gss --check`: the file, and which keys of whom are in it. The file is the
 * operator's. */
#ifndef SELVEDGE_GSS_CHECK_KEY_LIST_H
#define SELVEDGE_GSS_CHECK_KEY_LIST_H

#include <krb5.h>

#include "common/base.h"
#include "gss/keytab-check.h"

/* Reports the file and, a line each, its principals with versions and encryption types. No key. */
void sgss_check_key_list(const struct sgss_keytabs *keytabs, const char *path, krb5_context k);

/* "aes256-cts-hmac-sha1-96", or its number. */
const char *sgss_enctype_text(krb5_enctype type, char *buf, size_t size);

#endif
