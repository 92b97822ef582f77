/* The last two messages of SASL GSSAPI before they are wrapped, RFC 4752 3.1 to 3.3: the server
 * offers qualities of protection, the client chooses one and may name whom it acts for. Hostile:
 * both, with a valid ticket, too. */
#ifndef SELVEDGE_WIRE_SASL_GSSAPI_FINAL_H
#define SELVEDGE_WIRE_SASL_GSSAPI_FINAL_H

#include "common/base.h"
#include "common/error.h"

#define GSSAPI_OFFER_LEN 4
#define GSSAPI_NAME_MAX 255 /* of a principal, and so of an authzid */
#define GSSAPI_CHOICE_MAX (GSSAPI_OFFER_LEN + GSSAPI_NAME_MAX)

/* `mask`: qualities of wire/sasl/qop.h, which are the RFC's bits. `max` < 2^24. */
void ipc_gssapi_final_put(uint32_t mask, uint32_t max, uint8_t ret[GSSAPI_OFFER_LEN]);
/* The server's offer: *ret_qop is the strongest quality that `allowed` has, too. -EACCES. */
int ipc_gssapi_offer_read(const uint8_t *p, size_t n, uint32_t allowed, uint32_t *ret_qop,
                          uint32_t *ret_max, struct sv_error *err) _must_use_;
/* The client's choice among `offered`; its authzid must be empty or `principal`. -EACCES. */
int ipc_gssapi_choice_read(const uint8_t *p, size_t n, uint32_t offered, const char *principal,
                           uint32_t *ret_qop, uint32_t *ret_max, struct sv_error *err) _must_use_;

#endif
