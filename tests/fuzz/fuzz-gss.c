/* libFuzzer target: messages around Kerberos. First byte modulo 4: 0, a daemon's request to
 * selvedge-gss; 1, its answer; 2, the offer of protection of SASL GSSAPI; 3, the client's choice.
 * An accepted message is within its bounds, and is written again as the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "gss/protocol.h"
#include "wire/sasl/gssapi-final.h"
#include "wire/sasl/qop.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void request(const uint8_t *p, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct sgss_request m;

    if (sgss_request_get(p, n, &m) < 0)
        return;
    MUST(strlen(m.principal) <= SGSS_NAME_MAX && strlen(m.target) <= SGSS_NAME_MAX);
    MUST(m.token_len <= SGSS_TOKEN_MAX);
    MUST(sgss_request_put(&b, &m) == 0 && b.len == n && memcmp(b.data, p, n) == 0);
}

static void answer(const uint8_t *p, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct sgss_answer m;

    if (sgss_answer_get(p, n, &m) < 0)
        return;
    MUST((m.status >= SGSS_REFUSED) == (m.words[0] != 0));
    MUST(m.context_len == 0 || m.status == SGSS_OK);
    MUST(sgss_answer_put(&b, &m) == 0 && b.len == n && memcmp(b.data, p, n) == 0);
}

static void offer(const uint8_t *p, size_t n)
{
    struct sv_error err = { 0 };
    uint32_t qop, max;

    for (uint32_t allowed = 1; allowed <= IPC_QOP_ALL; allowed++)
        if (ipc_gssapi_offer_read(p, n, allowed, &qop, &max, &err) == 0)
            MUST(n == GSSAPI_OFFER_LEN && qop & allowed && qop & p[0] && max < 1u << 24);
        else
            MUST(err.text[0]);
}

static void choice(const uint8_t *p, size_t n)
{
    static const char name[] = "alice@R";
    struct sv_error err = { 0 };
    uint32_t qop, max;

    for (uint32_t offered = 1; offered <= IPC_QOP_ALL; offered++)
        if (ipc_gssapi_choice_read(p, n, offered, name, &qop, &max, &err) == 0)
            MUST((n == GSSAPI_OFFER_LEN || n == GSSAPI_OFFER_LEN + strlen(name)) && qop & offered &&
                 qop == p[0] && max < 1u << 24);
        else
            MUST(err.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const uint8_t *p, size_t n) = { request, answer, offer, choice };

    if (size > 0)
        kinds[data[0] % SV_ARRAY_LEN(kinds)](data + 1, size - 1);
    return 0;
}
