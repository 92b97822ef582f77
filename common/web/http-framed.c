/* See http-framed.h. */
#include "common/web/http-framed.h"

#include <string.h>
#include <unistd.h>

#include "common/fd.h"

#define BLOCK 32768

struct framed {
    char *before, *after;
    size_t before_len, after_len;
    int fd;
    uint64_t offset, size;
};

static void framed_free(void *data)
{
    struct framed *f = data;

    free(f->before);
    free(f->after);
    sv_close(f->fd);
    free(f);
}

static ssize_t copy_text(char *to, size_t max, const char *text, uint64_t left)
{
    size_t n = SV_MIN(max, (size_t)left);

    memcpy(to, text, n);
    return (ssize_t)n;
}

static ssize_t read_framed(void *data, uint64_t pos, char *to, size_t max)
{
    struct framed *f = data;
    ssize_t n;

    if (pos < f->before_len)
        return copy_text(to, max, f->before + pos, f->before_len - pos);
    pos -= f->before_len;
    if (pos >= f->size) {
        pos -= f->size;
        if (pos >= f->after_len)
            return MHD_CONTENT_READER_END_OF_STREAM;
        return copy_text(to, max, f->after + pos, f->after_len - pos);
    }
    n = pread(f->fd, to, (size_t)SV_MIN((uint64_t)max, f->size - pos), (off_t)(f->offset + pos));
    return n > 0 ? n : MHD_CONTENT_READER_END_WITH_ERROR;
}

struct MHD_Response *sv_http_framed_response(struct sv_http_response *a)
{
    struct framed *f = calloc(1, sizeof(*f));
    struct MHD_Response *response;

    if (!f) {
        free(SV_TAKE(a->before));
        free(SV_TAKE(a->after));
        a->fd = sv_close(a->fd);
        return NULL;
    }
    *f = (struct framed){ .before = SV_TAKE(a->before),
                          .after = SV_TAKE(a->after),
                          .fd = sv_take_fd(&a->fd),
                          .offset = a->offset,
                          .size = a->size };
    f->before_len = f->before ? strlen(f->before) : 0;
    f->after_len = f->after ? strlen(f->after) : 0;
    response = MHD_create_response_from_callback(f->before_len + f->size + f->after_len, BLOCK,
                                                 read_framed, f, framed_free);
    if (!response)
        framed_free(f);
    return response;
}
