/* `selvedge localize`: fetches resources by hand as the NodeManager would for a container: with its
 * configuration, its cache (localizer/cache.h), container-executor and container-localizer. Results
 * have numbers that no NodeManager uses, and are deleted afterwards.
 *
 * The process must run as the NodeManager's account, which alone may use container-executor; root
 * switches to it. Trusted: the command line. Hostile: the answers of container-localizer, which the
 * cache checks. */
#ifndef SELVEDGE_CLIENT_LOCALIZE_LOCALIZE_H
#define SELVEDGE_CLIENT_LOCALIZE_LOCALIZE_H

#include <systemd/sd-event.h>

#include "client/core/commands.h"
#include "executor/exe.h"
#include "localizer/cache.h"
#include "nodemanager/conf/conf.h"

#define LOCALIZE_URLS_MAX 256

enum { /* options without a letter */
       LOCALIZE_OPT_AS = CLI_OPT_OWN,
       LOCALIZE_OPT_TIMESTAMP,
       LOCALIZE_OPT_SIZE,
       LOCALIZE_OPT_TOKENS,
};

struct localize_options {
    const char *account;   /* the NodeManager's; NULL: this process' */
    const char *submitter; /* --as */
    enum loc_visibility visibility;
    enum loc_type type;
    const char *pattern; /* of LOC_PATTERN */
    int64_t timestamp;   /* -1: not compared */
    int64_t size;        /* -1: not compared */
    uint8_t *credentials;
    size_t n_credentials;
};

/* Result for one url. */
struct localize_result {
    bool over;
    char *refused; /* reason of a failure; NULL: fetched */
    uint64_t bytes;
    int64_t millis;
};

struct localize_process {
    struct localize_process *prev, *next;
    struct localize *of;
    uint64_t id;
    struct exe_localizer *exe;
    bool stopped, ended;
};

/* An entry of the cache to delete at the end. */
struct localize_entry {
    uint64_t id;
    uint32_t dir_number;
    int dir;
};

struct localize {
    struct localize_options options;
    struct nm_conf conf;
    bool have_conf;
    const char *run_as; /* account that runs the submitter's containers */
    char *login;        /* name of the NodeManager's account */
    sd_event *event;
    struct exe *exe;
    uint32_t local_mask, log_mask;
    struct yarn_app_id app; /* the pretended application of the request */
    bool app_made;          /* its directories exist */
    bool interrupted;
    /* State of the one pending request to the helper. */
    bool answered, failed;
    struct exe_failure failure;
    /* localize-cache.c */
    struct loc_cache *cache;
    struct localize_process *processes;
    struct localize_entry entries[LOCALIZE_URLS_MAX];
    size_t n_entries;
    struct localize_result *results; /* one per url */
    size_t n_urls, n_over;
};

/* localize-node.c. Reads the configuration, switches to the NodeManager's account, checks that
 * helper and configuration agree, creates the application's directories. */
int cli_localize_open(struct localize *l, const char *conf_dir, char *const *overrides,
                      struct sv_error *err) _must_use_;
/* Deletes entries and the application's directories. -errno: something could not be deleted, with
 * the reason in `err`. */
int cli_localize_remove(struct localize *l, struct sv_error *err) _must_use_;
void cli_localize_close(struct localize *l);

/* localize-cache.c. Fetches each url separately into l->results; when it returns, no localizer is
 * running. Negative: nothing could be fetched at all. */
int cli_localize_fetch(struct localize *l, char *const *urls, size_t n, struct sv_error *err)
    _must_use_;

#endif
