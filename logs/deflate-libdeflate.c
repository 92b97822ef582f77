/* See deflate.h: with libdeflate, which compresses whole buffers. */
#include <errno.h>
#include <libdeflate.h>
#include <string.h>

#include "logs/deflate.h"

/* libdeflate's: smaller than zlib's 6, Hadoop's default, and more than twice as fast
 * (docs/adr/0084-libdeflate-and-isa-l.md). */
#define LEVEL 5

struct logs_deflate {
    struct logs_sink sink;
    struct libdeflate_compressor *compressor;
    bool begun; /* the block has a stream already */
    size_t n, cap;
    uint64_t last_in, last_out; /* bytes of the stream before */
    uint8_t *out;               /* of `cap` bytes: what LOGS_MEMBER bytes may become */
    uint8_t in[LOGS_MEMBER];
};

int logs_deflate_new(const struct logs_sink *sink, struct logs_deflate **ret)
{
    struct logs_deflate *d = calloc(1, sizeof(*d));

    if (!d)
        return -ENOMEM;
    d->sink = *sink;
    d->last_in = 2; /* a guess */
    d->last_out = 1;
    d->compressor = libdeflate_alloc_compressor(LEVEL);
    d->cap = libdeflate_zlib_compress_bound(d->compressor, sizeof(d->in));
    d->out = malloc(d->cap);
    if (!d->compressor || !d->out) {
        logs_deflate_free(d);
        return -ENOMEM;
    }
    *ret = d;
    return 0;
}

void logs_deflate_free(struct logs_deflate *d)
{
    if (!d)
        return;
    if (d->compressor)
        libdeflate_free_compressor(d->compressor);
    free(d->out);
    free(d);
}

static int flush(struct logs_deflate *d)
{
    size_t n = libdeflate_zlib_compress(d->compressor, d->in, d->n, d->out, d->cap);

    if (n == 0) /* only where the bound were wrong */
        return -EINVAL;
    if (d->n > 0) {
        d->last_in = d->n;
        d->last_out = n;
    }
    d->n = 0;
    d->begun = true;
    return d->sink.write(d->sink.userdata, d->out, n);
}

int logs_deflate_put(struct logs_deflate *d, const void *p, size_t n)
{
    int r = 0;

    for (size_t done = 0; r == 0 && done < n;) {
        size_t some = SV_MIN(n - done, sizeof(d->in) - d->n);

        memcpy(d->in + d->n, (const uint8_t *)p + done, some);
        d->n += some;
        done += some;
        if (d->n == sizeof(d->in))
            r = flush(d);
    }
    return r;
}

int logs_deflate_pause(struct logs_deflate *d, uint64_t wanted)
{
    uint64_t likely = (uint64_t)d->n * d->last_out / d->last_in;

    /* An eighth more, so that a guess that is a little too high does not leave a short stream
     * behind. */
    return d->n > 0 && likely >= wanted + wanted / 8 ? flush(d) : 0;
}

int logs_deflate_end(struct logs_deflate *d)
{
    int r = d->n > 0 || !d->begun ? flush(d) : 0;

    d->n = 0;
    d->begun = false;
    return r;
}
