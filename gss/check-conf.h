/* krb5.conf for `selvedge-gss --check`. The file is the operator's. */
#ifndef SELVEDGE_GSS_CHECK_CONF_H
#define SELVEDGE_GSS_CHECK_CONF_H

#include <krb5.h>

#include "common/base.h"

/* Reports the file, its realm and the realm's KDCs. False: libkrb5 cannot work with it; else the
 * caller frees *ret. */
bool sgss_check_conf(const char *path, krb5_context *ret);
/* [libdefaults] clockskew, seconds. */
int sgss_conf_clockskew(krb5_context k);

#endif
