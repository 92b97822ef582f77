/* Quality of protection of a SASL connection, as named by `hadoop.rpc.protection`. ipc-server.h and
 * ipc-client.h configure sets of it as `qop_mask`. */
#ifndef SELVEDGE_WIRE_SASL_QOP_H
#define SELVEDGE_WIRE_SASL_QOP_H

#include "common/base.h"
#include "common/error.h"

enum ipc_qop {
    IPC_QOP_AUTH = 1,      /* "authentication": qop auth */
    IPC_QOP_INTEGRITY = 2, /* "integrity": qop auth-int */
    IPC_QOP_PRIVACY = 4,   /* "privacy": qop auth-conf */
};
#define IPC_QOP_ALL (IPC_QOP_AUTH | IPC_QOP_INTEGRITY | IPC_QOP_PRIVACY)

/* "integrity,privacy" → *ret. Case, surrounding blanks and order are ignored: a server lets the
 * client choose, and Selvedge's client chooses the strongest quality that both allow. -EINVAL. */
int ipc_qop_parse(const char *text, uint32_t *ret, struct sv_error *err) _must_use_;
/* Formats a mask in Hadoop's names, for messages: "authentication,privacy". */
const char *ipc_qop_text(uint32_t mask);

/* Names of one quality on the wire of DIGEST-MD5 ("auth-int"), and back (0 = unknown). */
const char *ipc_qop_name(enum ipc_qop qop);
uint32_t ipc_qop_from_name(const char *name);
/* Formats a set as a list for a challenge, weakest first: "auth,auth-int". */
const char *ipc_qop_names(uint32_t mask);
/* Returns the strongest quality of a set; 0 for none. */
uint32_t ipc_qop_strongest(uint32_t mask);

#endif
