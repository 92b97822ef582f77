/* Hadoop's rules of paths: fs.defaultFS, and the mount tables of viewfs:. */
#ifndef SELVEDGE_FS_RESOLVE_H
#define SELVEDGE_FS_RESOLVE_H

#include "common/conf.h"
#include "fs/url.h"

/* The url that `name` stands for: "/path" is one on fs.defaultFS, and viewfs://TABLE/path is found
 * in fs.viewfs.mounttable.TABLE.link.PATH, …linkMergeSlash or …linkFallback; others are returned as
 * they are, for fs_url_parse(). -ENOENT: no mount point has it; -EOPNOTSUPP: har:, and mount points
 * that are viewfs: again; -ENAMETOOLONG. */
int fs_resolve(struct sv_conf *c, const char *name, char ret[FS_URL_MAX + 1], struct sv_error *err)
    _must_use_;
/* Parses the url that fs_resolve() returns. */
int fs_resolve_url(struct sv_conf *c, const char *name, struct fs_url *ret, struct sv_error *err)
    _must_use_;

#endif
