/* Integrity or privacy of SASL GSSAPI, RFC 4752: each message is a GSS wrap token of an established
 * context. */
#ifndef SELVEDGE_WIRE_SASL_GSSAPI_LAYER_H
#define SELVEDGE_WIRE_SASL_GSSAPI_LAYER_H

#include "common/base.h"
#include "wire/sasl/gss-context.h"
#include "wire/sasl/qop.h"
#include "wire/sasl/sasl-layer.h"

/* Takes the context on success. `peer_maxbuf`: largest wrapped message that the peer accepts.
 * -EINVAL: too little of it, or qop auth, which has no layer. */
int ipc_gssapi_layer_new(enum ipc_qop qop, size_t peer_maxbuf, struct gss_context **g,
                         struct sasl_layer **ret) _must_use_;

#endif
