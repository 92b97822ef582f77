/* The service behind container-launch.h, container-cleanup.h and share-wait.h; private to their
 * files. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_LAUNCHER_H
#define SELVEDGE_NODEMANAGER_LAUNCH_LAUNCHER_H

#include <systemd/sd-event.h>

struct nm_assignments;
struct nm_container;
struct nm_cleanup_term;
struct nm_live_link;
struct nm_context;
struct nm_aux;
struct nm_numa;
struct nm_scheduler;

struct nm_launcher {
    struct nm_context *ctx;
    struct nm_assignments *assignments;
    struct nm_scheduler *scheduler;
    struct nm_numa *numa;          /* NULL = off */
    const struct nm_aux *aux;      /* NULL: no auxiliary services */
    struct nm_cleanup_term *terms; /* unanswered requests for signals; utlist */
    struct nm_live_link *links;    /* unanswered requests for links; utlist */
    sd_event_source *share_timer;  /* share-wait.c; NULL: nothing has waited yet */
    void (*again)(struct nm_launcher *l, struct nm_container *c); /* nm_launch_start */
};

#endif
