/* The service behind container-launch.h and container-cleanup.h; private to those two files. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_LAUNCHER_H
#define SELVEDGE_NODEMANAGER_LAUNCH_LAUNCHER_H

struct nm_assignments;
struct nm_cleanup_term;
struct nm_context;
struct nm_aux;
struct nm_numa;

struct nm_launcher {
    struct nm_context *ctx;
    struct nm_assignments *assignments;
    struct nm_numa *numa;          /* NULL = off */
    const struct nm_aux *aux;      /* NULL: no auxiliary services */
    struct nm_cleanup_term *terms; /* unanswered requests for signals; utlist */
};

#endif
