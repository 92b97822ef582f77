/* Fetchers of container-localizer: a source by its url, verified against the request. Run in a
 * worker process as the application's user (PUBLIC: as the public account), so a file: url opens
 * nothing that the user could not open anyway. */
#ifndef SELVEDGE_LOCALIZER_FETCH_H
#define SELVEDGE_LOCALIZER_FETCH_H

#include <sys/stat.h>

#include "common/base.h"
#include "common/error.h"
#include "localizer/channel.h"
#include "localizer/url.h"

struct loc_source {
    const struct loc_fetch *request;
    struct loc_url url;
    int dir;          /* where a copy is made */
    const char *name; /* of the copy; NULL: the content is only to be read from `fd` */
    void (*progress)(void *userdata, uint64_t bytes);
    void *progress_userdata;
    /* Results. */
    int fd; /* the content, readable from the start; owned by the caller, -1 before */
    uint64_t size;
    struct stat st; /* file: as it was when opened */
};

/* Fetches and verifies; on failure *ret_reason says the class and `err` the words. */
int loc_source_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
/* Was the source left unchanged while its content was used? Called after the use. */
int loc_source_unchanged(const struct loc_source *s, struct sv_error *err) _must_use_;

#endif
