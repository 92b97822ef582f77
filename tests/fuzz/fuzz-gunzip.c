/* Fuzzes localizer/gunzip.h: from memory and from a file the same answers, and what is accepted is
 * what zlib unpacks, member by member. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "localizer/gunzip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (4u << 20) /* bytes, packed or not */
#define GUARD (64u << 10)
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Unpacked bytes up to MOST; *ret: 0 at the end, 1 with more to come, else the error. */
static size_t ours(int fd, const uint8_t *data, size_t size, uint8_t *out, int *ret)
{
    struct loc_gunzip *g = NULL;
    const char *why = NULL;
    const uint8_t *p = NULL;
    size_t n = 0;
    ssize_t k = 1;

    *ret = loc_gunzip_new(fd, data, size, &g);
    if (*ret <= 0) {
        *ret = -ENOMSG;
        return 0;
    }
    while (n < MOST && (k = loc_gunzip_read(g, &p, &why)) > 0) {
        size_t some = SV_MIN((size_t)k, MOST - n);

        memcpy(out + n, p, some);
        n += some;
        MUST(loc_gunzip_packed(g) <= size);
    }
    MUST(k >= 0 || why);
    *ret = (int)SV_MIN(k, 1);
    (void)loc_gunzip_free(g);
    return n;
}

/* One member; -1: damaged, 2: zlib compares the checksum of its header, which tools ignore. */
static int member(const uint8_t **at, size_t *left, uint8_t *out, size_t *n)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)*at, .avail_in = (uInt)*left };
    int r, more = -1;

    MUST(inflateInit2(&z, 16 + MAX_WBITS) == Z_OK);
    z.next_out = out + *n;
    z.avail_out = (uInt)(MOST - *n);
    r = inflate(&z, Z_SYNC_FLUSH);
    *at = z.next_in;
    *left = z.avail_in;
    *n = MOST - z.avail_out;
    if (r == Z_DATA_ERROR && z.msg && strstr(z.msg, "header crc"))
        more = 2;
    inflateEnd(&z);
    return r == Z_STREAM_END ? 0 : z.avail_out == 0 ? 1 : more;
}

/* The bytes, in front of a page that nobody may touch. */
static const uint8_t *guarded(const uint8_t *data, size_t size)
{
    static uint8_t *end;

    if (!end) {
        end = mmap(NULL, MOST + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MUST(end != MAP_FAILED && mprotect(end + MOST, GUARD, PROT_NONE) == 0);
        end += MOST;
    }
    memcpy(end - size, data, size);
    return end - size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t a[MOST], b[MOST];
    const uint8_t *at = data;
    size_t left = size, want = 0, n;
    int r, more, fd;

    if (size > MOST)
        return 0;
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    n = ours(-1, guarded(data, size), size, a, &r);
    MUST(ours(fd, NULL, size, b, &more) == n && more == r && memcmp(a, b, n) == 0);
    close(fd);
    if (r != 0)
        return 0;
    /* Accepted bytes are those that zlib unpacks. */
    while (want < n && (r = member(&at, &left, b, &want)) == 0)
        continue;
    if (r == 2)
        return 0;
    MUST(want == n && memcmp(a, b, n) == 0);
    return 0;
}
