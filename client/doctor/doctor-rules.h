/* hadoop.security.auth_to_local for `selvedge doctor`. */
#ifndef SELVEDGE_CLIENT_DOCTOR_DOCTOR_RULES_H
#define SELVEDGE_CLIENT_DOCTOR_DOCTOR_RULES_H

#include "client/doctor/doctor.h"

/* Tries the rules on this node's principal and on those of --principal: rule, account, and whether
 * containers can run as it. */
void cli_doctor_rules(struct doctor *d);

#endif
