/* See mysql-url.h. */
#include "federation/store/mysql-url.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define FORM "jdbc:mysql://HOST:PORT/DATABASE"

/* Copies n bytes; false: they do not fit. */
static bool fits(char *dst, size_t size, const char *src, size_t n)
{
    if (n >= size)
        return false;
    memcpy(dst, src, n);
    dst[n] = '\0';
    return true;
}

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c | 0x20) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* As fits(), with %XX and + decoded; a NUL is refused. */
static bool decoded(char *dst, size_t size, const char *src, size_t n)
{
    size_t out = 0;

    for (size_t i = 0; i < n; i++) {
        int c = src[i] == '+' ? ' ' : src[i];

        if (src[i] == '%') {
            if (i + 2 >= n || hex(src[i + 1]) < 0 || hex(src[i + 2]) < 0)
                return false;
            c = hex(src[i + 1]) << 4 | hex(src[i + 2]);
            i += 2;
        }
        if (c == 0 || out + 1 >= size)
            return false;
        dst[out++] = (char)c;
    }
    dst[out] = '\0';
    return true;
}

static bool is_true(const char *value)
{
    return !strcasecmp(value, "true") || !strcmp(value, "1");
}

/* sslMode, in the words of both drivers. */
static bool tls_mode(const char *value, enum fed_tls *ret)
{
    static const struct {
        const char *name;
        enum fed_tls tls;
    } modes[] = {
        { "disable", FED_TLS_NONE },
        { "disabled", FED_TLS_NONE },
        { "preferred", FED_TLS_NONE },
        { "trust", FED_TLS_ANY },
        { "required", FED_TLS_ANY },
        { "verify-ca", FED_TLS_VERIFIED },
        { "verify_ca", FED_TLS_VERIFIED },
        { "verify-full", FED_TLS_VERIFIED },
        { "verify_identity", FED_TLS_VERIFIED },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(modes); i++)
        if (!strcasecmp(value, modes[i].name)) {
            *ret = modes[i].tls;
            return true;
        }
    return false;
}

/* False: the value is none of the parameter's. */
static bool parameter(struct fed_mysql_url *u, const char *name, const char *value)
{
    size_t n = strlen(value);

    if (!strcasecmp(name, "user"))
        return fits(u->user, sizeof(u->user), value, n);
    if (!strcasecmp(name, "password"))
        return fits(u->password, sizeof(u->password), value, n);
    if (!strcasecmp(name, "localSocket"))
        return fits(u->socket, sizeof(u->socket), value, n);
    if (!strcasecmp(name, "serverSslCert"))
        return fits(u->ca, sizeof(u->ca), value, n);
    if (!strcasecmp(name, "sslMode"))
        return tls_mode(value, &u->tls);
    if (!strcasecmp(name, "useSSL") || !strcasecmp(name, "requireSSL"))
        u->tls = is_true(value) ? SV_MAX(u->tls, FED_TLS_ANY) : u->tls;
    if (!strcasecmp(name, "verifyServerCertificate") && is_true(value))
        u->tls = FED_TLS_VERIFIED;
    return true;
}

static int parameters(struct fed_mysql_url *u, const char *text, struct sv_error *err)
{
    while (*text) {
        size_t n = strcspn(text, "&"), name_n = strcspn(text, "&=");
        char name[64], value[600] = "";
        bool ok = decoded(name, sizeof(name), text, name_n);

        if (!ok)
            name[0] = '\0';
        if (ok && name_n < n)
            ok = decoded(value, sizeof(value), text + name_n + 1, n - name_n - 1);
        ok = ok && parameter(u, name, value);
        explicit_bzero(value, sizeof(value));
        if (!ok)
            return sv_error_set(err, -EINVAL, "its parameter \"%s\" has a value that is not known",
                                name);
        text += n + (text[n] == '&');
    }
    return 0;
}

/* "HOST", "HOST:PORT", "[V6]:PORT". */
static bool authority(struct fed_mysql_url *u, const char *text, size_t n)
{
    const char *end = text[0] == '[' ? memchr(text, ']', n) : NULL;
    size_t host_n = end ? (size_t)(end - text) + 1 : n;
    const char *colon = memchr(text + (end ? host_n : 0), ':', n - (end ? host_n : 0));
    char digits[8];
    uint64_t port = FED_MYSQL_PORT;

    if (colon) {
        if (!fits(digits, sizeof(digits), colon + 1, n - (size_t)(colon + 1 - text)) ||
            sv_parse_u64(digits, 1, UINT16_MAX, &port) < 0)
            return false;
        host_n = (size_t)(colon - text);
    } else if (end && host_n != n)
        return false;
    u->port = (uint16_t)port;
    if (end) { /* without the brackets */
        if (host_n != (size_t)(end - text) + 1)
            return false;
        text++;
        host_n -= 2;
    }
    return host_n > 0 && !memchr(text, ',', host_n) && !memchr(text, '(', host_n) &&
           !memchr(text, '@', host_n) && fits(u->host, sizeof(u->host), text, host_n);
}

int fed_mysql_url_parse(const char *url, struct fed_mysql_url *ret, struct sv_error *err)
{
    static const char *const schemes[] = { "jdbc:mysql://", "jdbc:mariadb://" };
    struct fed_mysql_url u = { 0 };
    const char *rest = NULL;
    size_t n, database_n;

    for (size_t i = 0; i < SV_ARRAY_LEN(schemes); i++)
        if (sv_has_prefix(url, schemes[i]))
            rest = url + strlen(schemes[i]);
    if (!rest)
        return sv_error_set(err, -EINVAL, "it must be " FORM);
    n = strcspn(rest, "/?");
    if (rest[n] != '/' || !authority(&u, rest, n))
        return sv_error_set(err, -EINVAL, "it must be " FORM ", with one host");
    rest += n + 1;
    database_n = strcspn(rest, "?");
    if (database_n == 0 || memchr(rest, '/', database_n) ||
        !decoded(u.database, sizeof(u.database), rest, database_n))
        return sv_error_set(err, -EINVAL,
                            "it must be " FORM ", with a database of 64 bytes at most");
    if (rest[database_n] == '?' && parameters(&u, rest + database_n + 1, err) < 0)
        return -EINVAL;
    snprintf(u.text, sizeof(u.text), "mysql://%s:%u/%s", u.host, u.port, u.database);
    *ret = u;
    return 0;
}
