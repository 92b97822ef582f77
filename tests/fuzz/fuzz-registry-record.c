/* Fuzzes records of YARN's registry: anybody may have stored them. An accepted record is written,
 * and what was written is read as the same record. */
#include <errno.h>
#include <string.h>

#include "registry/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void same_endpoints(const struct reg_endpoint *a, size_t n, const struct reg_endpoint *b,
                           size_t m)
{
    MUST(n == m && n <= REG_LIST_MAX);
    for (size_t i = 0; i < n; i++) {
        MUST(strcmp(a[i].api, b[i].api) == 0 && strcmp(a[i].protocol, b[i].protocol) == 0);
        MUST(strcmp(a[i].address_type, b[i].address_type) == 0 && a[i].n == b[i].n);
        for (size_t k = 0; k < a[i].n; k++)
            MUST(a[i].addresses[k].n == b[i].addresses[k].n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(16 * REG_RECORD_MAX);
    struct reg_record first, second;
    struct sv_error err = { 0 };
    int r = reg_record_parse(data, size, a, &first, &err);

    if (r < 0) {
        MUST((r == -ENODATA || r == -EBADMSG || r == -ENOMEM) && err.text[0]);
        return 0;
    }
    MUST(first.n_attributes <= REG_LIST_MAX);
    MUST(reg_record_print(&first, &out) == 0);
    if (out.len > REG_RECORD_MAX)
        return 0; /* escapes are longer than what they stand for */
    MUST(reg_record_parse(out.data, out.len, a, &second, &err) == 0);
    MUST(first.n_attributes == second.n_attributes);
    MUST(!first.description == !second.description);
    MUST(!first.description || strcmp(first.description, second.description) == 0);
    same_endpoints(first.external, first.n_external, second.external, second.n_external);
    same_endpoints(first.internal, first.n_internal, second.internal, second.n_internal);
    return 0;
}
