/* Reads, writes and parses files of a cgroup. Parsed strictly although they are the kernel's: a
 * wrong mount or a fake directory looks the same. */
#include "cgroups/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups/cg.h"
#include "common/fd.h"
#include "common/str.h"

const char *const cg_controller_names[] = {
    "cpu", "memory", "pids", "io", "cpuset", "hugetlb", NULL
};

int cg_file_pread(int fd, char *buf)
{
    size_t got = 0;
    for (;;) {
        ssize_t n = pread(fd, buf + got, CG_FILE_MAX - 1 - got, (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        got += (size_t)n;
        if (n == 0 || got == CG_FILE_MAX - 1)
            break;
    }
    buf[got] = '\0';
    return (int)got;
}

int cg_file_read(int dirfd, const char *name, char *buf)
{
    _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : cg_file_pread(fd, buf);
}

int cg_file_write(int dirfd, const char *name, const char *text)
{
    _cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t n = strlen(text);
    if (fd < 0)
        return -errno;
    ssize_t w = write(fd, text, n);
    return w < 0 ? -errno : w == (ssize_t)n ? 0 : -EIO;
}

/* Parses a decimal number at `s`, terminated by the end of the line or the text. */
static int value(const char *s, uint64_t *ret)
{
    char digits[24];
    size_t n = strcspn(s, "\n");
    if (n == 0 || n >= sizeof(digits))
        return -EBADMSG;
    memcpy(digits, s, n);
    digits[n] = '\0';
    return sv_parse_u64(digits, 0, UINT64_MAX, ret) < 0 ? -EBADMSG : 0;
}

int cg_parse_value(const char *text, uint64_t *ret)
{
    if (strcmp(text, "max\n") == 0 || strcmp(text, "max") == 0) {
        *ret = UINT64_MAX;
        return 0;
    }
    size_t n = strcspn(text, "\n");
    return text[n] == '\n' && text[n + 1] ? -EBADMSG : value(text, ret);
}

int cg_parse_key(const char *text, const char *key, uint64_t *ret)
{
    size_t n = strlen(key);
    for (const char *s = text; *s;) {
        if (strncmp(s, key, n) == 0 && s[n] == ' ')
            return value(s + n + 1, ret);
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    return -ENOENT;
}

uint64_t cg_sum_io(const char *text, const char *key)
{
    size_t n = strlen(key);
    uint64_t sum = 0;
    for (const char *s = text; (s = strstr(s, key)); s += n) {
        char digits[24];
        uint64_t v;
        size_t d = s[n] == '=' && s > text && s[-1] == ' ' ? strspn(s + n + 1, "0123456789") : 0;
        if (d == 0 || d >= sizeof(digits))
            continue;
        memcpy(digits, s + n + 1, d);
        digits[d] = '\0';
        if (sv_parse_u64(digits, 0, UINT64_MAX, &v) == 0 && __builtin_add_overflow(sum, v, &sum))
            return UINT64_MAX;
    }
    return sum;
}

/* "avg10=1.23 avg60=0.00 avg300=0.00 total=123" */
static int stall_line(const char *s, uint32_t *ret_avg10, uint64_t *ret_usec)
{
    unsigned whole, hundredths;
    unsigned long long total;
    if (sscanf(s, "avg10=%3u.%2u avg60=%*u.%*u avg300=%*u.%*u total=%20llu", &whole, &hundredths,
               &total) != 3)
        return -EBADMSG;
    *ret_avg10 = whole * 100 + hundredths;
    *ret_usec = total;
    return 0;
}

int cg_parse_pressure(const char *text, struct cg_stall *ret)
{
    struct cg_stall p = { 0 };
    const char *full = strstr(text, "\nfull ");
    if (!sv_has_prefix(text, "some ") || stall_line(text + 5, &p.some_avg10, &p.some_usec) < 0 ||
        (full && stall_line(full + 6, &p.full_avg10, &p.full_usec) < 0))
        return -EBADMSG;
    *ret = p;
    return 0;
}

unsigned cg_parse_controllers(const char *text)
{
    unsigned bits = 0;
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, " \n");
        for (unsigned i = 0; cg_controller_names[i]; i++)
            if (strlen(cg_controller_names[i]) == n && memcmp(cg_controller_names[i], s, n) == 0)
                bits |= 1u << i;
        s += n;
        s += strspn(s, " \n");
    }
    return bits;
}

void cg_format_controllers(unsigned bits, const char *prefix, char *buf)
{
    size_t at = 0;
    buf[0] = '\0';
    for (unsigned i = 0; cg_controller_names[i]; i++)
        if (bits >> i & 1)
            at += (size_t)snprintf(buf + at, CG_FILE_MAX - at, "%s%s%s", at ? " " : "", prefix,
                                   cg_controller_names[i]);
}
