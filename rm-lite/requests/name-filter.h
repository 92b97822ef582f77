/* The names that one filter of a request admits ("users", "applicationTags"), parsed once when the
 * request arrives: sorted, each once, found by binary search. Hostile: the names and their number,
 * because a filter is applied to every application of the cluster. */
#ifndef SELVEDGE_RM_LITE_REQUESTS_NAME_FILTER_H
#define SELVEDGE_RM_LITE_REQUESTS_NAME_FILTER_H

#include "common/base.h"
#include "common/error.h"

#define RM_NAMES_MAX 1000     /* members of one filter; Hadoop has no limit */
#define RM_NAMES_BYTES 131072 /* of all members: 1,000 tags of 100 characters, and their NULs */

/* Hadoop compares applicationTypes, applicationTags and states without regard to the case of
 * letters, users and queues exactly (GetApplicationsRequestPBImpl, ClientRMService). */
enum rm_name_case { RM_NAMES_EXACT, RM_NAMES_ANY_CASE };

struct rm_name_filter {
    const char **names;
    size_t n; /* 0: no filter, every name is admitted */
    char *text;
    enum rm_name_case letters;
};

/* Members separated by commas, without the blanks around them; empty ones are ignored. NULL: no
 * filter. -EINVAL with the reason (`what` names the filter), or -ENOMEM. */
int rm_name_filter_of_text(struct rm_name_filter *ret, const char *csv, enum rm_name_case letters,
                           const char *what, struct sv_error *err) _must_use_;
/* `list` has n texts, which must outlive the filter. */
int rm_name_filter_of_list(struct rm_name_filter *ret, char *const *list, size_t n,
                           enum rm_name_case letters, const char *what, struct sv_error *err)
    _must_use_;
void rm_name_filter_free(struct rm_name_filter *f);
bool rm_name_filter_takes(const struct rm_name_filter *f, const char *name);

#endif
