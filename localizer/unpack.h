/* libarchive → policy → sink. The sink is the disk (disk.h) in container-localizer and an in-memory
 * model in the fuzz target, so that both run the same reader and rules. */
#ifndef SELVEDGE_LOCALIZER_UNPACK_H
#define SELVEDGE_LOCALIZER_UNPACK_H

#include "common/base.h"
#include "common/error.h"
#include "common/pattern.h"
#include "localizer/policy.h"

struct loc_gunzip;

enum loc_format { LOC_FORMAT_NONE = 0, LOC_FORMAT_ZIP, LOC_FORMAT_TAR, LOC_FORMAT_TAR_GZ };

/* Determines the format from the lower-cased name, like Hadoop: .jar .zip .tar.gz .tgz .tar; other
 * names are not archives. */
enum loc_format loc_format_of(const char *name);
bool loc_is_jar(const char *name);

/* Paths are cleaned by the policy and relative to the archive's root. All return 0 or -errno. */
struct loc_sink {
    /* Creates the directory and its parents if missing and makes it current for the calls below; ""
     * = root. Returns the number created. */
    int (*enter)(void *userdata, const char *dir, struct sv_error *err);
    int (*dir)(void *userdata, const char *name,
               struct sv_error *err); /* an existing one is not an error */
    int (*file)(void *userdata, const char *name, struct sv_error *err); /* must not exist */
    int (*write)(void *userdata, const void *p, size_t n, uint64_t offset, struct sv_error *err);
    int (*close)(void *userdata, uint64_t size, struct sv_error *err);
    int (*symlink)(void *userdata, const char *name, const char *target, struct sv_error *err);
    /* `to`: path from the root; must be a file of this archive. */
    int (*hardlink)(void *userdata, const char *name, const char *to, struct sv_error *err);
};

struct loc_unpack {
    enum loc_format format;
    int fd;           /* the archive, at its start, seekable; or -1 and: */
    const void *data; /* the archive in memory */
    size_t len;
    uint64_t packed;          /* bytes of the archive */
    struct sv_pattern *match; /* NULL = all files; else only files whose whole path matches */
    const struct loc_sink *sink;
    void *userdata;
    void (*progress)(void *userdata, uint64_t bytes); /* may be NULL; with its own userdata: */
    void *progress_userdata;
    struct loc_policy policy;  /* limits in, counts out */
    struct loc_gunzip *gunzip; /* loc_unpack()'s own; NULL */
};

/* -EPERM: rejected by the policy, -EBADMSG: malformed, -EFBIG: over a limit; other errors come from
 * the sink. */
int loc_unpack(struct loc_unpack *u, struct sv_error *err) _must_use_;

#endif
