/* See deflate.h: with zlib, which streams. */
#include <errno.h>
#include <zlib.h>

#include "logs/deflate.h"

struct logs_deflate {
    struct logs_sink sink;
    z_stream z;
    uint8_t out[LOGS_CODEC_BUFFER];
};

int logs_deflate_new(const struct logs_sink *sink, struct logs_deflate **ret)
{
    struct logs_deflate *d = calloc(1, sizeof(*d));

    if (!d || deflateInit(&d->z, Z_DEFAULT_COMPRESSION) != Z_OK) {
        free(d);
        return -ENOMEM;
    }
    d->sink = *sink;
    *ret = d;
    return 0;
}

void logs_deflate_free(struct logs_deflate *d)
{
    if (!d)
        return;
    (void)deflateEnd(&d->z); /* only frees, ignoring */
    free(d);
}

static int deflate_some(struct logs_deflate *d, int flush)
{
    int z, r = 0;

    do {
        size_t n;

        d->z.next_out = d->out;
        d->z.avail_out = sizeof(d->out);
        z = deflate(&d->z, flush);
        if (z == Z_STREAM_ERROR)
            return -EINVAL;
        n = sizeof(d->out) - d->z.avail_out;
        if (n > 0)
            r = d->sink.write(d->sink.userdata, d->out, n);
    } while (r == 0 && d->z.avail_out == 0);
    return r;
}

int logs_deflate_put(struct logs_deflate *d, const void *p, size_t n)
{
    int r = 0;

    for (size_t done = 0; r == 0 && done < n;) {
        size_t some = SV_MIN(n - done, (size_t)1 << 30);

        d->z.next_in = (Bytef *)(uintptr_t)p + done;
        d->z.avail_in = (uInt)some;
        r = deflate_some(d, Z_NO_FLUSH);
        done += some;
    }
    return r;
}

int logs_deflate_pause(struct logs_deflate *d, uint64_t wanted)
{
    (void)d;
    (void)wanted;
    return 0;
}

int logs_deflate_end(struct logs_deflate *d)
{
    int r;

    d->z.avail_in = 0;
    r = deflate_some(d, Z_FINISH);
    return r < 0 ? r : deflateReset(&d->z) == Z_OK ? 0 : -EINVAL;
}
