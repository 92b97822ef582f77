/* The units of selvedge-gss for `selvedge doctor`: socket, account, keytabs. */
#ifndef SELVEDGE_CLIENT_DOCTOR_DOCTOR_GSS_UNIT_H
#define SELVEDGE_CLIENT_DOCTOR_DOCTOR_GSS_UNIT_H

#include "client/doctor/doctor.h"

/* Reports them, and finds d->gss_socket. *ret: the keytabs that the helper reads, NULL-terminated,
 * freed by sv_strv_free: of the unit's LoadCredential= where systemd starts it, else those of the
 * keys; NULL: none. */
void cli_doctor_gss_units(struct doctor *d, char ***ret);

#endif
