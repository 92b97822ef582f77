/* The account of this process. */
#ifndef SELVEDGE_COMMON_OWN_USER_H
#define SELVEDGE_COMMON_OWN_USER_H

/* The name of the effective user; NULL: it has none. Looked up by the first call of a thread, and
 * after a change of user: a daemon's first call is before its loop, so that none there waits for a
 * name service. Valid until the user changes. */
const char *sv_own_user(void);

#endif
