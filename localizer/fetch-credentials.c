/* See fetch-credentials.h. */
#include "localizer/fetch-credentials.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "localizer/channel.h"
#include "wire/token.h"

static int read_all(int fd, struct sv_arena *a, struct yarn_credentials *ret, struct sv_error *err)
{
    struct stat st;
    uint8_t *p = NULL;

    if (fstat(fd, &st) < 0 || st.st_size < 0 || st.st_size > LOC_CREDENTIALS_MAX)
        return sv_error_set(err, -EBADMSG, "credentials: not a file of at most %d bytes",
                            LOC_CREDENTIALS_MAX);
    p = sv_arena_alloc(a, (size_t)st.st_size + 1);
    if (!p)
        return sv_error_errno(err, -ENOMEM, "credentials");
    if (pread(fd, p, (size_t)st.st_size, 0) != (ssize_t)st.st_size)
        return sv_error_errno(err, -EIO, "credentials");
    return yarn_credentials_parse(p, (size_t)st.st_size, a, ret, err);
}

/* The host itself, or one of its addresses: hadoop.security.token.service.use_ip says which. */
static bool is_service(const char *service, const char *host, int port,
                       const struct addrinfo *addresses)
{
    char text[LOC_URL_MAX + 16], address[NI_MAXHOST];

    (void)snprintf(text, sizeof(text), "%s:%d", host, port);
    if (!strcasecmp(service, text))
        return true;
    for (const struct addrinfo *i = addresses; i; i = i->ai_next) {
        if (getnameinfo(i->ai_addr, i->ai_addrlen, address, sizeof(address), NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        (void)snprintf(text, sizeof(text), "%s:%d", address, port);
        if (!strcmp(service, text))
            return true;
    }
    return false;
}

int loc_credentials_token(int credentials, const char *kind, const char *host, int port,
                          struct sv_arena *a, const char **ret, struct sv_error *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct yarn_credentials c = { 0 };
    struct addrinfo *addresses = NULL;
    const struct yarn_token *found = NULL;
    int r = credentials < 0 ? 0 : read_all(credentials, a, &c, err);

    *ret = NULL;
    if (r < 0)
        return r;
    for (size_t i = 0; i < c.n_tokens && !found; i++) {
        const struct yarn_token *t = &c.tokens[i].token;

        if (strcmp(t->kind, kind) != 0)
            continue;
        if (!addresses && getaddrinfo(host, NULL, &hints, &addresses) != 0)
            addresses = NULL; /* then the connection fails as well, or a token names the host */
        if (is_service(t->service, host, port, addresses))
            found = t;
    }
    if (addresses)
        freeaddrinfo(addresses);
    if (!found)
        return 0;
    r = yarn_token_text(a, found, ret);
    return r < 0 ? sv_error_errno(err, r, "credentials") : 0;
}
