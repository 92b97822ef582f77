/* See gssapi-final.h. */
#include "wire/sasl/gssapi-final.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "wire/sasl/qop.h"
#include "wire/sasl/sasl-layer.h"

static_assert(IPC_QOP_AUTH == 1 && IPC_QOP_INTEGRITY == 2 && IPC_QOP_PRIVACY == 4,
              "the bits of RFC 4752 3.3");

void ipc_gssapi_final_put(uint32_t mask, uint32_t max, uint8_t ret[GSSAPI_OFFER_LEN])
{
    ret[0] = (uint8_t)mask;
    ret[1] = (uint8_t)(max >> 16);
    ret[2] = (uint8_t)(max >> 8);
    ret[3] = (uint8_t)max;
}

static uint32_t max_of(const uint8_t *p)
{
    return (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The RFC wants a size of 0 where there is no layer. Java's client and server send 65536 there, so
 * the size is looked at only where a layer follows. */
static int check_size(uint32_t qop, uint32_t max, struct sv_error *err)
{
    if (qop != IPC_QOP_AUTH && max < SASL_LAYER_MAXBUF_MIN)
        return sv_error_set(err, -EACCES, "GSSAPI: the peer takes messages of %u bytes only", max);
    return 0;
}

int ipc_gssapi_offer_read(const uint8_t *p, size_t n, uint32_t allowed, uint32_t *ret_qop,
                          uint32_t *ret_max, struct sv_error *err)
{
    uint32_t qop, max;
    int r;

    if (n != GSSAPI_OFFER_LEN)
        return sv_error_set(err, -EACCES, "GSSAPI: malformed offer of protection");
    qop = ipc_qop_strongest(p[0] & allowed);
    if (!qop)
        return sv_error_set(err, -EACCES,
                            "GSSAPI: the server offers protection %s; hadoop.rpc.protection here "
                            "asks for %s",
                            ipc_qop_text(p[0]), ipc_qop_text(allowed));
    max = max_of(p);
    r = check_size(qop, max, err);
    if (r < 0)
        return r;
    *ret_qop = qop;
    *ret_max = max;
    return 0;
}

/* Java's server begins its answer to a foreign authzid with the same words. */
int ipc_gssapi_choice_read(const uint8_t *p, size_t n, uint32_t offered, const char *principal,
                           uint32_t *ret_qop, uint32_t *ret_max, struct sv_error *err)
{
    uint32_t max;
    int r;

    if (n < GSSAPI_OFFER_LEN || n > GSSAPI_CHOICE_MAX)
        return sv_error_set(err, -EACCES, "GSSAPI: malformed choice of protection");
    if (ipc_qop_strongest(p[0]) != p[0] || !(p[0] & offered))
        return sv_error_set(err, -EACCES,
                            "GSSAPI: the client chose protection %u; hadoop.rpc.protection here "
                            "allows %s",
                            p[0], ipc_qop_text(offered));
    if (n > GSSAPI_OFFER_LEN &&
        (n - GSSAPI_OFFER_LEN != strlen(principal) ||
         memcmp(p + GSSAPI_OFFER_LEN, principal, n - GSSAPI_OFFER_LEN) != 0))
        return sv_error_set(err, -EACCES,
                            "Problem with callback handler: the authorization "
                            "identity is not the client's principal");
    max = max_of(p);
    r = check_size(p[0], max, err);
    if (r < 0)
        return r;
    *ret_qop = p[0];
    *ret_max = max;
    return 0;
}
