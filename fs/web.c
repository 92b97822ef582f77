/* See web.h. */
#include "fs/web.h"

#include <sys/socket.h>

static curl_socket_t on_socket(void *userdata, curlsocktype purpose, struct curl_sockaddr *a)
{
    const struct fs_web *w = userdata;
    int fd;

    if (purpose != CURLSOCKTYPE_IPCXN || !fs_policy_address(w->policy, &a->addr))
        return CURL_SOCKET_BAD;
    fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

CURLcode fs_web_setup(const struct fs_web *w, CURL *c, const char *url, char why[CURL_ERROR_SIZE])
{
    CURLcode r = CURLE_OK;

#define SET(option, value) (r = r == CURLE_OK ? w->curl->easy_setopt(c, option, value) : r)
    w->curl->easy_reset(c);
    *why = '\0';
    SET(CURLOPT_ERRORBUFFER, why);
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, w->secure ? "https" : "http");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_USERAGENT, w->program);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)w->connect_ms);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, w);
#undef SET
    return r;
}
