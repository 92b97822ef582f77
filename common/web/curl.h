/* The functions of libcurl as a table, for code that runs in programs of two kinds: the daemons and
 * their programs are linked to libcurl, the command line loads it with the first request, since
 * the thirty libraries that it brings take longer to load than most commands run. */
#ifndef SELVEDGE_COMMON_WEB_CURL_H
#define SELVEDGE_COMMON_WEB_CURL_H

#include <curl/curl.h>

#include "common/base.h"
#include "common/error.h"

#define SV_CURL_FUNCTIONS(F)                                                                       \
    F(global_init)                                                                                 \
    F(easy_init)                                                                                   \
    F(easy_cleanup)                                                                                \
    F(easy_reset)                                                                                  \
    F(easy_setopt)                                                                                 \
    F(easy_getinfo)                                                                                \
    F(easy_header)                                                                                 \
    F(easy_perform)                                                                                \
    F(easy_recv)                                                                                   \
    F(easy_send)                                                                                   \
    F(easy_pause)                                                                                  \
    F(easy_strerror)                                                                               \
    F(slist_append)                                                                                \
    F(slist_free_all)                                                                              \
    F(multi_init)                                                                                  \
    F(multi_cleanup)                                                                               \
    F(multi_setopt)                                                                                \
    F(multi_add_handle)                                                                            \
    F(multi_remove_handle)                                                                         \
    F(multi_assign)                                                                                \
    F(multi_info_read)                                                                             \
    F(multi_perform)                                                                               \
    F(multi_poll)                                                                                  \
    F(multi_socket_action)

/* A member is the function curl_MEMBER with its own type. Integers that go to easy_setopt and
 * multi_setopt must be long or curl_off_t, as the option says: nothing converts them. */
struct sv_curl {
#define SV_CURL_MEMBER(name) __typeof__(curl_##name) *name;
    SV_CURL_FUNCTIONS(SV_CURL_MEMBER)
#undef SV_CURL_MEMBER
};

/* The functions of the library that the program is linked to. */
extern const struct sv_curl sv_curl_linked;
/* Loads the library at the first call and keeps it; returns its functions. -ELIBACC: there is
 * none, or it is too old. */
int sv_curl_load(const struct sv_curl **ret, struct sv_error *err) _must_use_;

#endif
