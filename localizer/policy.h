/* What an archive may contain: own rules on every entry, before anything is written. Pure, without
 * libarchive, so that it can be tested and fuzzed by itself. One refused entry refuses the whole
 * archive. The reasons and the table of rules: docs/design/localizer.md.
 *
 * Hostile: everything here but the limits. Written for unpack.c, which still creates every object
 * with O_EXCL, beneath the target, without following links: policy and kernel must both agree. */
#ifndef SELVEDGE_LOCALIZER_POLICY_H
#define SELVEDGE_LOCALIZER_POLICY_H

#include "common/base.h"
#include "common/error.h"

#define LOC_PATH_MAX 1024          /* bytes of an entry's path */
#define LOC_COMPONENT_MAX 255      /* bytes of one component */
#define LOC_DEPTH_MAX 64           /* components */
#define LOC_RATIO_MAX 200          /* unpacked : packed … */
#define LOC_RATIO_FROM (64u << 20) /* … once this much is unpacked */

enum loc_entry_kind { LOC_ENTRY_FILE = 1, LOC_ENTRY_DIR, LOC_ENTRY_SYMLINK, LOC_ENTRY_HARDLINK };

struct loc_policy {
    uint64_t max_bytes; /* sum of all files */
    uint32_t max_entries;
    /* Counted so far. */
    uint64_t bytes;
    uint32_t entries;
};

/* One entry as the archive says it. */
struct loc_entry {
    const char *path;
    mode_t mode;         /* with the file type */
    const char *symlink; /* target, or NULL */
    const char *hardlink;
    int64_t size; /* declared; -1 = unknown until read */
};

/* Counts the entry and writes its cleaned path ("a/b", no leading "./", no "//", no trailing '/';
 * "" for the root directory itself) and kind. -EPERM: refused by a rule, -EFBIG: over a limit;
 * `err` names the entry, escaped. */
int loc_policy_entry(struct loc_policy *p, const struct loc_entry *e, char path[LOC_PATH_MAX + 1],
                     enum loc_entry_kind *ret_kind, struct sv_error *err) _must_use_;
/* A directory that is made because a path runs through it counts as an entry. */
int loc_policy_implied_dir(struct loc_policy *p, const char *path, struct sv_error *err) _must_use_;
/* `n` more bytes of content; `packed` = bytes of the archive that were read for all so far. */
int loc_policy_bytes(struct loc_policy *p, uint64_t n, uint64_t packed, const char *path,
                     struct sv_error *err) _must_use_;

/* Cleans and checks a name; -EPERM, -ENAMETOOLONG and a static text in *why. */
int loc_policy_path(const char *raw, char path[LOC_PATH_MAX + 1], const char **why) _must_use_;
/* A link at cleaned `path` may point at `target`: relative, and ".." only in front and not above
 * the root, so that no chain of links can lead out (the decision note has the proof). */
int loc_policy_symlink(const char *path, const char *target, const char **why) _must_use_;

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
