/* Owned strings of the ResourceManager's objects. Without memory the process ends (common/oom.h).
 * The limits here are of texts that clients, masters and nodes send. */
#ifndef SELVEDGE_RM_LITE_CORE_TEXT_H
#define SELVEDGE_RM_LITE_CORE_TEXT_H

#include <stddef.h>

/* All in bytes. */
#define RM_PARTS_MAX 10000             /* members of a submission's lists */
#define RM_NAME_MAX 1024               /* an application's name; more is refused */
#define RM_TYPE_MAX 20                 /* YarnConfiguration.APPLICATION_TYPE_LENGTH; cut */
#define RM_ADDRESS_MAX 4096            /* a tracking URL, a master's host; more is refused */
#define RM_DIAGNOSTICS_MAX (64 * 1024) /* cut; yarn.app.attempt.diagnostics.limit.kc is 64 */
#define RM_LIST_TEXT_MAX 4096          /* a text in an entry of a list; cut */

char *rm_strdup(const char *s);                 /* NULL stays NULL */
char *rm_strdup_cut(const char *s, size_t max); /* its longest start that rm_text_start allows */
/* Its first `start` bytes and its last ones, `max` together, with "\n…\n" between them; all of it
 * if it is no longer than that. */
char *rm_strdup_ends(const char *s, size_t start, size_t max);
void rm_set_text(char **dst, const char *s);    /* replaces; cut, the start is kept */
void rm_append_text(char **dst, const char *s); /* cut, the end is kept */
/* Length of the longest start of `s` that has at most `max` bytes and ends between two characters
 * of UTF-8. */
size_t rm_text_start(const char *s, size_t max);

#endif
