/* File systems for programs that read the configuration; a sandboxed one gets its parameters. */
#ifndef SELVEDGE_FS_CONFIGURED_H
#define SELVEDGE_FS_CONFIGURED_H

#include "common/conf.h"
#include "fs/fs.h"

/* As fs_open(): finds the url's NameNodes in the configuration, and loads libcurl where it is
 * needed. */
int fs_open_configured(struct sv_conf *c, const struct fs_options *o, struct fs **ret,
                       struct sv_error *err) _must_use_;

#endif
