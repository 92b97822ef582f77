/* Owned strings of the ResourceManager's objects. Without memory the process ends (common/oom.h).
 */
#ifndef SELVEDGE_RM_LITE_CORE_TEXT_H
#define SELVEDGE_RM_LITE_CORE_TEXT_H

char *rm_strdup(const char *s);                 /* NULL stays NULL */
void rm_set_text(char **dst, const char *s);    /* replaces; at most 64 KiB, the start is kept */
void rm_append_text(char **dst, const char *s); /* at most 64 KiB, the end is kept */

#endif
