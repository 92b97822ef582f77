/* See inflate.h: by zlib. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "localizer/inflate.h"

struct loc_inflate {
    z_stream z;
};

struct loc_inflate *loc_inflate_new(void)
{
    struct loc_inflate *z = calloc(1, sizeof(*z));

    if (z && inflateInit2(&z->z, 16 + MAX_WBITS) == Z_OK)
        return z;
    free(z);
    return NULL;
}

void loc_inflate_free(struct loc_inflate *z)
{
    if (z)
        (void)inflateEnd(&z->z); /* only frees, ignoring */
    free(z);
}

int loc_inflate_begin(struct loc_inflate *z)
{
    /* The shortest header, for the one that was read. */
    static const uint8_t header[10] = { 0x1f, 0x8b, 8 };
    uint8_t none = 0;

    if (inflateReset(&z->z) != Z_OK)
        return -EINVAL;
    z->z.next_in = (Bytef *)(uintptr_t)header;
    z->z.avail_in = sizeof(header);
    z->z.next_out = &none;
    z->z.avail_out = 1;
    (void)inflate(&z->z, Z_NO_FLUSH); /* there is nothing to give out, ignoring */
    return z->z.avail_in == 0 ? 0 : -EINVAL;
}

int loc_inflate_run(struct loc_inflate *z, const uint8_t **in, size_t *in_len, uint8_t **out,
                    size_t *out_len)
{
    uInt had_in = (uInt)SV_MIN(*in_len, (size_t)INT_MAX);
    uInt had_out = (uInt)SV_MIN(*out_len, (size_t)INT_MAX);
    int r;

    z->z.next_in = (Bytef *)(uintptr_t)*in;
    z->z.avail_in = had_in;
    z->z.next_out = *out;
    z->z.avail_out = had_out;
    r = inflate(&z->z, Z_NO_FLUSH);
    *in_len -= had_in - z->z.avail_in;
    *in = z->z.next_in;
    *out_len -= had_out - z->z.avail_out;
    *out = z->z.next_out;
    if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
        return -EBADMSG;
    return r == Z_STREAM_END;
}
