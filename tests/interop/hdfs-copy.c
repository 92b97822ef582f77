/* Copies one file to or from a file system, as the configuration of a directory says: for
 * tests/interop/test-hdfs-transfer.
 *
 *   hdfs-copy CONF-DIR USER CREDENTIALS|- get URL LOCAL-FILE
 *   hdfs-copy CONF-DIR USER CREDENTIALS|- put URL LOCAL-FILE
 *
 * Prints why it failed, and ends with status 1. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "fs/configured.h"

static int sink(void *userdata, const void *p, size_t n)
{
    return sv_write_all(*(const int *)userdata, p, n);
}

static int get(struct fs *fs, const char *path, const char *local, struct sv_error *err)
{
    _cleanup_close_ int fd = open(local, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct fs_stream s = { .sink = sink, .userdata = &fd };
    struct fs_status st;
    int r = fd < 0 ? sv_error_errno(err, -errno, "%s", local) : 0;

    if (r == 0)
        r = fs_status(fs, path, &st, NULL, err);
    return r < 0 ? r : fs_stream(fs, path, &st, &s, err);
}

static int put(struct fs *fs, const char *path, const char *local, struct sv_error *err)
{
    _cleanup_close_ int fd = open(local, O_RDONLY | O_CLOEXEC);
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    int r = fd < 0 ? sv_error_errno(err, -errno, "%s", local) : 0;

    if (r == 0)
        r = fs_create(fs, path, 0644, &f, err);
    if (r >= 0)
        r = fs_write_from(f, fd, err);
    return r < 0 ? r : fs_finish(f, err);
}

static int copy(char **argv, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    _cleanup_(fs_closep) struct fs *fs = NULL;
    _cleanup_close_ int credentials = -1;
    struct fs_url url;
    struct fs_options o = { .url = &url,
                            .path = "/",
                            .root = -1,
                            .program = "selvedge-hdfs-copy",
                            .identity = { .user = argv[2] } };
    int r = c ? sv_conf_load_hadoop(c, argv[1], err) : -ENOMEM;

    if (r >= 0)
        r = fs_url_parse(argv[5], &url, err);
    if (r < 0)
        return r;
    if (strcmp(argv[3], "-") != 0) {
        credentials = open(argv[3], O_RDONLY | O_CLOEXEC);
        if (credentials < 0)
            return sv_error_errno(err, -errno, "%s", argv[3]);
    }
    o.identity.credentials = credentials;
    r = fs_open_configured(c, &o, &fs, err);
    if (r < 0)
        return r;
    return (strcmp(argv[4], "put") == 0 ? put : get)(fs, url.path + 1, argv[6], err);
}

int main(int argc, char **argv)
{
    struct sv_error err = { 0 };

    if (argc != 7 || (strcmp(argv[4], "get") != 0 && strcmp(argv[4], "put") != 0))
        return 2;
    if (copy(argv, &err) >= 0)
        return 0;
    printf("%s\n", err.text);
    return 1;
}
