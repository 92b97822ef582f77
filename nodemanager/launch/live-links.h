/* Links in the work directory of a running container to what was localized for it meanwhile
 * (ContainerImpl: ResourceLocalizedWhileRunningTransition), made by the helper as its user. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_LIVE_LINKS_H
#define SELVEDGE_NODEMANAGER_LAUNCH_LIVE_LINKS_H

struct nm_container;
struct nm_launcher;

/* Makes those that are missing; one request to the helper at a time for each container. */
void nm_live_links(struct nm_container *c);
/* Frees the requests that will get no answer: after exe_free. */
void nm_live_links_free(struct nm_launcher *launcher);

#endif
