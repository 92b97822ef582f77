/* Treatment of each yarn.resourcemanager.* key of Hadoop's that has no row in rm-conf.c: read by
 * another file, ignored with one log line at start, or refused; and of keys of other prefixes that
 * are refused. The files are the operator's. */
#ifndef SELVEDGE_RM_LITE_CONF_CONF_UNREAD_H
#define SELVEDGE_RM_LITE_CONF_CONF_UNREAD_H

#include <stdio.h>

#include "common/conf.h"
#include "common/error.h"

enum rm_key_meaning {
    RM_KEY_READ,       /* has an effect; read by another file than rm-conf.c */
    RM_KEY_OTHER,      /* read by other programs from the same file */
    RM_KEY_NO_MEANING, /* of a feature that this ResourceManager does not need */
    RM_KEY_NOT_DONE,   /* of a feature that this version lacks */
    RM_KEY_UNKNOWN,    /* not a key of Hadoop's: misspelt */
};

/* Rows of conf-hadoop-keys.c; the last has no text. A key is "NAME=DEFAULT" without its prefix
 * "yarn.resourcemanager.". */
struct rm_key_group {
    enum rm_key_meaning meaning;
    const char *text; /* the reason, common to its keys */
    const char *const *keys;
};
extern const struct rm_key_group rm_key_groups[];

/* A key, of whatever prefix, of which the default alone is accepted and what `also` names; ignoring
 * another value would be unsafe. The last has no reason. */
struct rm_key_refusal {
    struct sv_conf_key key;
    const char *why;
    const char *const *also; /* NULL-terminated, or NULL */
};
extern const struct rm_key_refusal rm_key_refusals[];

/* Treatment of a yarn.resourcemanager.* key that has no row in rm-conf.c and is not refused: a word
 * as in docs/operate/resourcemanager-keys.md, and the reason. */
enum rm_key_meaning rm_conf_meaning(const char *name, const char **ret_word, const char **ret_why);
/* The known name with the smallest edit distance, or NULL. */
#define RM_KEY_NAME_MAX 160
const char *rm_conf_nearest(const char *name, char ret[RM_KEY_NAME_MAX + 1]);
int rm_conf_check_refused(struct sv_conf *c, struct sv_error *err) _must_use_;
/* Calls fn for each key that is set and not read, sorted by name, without those at Hadoop's
 * default. `nearest` is the known name most like an unknown one, or NULL. */
typedef void (*rm_unread_fn)(const char *name, enum rm_key_meaning meaning, const char *why,
                             const char *nearest, void *userdata);
int rm_conf_unread(struct sv_conf *c, rm_unread_fn fn, void *userdata) _must_use_;
/* Logs one line per key of rm_conf_unread(). */
void rm_conf_log_unread(struct sv_conf *c);
/* Prints the table of docs/operate/resourcemanager-keys.md. */
void rm_conf_print_keys(FILE *out);

#endif
