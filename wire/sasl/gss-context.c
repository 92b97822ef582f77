/* See gss-context.h. The message of RFC 4121 4.2.4 is header | data | trailer, with padding between
 * data and trailer in the enctypes of before; the library fills the parts in place. */
#include "wire/sasl/gss-context.h"

#include <errno.h>
#include <string.h>

#include "wire/sasl/gss-library.h"

struct gss_context {
    const struct gss_library *gss;
    gss_ctx_id_t id;
};

enum { HEADER, DATA, PADDING, TRAILER, PARTS };

/* The exported form begins with the length and the bytes of the mechanism's object identifier.
 * Another mechanism's would make the library load that mechanism. */
static const uint8_t krb5[] = { 0, 0, 0, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02 };

int ipc_gss_context_import(const uint8_t *p, size_t n, struct gss_context **ret,
                           struct sv_error *err)
{
    const struct gss_library *gss;
    gss_buffer_desc exported = { .length = n, .value = (void *)(uintptr_t)p };
    OM_uint32 minor;
    int r;

    if (n < sizeof(krb5) || n > GSS_EXPORTED_MAX || memcmp(p, krb5, sizeof(krb5)) != 0)
        return sv_error_set(err, -EBADMSG, "the security context is not one of Kerberos 5");
    r = ipc_gss_library(&gss, err);
    if (r < 0)
        return r;
    _cleanup_(gss_context_freep) struct gss_context *g = calloc(1, sizeof(*g));
    if (!g)
        return sv_error_set(err, -ENOMEM, "out of memory");
    g->gss = gss;
    g->id = GSS_C_NO_CONTEXT;
    if (gss->import_sec_context(&minor, &exported, &g->id) != GSS_S_COMPLETE)
        return sv_error_set(err, -EBADMSG, "the security context cannot be imported (%u)", minor);
    *ret = SV_TAKE(g);
    return 0;
}

struct gss_context *ipc_gss_context_free(struct gss_context *g)
{
    OM_uint32 minor;

    if (!g)
        return NULL;
    if (g->id != GSS_C_NO_CONTEXT)
        (void)g->gss->delete_sec_context(&minor, &g->id, GSS_C_NO_BUFFER); /* freed, ignoring */
    free(g);
    return NULL;
}

size_t ipc_gss_context_limit(struct gss_context *g, bool seal, size_t max)
{
    OM_uint32 minor, limit;

    if (max > UINT32_MAX || g->gss->wrap_size_limit(&minor, g->id, seal, GSS_C_QOP_DEFAULT,
                                                    (OM_uint32)max, &limit) != GSS_S_COMPLETE)
        return 0;
    return limit;
}

/* The sizes of the parts of a message of n bytes; 0, or the sum. */
static size_t parts_of(struct gss_context *g, bool seal, size_t n, gss_iov_buffer_desc *parts)
{
    OM_uint32 minor;
    size_t sum = 0;

    memset(parts, 0, PARTS * sizeof(*parts));
    parts[HEADER].type = GSS_IOV_BUFFER_TYPE_HEADER;
    parts[DATA].type = GSS_IOV_BUFFER_TYPE_DATA;
    parts[DATA].buffer.length = n;
    parts[PADDING].type = GSS_IOV_BUFFER_TYPE_PADDING;
    parts[TRAILER].type = GSS_IOV_BUFFER_TYPE_TRAILER;
    if (g->gss->wrap_iov_length(&minor, g->id, seal, GSS_C_QOP_DEFAULT, NULL, parts, PARTS) !=
        GSS_S_COMPLETE)
        return 0;
    for (size_t i = 0; i < PARTS; i++)
        if (__builtin_add_overflow(sum, parts[i].buffer.length, &sum))
            return 0;
    return sum;
}

size_t ipc_gss_context_size(struct gss_context *g, bool seal, size_t n)
{
    gss_iov_buffer_desc parts[PARTS];

    return parts_of(g, seal, n, parts);
}

int ipc_gss_context_wrap(struct gss_context *g, bool seal, const uint8_t *p, size_t n, uint8_t *out)
{
    gss_iov_buffer_desc parts[PARTS];
    OM_uint32 minor;
    int sealed = 0;
    size_t size = parts_of(g, seal, n, parts), sum = 0;

    if (size == 0)
        return -EIO;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i].buffer.value = out;
        out += parts[i].buffer.length;
    }
    if (n > 0)
        memcpy(parts[DATA].buffer.value, p, n);
    if (g->gss->wrap_iov(&minor, g->id, seal, GSS_C_QOP_DEFAULT, &sealed, parts, PARTS) !=
            GSS_S_COMPLETE ||
        (seal && !sealed))
        return -EIO;
    for (size_t i = 0; i < PARTS; i++)
        sum += parts[i].buffer.length;
    return sum == size ? 0 : -EIO;
}

/* A result other than GSS_S_COMPLETE is fatal, the supplementary bits for old, repeated, lost and
 * reordered messages included: the library sets those beside success. */
int ipc_gss_context_unwrap(struct gss_context *g, uint8_t *p, size_t n, uint8_t **ret,
                           size_t *ret_len, bool *ret_sealed)
{
    gss_iov_buffer_desc parts[] = {
        { .type = GSS_IOV_BUFFER_TYPE_STREAM, .buffer = { .length = n, .value = p } },
        { .type = GSS_IOV_BUFFER_TYPE_DATA },
    };
    gss_qop_t quality;
    OM_uint32 minor;
    int sealed = 0;

    if (g->gss->unwrap_iov(&minor, g->id, &sealed, &quality, parts, SV_ARRAY_LEN(parts)) !=
        GSS_S_COMPLETE)
        return -EBADMSG;
    *ret = parts[1].buffer.value;
    *ret_len = parts[1].buffer.length;
    *ret_sealed = sealed;
    return 0;
}
