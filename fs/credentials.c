/* See credentials.h. */
#include "fs/credentials.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/url.h"
#include "wire/token/token.h"

static int read_all(int fd, struct sv_arena *a, struct yarn_credentials *ret, struct sv_error *err)
{
    struct stat st;
    uint8_t *p = NULL;

    if (fstat(fd, &st) < 0 || st.st_size < 0 || st.st_size > FS_CREDENTIALS_MAX)
        return sv_error_set(err, -EBADMSG, "credentials: not a file of at most %d bytes",
                            FS_CREDENTIALS_MAX);
    p = sv_arena_alloc(a, (size_t)st.st_size + 1);
    if (!p)
        return sv_error_errno(err, -ENOMEM, "credentials");
    if (pread(fd, p, (size_t)st.st_size, 0) != (ssize_t)st.st_size)
        return sv_error_errno(err, -EIO, "credentials");
    return yarn_credentials_parse(p, (size_t)st.st_size, a, ret, err);
}

/* Compares with the host, or with its addresses, depending on
 * hadoop.security.token.service.use_ip. */
static bool is_service(const char *service, const struct fs_service *s,
                       const struct addrinfo *addresses)
{
    char text[FS_URL_MAX + 16], address[NI_MAXHOST];

    if (s->port == 0)
        return !strcmp(service, s->host);
    (void)snprintf(text, sizeof(text), "%s:%d", s->host, s->port);
    if (!strcasecmp(service, text))
        return true;
    for (const struct addrinfo *i = addresses; i; i = i->ai_next) {
        if (getnameinfo(i->ai_addr, i->ai_addrlen, address, sizeof(address), NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        (void)snprintf(text, sizeof(text), "%s:%d", address, s->port);
        if (!strcmp(service, text))
            return true;
    }
    return false;
}

static const struct yarn_token *find_one(const struct yarn_credentials *c, const char *kind,
                                         const struct fs_service *s)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    const struct yarn_token *found = NULL;
    struct addrinfo *addresses = NULL;
    bool resolved = s->port == 0;

    for (size_t i = 0; i < c->n_tokens && !found; i++) {
        const struct yarn_token *t = &c->tokens[i].token;

        if (strcmp(t->kind, kind) != 0)
            continue;
        if (!resolved && getaddrinfo(s->host, NULL, &hints, &addresses) != 0)
            addresses = NULL; /* the connection will fail as well, or a token names the host */
        resolved = true;
        if (is_service(t->service, s, addresses))
            found = t;
    }
    if (addresses)
        freeaddrinfo(addresses);
    return found;
}

int fs_credentials_find(int credentials, const char *kind, const struct fs_service *services,
                        size_t n, struct sv_arena *a, const struct yarn_token **ret,
                        struct sv_error *err)
{
    struct yarn_credentials c = { 0 };
    const struct yarn_token *found = NULL;
    int r = credentials < 0 ? 0 : read_all(credentials, a, &c, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n && !found; i++)
        found = find_one(&c, kind, &services[i]);
    *ret = found;
    return 0;
}

int fs_credentials_secret(int credentials, const char *name, struct sv_arena *a, const char **ret,
                          struct sv_error *err)
{
    struct yarn_credentials c = { 0 };
    int r = credentials < 0 ? 0 : read_all(credentials, a, &c, err);

    if (r < 0)
        return r;
    *ret = NULL;
    for (size_t i = 0; i < c.n_secrets; i++) {
        char *text;

        if (strcmp(c.secrets[i].alias, name) != 0)
            continue;
        if (memchr(c.secrets[i].secret, 0, c.secrets[i].len))
            return sv_error_set(err, -EBADMSG, "credentials: %s is no text", name);
        text = sv_arena_alloc(a, c.secrets[i].len + 1);
        if (!text)
            return sv_error_errno(err, -ENOMEM, "credentials");
        memcpy(text, c.secrets[i].secret, c.secrets[i].len);
        *ret = text;
        return 0;
    }
    return 0;
}

int fs_credentials_token(int credentials, const char *kind, const char *host, int port,
                         struct sv_arena *a, const char **ret, struct sv_error *err)
{
    const struct fs_service service = { host, port };
    const struct yarn_token *found;
    int r = fs_credentials_find(credentials, kind, &service, 1, a, &found, err);

    if (r < 0)
        return r;
    *ret = NULL;
    if (!found)
        return 0;
    r = yarn_token_text(a, found, ret);
    return r < 0 ? sv_error_errno(err, r, "credentials") : 0;
}
