/* Integrity (auth-int) or privacy (auth-conf) of DIGEST-MD5, RFC 2831 2.3 and 2.4. Privacy is by
 * 3DES alone, the only cipher of the mechanism that is neither broken nor short. */
#ifndef SELVEDGE_WIRE_SASL_DIGEST_LAYER_H
#define SELVEDGE_WIRE_SASL_DIGEST_LAYER_H

#include "common/base.h"
#include "wire/sasl/qop.h"
#include "wire/sasl/sasl-layer.h"

#define DIGEST_LAYER_CIPHER "3des"
#define DIGEST_LAYER_OVERHEAD 24 /* at most: pad 8, MAC 10, type 2, number 4 */

/* `ha1`: H(A1), 16 bytes. `server`: true on the server's side. `peer_maxbuf`: largest wrapped
 * message that the peer accepts. -EIO when libcrypto lacks an algorithm. */
int ipc_digest_layer_new(enum ipc_qop qop, const uint8_t *ha1, bool server, size_t peer_maxbuf,
                         struct sasl_layer **ret) _must_use_;

#endif
