/* Protection of a connection after SASL: integrity (auth-int) or privacy (auth-conf) of DIGEST-MD5,
 * RFC 2831 2.3 and 2.4. Privacy is by 3DES alone, the only cipher of the mechanism that is neither
 * broken nor short.
 *
 * A layer numbers its messages in each direction: they must be unwrapped once each, in the order of
 * wrapping. Anything else is an error after which the connection must be closed. */
#ifndef SELVEDGE_WIRE_SASL_SASL_LAYER_H
#define SELVEDGE_WIRE_SASL_SASL_LAYER_H

#include "common/base.h"
#include "common/buf.h"
#include "wire/sasl/qop.h"

#define SASL_LAYER_CIPHER "3des"
#define SASL_LAYER_OVERHEAD 24      /* at most: pad 8, MAC 10, type 2, number 4 */
#define SASL_LAYER_MAXBUF 65536u    /* announced value, RFC 2831's default */
#define SASL_LAYER_MAXBUF_MIN 1024u /* a peer with less is rejected */

struct sasl_layer;

/* `ha1`: H(A1), 16 bytes. `server`: true on the server's side. `peer_maxbuf`: largest wrapped
 * message that the peer accepts. -EIO when libcrypto lacks an algorithm. */
int ipc_sasl_layer_new(enum ipc_qop qop, const uint8_t *ha1, bool server, size_t peer_maxbuf,
                       struct sasl_layer **ret) _must_use_;
struct sasl_layer *ipc_sasl_layer_free(struct sasl_layer *l);
static inline void sasl_layer_freep(struct sasl_layer **l)
{
    *l = ipc_sasl_layer_free(*l);
}
/* Maximum input of one ipc_sasl_layer_wrap. */
size_t ipc_sasl_layer_max_input(const struct sasl_layer *l);
/* Wrapped size of n bytes. */
size_t ipc_sasl_layer_size(const struct sasl_layer *l, size_t n);

/* Writes exactly ipc_sasl_layer_size(n) bytes. -EIO, -EOVERFLOW (2^32 messages): close. */
int ipc_sasl_layer_wrap(struct sasl_layer *l, const uint8_t *p, size_t n, uint8_t *out) _must_use_;
/* Unwraps in place: *ret lies in p. -EBADMSG: malformed, forged, replayed or lost. */
int ipc_sasl_layer_unwrap(struct sasl_layer *l, uint8_t *p, size_t n, uint8_t **ret,
                          size_t *ret_len) _must_use_;

#endif
