/* See unpack.h. Runs in a worker of container-localizer that may only write beneath its target.
 * Hostile: the archive, and therefore libarchive's output, which is checked as if the archive's
 * author had written it. */
#include "localizer/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "localizer/gunzip.h"

#define BLOCK 65536
#define PROGRESS_BYTES (1u << 20)
#define EMPTY_MAX (1u << 20) /* bytes of a tar without an entry */
#define REST_MAX (1u << 20)  /* unpacked bytes behind a tar that are looked at */

static bool has_suffix_lower(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);

    if (n < m)
        return false;
    for (size_t i = 0; i < m; i++)
        if (tolower((unsigned char)name[n - m + i]) != suffix[i])
            return false;
    return true;
}

bool loc_is_jar(const char *name)
{
    return has_suffix_lower(name, ".jar");
}

enum loc_format loc_format_of(const char *name)
{
    if (loc_is_jar(name) || has_suffix_lower(name, ".zip"))
        return LOC_FORMAT_ZIP;
    if (has_suffix_lower(name, ".tar.gz") || has_suffix_lower(name, ".tgz"))
        return LOC_FORMAT_TAR_GZ;
    if (has_suffix_lower(name, ".tar"))
        return LOC_FORMAT_TAR;
    return LOC_FORMAT_NONE;
}

static void archive_freep(struct archive **a)
{
    if (*a)
        (void)archive_read_free(*a); /* read-only, ignoring */
}

static int malformed(struct archive *a, const char *path, struct sv_error *err)
{
    const char *text = archive_error_string(a);
    char shown[300], why[300];

    sv_escape(shown, sizeof(shown), path ? path : "");
    sv_escape(why, sizeof(why), text ? text : "no reason given");
    if (path)
        return sv_error_set(err, -EBADMSG, "archive is malformed at entry \"%s\": %s", shown, why);
    return sv_error_set(err, -EBADMSG, "archive is malformed: %s", why);
}

static la_ssize_t read_unzipped(struct archive *a, void *userdata, const void **ret)
{
    const uint8_t *p = NULL;
    const char *why;
    ssize_t n = loc_gunzip_read(userdata, &p, &why);

    if (n < 0) {
        archive_set_error(a, (int)-n, "%s", why);
        return ARCHIVE_FATAL;
    }
    *ret = p;
    return n;
}

/* A tar.gz is unpacked in front of libarchive, but for one that is a bare tar. */
static int open_content(struct loc_unpack *u, struct archive *a)
{
    int r = 0;

    u->gunzip = loc_gunzip_free(u->gunzip);
    if (u->format == LOC_FORMAT_TAR_GZ)
        r = loc_gunzip_new(u->fd, u->data, u->len, &u->gunzip);
    if (r == 0 && u->fd >= 0 && lseek(u->fd, 0, SEEK_SET) < 0)
        r = -errno;
    if (r < 0) {
        archive_set_error(a, -r, "%s", strerror(-r));
        return ARCHIVE_FATAL;
    }
    if (r > 0)
        return archive_read_open(a, u->gunzip, NULL, read_unzipped, NULL);
    return u->fd >= 0 ? archive_read_open_fd(a, u->fd, BLOCK)
                      : archive_read_open_memory(a, u->data, u->len);
}

/* Only formats that Hadoop unpacks: no format_all, no filter programs, no gzip within gzip, for
 * which alone libarchive's own filter is here. The seeking zip reader uses the central directory,
 * as every other tool does. */
static int open_archive(struct loc_unpack *u, bool raw, struct archive **ret, struct sv_error *err)
{
    struct archive *a = archive_read_new();
    int r;

    *ret = a;
    if (!a)
        return sv_error_set(err, -ENOMEM, "archive: out of memory");
    if (u->format == LOC_FORMAT_ZIP)
        r = archive_read_support_format_zip_seekable(a);
    else
        r = raw ? archive_read_support_format_raw(a) : archive_read_support_format_tar(a);
    if (r == ARCHIVE_OK && u->format == LOC_FORMAT_TAR_GZ)
        r = archive_read_support_filter_gzip(a);
    if (r == ARCHIVE_OK && u->format == LOC_FORMAT_ZIP)
        r = archive_read_set_option(a, "zip", "mac-ext", NULL);
    if (r == ARCHIVE_OK)
        r = open_content(u, a);
    if (r != ARCHIVE_OK)
        return malformed(a, NULL, err);
    if (archive_filter_count(a) > 1) /* the last one is the file itself */
        return sv_error_set(err, -EPERM, "archive refused: it is compressed more than once");
    return 0;
}

static uint64_t packed_so_far(const struct loc_unpack *u, struct archive *a)
{
    la_int64_t n = u->format == LOC_FORMAT_ZIP ? -1 : archive_filter_bytes(a, -1);

    if (u->gunzip)
        return loc_gunzip_packed(u->gunzip);
    /* A zip is read out of order and may refer to the same bytes twice: count the whole file. */
    return n < 0 ? u->packed : (uint64_t)n;
}

static int copy_content(struct loc_unpack *u, struct archive *a, struct archive_entry *e,
                        const char *path, struct sv_error *err)
{
    uint64_t total = 0, told = u->policy.bytes;

    for (;;) {
        const void *p = NULL;
        size_t n = 0;
        la_int64_t at = 0;
        int r = archive_read_data_block(a, &p, &n, &at);
        uint64_t end;

        if (r == ARCHIVE_EOF)
            break;
        if (r != ARCHIVE_OK)
            return malformed(a, path, err);
        if (at < 0 || (uint64_t)at < total || __builtin_add_overflow((uint64_t)at, n, &end))
            return sv_error_set(err, -EBADMSG, "archive is malformed: content out of order");
        r = loc_policy_bytes(&u->policy, end - total, packed_so_far(u, a), path, err);
        if (r < 0)
            return r;
        total = end;
        if (n > 0) {
            r = u->sink->write(u->userdata, p, n, (uint64_t)at, err);
            if (r < 0)
                return r;
        }
        if (u->progress && u->policy.bytes - told >= PROGRESS_BYTES) {
            told = u->policy.bytes;
            u->progress(u->progress_userdata, told);
        }
    }
    if (archive_entry_sparse_count(e) > 0 && archive_entry_size(e) > (la_int64_t)total) {
        uint64_t size = (uint64_t)archive_entry_size(e); /* the file ends in a hole */
        int r = loc_policy_bytes(&u->policy, size - total, packed_so_far(u, a), path, err);

        if (r < 0)
            return r;
        total = size;
    }
    if (archive_entry_size_is_set(e) && archive_entry_size(e) != (la_int64_t)total)
        return sv_error_set(err, -EBADMSG,
                            "archive is malformed: content of an entry has %llu "
                            "bytes instead of %lld",
                            (unsigned long long)total, (long long)archive_entry_size(e));
    return u->sink->close(u->userdata, total, err);
}

static int enter_parent(struct loc_unpack *u, const char *path, const char **ret_name,
                        struct sv_error *err)
{
    const char *slash = strrchr(path, '/');
    char dir[LOC_PATH_MAX + 1];
    size_t n = slash ? (size_t)(slash - path) : 0;
    int made;

    memcpy(dir, path, n);
    dir[n] = 0;
    *ret_name = slash ? slash + 1 : path;
    made = u->sink->enter(u->userdata, dir, err);
    for (int i = 0; i < made; i++) {
        int r = loc_policy_implied_dir(&u->policy, path, err);

        if (r < 0)
            return r;
    }
    return made < 0 ? made : 0;
}

static int store(struct loc_unpack *u, struct archive *a, struct archive_entry *e,
                 enum loc_entry_kind kind, const char *path, struct sv_error *err)
{
    char target[LOC_PATH_MAX + 1];
    const char *name, *why;
    int r;

    r = enter_parent(u, path, &name, err);
    if (r < 0)
        return r;
    switch (kind) {
    case LOC_ENTRY_DIR:
        return u->sink->dir(u->userdata, name, err);
    case LOC_ENTRY_SYMLINK:
        return u->sink->symlink(u->userdata, name, archive_entry_symlink(e), err);
    case LOC_ENTRY_HARDLINK:
        r = loc_policy_path(&u->policy.limits, archive_entry_hardlink(e), target, &why);
        if (r < 0)
            return sv_error_set(err, r, "archive refused: hard link: %s", why);
        return u->sink->hardlink(u->userdata, name, target, err);
    case LOC_ENTRY_FILE:
        break;
    }
    r = u->sink->file(u->userdata, name, err);
    return r < 0 ? r : copy_content(u, a, e, path, err);
}

static int one_entry(struct loc_unpack *u, struct archive *a, struct archive_entry *e,
                     struct sv_error *err)
{
    struct loc_entry entry = {
        .path = archive_entry_pathname(e),
        .mode = archive_entry_mode(e),
        .symlink = archive_entry_symlink(e),
        .hardlink = archive_entry_hardlink(e),
        .size = archive_entry_size_is_set(e) ? archive_entry_size(e) : -1,
    };
    char path[LOC_PATH_MAX + 1];
    enum loc_entry_kind kind;
    int r;

    if (archive_entry_is_encrypted(e))
        return sv_error_set(err, -EPERM, "archive refused: it has encrypted entries");
    if (!entry.path)
        return sv_error_set(err, -EPERM, "archive refused: a name is not valid text");
    r = loc_policy_entry(&u->policy, &entry, path, &kind, err);
    if (r < 0)
        return r;
    if (path[0] == 0)
        return 0; /* "./": the root exists */
    if (u->match) {
        if (kind == LOC_ENTRY_DIR)
            return 0;
        r = sv_pattern_match(u->match, path);
        if (r < 0)
            return sv_error_set(err, r, "pattern exceeds the step limit on a name of the archive");
        if (r == 0)
            return 0;
    }
    return store(u, a, e, kind, path, err);
}

/* libarchive, like tar, ends an archive at two blocks of zeros and ignores the rest. An archive
 * without entries MUST be all zeros: anything else is of another format, or hidden. */
static int check_empty(struct loc_unpack *u, struct sv_error *err)
{
    _cleanup_(archive_freep) struct archive *a = NULL;
    struct archive_entry *e;
    uint64_t total = 0;
    char block[4096];
    int r;

    if (u->format == LOC_FORMAT_ZIP)
        return 0; /* the central directory is at its end */
    if (u->fd >= 0 && lseek(u->fd, 0, SEEK_SET) < 0)
        return sv_error_set(err, -errno, "archive: %s", strerror(errno));
    r = open_archive(u, true, &a, err);
    if (r < 0)
        return r;
    if (archive_read_next_header(a, &e) != ARCHIVE_OK)
        return malformed(a, NULL, err);
    for (;;) {
        la_ssize_t n = archive_read_data(a, block, sizeof(block));

        if (n <= 0)
            return n == 0 ? 0 : malformed(a, NULL, err);
        total += (uint64_t)n;
        for (la_ssize_t i = 0; i < n; i++)
            if (block[i] != 0)
                return sv_error_set(err, -EPERM, "archive refused: zeros come before its content");
        if (total > EMPTY_MAX)
            return sv_error_set(err, -EFBIG, "archive refused: more than %u bytes and no entry",
                                EMPTY_MAX);
    }
}

/* The padding behind the last entry, so that the checksum behind it is compared, too. */
static int check_rest(struct loc_unpack *u, struct sv_error *err)
{
    const char *why = "";
    const uint8_t *p;
    ssize_t n = u->gunzip ? 1 : 0;

    for (uint64_t total = 0; n > 0 && total < REST_MAX; total += (uint64_t)n)
        n = loc_gunzip_read(u->gunzip, &p, &why);
    return n < 0 ? sv_error_set(err, -EBADMSG, "archive is malformed: %s", why) : 0;
}

static int unpack_all(struct loc_unpack *u, struct sv_error *err)
{
    _cleanup_(archive_freep) struct archive *a = NULL;
    bool empty = true;
    int r;

    r = open_archive(u, false, &a, err);
    while (r >= 0) {
        struct archive_entry *e;

        r = archive_read_next_header(a, &e);
        if (r == ARCHIVE_EOF && empty) {
            archive_freep(&a);
            a = NULL;
            return check_empty(u, err);
        }
        if (r == ARCHIVE_EOF)
            return check_rest(u, err);
        empty = false;
        if (r != ARCHIVE_OK) /* a warning means inconsistent metadata */
            return malformed(a, NULL, err);
        r = one_entry(u, a, e, err);
    }
    return r;
}

int loc_unpack(struct loc_unpack *u, struct sv_error *err)
{
    int r = unpack_all(u, err);

    u->gunzip = loc_gunzip_free(u->gunzip);
    return r;
}
