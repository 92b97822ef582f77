/* Keys of yarn-site.xml that the NodeManager does not read: Hadoop's keys without meaning here or
 * of a missing feature, and unknown names, with the nearest known one. For --check-config,
 * `selvedge doctor` and one log line at start. The files are the operator's. */
#ifndef SELVEDGE_NODEMANAGER_CONF_CONF_UNREAD_H
#define SELVEDGE_NODEMANAGER_CONF_CONF_UNREAD_H

#include <stdio.h>

#include "common/base.h"
#include "common/conf.h"

enum nm_key_meaning {
    NM_KEY_NO_MEANING, /* of a feature that this NodeManager does not need */
    NM_KEY_NOT_DONE,   /* of a feature that this version lacks */
    NM_KEY_UNKNOWN,    /* not a key of Hadoop's either: misspelt */
};

/* Rows of conf-hadoop-keys.c; the last has no text. A key is "NAME" or "NAME=DEFAULT", without
 * "yarn.nodemanager." unless nm_key_is_whole(). */
struct nm_key_group {
    enum nm_key_meaning meaning;
    const char *text; /* the reason, common to its keys */
    const char *const *keys;
};
extern const struct nm_key_group nm_key_groups[];
/* A row's key that stands there in full: "yarn.…", "hadoop.…", "dfs.…", "fs.…" or "ipc.…". */
bool nm_key_is_whole(const char *row);

/* Calls fn for each key that is set and not read, sorted by name, except those at Hadoop's default
 * and those of other programs. For an unknown name `group` is NULL, and `nearest` the known name
 * with the smallest edit distance, or NULL. */
typedef int (*nm_unread_fn)(const char *name, const char *value, const struct nm_key_group *group,
                            const char *nearest, void *userdata);
int nm_conf_unread(struct sv_conf *c, nm_unread_fn fn, void *userdata) _must_use_;

/* True for a key with an effect here: one of nm_conf_is_read, or of a pattern such as
 * "yarn.nodemanager.numa-awareness.*.memory". */
bool nm_conf_is_used(const char *name);
/* One line per reason and per unknown name, as --check-config prints them. */
int nm_conf_print_unread(struct sv_conf *c, FILE *out) _must_use_;
/* Prints the tables of docs/operate/nodemanager-keys.md. */
void nm_conf_print_keys(FILE *out);
/* Logs one line: the number of unread keys, and the unknown names. No line if every key is read. */
void nm_conf_log_unread(struct sv_conf *c);

#endif
