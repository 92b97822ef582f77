/* See log-read.h. */
#include "nodemanager/services/log-read.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodemanager/core/context.h"
#include "nodemanager/health/log-disks.h"

struct block { /* the thread's */
    int fd;
    int64_t offset;
    size_t n;
    ssize_t got;
    int error;
    char *bytes;
};

struct reader {
    nm_log_read_fn done;
    void *userdata;
};

static void read_block(void *data)
{
    struct block *b = data;

    b->got = pread(b->fd, b->bytes, b->n, (off_t)b->offset);
    b->error = b->got < 0 ? -errno : 0;
}

static void block_free(void *data)
{
    struct block *b = data;

    free(b->bytes);
    free(b);
}

static void on_read(int status, void *data, void *userdata)
{
    struct reader *r = userdata;
    struct block *b = data;

    if (status >= 0)
        status = b->error;
    if (status >= 0)
        r->done(0, SV_TAKE(b->bytes), (size_t)b->got, r->userdata);
    else
        r->done(status, NULL, 0, r->userdata);
    free(r);
}

int nm_log_read(const struct nm_context *ctx, const struct nm_log_file *file, int64_t offset,
                size_t n, nm_log_read_fn done, void *userdata, struct sv_error *why)
{
    struct reader *r = calloc(1, sizeof(*r));
    struct block *b = calloc(1, sizeof(*b));
    const struct sv_job job = {
        .data = b, .run = read_block, .done = on_read, .free = block_free, .userdata = r
    };
    int e = -ENOMEM;

    if (r && b) {
        *r = (struct reader){ done, userdata };
        *b = (struct block){ .fd = file->fd, .offset = offset, .n = n, .bytes = malloc(n ? n : 1) };
        e = b->bytes ? nm_log_disks_run(ctx->log_disks, file->disk, NM_LOG_DISK_ALL, &job, why)
                     : sv_error_errno(why, -ENOMEM, "log file");
    }
    if (e >= 0)
        return 0;
    if (b)
        block_free(b);
    free(r);
    return e;
}
