/* Single values of a definition's JSON, and messages that say path, value and rule. Hostile: all
 * values and names. */
#ifndef SELVEDGE_SERVICE_DEFINITION_READER_H
#define SELVEDGE_SERVICE_DEFINITION_READER_H

#include <jansson.h>

#include "service/definition/definition.h"
#include "service/definition/fields.h"

#define SVC_PAIR_NAME_MAX 1024 /* bytes of a map's name */
#define SVC_LIST_TEXT_MAX 4096 /* bytes of a list's text */

struct svc_reader {
    struct sv_arena *a;
    struct sv_error *err;
    enum svc_dialect dialect;
    char path[512]; /* of the value that is read, for messages; cut */
};

/* Append to the path; return its length before, for svc_leave(). */
size_t svc_enter_field(struct svc_reader *in, const char *name);
size_t svc_enter_key(struct svc_reader *in, const char *key);
size_t svc_enter_index(struct svc_reader *in, size_t i);
void svc_leave(struct svc_reader *in, size_t before);

/* Set the error "PATH: VALUE: RULE" and return -EINVAL; `v` NULL: "PATH: RULE". */
int svc_wrong(const struct svc_reader *in, const json_t *v, const char *fmt, ...) _printf_(3, 4);
int svc_no_memory(const struct svc_reader *in);

/* A text, or a number or boolean as Jackson turns them into one; no fraction, which could change.
 */
int svc_read_text(struct svc_reader *in, const json_t *v, size_t max, const char **ret) _must_use_;
/* A number or its text. */
int svc_read_number(struct svc_reader *in, const json_t *v, int64_t min, int64_t max, int64_t *ret)
    _must_use_;
/* The index among f->names. */
int svc_read_enum(struct svc_reader *in, const struct svc_field *f, const json_t *v, unsigned *ret)
    _must_use_;
/* A list of at most `max` texts. */
int svc_read_names(struct svc_reader *in, const json_t *v, size_t max, const char ***ret,
                   size_t *ret_n) _must_use_;
/* An object of at most `max` texts, or of lists of texts, which are joined by commas. */
int svc_read_map(struct svc_reader *in, const json_t *v, size_t max, bool lists,
                 struct svc_map *ret) _must_use_;

#endif
