/* Policy for the contents of archives and of directories: rules for every entry, checked before
 * anything is written. Pure, without libarchive, so that it can be tested and fuzzed separately.
 * One rejected entry rejects the whole archive. Reasons and table of rules:
 * docs/design/localizer.md.
 *
 * Hostile: all input except the limits. unpack.c also creates every object with O_EXCL, beneath the
 * target, without following links: policy and kernel must both agree. */
#ifndef SELVEDGE_LOCALIZER_POLICY_H
#define SELVEDGE_LOCALIZER_POLICY_H

#include "common/base.h"
#include "common/error.h"
#include "localizer/channel.h"

#define LOC_COMPONENT_MAX 255      /* bytes of one component of a path */
#define LOC_RATIO_FROM (64u << 20) /* unpacked bytes above which the ratio is checked */

enum loc_entry_kind { LOC_ENTRY_FILE = 1, LOC_ENTRY_DIR, LOC_ENTRY_SYMLINK, LOC_ENTRY_HARDLINK };

struct loc_policy {
    struct loc_limits limits; /* bytes: the sum of all files */
    const char *what;         /* "archive", "directory": for texts */
    /* Counters. */
    uint64_t bytes;
    uint32_t entries;
};

/* One entry as declared by the archive. */
struct loc_entry {
    const char *path;
    mode_t mode;         /* with the file type */
    const char *symlink; /* target, or NULL */
    const char *hardlink;
    int64_t size; /* declared; -1 = unknown until read */
};

/* Counts the entry and writes its cleaned path ("a/b", no leading "./", no "//", no trailing '/';
 * "" for the root directory itself) and kind. -EPERM: rejected by a rule, -EFBIG: over a limit;
 * `err` names the entry, escaped. */
int loc_policy_entry(struct loc_policy *p, const struct loc_entry *e, char path[LOC_PATH_MAX + 1],
                     enum loc_entry_kind *ret_kind, struct sv_error *err) _must_use_;
/* Counts a directory created as a parent of a path: it is an entry. */
int loc_policy_implied_dir(struct loc_policy *p, const char *path, struct sv_error *err) _must_use_;
/* Counts `n` more bytes of content; `packed` = bytes read from the archive so far. */
int loc_policy_bytes(struct loc_policy *p, uint64_t n, uint64_t packed, const char *path,
                     struct sv_error *err) _must_use_;

/* Cleans and checks a name; -EPERM, -ENAMETOOLONG and a text in *why, valid until the next call. */
int loc_policy_path(const struct loc_limits *l, const char *raw, char path[LOC_PATH_MAX + 1],
                    const char **why) _must_use_;
/* Checks a link at cleaned `path`: `target` must be relative, with ".." only at its beginning and
 * not above the root, so that no chain of links can leave the archive (proof in the decision
 * note). */
int loc_policy_symlink(const struct loc_limits *l, const char *path, const char *target,
                       const char **why) _must_use_;

/* Final modes; the archive's own are never used (Hadoop's FSDownload). */
static inline mode_t loc_mode_file(bool is_public)
{
    return is_public ? 0555 : 0500;
}
static inline mode_t loc_mode_dir(bool is_public)
{
    return is_public ? 0755 : 0700;
}

#endif
