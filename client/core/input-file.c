/* See input-file.h. */
#include "client/core/input-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fd.h"

/* It may be a pipe, too. */
static int read_all(int fd, size_t max, struct sv_buf *b)
{
    char part[65536];
    ssize_t n;

    while ((n = read(fd, part, sizeof(part))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (b->len + (size_t)n > max)
            return -EFBIG;
        if (sv_buf_put(b, part, (size_t)n) < 0)
            return -ENOMEM;
    }
    return sv_buf_put_u8(b, 0) < 0 ? -ENOMEM : 0;
}

int cli_file_read(const char *file, size_t max, char **ret, size_t *ret_len, struct sv_error *err)
{
    bool standard = strcmp(file, "-") == 0;
    _cleanup_close_ int own = standard ? -1 : open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(max + 1);
    int r = !standard && own < 0 ? -errno : 0;

    if (r == 0)
        r = read_all(standard ? STDIN_FILENO : own, max, &b);
    if (r == -EFBIG)
        return sv_error_set(err, r, "%s: larger than %zu MiB", file, max >> 20);
    if (r < 0)
        return sv_error_errno(err, r, "%s", standard ? "standard input" : file);
    *ret_len = b.len - 1;
    *ret = (char *)SV_TAKE(b.data);
    return 0;
}
