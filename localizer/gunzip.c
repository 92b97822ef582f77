/* See gunzip.h. */
#include "localizer/gunzip.h"

#include <errno.h>
#include <unistd.h>

#include "localizer/inflate.h"

#define IN_BYTES (128u << 10)
#define OUT_BYTES (256u << 10)

/* RFC 1952: bits of the header's FLG. */
enum { HAS_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16, RESERVED = 0xe0 };

struct loc_gunzip {
    int fd;
    const uint8_t *at; /* input that is not used yet */
    size_t left;
    uint64_t taken; /* bytes of the file up to at + left */
    bool over;      /* the last member has ended */
    struct loc_inflate *inflate;
    uint8_t in[IN_BYTES], out[OUT_BYTES];
};

/* 1: there is input; 0: the file has ended. */
static int refill(struct loc_gunzip *g)
{
    ssize_t n;

    if (g->left > 0)
        return 1;
    if (g->fd < 0)
        return 0;
    do
        n = read(g->fd, g->in, sizeof(g->in));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    g->at = g->in;
    g->left = (size_t)n;
    g->taken += (size_t)n;
    return n > 0;
}

/* The next `n` bytes; 0 where the file has fewer. */
static int take(struct loc_gunzip *g, uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int r = refill(g);

        if (r <= 0)
            return r;
        p[i] = *g->at++;
        g->left--;
    }
    return 1;
}

static int skip_string(struct loc_gunzip *g)
{
    uint8_t c;
    int r;

    do
        r = take(g, &c, 1);
    while (r > 0 && c != 0);
    return r;
}

static int skip_extra(struct loc_gunzip *g)
{
    uint8_t n[2], c;
    int r = take(g, n, sizeof(n));

    for (unsigned left = n[0] | (unsigned)n[1] << 8; r > 0 && left > 0; left--)
        r = take(g, &c, 1);
    return r;
}

/* 1: a member's header; 0: something else, or a part of one. */
static int read_header(struct loc_gunzip *g)
{
    uint8_t h[10] = { 0 }, crc[2];
    int r = take(g, h, sizeof(h));

    if (r <= 0)
        return r;
    if (h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 || h[3] & RESERVED)
        return 0;
    if (h[3] & HAS_EXTRA)
        r = skip_extra(g);
    if (r > 0 && h[3] & HAS_NAME)
        r = skip_string(g);
    if (r > 0 && h[3] & HAS_COMMENT)
        r = skip_string(g);
    if (r > 0 && h[3] & HAS_CRC)
        r = take(g, crc, sizeof(crc));
    return r > 0 ? (loc_inflate_begin(g->inflate) < 0 ? -EINVAL : 1) : r;
}

int loc_gunzip_new(int fd, const void *data, size_t len, struct loc_gunzip **ret)
{
    struct loc_gunzip *g = calloc(1, sizeof(*g));
    int r;

    if (!g)
        return -ENOMEM;
    g->fd = fd;
    if (fd < 0) {
        g->at = data;
        g->left = g->taken = len;
    }
    g->inflate = loc_inflate_new();
    r = g->inflate ? read_header(g) : -ENOMEM;
    if (r > 0)
        *ret = g;
    else
        loc_gunzip_free(g);
    return r;
}

struct loc_gunzip *loc_gunzip_free(struct loc_gunzip *g)
{
    if (g)
        loc_inflate_free(g->inflate);
    free(g);
    return NULL;
}

/* As much of the member as there is room and input for. */
static int run(struct loc_gunzip *g, uint8_t **to, size_t *room, const char **why)
{
    uint8_t *from = *to;
    int done, r = refill(g);
    size_t left = g->left;

    *why = "cannot read the file";
    if (r < 0)
        return r;
    *why = "damaged gzip input";
    done = loc_inflate_run(g->inflate, &g->at, &g->left, to, room); /* it may hold output back */
    if (done < 0)
        return done;
    if (done > 0) {
        *why = "cannot read the file";
        r = read_header(g);
        g->over = r == 0;
        return r;
    }
    if (*to > from || g->left < left)
        return 0;
    if (r == 0)
        *why = "truncated gzip input";
    return -EBADMSG;
}

ssize_t loc_gunzip_read(struct loc_gunzip *g, const uint8_t **ret, const char **ret_why)
{
    uint8_t *to = g->out;
    size_t room = sizeof(g->out);

    while (room > 0 && !g->over) {
        int r = run(g, &to, &room, ret_why);

        if (r < 0)
            return r;
    }
    *ret = g->out;
    return to - g->out;
}

uint64_t loc_gunzip_packed(const struct loc_gunzip *g)
{
    return g->taken - g->left;
}
